"""The bounded ReAct loop that repairs a failed core step, with read-only work done while the model thinks.

Thinking, judging and running are given as functions (Ports), so the loop knows neither model nor desktop. It ends with
a repair, a question or an honest failure: after ``turns`` thinking turns, when the request's budget of agents is used
up, when safety refuses, or when the model keeps proposing what has just failed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from anovax.config import RecoveryConfig
from anovax.plan import Context, Failure, Frozen, Outcome, Plan, Planned, Status, Step
from anovax.tool import CancelFlag, Toolbox

MAX_REPEATS = 2


class Refused(Frozen):
    """Safety (or the user, when asked) said no to a batch."""

    reason: str


class RecoveryTurn(Frozen):
    """One trip around the loop: what was proposed and how it ended."""

    plan: Plan
    outcomes: tuple[Outcome, ...] = ()
    note: str = ""


class Repair(Frozen):
    """How recovery ended. ``outcomes`` are those that count for the reply: the repair and the rest of the plan."""

    result: Literal["repaired", "asked", "failed", "cancelled"]
    say: str = ""
    steps: tuple[Step, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    turns: tuple[RecoveryTurn, ...] = ()


@dataclass(frozen=True)
class Ports:
    """What the loop may use. ``run`` judges, asks for consent where needed and executes; ``observe`` runs read-only
    steps; ``speculated(tools, hidden_ms)`` hears how much read-only work cost no time."""

    think: Callable[[Failure, CancelFlag], Awaitable[Planned]]
    run: Callable[[Planned], Awaitable[tuple[Outcome, ...] | Refused]]
    observe: Callable[[Plan], Awaitable[tuple[Outcome, ...]]]
    budget_left: Callable[[], int]
    context: Callable[[], Context]
    speculated: Callable[[tuple[str, ...], float], None] = lambda tools, hidden_ms: None


@dataclass
class _State:
    """What the loop has learned so far."""

    text: str
    tried: list[tuple[Step, str]]
    failed: set[Step]
    observations: list[str] = field(default_factory=list)
    turns: list[RecoveryTurn] = field(default_factory=list)
    known: dict[Step, Outcome] = field(default_factory=dict)  # speculative results that stay true
    repeats: int = 0


class Recovery:
    def __init__(self, config: RecoveryConfig, tools: Toolbox) -> None:
        self._config = config
        self._tools = tools

    async def repair(
        self, text: str, plan: Plan, outcomes: tuple[Outcome, ...], ports: Ports, cancel: CancelFlag
    ) -> Repair:
        """Repair ``plan``, whose ``outcomes`` show at least one failed core step."""
        index = failed_core(plan.steps, outcomes, self._tools)
        if index is None:
            raise ValueError("nothing failed")
        if outcomes[index].ambiguous:  # only the user can choose
            return Repair(result="asked", say=_question(outcomes[index]))
        state = _State(text, _tried(plan.steps, outcomes), {plan.steps[index]})
        rest = plan.steps[index + 1 :]
        for number in range(self._config.turns):
            speculate = tuple(s for s in rest if self._tools.spec(s.tool).read_only) if number == 0 else ()
            planned = await self._think(state, speculate, ports, cancel)
            ended = await self._act(state, planned, rest, ports, cancel)
            if ended is not None:
                return ended
        return _end(state, "failed", f"I tried {self._config.turns} times and could not repair it.")

    async def _think(self, state: _State, speculate: tuple[Step, ...], ports: Ports, cancel: CancelFlag) -> Planned:
        """Ask the model for the next batch; meanwhile run the read-only steps that the failed plan still had."""
        failure = Failure(
            text=state.text, tried=tuple(state.tried), observations=tuple(state.observations), context=ports.context()
        )
        started = time.monotonic()
        thinking = asyncio.ensure_future(ports.think(failure, cancel))
        try:
            if speculate and ports.budget_left() > len(speculate):
                outcomes = await ports.observe(Plan(steps=speculate))
                spent = (time.monotonic() - started) * 1000
                self._note_speculation(state, speculate, outcomes)
                planned = await thinking
                total = (time.monotonic() - started) * 1000
                ports.speculated(tuple(step.tool for step in speculate), round(min(spent, total), 1))
                return planned
            return await thinking
        finally:
            if not thinking.done():
                thinking.cancel()

    def _note_speculation(self, state: _State, steps: tuple[Step, ...], outcomes: tuple[Outcome, ...]) -> None:
        for step, outcome in zip(steps, outcomes, strict=True):
            if outcome.status.ok:
                state.observations.append(f"{step.tool}: {outcome.result or outcome.evidence}"[:300])
                if not self._tools.spec(step.tool).looks:
                    state.known[step] = outcome

    async def _act(
        self, state: _State, planned: Planned, rest: tuple[Step, ...], ports: Ports, cancel: CancelFlag
    ) -> Repair | None:
        """Run one proposed batch and, when it works, the rest of the plan. None means: think again."""
        steps = planned.plan.steps
        if cancel.is_set():
            return _end(state, "cancelled", "Stopped.")
        if not steps:
            say = planned.plan.say
            return _end(state, "asked" if say.rstrip().endswith("?") else "failed", say)
        if set(steps) <= state.failed:
            return self._repeated(state, planned.plan)
        batch = _without_suffix(steps, rest)
        ran = await ports.run(planned.model_copy(update={"plan": Plan(steps=batch)}))
        if isinstance(ran, Refused):
            state.turns.append(RecoveryTurn(plan=planned.plan, note=ran.reason))
            return _end(state, "failed", ran.reason)
        self._learn(state, planned.plan, batch, ran)
        if (halted := _halted(state, ran)) is not None:
            return halted
        if failed_core(batch, ran, self._tools) is not None:
            return None
        return await self._finish(state, (batch, ran), rest, ports)

    async def _finish(
        self,
        state: _State,
        repair: tuple[tuple[Step, ...], tuple[Outcome, ...]],
        rest: tuple[Step, ...],
        ports: Ports,
    ) -> Repair | None:
        """The repair worked: do what the plan still owed. Speculative results that stay true are not fetched twice."""
        batch, ran = repair
        owed = tuple(step for step in rest if step not in state.known)
        if owed:
            rest_ran = await ports.run(Planned(plan=Plan(steps=owed), backend="rest of the plan"))
            if isinstance(rest_ran, Refused):
                return _end(state, "failed", rest_ran.reason)
            self._learn(state, Plan(steps=owed), owed, rest_ran)
            if (halted := _halted(state, rest_ran)) is not None:
                return halted
            if failed_core(owed, rest_ran, self._tools) is not None:
                return None
            batch, ran = (*batch, *owed), (*ran, *rest_ran)
        known = tuple(step for step in rest if step in state.known)
        batch, ran = (*batch, *known), (*ran, *(state.known[step] for step in known))
        return Repair(result="repaired", steps=batch, outcomes=ran, turns=tuple(state.turns))

    def _repeated(self, state: _State, plan: Plan) -> Repair | None:
        """The model proposes only what has failed already: tell it once, then end."""
        state.repeats += 1
        state.turns.append(RecoveryTurn(plan=plan, note="repeats what has failed already"))
        state.observations.append("That was tried already and failed; do something else or give up.")
        if state.repeats < MAX_REPEATS:
            return None
        return _end(state, "failed", "")

    def _learn(self, state: _State, proposed: Plan, batch: tuple[Step, ...], ran: tuple[Outcome, ...]) -> None:
        state.turns.append(RecoveryTurn(plan=proposed, outcomes=ran))
        state.tried += _tried(batch, ran)
        state.failed |= {step for step, outcome in zip(batch, ran, strict=True) if _lost(outcome)}


def failed_core(steps: tuple[Step, ...], outcomes: tuple[Outcome, ...], tools: Toolbox) -> int | None:
    """Index of the first core step that failed or timed out: what recovery may repair. A refusal or a stop is never
    repaired, and skipped steps are consequences, not causes."""
    for index, (step, outcome) in enumerate(zip(steps, outcomes, strict=True)):
        if tools.spec(step.tool).core and _lost(outcome):
            return index
    return None


def _lost(outcome: Outcome) -> bool:
    return outcome.status in (Status.FAILED, Status.TIMED_OUT)


def _halted(state: _State, outcomes: tuple[Outcome, ...]) -> Repair | None:
    """A refusal or a stop inside a batch ends the loop; going around it is not repair."""
    for outcome in outcomes:
        if outcome.status is Status.CANCELLED:
            return _end(state, "cancelled", "Stopped.")
        if outcome.status is Status.REFUSED:
            return _end(state, "failed", outcome.error)
    return None


def _tried(steps: tuple[Step, ...], outcomes: tuple[Outcome, ...]) -> list[tuple[Step, str]]:
    """(step, "verified: evidence" or "failed: error; nearest: …") for all that really ran."""
    tried = []
    for step, outcome in zip(steps, outcomes, strict=True):
        if outcome.status is not Status.SKIPPED:
            nearest = f"; nearest: {', '.join(outcome.candidates[:5])}" if outcome.candidates else ""
            tried.append((step, f"{outcome.status.value}: {outcome.error or outcome.evidence}{nearest}"))
    return tried


def _without_suffix(steps: tuple[Step, ...], rest: tuple[Step, ...]) -> tuple[Step, ...]:
    """The batch less the tail that merely repeats the rest of the plan (which is run anyway)."""
    for length in range(min(len(steps) - 1, len(rest)), 0, -1):
        if steps[-length:] == rest[:length] and length == len(rest):
            return steps[:-length]
    return steps


def _question(outcome: Outcome) -> str:
    if not outcome.candidates:
        return outcome.error
    *most, last = outcome.candidates
    return f"Did you mean {', '.join(most)} or {last}?" if most else f"Did you mean {last}?"


def _end(state: _State, result: Literal["asked", "failed", "cancelled"], say: str) -> Repair:
    return Repair(result=result, say=say, turns=tuple(state.turns))
