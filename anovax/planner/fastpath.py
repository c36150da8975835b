"""The fast path: requests that a rule reads with certainty, without a model, in well under a millisecond."""

from __future__ import annotations

import functools
import random
import re
import time
from collections.abc import Callable, Collection, Sequence

from anovax.errors import PlanFormatError
from anovax.plan import MAX_STEPS, Context, Failure, Plan, Planned, PlanRequest, Step
from anovax.planner.compound import Reader
from anovax.planner.normalise import tidy, without_pauses
from anovax.planner.rules.notation import Call, Reading, Scene
from anovax.tool import CancelFlag, Toolbox

MAX_CHARACTERS = 400
_UNREAD = "I did not understand that. Ask for one thing at a time, such as: open the calculator."
_WORD = re.compile(r"\w+")
_ASKING = frozenset(
    "who what where when which how why is are was were do does did has have can could will would should a an the my our"
    " your of in on at to for from with about there it s i we you me tell".split()
)
_WHERE_MINE = re.compile(r"\bwhere\b.*\bmy\b", re.IGNORECASE)
_STUCK = "That did not work, and I know no other way to do it."


class FastPath:
    """The rules as a planner backend of their own, and the first of two in ``FirstOf``.

    ``applications`` gives the names of installed applications; without it, "open X" goes by how X sounds.
    """

    name = "fastpath"

    def __init__(
        self,
        tools: Toolbox,
        applications: Callable[[], Collection[str]] | None = None,
        chance: random.Random | None = None,
    ) -> None:
        self._tools = tools
        self._applications = applications
        self._reader = Reader(chance or random.Random())

    def read(self, text: str, context: Context) -> Plan | None:
        """The plan that the words certainly mean, or None. Pure; < 1 ms."""
        if len(text) > MAX_CHARACTERS or not (line := tidy(text)):
            return None
        scene = Scene(context, functools.cache(self._installed))
        line = without_pauses(line, lambda words: self._reader.read(words, scene) is not None)
        reading = self._reader.read(line, scene)
        return None if reading is None else self._plan(remembered(reading, line, context.facts))

    def _installed(self) -> frozenset[str] | None:
        return None if self._applications is None else frozenset(name.lower() for name in self._applications())

    def _plan(self, reading: Reading) -> Plan | None:
        if len(reading.calls) > MAX_STEPS or not (reading.calls or reading.say):
            return None
        try:
            return Plan(steps=tuple(self._step(call) for call in reading.calls), say=reading.say)
        except PlanFormatError:  # a toolbox without this tool, or an argument that it does not take
            return None

    def _step(self, call: Call) -> Step:
        return Step.parse({"tool": call.tool, **call.args}, self._tools)

    async def plan(self, request: PlanRequest, cancel: CancelFlag) -> Planned:
        """As a backend without a model: what no rule reads is answered with an honest sentence."""
        cancel.check()
        start = time.perf_counter()
        plan = self.read(request.text, request.context) or Plan(say=_UNREAD)
        return Planned(plan=plan, backend=self.name, ms=(time.perf_counter() - start) * 1000)

    async def think(self, failure: Failure, cancel: CancelFlag) -> Planned:
        """Rules cannot repair a plan; says so."""
        cancel.check()
        return Planned(plan=Plan(say=_STUCK), backend=self.name)

    async def ready(self) -> None:
        """Rules are compiled when the fast path is built."""

    def close(self) -> None:
        """Holds nothing. Safe twice."""


def remembered(reading: Reading, line: str, facts: Sequence[str]) -> Reading:
    """A question that would be looked up on the web, or where something of the user's is, is asked of the memory when a
    remembered fact has all its words."""
    match reading.calls:
        case (Call(tool="web_search", args={"query": str(query)}),) if query.lower() == line.lower():
            about = query
        case () if where := _WHERE_MINE.search(line):
            about = line[where.start() :]
        case _:
            return reading
    asked = _content(about)
    known = asked and any(asked <= _content(fact) for fact in facts)
    return Reading((Call("recall", {"query": about}),)) if known else reading


def _content(text: str) -> set[str]:
    """The words that a question is about, without the plural's s."""
    words = set(_WORD.findall(text.lower())) - _ASKING
    return {word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words}
