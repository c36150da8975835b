"""A planner whose first plan the benchmark gives; everything else is asked of a real one."""

from __future__ import annotations

from anovax.plan import Failure, Plan, Planned, PlanRequest
from anovax.planner.protocol import Planner
from anovax.tool import CancelFlag


class Given:
    """``first`` answers the next request, as a model might have planned it; after that, and where there is none,
    ``planner`` does. Whoever built ``planner`` closes it, so that many assistants can share one that is loaded."""

    def __init__(self, planner: Planner, first: Plan | None = None) -> None:
        self._planner, self.first, self.name = planner, first, planner.name

    async def plan(self, request: PlanRequest, cancel: CancelFlag) -> Planned:
        first, self.first = self.first, None
        return Planned(plan=first, backend="given") if first else await self._planner.plan(request, cancel)

    async def think(self, failure: Failure, cancel: CancelFlag) -> Planned:
        return await self._planner.think(failure, cancel)

    async def ready(self) -> None:
        await self._planner.ready()

    def close(self) -> None:
        """The one who built the planner closes it."""
