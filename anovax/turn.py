"""One request, top to bottom. READ THIS FIRST.

    text + memory -> planner -> Plan -> safety -> ApprovedPlan -> orchestrator -> outcomes -> reply
                                          |                          |
                                       consent                    recovery

Everything that happens is published on the bus; nothing reaches an agent without an ApprovedPlan.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from anovax.bus import Bus
from anovax.consent import ConsentDesk
from anovax.errors import AnovaxError, Cancelled, EffectRefused, ToolError
from anovax.events import (
    Judged,
    PlanMade,
    RecoveryEnded,
    RecoveryStarted,
    SpeculationFinished,
    TurnFinished,
    TurnStarted,
)
from anovax.memory import Memory
from anovax.orchestrator import Budget, Orchestrator, Run
from anovax.plan import (
    Context,
    Decision,
    Failure,
    Outcome,
    PastTurn,
    Plan,
    Planned,
    PlanRequest,
    Step,
    Verdict,
    World,
)
from anovax.planner.protocol import Planner
from anovax.recovery import Ports, Recovery
from anovax.repair import Refused, Repair, failed_core
from anovax.reply import STOPPED, after_recovery, reply
from anovax.request import Report, Request, Surroundings
from anovax.safety import ApprovedPlan, NeedsConsent, Refusal, Safety
from anovax.tool import CancelFlag, Done, Effect, Toolbox, UndoAction, WindowRef

UNDO_DEPTH = 20


@dataclass(frozen=True)
class TurnParts:
    """What a turn is made of. ``look`` observes the desktop, ``speak`` says the reply and returns what was heard of
    it, ``focused`` is the window that has the focus right now (called from agents' threads)."""

    tools: Toolbox
    planner: Planner
    safety: Safety
    orchestrator: Orchestrator
    recovery: Recovery | None
    memory: Memory
    consent: ConsentDesk
    bus: Bus
    look: Callable[[], Awaitable[Surroundings]]
    speak: Callable[[str, CancelFlag], Awaitable[str]]
    focused: Callable[[], WindowRef | None] = lambda: None


@dataclass
class Carried:
    """What outlives a turn: the text that stands typed with its window (``world``), what can be taken back, newest
    last, and when keys were pressed (time.monotonic)."""

    world: World = field(default_factory=World)
    undo: deque[UndoAction] = field(default_factory=lambda: deque(maxlen=UNDO_DEPTH))
    keys_at: float = float("-inf")


class Turn:
    """One request, from its text to the spoken reply. ``id`` names it in every event."""

    def __init__(self, parts: TurnParts, carried: Carried, request: Request, cancel: CancelFlag, turn: str) -> None:
        self.id = turn
        self._parts = parts
        self._carried = carried
        self._request = request
        self._cancel = cancel
        self._world = carried.world
        self._context = Context()
        self._budget = Budget()
        self._steps = 0  # of all plans so far
        self._ms: dict[str, float] = {}
        self._lock = threading.Lock()  # of the world, which agents' threads move on

    async def run(self) -> Report:
        """Never raises for what can go wrong in a request: the report says it."""
        started = time.monotonic()
        await self._begin()
        try:
            report = await self._plan_and_act()
        except Cancelled as error:
            report = self._without_plan(STOPPED, str(error))
        except AnovaxError as error:
            report = self._without_plan(error.spoken, str(error))
        finally:
            self._carried.world = self._world
        return await self._finish(report, started)

    async def _begin(self) -> None:
        parts, request = self._parts, self._request
        parts.bus.publish(TurnStarted(turn=self.id, text=request.text, source=request.source))
        around = await parts.look()
        self._context = parts.memory.context(request.text, around.focus, around.windows)
        told = {
            "heard": request.text,
            "remote": request.source == "phone",
            "untrusted": (*(w.title for w in around.windows if w.title), *self._context.facts),
            "origin": "first",
            "level": 0,
        }
        self._world = parts.safety.look(self._world, around.focus).model_copy(update=told)

    async def _plan_and_act(self) -> Report:
        request = PlanRequest(text=self._request.text, context=self._context)
        planned = await self._planned(self._parts.planner.plan(request, self._cancel))
        judged = await self._judge(planned, "first")
        if isinstance(judged, Refusal):
            return self._refused(planned, judged)
        outcomes = await self._execute(judged)
        plan, repair = judged.plan, await self._repair(judged.plan, outcomes)
        if repair is None:
            said = reply(plan.say, plan.steps, outcomes, self._parts.tools)
            ended = outcomes
        else:
            said = after_recovery(plan.say, repair, plan.steps, outcomes, self._parts.tools)
            ended = repair.outcomes if repair.result == "repaired" else outcomes
        return self._report(
            plan=plan,
            verdict=judged.verdict,
            backend=planned.backend,
            outcomes=outcomes,
            recovery=repair.turns if repair else (),
            said=said,
            ok=all(outcome.status.ok for outcome in ended),
        )

    # --- planning and judging ------------------------------------------------------------------------------------

    async def _planned(self, planning: Awaitable[Planned], origin: str = "first") -> Planned:
        started = time.monotonic()
        planned = await planning
        self._cancel.check()
        planned = planned.model_copy(update={"plan": planned.plan.with_facts_as_steps(self._parts.tools)})
        ms = round((time.monotonic() - started) * 1000, 2)
        self._ms["plan"] = round(self._ms.get("plan", 0.0) + ms, 2)
        told = planned.model_dump(include={"backend", "sampled_tokens", "forced_tokens"})
        made = PlanMade(turn=self.id, plan=planned.plan.to_json(), ms=ms, origin=origin, **told)
        self._parts.bus.publish(made)
        return planned

    async def _judge(self, planned: Planned, origin: str, level: int = 0) -> ApprovedPlan | Refusal:
        """Safety's verdict; an ``ask`` is put to the user, one step at a time."""
        started = time.monotonic()
        about = {"origin": origin, "level": level, "agents_left": self._budget.left}
        judgement = self._parts.safety.judge(planned.plan, self._world.model_copy(update=about))
        ms = round((time.monotonic() - started) * 1000, 3)
        self._ms["safety"] = round(self._ms.get("safety", 0.0) + ms, 3)
        judged = judgement.verdict.model_dump(mode="json", include={"decision", "rule", "reason", "step"})
        self._parts.bus.publish(Judged(turn=self.id, ms=ms, origin=origin, **judged))
        while isinstance(judgement, NeedsConsent):
            verdict = judgement.verdict
            question = asyncio.ensure_future(self._parts.speak(f"{verdict.reason} Shall I do it?", self._cancel))
            allowed = await self._parts.consent.ask(self.id, verdict, self._cancel)
            question.cancel()  # an answer may come before the question has been spoken to its end
            if not allowed:
                self._cancel.check()
                denied = verdict.model_copy(update={"decision": Decision.REFUSE, "reason": "You did not allow it."})
                return Refusal(planned.plan, denied, judgement.verdicts, judgement.world)
            judgement = self._parts.safety.grant(judgement, verdict.step or 0)
        return judgement

    # --- acting --------------------------------------------------------------------------------------------------

    async def _execute(self, approved: ApprovedPlan, level: int = 0) -> tuple[Outcome, ...]:
        started = time.monotonic()
        run = Run(
            turn=self.id,
            cancel=self._cancel,
            budget=self._budget,
            recheck=lambda _, index, effect: self._recheck(approved, index, effect),
            done=self._noted,
            level=level,
            first_index=self._steps,
        )
        self._steps += len(approved.plan.steps)
        outcomes = await self._parts.orchestrator.run(approved, run)
        self._ms["act"] = round(self._ms.get("act", 0.0) + (time.monotonic() - started) * 1000, 2)
        return outcomes

    def _recheck(self, approved: ApprovedPlan, index: int, effect: Effect) -> None:
        """Safety's second look, immediately before an effect, with the focus as it is then. In an agent's thread."""
        with self._lock:
            verdict = self._parts.safety.recheck(approved, index, effect, self._world)
            if verdict.decision in (Decision.ASK, Decision.REFUSE):
                raise EffectRefused(verdict.reason or "It is not what was approved")
            if effect.kind in ("type", "paste", "keys"):
                self._carried.keys_at = time.monotonic()
            self._world = self._parts.safety.advance(self._world, effect)

    def _noted(self, step: Step, done: Done) -> None:
        if done.undo is not None:
            self._carried.undo.append(done.undo)
        self._parts.memory.note_step(step, done)

    async def _repair(self, plan: Plan, outcomes: tuple[Outcome, ...]) -> Repair | None:
        recovery = self._parts.recovery
        failed = failed_core(plan.steps, outcomes, self._parts.tools)
        if recovery is None or failed is None or self._cancel.is_set():
            return None
        started = time.monotonic()
        self._parts.bus.publish(RecoveryStarted(turn=self.id, step=failed, reason=outcomes[failed].error))
        before = self._budget.left
        repair = await recovery.repair(self._request.text, plan, outcomes, self._ports(), self._cancel)
        self._ms["recovery"] = round((time.monotonic() - started) * 1000, 2)
        agents, turns = before - self._budget.left, len(repair.turns)
        self._parts.bus.publish(RecoveryEnded(turn=self.id, result=repair.result, turns=turns, agents=agents))
        return repair

    def _ports(self) -> Ports:
        async def think(failure: Failure, cancel: CancelFlag) -> Planned:
            around = await self._parts.look()
            seen = failure.context.model_copy(update={"focus": around.focus, "windows": around.windows})
            others = ", ".join(w.name[:40] for w in around.windows if around.focus is None or w.id != around.focus.id)
            told = (*failure.observations, f"other windows: {others}") if others else failure.observations
            now = failure.model_copy(update={"context": seen, "observations": told})
            return await self._planned(self._parts.planner.think(now, cancel), "recovery")

        async def run(planned: Planned) -> tuple[Outcome, ...] | Refused:
            around = await self._parts.look()
            with self._lock:
                self._world = self._parts.safety.look(self._world, around.focus)
            judged = await self._judge(planned, "recovery")
            if isinstance(judged, Refusal):
                return Refused(reason=judged.verdict.reason)
            return await self._execute(judged)

        async def observe(plan: Plan) -> tuple[Outcome, ...]:
            ran = await run(Planned(plan=plan, backend="speculation"))
            return () if isinstance(ran, Refused) else ran

        def speculated(tools: tuple[str, ...], hidden_ms: float) -> None:
            self._parts.bus.publish(SpeculationFinished(turn=self.id, tools=tools, hidden_ms=hidden_ms))

        return Ports(think, run, observe, lambda: self._budget.left, lambda: self._context, speculated)

    # --- what an agent may call back -----------------------------------------------------------------------------

    async def sub_goal(self, goal: str, level: int) -> Done:
        """Plan, judge and run ``goal`` on this request's budget. Raises ToolError when it cannot be done."""
        request = PlanRequest(text=goal, context=self._context, level=level)
        planned = await self._planned(self._parts.planner.plan(request, self._cancel), "delegate")
        judged = await self._judge(planned, "delegate", level)
        if isinstance(judged, Refusal):
            raise ToolError(judged.verdict.reason)
        outcomes = await self._execute(judged, level)
        said = reply(judged.plan.say, judged.plan.steps, outcomes, self._parts.tools)
        if not all(outcome.status.ok for outcome in outcomes):
            raise ToolError(said)
        verified = bool(outcomes) and all(outcome.status.value == "verified" for outcome in outcomes)
        return Done(evidence=said, verified=verified, result=said, say=said)

    # --- endings -------------------------------------------------------------------------------------------------

    def _report(self, **told: Any) -> Report:
        return Report(turn=self.id, text=self._request.text, ms=self._ms, **told)

    def _refused(self, planned: Planned, refusal: Refusal) -> Report:
        said = f"I won't do that. {refusal.verdict.reason}".strip()
        return self._report(plan=planned.plan, verdict=refusal.verdict, backend=planned.backend, said=said)

    def _without_plan(self, said: str, error: str) -> Report:
        verdict, backend = Verdict(decision=Decision.APPROVE), self._parts.planner.name
        return self._report(plan=Plan(), verdict=verdict, backend=backend, said=said, error=error)

    async def _finish(self, report: Report, started: float) -> Report:
        """Say the reply (what was really spoken is what memory keeps), remember the turn, publish its end."""
        self._ms["total"] = round((time.monotonic() - started) * 1000, 2)
        spoken = ""
        if report.said and not self._cancel.is_set():
            spoken = await self._parts.speak(report.said, self._cancel)
        past = PastTurn(heard=report.text, plan=report.plan, said=spoken or report.said, ok=report.ok)
        self._parts.memory.note_turn(past)
        self._parts.bus.publish(TurnFinished(turn=self.id, said=report.said, ms=self._ms["total"], ok=report.ok))
        return report
