"""Planning and judging without doing: what ``anovax plan``, replay and dry runs need."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from anovax.plan import Context, Planned, PlanRequest, Verdict, World
from anovax.planner.protocol import Planner
from anovax.safety import Safety
from anovax.tool import CancelFlag, Toolbox


class Planning:
    """A planner and the filter behind it. Executes nothing."""

    def __init__(self, tools: Toolbox, planner: Planner, safety: Safety) -> None:
        self.tools = tools
        self.planner = planner
        self.safety = safety

    async def judged(self, text: str, context: Context | None = None) -> tuple[Planned, Verdict, dict[str, float]]:
        """The plan for ``text``, its verdict, and milliseconds for both."""
        started = time.perf_counter()
        planned = await self.planner.plan(PlanRequest(text=text, context=context or Context()), CancelFlag())
        planned_at = time.perf_counter()
        verdict = self.safety.judge(planned.plan, World(heard=text)).verdict
        ms = {"plan": (planned_at - started) * 1000, "safety": (time.perf_counter() - planned_at) * 1000}
        return planned, verdict, {key: round(value, 3) for key, value in ms.items()}

    async def plan(self, text: str, shown: str = "") -> dict[str, Any]:
        """The shape of the command line's contract; ``shown`` is the request as given, when ``text`` was cut."""
        planned, verdict, ms = await self.judged(text)
        tokens = {"sampled": planned.sampled_tokens, "forced": planned.forced_tokens}
        return {
            "text": shown or text,
            "plan": planned.plan.to_json(),
            "verdict": verdict.to_json(),
            "backend": planned.backend,
            "ms": ms,
            "tokens": tokens,
            "truncated": planned.truncated,
        }


async def told_while(
    ready: Callable[[], Awaitable[None]], tell: Callable[[float], None], after_s: float = 20.0, every_s: float = 20.0
) -> None:
    """Wait for ``ready``, which may be asked again; ``tell`` hears the seconds so far, after ``after_s`` and then
    every ``every_s``. Raises what ``ready`` raises."""
    started, wait_s = time.monotonic(), after_s
    while True:
        try:
            async with asyncio.timeout(wait_s):
                return await ready()
        except TimeoutError:
            tell(time.monotonic() - started)
            wait_s = every_s
