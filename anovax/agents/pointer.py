"""PointerAgent: clicks at coordinates or at named text, and scrolls."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from anovax.desktop import Desktop
from anovax.desktop.targets import find_target
from anovax.tool import KB_MOUSE, Agent, Done, Risk, StepContext, ToolArgs, Undo, tool

SETTLE_S = 0.3


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
        desktop: Desktop = self.parts.desktop
        if args.target:
            x, y = find_target(args.target, desktop.ocr.read(desktop.screenshot()))
            what = args.target
        else:
            assert args.x is not None
            assert args.y is not None
            x, y, what = args.x, args.y, ""
        before = desktop.screenshot()
        desktop.click(x, y, args.button, args.count, step, what)
        step.sleep(SETTLE_S)
        changed = bool((desktop.screenshot() != before).any())
        where = f"{args.target or 'the place'} at {x}, {y}"
        return Done(evidence=f"clicked {where}{', and the screen changed' if changed else ''}", verified=changed)

    @tool(
        risk=Risk.INPUT,
        description="scroll the focused window",
        label="Scroll {direction}",
        undo=Undo.IRREVERSIBLE,
        args=ScrollArgs,
        core=False,
    )
    def scroll(self, args: ScrollArgs, step: StepContext) -> Done:
        desktop: Desktop = self.parts.desktop
        before = desktop.screenshot()
        if args.direction in ("top", "bottom"):
            desktop.press("ctrl+home" if args.direction == "top" else "ctrl+end", step, desktop.focused())
        else:
            desktop.scroll(args.direction, args.amount, step)
        step.sleep(SETTLE_S)
        moved = bool((desktop.screenshot() != before).any())
        return Done(evidence="the screen moved" if moved else "nothing moved", verified=moved)
