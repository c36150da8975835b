"""Typing text on X11: in bursts that safety sees first, character by character under the focus check."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

from anovax.desktop.backend import Typed
from anovax.desktop.x11_keyboard import Keyboard
from anovax.desktop.x11_keysyms import BROWSERS
from anovax.desktop.x11_paste import Paster
from anovax.desktop.x11_windows import Windows
from anovax.errors import FocusLost
from anovax.tool import Effect, StepContext, WindowRef

_BURST = 16  # characters per look of the safety filter
_SETTLE_S = 2.0
_KEEP_UP = 4  # bursts after which the application must have caught up, so that no long queue of keys
_KEEP_UP_S = 0.25  # appears after a stop or meets another key map; and how long that is waited for
# Applications whose keys push buttons: GTK ignores a button that is still shown as pressed (for 250 ms), so the same
# key may come again only after that. Text fields have no such pause.
_BUTTONS = re.compile("calc|galc", re.I)
_BUTTON_S = 0.3


class Typist:
    """Types into one window and stops at the first sign that it is no longer the right one."""

    def __init__(self, keyboard: Keyboard, windows: Windows, paster: Paster) -> None:
        self._keys, self._windows, self._paster = keyboard, windows, paster

    def type(self, text: str, window: WindowRef, step: StepContext) -> Typed:
        """Every character of ``text``, byte for byte. FocusLost names the thief; what was typed by then stays."""
        self._windows.settle(window, min(_SETTLE_S, step.remaining))  # one that has just opened may not read keys yet
        if "\t" in text and BROWSERS.search(window.app):
            self._paster.paste(text, window, step)  # the Tab key would leave the field
            method = "paste"
        else:
            method = self._type(text, window, step)
        settled = self._windows.settle(window, min(_SETTLE_S, step.remaining))
        now = self._windows.focused()
        if now is None or now.id != window.id:
            raise FocusLost(window.name, now.name if now else "no window", len(text))
        return Typed(characters=len(text), method=method, settled=settled)

    def _type(self, text: str, window: WindowRef, step: StepContext) -> str:
        pause = Pause(_BUTTON_S if _BUTTONS.search(f"{window.app} {window.title}") else 0.0)
        spare, arrived = False, 0
        for part, foreign in parts(text, self._keys.missing(text), self._keys.room()):
            if foreign:
                self._keys.make_room(foreign, window, step)
                spare = True
            for number, burst in enumerate(bursts(part), 1):
                step.guard(Effect(kind="type", payload=burst, window=window))
                for char in burst:
                    try:
                        self._char(char, window, step, pause)
                    except FocusLost as lost:
                        lost.typed = arrived
                        raise
                    arrived += 1
                if number % _KEEP_UP == 0:
                    self._windows.settle(window, min(_KEEP_UP_S, step.remaining))
        return "spare_keys" if spare else "keys"

    def _char(self, char: str, window: WindowRef, step: StepContext, pause: Pause) -> None:
        pause.before(char, step)
        self._keys.type_char(char, window, step)
        if pause.seconds:
            self._windows.settle(window, min(_SETTLE_S, step.remaining))
            pause.after(char)


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


def parts(text: str, missing: list[str], room: int) -> Iterator[tuple[str, list[str]]]:
    """Pieces of ``text`` that need at most ``room`` of the ``missing`` characters, each with those that it needs."""
    lacking, part, foreign = set(missing), "", list[str]()
    for char in text:
        if char in lacking and char not in foreign:
            if len(foreign) == room and room:
                yield part, foreign
                part, foreign = "", []
            foreign.append(char)
        part += char
    yield part, foreign


def bursts(text: str) -> Iterator[str]:
    """Pieces of at most 16 characters; a newline is always a burst of its own."""
    for number, line in enumerate(text.split("\n")):
        if number:
            yield "\n"
        yield from (line[at : at + _BURST] for at in range(0, len(line), _BURST))
