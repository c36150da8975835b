"""What a running step and those around it exchange: stop flag, window, effect, result, the step's view of all that.

Agents import these from ``anovax.tool``, beside the declarations.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from anovax.errors import Cancelled, TimedOut


class CancelFlag:
    """One per request: set once, seen by everybody who works for the request. Thread-safe."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._hooks: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self.reason = ""

    def set(self, reason: str = "stop") -> None:
        with self._lock:
            if self._event.is_set():
                return
            self.reason = reason
            self._event.set()
            hooks, self._hooks = self._hooks, []
        for hook in hooks:
            hook()

    def is_set(self) -> bool:
        return self._event.is_set()

    def wait(self, seconds: float) -> bool:
        """Sleep at most ``seconds``; True as soon as the flag is set."""
        return self._event.wait(seconds)

    def check(self) -> None:
        if self._event.is_set():
            raise Cancelled(self.reason)

    def on_set(self, hook: Callable[[], None]) -> Callable[[], None]:
        """Call ``hook`` once when set (at once if it is already). Returns a function that unhooks it."""
        with self._lock:
            if not self._event.is_set():
                self._hooks.append(hook)
                return lambda: self._unhook(hook)
        hook()
        return lambda: None

    def _unhook(self, hook: Callable[[], None]) -> None:
        with self._lock:
            if hook in self._hooks:
                self._hooks.remove(hook)


class WindowRef(BaseModel):
    """A top-level window as safety and agents name it. ``app`` is the WM_CLASS class name (or bundle / exe name)."""

    model_config = ConfigDict(frozen=True)

    id: int = 0
    pid: int = 0
    app: str = ""
    title: str = ""

    @property
    def name(self) -> str:
        return self.title or self.app or "an unknown window"


class Effect(BaseModel):
    """What is about to happen to the desktop, shown to the guard immediately before it does.

    ``kind``: type, keys, click, drop, scroll, open_url, launch, focus, close, paste. ``payload``: the exact text,
    chord, URL… ``window`` is where it will land as of now (None when it has no target window).
    """

    model_config = ConfigDict(frozen=True)

    kind: str
    payload: str = ""
    window: WindowRef | None = None


@dataclass(frozen=True)
class UndoAction:
    """How to take a finished step back. ``window``: the one that must still be focused, 0 for any."""

    label: str
    run: Callable[[StepContext], Done]
    window: int = 0


@dataclass(frozen=True)
class Done:
    """What a tool returns. ``verified`` needs ``evidence``; ``result`` is data for later steps and for the reply
    (the time, the OCR text, a fact); ``say`` a ready sentence for the reply, when the tool knows one best; ``secret``
    marks that the arguments must not stay in the record (typed into a password field, a private fact)."""

    evidence: str = ""
    verified: bool = False
    result: str = ""
    say: str = ""
    undo: UndoAction | None = None
    secret: bool = False


@dataclass(frozen=True)
class StepContext:
    """A running step's view of its surroundings. ``guard`` re-judges an effect against the focus as it is now and
    raises if it may not happen; it also raises after a cancel or the TTL. Call it before *every* effect."""

    turn: str
    step: int
    deadline: float  # time.monotonic() seconds
    cancel: CancelFlag
    abandoned: threading.Event  # set when the TTL has passed: no effect after it
    recheck: Callable[[Effect], None] = lambda effect: None
    target: WindowRef | None = None  # the window that the plan means, when known
    level: int = 0  # depth of delegation

    def check(self) -> None:
        """Raise Cancelled or TimedOut if this step may not go on."""
        self.cancel.check()
        if self.abandoned.is_set() or time.monotonic() >= self.deadline:
            raise TimedOut("The step", 0)

    def guard(self, effect: Effect) -> None:
        self.check()
        self.recheck(effect)
        self.check()

    def sleep(self, seconds: float) -> None:
        """Wait for something outside (a window to appear); ends early with Cancelled or TimedOut."""
        self.cancel.wait(min(seconds, max(0.0, self.deadline - time.monotonic())))
        self.check()

    @property
    def remaining(self) -> float:
        return max(0.0, self.deadline - time.monotonic())
