"""Compound requests: where "and", "then" and commas part two commands, and where they belong to one text."""

from __future__ import annotations

import random
import re
from dataclasses import replace

from anovax.planner.normalise import courtesy_free, without_lead
from anovax.planner.rules import all_rules
from anovax.planner.rules.grammar import Call, Reading, Rule, Scene

MAX_BOUNDARIES = 8
_WORDS = re.compile(r"[ ,]+")
_BOUNDARY = re.compile(
    r"(?P<strong>[,;.]? +(?:and then|then|and after that|after that|afterwards|followed by|and afterwards)(?:,)? +|; +|\. +)|(?P<weak>(?:, +and +|,? +and also +| +and +|, +))",
    re.IGNORECASE,
)
# After a free text ("type …", "search for …") a bare "and" parts it from a command only if that begins like this.
_DEVICE = re.compile(
    r"^(?:press|hit|click|double|right click|open|launch|take a|go to|scroll|maximi[sz]e|minimi[sz]e|full ?screen|switch to|type|then|submit|new tab|mute|unmute)\b",
    re.IGNORECASE,
)
# Verbs that make a part sound like a command of its own even when no rule reads it.
_VERB = re.compile(
    r"^(?:please )?(?:open|close|launch|start|run|stop|book|buy|order|send|call|text|email|mail|tell|read|play|show|find|search|look up|google|"
    r"click|press|hit|type|write|scroll|go|take|save|delete|remove|create|make|set|turn|switch|move|copy|cut|paste|print|download|"
    r"upload|install|post|share|reply|forward|schedule|remind|remember|check|get|give|let|log|sign|submit|select|choose|pick|"
    r"put|add|watch|listen|mute|pause|resume|zoom|minimi[sz]e|maximi[sz]e|drag|drop|reload|refresh|navigate|visit|join|wait)\b",
    re.IGNORECASE,
)


class Reader:
    """Reads one request: as a whole, or in parts each of which is read with certainty by itself."""

    def __init__(self, chance: random.Random) -> None:
        every = all_rules(chance)
        words = {word for rule in every for word in rule.firsts or ()}
        self._anywhere = [rule for rule in every if rule.firsts is None]
        self._by_word = {word: [r for r in every if r.firsts is None or word in r.firsts] for word in words}

    def clause(self, text: str, scene: Scene) -> Reading | None:
        """One command, no splitting. Without its courtesies first; as it stands where these were its point."""
        line = without_lead(text)
        plain = courtesy_free(line)
        return self._match(line, plain, scene) or (None if plain == text else self._match(text, text, scene))

    def _match(self, line: str, plain: str, scene: Scene) -> Reading | None:
        first = _WORDS.split(plain.lower(), maxsplit=1)[0]
        known = frozenset(_WORDS.split(line.lower()))
        for rule in self._by_word.get(first, self._anywhere):
            if (reading := rule.read(line if rule.verbatim else plain, known, scene)) is not None:
                return reading
        return None

    def read(self, text: str, scene: Scene) -> Reading | None:
        """The whole request, None unless all of it is read."""
        text = without_lead(text)
        marks = list(_BOUNDARY.finditer(text))
        if len(marks) > MAX_BOUNDARIES:
            return None
        if not marks:
            return self.clause(text, scene)
        return self._parts(text, marks, scene)

    def _parts(self, text: str, marks: list[re.Match[str]], scene: Scene) -> Reading | None:
        """The first part as short as it can be, then the rest; the whole as one command last."""
        for mark in marks:
            head, tail = text[: mark.start()], text[mark.end() :]
            if not head.strip() or not tail.strip():
                continue
            first = self.clause(head, scene)
            if first is None or not self._may_split(first, mark, tail):
                if mark["strong"] and first is None:
                    return None
                continue
            then = self.read(tail, replace(scene, before=(*scene.before, *_as_calls(first, scene))))
            if then is not None:
                return _joined(first, then)
            if mark["strong"]:
                return None
        if any(mark["strong"] for mark in marks) or any(_VERB.match(text[m.end() :]) for m in marks):
            return None
        return self.clause(text, scene)

    @staticmethod
    def _may_split(first: Reading, mark: re.Match[str], tail: str) -> bool:
        return bool(mark["strong"]) or not first.free or bool(_DEVICE.match(tail))


def _as_calls(reading: Reading, scene: Scene) -> tuple[Call, ...]:
    return (Call("speak", {"text": reading.say}), *reading.calls) if reading.say else reading.calls


def _joined(first: Reading, then: Reading) -> Reading:
    """Both, in order. Words between actions are spoken in their place."""
    if not first.calls and not then.calls:
        return Reading(say=f"{first.say} {then.say}", free=then.free)
    before = () if then.folds else _spoken(first)
    if then.folds:
        before = _spoken(first)[:-1]
    return Reading((*before, *_spoken(then)), free=then.free)


def _spoken(reading: Reading) -> tuple[Call, ...]:
    return (*reading.calls, *((Call("speak", {"text": reading.say}),) if reading.say else ()))
