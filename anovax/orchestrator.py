"""Runs an approved plan with typed agents on a bounded pool: locks, TTL, retries, cancellation, one status per step.

Runs of read-only steps go in parallel; everything else keeps its order. A Python thread cannot be killed: after the TTL
the step is abandoned (StepContext.guard raises from then on, so it cannot touch the desktop) and its result dropped.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from anovax.bus import Bus
from anovax.config import OrchestratorConfig
from anovax.errors import AmbiguousTarget, AnovaxError, Cancelled, EffectRefused, TimedOut, ToolError
from anovax.events import StepFinished, StepQueued, StepRetrying, StepStarted, StepWaiting
from anovax.plan import MAX_AGENTS, RESULT_REFERENCE, ApprovedPlan, Outcome, Status, Step
from anovax.tool import Agent, CancelFlag, Done, Effect, StepContext, Toolbox, ToolSpec, WindowRef

log = logging.getLogger(__name__)

T = TypeVar("T")


class Budget:
    """How many agents one request may still spend, over all its plans, sub-plans and recovery batches."""

    def __init__(self, agents: int = MAX_AGENTS) -> None:
        self._left = agents
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        return self._left

    def take(self) -> bool:
        with self._lock:
            if self._left <= 0:
                return False
            self._left -= 1
            return True


@dataclass(frozen=True)
class Run:
    """What belongs to one request while its plans run. ``recheck(approved, index, effect)`` raises EffectRefused when
    an effect may no longer happen; ``done`` hears of every step that ended well (for undo and session memory);
    ``target()`` is the window that the plan means now."""

    turn: str
    cancel: CancelFlag
    budget: Budget
    recheck: Callable[[ApprovedPlan, int, Effect], None]
    done: Callable[[Step, Done], None] = lambda step, done: None
    target: Callable[[], WindowRef | None] = lambda: None
    level: int = 0
    first_index: int = 0  # number of the plan's first step in the events of the turn


@dataclass(frozen=True)
class _Job:
    """One step on its way through the pool."""

    number: int
    index: int
    step: Step
    spec: ToolSpec
    approved: ApprovedPlan
    run: Run


class Orchestrator:
    """Owns the pool and the locks. One instance per assistant; ``close`` waits for running agents."""

    def __init__(self, tools: Toolbox, agents: Mapping[str, Agent], config: OrchestratorConfig, bus: Bus) -> None:
        self._tools = tools
        self._agents = agents
        self._config = config
        self._bus = bus
        self._pool = ThreadPoolExecutor(config.workers, thread_name_prefix="agent")
        self._locks: dict[str, asyncio.Lock] = {}

    async def run(self, approved: ApprovedPlan, run: Run) -> tuple[Outcome, ...]:
        """Execute every step to exactly one status. After a failed core step the rest is skipped."""
        jobs = [self._job(index, step, approved, run) for index, step in enumerate(approved.plan.steps)]
        for job in jobs:
            self._queued(job)
        outcomes: list[Outcome] = []
        for batch in batches(jobs):
            blocked = self._blocked(jobs, outcomes, run.cancel)
            if blocked is not None:
                outcomes += [self._ended(job, *blocked) for job in batch]
            elif len(batch) == 1:
                outcomes.append(await self._one(batch[0], tuple(outcomes)))
            else:
                outcomes += await asyncio.gather(*(self._one(job, tuple(outcomes)) for job in batch))
        return tuple(outcomes)

    @staticmethod
    def _blocked(jobs: list[_Job], outcomes: list[Outcome], cancel: CancelFlag) -> tuple[Status, str] | None:
        """Why the rest of the plan may not start: the user said stop, or a core step did not succeed."""
        if cancel.is_set():
            return Status.CANCELLED, str(Cancelled(cancel.reason))
        ended = zip(jobs, outcomes, strict=False)
        failed = next((job.step.tool for job, outcome in ended if job.spec.core and not outcome.status.ok), None)
        return None if failed is None else (Status.SKIPPED, f"not tried, because {failed} did not succeed")

    def close(self) -> None:
        """Give the pool back. Safe twice."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    @property
    def held_locks(self) -> tuple[str, ...]:
        return tuple(name for name, lock in self._locks.items() if lock.locked())

    def _job(self, index: int, step: Step, approved: ApprovedPlan, run: Run) -> _Job:
        return _Job(run.first_index + index, index, step, self._tools.spec(step.tool), approved, run)

    async def _one(self, job: _Job, before: tuple[Outcome, ...]) -> Outcome:
        """From the queue to the one terminal status; never raises."""
        started = time.monotonic()
        if not job.run.budget.take():
            return self._ended(job, Status.SKIPPED, f"the budget of {MAX_AGENTS} agents for one request is used up")
        try:
            job = _with_results(job, before)
            async with AsyncExitStack() as held:
                await self._acquire(held, job)
                return await self._attempts(job, started)
        except Cancelled as error:
            return self._ended(job, Status.CANCELLED, str(error), started)
        except AnovaxError as error:
            return self._ended(job, Status.FAILED, str(error), started)

    async def _acquire(self, held: AsyncExitStack, job: _Job) -> None:
        """Take the declared locks in one global order (no deadlock), giving up at once on a cancel."""
        if not self._config.locks:  # ablation only
            return
        for name in sorted(job.spec.locks):
            lock = self._locks.setdefault(name, asyncio.Lock())
            if lock.locked():
                self._bus.publish(StepWaiting(turn=job.run.turn, step=job.number, lock=name))
                await _unless_cancelled(lock.acquire(), job.run.cancel)
            else:
                await lock.acquire()  # free: does not suspend, so nobody comes between
            held.callback(lock.release)

    async def _attempts(self, job: _Job, started: float) -> Outcome:
        """Call the agent, again with backoff while it fails and its tool is idempotent, all within one TTL."""
        deadline = time.monotonic() + job.spec.ttl_s
        for attempt in range(1, job.spec.retries + 2):
            self._bus.publish(StepStarted(turn=job.run.turn, step=job.number, attempt=attempt))
            try:
                done = await self._call(job, deadline)
            except ToolError as error:
                pause = self._config.backoff_s * 2 ** (attempt - 1)
                if attempt > job.spec.retries or time.monotonic() + pause >= deadline:
                    return self._ended(job, Status.FAILED, str(error), started, attempt, cause=error)
                self._bus.publish(StepRetrying(turn=job.run.turn, step=job.number, attempt=attempt, error=str(error)))
                await _unless_cancelled(asyncio.sleep(pause), job.run.cancel)
                continue
            except AnovaxError as error:
                return self._ended(job, _status_of(error), str(error), started, attempt)
            except Exception as error:  # an agent's bug must not end the assistant
                log.exception("agent for %s failed", job.step.tool)
                problem = f"{job.step.tool} failed unexpectedly: {error}"
                return self._ended(job, Status.FAILED, problem, started, attempt)
            job.run.done(job.step, done)
            status = Status.VERIFIED if done.verified else Status.UNVERIFIED
            return self._ended(job, status, "", started, attempt, done)
        raise AssertionError("unreachable: the last attempt returns")

    async def _call(self, job: _Job, deadline: float) -> Done:
        """One call in the pool. On TTL or cancel the thread is abandoned: its context refuses every further effect."""
        agent = self._agents[job.step.tool]
        abandoned = threading.Event()
        context = _context(job, deadline, abandoned)
        call = getattr(agent, job.spec.method)
        future = asyncio.get_running_loop().run_in_executor(self._pool, call, job.step.args, context)
        try:
            left = max(0.0, deadline - time.monotonic())
            done: Done = await _unless_cancelled(future, job.run.cancel, left)
            return done
        except TimeoutError:
            raise TimedOut(job.spec.card(job.step.args), job.spec.ttl_s) from None
        finally:
            abandoned.set()

    def _queued(self, job: _Job) -> None:
        self._bus.publish(
            StepQueued(
                turn=job.run.turn,
                step=job.number,
                agent=job.spec.agent,
                tool=job.step.tool,
                args=job.step.args.model_dump(mode="json", exclude_defaults=True),
                label=job.spec.card(job.step.args),
            )
        )

    def _ended(
        self,
        job: _Job,
        status: Status,
        error: str = "",
        started: float | None = None,
        attempts: int = 0,
        done: Done | None = None,
        cause: ToolError | None = None,
    ) -> Outcome:
        ms = 0.0 if started is None else (time.monotonic() - started) * 1000
        done = done or Done()
        outcome = Outcome(
            tool=job.step.tool,
            status=status,
            evidence=done.evidence,
            error=error,
            attempts=attempts,
            ms=round(ms, 3),
            result=done.result,
            say=done.say,
            candidates=cause.candidates if cause else (),
            ambiguous=isinstance(cause, AmbiguousTarget),
        )
        shown = outcome.model_dump(include={"tool", "evidence", "error", "attempts", "ms"})
        self._bus.publish(
            StepFinished(turn=job.run.turn, step=job.number, status=status.value, secret=done.secret, **shown)
        )
        return outcome


