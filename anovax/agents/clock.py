"""ClockAgent: time, date and weekday, here or in another zone, in words."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from anovax.tool import Agent, Done, Risk, StepContext, ToolArgs, Undo, tool


class GetTimeArgs(ToolArgs):
    what: Literal["time", "date", "weekday"] = Field("time", description="what is asked for")
    place: str = Field("", description="city or zone when it is not here", max_length=100)


class ClockAgent(Agent):
    ttl_s: ClassVar[float] = 2.0
    retries: ClassVar[int] = 1
    locks: ClassVar[frozenset[str]] = frozenset()

    @tool(risk=Risk.READ, description="tell the time, date or weekday", label="Tell the {what} {place}", undo=Undo.NOTHING_TO_UNDO, args=GetTimeArgs)
    def get_time(self, args: GetTimeArgs, step: StepContext) -> Done:
        raise NotImplementedError
