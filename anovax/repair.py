"""What a failed step is, and how its repair may end. Frozen."""

from __future__ import annotations

from typing import Literal

from anovax.plan import Frozen, Outcome, Plan, Status, Step
from anovax.tool import Toolbox


class Refused(Frozen):
    """Safety (or the user, when asked) said no to a batch."""

    reason: str


class RecoveryTurn(Frozen):
    """One trip around the loop: what was proposed and how it ended."""

    plan: Plan
    outcomes: tuple[Outcome, ...] = ()
    note: str = ""


class Repair(Frozen):
    """How recovery ended. ``outcomes`` are those that count for the reply: the repair and the rest of the plan."""

    result: Literal["repaired", "asked", "failed", "cancelled"]
    say: str = ""
    steps: tuple[Step, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    turns: tuple[RecoveryTurn, ...] = ()


def failed_core(steps: tuple[Step, ...], outcomes: tuple[Outcome, ...], tools: Toolbox) -> int | None:
    """Index of the first core step that failed or timed out: what recovery may repair. A refusal or a stop is never
    repaired, and skipped steps are consequences, not causes."""
    for index, (step, outcome) in enumerate(zip(steps, outcomes, strict=True)):
        if tools.spec(step.tool).core and is_lost(outcome):
            return index
    return None


def is_lost(outcome: Outcome) -> bool:
    return outcome.status in (Status.FAILED, Status.TIMED_OUT)
