"""The X11 backend: one connection, and what is done over it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from anovax.desktop.atspi import Accessibility
from anovax.desktop.backend import Button, Rect, Typed
from anovax.desktop.chords import Chord
from anovax.desktop.ocr import TextBox
from anovax.desktop.x11_clipboard import Clipboard
from anovax.desktop.x11_connection import Connection
from anovax.desktop.x11_escape import EscapeWatch
from anovax.desktop.x11_keyboard import Keyboard, keysym_for
from anovax.desktop.x11_keysyms import MODIFIER_KEYSYMS
from anovax.desktop.x11_paste import Paster
from anovax.desktop.x11_pointer import Pointer
from anovax.desktop.x11_typing import Typist
from anovax.desktop.x11_windows import Windows
from anovax.errors import DesktopError
from anovax.tool import Effect, StepContext, WindowRef


def build_x11(display: str = "") -> X11:
    """Connect to ``display`` (default: DISPLAY). DesktopError says what is missing, also in a pure Wayland session."""
    name = display or os.environ.get("DISPLAY", "")
    wayland = bool(os.environ.get("WAYLAND_DISPLAY")) or os.environ.get("XDG_SESSION_TYPE") == "wayland"
    if not name and wayland:
        raise DesktopError(
            "This is a Wayland session without XWayland, and Wayland does not let programs send keys to others",
            "log in to an X11 (Xorg) session",
        )
    notice = (
        "In this Wayland session only windows that run through XWayland can be seen and operated."
        if wayland and not display
        else ""
    )
    return X11(Connection(name), notice)


class X11:
    """See Backend. Every method may be called from any thread."""

    name = "x11"

    def __init__(self, connection: Connection, notice: str = "") -> None:
        self._x, self.notice = connection, notice
        self.display = connection.name
        self._windows = Windows(connection)
        self._keyboard = Keyboard(connection, self._windows)
        self._pointer = Pointer(connection)
        self._clipboard = Clipboard(connection.name)
        self._typist = Typist(self._keyboard, self._windows, Paster(self._clipboard, self._keyboard, self._windows))
        self._accessibility = Accessibility()
        self._closed = False
        self.release_modifiers()  # a killed predecessor may have left one down

    @property
    def keys_sent(self) -> int:
        return self._keyboard.sent

    def windows(self) -> tuple[WindowRef, ...]:
        return self._windows.all()

    def focused(self) -> WindowRef | None:
        return self._windows.focused()

    def exists(self, window: WindowRef) -> bool:
        return self._windows.exists(window.id)

    def activate(self, window: WindowRef) -> None:
        self._windows.activate(window.id)

    def close_window(self, window: WindowRef) -> None:
        self._windows.close(window.id)

    def dialog_of(self, window: WindowRef) -> WindowRef | None:
        return next((other for other in self.windows() if self._windows.transient_for(other.id) == window.id), None)

    def is_modal(self, window: WindowRef) -> bool:
        return self._windows.is_modal(window.id)

    def frame(self, window: WindowRef) -> Rect | None:
        return self._windows.frame(window.id)

    def window_at(self, x: int, y: int) -> WindowRef | None:
        return self._windows.at(x, y)

    def type_text(self, text: str, window: WindowRef, step: StepContext) -> Typed:
        return self._typist.type(text, window, step)

    def check_chord(self, chord: Chord) -> None:
        if chord.key not in MODIFIER_KEYSYMS:
            keysym_for(chord.key)

    def press(self, chords: Sequence[Chord], window: WindowRef | None, step: StepContext) -> None:
        for chord in chords:
            step.guard(Effect(kind="keys", payload=str(chord), window=window or self.focused()))
            self._keyboard.press(chord, window, step)

    def move(self, x: int, y: int) -> None:
        self._pointer.move(x, y)

    def pointer(self) -> tuple[int, int]:
        return self._pointer.at()

    def click(self, x: int, y: int, button: Button, count: int) -> None:
        self._pointer.click(x, y, button, count)

    def drag(self, x: int, y: int, to_x: int, to_y: int, step: StepContext) -> None:
        self._pointer.drag(x, y, to_x, to_y, step)

    def scroll(self, direction: str, amount: int, step: StepContext) -> None:
        self._pointer.scroll(direction, amount, step)

    def clipboard(self) -> str | None:
        return self._clipboard.text()

    def set_clipboard(self, text: str) -> None:
        self._clipboard.set_text(text)

    def read_back(self, window: WindowRef) -> str | None:
        field = self._accessibility.focused_field(window.pid) if window.pid else None
        return None if field is None or field.secure else field.text

    def secure_field(self) -> bool | None:
        window = self.focused()
        field = self._accessibility.focused_field(window.pid) if window is not None and window.pid else None
        return None if field is None else field.secure

    def named(self, window: WindowRef, name: str) -> tuple[TextBox, ...]:
        frame = self.frame(window) if window.pid else None
        return () if frame is None else self._accessibility.named(window.pid, frame, name)

    def release_modifiers(self) -> None:
        self._keyboard.release_modifiers()

    def on_escape_twice(self, stop: Callable[[], None]) -> Callable[[], None]:
        watch = EscapeWatch(self.display, stop, lambda: self.keys_sent)
        return watch.close

    def close(self) -> None:
        """Free the spare keys and give everything back. Safe twice."""
        if self._closed:
            return
        self._closed = True
        self._accessibility.close()
        self._clipboard.close()
        try:
            self.release_modifiers()
            with self._x:
                self._keyboard.spare.restore()
        except DesktopError:
            pass  # the display went first; nothing is left that could be put back
        self._x.close()
