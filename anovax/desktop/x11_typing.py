"""Typing text on X11: in bursts that safety sees first, character by character under the focus check."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

from anovax.desktop.backend import Typed
from anovax.desktop.x11_keyboard import Keyboard
from anovax.desktop.x11_windows import Windows
from anovax.errors import FocusLost
from anovax.tool import Effect, StepContext, WindowRef

_BURST = 16  # characters per look of the safety filter
_SETTLE_S = 2.0
# Applications whose keys push buttons: GTK ignores a button that is still shown as pressed (for 250 ms), so the same
# key may come again only after that. Text fields have no such pause.
_BUTTONS = re.compile("calc|galc", re.I)
_BUTTON_S = 0.3


class Typist:
    """Types into one window and stops at the first sign that it is no longer the right one."""

    def __init__(self, keyboard: Keyboard, windows: Windows, connection) -> None:  # type: ignore[no-untyped-def]
        self._keys, self._windows, self._x = keyboard, windows, connection

    def type(self, text: str, window: WindowRef, step: StepContext) -> Typed:
        """Every character of ``text``, byte for byte. FocusLost names the thief; what was typed by then stays."""
        spare = False
        pause = Pause(_BUTTON_S if _BUTTONS.search(f"{window.app} {window.title}") else 0.0)
        for part, foreign in self._parts(text):
            if foreign:
                self._make_room(foreign, window, step)
                spare = True
            for burst in bursts(part):
                step.guard(Effect(kind="type", payload=burst, window=window))
                for char in burst:
                    pause.before(char, step)
                    self._keys.type_char(char, window, step)
                    if pause.seconds:
                        self.settle(window, min(_SETTLE_S, step.remaining))
                        pause.after(char)
        settled = self.settle(window, _SETTLE_S)
        now = self._windows.focused()
        if now is None or now.id != window.id:
            raise FocusLost(window.name, now.name if now else "no window")
        return Typed(characters=len(text), method="spare_keys" if spare else "keys", settled=settled)

    def _parts(self, text: str) -> Iterator[tuple[str, list[str]]]:
        """Pieces of ``text`` that need at most as many spare keys as there are, with the characters that need them."""
        with self._x:
            room = len(self._keys.spare.slots(self._keys.keymap()))
        part, foreign = "", []  # type: ignore[var-annotated]
        lacking = set(self._keys.missing(text))
        for char in text:
            if char in lacking and char not in foreign:
                if len(foreign) == room and room:
                    yield part, foreign
                    part, foreign = "", []
                foreign.append(char)
            part += char
        yield part, foreign

    def _make_room(self, chars: list[str], window: WindowRef, step: StepContext) -> None:
        if not self._keys.missing("".join(chars)):
            return
        self.settle(window, min(_SETTLE_S, step.remaining))  # keys already sent are looked up in the map as it is now
        step.check()
        with self._x:
            self._keys.spare.provide(chars, self._keys.keymap())

    def settle(self, window: WindowRef, seconds: float) -> bool | None:
        """Wait until the application has worked off what was sent to it. None when that cannot be known for certain."""
        answer = self._windows.answers(window.id, seconds)
        if answer is not None:
            return answer
        _wait_until_asleep(window.pid, seconds)
        return None


class Pause:
    """Keeps ``seconds`` between two presses of the same key."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._last: dict[str, float] = {}

    def before(self, char: str, step: StepContext) -> None:
        wait = self._last.get(char, 0.0) + self.seconds - time.monotonic()
        if wait > 0:
            step.sleep(wait)

    def after(self, char: str) -> None:
        """The application has seen ``char`` now."""
        self._last[char] = time.monotonic()


def bursts(text: str) -> Iterator[str]:
    """Pieces of at most 16 characters; a newline is always a burst of its own."""
    for number, line in enumerate(text.split("\n")):
        if number:
            yield "\n"
        yield from (line[at : at + _BURST] for at in range(0, len(line), _BURST))


def _wait_until_asleep(pid: int, seconds: float) -> None:
    """A local process that sleeps three times in a row has read its events; without a pid, a short fixed wait."""
    end, calm = time.monotonic() + seconds, 0
    stat = Path(f"/proc/{pid}/stat")
    while time.monotonic() < end and calm < 3:
        time.sleep(0.01)
        try:
            state = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            time.sleep(min(0.1, seconds))
            return
        calm = calm + 1 if state == "S" else 0
