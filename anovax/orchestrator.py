"""Runs an approved plan with typed agents on a bounded pool: locks, TTL, retries, cancellation, one status per step.

Runs of read-only steps go in parallel; everything else keeps its order. A Python thread cannot be killed: after the TTL
the step is abandoned (StepContext.guard raises from then on, so it cannot touch the desktop) and its result dropped.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from anovax.bus import Bus
from anovax.calls import in_pool, unless_cancelled
from anovax.config import OrchestratorConfig
from anovax.errors import AnovaxError, Cancelled, EffectRefused, TimedOut, ToolError, UserMustDecide
from anovax.events import StepFinished, StepQueued, StepRetrying, StepStarted, StepWaiting
from anovax.jobs import Budget, Job, Run, batches
from anovax.plan import MAX_AGENTS, ApprovedPlan, Outcome, Status, Step
from anovax.tool import Agent, CancelFlag, Done, Toolbox

__all__ = ["Budget", "Orchestrator", "Run"]

log = logging.getLogger(__name__)


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
                outcomes.append(await self._one(batch[0], outcomes))
            else:
                outcomes += await asyncio.gather(*(self._one(job, outcomes) for job in batch))
        return tuple(outcomes)

    @staticmethod
    def _blocked(jobs: list[Job], outcomes: list[Outcome], cancel: CancelFlag) -> tuple[Status, str] | None:
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

    def _job(self, index: int, step: Step, approved: ApprovedPlan, run: Run) -> Job:
        return Job(run.first_index + index, index, step, self._tools.spec(step.tool), approved, run)

    async def _one(self, job: Job, before: Sequence[Outcome]) -> Outcome:
        """From the queue to the one terminal status; never raises."""
        started = time.monotonic()
        if not job.run.budget.take():
            return self._ended(job, Status.SKIPPED, f"the budget of {MAX_AGENTS} agents for one request is used up")
        held: list[asyncio.Lock] = []
        try:
            job = job.with_results(before)
            await self._acquire(held, job)
            return await self._attempts(job, started)
        except Cancelled as error:
            return self._ended(job, Status.CANCELLED, str(error), started)
        except AnovaxError as error:
            return self._ended(job, Status.FAILED, str(error), started)
        finally:
            for lock in held:
                lock.release()

    async def _acquire(self, held: list[asyncio.Lock], job: Job) -> None:
        """Take the declared locks in one global order (no deadlock), giving up at once on a cancel."""
        if not self._config.locks:  # ablation only
            return
        for name in sorted(job.spec.locks):
            lock = self._locks.setdefault(name, asyncio.Lock())
            if lock.locked():
                self._bus.publish(StepWaiting(turn=job.run.turn, step=job.number, lock=name))
                await unless_cancelled(lock.acquire(), job.run.cancel)
            else:
                await lock.acquire()  # free: does not suspend, so nobody comes between
            held.append(lock)

    async def _attempts(self, job: Job, started: float) -> Outcome:
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
                await unless_cancelled(asyncio.sleep(pause), job.run.cancel)
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

    async def _call(self, job: Job, deadline: float) -> Done:
        """One call in the pool. On TTL or cancel the thread is abandoned: its context refuses every further effect."""
        abandoned = threading.Event()
        context = job.context(deadline, abandoned)
        method = getattr(self._agents[job.step.tool], job.spec.method)
        left = max(0.0, deadline - time.monotonic())
        try:
            done: Done = await in_pool(self._pool, partial(method, job.step.args, context), job.run.cancel, left)
            return done
        except TimeoutError:
            raise TimedOut(job.spec.card(job.step.args), job.spec.ttl_s) from None
        finally:
            abandoned.set()

    def _queued(self, job: Job) -> None:
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
        job: Job,
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
            ambiguous=isinstance(cause, UserMustDecide),
            remedy=tuple(map(dict, cause.remedy)) if cause else (),
        )
        self._bus.publish(
            StepFinished(
                turn=job.run.turn,
                step=job.number,
                tool=outcome.tool,
                status=status.value,
                evidence=outcome.evidence,
                error=error,
                attempts=attempts,
                ms=outcome.ms,
                secret=done.secret,
            )
        )
        return outcome


def _status_of(error: AnovaxError) -> Status:
    by_type = {Cancelled: Status.CANCELLED, TimedOut: Status.TIMED_OUT, EffectRefused: Status.REFUSED}
    return next((status for kind, status in by_type.items() if isinstance(error, kind)), Status.FAILED)
