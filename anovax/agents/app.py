"""AppAgent: starts applications, or brings them to the front when they are already open."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from pydantic import Field

from anovax.desktop import Desktop
from anovax.desktop.application import Application, Resolution
from anovax.desktop.launch import Started, shown
from anovax.desktop.web import own_flags, site
from anovax.desktop.windows_of import belongs, is_from
from anovax.errors import AmbiguousTarget, FocusLost, ToolError
from anovax.tool import (
    KB_MOUSE,
    Agent,
    Done,
    Effect,
    Risk,
    StepContext,
    ToolArgs,
    Undo,
    UndoAction,
    WindowRef,
    tool,
)

_RESERVE_S = 1.0  # kept of the TTL, so that "no window appeared" is told by us and not by the clock
_SLICE_S = 0.1  # after which a start that failed is noticed
_TAKES_FOCUS_S = 1.5  # how long a new window may take to get the focus by itself
_CLOSES_S = 3.0


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
        desktop: Desktop = self.parts.desktop
        app = chosen(desktop.applications.resolve(args.name), args.name)
        before = desktop.windows()
        open_already = [window for window in before if belongs(window, app)]
        if open_already and not args.new:
            return self._focus(app, open_already[0], step)
        flags = own_flags(app)
        command = desktop.launch.command(app, flags) or ("D-Bus", app.id)
        step.guard(Effect(kind="launch", payload=shown(command)))
        started = desktop.launch.start(app, flags)
        window = self._new_window(app, before, started, step)
        return self._in_front(app, window, started, step)

    def _focus(self, app: Application, window: WindowRef, step: StepContext) -> Done:
        now = self.parts.desktop.activate(window, step)
        return Done(evidence=f"it was open already; {now.name!r} has the focus", verified=True, result=app.name)

    def _new_window(
        self, app: Application, before: tuple[WindowRef, ...], started: Started, step: StepContext
    ) -> WindowRef:
        """The window that the start brought. ToolError says why there is none."""
        fits = _fits(app, started, {window.id for window in before})
        desktop: Desktop = self.parts.desktop
        while (window := desktop.wait_for_window(fits, _SLICE_S, step)) is None:
            if started.exit_code:
                why = f"{app.name} ended at once with code {started.exit_code}"
                raise ToolError(why, "start it in a terminal to see why")
            if step.remaining < _RESERVE_S:
                why = f"{app.name} was started by {started.how}, but no window of it appeared"
                raise ToolError(why, "look at the screen, or ask again")
        return window

    def _in_front(self, app: Application, window: WindowRef, started: Started, step: StepContext) -> Done:
        """The window is there; see that it also has the focus, so that what is typed next goes to it."""
        desktop: Desktop = self.parts.desktop
        undo = UndoAction(f"Close {app.name}", lambda context: close(desktop, window, app.name, context))
        if not _has_focus(desktop, window, app, step):
            try:
                window = desktop.activate(window, step)
            except FocusLost as lost:
                raise ToolError(
                    f"{app.name} is open, but {lost.thief} has the focus", f"say: focus {app.name}"
                ) from None
        current = next((w for w in desktop.windows() if w.id == window.id), window)
        evidence = f"a new window {current.name!r} of {current.app or app.name} has the focus"
        return Done(evidence=evidence, verified=True, result=app.name, undo=undo)


def _has_focus(desktop: Desktop, window: WindowRef, app: Application, step: StepContext) -> bool:
    """Whether the new window (or a dialog of the application) gets the focus by itself soon."""

    def focused(_: WindowRef) -> bool:
        now = desktop.focused()
        return now is not None and (now.id == window.id or belongs(now, app))

    return desktop.wait_for_window(focused, min(_TAKES_FOCUS_S, step.remaining), step) is not None


def _fits(app: Application, started: Started, old: set[int]) -> Callable[[WindowRef], bool]:
    def fits(window: WindowRef) -> bool:
        return window.id not in old and (is_from(window.pid, started.pid) or belongs(window, app))

    return fits


def chosen(found: Resolution, said: str) -> Application:
    """The application that was meant. AmbiguousTarget names what fits alike; ToolError what is nearest."""
    if found.app is not None:
        return found.app
    if found.kind == "ambiguous":
        names = " or ".join(dict.fromkeys(found.names))
        raise AmbiguousTarget(f"{said!r} could be {names}", "say which", f"Do you mean {names}?", found.names)
    if address := site(said):
        raise ToolError(
            f"No application called {said!r} is installed",
            f"it is a website: open_url {address}",
            f"{said} is not installed. It is a website.",
            found.names,
        )
    near = f"the nearest are {', '.join(found.names)}" if found.names else "nothing installed is called so"
    raise ToolError(
        f"No application called {said!r} is installed", near, f"I found no application called {said}.", found.names
    )


def close(desktop: Desktop, window: WindowRef, name: str, step: StepContext) -> Done:
    """Take an opening back: close its window, and see it gone."""
    if not desktop.exists(window):
        return Done(evidence=f"{name} was closed already", verified=True)
    desktop.close_window(window, step)
    end = min(_CLOSES_S, step.remaining)
    waited = 0.0
    while waited < end and desktop.exists(window):
        step.sleep(0.05)
        waited += 0.05
    if not desktop.exists(window):
        return Done(evidence=f"the window of {name} is gone", verified=True)
    dialog = desktop.dialog_of(window)
    raise ToolError(f"{name} asks {dialog.name!r}" if dialog else f"{name} did not close", "answer it on the screen")
