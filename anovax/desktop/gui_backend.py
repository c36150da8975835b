"""What Windows and macOS have in common: pyautogui presses keys and moves the pointer, a platform part knows windows.

pyautogui's own habits are switched off where it is built: no pause after each call, no abort in the screen's corner. It
never types text (it would drop what the US layout lacks); the platform part sends Unicode characters itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from anovax.desktop.backend import Button, Rect, Typed
from anovax.desktop.chords import MODIFIERS, Chord
from anovax.desktop.ocr import TextBox
from anovax.errors import FocusLost, ToolError
from anovax.tool import Effect, StepContext, WindowRef

_BURST = 16


class Platform(Protocol):
    """Windows and Unicode input of one platform."""

    def windows(self) -> tuple[WindowRef, ...]: ...
    def focused(self) -> WindowRef | None: ...
    def activate(self, window: WindowRef) -> None: ...
    def close_window(self, window: WindowRef) -> None: ...
    def frame(self, window: WindowRef) -> Rect | None: ...
    def owner(self, window: WindowRef) -> int: ...
    def send_text(self, char: str) -> None: ...
    def modifiers_down(self) -> bool: ...


class GuiBackend:
    """See Backend. ``keys`` maps canonical key names to pyautogui's."""

    notice = ""

    def __init__(self, name: str, platform: Platform, gui: Any, clip: Any, keys: dict[str, str]) -> None:
        self.name, self._platform, self._gui, self._clip, self._keys = name, platform, gui, clip, keys
        self._sent = 0

    @property
    def keys_sent(self) -> int:
        return self._sent

    # --- windows -----------------------------------------------------------------------------------------------------

    def windows(self) -> tuple[WindowRef, ...]:
        return self._platform.windows()

    def focused(self) -> WindowRef | None:
        return self._platform.focused()

    def exists(self, window: WindowRef) -> bool:
        return any(other.id == window.id for other in self.windows())

    def activate(self, window: WindowRef) -> None:
        self._platform.activate(window)

    def close_window(self, window: WindowRef) -> None:
        self._platform.close_window(window)

    def dialog_of(self, window: WindowRef) -> WindowRef | None:
        return next((other for other in self.windows() if self._platform.owner(other) == window.id), None)

    def named(self, window: WindowRef, name: str) -> tuple[TextBox, ...]:
        return ()

    def is_modal(self, window: WindowRef) -> bool:
        return False  # neither of the two systems tells

    def frame(self, window: WindowRef) -> Rect | None:
        return self._platform.frame(window)

    def window_at(self, x: int, y: int) -> WindowRef | None:
        return next((w for w in self.windows() if (rect := self.frame(w)) is not None and rect.contains(x, y)), None)

    # --- keys --------------------------------------------------------------------------------------------------------

    def type_text(self, text: str, window: WindowRef, step: StepContext) -> Typed:
        if self._platform.modifiers_down():
            raise ToolError("A modifier key is being held down", "let go of it and ask again")
        for at in range(0, len(text), _BURST):
            burst = text[at : at + _BURST]
            step.guard(Effect(kind="type", payload=burst, window=window))
            for char in burst:
                self._still(window, step)
                self._character(char)
        self._still(window, step)
        return Typed(characters=len(text), method="keys")

    def _character(self, char: str) -> None:
        self._sent += 1
        if char in "\n\t":
            self._gui.press({"\n": "enter", "\t": "tab"}[char])
        else:
            self._platform.send_text(char)

    def _still(self, window: WindowRef | None, step: StepContext) -> None:
        step.check()
        now = self.focused()
        if window is not None and (now is None or now.id != window.id):
            raise FocusLost(window.name, now.name if now else "no window")

    def check_chord(self, chord: Chord) -> None:
        for name in (*chord.mods, chord.key):
            if self._key(name) not in self._gui.KEYBOARD_KEYS:
                raise ToolError(f"There is no key {name!r} on this system", "use another key")

    def _key(self, name: str) -> str:
        return self._keys.get(name, name)

    def press(self, chords: Sequence[Chord], window: WindowRef | None, step: StepContext) -> None:
        for chord in chords:
            step.guard(Effect(kind="keys", payload=str(chord), window=window or self.focused()))
            self._still(window, step)
            self._sent += 1
            self._one(chord)

    def _one(self, chord: Chord) -> None:
        names = [self._key(name) for name in chord.mods]
        try:
            for name in names:
                self._gui.keyDown(name)
            self._gui.press(self._key(chord.key))
        finally:
            for name in reversed(names):
                self._gui.keyUp(name)

    def on_escape_twice(self, stop: Callable[[], None]) -> Callable[[], None]:
        """These systems let no unprivileged program watch the keyboard."""
        return lambda: None

    def release_modifiers(self) -> None:
        for name in MODIFIERS:
            if self._key(name) in self._gui.KEYBOARD_KEYS:
                self._gui.keyUp(self._key(name))

    # --- pointer -----------------------------------------------------------------------------------------------------

    def move(self, x: int, y: int) -> None:
        self._gui.moveTo(x, y)

    def pointer(self) -> tuple[int, int]:
        at = self._gui.position()
        return int(at[0]), int(at[1])

    def click(self, x: int, y: int, button: Button, count: int) -> None:
        self._gui.click(x=x, y=y, clicks=count, interval=0.06, button=button)

    def drag(self, x: int, y: int, to_x: int, to_y: int, step: StepContext) -> None:
        self._gui.moveTo(x, y)
        self._gui.mouseDown()
        try:
            for part in range(1, 11):
                step.sleep(0.015)
                self._gui.moveTo(x + (to_x - x) * part // 10, y + (to_y - y) * part // 10)
        finally:
            self._gui.mouseUp()

    def scroll(self, direction: str, amount: int, step: StepContext) -> None:
        turn = self._gui.scroll if direction in ("up", "down") else self._gui.hscroll
        for _ in range(amount):
            step.check()
            turn(self.notch if direction in ("up", "right") else -self.notch)

    notch = 1  # pyautogui's clicks per wheel notch

    # --- the rest ----------------------------------------------------------------------------------------------------

    def clipboard(self) -> str | None:
        return self._clip.paste() or None

    def set_clipboard(self, text: str) -> None:
        self._clip.copy(text)

    def read_back(self, window: WindowRef) -> str | None:
        return None

    def secure_field(self) -> bool | None:
        return None

    def close(self) -> None:
        """Safe twice."""
        self.release_modifiers()
