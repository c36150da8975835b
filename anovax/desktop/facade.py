"""The desktop as agents see it: one facade over the platform's backend.

The facade owns argument checks, waiting, and the guard before each effect; a backend has only the raw calls.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from anovax.config import DesktopConfig
from anovax.desktop.applications import Applications
from anovax.desktop.backend import Backend, Button, Image, Monitor, Rect, Typed
from anovax.desktop.capture import Capture
from anovax.desktop.chords import Chord, parse_chords
from anovax.desktop.launch import Launcher
from anovax.desktop.ocr import Ocr, TextBox
from anovax.errors import DesktopError, FocusLost, ToolError
from anovax.tool import Effect, StepContext, WindowRef

_POLL_S = 0.02
_ACTIVATE_S = 3.0


class Desktop:
    """See the methods. All of them may be called from any thread; effects take the step and check it first."""

    def __init__(self, backend: Backend, capture: Capture, config: DesktopConfig, display: str = "") -> None:
        self._backend, self._capture, self.config = backend, capture, config
        self.platform = backend.name
        self.notice = backend.notice
        self.applications = Applications(config.aliases)
        self.launch = Launcher({**os.environ, "DISPLAY": display} if display else None)
        self.ocr = Ocr()

    # --- windows -----------------------------------------------------------------------------------------------------

    def windows(self) -> tuple[WindowRef, ...]:
        """Open application windows, the top one first."""
        return self._backend.windows()

    def focused(self) -> WindowRef | None:
        """The window that the next key would go to."""
        return self._backend.focused()

    def exists(self, window: WindowRef) -> bool:
        return self._backend.exists(window)

    def frame(self, window: WindowRef) -> Rect | None:
        """Where a window's content is on the screen; None when it is gone."""
        return self._backend.frame(window)

    def window_at(self, x: int, y: int) -> WindowRef | None:
        return self._backend.window_at(x, y)

    def dialog_of(self, window: WindowRef) -> WindowRef | None:
        """A dialog that belongs to ``window``, if one is open."""
        return self._backend.dialog_of(window)

    def is_modal(self, window: WindowRef) -> bool:
        """Whether ``window`` is a question that its application wants answered before anything else."""
        return self._backend.is_modal(window)

    def activate(self, window: WindowRef, step: StepContext) -> WindowRef:
        """Bring to the front and wait until it has the focus; FocusLost names what has it instead."""
        step.guard(Effect(kind="focus", payload=window.name, window=window))
        self._backend.activate(window)
        end = time.monotonic() + min(_ACTIVATE_S, step.remaining)
        while time.monotonic() < end:
            now = self.focused()
            if now is not None and now.id == window.id:
                return now
            step.sleep(_POLL_S)
        now = self.focused()
        raise FocusLost(window.name, now.name if now else "no window")

    def close_window(self, window: WindowRef, step: StepContext) -> None:
        """Ask the window to close; whether it does is for the caller to see (``exists``, ``dialog_of``)."""
        step.guard(Effect(kind="close", payload=window.name, window=window))
        self._backend.close_window(window)

    def wait_for_window(
        self, predicate: Callable[[WindowRef], bool], timeout: float, step: StepContext
    ) -> WindowRef | None:
        """The first window that fits, or None after ``timeout`` seconds."""
        end = time.monotonic() + timeout
        while True:
            found = next((window for window in self.windows() if predicate(window)), None)
            if found is not None or time.monotonic() >= end:
                return found
            step.sleep(_POLL_S)

    # --- keys --------------------------------------------------------------------------------------------------------

    def type_text(self, text: str, window: WindowRef | None, step: StepContext) -> Typed:
        """Type into ``window`` (default: the focused one), which must have the focus all the time. FocusLost names the
        thief; ToolError says why nothing could be typed."""
        target = window or self.focused()
        if target is None:
            raise ToolError("No window has the focus", "click into a window first")
        try:
            return self._backend.type_text(text.replace("\r\n", "\n").replace("\r", "\n"), target, step)
        except BaseException:
            self._backend.release_modifiers()
            raise

    def chords(self, keys: str) -> tuple[Chord, ...]:
        """Parse and check ``keys``; ToolError names the first unknown key, and nothing has been pressed."""
        found = parse_chords(keys)
        for chord in found:
            self._backend.check_chord(chord)
        return found

    def press(self, keys: str | tuple[Chord, ...], step: StepContext, window: WindowRef | None = None) -> None:
        """Press chords one after the other; with ``window``, only while it has the focus."""
        found = self.chords(keys) if isinstance(keys, str) else keys
        try:
            self._backend.press(found, window, step)
        except BaseException:
            self._backend.release_modifiers()
            raise

    @property
    def keys_sent(self) -> int:
        """How many keys have been sent so far; tells whether anything was typed since."""
        return self._backend.keys_sent

    def release_modifiers(self) -> None:
        self._backend.release_modifiers()

    # --- pointer -----------------------------------------------------------------------------------------------------

    def pointer(self) -> tuple[int, int]:
        return self._backend.pointer()

    def move(self, x: int, y: int) -> None:
        self._backend.move(x, y)

    def click(self, x: int, y: int, button: Button, count: int, step: StepContext, what: str = "") -> None:
        """Click at logical screen coordinates. ToolError when no monitor is there. ``what`` is shown to safety."""
        self.require_on_screen(x, y)
        step.guard(Effect(kind="click", payload=what or f"{x},{y}", window=self.window_at(x, y)))
        self._backend.click(x, y, button, count)

    def drag(self, x: int, y: int, to_x: int, to_y: int, step: StepContext) -> None:
        """Press the left button at one place and release it at the other. Safety sees the window at both ends."""
        self.require_on_screen(x, y)
        self.require_on_screen(to_x, to_y)
        source, drop = self.window_at(x, y), self.window_at(to_x, to_y)
        step.guard(Effect(kind="click", payload=f"{x},{y} to {to_x},{to_y}", window=source))
        if drop is not None and drop != source:
            step.guard(Effect(kind="drop", payload=f"{to_x},{to_y}", window=drop))
        self._backend.drag(x, y, to_x, to_y, step)

    def scroll(self, direction: str, amount: int, step: StepContext) -> None:
        """Turn the wheel by ``amount`` notches where the pointer is: up, down, left, right."""
        step.guard(Effect(kind="scroll", payload=f"{direction} {amount}", window=self.window_at(*self.pointer())))
        self._backend.scroll(direction, amount, step)

    def require_on_screen(self, x: int, y: int) -> None:
        """ToolError when no monitor shows this place."""
        if not any(monitor.rect.contains(x, y) for monitor in self.monitors()):
            raise ToolError(f"There is no screen at {x}, {y}", "name a place on the screen")

    # --- seeing ------------------------------------------------------------------------------------------------------

    def screenshot(self, window: WindowRef | None = None) -> Image:
        """Height x width x 3 RGB uint8: the whole virtual screen, or what is visible at a window's place."""
        if window is None:
            return self._capture.grab(None)
        rect = self.frame(window)
        if rect is None:
            raise ToolError(f"{window.name} is no longer open", "open it again")
        return self._capture.grab(rect)

    def grab(self, rect: Rect) -> Image:
        """A part of the screen as RGB."""
        return self._capture.grab(rect)

    def monitors(self) -> tuple[Monitor, ...]:
        return self._capture.monitors()

    def read_back(self, window: WindowRef) -> str | None:
        """The text of the focused field of ``window`` where the application offers it, else None."""
        return self._backend.read_back(window)

    def secure_field(self) -> bool | None:
        """Whether the focused field hides what is typed (a password); None when the application does not tell."""
        return self._backend.secure_field()

    def named(self, window: WindowRef, name: str) -> tuple[TextBox, ...]:
        """Where ``window`` shows things to click that are called ``name``, in logical screen coordinates, as the
        application itself tells; empty where it does not."""
        return self._backend.named(window, name)

    # --- clipboard ---------------------------------------------------------------------------------------------------

    def clipboard(self) -> str | None:
        """What a paste would insert as text, None when there is no text."""
        return self._backend.clipboard()

    def set_clipboard(self, text: str) -> None:
        self._backend.set_clipboard(text)

    def on_escape_twice(self, stop: Callable[[], None]) -> Callable[[], None]:
        """Call ``stop`` whenever the user presses Escape twice; returns what ends the watch. X11 only: elsewhere it
        does nothing."""
        return self._backend.on_escape_twice(stop)

    def close(self) -> None:
        """Release modifiers, free spare keys, give everything back. Safe twice."""
        self._capture.close()
        self._backend.close()

    def __enter__(self) -> Desktop:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def build(config: DesktopConfig | None = None, display: str = "") -> Desktop:
    """The desktop of this session. DesktopError says in one sentence what is missing."""
    config = config or DesktopConfig()
    if sys.platform == "win32":
        from anovax.desktop.windows import build_windows

        return Desktop(build_windows(), Capture(), config)
    if sys.platform == "darwin":
        from anovax.desktop.macos import build_macos

        return Desktop(build_macos(), Capture(), config)
    if not sys.platform.startswith(("linux", "freebsd", "openbsd", "netbsd")):
        raise DesktopError(f"The platform {sys.platform} is not supported", "use Linux with X11, Windows or macOS")
    from anovax.desktop.x11 import build_x11

    backend = build_x11(display)
    return Desktop(backend, Capture(backend.display), config, backend.display)
