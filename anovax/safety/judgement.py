"""The three answers of the filter. Only anovax.safety can build them; the orchestrator takes only an ApprovedPlan."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field

from anovax import plan as plans
from anovax.errors import SafetyError
from anovax.plan import Plan, Verdict, World
from anovax.safety.places import Place

# Whoever holds this object may build an ApprovedPlan. It is never handed out; a test reads the code for its name.
_SEAL = object()


def _check(seal: object) -> None:
    if seal is not _SEAL:
        raise SafetyError("Only the safety filter can approve a plan", "call Safety.judge")


@dataclass(frozen=True, eq=False)
class _Judged:
    """``verdict`` is the strictest of ``verdicts`` (one per step) and of the plan as a whole."""

    plan: Plan
    verdict: Verdict
    verdicts: tuple[Verdict, ...]
    world: World
    places: tuple[Place, ...] = field(default=(), repr=False)  # where each step's effects are meant to land
    consented: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class ApprovedPlan(_Judged, plans.ApprovedPlan):
    """A plan that may run. ``consented``: indices of the steps that the user allowed expressly."""

    seal: InitVar[object] = None

    def __post_init__(self, seal: object) -> None:
        _check(seal)


@dataclass(frozen=True, eq=False)
class NeedsConsent(_Judged):
    """A plan that may run when the user says yes to each step of ``waiting``."""

    seal: InitVar[object] = None

    def __post_init__(self, seal: object) -> None:
        _check(seal)

    @property
    def waiting(self) -> tuple[int, ...]:
        """Indices of the steps that still need a yes, in order."""
        asked = (index for index, verdict in enumerate(self.verdicts) if verdict.decision == "ask")
        return tuple(index for index in asked if index not in self.consented)


@dataclass(frozen=True, eq=False)
class Refusal(_Judged):
    """A plan that will not run; ``verdict`` says which rule and why."""
