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
from anovax.plan import Context, Failure, Outcome, Plan, Planned, Status, Step
from anovax.repair import RecoveryTurn, Refused, Repair, failed_core, is_lost
from anovax.tool import CancelFlag, Risk, Toolbox

MAX_REPEATS = 2
MAX_CLOSEST = 12
# Backends of batches that no model has thought of.
REMEDY = "the tool's own remedy"
REST = "rest of the plan"
_NAMING = {"open_app": "name", "focus_window": "name", "click": "target"}  # tools that take a name, and where


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
    """What the loop has learned so far. ``owed``: the steps of the plan that are still to be done, the failed one
    first; ``done``: those that ended well since, with the repairs between them."""

    text: str
    tried: list[tuple[Step, str]]
    failed: set[Step]
    owed: tuple[Step, ...]
    asked: frozenset[str]  # tools of the plan
    done: list[tuple[Step, Outcome]] = field(default_factory=list)
    observations: list[str] = field(default_factory=list)
    turns: list[RecoveryTurn] = field(default_factory=list)
    known: dict[Step, Outcome] = field(default_factory=dict)  # speculative results that stay true
    shown: dict[Step, Step] = field(default_factory=dict)  # what is left of a step -> the whole one
    offered: tuple[str, ...] = ()  # the names that the tool that failed last has seen or found instead
    remedy: tuple[Step, ...] = ()  # what the tool that failed last would try next itself
    ahead: tuple[Step, ...] = ()  # read-only steps of the failed plan, to be run while the model thinks
    repeats: int = 0

    def note(self, steps: tuple[Step, ...], outcomes: tuple[Outcome, ...]) -> None:
        """These ended well and count for the reply."""
        self.done += [(self.shown.get(step, step), outcome) for step, outcome in zip(steps, outcomes, strict=True)]


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
        if outcomes[index].ambiguous:  # only the user can decide
            return Repair(result="asked", say=_question(outcomes[index]))
        state = _State(text, _tried(plan.steps, outcomes), {plan.steps[index]}, plan.steps[index:], _names(plan))
        self._owe(state, state.owed, outcomes[index])
        state.ahead = tuple(step for step in state.owed[1:] if self._runs_ahead(step))
        for _ in range(self._config.turns):
            planned = self._known(state) or await self._think(state, ports, cancel)
            ended = await self._act(state, planned, ports, cancel)
            if ended is not None:
                return ended
        return _end(state, "failed", f"I tried {self._config.turns} times and could not repair it.")

    def _reads(self, step: Step) -> bool:
        return self._tools.spec(step.tool).read_only

    def _owe(self, state: _State, steps: tuple[Step, ...], failed: Outcome) -> None:
        """``steps`` are to be done; the first has just failed, and may have been done in part."""
        state.offered = failed.candidates
        state.remedy = tuple(Step.parse(step, self._tools) for step in failed.remedy)
        left = next((step for step in state.remedy if step.tool == steps[0].tool), steps[0])
        state.shown[left] = state.shown.get(steps[0], steps[0])
        state.owed = (left, *steps[1:])

    def _known(self, state: _State) -> Planned | None:
        """What the failed tool itself would try next, once; no model is needed for that."""
        remedy, state.remedy = state.remedy, ()
        if not remedy or remedy in [turn.plan.steps for turn in state.turns]:
            return None
        return Planned(plan=Plan(steps=remedy), backend=REMEDY)

    async def _think(self, state: _State, ports: Ports, cancel: CancelFlag) -> Planned:
        """Ask the model for the next batch; meanwhile run the read-only steps that the failed plan still had."""
        speculate, state.ahead = state.ahead, ()
        failure = Failure(
            text=state.text, tried=tuple(state.tried), observations=tuple(state.observations), context=ports.context()
        )
        started = time.monotonic()
        thinking = asyncio.ensure_future(ports.think(failure, cancel))
        try:
            if speculate and ports.budget_left() > len(speculate):
                outcomes = await ports.observe(Plan(steps=speculate))
                spent = (time.monotonic() - started) * 1000
                self._observed(state, speculate, outcomes)
                planned = await thinking
                total = (time.monotonic() - started) * 1000
                ports.speculated(tuple(step.tool for step in speculate), round(min(spent, total), 1))
                return planned
            return await thinking
        finally:
            if not thinking.done():
                thinking.cancel()

    def _observed(self, state: _State, steps: tuple[Step, ...], outcomes: tuple[Outcome, ...]) -> None:
        for step, outcome in zip(steps, outcomes, strict=False):  # nothing was seen where safety refused
            if outcome.status.ok:
                state.observations.append(f"{step.tool}: {outcome.result or outcome.evidence}"[:300])
                if not self._tools.spec(step.tool).looks:
                    state.known[step] = outcome

    async def _act(self, state: _State, planned: Planned, ports: Ports, cancel: CancelFlag) -> Repair | None:
        """Run one proposed batch and, when it works, what the plan still owes. None means: think again."""
        context = ports.context()
        proposed = tuple(self._meant(step, state, context) for step in planned.plan.steps)
        steps = self._wanted(state, proposed)
        if cancel.is_set():
            return _end(state, "cancelled", "Stopped.")
        if not proposed:
            say = planned.plan.say
            return _end(state, "asked" if say.rstrip().endswith("?") else "failed", say)
        if set(steps) <= state.failed and planned.backend != REMEDY:
            return self._repeated(state, planned.plan)
        batch = _without_suffix(steps, state.owed[1:])
        now = planned.model_copy(update={"plan": Plan(steps=batch)})
        ran = await self._run(state, now, Plan(steps=proposed), ports)
        if isinstance(ran, Repair):
            return ran
        if (index := failed_core(batch, ran, self._tools)) is not None:
            # what it was to be followed by belongs to the way out of it
            remedy = tuple(Step.parse(step, self._tools) for step in ran[index].remedy)
            state.remedy = (*remedy, *batch[index + 1 :]) if remedy else ()
            state.offered = ran[index].candidates or state.offered
            return None
        if not self._reads(state.owed[0]) and all(map(self._reads, batch)):
            self._observed(state, batch, ran)  # looking repairs nothing; what was seen is for the next thought
            return None
        state.note(batch, ran)
        return await self._finish(state, batch, ports)

    def _runs_ahead(self, step: Step) -> bool:
        """Looking at the screen takes the model's cores, and after the repair it must be done again."""
        which = self._config.ahead
        return which != "off" and self._reads(step) and (which == "all" or not self._tools.spec(step.tool).looks)

    def _meant(self, step: Step, state: _State, context: Context) -> Step:
        """A name that the failed tool itself offered is meant for that tool, though the model gave it to another one
        ("focus Images", where Images is a button that was seen instead of "pictures")."""
        tool = state.owed[0].tool
        if step.tool == tool or not {step.tool, tool} <= _NAMING.keys():
            return step
        name = str(step.to_json().get(_NAMING[step.tool], ""))
        window = any(name.casefold() in (w.title.casefold(), w.app.casefold()) for w in context.windows)
        return (
            step
            if window or name not in state.offered
            else Step.parse({"tool": tool, _NAMING[tool]: name}, self._tools)
        )

    def _wanted(self, state: _State, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """``steps`` less the input of a kind that the plan never had: a repair types, presses, clicks and closes
        nothing that was not asked for."""

        def enters(step: Step) -> bool:
            spec = self._tools.spec(step.tool)
            return spec.risk is Risk.INPUT and spec.core

        return tuple(step for step in steps if step.tool in state.asked or not enters(step))

    async def _finish(self, state: _State, batch: tuple[Step, ...], ports: Ports) -> Repair | None:
        """The repair worked: do what is still owed. A repair that only prepares (scrolls, focuses) leaves the failed
        input itself to be done; speculative results that stay true are not fetched twice."""
        failed, *rest = state.owed
        prepared = self._tools.spec(failed.tool).risk is Risk.INPUT and failed.tool not in {s.tool for s in batch}
        owed = (*((failed,) if prepared else ()), *(step for step in rest if step not in state.known))
        if owed:
            plan = Plan(steps=owed)
            ran = await self._run(state, Planned(plan=plan, backend=REST), plan, ports)
            if isinstance(ran, Repair):
                return ran
            if (index := failed_core(owed, ran, self._tools)) is not None:
                state.note(owed[:index], ran[:index])
                self._owe(state, owed[index:], ran[index])
                return None
            state.note(owed, ran)
        state.done += [(step, state.known[step]) for step in rest if step in state.known]
        steps, outcomes = tuple(zip(*state.done, strict=True))
        return Repair(result="repaired", steps=steps, outcomes=outcomes, turns=tuple(state.turns))

    async def _run(self, state: _State, planned: Planned, shown: Plan, ports: Ports) -> tuple[Outcome, ...] | Repair:
        """Run a batch and learn from it. A refusal or a stop inside ends the loop: going around it is no repair."""
        ran = await ports.run(planned)
        note = planned.backend if planned.backend in (REMEDY, REST) else ""
        if isinstance(ran, Refused):
            state.turns.append(RecoveryTurn(plan=shown, note=ran.reason))
            return _end(state, "failed", ran.reason)
        state.turns.append(RecoveryTurn(plan=shown, outcomes=ran, note=note))
        state.tried += _tried(planned.plan.steps, ran)
        state.failed |= {step for step, outcome in zip(planned.plan.steps, ran, strict=True) if is_lost(outcome)}
        return _halted(state, ran) or ran

    def _repeated(self, state: _State, plan: Plan) -> Repair | None:
        """The model proposes only what has failed already: tell it once, then end."""
        state.repeats += 1
        state.turns.append(RecoveryTurn(plan=plan, note="repeats what has failed already"))
        state.observations.append("That was tried already and failed; do something else or give up.")
        if state.repeats < MAX_REPEATS:
            return None
        return _end(state, "failed", "")


def _names(plan: Plan) -> frozenset[str]:
    return frozenset(step.tool for step in plan.steps)


def _halted(state: _State, outcomes: tuple[Outcome, ...]) -> Repair | None:
    """A refusal or a stop inside a batch ends the loop; going around it is not repair."""
    for outcome in outcomes:
        if outcome.status is Status.CANCELLED:
            return _end(state, "cancelled", "Stopped.")
        if outcome.status is Status.REFUSED:
            return _end(state, "failed", outcome.error)
    return None


def _tried(steps: tuple[Step, ...], outcomes: tuple[Outcome, ...]) -> list[tuple[Step, str]]:
    """(step, "verified: evidence" or "failed: problem; closest: …") for all that really ran. What the tool advises the
    user is left out: it is no advice for a planner."""
    tried = []
    for step, outcome in zip(steps, outcomes, strict=True):
        if outcome.status is not Status.SKIPPED:
            nearest = f"; closest: {', '.join(outcome.candidates[:MAX_CLOSEST])}" if outcome.candidates else ""
            told = outcome.error.partition("; ")[0].rstrip(".") or outcome.evidence
            tried.append((step, f"{outcome.status.value}: {told}{nearest}"))
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
