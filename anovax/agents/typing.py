"""TypingAgent: types text into the focused window, byte for byte, and reads it back where it can."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from pydantic import Field

from anovax.desktop import Desktop
from anovax.errors import FocusLost, ToolError
from anovax.tool import KB_MOUSE, Agent, Done, Risk, StepContext, ToolArgs, Undo, UndoAction, WindowRef, tool


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
        desktop: Desktop = self.parts.desktop
        window = step.target or desktop.focused()
        if window is None:
            raise ToolError("No window has the focus", "click into a window first")
        secret = desktop.secure_field() is True
        before = None if secret else desktop.read_back(window)
        typed = desktop.type_text(args.text, window, step)
        after = None if secret or before is None else desktop.read_back(window)
        undo = UndoAction(f"type {len(args.text)} characters", _erase(desktop, window, len(args.text)), window.id)
        if before is not None and after is not None:
            if not grew(before, after, args.text):
                raise ToolError(f"{window.name} does not show what was typed", "look at the window and ask again")
            return Done(evidence=f"read back from {window.name}", verified=True, undo=undo)
        what = f"{typed.characters} characters sent to {window.name}"
        return Done(evidence=what, undo=None if secret else undo, secret=secret)


def grew(before: str, after: str, typed: str) -> bool:
    """Whether ``typed`` stands in the field now and did not before (or stands there once more)."""
    text = typed.rstrip("\n")
    return after.count(text) > before.count(text) or (bool(text) and after.replace(text, "", 1) == before)


def _erase(desktop: Desktop, window: WindowRef, characters: int) -> Callable[[StepContext], Done]:
    def undo(step: StepContext) -> Done:
        now = desktop.focused()
        if now is None or now.id != window.id:
            raise FocusLost(window.name, now.name if now else "no window")
        for _ in range(characters):
            desktop.press("backspace", step, window)
        return Done(evidence=f"{characters} characters erased in {window.name}")

    return undo
