"""WindowAgent: focuses and closes windows by spoken name."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from anovax.desktop import Desktop
from anovax.desktop.windows_by_name import choose
from anovax.errors import ToolError
from anovax.tool import KB_MOUSE, Agent, Done, Risk, StepContext, ToolArgs, Undo, UndoAction, WindowRef, tool

POLL_S, RESERVE_S = 0.05, 1.0


class FocusWindowArgs(ToolArgs):
    name: str = Field(
        description='window or application; "the other one", "the last one" work too', min_length=1, max_length=200
    )


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
        desktop: Desktop = self.parts.desktop
        before = desktop.focused()
        window = choose(args.name, desktop.windows(), before)
        now = desktop.activate(window, step)
        undo = _back_to(desktop, before) if before is not None and before.id != now.id else None
        return Done(evidence=f"{now.name} has the focus", verified=True, result=now.name, undo=undo)

    @tool(
        risk=Risk.INPUT,
        description="close a window",
        label="Close {name}",
        undo=Undo.IRREVERSIBLE,
        args=CloseWindowArgs,
    )
    def close_window(self, args: CloseWindowArgs, step: StepContext) -> Done:
        desktop: Desktop = self.parts.desktop
        focus = desktop.focused()
        window = choose(args.name, desktop.windows(), focus) if args.name else focus
        if window is None:
            raise ToolError("No window has the focus", "say which window to close")
        desktop.close_window(window, step)
        while desktop.exists(window):
            dialog = desktop.dialog_of(window)
            if dialog is not None:
                raise ToolError(f"{window.name} asks first: {dialog.name}", "answer the dialog yourself")
            if step.remaining < RESERVE_S:
                raise ToolError(f"{window.name} did not close", "look whether it waits for something")
            step.sleep(POLL_S)
        return Done(evidence=f"{window.name} is gone", verified=True)


def _back_to(desktop: Desktop, window: WindowRef) -> UndoAction:
    def undo(step: StepContext) -> Done:
        now = desktop.activate(window, step)
        return Done(evidence=f"{now.name} has the focus again", verified=True)

    return UndoAction(f"focus away from {window.name}", undo)
