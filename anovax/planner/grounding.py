"""No invented arguments: every word of an argument comes from the request, from memory, or from a fixed vocabulary.

A small model fills an empty slot with something likely: an address, a name, a file. Such words are taken out where the
rest still says what was asked for; where nothing is left, or where each letter counts, the plan becomes a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Any

from anovax.plan import RESULT_REFERENCE, Context, Plan, Step
from anovax.tool import Toolbox

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?", re.UNICODE)
_EXACT = {"type_text": "text"}  # each letter counts: all or nothing
_LOOSE = {  # invented words are taken out
    "open_app": "name",
    "focus_window": "name",
    "close_window": "name",
    "click": "target",
    "web_search": "query",
    "recall": "query",
    "forget": "query",
    "remember": "fact",
    "delegate": "goal",
    "get_time": "place",
    "read_screen": "query",
}
UNCLEAR = "I am not sure what you mean. What should I do?"
_QUESTIONS = {
    "type_text": "What exactly should I type?",
    "open_url": "Which address do you mean?",
    "open_app": "Which application do you mean?",
    "click": "What should I click?",
    "remember": "What should I remember?",
}
# Words that carry no fact: an argument may have them although the user did not say them.
_FREE = frozenset(
    "a an the of in on at to for from by with and or is are was be i my me mine you your it its this that do does did "
    "what how "
    "when where who which as about into not other one ones last new next first".split()
)
_NUMBERS = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million half "
    "quarter noon midnight".split()
)
_HOST_PARTS = frozenset(
    "www com org net co uk de io gov edu http https html search q watch results maps mail google".split()
)
_HERE = frozenset("this that it the current active open focused window tab one program application app".split())
_MEDIA = frozenset("volumeup volumedown volumemute playpause nexttrack prevtrack stop pageup pagedown".split())
ALIKE = 0.8


class Said:
    """Everything that was said: the request, and what memory and the desktop contributed."""

    def __init__(self, request: str, context: Context) -> None:
        seen: Iterable[str] = (
            request,
            *context.facts,
            *context.recent_apps,
            *(w.title + " " + w.app for w in (*context.windows, *([context.focus] if context.focus else ()))),
            *(turn.heard for turn in context.turns),
        )
        text = " ".join(seen).lower()
        self.request = request
        self._words = set(_WORD.findall(text))
        self._letters = "".join(_WORD.findall(text))
        self._numbers = bool(self._words & _NUMBERS) or any(c.isdigit() for c in text)
        self._initials = "".join(word[0] for word in _WORD.findall(request.lower()))

    def knows(self, word: str) -> bool:
        word = word.lower()
        if word in self._words or word in _FREE or (self._numbers and (word.isdigit() or word in _NUMBERS)):
            return True
        if len(word) != 2 and (word in self._letters or word.removesuffix("s") in self._words):
            return True
        return any(self._alike(word, known) for known in self._words)

    @staticmethod
    def _alike(word: str, known: str) -> bool:
        return abs(len(word) - len(known)) <= 3 and SequenceMatcher(None, word, known).ratio() >= ALIKE

    def knows_host(self, word: str) -> bool:
        """A site may go by its initials: "the new york times" is nytimes or nyt."""
        short = len(word) >= 2 and (word in self._initials or any(word.startswith(i) for i in self._parts()))
        return word in _HOST_PARTS or self.knows(word) or short

    def _parts(self) -> list[str]:
        return [self._initials[i : i + 2] for i in range(len(self._initials) - 1)]


def answering(plan: Plan) -> Plan:
    """``plan``, or a question in place of one that neither does nor says anything."""
    return plan if plan.steps or plan.say or plan.remember else Plan(say=UNCLEAR)


def grounded(plan: Plan, request: str, context: Context, tools: Toolbox) -> Plan:
    """``plan`` with invented words taken out, or words that ask for what is missing."""
    said = Said(request, context)
    steps = []
    for step in plan.steps:
        kept = _keep(step, said, tools)
        if kept is None:
            return _instead(step, plan)
        steps.append(kept)
    return plan.model_copy(update={"steps": tuple(steps)})


def _instead(step: Step, plan: Plan) -> Plan:
    if step.tool == "speak" and len(plan.steps) == 1:
        return Plan(say=str(step.to_json()["text"]))
    return Plan(say=_QUESTIONS.get(step.tool, UNCLEAR))


def _keep(step: Step, said: Said, tools: Toolbox) -> Step | None:
    """``step`` without invented words; None when what it needs was never said."""
    args = step.to_json()
    if step.tool == "press_keys" and (joined := str(args["keys"]).replace(" ", "").lower()) in _MEDIA:
        return Step.parse({**args, "keys": joined}, tools)  # "next track" is one key, not two
    if step.tool == "close_window" and set(str(args.get("name", "it")).lower().split()) <= _HERE:
        return Step.parse({"tool": step.tool}, tools)  # "this window" is the focused one, not one of that name
    if step.tool == "open_url":
        return step if _known_url(str(args["url"]), said) else None
    if step.tool == "speak":
        return step if all(said.knows(word) for word in _WORD.findall(str(args["text"]))) else None
    if (name := _EXACT.get(step.tool)) is not None:
        return step if _all_known(str(args[name]), said) else None
    if (name := _LOOSE.get(step.tool)) is None or not args.get(name):
        return step
    return _trimmed(step, args, name, said, tools)


def _all_known(text: str, said: Said) -> bool:
    return all(said.knows(word) for word in _WORD.findall(RESULT_REFERENCE.sub("", text)))


def _known_url(url: str, said: Said) -> bool:
    host = re.sub(r"^[a-z]+://", "", url.lower()).split("/")[0]
    return all(said.knows_host(part) for part in re.split(r"[.:\-]", host) if part)


def _trimmed(step: Step, args: dict[str, Any], name: str, said: Said, tools: Toolbox) -> Step | None:
    text = str(args[name])
    if _all_known(text, said):
        return step
    kept = [word for word in text.split() if _all_known(word, said)]
    if any(word.lower() not in _FREE for word in kept):
        return Step.parse({**args, name: " ".join(kept)}, tools)
    if step.tool == "web_search":
        return Step.parse({**args, name: said.request[:400]}, tools)
    needed = tools.spec(step.tool).args.model_fields[name].is_required() or step.tool == "click"
    return None if needed else Step.parse({k: v for k, v in args.items() if k != name}, tools)
