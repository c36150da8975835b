"""What every planner backend is: plan a request, think again after a failure, give back what it holds."""

from __future__ import annotations

from typing import Protocol

from anovax.plan import Failure, Planned, PlanRequest
from anovax.tool import CancelFlag


class Planner(Protocol):
    """Turns a request into a Plan. ``name`` is the backend's name in the configuration and in ``Planned.backend``."""

    name: str

    async def plan(self, request: PlanRequest, cancel: CancelFlag) -> Planned:
        """A plan for ``request``. Raises Cancelled when ``cancel`` is set, PlannerError when no plan can be made."""
        ...

    async def think(self, failure: Failure, cancel: CancelFlag) -> Planned:
        """The next steps after a failed core step, or no steps and a ``say`` when nothing is left to try.

        Raises as ``plan`` does.
        """
        ...

    async def ready(self) -> None:
        """Wait until the first plan costs no loading. Raises PlannerError or WeightsError when it never will."""
        ...

    def close(self) -> None:
        """Give back model, threads and connections. Safe twice."""
        ...
