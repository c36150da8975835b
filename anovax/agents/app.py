"""AppAgent: starts applications, or brings them to the front when they are already open."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from anovax.tool import KB_MOUSE, Agent, Done, Risk, StepContext, ToolArgs, Undo, tool


class OpenAppArgs(ToolArgs):
    name: str = Field(description="the application as the user named it", min_length=1, max_length=200)
    new: bool = Field(False, description="true for another window of an open application")


class AppAgent(Agent):
    ttl_s: ClassVar[float] = 20.0
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset({KB_MOUSE})

    @tool(
        risk=Risk.OPEN,
        description="open an application, or bring it to the front",
        label="Open {name}",
        undo=Undo.REVERSIBLE,
        args=OpenAppArgs,
    )
    def open_app(self, args: OpenAppArgs, step: StepContext) -> Done:
        raise NotImplementedError
