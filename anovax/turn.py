"""One request, top to bottom. READ THIS FIRST.

    text + memory -> planner -> Plan -> safety -> ApprovedPlan -> orchestrator -> outcomes -> reply
                                          |                          |
                                       consent                    recovery

Everything that happens is published on the bus; nothing reaches an agent without an ApprovedPlan.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from anovax.bus import Bus
from anovax.consent import ConsentDesk
from anovax.errors import AnovaxError, Cancelled, EffectRefused, ToolError, UserMustDecide
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
    MAX_STEPS,
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
from anovax.recovery import Ports, Recovery, Refused, Repair, failed_core
from anovax.reply import STOPPED, after_recovery, reply
from anovax.request import Report, Request, Surroundings
from anovax.safety import ApprovedPlan, NeedsConsent, Refusal, Safety
from anovax.tool import CancelFlag, Done, Effect, StepContext, Toolbox, UndoAction, WindowRef

UNDO_DEPTH = 20
OWN_KEYS_S = 1.0  # a burst of keys takes less, with its way through a terminal


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
class _Live:
    """The state of one running turn; gone when it ends."""

    id: str
    request: Request
    cancel: CancelFlag
    world: World
    context: Context
    budget: Budget = field(default_factory=Budget)
    steps: int = 0
    ms: dict[str, float] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Turns:
    """Runs one request at a time. Keeps what must outlive a turn: what stands typed, and what can be undone."""

    def __init__(self, parts: TurnParts) -> None:
        self._parts = parts
        self._busy = asyncio.Lock()
        self._typed = World()  # pending text and its window, carried from turn to turn
        self._undo: deque[UndoAction] = deque(maxlen=UNDO_DEPTH)
        self._live: _Live | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._keys_at = -OWN_KEYS_S

    @property
    def typing(self) -> bool:
        """Whether an agent has pressed keys within the last second: a line that arrives now may be its own."""
        return time.monotonic() - self._keys_at < OWN_KEYS_S

    async def run(self, request: Request, cancel: CancelFlag, turn: str = "") -> Report:
        """From text to spoken reply. Never raises for what can go wrong in a request: the report says it."""
        async with self._busy:
            self._loop = asyncio.get_running_loop()
            started = time.monotonic()
            live = await self._begin(request, cancel, turn or secrets.token_hex(4))
            self._live = live
            try:
                report = await self._plan_and_act(live)
            except Cancelled as error:
                report = self._without_plan(live, STOPPED, str(error))
            except AnovaxError as error:
                report = self._without_plan(live, error.spoken, str(error))
            finally:
                self._typed = live.world
                self._live = None
            return await self._finish(live, report, started)

    async def _begin(self, request: Request, cancel: CancelFlag, turn: str) -> _Live:
        parts = self._parts
        parts.bus.publish(TurnStarted(turn=turn, text=request.text, source=request.source))
        around = await parts.look()
        context = parts.memory.context(request.text, around.focus, around.windows)
        world = parts.safety.look(self._typed, around.focus).model_copy(
            update={
                "heard": request.text,
                "remote": request.source == "phone",
                "untrusted": (*(w.title for w in around.windows if w.title), *context.facts),
                "origin": "first",
                "level": 0,
            }
        )
        return _Live(turn, request, cancel, world, context)

    async def _plan_and_act(self, live: _Live) -> Report:
        planned = await self._planned(live, self._parts.planner.plan(self._request(live), live.cancel))
        judged = await self._judge(live, planned, "first")
        if isinstance(judged, Refusal):
            return self._refused(live, planned, judged)
        outcomes = await self._execute(live, judged)
        plan, repair = judged.plan, await self._repair(live, judged.plan, outcomes)
        if repair is None:
            said = reply(plan.say, plan.steps, outcomes, self._parts.tools)
            ended = outcomes
        else:
            said = after_recovery(plan.say, repair, plan.steps, outcomes, self._parts.tools)
            ended = repair.outcomes if repair.result == "repaired" else outcomes
        return Report(
            turn=live.id,
            text=live.request.text,
            plan=plan,
            verdict=judged.verdict,
            backend=planned.backend,
            outcomes=outcomes,
            recovery=repair.turns if repair else (),
            said=said,
            ok=all(outcome.status.ok for outcome in ended),
            ms=live.ms,
        )

    def _request(self, live: _Live) -> PlanRequest:
        return PlanRequest(text=live.request.text, context=live.context)

    # --- planning and judging ------------------------------------------------------------------------------------

    async def _planned(self, live: _Live, planning: Awaitable[Planned], origin: str = "first") -> Planned:
        started = time.monotonic()
        planned = await planning
        live.cancel.check()
        planned = planned.model_copy(update={"plan": _with_facts(planned.plan, self._parts.tools)})
        ms = (time.monotonic() - started) * 1000
        live.ms["plan"] = round(live.ms.get("plan", 0.0) + ms, 2)
        self._parts.bus.publish(
            PlanMade(
                turn=live.id,
                plan=planned.plan.to_json(),
                backend=planned.backend,
                ms=round(ms, 2),
                origin=origin,
                sampled_tokens=planned.sampled_tokens,
                forced_tokens=planned.forced_tokens,
            )
        )
        return planned

    async def _judge(self, live: _Live, planned: Planned, origin: str, level: int = 0) -> ApprovedPlan | Refusal:
        """Safety's verdict; an ``ask`` is put to the user, one step at a time."""
        started = time.monotonic()
        world = live.world.model_copy(update={"origin": origin, "level": level, "agents_left": live.budget.left})
        judgement = self._parts.safety.judge(planned.plan, world)
        ms = round((time.monotonic() - started) * 1000, 3)
        live.ms["safety"] = round(live.ms.get("safety", 0.0) + ms, 3)
        self._publish_verdict(live, judgement.verdict, origin, ms)
        while isinstance(judgement, NeedsConsent):
            verdict = judgement.verdict
            question = asyncio.ensure_future(self._parts.speak(f"{verdict.reason} Shall I do it?", live.cancel))
            allowed = await self._parts.consent.ask(live.id, verdict, live.cancel)
            question.cancel()  # an answer may come before the question has been spoken to its end
            if not allowed:
                live.cancel.check()
                denied = verdict.model_copy(update={"decision": Decision.REFUSE, "reason": "You did not allow it."})
                return Refusal(planned.plan, denied, judgement.verdicts, judgement.world)
            judgement = self._parts.safety.grant(judgement, verdict.step or 0)
        return judgement

    def _publish_verdict(self, live: _Live, verdict: Verdict, origin: str, ms: float) -> None:
        self._parts.bus.publish(
            Judged(
                turn=live.id,
                decision=verdict.decision.value,
                rule=verdict.rule,
                reason=verdict.reason,
                step=verdict.step,
                ms=ms,
                origin=origin,
            )
        )

    # --- acting --------------------------------------------------------------------------------------------------

    async def _execute(self, live: _Live, approved: ApprovedPlan, level: int = 0) -> tuple[Outcome, ...]:
        started = time.monotonic()
        run = Run(
            turn=live.id,
            cancel=live.cancel,
            budget=live.budget,
            recheck=lambda _, index, effect: self._recheck(live, approved, index, effect),
            done=self._noted,
            level=level,
            first_index=live.steps,
        )
        live.steps += len(approved.plan.steps)
        outcomes = await self._parts.orchestrator.run(approved, run)
        live.ms["act"] = round(live.ms.get("act", 0.0) + (time.monotonic() - started) * 1000, 2)
        return outcomes

    def _recheck(self, live: _Live, approved: ApprovedPlan, index: int, effect: Effect) -> None:
        """Safety's second look, immediately before an effect, with the focus as it is then. In an agent's thread."""
        with live.lock:
            verdict = self._parts.safety.recheck(approved, index, effect, live.world)
            if verdict.decision in (Decision.ASK, Decision.REFUSE):
                raise EffectRefused(verdict.reason or "It is not what was approved")
            if effect.kind in ("type", "paste", "keys"):
                self._keys_at = time.monotonic()
            live.world = self._parts.safety.advance(live.world, effect)

    def _noted(self, step: Step, done: Done) -> None:
        if done.undo is not None:
            self._undo.append(done.undo)
        self._parts.memory.note_step(step, done)

    async def _repair(self, live: _Live, plan: Plan, outcomes: tuple[Outcome, ...]) -> Repair | None:
        recovery = self._parts.recovery
        failed = failed_core(plan.steps, outcomes, self._parts.tools)
        if recovery is None or failed is None or live.cancel.is_set():
            return None
        started = time.monotonic()
        self._parts.bus.publish(RecoveryStarted(turn=live.id, step=failed, reason=outcomes[failed].error))
        before = live.budget.left
        repair = await recovery.repair(live.request.text, plan, outcomes, self._ports(live), live.cancel)
        live.ms["recovery"] = round((time.monotonic() - started) * 1000, 2)
        agents = before - live.budget.left
        self._parts.bus.publish(
            RecoveryEnded(turn=live.id, result=repair.result, turns=len(repair.turns), agents=agents)
        )
        return repair

    def _ports(self, live: _Live) -> Ports:
        async def think(failure: Failure, cancel: CancelFlag) -> Planned:
            around = await self._parts.look()
            seen = failure.context.model_copy(update={"focus": around.focus, "windows": around.windows})
            others = ", ".join(w.name[:40] for w in around.windows if around.focus is None or w.id != around.focus.id)
            told = (*failure.observations, f"other windows: {others}") if others else failure.observations
            now = failure.model_copy(update={"context": seen, "observations": told})
            return await self._planned(live, self._parts.planner.think(now, cancel), "recovery")

        async def run(planned: Planned) -> tuple[Outcome, ...] | Refused:
            around = await self._parts.look()
            with live.lock:
                live.world = self._parts.safety.look(live.world, around.focus)
            judged = await self._judge(live, planned, "recovery")
            if isinstance(judged, Refusal):
                return Refused(reason=judged.verdict.reason)
            return await self._execute(live, judged)

        async def observe(plan: Plan) -> tuple[Outcome, ...]:
            ran = await run(Planned(plan=plan, backend="speculation"))
            return () if isinstance(ran, Refused) else ran

        def speculated(tools: tuple[str, ...], hidden_ms: float) -> None:
            self._parts.bus.publish(SpeculationFinished(turn=live.id, tools=tools, hidden_ms=hidden_ms))

        return Ports(think, run, observe, lambda: live.budget.left, lambda: live.context, speculated)

    # --- what agents call back -----------------------------------------------------------------------------------

    def delegate(self, goal: str, step: StepContext) -> Done:
        """Plan and run a sub-goal for the MetaAgent, from its thread, on the request's own budget."""
        live, loop = self._live, self._loop
        if live is None or loop is None or live.id != step.turn:
            raise ToolError("There is no running request to work for")
        return asyncio.run_coroutine_threadsafe(self._sub_goal(live, goal, step.level + 1), loop).result(step.remaining)

    async def _sub_goal(self, live: _Live, goal: str, level: int) -> Done:
        request = PlanRequest(text=goal, context=live.context, level=level)
        planned = await self._planned(live, self._parts.planner.plan(request, live.cancel), "delegate")
        judged = await self._judge(live, planned, "delegate", level)
        if isinstance(judged, Refusal):
            raise ToolError(judged.verdict.reason)
        outcomes = await self._execute(live, judged, level)
        said = reply(judged.plan.say, judged.plan.steps, outcomes, self._parts.tools)
        if not all(outcome.status.ok for outcome in outcomes):
            raise ToolError(said)
        verified = bool(outcomes) and all(outcome.status.value == "verified" for outcome in outcomes)
        return Done(evidence=said, verified=verified, result=said, say=said)

    def undo(self, step: StepContext) -> Done:
        """Take back the newest step that can be; never across a change of focus."""
        if not self._undo:
            raise UserMustDecide("There is nothing to take back")  # no model can repair that
        action = self._undo[-1]
        focus = self._parts.focused()
        if action.window and (focus is None or focus.id != action.window):
            problem = f"I can only undo “{action.label}” in its own window"
            raise UserMustDecide(problem, "bring it to the front and ask again")
        self._undo.pop()
        return action.run(step)

    # --- endings -------------------------------------------------------------------------------------------------

    def _refused(self, live: _Live, planned: Planned, refusal: Refusal) -> Report:
        return Report(
            turn=live.id,
            text=live.request.text,
            plan=planned.plan,
            verdict=refusal.verdict,
            backend=planned.backend,
            said=f"I won't do that. {refusal.verdict.reason}".strip(),
            ms=live.ms,
        )

    def _without_plan(self, live: _Live, said: str, error: str) -> Report:
        verdict = Verdict(decision=Decision.APPROVE)
        return Report(
            turn=live.id,
            text=live.request.text,
            plan=Plan(),
            verdict=verdict,
            backend=self._parts.planner.name,
            said=said,
            ms=live.ms,
            error=error,
        )

    async def _finish(self, live: _Live, report: Report, started: float) -> Report:
        """Say the reply (what was really spoken is what memory keeps), remember the turn, publish its end."""
        live.ms["total"] = round((time.monotonic() - started) * 1000, 2)
        spoken = ""
        if report.said and not live.cancel.is_set():
            spoken = await self._parts.speak(report.said, live.cancel)
        past = PastTurn(heard=report.text, plan=report.plan, said=spoken or report.said, ok=report.ok)
        self._parts.memory.note_turn(past)
        self._parts.bus.publish(TurnFinished(turn=live.id, said=report.said, ms=live.ms["total"], ok=report.ok))
        return report


def _with_facts(plan: Plan, tools: Toolbox) -> Plan:
    """Facts that the model wants kept become steps like any other, so that safety sees them."""
    room = max(0, MAX_STEPS - len(plan.steps))
    extra = tuple(Step.parse({"tool": "remember", "fact": fact}, tools) for fact in plan.remember[:room])
    return plan.model_copy(update={"steps": (*plan.steps, *extra), "remember": ()}) if plan.remember else plan
