"""WindowAgent: focuses and closes windows by spoken name."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from anovax.tool import KB_MOUSE, Agent, Done, Risk, StepContext, ToolArgs, Undo, tool


class FocusWindowArgs(ToolArgs):
    name: str = Field(description='window or application; "the other one", "the last one" work too', min_length=1, max_length=200)


class CloseWindowArgs(ToolArgs):
    name: str = Field("", description="window or application; empty for the focused window", max_length=200)


class WindowAgent(Agent):
    ttl_s: ClassVar[float] = 8.0
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset({KB_MOUSE})

    @tool(
        risk=Risk.OPEN,
        description="bring an open window to the front",
        label="Focus {name}",
        undo=Undo.REVERSIBLE,
        args=FocusWindowArgs,
        retries=1,
    )
    def focus_window(self, args: FocusWindowArgs, step: StepContext) -> Done:
        raise NotImplementedError

    @tool(
        risk=Risk.INPUT,
        description="close a window",
        label="Close {name}",
        undo=Undo.IRREVERSIBLE,
        args=CloseWindowArgs,
    )
    def close_window(self, args: CloseWindowArgs, step: StepContext) -> Done:
        raise NotImplementedError
