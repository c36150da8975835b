"""Statements of a shell script that are no commands: assignments, definitions, loops, conditions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from anovax.safety.finding import Finding, ask, refuse
from anovax.safety.posix.expand import pieces_of
from anovax.safety.posix.words import Command, Redirect, Word

if TYPE_CHECKING:
    from tree_sitter import Node

    from anovax.safety.posix.shell import Run

MAX_VALUE = 2000  # characters that a variable may grow to


_EVALUATED = re.compile(r"'[^'\n]*\w\[\s*(?:\$\(|`)|\w\[\s*\\(?:\$\(|`)")


def evaluates(text: str) -> Finding | None:
    """``let 'a[$(…)]=1'``: the shell runs what stands in an array's index, also where it is quoted."""
    quoted = "[" in text and _EVALUATED.search(text) is not None
    return ask("hidden", "it runs what stands within a quoted index") if quoted else None


def leniently(text: str) -> Iterator[tuple[Word, ...]]:
    """The pieces of a text that is no whole script, as words without their quotes."""
    for piece in re.split(r"[\n;|&()`{}]+|\$\(|<<-?\s*\w+|<<<", text)[:40]:
        found = [Word(re.sub(r"['\"\\]", "", word)) for word in piece.split()[:60]]
        while found and re.fullmatch(r"\w+=.*|then|do|else|if|while|until|time|!", found[0].text):
            found = found[1:]
        if found:
            yield tuple(found)


def here_document(run: Run, node: Node) -> str | None:
    start = next((c for c in node.named_children if c.type == "heredoc_start"), None)
    body = next((c for c in node.named_children if c.type == "heredoc_body"), None)
    if body is None:
        return ""
    text = (body.text or b"").decode(errors="replace")
    if start is None or re.search(rb"['\"\\]", start.text or b""):
        return text
    run.walk_inside(body)
    return re.sub(r"\$(\w+)|\$\{(\w+)\}", lambda m: run.env.get(m[1] or m[2], m[0]), text)


def after_here_document(node: Node) -> list[Node]:
    """``cat <<EOF | sh``: the grammar hangs the rest of the line below the redirection."""
    return [c for c in node.named_children if c.type in ("pipeline", "command", "list", "redirected_statement")]


def keep(files: dict[str, str | None], path: str, text: str | None) -> None:
    """Remember what was written to a file, by both of its names."""
    plain = path.removeprefix("./")
    files.update({path: text, plain: text, "./" + plain: text})


def _lone_redirect(run: Run, node: Node, stdin: str | None, piped: bool) -> None:
    """A redirection alone, as in ``$(<file)``."""
    run.run(Command((Word(":"),), redirects_of(run, node), None, run.cwd))


def redirects_of(run: Run, node: Node) -> tuple[Redirect, ...]:
    operator = "".join(child.type for child in node.children if not child.is_named)
    number = next(((c.text or b"").decode() for c in node.named_children if c.type == "file_descriptor"), "")
    targets = run.words(node.children_by_field_name("destination")[:1])
    return tuple(Redirect(number + operator, word) for word in targets[:1])


def words_behind(run: Run, node: Node) -> list[Word]:
    """``rm 2>file /``: the grammar hangs arguments behind a redirection below it."""
    return run.words(node.children_by_field_name("destination")[1:])


def assign(run: Run, node: Node) -> tuple[str, str]:
    name = ((node.child_by_field_name("name") or node).text or b"").decode()
    value = node.child_by_field_name("value")
    run.walk_inside(node.child_by_field_name("name") or node)
    pieces = pieces_of(value, run.env, run.substitute) if value is not None else []
    text = "".join(piece.text for piece in pieces)
    known = not any(piece.open for piece in pieces)
    if known:
        plus = b"+=" in (node.text or b"")[: len(name) + 2]
        run.env[name] = ((run.env.get(name, "") if plus else "") + text)[:MAX_VALUE]
    else:
        run.env.pop(name, None)
    for finding in run.rules(Command((Word("="), Word(name), Word(text)), cwd=run.cwd), run):
        run.found(finding)
    return name, text


