"""Compound requests: where "and", "then" and commas part two commands, and where they belong to one text."""

from __future__ import annotations

import random
import re
from dataclasses import replace

from anovax.planner.normalise import courtesy_free, with_apostrophe, without_lead, without_tail
from anovax.planner.rules import all_rules
from anovax.planner.rules.keys import MODIFIERS, chord, how_often
from anovax.planner.rules.notation import Call, Reading, Scene
from anovax.planner.rules.talk import ALL_RIGHT

MAX_BOUNDARIES = 8
_WORDS = re.compile(r"[ ,]+")
_BOUNDARY = re.compile(
    r"(?P<strong>[,;.]? +(?:(?:and )?then|(?:and )?after that|(?:and )?afterwards|followed by),? +|; +|\. +)"
    r"|(?P<weak>,? +and also +|(?<!^click)(?<!^drag),? +and +|, +)"  # "click and drag" is one thing
    r"|(?P<bare> +(?=(?:type|press|hit) ))",  # "open notepad type hello press enter"
    re.IGNORECASE,
)
# After a free text ("type …", "search for …") a bare "and" parts it from a command only if that begins like this.
_DEVICE = re.compile(
    r"^(?:press|hit|click|double|right click|open|launch|take a|go to|scroll|maximi[sz]e|minimi[sz]e|full ?screen|"
    r"switch to|type|submit|select all|save (?:it|(?:the|this|my) (?:file|document))$"
    r"|new tab|mute|unmute|what time is it|what's the time|what day is it|tell me the (?:time|date))\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)")
# "find out how to | press flowers", "do not | press enter": no joint.
_HANGING = re.compile(
    r"\b(?:\w+n't|is|are|was|were|will|would|not|dont|never|to|i|you|we|they|can|could|or|without|before|after|when|if|where|how|the|a|must|should)$",
    re.IGNORECASE,
)
_KEY_PRESS = re.compile(r"^(?:press|hit) ", re.IGNORECASE)
# Words that make a part sound like a command or question of its own even when no rule reads it.
_OWN = re.compile(
    r"^(?:open|close|launch|start|run|stop|book|buy|order|send|call|text|email|mail|tell|read|play|show|find|search|"
    r"look|google|click|"
    r"press|hit|push|tap|type|write|enter|insert|dictate|scroll|go|take|save|delete|remove|create|make|set|turn|"
    r"switch|move|copy|cut|"
    r"paste|print|download|upload|install|post|share|reply|forward|schedule|plan|remind|remember|forget|check|get|"
    r"give|let|log|sign|"
    r"submit|select|choose|pick|put|add|watch|listen|mute|unmute|pause|resume|skip|zoom|minimi[sz]e|maximi[sz]e|drag|"
    r"drop|reload|"
    r"refresh|navigate|browse|visit|bring|fire|join|wait|sort|filter|compare|draw|summari[sz]e|explain|translate|"
    r"define|spell|count|"
    r"calculate|compute|describe|list|arrange|organi[sz]e|attach|edit|rename|format|update|enable|disable|change|"
    r"lock|unlock|undo|redo|"
    r"shut|kill|hold|resize|pin|unpin|rotate|shuffle|repeat|connect|disconnect|increase|decrease|raise|lower|reduce|"
    r"which|quit|exit|say|speak|recommend|suggest|compose|follow|"
    r"subscribe|like|see|if|when|would|unless|but|what|what's|who|who's|where|"
    r"how|why|is|are|will|does|do|did|don't|should|could|would|can|never|i|i'm|i'll|you|we|from now)\b",
    re.IGNORECASE,
)
# A thing to be remembered may be a deed: "remind me to open the door and then close the window" is one reminder.
_DEED_TO_KEEP = re.compile(r"\b(?:remind\w*|remember|forget)\b.*\bto\b", re.IGNORECASE)
# "it's too loud, turn it down" asks for one thing.
_COMPLAINT = re.compile(r"^(?:i|it|it's|that|that's|this|the) ", re.IGNORECASE)
# After a reminder, what cannot be meant as the user's own deed.
_AT_THE_DESK = re.compile(
    r"^(?:take a screenshot|press|type|scroll|click|google|search|(?:open )?(?:a )?new (?:tab|window)|(?:un)?mute|"
    r"(?:close|minimi[sz]e|maximi[sz]e) (?:this|window|tab)|(?:launch|open) \w+$|zoom|full ?screen|volume|what time|"
    r"reload|refresh|next tab|go to \w+ dot|switch to)\b",
    re.IGNORECASE,
)
# Part of what cannot be done: "text my sister and tell her to call me".
_TELLS_ON = re.compile(r"^(?:tell|ask|let|say|remind|give|send|call|invite) (?:him|her|them|that|it)\b", re.IGNORECASE)
_THANKS = "You are welcome."
_PLEASANTRIES = ("Hello.", _THANKS, "Thank you", ALL_RIGHT)