def batches(jobs: list[_Job]) -> Iterator[list[_Job]]:
    """Runs of read-only steps together, every other step alone; a step that uses a result waits for it."""
    batch: list[_Job] = []
    for job in jobs:
        inside = {member.index for member in batch}
        waits = any(number - 1 in inside for number in _references(job.step))
        if batch and (waits or not (job.spec.read_only and batch[-1].spec.read_only)):
            yield batch
            batch = []
        batch.append(job)
    if batch:
        yield batch


def _context(job: _Job, deadline: float, abandoned: threading.Event) -> StepContext:
    return StepContext(
        turn=job.run.turn,
        step=job.number,
        deadline=deadline,
        cancel=job.run.cancel,
        abandoned=abandoned,
        recheck=lambda effect: job.run.recheck(job.approved, job.index, effect),
        target=job.run.target(),
        level=job.run.level,
    )


def _status_of(error: AnovaxError) -> Status:
    by_type = {Cancelled: Status.CANCELLED, TimedOut: Status.TIMED_OUT, EffectRefused: Status.REFUSED}
    return next((status for kind, status in by_type.items() if isinstance(error, kind)), Status.FAILED)


def _references(step: Step) -> set[int]:
    texts = [value for _, value in step.args if isinstance(value, str)]
    return {int(number) for text in texts for number in RESULT_REFERENCE.findall(text)}


