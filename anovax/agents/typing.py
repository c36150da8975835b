"""TypingAgent: types text into the focused window, byte for byte, and reads it back where it can."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from anovax.tool import KB_MOUSE, Agent, Done, Risk, StepContext, ToolArgs, Undo, tool


class TypeTextArgs(ToolArgs):
    text: str = Field(description="exactly what to type", min_length=1, max_length=10_000)


class TypingAgent(Agent):
    ttl_s: ClassVar[float] = 60.0
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset({KB_MOUSE})

    @tool(
        risk=Risk.INPUT,
        description="type text into the focused window",
        label="Type “{text}”",
        undo=Undo.REVERSIBLE,
        args=TypeTextArgs,
    )
    def type_text(self, args: TypeTextArgs, step: StepContext) -> Done:
        raise NotImplementedError
