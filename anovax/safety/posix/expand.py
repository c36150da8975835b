"""Word expansion: quotes, escapes, variables, substitutions, tildes and braces, as far as they are constant."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from anovax.safety.paths import HOME
from anovax.safety.posix.words import Word

if TYPE_CHECKING:
    from tree_sitter import Node

DEFAULT_ENV: Mapping[str, str] = {
    "HOME": HOME, "USER": "user", "LOGNAME": "user", "PWD": ".", "OLDPWD": ".", "SHELL": "/bin/bash",
    "BASH": "/bin/bash",
    "PATH": "/usr/local/bin:/usr/bin:/bin", "IFS": " \t\n", "TMPDIR": "/tmp", "UID": "1000", "EDITOR": "nano",
    "PAGER": "less",
    "VISUAL": "nano", "0": "bash", "OSTYPE": "linux-gnu", "SHLVL": "1", "TERM": "xterm", "BROWSER": "firefox",
}  # fmt: skip
_PARAMETER = re.compile(r"\$\{(!?)(#?)([A-Za-z_]\w*|[@*#?$!\-]|\d+)(\[[^\]]*\])?(.*)\}\Z", re.DOTALL)
_ANSI = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_ANSI_NAMES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


OPEN = "\ufffc"  # the value of a variable that is set, but only known at run time


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a word. ``splits``: an unquoted expansion, whose blanks separate words."""

    text: str
    open: bool = False
    hidden: bool = False
    odd: bool = False
    quoted: bool = False
    splits: bool = False
    substituted: bool = False


