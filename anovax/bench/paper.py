"""A desktop on paper: windows with text in them, in memory, under the real facade and the real agents.

It stands for the screen alone: everything above the platform's raw calls is the product. It needs no display, so what
is measured on it can be measured anywhere; what an application really does is for the virtual desktop's benchmarks.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from anovax.config import DesktopConfig
from anovax.desktop import Desktop
from anovax.desktop.application import Application
from anovax.desktop.applications import Applications
from anovax.desktop.backend import Button, Image, Monitor, Rect, Typed
from anovax.desktop.chords import Chord
from anovax.desktop.launch import Launcher, Started
from anovax.desktop.ocr import TextBox
from anovax.errors import FocusLost, ToolError
from anovax.tool import Effect, StepContext, WindowRef

APPS = (
    Application(id="paper-editor", name="Text Editor", command=("paper-editor",), categories=frozenset({"TextEditor"})),
    Application(id="paper-calc", name="Calculator", command=("paper-calc",), categories=frozenset({"Calculator"})),
    Application(
        id="paper-terminal", name="Terminal", command=("paper-terminal",), categories=frozenset({"TerminalEmulator"})
    ),
    Application(
        id="paper-browser", name="Web Browser", command=("paper-browser",), categories=frozenset({"WebBrowser"})
    ),
    Application(id="paper-music", name="Music Player", command=("paper-music",), categories=frozenset({"Player"})),
)  # fmt: skip
KEY_S = 0.001  # between two keys, as a real keyboard has it
SCREEN = Rect(x=0, y=0, w=800, h=600)


class PaperBackend:
    """Implements anovax.desktop.backend.Backend. ``entered``: (window's application, line) for each Enter;
    ``thief_after``: so many characters from now another window takes the focus, once (0: never)."""

    name = "paper"
    notice = ""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}
        self.entered: list[tuple[str, str]] = []
        self.thief_after = 0
        self.keys_sent = 0
        self._stack: list[WindowRef] = []  # the top one first
        self._ids = itertools.count(1)
        self._lock = threading.Lock()

    def open(self, app: str, title: str) -> WindowRef:
        window = WindowRef(id=next(self._ids), app=app, title=title)
        with self._lock:
            self._stack.insert(0, window)
            self.texts[window.id] = ""
        return window

    def retitle(self, window: WindowRef, title: str) -> None:
        with self._lock:
            self._stack = [w.model_copy(update={"title": title}) if w.id == window.id else w for w in self._stack]

    def text_of(self, app: str) -> str:
        """What stands in the top window of an application; empty when it has none."""
        return next((self.texts[w.id] for w in self._stack if w.app == app), "")

    def windows(self) -> tuple[WindowRef, ...]:
        return tuple(self._stack)

    def focused(self) -> WindowRef | None:
        return next(iter(self.windows()), None)

    def exists(self, window: WindowRef) -> bool:
        return any(other.id == window.id for other in self.windows())

    def activate(self, window: WindowRef) -> None:
        with self._lock:
            self._stack.sort(key=lambda other: other.id != window.id)

    def close_window(self, window: WindowRef) -> None:
        with self._lock:
            self._stack = [other for other in self._stack if other.id != window.id]

    def type_text(self, text: str, window: WindowRef, step: StepContext) -> Typed:
        step.guard(Effect(kind="type", payload=text, window=window))
        for arrived, char in enumerate(text):
            self._check(window, arrived)
            step.check()
            self._key(window, char)
            time.sleep(KEY_S)
        return Typed(characters=len(text), method="keys", settled=True)

    def _check(self, window: WindowRef, arrived: int) -> None:
        now = self.focused()
        if now is None or now.id != window.id:
            raise FocusLost(window.name, now.name if now else "no window", arrived)

    def _key(self, window: WindowRef, char: str) -> None:
        with self._lock:
            self.texts[window.id] += char
            self.keys_sent += 1
        if self.thief_after:
            self.thief_after -= 1
            if not self.thief_after:
                self.open("paper-news", "Something happened")

    def press(self, chords: Sequence[Chord], window: WindowRef | None, step: StepContext) -> None:
        for chord in chords:
            target = window or self.focused()
            step.guard(Effect(kind="keys", payload=str(chord), window=target))
            if target is not None:
                self._pressed(target, chord)

    def _pressed(self, target: WindowRef, chord: Chord) -> None:
        with self._lock:
            self.keys_sent += 1
            text = self.texts.get(target.id, "")
            if str(chord) == "enter":
                self.entered.append((target.app, text.rsplit("\n", 1)[-1]))
                self.texts[target.id] = f"{text}\n"
            elif str(chord) == "backspace":
                self.texts[target.id] = text[:-1]

    def read_back(self, window: WindowRef) -> str | None:
        return self.texts.get(window.id)

    def frame(self, window: WindowRef) -> Rect | None:
        return SCREEN if self.exists(window) else None

    def window_at(self, x: int, y: int) -> WindowRef | None:
        return self.focused()

    def dialog_of(self, window: WindowRef) -> WindowRef | None:
        return None

    def named(self, window: WindowRef, name: str) -> tuple[TextBox, ...]:
        return ()

    def is_modal(self, window: WindowRef) -> bool:
        return False

    def check_chord(self, chord: Chord) -> None:
        """Every key is there."""

    def move(self, x: int, y: int) -> None:
        """There is nothing to point at."""

    def pointer(self) -> tuple[int, int]:
        return SCREEN.centre

    def click(self, x: int, y: int, button: Button, count: int) -> None:
        raise ToolError("Nothing can be clicked on paper")

    def drag(self, x: int, y: int, to_x: int, to_y: int, step: StepContext) -> None:
        raise ToolError("Nothing can be dragged on paper")

    def scroll(self, direction: str, amount: int, step: StepContext) -> None:
        """Paper shows everything at once."""

    def clipboard(self) -> str | None:
        return None

    def set_clipboard(self, text: str) -> None:
        raise ToolError("There is no clipboard on paper")

    def secure_field(self) -> bool | None:
        return False

    def release_modifiers(self) -> None:
        """None is held."""

    def on_escape_twice(self, stop: Callable[[], None]) -> Callable[[], None]:
        return lambda: None

    def close(self) -> None:
        """Holds nothing. Safe twice."""


class PaperLauncher(Launcher):
    """Opens a window instead of starting a program; a browser's shows the address it was given."""

    def __init__(self, backend: PaperBackend) -> None:
        super().__init__({})
        self._backend = backend

    def start(self, app: Application, extra: tuple[str, ...] = ()) -> Started:
        address = next((word for word in extra if word.startswith("http")), "")
        window = self._backend.open(app.program, app.name)
        if address:
            self._backend.retitle(window, f"{address} - {app.name}")
        return Started("paper")


class PaperCapture:
    """A picture with one stroke for each open window."""

    def __init__(self, backend: PaperBackend) -> None:
        self._backend = backend

    def grab(self, rect: Rect | None) -> Image:
        image = np.full((SCREEN.h, SCREEN.w, 3), 255, np.uint8)
        image[10 : 20 + 10 * len(self._backend.windows()), 10:200] = 0
        return image

    def monitors(self) -> tuple[Monitor, ...]:
        return (Monitor(rect=SCREEN),)

    def close(self) -> None:
        """Holds nothing. Safe twice."""


def paper_desktop() -> tuple[Desktop, PaperBackend]:
    """The real facade over a fresh sheet."""
    backend = PaperBackend()
    capture: Any = PaperCapture(backend)
    desktop = Desktop(backend, capture, DesktopConfig())
    desktop.applications = Applications(env={}, read=lambda: APPS)
    desktop.launch = PaperLauncher(backend)
    return desktop, backend
