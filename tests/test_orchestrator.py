"""The orchestrator with scripted agents: order, parallelism, locks, TTL, retries, cancellation, one status per step."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import pytest
from pydantic import Field

from anovax.bus import Bus, Subscription
from anovax.calls import in_pool
from anovax.config import OrchestratorConfig, SafetyConfig
from anovax.errors import EffectRefused, ToolError
from anovax.events import Event, StepFinished, StepQueued, StepRetrying, StepStarted, StepWaiting
from anovax.orchestrator import Budget, Orchestrator, Run
from anovax.plan import ApprovedPlan, Outcome, Plan, Status
from anovax.safety import ApprovedPlan as Approved
from anovax.safety import Safety
from anovax.tool import (
    KB_MOUSE,
    Agent,
    AgentParts,
    CancelFlag,
    Done,
    Effect,
    Risk,
    StepContext,
    ToolArgs,
    Toolbox,
    Undo,
    tool,
)

Recheck = Callable[[ApprovedPlan, int, Effect], None]


class ScriptArgs(ToolArgs):
    name: str = "x"
    seconds: float = 0.0
    fail: int = 0  # how many first attempts fail
    effects: int = Field(1, ge=0)


class Script:
    """What the scripted agents did: effects with their times, and who was inside at once."""

    def __init__(self) -> None:
        self.effects: list[tuple[str, float]] = []
        self.attempts: dict[str, int] = defaultdict(int)
        self.inside: dict[str, int] = defaultdict(int)
        self.most: dict[str, int] = defaultdict(int)
        self.lock = threading.Lock()

    def play(self, kind: str, args: ScriptArgs, step: StepContext) -> Done:
        with self.lock:
            self.attempts[args.name] += 1
            attempt = self.attempts[args.name]
            self.inside[kind] += 1
            self.most[kind] = max(self.most[kind], self.inside[kind])
        try:
            for _ in range(args.effects):
                time.sleep(args.seconds)  # a desktop that answers slowly; deliberately deaf to the cancel flag
                step.guard(Effect(kind="type", payload=args.name))
                with self.lock:
                    self.effects.append((args.name, time.monotonic()))
            if attempt <= args.fail:
                raise ToolError(f"{args.name} failed", candidates=("calculator",))
            return Done(evidence=f"{args.name} seen", verified=True, result=f"result of {args.name}")
        finally:
            with self.lock:
                self.inside[kind] -= 1


class LookAgent(Agent):
    ttl_s: ClassVar[float] = 0.5
    retries: ClassVar[int] = 2
    locks: ClassVar[frozenset[str]] = frozenset()

    @tool(risk=Risk.READ, description="look", label="Look {name}", undo=Undo.NOTHING_TO_UNDO, args=ScriptArgs)
    def look(self, args: ScriptArgs, step: StepContext) -> Done:
        return self.parts.config.play("look", args, step)  # type: ignore[no-any-return]


class ActAgent(Agent):
    ttl_s: ClassVar[float] = 0.5
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset({KB_MOUSE})

    @tool(risk=Risk.INPUT, description="act", label="Act {name}", undo=Undo.IRREVERSIBLE, args=ScriptArgs)
    def act(self, args: ScriptArgs, step: StepContext) -> Done:
        return self.parts.config.play("act", args, step)  # type: ignore[no-any-return]

    @tool(risk=Risk.INPUT, description="act", label="", undo=Undo.IRREVERSIBLE, args=ScriptArgs, core=False)
    def extra(self, args: ScriptArgs, step: StepContext) -> Done:
        return self.parts.config.play("act", args, step)  # type: ignore[no-any-return]


TOOLS = Toolbox({spec.name: spec for cls in (LookAgent, ActAgent) for spec in cls.specs}, (LookAgent, ActAgent))


class Bench:
    """An orchestrator over scripted agents, its bus and its events."""

    def __init__(self) -> None:
        self.script, self.bus = Script(), Bus()
        parts = AgentParts(desktop=None, config=self.script)
        look, act = LookAgent(parts), ActAgent(parts)
        agents: dict[str, Agent] = {"look": look, "act": act, "extra": act}
        self.orchestrator = Orchestrator(TOOLS, agents, OrchestratorConfig(backoff_s=0.01), self.bus)
        self.events: Subscription = self.bus.subscribe(100_000)
        self.cancel = CancelFlag()
        self.budget = Budget()

    def run(self, *steps: dict[str, Any], recheck: Recheck = lambda a, i, e: None) -> tuple[Outcome, ...]:
        return asyncio.run(self.arun(*steps, recheck=recheck))

    async def arun(self, *steps: dict[str, Any], recheck: Recheck = lambda a, i, e: None) -> tuple[Outcome, ...]:
        return await self.orchestrator.run(approved(*steps), Run("t", self.cancel, self.budget, recheck))

    def seen(self) -> list[Event]:
        found = []
        while (event := self.events.get(0)) is not None:
            found.append(event)
        return found


def approved(*steps: dict[str, Any]) -> ApprovedPlan:
    """A plan past the real filter; scripted tools are unknown to its simulation and therefore only bounded."""
    judgement = Safety(TOOLS, SafetyConfig()).judge(Plan.parse({"steps": list(steps)}, TOOLS))
    assert isinstance(judgement, Approved), judgement.verdict
    return judgement  # type: ignore[return-value]


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.orchestrator.close()


def step(tool: str, name: str, **more: Any) -> dict[str, Any]:
    return {"tool": tool, "name": name, **more}


def test_input_keeps_its_order_and_reading_goes_in_parallel(bench: Bench) -> None:
    plan = [step("act", "a"), *(step("look", f"l{n}", seconds=0.1) for n in range(4)), step("act", "b")]
    outcomes = bench.run(*plan)
    assert [outcome.status for outcome in outcomes] == [Status.VERIFIED] * 6
    names = [name for name, _ in bench.script.effects]
    assert names[0] == "a" and names[-1] == "b"
    assert bench.script.most["look"] == 4 and bench.script.most["act"] == 1


def test_two_plans_share_the_keyboard_lock(bench: Bench) -> None:
    async def both() -> None:
        await asyncio.gather(bench.arun(step("act", "a", seconds=0.05)), bench.arun(step("act", "b", seconds=0.05)))

    asyncio.run(both())
    assert bench.script.most["act"] == 1
    assert any(isinstance(event, StepWaiting) and event.lock == KB_MOUSE for event in bench.seen())


def test_a_failed_core_step_skips_the_rest_and_a_failed_extra_does_not(bench: Bench) -> None:
    statuses = [o.status for o in bench.run(step("extra", "e", fail=9), step("act", "a", fail=9), step("act", "b"))]
    assert statuses == [Status.FAILED, Status.FAILED, Status.SKIPPED]


def test_only_idempotent_tools_are_tried_again(bench: Bench) -> None:
    look, act = bench.run(step("look", "l", fail=1), step("act", "a", fail=1))
    assert (look.status, look.attempts) == (Status.VERIFIED, 2)
    assert (act.status, act.attempts, act.candidates) == (Status.FAILED, 1, ("calculator",))


def test_after_its_ttl_a_step_touches_nothing(bench: Bench) -> None:
    started = time.monotonic()
    (outcome,) = bench.run(step("act", "slow", seconds=0.3, effects=10))
    ended = time.monotonic()
    assert outcome.status is Status.TIMED_OUT and ended - started < 2
    time.sleep(0.5)  # the abandoned thread would have gone on by now
    assert all(at <= ended for _, at in bench.script.effects)


def test_after_a_stop_a_step_touches_nothing_and_the_rest_is_cancelled(bench: Bench) -> None:
    async def stop_soon() -> tuple[Outcome, ...]:
        running = asyncio.ensure_future(bench.arun(step("act", "a", seconds=0.1, effects=4), step("act", "b")))
        await asyncio.sleep(0.15)
        bench.cancel.set("stop")
        return await running

    outcomes = asyncio.run(stop_soon())
    ended = time.monotonic()
    assert [o.status for o in outcomes] == [Status.CANCELLED] * 2
    time.sleep(0.3)
    assert all(at <= ended for _, at in bench.script.effects)


def test_the_guard_can_refuse_an_effect(bench: Bench) -> None:
    def no(approved: ApprovedPlan, index: int, effect: Effect) -> None:
        raise EffectRefused("another window has the focus")

    outcomes = bench.run(step("act", "a"), step("act", "b"), recheck=no)
    assert [o.status for o in outcomes] == [Status.REFUSED, Status.SKIPPED]
    assert bench.script.effects == []


def test_a_step_can_use_an_earlier_result(bench: Bench) -> None:
    bench.run(step("look", "time"), step("look", "saw {result:1}"))
    assert [name for name, _ in bench.script.effects] == ["time", "saw result of time"]


def test_the_budget_bounds_all_plans_of_a_request(bench: Bench) -> None:
    bench.budget = Budget(3)
    statuses = [o.status for o in bench.run(*(step("look", f"l{n}") for n in range(5)))]
    assert statuses.count(Status.VERIFIED) == 3 and statuses.count(Status.SKIPPED) == 2


def test_a_call_that_found_no_thread_in_time_never_begins() -> None:
    """The only thread is busy with an abandoned call; the second call's time is over before it could begin."""
    began: list[str] = []

    def slow(name: str) -> None:
        began.append(name)
        time.sleep(0.4)

    async def both(pool: ThreadPoolExecutor) -> None:
        for name in ("first", "second"):
            with pytest.raises(TimeoutError):
                await in_pool(pool, lambda name=name: slow(name), CancelFlag(), 0.1)  # type: ignore[misc]

    with ThreadPoolExecutor(1) as pool:
        asyncio.run(both(pool))
    assert began == ["first"]


