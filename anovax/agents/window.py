"""WindowAgent: focuses and closes windows by spoken name."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from anovax.desktop import Desktop
from anovax.desktop.window_names import choose_window
from anovax.desktop.windows_of import belongs
from anovax.errors import ToolError, UserMustDecide
from anovax.tool import KB_MOUSE, Agent, Done, Risk, StepContext, ToolArgs, Undo, UndoAction, WindowRef, tool

_CLOSE_S = 4.0


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
        now = desktop.activate(self._choose(args.name, most_recent=True), step)
        undo = None
        if before is not None and before.id != now.id:
            undo = UndoAction(
                label=f"go back to {before.name}", run=lambda step: self._back(before, step), window=now.id
            )
        return Done(evidence=f"{now.name!r} has the focus", verified=True, result=now.name, undo=undo)

    @tool(
        risk=Risk.INPUT,
        description="close a window",
        label="Close {name}",
        undo=Undo.IRREVERSIBLE,
        args=CloseWindowArgs,
    )
    def close_window(self, args: CloseWindowArgs, step: StepContext) -> Done:
        desktop: Desktop = self.parts.desktop
        window = self._choose(args.name, most_recent=False)
        before = {other.id for other in desktop.windows()}
        desktop.close_window(window, step)
        waited = 0.0
        while waited < min(_CLOSE_S, step.remaining - 0.5):
            if not desktop.exists(window):
                return Done(
                    evidence=f"{window.name!r} is gone from the list of windows", verified=True, result=window.name
                )
            if dialog := self._question(window, before):
                raise UserMustDecide(
                    f"{window.name} is not closed: it asks {dialog.name!r}",
                    "answer the question on the screen",
                    f"{window.name} asks a question before it closes.",
                )
            step.sleep(0.05)
            waited += 0.05
        raise ToolError(f"{window.name} did not close within {waited:.0f} s", "it may be busy; look at the screen")

    def _choose(self, name: str, most_recent: bool) -> WindowRef:
        desktop: Desktop = self.parts.desktop
        app = desktop.applications.resolve(name).app if name.strip() else None
        try:
            return choose_window(
                name,
                desktop.windows(),
                desktop.focused(),
                lambda window: app is not None and belongs(window, app),
                most_recent,
            )
        except UserMustDecide:
            raise
        except ToolError as error:
            if not most_recent:  # it is to be closed: nothing that was not named
                raise UserMustDecide(error.problem, error.fix, error.spoken, error.candidates) from None
            if app is not None:
                error.remedy = ({"tool": "open_app", "name": name},)
            raise

    def _question(self, window: WindowRef, before: set[int]) -> WindowRef | None:
        """A dialog that the closing has raised: one that belongs to the window, or a new one of its process."""
        desktop: Desktop = self.parts.desktop
        if dialog := desktop.dialog_of(window):
            return dialog
        return next((w for w in desktop.windows() if w.id not in before and w.pid and w.pid == window.pid), None)

    def _back(self, window: WindowRef, step: StepContext) -> Done:
        now = self.parts.desktop.activate(window, step)
        return Done(evidence=f"{now.name!r} has the focus again", verified=True)
