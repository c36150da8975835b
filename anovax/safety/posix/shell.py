"""Walk a parsed script as a shell would run it: assignments, substitutions, pipelines, functions, redirections."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from anovax.safety.budget import Budget, TooDeepError
from anovax.safety.finding import Finding, ask
from anovax.safety.posix import constants
from anovax.safety.posix.expand import DEFAULT_ENV, Piece, expand_braces, join, pieces_of
from anovax.safety.posix.narrow import Narrow
from anovax.safety.posix.statements import (
    HANDLERS,
    after_here_document,
    assign,
    evaluates,
    here_document,
    keep,
    leniently,
    redirects_of,
    words_behind,
)
from anovax.safety.posix.words import Command, Redirect, Word

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

MAX_DEPTH = 8
MAX_NESTED = 12  # commands within commands: sudo nice env …
MAX_WORDS = 150
_LISTS = frozenset(
    ("program", "list", "compound_statement", "subshell", "if_statement", "do_group", "else_clause", "elif_clause",
     "case_statement", "case_item", "negated_command", "test_command", "ERROR", "command_substitution",
     "variable_assignments")
)  # fmt: skip
_TIMED = re.compile(  # the grammar does not know it before a compound command
    r"(^[^\S\n]*|[;&|\n({`!][^\S\n]*|\b(?:then|do|else)\s+)time\s+(?:-p\s+)?(?=(?:if|for|while|until|case)\b|[{(])"
)
# quotes around some letters of a path serve only to hide it
_QUOTED_INSIDE = re.compile(rb"/[A-Za-z]+(?:'[A-Za-z]+'|\"[A-Za-z]+\")(?:[A-Za-z/'\"]|$)")

Parse = Callable[[bytes], "Tree"]
Rules = Callable[[Command, "Run"], Iterable[Finding]]


class Run:
    """One text's evaluation. Collects ``findings``; remembers variables, functions, files and where ``cd`` went."""

    def __init__(
        self, parse: Parse, rules: Rules, budget: Budget, also: Callable[[str], Iterable[Finding]] | None = None
    ) -> None:
        self._parse, self.rules, self._budget, self._narrow = parse, rules, budget, Narrow()
        self.also = also  # how another system's shell would read a text that is handed to a program
        self.findings: list[Finding] = []
        self.env: dict[str, str] = dict(DEFAULT_ENV)
        self.functions: dict[str, Node] = {}
        self.aliases: dict[str, str] = {}
        self.files: dict[str, str | None] = {}
        self.cwd = "."
        self.fetched: set[str] = set()  # how something came from elsewhere: "download", "unpacked", "cloned"
        self.broken = False  # some text was not in the shell's grammar
        self.decoded = False  # some constant came out of a decoder
        self.source, self._depth, self._nested = "", 0, 0  # the program whose output is not known

    # --- texts -------------------------------------------------------------------------------------------------------

    def script(self, text: str, stdin: str | None = "") -> str | None:
        """Evaluate a text; returns its constant output or None. Raises TooDeepError."""
        self._budget.spend(text=len(text))
        if self._depth >= MAX_DEPTH:
            raise TooDeepError
        self._depth += 1
        self.findings.extend(self.also(text) if self._depth > 1 and self.also is not None else ())
        self.found(evaluates(text))
        text = _TIMED.sub(r"\1", text) if "time" in text else text
        try:
            spread, whole = expand_braces(text)
            if not whole:
                self.found(ask("too_deep", "it has too many braces to be judged"))
            if spread != text and not re.search(r"(?m)(^|[;&|]\s*)\{[^{}\s]*,", text):
                self._parsed(text, stdin)
            elif spread != text:
                self.found(ask("hidden", "its program is written with braces, which serves only to hide it"))
            return self._parsed(spread, stdin)
        finally:
            self._depth -= 1

    def _parsed(self, text: str, stdin: str | None) -> str | None:
        root = self._parse(self._narrow(text) + b"\n").root_node
        if root.has_error:
            self.broken = True
            for found in leniently(text):
                self.run(Command(found, cwd=self.cwd))
        return self.walk(root, stdin)

    def found(self, finding: Finding | None) -> None:
        if finding is not None:
            told = self._narrow.back(finding.reason)
            self.findings.append(finding if told == finding.reason else replace(finding, reason=told))

    # --- nodes -------------------------------------------------------------------------------------------------------

    def walk(self, node: Node, stdin: str | None = "", piped: bool = False) -> str | None:
        """What the node prints, None when it cannot be known."""
        self._budget.spend(nodes=1)
        own: Callable[..., str | None] | None = getattr(self, f"_{node.type}", None)
        if own is not None:
            return own(node, stdin, piped)
        handler = HANDLERS.get(node.type)
        if handler is not None:
            return handler(self, node, stdin, piped)
        if node.type in _LISTS or node.type.endswith(("_statement", "_expression", "_clause")):
            return self.walk_all(node.named_children, stdin, piped)
        self.walk_inside(node)
        return ""

    def walk_all(self, nodes: Iterable[Node], stdin: str | None, piped: bool) -> str | None:
        outputs = [self.walk(child, stdin, piped) for child in nodes]
        known = [text for text in outputs if text is not None]
        return "".join(known) if len(known) == len(outputs) else None

    def walk_inside(self, node: Node) -> None:
        """Only what is substituted within a word or an expression runs."""
        for child in node.named_children:
            if child.type in ("command_substitution", "process_substitution"):
                self.substitute(child)
            else:
                self._budget.spend(nodes=1)
                self.walk_inside(child)

    def _comment(self, node: Node, stdin: str | None, piped: bool) -> str:
        return ""

    def _pipeline(self, node: Node, stdin: str | None, piped: bool) -> str | None:
        flow = stdin
        for index, child in enumerate(node.named_children):
            flow = self.walk(child, flow, piped or index > 0)
        return flow

    def _command(
        self,
        node: Node,
        stdin: str | None,
        piped: bool,
        redirects: tuple[Redirect, ...] = (),
        more: tuple[Word, ...] = (),
    ) -> str | None:
        found: list[Word] = []
        plain: list[Node] = []
        prefix: list[tuple[str, str]] = []
        for child in node.named_children:
            if child.type == "variable_assignment":
                prefix.append(assign(self, child))
            elif child.type == "herestring_redirect":
                text = self.words(child.named_children[-1:])
                stdin, piped = (None if any(w.open for w in text) else " ".join(w.text for w in text) + "\n"), True
            elif child.type.endswith("_redirect"):
                redirects = (*redirects, *redirects_of(self, child))
                more = (*more, *words_behind(self, child))
            elif child.type != "comment":
                plain.append(child)
        found.extend(self.words(plain))
        stdin, piped = self._reads(redirects, stdin, piped)
        found.extend(more)
        return self.run(Command(tuple(found), redirects, stdin, self.cwd, piped, tuple(prefix)))

    def _reads(self, redirects: Iterable[Redirect], stdin: str | None, piped: bool) -> tuple[str | None, bool]:
        for redirect in redirects:
            if redirect.operator == "<":
                stdin, piped = self.files.get(redirect.target.text), True
        return stdin, piped

    def run(self, command: Command) -> str | None:
        """Judge a simple command and say what it prints."""
        self._budget.spend(nodes=8 + len(command.words) + 4 * len(command.redirects))
        if len(command.words) > MAX_WORDS or self._nested >= MAX_NESTED:
            raise TooDeepError
        self._nested += 1
        try:
            for finding in self.rules(command, self):
                self.found(finding)
        finally:
            self._nested -= 1
        if not command.words:
            return ""
        known = self._called(command)
        if known is not None:
            return known
        text = constants.output(command, self.files)
        if text is None:
            self.source = command.name
        elif command.name in constants.DECODERS and text:
            self.decoded = True
        return self._written(command, text)

    def _written(self, command: Command, text: str | None) -> str | None:
        for redirect in command.redirects:
            if redirect.writes and not redirect.operator.startswith("2"):
                keep(self.files, redirect.target.text, text)
                return ""
        for word in command.operands() if command.name == "tee" else ():
            keep(self.files, word.text, text)
        return text

    def _called(self, command: Command) -> str | None:
        """Functions and aliases that the text has defined itself."""
        body = self.functions.get(command.words[0].text)
        self._depth += 1
        try:
            if self._depth > MAX_DEPTH:
                raise TooDeepError
            if body is not None:
                self.env.update({str(n + 1): text for n, text in enumerate(command.texts[:9])})
                return self.walk(body, command.stdin) or ""
            alias = self.aliases.pop(command.words[0].text, None)
            if alias is not None:
                return self.script(" ".join([alias, *command.texts]), command.stdin) or ""
        finally:
            self._depth -= 1
        return None

    def _redirected_statement(self, node: Node, stdin: str | None, piped: bool) -> str | None:
        body = node.child_by_field_name("body")
        redirects: list[Redirect] = []
        more: list[Word] = []
        rest: list[Node] = []
        for child in node.named_children:
            if child.type == "heredoc_redirect":
                redirects.extend(
                    r for c in child.named_children if c.type == "file_redirect" for r in redirects_of(self, c)
                )
                stdin, piped, rest = here_document(self, child), True, after_here_document(child)
            elif child.type == "herestring_redirect":
                text = self.words(child.named_children[-1:])
                stdin, piped = (None if any(w.open for w in text) else " ".join(w.text for w in text) + "\n"), True
            elif child.type.endswith("_redirect"):
                redirects.extend(redirects_of(self, child))
                more.extend(words_behind(self, child))
        stdin, piped = self._reads(redirects, stdin, piped)
        out = self._body(body, tuple(redirects), stdin, piped, tuple(more))
        for child in rest:
            out = self.walk(child, out, True)
        return out

    def _body(
        self, body: Node | None, redirects: tuple[Redirect, ...], stdin: str | None, piped: bool, more: tuple[Word, ...]
    ) -> str | None:
        if body is not None and body.type == "command":
            return self._command(body, stdin, piped, redirects, more)
        if body is not None and body.type == "list":  # the grammar gives the list what belongs to its last command
            self.walk_all(body.named_children[:-1], stdin, piped)
            return self._body(body.named_children[-1], redirects, stdin, piped, more)
        out = "" if body is None else self.walk(body, stdin, piped)
        self.run(Command(more or ((Word(":"),) if body is None else ()), redirects, "", self.cwd))
        return self._written(Command((), redirects), out)

    def words(self, nodes: Iterable[Node]) -> list[Word]:
        """The grammar takes some words apart (``$a\\b``): what touches belongs together."""
        groups: list[list[Node]] = []
        for node in nodes:
            self._budget.spend(nodes=1)
            if groups and groups[-1][-1].end_byte == node.start_byte:
                groups[-1].append(node)
            else:
                groups.append([node])
        return [word for group in groups for word in self._expanded(group)]

    def _expanded(self, group: list[Node]) -> list[Word]:
        pieces = [piece for node in group for piece in pieces_of(node, self.env, self.substitute)]
        self._budget.spend(nodes=len(pieces) // 2)
        found = join(pieces, self.env.get("IFS", ""))
        source = b"".join(node.text or b"" for node in group)
        if len(found) == 1 and b"/" in source and _QUOTED_INSIDE.search(source):
            return [replace(found[0], hidden=True)]
        return found

    def substitute(self, node: Node) -> Piece:
        """``$(…)``, ``<(…)``, ``$((…))``: run what is inside; its output is part of the word."""
        if node.type == "arithmetic_expansion":
            self.walk_inside(node)
            return Piece("1", open=True)
        before, self.decoded = self.decoded, False
        out = self.walk_all(node.named_children, "", False)
        decoded, self.decoded = self.decoded, before or self.decoded
        if node.type == "process_substitution":
            name = f"/dev/fd/{63 - len(self.files)}"
            self.files[name] = out
            return Piece(name, substituted=True)
        text = (out or "").rstrip("\n")
        hidden = decoded or (out is None and self.source in constants.UNPACKERS)
        return Piece(text, open=out is None, hidden=hidden, splits=True, substituted=True)

    def change_folder(self, path: str) -> None:
        if path != "-":
            folder = posixpath.join(self.cwd, path or DEFAULT_ENV["HOME"])
            self.cwd = self.env["PWD"] = posixpath.normpath(folder)
