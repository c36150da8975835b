"""What the orchestrator itself costs: plans of 8 steps whose agents do nothing."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import ClassVar

from anovax.bench.table import percentile
from anovax.bus import Bus
from anovax.config import OrchestratorConfig, SafetyConfig
from anovax.orchestrator import Budget, Orchestrator, Run
from anovax.plan import MAX_STEPS, Plan
from anovax.safety import ApprovedPlan, Safety
from anovax.tool import KB_MOUSE, Agent, AgentParts, CancelFlag, Done, NoArgs, Risk, StepContext, Toolbox, Undo, tool


class IdleAgent(Agent):
    """Two tools that do nothing: one that reads (parallel) and one that acts (serial, with the keyboard lock)."""

    ttl_s: ClassVar[float] = 5.0
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset()

    @tool(risk=Risk.READ, description="nothing", label="Nothing", undo=Undo.NOTHING_TO_UNDO)
    def look(self, args: NoArgs, step: StepContext) -> Done:
        return Done(verified=True)

    @tool(
        risk=Risk.INPUT,
        description="nothing",
        label="Nothing",
        undo=Undo.NOTHING_TO_UNDO,
        locks=frozenset({KB_MOUSE}),
    )
    def act(self, args: NoArgs, step: StepContext) -> Done:
        return Done(verified=True)


@dataclass(frozen=True)
class Overhead:
    """Milliseconds per plan of 8 no-op steps."""

    kind: str
    plans: int
    p50: float
    p95: float
    p99: float


def run(plans: int = 1000) -> list[Overhead]:
    """Measure serial, parallel and mixed plans; one loop, one pool, as in the assistant."""
    tools = Toolbox({spec.name: spec for spec in IdleAgent.specs}, (IdleAgent,))
    agent, bus = IdleAgent(AgentParts(desktop=None)), Bus()
    orchestrator = Orchestrator(tools, dict.fromkeys(tools.specs, agent), OrchestratorConfig(), bus)
    kinds = {
        "8 in parallel": ["look"] * MAX_STEPS,
        "8 one by one": ["act"] * MAX_STEPS,
        "4 and 4": ["look", "look", "act", "act"] * 2,
    }
    try:
        with bus.subscribe(64):
            return [asyncio.run(_measured(orchestrator, tools, kind, steps, plans)) for kind, steps in kinds.items()]
    finally:
        orchestrator.close()


async def _measured(orchestrator: Orchestrator, tools: Toolbox, kind: str, names: list[str], plans: int) -> Overhead:
    safety = Safety(tools, SafetyConfig())
    judged = safety.judge(Plan.parse({"steps": [{"tool": name} for name in names]}, tools))
    assert isinstance(judged, ApprovedPlan)
    spent = []
    for number in range(plans + 20):
        started = time.perf_counter()
        await orchestrator.run(judged, Run("bench", CancelFlag(), Budget(), lambda approved, index, effect: None))
        if number >= 20:  # the first ones start the pool's threads
            spent.append((time.perf_counter() - started) * 1000)
    return Overhead(kind, plans, *(round(percentile(spent, q), 3) for q in (0.5, 0.95, 0.99)))
