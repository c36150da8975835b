"""HotkeyAgent: presses keys and chords."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from anovax.desktop import Desktop
from anovax.tool import KB_MOUSE, Agent, Done, Risk, StepContext, ToolArgs, Undo, tool


class PressKeysArgs(ToolArgs):
    keys: str = Field(
        description="chord such as ctrl+shift+t, enter, volumeup; several chords separated by spaces",
        min_length=1,
        max_length=200,
    )
    times: int = Field(1, ge=1, le=50, description="how often")


class HotkeyAgent(Agent):
    ttl_s: ClassVar[float] = 8.0
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset({KB_MOUSE})

    @tool(
        risk=Risk.INPUT,
        description="press a key or chord; also media, volume, tab and window keys",
        label="Press {keys}",
        undo=Undo.IRREVERSIBLE,
        args=PressKeysArgs,
    )
    def press_keys(self, args: PressKeysArgs, step: StepContext) -> Done:
        desktop: Desktop = self.parts.desktop
        chords = desktop.chords(args.keys) * args.times  # unknown keys are an error before anything is pressed
        window = step.target or desktop.focused()
        desktop.press(chords, step, window)
        where = f" in {window.name}" if window else ""
        return Done(evidence=f"pressed {' '.join(map(str, chords[:8]))}{where}")
