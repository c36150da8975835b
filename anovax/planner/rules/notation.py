"""A small notation for what people say, compiled once to regular expressions.

    "(open|launch|start) [up] [the|my] <app> [app|program]"

``(a|b)`` is one of several, ``[a|b]`` may be missing, ``<name>`` is a slot for any words, ``~`` stands for up to four
words that do not matter, everything else is a word.
A sentence must match from its first word to its last. The method is that of template intents as in Mycroft's Padatious
and Home Assistant's hassil; here each template becomes one anchored regular expression, indexed by its first words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from anovax.plan import Context

_TOKEN = re.compile(r"[()\[\]|]|<\w+>|[^\s()\[\]|<>]+")
_PIECE = re.compile(r"\{(\w+)\}")
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
    """What a rule may look at besides the words. ``before``: the calls of the request's earlier clauses."""

    context: Context
    installed: Callable[[], frozenset[str] | None] = lambda: None
    before: tuple[Call, ...] = ()

    @property
    def apps(self) -> frozenset[str] | None:
        """Installed applications in lower case, None when unknown. Asked for only by the rules that open and close."""
        return self.installed()


Build = Callable[[re.Match[str], Scene], Reading | None]


@dataclass(frozen=True)
class Rule:
    """One template with what it means. ``firsts``: words that can begin a match (None: any); ``needs``: of each set at
    least one word occurs in every match. Both rule out most rules without running an expression. ``verbatim`` rules
    see the clause with its closing courtesies ("type yes please")."""

    regex: str
    firsts: frozenset[str] | None
    needs: tuple[frozenset[str], ...]
    build: Build
    verbatim: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled template."""
        return re.compile(f"^{self.regex}$", re.IGNORECASE)

    def read(self, line: str, words: frozenset[str], scene: Scene) -> Reading | None:
        """What ``line`` means by this rule; ``words`` are its words in lower case."""
        for need in self.needs:
            if need.isdisjoint(words):
                return None
        match = self.pattern.match(line)
        if match is None or any(line.startswith(", ", start - 2) for start, _ in match.regs[1:] if start >= 2):
            return None  # a slot that begins after a comma holds another thought: "open, louder"
        return self.build(match, scene)


def call(tool: str, **args: Any) -> Reading:
    return Reading((Call(tool, args),))


def said(text: str) -> Reading:
    return Reading(say=text)


def rule(template: str, build: Build | Reading, *, verbatim: bool = False) -> Rule:
    """A rule from one template. A fixed ``Reading`` stands for a build that always answers it."""
    node = _Parser(template).alternatives()
    if isinstance(build, Reading):
        fixed = build
        return Rule(node.regex, node.firsts, node.needs, lambda match, scene: fixed, verbatim)
    return Rule(node.regex, node.firsts, node.needs, build, verbatim)


def rules(build: Build | Reading, *templates: str, verbatim: bool = False) -> tuple[Rule, ...]:
    return tuple(rule(template, build, verbatim=verbatim) for template in templates)


def phrasebook(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Headings ("= …") and the templates below each, one a line; a line that ends in a backslash goes on, and
    "name := …" defines a piece that is written {name} further down."""
    pages: list[tuple[str, list[str]]] = []
    pieces: dict[str, str] = {}
    for line in text.replace("\\\n", "").strip().splitlines():
        line = _PIECE.sub(lambda match: pieces[match[1]], line.strip())
        if line.startswith("= "):
            pages.append((line[2:], []))
        elif " := " in line:
            name, _, pieces_text = line.partition(" := ")
            pieces[name] = pieces_text
        elif line:
            pages[-1][1].append(line)
    return tuple((heading, tuple(templates)) for heading, templates in pages)


def book_rules(text: str, builds: Mapping[str, Build | Reading], verbatim: Collection[str] = ()) -> tuple[Rule, ...]:
    """The rules of a phrasebook; every heading must be a key of ``builds``."""
    return tuple(
        rule(template, builds[heading], verbatim=heading in verbatim)
        for heading, templates in phrasebook(text)
        for template in templates
    )


def chord_rules(text: str, builds: Mapping[str, Build | Reading] | None = None) -> tuple[Rule, ...]:
    """The rules of a phrasebook in which a heading that is no key of ``builds`` is the chord to be pressed."""
    chords = {heading: call("press_keys", keys=heading) for heading, _ in phrasebook(text)}
    return book_rules(text, {**chords, **(builds or {})})


@dataclass(frozen=True)
class _Node:
    """A part of a template: its expression, the words that can begin it (None: any), whether it may be empty, and the
    sets of words of each of which it has at least one."""

    regex: str
    firsts: frozenset[str] | None = frozenset()
    empty: bool = True
    needs: tuple[frozenset[str], ...] = ()


def _either(expressions: list[str]) -> str:
    """One of several expressions. Their common end is written once: half the time to compile."""
    if all(expression.endswith(_END) for expression in expressions):
        return f"(?:{'|'.join(expression.removesuffix(_END) for expression in expressions)}){_END}"
    return f"(?:{'|'.join(expressions)})"


class _Parser:
    """Recursive descent over the notation."""

    def __init__(self, template: str) -> None:
        self._tokens = _TOKEN.findall(template)
        self._at = 0

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def alternatives(self) -> _Node:
        parts = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            parts.append(self._sequence())
        if len(parts) == 1:
            return parts[0]
        parts.sort(key=lambda part: -len(part.regex))  # "type in" before "type": the first that fits is taken
        firsts = None if any(p.firsts is None for p in parts) else frozenset().union(*(p.firsts or () for p in parts))
        smallest = [min(part.needs, key=len) for part in parts if part.needs]
        needs = (frozenset().union(*smallest),) if len(smallest) == len(parts) else ()
        return _Node(_either([part.regex for part in parts]), firsts, any(p.empty for p in parts), needs)

    def _sequence(self) -> _Node:
        regex, empty, needs = "", True, list[frozenset[str]]()
        firsts: frozenset[str] | None = frozenset()
        while (token := self._peek()) and token not in ")]|":
            node = self._element()
            regex += node.regex
            needs += node.needs
            if empty:
                firsts = None if firsts is None or node.firsts is None else firsts | node.firsts
            empty = empty and node.empty
        return _Node(regex, firsts, empty, tuple(needs))

    def _element(self) -> _Node:
        token = self._tokens[self._at]
        self._at += 1
        if token in "([":
            node = self.alternatives()
            self._at += 1  # the closing bracket
            group = f"(?:{node.regex})"
            if token == "[":
                return _Node(group + "?", node.firsts)
            return _Node(group, node.firsts, node.empty, node.needs)
        if token == "~":
            return _Node(_GAP, None)
        if token.startswith("<"):
            return _Node(f"(?P<{token[1:-1]}>.+?){_END}", None, False)
        word = frozenset({token.lower()})
        return _Node(re.escape(token) + _END, word, False, (word,))