def ansi_c(text: str) -> str:
    r"""What ``$'…'`` and ``echo -e`` make of backslash escapes."""

    def one(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in "xuU" and len(code) > 1:
            value = int(code[1:], 16)
            return chr(value) if value < 0x110000 and not 0xD800 <= value < 0xE000 else ""
        if code[0] in "01234567":
            return chr(int(code, 8) & 0xFF)
        return _ANSI_NAMES.get(code, code if code in "\\'\"?" else "\\" + code)

    return _ANSI.sub(one, text)


def has_codes(text: str) -> bool:
    return bool(re.search(r"\\(x[0-9a-fA-F]|u[0-9a-fA-F]|U[0-9a-fA-F]|[0-7]{2,3})", text))


def parameter(text: str, env: Mapping[str, str]) -> Piece:
    """``$x`` or ``${x…}``. What is not set is empty and open: it may be set where the command runs."""
    if not text.startswith("${"):
        return _named(text[1:], env)
    match = _PARAMETER.match(text)
    if match is None:
        return Piece("", open=True, hidden=True, splits=True)
    indirect, length, name, index, operation = match.groups()
    if length or index or (indirect and not operation and name not in env):
        return Piece("", open=True, hidden=bool(indirect), splits=True)
    if indirect:
        return replace(_named(env.get(name, ""), env), hidden=True)
    base = _named(name, env)
    return base if not operation else _operated(base, operation)


def _named(name: str, env: Mapping[str, str]) -> Piece:
    if name in ("@", "*") or (name.isdigit() and name not in env):
        return Piece("", hidden=True, splits=True)
    if name in env:
        if env[name] == OPEN:
            return Piece("", open=True, splits=True)
        return Piece(env[name], hidden=name == "IFS", odd=name == "0", splits=True)
    return Piece("", open=True, splits=True)


def _operated(base: Piece, operation: str) -> Piece:
    slice_ = re.fullmatch(r":\s*\(?(-?\d+)\)?(?::\s*(-?\d+))?", operation)
    if slice_:
        start = int(slice_[1])
        stop = None if slice_[2] is None else (int(slice_[2]) if int(slice_[2]) < 0 else start + int(slice_[2]) or None)
        return replace(base, text=base.text[start:stop], hidden=True)
    if operation[0] == "/":
        return _replaced(base, operation)
    if operation in ("^^", ",,", "^", ",", "~~", "@U", "@L", "@u"):
        return replace(base, text=base.text.upper() if operation in ("^^", "@U") else base.text.lower(), hidden=True)
    default = re.fullmatch(r":?([-=+?])(.*)", operation, re.DOTALL)
    if default:
        other = default[2].strip("'\"")
        chosen = other if base.open or (default[1] == "+" and not base.open) else base.text
        return Piece(chosen, open="$" in chosen or "`" in chosen, hidden=base.hidden, splits=True)
    if operation[0] in "#%" and len(base.text) <= MAX_STRIPPED:
        return replace(base, text=_stripped(base.text, operation))
    return Piece("", open=True, hidden=True, splits=True)


def _replaced(base: Piece, operation: str) -> Piece:
    every = operation.startswith("//")
    parts = re.split(r"(?<!\\)/", operation[2 if every else 1 :], maxsplit=1)
    old = parts[0].replace("\\", "").strip("'\"")
    new = parts[1].replace("\\", "").strip("'\"") if len(parts) > 1 else ""
    return replace(base, text=base.text.replace(old, new, -1 if every else 1) if old else base.text, hidden=True)


def _stripped(text: str, operation: str) -> str:
    front, long = operation[0] == "#", operation[:2] in ("##", "%%")
    pattern = operation.lstrip(operation[0]).strip("'\"")
    cuts = range(len(text) + 1)
    for cut in reversed(cuts) if front == long else cuts:
        if front and fnmatch.fnmatchcase(text[:cut], pattern):
            return text[cut:]
        if not front and fnmatch.fnmatchcase(text[cut:], pattern):
            return text[:cut]
    return text


def unescaped(source: str) -> Piece:
    """An unquoted literal: backslashes removed. Odd when a letter inside is escaped for no reason."""
    if "\\" not in source:
        return Piece(source)
    text = re.sub(r"\\(.)", r"\1", source, flags=re.DOTALL)
    odd = bool(re.search(r"(?<=.)\\[A-Za-z0-9]", source)) and not re.match(r"[A-Za-z]:\\|\\\\", source)
    return Piece(text, odd=odd)


def join(pieces: list[Piece], separators: str = " \t\n") -> list[Word]:
    """Pieces to words: the tilde, and ``separators`` ($IFS) in unquoted expansions."""
    if len(pieces) == 1 and not pieces[0].splits:
        only = pieces[0]
        return [
            Word(
                only.text if only.quoted else _tilde(only.text),
                only.open,
                only.hidden,
                only.odd,
                only.quoted,
                only.substituted,
            )
        ]
    blank = _blank(separators)
    if pieces and not pieces[0].quoted and not pieces[0].splits:
        pieces = [replace(pieces[0], text=_tilde(pieces[0].text)), *pieces[1:]]
    fields: list[list[Piece]] = [[]]
    for piece in pieces:
        if not (piece.splits and blank.search(piece.text)):
            fields[-1].append(piece)
            continue
        parts = blank.split(piece.text)
        fields[-1].append(replace(piece, text=parts[0]))
        fields.extend([replace(piece, text=part)] for part in parts[1:])
    return [_word(field) for field in fields if field and (_visible(field) or len(fields) == 1)]


@lru_cache(maxsize=64)
def _blank(separators: str) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(separators)}]+") if separators else re.compile(r"(?!)")


def _visible(field: list[Piece]) -> bool:
    return any(piece.text or piece.quoted for piece in field)


def _tilde(text: str) -> str:
    if not text.startswith("~"):
        return text
    if text == "~" or text.startswith("~/"):
        return HOME + text[1:]
    return "/root" + text[5:] if re.match(r"~root(/|$)", text) else re.sub(r"^~\w+", r"/home/other", text)


