"""Putting text in through the clipboard on X11: only where keys would do something else (a tab in a web form)."""

from __future__ import annotations

from contextlib import suppress

from anovax.desktop.chords import Chord
from anovax.desktop.x11_clipboard import Clipboard
from anovax.desktop.x11_keyboard import Keyboard
from anovax.desktop.x11_windows import Windows
from anovax.errors import DesktopError, ToolError
from anovax.tool import Effect, StepContext, WindowRef

_FETCH_S = 3.0
_CACHED_S = 2.0  # for those that have fetched before and may not ask again
_LATER_S = 0.3  # an application may ask for one form after the other
_PASTE = Chord(mods=("ctrl",), key="v")


class Paster:
    """Owns the clipboard for as long as one paste takes, then puts the old content back."""

    def __init__(self, clipboard: Clipboard, keyboard: Keyboard, windows: Windows) -> None:
        self._clipboard, self._keyboard, self._windows = clipboard, keyboard, windows

    def paste(self, text: str, window: WindowRef, step: StepContext) -> None:
        """ToolError when the application does not fetch the text; the clipboard is as before in every case."""
        step.guard(Effect(kind="paste", payload=text, window=window))
        old = self._clipboard.content()
        self._clipboard.set_text(text)
        try:
            self._windows.settle(window, 0.5)  # some fetch as soon as the owner changes; that is no paste yet
            early = self._clipboard.fetches_by(window.id)
            self._keyboard.press(_PASTE, window, step)
            self._wait(early, window, step)
        finally:
            with suppress(DesktopError):  # somebody else has taken the clipboard meanwhile: theirs counts now
                self._clipboard.offer(old)

    def _wait(self, early: int, window: WindowRef, step: StepContext) -> None:
        waited, enough = 0.0, _CACHED_S if early else _FETCH_S
        while self._clipboard.fetches_by(window.id) == early and waited < enough:
            step.sleep(0.01)
            waited += 0.01
        if not self._clipboard.fetches_by(window.id):
            raise ToolError(f"{window.name} did not take the pasted text", "click into the text field and ask again")
        self._windows.settle(window, 1.0)  # the last request of a paste in pieces must still find the text
        step.sleep(_LATER_S)
