"""Two planners in a row: the rules first, the model for what they cannot read with certainty."""

from __future__ import annotations

import time

from anovax.plan import Failure, Planned, PlanRequest
from anovax.planner.fastpath import FastPath
from anovax.planner.protocol import Planner
from anovax.tool import CancelFlag


class FirstOf:
    """``fast`` where it reads the request, else ``slow``. Goes by the slow one's name: that is what is configured."""

    def __init__(self, fast: FastPath, slow: Planner) -> None:
        self._fast = fast
        self._slow = slow
        self.name = slow.name

    async def plan(self, request: PlanRequest, cancel: CancelFlag) -> Planned:
        """``Planned.backend`` tells which of the two answered."""
        cancel.check()
        start = time.perf_counter()
        plan = self._fast.read(request.text, request.context)
        if plan is None:
            return await self._slow.plan(request, cancel)
        return Planned(plan=plan, backend=self._fast.name, ms=(time.perf_counter() - start) * 1000)

    async def think(self, failure: Failure, cancel: CancelFlag) -> Planned:
        """Repairing needs the model."""
        return await self._slow.think(failure, cancel)

    async def ready(self) -> None:
        """When the slow one is; rules need no loading."""
        await self._slow.ready()

    def close(self) -> None:
        """Close both. Safe twice."""
        self._fast.close()
        self._slow.close()
