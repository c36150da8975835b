"""ScreenAgent: screenshots, and reading what the screen says."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from anovax.tool import Agent, Done, NoArgs, Risk, StepContext, ToolArgs, Undo, tool


class ReadScreenArgs(ToolArgs):
    query: str = Field("", description="what the user wants to know; empty for all", max_length=300)


class ScreenAgent(Agent):
    ttl_s: ClassVar[float] = 10.0
    retries: ClassVar[int] = 1
    locks: ClassVar[frozenset[str]] = frozenset()

    @tool(risk=Risk.READ, description="save a picture of the screen", label="Take a screenshot", undo=Undo.NOTHING_TO_UNDO, args=NoArgs, looks=True)
    def screenshot(self, args: NoArgs, step: StepContext) -> Done:
        raise NotImplementedError

    @tool(
        risk=Risk.READ,
        description="read what the screen says",
        label="Read the screen {query}",
        undo=Undo.NOTHING_TO_UNDO,
        args=ReadScreenArgs,
        looks=True,
    )
    def read_screen(self, args: ReadScreenArgs, step: StepContext) -> Done:
        raise NotImplementedError
