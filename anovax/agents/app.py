"""AppAgent: starts applications, or brings them to the front when they are already open."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field

from anovax.desktop import Desktop
from anovax.desktop.application import Application, Resolution
from anovax.desktop.launch import Started, shown
from anovax.desktop.web import own_flags, site
from anovax.desktop.windows_of import belongs, is_from
from anovax.errors import AmbiguousTarget, FocusLost, ToolError, UserMustDecide
from anovax.tool import (
    KB_MOUSE,
    Agent,
    AgentParts,
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
_SOUNDS_ALIKE = 65.0  # score (of 100) of a name
_PATIENCE_S = 60.0  # how long a start may still be waited for


class OpenAppArgs(ToolArgs):
    name: str = Field(description="the application as the user named it", min_length=1, max_length=200)
    new: bool = Field(False, description="true for another window of an open application")


@dataclass(frozen=True)
class _Begun:
    """A start whose window has not come yet; ``old`` are the windows of before. One that is slow is waited for when it
    is asked for again, not started a second time."""

    started: Started
    old: frozenset[int]
    at: float

    @property
    def over(self) -> bool:
        return self.started.exit_code is not None or time.monotonic() - self.at > _PATIENCE_S


class AppAgent(Agent):
    ttl_s: ClassVar[float] = 20.0
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset({KB_MOUSE})

    def __init__(self, parts: AgentParts) -> None:
        super().__init__(parts)
        self._begun: dict[str, _Begun] = {}  # the last start that has not shown a window, by the application's id

    @tool(
        risk=Risk.OPEN,
        description="open an application, or bring it to the front",
        label="Open {name}",
        undo=Undo.REVERSIBLE,
        args=OpenAppArgs,
    )
    def open_app(self, args: OpenAppArgs, step: StepContext) -> Done:
        desktop: Desktop = self.parts.desktop
        app = chosen(desktop.applications.resolve(args.name), args.name, desktop.applications.kinds)
        before = desktop.windows()
        open_already = [window for window in before if belongs(window, app)]
        if open_already and not args.new:
            return self._focus(app, open_already[0], step)
        begun = None if args.new else self._begun.pop(app.id, None)
        if begun is None or begun.over:
            begun = self._start(app, before, step)
        self._begun = {app.id: begun} if begun.started.exit_code is None else {}
        window = self._new_window(app, begun, step)
        self._begun.pop(app.id, None)
        return self._in_front(app, window, step)

    def _start(self, app: Application, before: tuple[WindowRef, ...], step: StepContext) -> _Begun:
        desktop: Desktop = self.parts.desktop
        flags = own_flags(app)
        command = desktop.launch.command(app, flags) or ("D-Bus", app.id)
        step.guard(Effect(kind="launch", payload=shown(command)))
        return _Begun(desktop.launch.start(app, flags), frozenset(window.id for window in before), time.monotonic())

    def _focus(self, app: Application, window: WindowRef, step: StepContext) -> Done:
        now = self.parts.desktop.activate(window, step)
        return Done(evidence=f"it was open already; {now.name!r} has the focus", verified=True, result=app.name)

    def _new_window(self, app: Application, begun: _Begun, step: StepContext) -> WindowRef:
        """The window that the start brought. ToolError says why there is none."""
        started, fits = begun.started, _fits(app, begun)
        desktop: Desktop = self.parts.desktop
        while (window := desktop.wait_for_window(fits, _SLICE_S, step)) is None:
            if started.exit_code:
                why = f"{app.name} ended at once with code {started.exit_code}"
                raise ToolError(why, "start it in a terminal to see why")
            if step.remaining < _RESERVE_S:
                why = f"{app.name} was started by {started.how}, but no window of it appeared"
                again = ({"tool": "open_app", "name": app.name},) if started.exit_code is None else ()
                raise ToolError(why, "look at the screen, or ask again", remedy=again)
        return window

    def _in_front(self, app: Application, window: WindowRef, step: StepContext) -> Done:
        """The window is there; see that it also has the focus, so that what is typed next goes to it."""
        desktop: Desktop = self.parts.desktop
        focused = _has_focus(desktop, window, app, step)
        if focused is None:
            try:
                focused = desktop.activate(window, step)
            except FocusLost as lost:
                raise ToolError(
                    f"{app.name} is open, but {lost.thief} has the focus", f"say: focus {app.name}"
                ) from None
        if desktop.is_modal(focused):  # what is typed next would answer it
            raise UserMustDecide(f"{app.name} asks something first, in {focused.name!r}", "answer it on the screen")
        opened = window if desktop.exists(window) else focused  # a first window may give way to another one
        undo = UndoAction(f"Close {app.name}", lambda context: close(desktop, opened, app.name, context))
        evidence = f"a new window {focused.name!r} of {focused.app or app.name} has the focus"
        return Done(evidence=evidence, verified=True, result=app.name, undo=undo)


def _has_focus(desktop: Desktop, window: WindowRef, app: Application, step: StepContext) -> WindowRef | None:
    """The new window (or a dialog of the application, or what its first window gave way to) once it has the focus by
    itself; None when it does not get it soon."""
    end = time.monotonic() + min(_TAKES_FOCUS_S, step.remaining)
    while True:
        now = desktop.focused()
        if now is not None and (now.id == window.id or belongs(now, app)):
            return now
        if time.monotonic() >= end:
            return None
        step.sleep(_SLICE_S / 5)


def _fits(app: Application, begun: _Begun) -> Callable[[WindowRef], bool]:
    def fits(window: WindowRef) -> bool:
        return window.id not in begun.old and (is_from(window.pid, begun.started.pid) or belongs(window, app))

    return fits


def chosen(found: Resolution, said: str, kinds: Callable[[], tuple[str, ...]] = lambda: ()) -> Application:
    """The application that was meant. AmbiguousTarget names what fits alike; ToolError what is nearest, or, where
    nothing is, the kinds of applications that there are."""
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
            ({"tool": "open_url", "url": address},),
        )
    if (akin := found.akin) is not None:
        raise ToolError(
            f"No application called {said!r} is installed",
            f"{akin.name} is of its kind",
            f"I found no application called {said}; {akin.name} is of its kind.",
            (akin.name,),
            ({"tool": "open_app", "name": akin.name},),
        )
    near = f"the nearest are {', '.join(found.names)}" if found.names else "nothing installed is called so"
    raise ToolError(
        f"No application called {said!r} is installed",
        near,
        f"I found no application called {said}.",
        found.names if _near(found) else (*found.names, *kinds()),
    )


def _near(found: Resolution) -> bool:
    """Whether what is nearest sounds so alike that nothing of another name needs to be thought of."""
    return bool(found.candidates) and found.candidates[0].score >= _SOUNDS_ALIKE


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