class Reader:
    """Reads one request: as a whole, or in parts each of which is read with certainty by itself."""

    def __init__(self, chance: random.Random) -> None:
        every = all_rules(chance)
        for rule in every:
            _ = rule.pattern  # compiled here, a fifth of a second for all, so that no request pays for it
        words = {word for rule in every for word in rule.firsts or ()}
        self._anywhere = [rule for rule in every if rule.firsts is None]
        self._by_word = {word: [r for r in every if r.firsts is None or word in r.firsts] for word in words}

    def clause(self, text: str, scene: Scene) -> Reading | None:
        """One command, no splitting. Without its courtesies first; as it stands where these were its point."""
        line = with_apostrophe(without_lead(text))
        plain = courtesy_free(line)
        reading = self._match(line, plain, scene) or self._repeated(plain, scene)
        return reading or (None if plain == text else self._match(text, text, scene))

    def _match(self, line: str, plain: str, scene: Scene) -> Reading | None:
        first = _WORDS.split(plain.lower(), maxsplit=1)[0]
        known = frozenset(_WORDS.split(line.lower()))
        for rule in self._by_word.get(first, self._anywhere):
            if (reading := rule.read(line if rule.verbatim else plain, known, scene)) is not None:
                return reading
        return None

    def _repeated(self, plain: str, scene: Scene) -> Reading | None:
        """Such as "zoom in twice": any single chord may be asked for several times."""
        head, times = how_often(plain)
        if head == plain or times is None or not 1 < times <= 50:
            return None
        reading = self._match(head, head, scene)
        calls = reading.calls if reading else ()
        if len(calls) != 1 or calls[0].tool != "press_keys" or "times" in calls[0].args:
            return None
        return Reading((Call("press_keys", {**calls[0].args, "times": times}),))

    def read(self, text: str, scene: Scene) -> Reading | None:
        """The whole request, None unless all of it is read."""
        whole, text = text, without_lead(text)
        marks = [mark for mark in _BOUNDARY.finditer(text) if not _inside_quotes(text, mark.start())]
        if len(marks) > MAX_BOUNDARIES:
            return None
        if marks:
            return self._parts(text, marks, scene)
        # "can you dance", "thanks a lot": what looks like a courtesy before may have been the point
        return self.clause(text, scene) or (None if whole == text else self._match(whole, whole, scene))

    def _parts(self, text: str, marks: list[re.Match[str]], scene: Scene) -> Reading | None:
        """The first part as short as it can be, then the rest; the whole as one command last."""
        inner: list[int] = []  # where the weak marks end that the first part has swallowed
        for mark in marks:
            head, tail = text[: mark.start()], text[mark.end() :]
            if head.strip() and tail.strip():
                first = self._whole(head, [head[at:] for at in inner], scene)
                if first is not None and _held(first, mark, tail):
                    continue
                if first is not None and _may_part(head, first, mark, tail):
                    then = self.read(tail, replace(scene, before=(*scene.before, *_in_order(first))))
                    if then is not None:
                        return then if _COMPLAINT.match(head) and first.calls == then.calls else _joined(first, then)
                if mark["strong"]:
                    return None
            inner += [mark.end()] if mark["weak"] else []
        return self._whole(text, [text[at:] for at in inner], scene)

    def _whole(self, text: str, tails: list[str], scene: Scene) -> Reading | None:
        """All of it as one command, if no part of it could be meant as another."""
        whole = self.clause(text, scene)
        if whole is None:
            return None
        for tail in tails:
            if not whole.free and without_tail(f"do, {tail}") == "do":
                continue  # "open the calculator, would you"
            plain = without_lead(tail)
            part = self.clause(_BOUNDARY.split(plain, maxsplit=1)[0], scene)
            another = _OWN.match(plain) or (part is not None and part.calls)
            if another and (whole.calls or not _TELLS_ON.match(plain)):
                return None
        return whole


def _may_part(head: str, first: Reading, mark: re.Match[str], tail: str) -> bool:
    """Whether the words after ``mark`` can be a command of their own rather than more of the first one's text."""
    if first.calls and first.calls[-1].tool == "remember" and _DEED_TO_KEEP.search(head):
        return bool(mark["strong"] and _AT_THE_DESK.match(tail))
    if mark["bare"] and not first.calls:
        return False
    if mark["bare"] and (first.free or _HANGING.search(head)):
        return bool(_KEY_PRESS.match(tail)) and not _HANGING.search(head)
    return bool(mark["strong"]) or not first.free or bool(_DEVICE.match(tail))


def _held(first: Reading, mark: re.Match[str], tail: str) -> bool:
    """Whether "and" joins two keys of one chord: "press shift and tab"."""
    modifier = bool(first.calls) and first.calls[-1].args.get("keys") in MODIFIERS
    return modifier and mark.group().strip() in ("and", ",") and chord(_BOUNDARY.split(tail, maxsplit=1)[0]) is not None


def _inside_quotes(text: str, at: int) -> bool:
    return any(quoted.start() < at < quoted.end() for quoted in _QUOTED.finditer(text))


def _in_order(reading: Reading) -> tuple[Call, ...]:
    """A reading's calls; its words become a call too, to be spoken in their place."""
    return (*reading.calls, *((Call("speak", {"text": reading.say}),) if reading.say else ()))


def _joined(first: Reading, then: Reading) -> Reading | None:
    """Both, one after the other. None where the second takes the first back or leaves open what of it is meant
    ("press ok and then cancel", "open firefox, never mind")."""
    if first.calls and not then.calls and then.say == ALL_RIGHT:
        return None
    if first.calls and not then.calls and then.say.startswith(_THANKS):
        return first
    if not first.calls and first.say.startswith(_PLEASANTRIES):
        return then
    if not first.calls and not then.calls:
        if first.say == then.say:
            return then
        return Reading(say=f"{first.say} {then.say}", free=then.free)
    before = _in_order(first)[:-1] if then.folds else _in_order(first)
    return Reading((*before, *_in_order(then)), free=then.free, folds=first.folds)
