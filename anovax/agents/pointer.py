"""PointerAgent: clicks at coordinates or at named text, and scrolls."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from anovax.tool import KB_MOUSE, Agent, Done, Risk, StepContext, ToolArgs, Undo, tool


class ClickArgs(ToolArgs):
    target: str = Field("", description="visible text or name of what to click", max_length=200)
    x: int | None = Field(None, ge=-100_000, le=100_000, description="screen x in logical pixels")
    y: int | None = Field(None, ge=-100_000, le=100_000, description="screen y in logical pixels")
    button: Literal["left", "right", "middle"] = Field("left", description="mouse button")
    count: int = Field(1, ge=1, le=3, description="2 for a double click")

    @model_validator(mode="after")
    def _has_a_place(self) -> ClickArgs:
        if not self.target and (self.x is None or self.y is None):
            raise ValueError("needs a target, or x and y")
        return self


class ScrollArgs(ToolArgs):
    direction: Literal["up", "down", "left", "right", "top", "bottom"] = Field("down", description="where to")
    amount: int = Field(3, ge=1, le=50, description="wheel notches")


class PointerAgent(Agent):
    ttl_s: ClassVar[float] = 12.0
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset({KB_MOUSE})

    @tool(
        risk=Risk.INPUT,
        description="click something on the screen by its visible text, or at x, y",
        label="Click {target} {x} {y}",
        undo=Undo.IRREVERSIBLE,
        args=ClickArgs,
    )
    def click(self, args: ClickArgs, step: StepContext) -> Done:
        raise NotImplementedError

    @tool(risk=Risk.INPUT, description="scroll the focused window", label="Scroll {direction}", undo=Undo.IRREVERSIBLE, args=ScrollArgs, core=False)
    def scroll(self, args: ScrollArgs, step: StepContext) -> Done:
        raise NotImplementedError
