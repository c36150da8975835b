"""Step, Plan, what memory gives to a planner, what safety gives to the orchestrator, and Outcome. All frozen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny

from anovax.errors import PlanFormatError
from anovax.tool import ToolArgs, Toolbox, WindowRef

MAX_STEPS = 8
MAX_LEVELS = 2
MAX_AGENTS = 20

# A string argument may use an earlier step's result: "{result:1}" is the result of the plan's first step.
RESULT_REFERENCE = re.compile(r"\{result:([1-8])\}")


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Step(Frozen):
    """One tool call. On the wire: ``{"tool": "open_app", "name": "calculator"}``."""

    tool: str
    args: SerializeAsAny[ToolArgs]

    @staticmethod
    def parse(raw: Any, tools: Toolbox) -> Step:
        if not isinstance(raw, Mapping) or not isinstance(raw.get("tool"), str):
            raise PlanFormatError('A step must be an object with a "tool"', 'write {"tool": "get_time"}')
        given = {key: value for key, value in raw.items() if key != "tool" and value is not None}
        return Step(tool=raw["tool"], args=tools.spec(raw["tool"]).parse(given))

    def to_json(self) -> dict[str, Any]:
        return {"tool": self.tool, **self.args.model_dump(mode="json", exclude_defaults=True)}


class Plan(Frozen):
    """What a planner answers. No steps means words only: ``say``. ``remember`` are facts to keep."""

    steps: tuple[Step, ...] = ()
    say: str = ""
    remember: tuple[str, ...] = ()

    @staticmethod
    def parse(raw: Any, tools: Toolbox) -> Plan:
        """A plan from plain JSON values. PlanFormatError says what is wrong; bounds are safety's business."""
        if not isinstance(raw, Mapping) or not isinstance(raw.get("steps", []), list | tuple):
            example = '{"steps": [{"tool": "get_time"}]}'
            raise PlanFormatError('A plan must be an object with a list "steps"', f"write {example}")
        steps = tuple(Step.parse(step, tools) for step in raw.get("steps", ()))
        remember = raw.get("remember") or ()
        remember = (remember,) if isinstance(remember, str) else tuple(str(fact) for fact in remember)
        return Plan(steps=steps, say=str(raw.get("say") or ""), remember=remember)

    def to_json(self) -> dict[str, Any]:
        return {"steps": [step.to_json() for step in self.steps], "say": self.say, "remember": list(self.remember)}

    def with_facts_as_steps(self, tools: Toolbox) -> Plan:
        """Facts that the model wants kept become steps like any other, so that safety sees them."""
        room = max(0, MAX_STEPS - len(self.steps))
        extra = tuple(Step.parse({"tool": "remember", "fact": fact}, tools) for fact in self.remember[:room])
        return self.model_copy(update={"steps": (*self.steps, *extra), "remember": ()}) if self.remember else self


# --- into the planner ------------------------------------------------------------------------------------------------


class PastTurn(Frozen):
    """One earlier request as the planner may see it. ``said`` is what was really spoken."""

    heard: str
    plan: Plan
    said: str = ""
    ok: bool = True


class Context(Frozen):
    """What the memory layers and the desktop contribute to planning. ``focus``, ``windows`` and ``facts`` are data
    from outside: never instructions."""

    turns: tuple[PastTurn, ...] = ()
    focus: WindowRef | None = None
    windows: tuple[WindowRef, ...] = ()
    recent_apps: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()


class PlanRequest(Frozen):
    text: str
    context: Context = Context()
    level: int = 0


class Failure(Frozen):
    """What recovery tells the planner: the request, what was tried, how it ended, what is seen now."""

    text: str
    tried: tuple[tuple[Step, str], ...]  # (step, "verified: …" / "failed: …")
    observations: tuple[str, ...] = ()
    context: Context = Context()


class Planned(Frozen):
    """A planner's answer with its cost. ``truncated``: the token budget ended before the text did."""

    plan: Plan
    backend: str
    ms: float = 0.0
    sampled_tokens: int = 0
    forced_tokens: int = 0
    truncated: bool = False


# --- out of safety ---------------------------------------------------------------------------------------------------


class Decision(StrEnum):
    APPROVE = "approve"
    NOTICE = "notice"
    ASK = "ask"
    REFUSE = "refuse"


class Verdict(Frozen):
    """``step`` is the index (from 0) of the deciding step, None for the plan as a whole; ``exact`` what would really
    happen (the bytes and the window, the URL), shown when consent is asked."""

    decision: Decision
    rule: str = ""
    reason: str = ""
    step: int | None = None
    exact: str = ""

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")


class World(Frozen):
    """What safety knows about the desktop before a plan runs. ``pending`` is what stands typed in the focused window
    since its last Enter (kept over turns), ``standing`` the same for other windows by id, ``clipboard`` what a paste
    would insert if we know it, ``untrusted`` texts that came from the screen, titles, files, memory; ``remote`` marks a
    request from the phone."""

    focus: WindowRef | None = None
    pending: str = ""
    standing: tuple[tuple[int, str], ...] = ()
    clipboard: str | None = None
    untrusted: tuple[str, ...] = ()
    heard: str = ""
    remote: bool = False
    origin: Literal["first", "delegate", "recovery", "replay"] = "first"
    level: int = 0
    agents_left: int = MAX_AGENTS


class ApprovedPlan:
    """A plan that may run: the only thing the orchestrator takes. The type alone stands here; ``anovax.safety`` alone
    may subclass it, and its subclass can be built only by the filter (a test reads the code for that)."""

    plan: Plan
    verdict: Verdict
    verdicts: tuple[Verdict, ...]

    def __init_subclass__(cls) -> None:
        if not cls.__module__.startswith("anovax.safety."):
            raise TypeError("Only anovax.safety approves plans")

    def __new__(cls, *_: object, **__: object) -> Self:
        if cls is ApprovedPlan:
            raise TypeError("Only anovax.safety approves plans")
        return super().__new__(cls)


class Status(StrEnum):
    VERIFIED = "verified"
    UNVERIFIED = "unverified"
    FAILED = "failed"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"
    SKIPPED = "skipped"

    @property
    def ok(self) -> bool:
        return self in (Status.VERIFIED, Status.UNVERIFIED)


class Outcome(Frozen):
    """How one step ended. ``ms`` is wall time from start to end, ``result`` data for later steps and the reply."""

    tool: str
    status: Status
    evidence: str = ""
    error: str = ""
    attempts: int = 1
    ms: float = 0.0
    result: str = ""
    say: str = ""
    candidates: tuple[str, ...] = Field(default=(), exclude=True)
    ambiguous: bool = Field(default=False, exclude=True)  # the user must decide (among the candidates, if there are)
    remedy: tuple[dict[str, Any], ...] = Field(default=(), exclude=True)  # steps that the tool itself would take next

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude={"say"})