def test_whatever_a_call_raises_comes_out() -> None:
    def no_more() -> None:
        next(iter(()))

    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError):  # StopIteration cannot leave a coroutine as such
        asyncio.run(in_pool(pool, no_more, CancelFlag(), 5))


LEGAL: dict[type[Event] | None, tuple[type[Event], ...]] = {
    None: (StepQueued,),
    StepQueued: (StepWaiting, StepStarted, StepFinished),
    StepWaiting: (StepWaiting, StepStarted, StepFinished),
    StepStarted: (StepRetrying, StepFinished),
    StepRetrying: (StepStarted, StepFinished),
    StepFinished: (),
}


def check_events(events: list[Event], steps: int) -> None:
    """Every step goes through the state machine above and ends exactly once."""
    by_step: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        if isinstance(event, StepQueued | StepWaiting | StepStarted | StepRetrying | StepFinished):
            by_step[event.step].append(event)
    assert len(by_step) == steps
    for chain in by_step.values():
        before: type[Event] | None = None
        for event in chain:
            assert type(event) in LEGAL[before], chain
            before = type(event)
        assert before is StepFinished


def random_plans(number: int, seed: int) -> None:
    chance = random.Random(seed)
    bench = Bench()
    try:
        for _ in range(number):
            bench.cancel, bench.budget = CancelFlag(), Budget(chance.choice([4, 20]))
            plan = [
                step(
                    chance.choice(["look", "act", "extra"]),
                    f"s{chance.random()}",
                    seconds=chance.choice([0, 0, 0, 0.01, 0.7]) if chance.random() < 0.2 else 0,
                    fail=chance.choice([0, 0, 0, 1, 9]),
                    effects=chance.randint(0, 3),
                )
                for _ in range(chance.randint(1, 8))
            ]
            stop_after = chance.choice([None, None, None, 0.0, 0.02])
            outcomes, ended = asyncio.run(one_random_plan(bench, plan, stop_after))
            assert len(outcomes) == len(plan)
            check_events(bench.seen(), len(plan))
            assert bench.orchestrator.held_locks == ()
            if stop_after is not None:
                assert all(at <= ended for _, at in bench.script.effects)
    finally:
        bench.orchestrator.close()


async def one_random_plan(
    bench: Bench, plan: list[dict[str, Any]], stop_after: float | None
) -> tuple[tuple[Outcome, ...], float]:
    running = asyncio.ensure_future(bench.arun(*plan))
    if stop_after is not None:
        await asyncio.sleep(stop_after)
        bench.cancel.set("stop")
    outcomes = await asyncio.wait_for(running, 15)
    return outcomes, time.monotonic()


@pytest.mark.timeout(120)
def test_random_plans_never_deadlock_and_end_legally() -> None:
    random_plans(60, seed=1)


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_a_thousand_random_plans() -> None:
    random_plans(1000, seed=2)
