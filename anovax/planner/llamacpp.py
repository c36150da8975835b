"""The local planner: llama.cpp under the plan grammar, with the prompt's KV state kept."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from anovax import weights
from anovax.config import PlannerConfig
from anovax.errors import Cancelled, PlannerError
from anovax.plan import Failure, Plan, Planned, PlanRequest
from anovax.planner.decode import Written
from anovax.planner.engine import Engine, check_file, import_llama
from anovax.planner.grammar import import_outlines
from anovax.planner.local import Local
from anovax.planner.threads import thread_count
from anovax.tool import CancelFlag, Toolbox

T = TypeVar("T")


def model_path(model: str) -> Path:
    """The GGUF file that ``model`` (an id below planner/ or a path) means. Raises WeightsError or PlannerError."""
    path = Path(model).expanduser()
    if path.suffix == ".gguf" or path.is_file():
        check_file(path)
        return path
    return weights.find(f"planner/{model}")


class LlamaCpp:
    """The ``llamacpp`` backend. Loading starts at once on the one worker thread, which owns the model; ``cache_dir`` is
    where the prompts' KV states are kept."""

    name = "llamacpp"

    def __init__(self, config: PlannerConfig, tools: Toolbox, cache_dir: Path) -> None:
        self._config, self._tools, self._cache_dir = config, tools, cache_dir
        self._path = model_path(config.model)
        self._closed = False
        self._engine: Engine | None = None
        with suppress(PlannerError):  # said by ``ready``
            import_llama()  # here: in the worker it would wait for everything else that is imported meanwhile
        self._worker = ThreadPoolExecutor(1, "llama.cpp")
        self._loaded: Future[Local] = self._worker.submit(self._load)

    def _load(self) -> Local:
        self._engine = engine = Engine(self._path, self._config.threads or thread_count())
        try:
            import_outlines()
            if self._closed:
                raise Cancelled("closed")
            return Local(engine, self._tools, self._cache_dir, self._config.max_tokens)
        except BaseException:
            engine.close()
            raise

    async def ready(self) -> None:
        """Wait until the model can plan: under a second, but about a minute the first time, when the prompts are read.
        Raises PlannerError when it cannot be loaded."""
        await asyncio.shield(asyncio.wrap_future(self._loaded))

    async def plan(self, request: PlanRequest, cancel: CancelFlag) -> Planned:
        return await self._run(lambda local: local.plan(request), cancel)

    async def think(self, failure: Failure, cancel: CancelFlag) -> Planned:
        return await self._run(lambda local: local.think(failure), cancel)

    async def _run(self, work: Callable[[Local], tuple[Plan, Written]], cancel: CancelFlag) -> Planned:
        local = await _unless_stopped(asyncio.wrap_future(self._loaded), cancel)
        started = time.perf_counter()
        job = asyncio.wrap_future(self._worker.submit(local.guarded, work, cancel))
        plan, written = await _unless_stopped(job, cancel)
        return Planned(
            plan=plan,
            backend=self.name,
            ms=(time.perf_counter() - started) * 1000,
            sampled_tokens=written.sampled,
            forced_tokens=written.forced + written.copied,
            truncated=written.truncated,
        )

    def close(self) -> None:
        """Stop what runs, then give the model back. Safe twice."""
        if self._closed:
            return
        self._closed = True
        if self._engine is not None:
            self._engine.stop()
        if not self._loaded.cancel():
            self._worker.submit(self._unload)
        self._worker.shutdown(wait=True)

    def _unload(self) -> None:
        if self._loaded.exception() is None:
            self._loaded.result().close()


async def _unless_stopped(job: asyncio.Future[T], cancel: CancelFlag) -> T:
    """The result of ``job``; Cancelled at once when ``cancel`` is set. The worker ends soon after (it may be loading a
    kept prompt, which cannot be interrupted, or the model, for the next request), and nobody waits for that."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        loop.call_soon_threadsafe(stop.set)

    unhook = cancel.on_set(wake)
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((job, stopping), return_when=asyncio.FIRST_COMPLETED)
    finally:
        unhook()
        stopping.cancel()
    if job.done():
        return job.result()
    job.add_done_callback(lambda ended: None if ended.cancelled() else ended.exception())  # it ends as Cancelled
    raise Cancelled(cancel.reason)