def _with_results(job: _Job, before: tuple[Outcome, ...]) -> _Job:
    """The job with "{result:n}" replaced by what step n found. The tool's own argument checks run again."""
    if not _references(job.step):
        return job

    def result_of(number: int) -> str:
        if number > len(before) or not before[number - 1].status.ok:
            raise ToolError(f"Step {number} has no result to use")
        return before[number - 1].result

    def filled(value: object) -> object:
        if not isinstance(value, str):
            return value
        return RESULT_REFERENCE.sub(lambda match: result_of(int(match.group(1))), value)

    raw: dict[str, Any] = {key: filled(value) for key, value in job.step.args.model_dump(exclude_none=True).items()}
    step = Step(tool=job.step.tool, args=job.spec.parse(raw))
    return replace(job, step=step)


async def _unless_cancelled(work: Awaitable[T], cancel: CancelFlag, seconds: float | None = None) -> T:
    """Wait for ``work``; Cancelled as soon as the flag is set, TimeoutError after ``seconds``. Work that has not
    finished by then is cancelled or abandoned. One wait for all three: this is paid for by every step of every plan."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    stopped = loop.create_future()

    def settle() -> None:
        if not stopped.done():
            stopped.set_result(None)

    def stop() -> None:
        loop.call_soon_threadsafe(settle)

    unhook = cancel.on_set(stop)
    try:
        await asyncio.wait({task, stopped}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if cancel.is_set():
            raise Cancelled(cancel.reason)
        raise TimeoutError
    finally:
        unhook()
        stopped.cancel()
        if not task.done():
            task.cancel()
