"""A small notation for what people say, compiled once to regular expressions.

    "(open|launch|start) [up] [the|my] <app> [app|program]"

``(a|b)`` is one of several, ``[a|b]`` may be missing, ``<name>`` is a slot for any words, ``~`` stands for up to four
words that do not matter, everything else is a word.
A sentence must match from its first word to its last. The method is that of template intents as in Mycroft's Padatious
and Home Assistant's hassil; here each template becomes one anchored regular expression, indexed by its first words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from anovax.plan import Context

_TOKEN = re.compile(r"[()\[\]|]|<\w+>|[^\s()\[\]|<>]+")
_END = r"(?:[ ,]+|$)"
_GAP = rf"(?:[^\s,]+{_END}){{0,4}}?"


@dataclass(frozen=True)
class Call:
    """One tool call as a rule reads it, before the toolbox has typed its arguments."""

    tool: str
    args: Mapping[str, Any]


@dataclass(frozen=True)
class Reading:
    """What a clause means: calls, or words. ``free``: its last argument runs to the clause's end and could have
    swallowed a further command. ``folds``: it takes the previous call's place ("open youtube" + "search for cats")."""

    calls: tuple[Call, ...] = ()
    say: str = ""
    free: bool = False
    folds: bool = False


@dataclass(frozen=True)
class Scene:
    """What a rule may look at besides the words. ``apps``: installed applications in lower case, None when unknown;
    ``before``: the calls of the request's earlier clauses."""

    context: Context
    apps: frozenset[str] | None = None
    before: tuple[Call, ...] = ()


Build = Callable[[re.Match[str], Scene], Reading | None]


@dataclass(frozen=True)
class Rule:
    """``verbatim`` rules see the clause with its closing courtesies ("type yes please")."""

    pattern: re.Pattern[str]
    firsts: frozenset[str] | None  # first words that can begin a match; None: any
    build: Build
    verbatim: bool = False


def call(tool: str, **args: Any) -> Reading:
    return Reading((Call(tool, args),))


def said(text: str) -> Reading:
    return Reading(say=text)


def rule(template: str, build: Build | Reading, *, verbatim: bool = False) -> Rule:
    """A rule from one template. A fixed ``Reading`` stands for a build that always answers it."""
    regex, firsts, _ = _Parser(template).alternatives()
    pattern = re.compile(f"^{regex}$", re.IGNORECASE)
    if isinstance(build, Reading):
        fixed = build
        return Rule(pattern, firsts, lambda match, scene: fixed, verbatim)
    return Rule(pattern, firsts, build, verbatim)


def rules(build: Build | Reading, *templates: str, verbatim: bool = False) -> tuple[Rule, ...]:
    return tuple(rule(template, build, verbatim=verbatim) for template in templates)


def phrasebook(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Headings ("= …") and the templates below each, one a line; a line ending in a backslash goes on."""
    pages: list[tuple[str, list[str]]] = []
    for line in text.replace("\\\n", "").strip().splitlines():
        if line.startswith("= "):
            pages.append((line[2:].strip(), []))
        elif line.strip():
            pages[-1][1].append(line.strip())
    return tuple((heading, tuple(templates)) for heading, templates in pages)


class _Parser:
    """Recursive descent over the notation. Every node yields (regex, first words or None for any, may be empty)."""

    def __init__(self, template: str) -> None:
        self._tokens = _TOKEN.findall(template)
        self._at = 0

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def alternatives(self) -> tuple[str, frozenset[str] | None, bool]:
        parts = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            parts.append(self._sequence())
        regex = "|".join(part[0] for part in parts)
        firsts = [part[1] for part in parts]
        known = None if any(f is None for f in firsts) else frozenset().union(*(f for f in firsts if f is not None))
        return (f"(?:{regex})" if len(parts) > 1 else regex), known, any(part[2] for part in parts)

    def _sequence(self) -> tuple[str, frozenset[str] | None, bool]:
        regex, firsts, empty = "", frozenset[str](), True
        known: frozenset[str] | None = firsts
        while (token := self._peek()) and token not in ")]|":
            piece, piece_firsts, piece_empty = self._element()
            regex += piece
            if empty:
                known = None if known is None or piece_firsts is None else known | piece_firsts
            empty = empty and piece_empty
        return regex, known, empty

    def _element(self) -> tuple[str, frozenset[str] | None, bool]:
        token = self._tokens[self._at]
        self._at += 1
        if token in "([":
            regex, firsts, empty = self.alternatives()
            self._at += 1  # the closing bracket
            return (f"(?:{regex})?", firsts, True) if token == "[" else (f"(?:{regex})", firsts, empty)
        if token == "~":
            return _GAP, None, True
        if token.startswith("<"):
            return f"(?P<{token[1:-1]}>.+?){_END}", None, False
        return re.escape(token) + _END, frozenset({token.lower()}), False
