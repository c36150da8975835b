"""Runs a study: every request to every backend, in one seeded random order, each row on disk before the next."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

from anovax.bench.latency_stt import Recogniser
from anovax.bench.study import backends, cloud, live, network
from anovax.bench.study.backends import Backend
from anovax.bench.study.energy import Energy
from anovax.bench.study.measuring import Measuring
from anovax.bench.study.requests import Asked, digest
from anovax.bench.study.rows import Folder, Row
from anovax.config import Config
from anovax.errors import UsageError
from anovax.plan import PlanRequest
from anovax.planner.protocol import Planner
from anovax.tool import CancelFlag, Toolbox

WARM_UP = "what is the weather like on the moon"  # read by the model once, so that no row pays for its first pages


@dataclass(frozen=True)
class Study:
    """What is measured. ``repeat``: warm rows per request and backend; ``cold``: requests that are each asked of a
    backend that was just loaded."""

    asked: tuple[Asked, ...]
    names: tuple[str, ...]
    repeat: int = 1
    cold: int = 0
    seed: int = 0
    network: network.Network | None = None
    live: bool = False

    def settings(self, config: Config) -> dict[str, Any]:
        """Everything that decides what is measured; a folder goes on only with the same."""
        return {
            "requests": digest(self.asked),
            "number_of_requests": len(self.asked),
            "recordings": sum(one.audio is not None for one in self.asked),
            "backends": sorted(self.names),
            "repeat": self.repeat,
            "cold": self.cold,
            "live": self.live,
            "seed": self.seed,
            "network": self.network.model_dump() if self.network else None,
            "configuration": config.model_dump(mode="json", exclude={"data_dir", "companion"}),
        }

    def schedule(self) -> list[Row]:
        """One row to be filled per measurement, in random order."""
        chance = random.Random(self.seed)
        chosen = chance.sample(self.asked, min(self.cold, len(self.asked)))
        warm: Literal["warm", "live"] = "live" if self.live else "warm"
        plan = [
            Row(request=one.id, backend=name, mode=warm, repeat=turn)
            for one, name, turn in product(self.asked, self.names, range(self.repeat))
        ]
        plan += [Row(request=one.id, backend=name, mode="cold", repeat=0) for one, name in product(chosen, self.names)]
        chance.shuffle(plan)
        return plan

    def left(self, folder: Folder) -> list[Row]:
        """What has not been measured yet."""
        known = {row.key for row in folder.rows()}
        return [row for row in self.schedule() if row.key not in known]


@dataclass
class Planners:
    """The loaded planners of a study, by backend name; all stay loaded, so that order costs nothing."""

    config: Config
    tools: Toolbox
    stack: AsyncExitStack
    warm: dict[str, Planner] = field(default_factory=dict)

    async def get(self, backend: Backend) -> Planner:
        if backend.name not in self.warm:
            planner = backend.build(self.config, self.tools)
            self.stack.callback(planner.close)
            await planner.ready()
            self.warm[backend.name] = planner
            if not backends.leaves([backend], self.config):  # a paid service is not asked for nothing
                await planner.plan(PlanRequest(text=WARM_UP), CancelFlag())
        return self.warm[backend.name]


@asynccontextmanager
async def prepared(study: Study, config: Config, tools: Toolbox) -> AsyncIterator[tuple[dict[str, Backend], Planners]]:
    """The study's backends and their planners; with the modelled network and its server, when there is one."""
    async with AsyncExitStack() as stack:
        planners, url = Planners(config, tools, stack), ""
        if study.network is not None:
            answering = await planners.get(backends.named(study.network.answers, config))
            port = await stack.enter_async_context(cloud.serving(answering))
            url = await stack.enter_async_context(network.through(study.network, port, study.seed))
        yield {name: backends.named(name, config, lambda: url) for name in study.names}, planners


async def run(
    study: Study,
    folder: Folder,
    config: Config,
    tools: Toolbox,
    recogniser: Recogniser | None,
    tell: Callable[[Row, int, int], None] = lambda row, done, of: None,
) -> None:
    """Measure what is left of ``study``. Stopped at any moment, the folder holds every row that was finished."""
    left, asked = study.left(folder), {one.id: one for one in study.asked}
    if study.live:
        return await live.run(left, asked, check(study, config, tools), config, folder, tell)
    measuring = Measuring(config, tools, recogniser, Energy())
    try:
        async with prepared(study, config, tools) as (known, planners):
            for done, base in enumerate(left, 1):
                backend = known[base.backend]
                base = base.model_copy(update={"simulated": backend.simulated})
                row = await _measured(measuring, asked[base.request], backend, planners, base)
                folder.add(row)
                tell(row, done, len(left))
    finally:
        measuring.close()


async def _measured(measuring: Measuring, asked: Asked, backend: Backend, planners: Planners, base: Row) -> Row:
    if base.mode == "warm":
        return await measuring.one(asked, await planners.get(backend), base)
    started = time.perf_counter()
    planner = backend.build(planners.config, planners.tools)
    try:
        await planner.ready()
        load = round((time.perf_counter() - started) * 1000, 3)
        return await measuring.one(asked, planner, base.model_copy(update={"load": load}))
    finally:
        planner.close()


def check(study: Study, config: Config, tools: Toolbox) -> list[Backend]:
    """The study's backends, before anything is loaded. UsageError or ConfigError for what cannot be measured."""
    if not study.asked:
        raise UsageError("There is nothing to ask", "name a list of requests or a table of recordings")
    if (backends.SIMULATED in {name.removeprefix("rules+") for name in study.names}) and study.network is None:
        raise UsageError("The simulated backend needs a network", "add --simulate-cloud delay=80,jitter=20,loss=1")
    if study.live and (study.network is not None or study.cold):
        raise UsageError("A live study takes no --cold and no --simulate-cloud", "leave them out")
    known = [backends.named(name, config, lambda: "http://127.0.0.1:0") for name in study.names]
    for backend in known:
        if backend.planner["backend"] in backends.REMOTE:
            backend.build(config, tools).close()  # loads nothing, and says when the key is missing
    return known