def _word(field: list[Piece]) -> Word:
    text = "".join(piece.text for piece in field)
    mixed = len(field) > 1 and any(p.quoted for p in field) and text.replace("-", "").replace("_", "").isalnum()
    return Word(
        text,
        open=any(p.open for p in field),
        hidden=any(p.hidden for p in field),
        odd=mixed or any(p.odd for p in field),
        quoted=all(p.quoted for p in field if p.text),
        substituted=any(p.substituted for p in field),
    )


def pieces_of(node: Node, env: Mapping[str, str], substitute: Callable[[Node], Piece]) -> list[Piece]:
    """The pieces of one word node. ``substitute`` gives the output of ``$(…)``, ``<(…)`` and walks what is inside."""
    source = (node.text or b"").decode()
    match node.type:
        case "raw_string":
            return [Piece(source[1:-1], quoted=True)]
        case "ansi_c_string":
            return [Piece(ansi_c(source[2:-1]), quoted=True, hidden=has_codes(source), odd=has_codes(source))]
        case "string" | "translated_string":
            return _double_quoted(node, env, substitute)
        case "simple_expansion" | "expansion":
            for child in node.named_children:
                if "substitution" in child.type:
                    substitute(child)
            piece = parameter(source, env)
            unread = not node.named_children or all("substitution" not in c.type for c in node.named_children)
            return [replace(piece, open=True, hidden=True) if unread and re.search(r"`|\$\(", source) else piece]
        case "command_substitution" | "process_substitution" | "arithmetic_expansion":
            return [substitute(node)]
        case "concatenation" | "command_name":
            gap = b"``" in (node.text or b"") or b"$()" in (node.text or b"")
            inside = [piece for child in node.children for piece in pieces_of(child, env, substitute)]
            return [*inside, Piece("", hidden=True)] if gap else inside  # an empty substitution: nothing but a disguise
    return [unescaped(source)]


def _double_quoted(node: Node, env: Mapping[str, str], substitute: Callable[[Node], Piece]) -> list[Piece]:
    data, start = node.text or b"", node.start_byte
    found, place = [Piece("", quoted=True)], data.find(b'"') + 1
    for child in node.named_children:
        if child.type in ("string_content", "string"):
            continue
        found.append(_quoted_literal(data[place : child.start_byte - start]))
        found.extend(replace(p, quoted=True, splits=False) for p in pieces_of(child, env, substitute))
        place = child.end_byte - start
    return [*found, _quoted_literal(data[place : max(place, len(data) - 1)])]


def _quoted_literal(data: bytes) -> Piece:
    return Piece(re.sub(r'\\([$`"\\\n])', r"\1", data.decode(errors="replace")), quoted=True)


MAX_STRIPPED = 200  # characters that ``${x#…}`` is worked out for
_BRACES = re.compile(r"""(?<![$\\])\{([^{}\s'"]*(?:'[^']*'|"[^"]*"|,)[^{}\s]*)\}""")
MAX_BRACES = 16


def expand_braces(source: str) -> tuple[str, bool]:
    """``{a,b}`` written out as bash does before everything else, outside of quotes and ``${``; and whether that is all
    of them."""
    place = done = 0
    while match := _BRACES.search(source, place):
        if "," not in match[1] or _quoted_at(source, match.start()):
            place = match.start() + 1
            continue
        done += 1
        if done > MAX_BRACES or len(source) > 4000:
            return source, False
        before = re.search(r"[^\s;&|(){}<>]*\Z", source[: match.start()])
        after = re.match(r"[^\s;&|()<>]*", source[match.end() :])
        head, tail = before[0] if before else "", after[0] if after else ""
        options = " ".join(head + option + tail for option in match[1].split(",") if head + option + tail)
        place = match.start() - len(head)
        source = source[:place] + options + source[match.end() + len(tail) :]
    return source, True


def _quoted_at(source: str, place: int) -> bool:
    open_quote = re.sub(r"'[^']*'|\"[^\"]*\"", "", re.sub(r"\\.", "__", source[:place]))
    return "'" in open_quote or '"' in open_quote
