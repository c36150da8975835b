"""The local planner: llama.cpp under the plan grammar, with the prompt's KV state kept."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from anovax import weights
from anovax.config import PlannerConfig
from anovax.errors import PlannerError
from anovax.plan import Failure, Plan, Planned, PlanRequest
from anovax.planner import prompt
from anovax.planner.decode import Writer, Written
from anovax.planner.engine import Engine, check_file
from anovax.planner.grammar import Grammar
from anovax.planner.prefix_cache import PrefixCache
from anovax.planner.schema import compact_schema, read_compact
from anovax.tool import CancelFlag, Toolbox


def model_path(model: str) -> Path:
    """The GGUF file that ``model`` (an id below planner/ or a path) means. Raises WeightsError or PlannerError."""
    path = Path(model).expanduser()
    if path.suffix == ".gguf" or path.is_file():
        check_file(path)
        return path
    return weights.find(f"planner/{model}")


def default_threads() -> int:
    return max(1, min(4, os.cpu_count() or 1))


class LlamaCpp:
    """The ``llamacpp`` backend. Loading starts at once on the one worker thread, which owns the model."""

    name = "llamacpp"

    def __init__(self, config: PlannerConfig, tools: Toolbox, cache_dir: Path) -> None:
        self._config, self._tools, self._cache_dir = config, tools, cache_dir
        self._path = model_path(config.model)
        self._closed = False
        self._worker = ThreadPoolExecutor(1, "llama.cpp")
        self._loaded: Future[Local] = self._worker.submit(self._load)

    def _load(self) -> Local:
        return Local(Engine(self._path, self._config.threads or default_threads()), self._tools, self._cache_dir, self._config.max_tokens)

    async def ready(self) -> None:
        """Wait until the model can plan. Raises PlannerError when it cannot be loaded."""
        await asyncio.wrap_future(self._loaded)

    async def plan(self, request: PlanRequest, cancel: CancelFlag) -> Planned:
        return await self._run(lambda local: local.plan(request), cancel)

    async def think(self, failure: Failure, cancel: CancelFlag) -> Planned:
        return await self._run(lambda local: local.think(failure), cancel)

    async def _run(self, work: Callable[[Local], tuple[Plan, Written]], cancel: CancelFlag) -> Planned:
        local = await asyncio.wrap_future(self._loaded)
        started = time.perf_counter()
        plan, written = await asyncio.get_running_loop().run_in_executor(self._worker, local.guarded, work, cancel)
        return Planned(
            plan=plan,
            backend=self.name,
            ms=(time.perf_counter() - started) * 1000,
            sampled_tokens=written.sampled,
            forced_tokens=written.forced,
            truncated=written.truncated,
        )

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if not self._loaded.cancel():
            self._worker.submit(self._unload)
        self._worker.shutdown(wait=True)

    def _unload(self) -> None:
        if self._loaded.exception() is None:
            self._loaded.result().close()


class Local:
    """The model with its grammar and prefixes; everything on the worker thread."""

    def __init__(self, engine: Engine, tools: Toolbox, cache_dir: Path, budget: int) -> None:
        self.engine, self.tools, self.budget = engine, tools, budget
        self.grammar = Grammar(engine, compact_schema(tools))
        self.prefixes = PrefixCache(engine, cache_dir)
        self.prefixes.use("plan", prompt.prefix(tools))

    def guarded(self, work: Callable[[Local], tuple[Plan, Written]], cancel: CancelFlag) -> tuple[Plan, Written]:
        """Run ``work``; a set ``cancel`` ends it within one operation of llama.cpp, with Cancelled."""
        self.engine.ready()
        unhook = cancel.on_set(self.engine.stop)
        try:
            cancel.check()
            return work(self)
        finally:
            unhook()

    def plan(self, request: PlanRequest) -> tuple[Plan, Written]:
        self.prefixes.use("plan", prompt.prefix(self.tools))
        writer = Writer(self.engine, self.grammar.matcher(), self.budget)
        tokens = self.engine.tokenize(f'"{prompt.quoted(request.text)}":[')
        writer.write(self.engine.tokenize("["))
        written = writer.finish(self.engine.feed(tokens)[-1])
        if written.truncated:
            raise PlannerError("The plan became too long", "ask for less at once")
        return read_compact(written.text, self.tools), written

    def think(self, failure: Failure) -> tuple[Plan, Written]:
        return self.plan(PlanRequest(text=failure.text, context=failure.context))

    def close(self) -> None:
        self.engine.close()