def _variable_assignment(run: Run, node: Node, stdin: str | None, piped: bool) -> str:
    assign(run, node)
    return ""


def _declaration_command(run: Run, node: Node, stdin: str | None, piped: bool) -> str:
    others: list[Word] = []
    for child in node.named_children:
        if child.type == "variable_assignment":
            assign(run, child)
        else:
            others.extend(run.words([child]))
    name = (node.children[0].text or b"").decode()
    run.run(Command((Word(name), *others), cwd=run.cwd))
    return ""


def _unset_command(run: Run, node: Node, stdin: str | None, piped: bool) -> str:
    run.run(Command((Word("unset"), *run.words(node.named_children)), cwd=run.cwd))
    return ""


def _function_definition(run: Run, node: Node, stdin: str | None, piped: bool) -> str:
    name = ((node.child_by_field_name("name") or node).text or b"").decode()
    body = node.child_by_field_name("body")
    if body is None:
        return ""
    text = (body.text or b"").decode(errors="replace")
    if re.search(rf"(?<![\w]){re.escape(name)}\s*(\||&)", text):
        run.found(refuse("fork_bomb", "a function that starts itself again and again stops the computer"))
        return ""
    run.walk(body)
    run.functions[name] = body
    return ""


def _for_statement(run: Run, node: Node, stdin: str | None, piped: bool) -> str | None:
    name = ((node.child_by_field_name("variable") or node).text or b"").decode()
    body = node.child_by_field_name("body")
    values = run.words([c for c in node.named_children if c not in (body,) and c.type != "variable_name"])
    if body is None:
        return ""
    known = bool(values) and not any(word.open for word in values)
    out: str | None = None
    for value in values[:4] if known else [None]:
        if value is None:
            run.env.pop(name, None)
        else:
            run.env[name] = value.text
        out = run.walk(body, stdin)
    return out if len(values) == 1 else None


def _while_statement(run: Run, node: Node, stdin: str | None, piped: bool) -> None:
    condition = re.match(
        r"\s*(while|until)\s+(true|:|false|\[\s*1\s*\]|1|\(\(\s*1\s*\)\))\s*(;|\n|$)",
        (node.text or b"").decode(errors="replace"),
    )
    if condition and b"sleep" not in (node.text or b"") and b"break" not in (node.text or b""):
        run.found(ask("endless", "it never ends and can take all of the computer's time"))
    for child in node.named_children:
        run.walk(child, stdin, piped)


def _c_style_for(run: Run, node: Node, stdin: str | None, piped: bool) -> str | None:
    """``for ((;;))``"""
    text = (node.text or b"").decode(errors="replace")
    if re.match(r"for\s*\(\([^;]*;\s*(1|true)?\s*;", text) and "sleep" not in text and "break" not in text:
        run.found(ask("endless", "it never ends and can take all of the computer's time"))
    return run.walk_all(node.named_children, stdin, piped)


def _if_statement(run: Run, node: Node, stdin: str | None, piped: bool) -> str | None:
    head = (node.text or b"").split(b"then")[0]
    if b"sleep" in (node.text or b"") and re.search(rb"\$\(|`", head):
        run.found(ask("probe", "it tells a secret by how long it waits"))
    return run.walk_all(node.named_children, stdin, piped)


Handler = Callable[["Run", "Node", "str | None", bool], "str | None"]
HANDLERS: Mapping[str, Handler] = {
    "variable_assignment": _variable_assignment,
    "declaration_command": _declaration_command,
    "unset_command": _unset_command,
    "function_definition": _function_definition,
    "for_statement": _for_statement,
    "while_statement": _while_statement,
    "if_statement": _if_statement,
    "c_style_for_statement": _c_style_for,
    "file_redirect": _lone_redirect,
}
