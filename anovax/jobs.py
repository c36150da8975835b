"""One step on its way through the orchestrator: which run together, what it takes from earlier ones, what it sees."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anovax.errors import ToolError
from anovax.plan import MAX_AGENTS, RESULT_REFERENCE, ApprovedPlan, Outcome, Step
from anovax.tool import CancelFlag, Done, Effect, StepContext, ToolSpec, WindowRef


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
class Job:
    """One step of a plan that runs. ``number`` counts within the turn, ``index`` within the plan."""

    number: int
    index: int
    step: Step
    spec: ToolSpec
    approved: ApprovedPlan
    run: Run

    def context(self, deadline: float, abandoned: threading.Event) -> StepContext:
        """What the agent sees; ``deadline`` in time.monotonic() seconds."""
        return StepContext(
            turn=self.run.turn,
            step=self.number,
            deadline=deadline,
            cancel=self.run.cancel,
            abandoned=abandoned,
            recheck=lambda effect: self.run.recheck(self.approved, self.index, effect),
            target=self.run.target(),
            level=self.run.level,
        )

    def references(self) -> set[int]:
        """Numbers (from 1) of the plan's steps whose results this one uses."""
        texts = [value for _, value in self.step.args if isinstance(value, str)]
        return {int(number) for text in texts for number in RESULT_REFERENCE.findall(text)}

    def with_results(self, before: Sequence[Outcome]) -> Job:
        """The job with "{result:n}" replaced by what step n found. The tool's own argument checks run again."""
        if not self.references():
            return self

        def result_of(number: int) -> str:
            if number > len(before) or not before[number - 1].status.ok:
                raise ToolError(f"Step {number} has no result to use")
            return before[number - 1].result

        def filled(value: object) -> object:
            if not isinstance(value, str):
                return value
            return RESULT_REFERENCE.sub(lambda match: result_of(int(match.group(1))), value)

        raw: dict[str, Any] = {
            key: filled(value) for key, value in self.step.args.model_dump(exclude_none=True).items()
        }
        return replace(self, step=Step(tool=self.step.tool, args=self.spec.parse(raw)))


def batches(jobs: list[Job]) -> Iterator[list[Job]]:
    """Runs of read-only steps together, every other step alone; a step that uses a result waits for it."""
    batch: list[Job] = []
    for job in jobs:
        inside = {member.index for member in batch}
        waits = any(number - 1 in inside for number in job.references())
        if batch and (waits or not (job.spec.read_only and batch[-1].spec.read_only)):
            yield batch
            batch = []
        batch.append(job)
    if batch:
        yield batch
