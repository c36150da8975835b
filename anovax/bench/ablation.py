"""The description's ablations: language model off, memory off, locks off, recovery off. What still works, what breaks.

Every scenario runs in a fresh assistant on a desktop on paper: real planner, filter, orchestrator, agents, recovery and
memory; only the screen is simulated (anovax.bench.paper). What recovery does on a real desktop: ``bench recovery``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from anovax.app import Wanted, build, build_planner
from anovax.bench.ablation_cases import KINDS, SCENARIOS, Ended, Scenario
from anovax.bench.given import Given
from anovax.bench.paper import paper_desktop
from anovax.bench.table import table
from anovax.bus import Bus
from anovax.config import Config, isolated
from anovax.orchestrator import Budget, Orchestrator, Run
from anovax.plan import Plan, World
from anovax.planner.fastpath import FastPath
from anovax.planner.protocol import Planner
from anovax.request import Request
from anovax.safety import ApprovedPlan, Safety
from anovax.tool import AgentParts, CancelFlag, Toolbox, discover

ABLATIONS = ("none", "model off", "memory off", "locks off", "recovery off")
CONSENT_S = 1.1  # nobody is there to answer: silence means no


@dataclass(frozen=True)
class Row:
    """One scenario under one ablation. ``worked``: the desktop, the memory or the answer is as the user wanted it."""

    scenario: str
    kind: str
    ablation: str
    repeat: int
    worked: bool
    said: str
    ms: float


@dataclass(frozen=True)
class Report:
    rows: tuple[Row, ...]

    def to_json(self) -> dict[str, Any]:
        return {"rows": [asdict(row) for row in self.rows], "broken": {a: self.broken(a) for a in ABLATIONS[1:]}}

    def share(self, kind: str, ablation: str) -> tuple[int, int]:
        """How many worked, of how many."""
        rows = [row for row in self.rows if (row.kind, row.ablation) == (kind, ablation)]
        return sum(row.worked for row in rows), len(rows)

    def broken(self, ablation: str) -> list[str]:
        """Scenarios that work less often than with nothing switched off, with how often they do."""
        told = []
        for name in dict.fromkeys(row.scenario for row in self.rows):
            now, before = (self._worked(name, which) for which in (ablation, "none"))
            if sum(now) * len(before) < sum(before) * len(now):
                told.append(f"{name}: {sum(now)} of {len(now)}, not {sum(before)} of {len(before)}")
        return told

    def _worked(self, name: str, ablation: str) -> list[bool]:
        return [row.worked for row in self.rows if (row.scenario, row.ablation) == (name, ablation)]

    def table(self) -> str:
        body = [(kind, *("{} of {}".format(*self.share(kind, ablation)) for ablation in ABLATIONS)) for kind in KINDS]
        lines = [table(body, ("worked", *(f"{'nothing off' if a == 'none' else a}" for a in ABLATIONS)))]
        for ablation in ABLATIONS[1:]:
            broken = self.broken(ablation)
            lines += [
                f"\n{ablation}: {'breaks' if broken else 'breaks nothing here'}",
                *(f"  {line}" for line in broken),
            ]
        return "\n".join(lines)


def ablated(config: Config, ablation: str) -> Config:
    """The configuration with one part off. The model is taken away elsewhere: the planner is shared."""
    off: dict[str, tuple[str, str]] = {
        "memory off": ("memory", "enabled"),
        "locks off": ("orchestrator", "locks"),
        "recovery off": ("recovery", "enabled"),
    }
    changes: dict[str, Any] = {"safety": config.safety.model_copy(update={"consent_s": CONSENT_S})}
    if ablation in off:
        part, switch = off[ablation]
        changes[part] = getattr(config, part).model_copy(update={switch: False})
    return config.model_copy(update=changes)


async def run(
    config: Config,
    repeat: int = 1,
    scenarios: Sequence[Scenario] = SCENARIOS,
    tell: Callable[[Row, int, int], None] = lambda row, done, of: None,
) -> Report:
    """Every scenario under every ablation, ``repeat`` times."""
    tools, rows = discover(), list[Row]()
    whole, rules = build_planner(config, tools), FastPath(tools)
    todo = [(s, a, r) for r in range(repeat) for s in scenarios for a in ABLATIONS]
    try:
        await whole.ready()
        for scenario, ablation, turn in todo:
            planner = rules if ablation == "model off" else whole
            rows.append(await _one(config, scenario, ablation, turn, planner, tools))
            tell(rows[-1], len(rows), len(todo))
    finally:
        whole.close()
    return Report(tuple(rows))


async def _one(config: Config, scenario: Scenario, ablation: str, turn: int, planner: Planner, tools: Toolbox) -> Row:
    started = time.perf_counter()
    with TemporaryDirectory(prefix="anovax-ablation-") as folder:
        own = ablated(isolated(config, Path(folder)), ablation)
        if scenario.at_once:
            ended = await _at_once(own, scenario, tools)
        else:
            ended = await _in_turn(own, scenario, planner, tools, Path(folder))
        worked = scenario.worked(ended)
    ms = round((time.perf_counter() - started) * 1000, 1)
    return Row(scenario.name, scenario.kind, ablation, turn, worked, ended.said, ms)


async def _in_turn(config: Config, scenario: Scenario, planner: Planner, tools: Toolbox, folder: Path) -> Ended:
    """One request after the other to a whole assistant without a voice."""
    desktop, paper = paper_desktop()
    for app, title in scenario.windows:
        paper.open(app, title)
    paper.thief_after = scenario.thief_after
    first = Plan.parse({"steps": list(scenario.first)}, tools) if scenario.first else None
    async with build(config, Wanted(speak=False), desktop, Given(planner, first)) as assistant:
        reports = [await assistant.ask(Request(text=text)) for text in scenario.requests]
        return Ended(paper, tuple(reports), folder)


async def _at_once(config: Config, scenario: Scenario, tools: Toolbox) -> Ended:
    """Two plans on one orchestrator at the same time; the assistant itself takes one request after the other."""
    desktop, paper = paper_desktop()
    paper.open(*scenario.windows[0])
    agents = {spec.name: cls(AgentParts(desktop=desktop)) for cls in tools.agents for spec in cls.specs}
    orchestrator, safety = Orchestrator(tools, agents, config.orchestrator, Bus()), Safety(tools, config.safety)
    world = World(focus=desktop.focused())
    try:
        plans = [safety.judge(Plan.parse({"steps": [step]}, tools), world) for step in scenario.first]
        runs = [Run(str(n), CancelFlag(), Budget(), lambda *effect: None) for n in range(len(plans))]
        both = zip(plans, runs, strict=True)
        await asyncio.gather(*(orchestrator.run(p, r) for p, r in both if isinstance(p, ApprovedPlan)))
    finally:
        orchestrator.close()
        desktop.close()
    return Ended(paper, (), Path())
