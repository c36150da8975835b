"""The screen for the phones: one thread captures and encodes for everybody, each phone takes the newest picture.

There is one slot per reduction; a new picture replaces the old one. A phone that is slow to take a picture misses the
ones in between and then gets the newest: it loses rate, not freshness. Nothing is captured while nobody watches or
nobody is ready for more, nothing is encoded while nothing changes.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from anovax.companion.picture import hide, render, same
from anovax.companion.ports import Frame, ScreenPort

IDLE_AFTER_S = 1.5
IDLE_PERIOD_S = 0.2
RETRY_S = 1.0


@dataclass(frozen=True)
class Picture:
    """A JPEG of the screen. ``number`` grows with every change, ``at`` is when it was captured (time.monotonic())."""

    number: int
    jpeg: bytes
    at: float


class _Shot:
    """What the thread saw last. ``number`` grows when anything changed."""

    def __init__(self, port: ScreenPort, exclude: tuple[str, ...]) -> None:
        self._port = port
        self._exclude = exclude
        self.frame: Frame | None = None
        self.pointer = (0, 0)
        self.number = time.monotonic_ns()  # greater than any number of an earlier thread
        self.at = 0.0
        self.changed_at = time.monotonic()

    def take(self) -> Frame:
        """Capture. Windows are listed before and after, so that one that opens or moves in between is covered."""
        before = self._port.windows() if self._exclude else ()
        frame, pointer, self.at = self._port.grab(), self._port.pointer(), time.monotonic()
        after = self._port.windows() if self._exclude else ()
        frame = hide(frame, (*before, *after), self._exclude)
        if pointer != self.pointer or not same(self.frame, frame):
            self.frame, self.pointer, self.changed_at = frame, pointer, self.at
            self.number += 1
        return frame

    @property
    def idle(self) -> bool:
        return time.monotonic() - self.changed_at > IDLE_AFTER_S


class Screen:
    """Lives on the event loop; its thread lives while somebody watches.

    ``watched`` is told the number of watchers when it changes, ``troubled`` one sentence when the screen cannot be had.
    """

    def __init__(
        self,
        port: ScreenPort,
        fps: float,
        exclude: tuple[str, ...],
        watched: Callable[[int], None] = lambda count: None,
        troubled: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self._port = port
        self._period = 1 / fps
        self._exclude = exclude
        self._watched = watched
        self._troubled = troubled
        self._watchers = 0
        self._hungry: Counter[int] = Counter()  # phones waiting for a picture, by reduction
        self._late: set[int] = set()  # reductions that need the last picture confirmed even if nothing changes
        self._slots: dict[int, Picture] = {}
        self._fresh = asyncio.Event()
        self._poke = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._failing = False
        self.width = 0  # of the screen, once a picture was taken

    @contextlib.contextmanager
    def watch(self, linger_s: float = 0.0) -> Iterator[None]:
        """Be a watcher for the time of the block, and ``linger_s`` longer (a snapshot is over before it is seen)."""
        self._count(+1)
        try:
            yield
        finally:
            if linger_s:
                asyncio.get_running_loop().call_later(linger_s, self._count, -1)
            else:
                self._count(-1)

    async def next(self, by: int, after: int = 0) -> Picture:
        """The newest picture of this reduction, as soon as there is one with a number above ``after``."""
        self._hungry[by] += 1
        self._poke.set()
        try:
            while True:
                fresh = self._fresh
                picture = self._slots.get(by)
                if picture is None or picture.number > after:
                    if picture is not None and self._is_new(picture):
                        return picture
                    self._late.add(by)
                await fresh.wait()
        finally:
            self._hungry[by] -= 1

    def wake(self) -> None:
        """Something is about to happen on the screen: look at once and at full rate."""
        self._poke.set()

    async def close(self) -> None:
        """End the thread. Safe twice."""
        thread, self._thread = self._thread, None
        self._stop.set()
        self._poke.set()
        if thread is not None:
            await asyncio.to_thread(thread.join, 1.0)

    @property
    def watchers(self) -> int:
        return self._watchers

    def _is_new(self, picture: Picture) -> bool:
        """Not left over from the time when nobody of this reduction was ready."""
        return time.monotonic() - picture.at < 2 * max(self._period, IDLE_PERIOD_S)

    def _count(self, change: int) -> None:
        self._watchers += change
        self._watched(self._watchers)
        if self._watchers and self._thread is None:
            self._loop, self._stop = asyncio.get_running_loop(), threading.Event()
            self._thread = threading.Thread(target=self._work, args=(self._stop,), name="screen", daemon=True)
            self._thread.start()
        elif not self._watchers and self._thread is not None:
            self._stop.set()
            self._poke.set()
            self._thread = None
            self._slots.clear()

    def _put(self, by: int, picture: Picture, width: int) -> None:
        self._slots[by] = picture
        self._late.discard(by)
        self.width = width
        self._failing = False
        self._fresh.set()
        self._fresh = asyncio.Event()

    def _fail(self, problem: str) -> None:
        if not self._failing:
            self._failing = True
            self._troubled(f"The screen cannot be shown: {problem}")

    # --- the thread ------------------------------------------------------------------------------------------------

    def _work(self, stop: threading.Event) -> None:
        shot, sent = _Shot(self._port, self._exclude), dict[int, Picture]()
        while not stop.is_set():
            began = time.monotonic()
            period = self._period
            try:
                self._serve(shot, sent)
            except Exception as error:  # noqa: BLE001  a window system can fail in any way: say so, try again
                self._tell(self._fail, str(error).rstrip(".") or type(error).__name__)
                period = RETRY_S
            stop.wait(max(0.0, began + period - time.monotonic()))
            if shot.idle or not self._wanted():
                self._poke.wait(IDLE_PERIOD_S)
            if self._poke.is_set():
                self._poke.clear()
                shot.changed_at = time.monotonic()

    def _serve(self, shot: _Shot, sent: dict[int, Picture]) -> None:
        """Capture if somebody is ready, and encode what is new for each reduction that is waited for."""
        if not self._wanted():
            return
        frame = shot.take()
        for by in self._wanted():
            old = sent.get(by)
            if old is None or old.number != shot.number:
                sent[by] = Picture(shot.number, render(frame, shot.pointer, by), shot.at)
            elif by not in self._late:
                continue
            self._tell(self._put, by, replace(sent[by], at=shot.at), frame.shape[1])

    def _wanted(self) -> list[int]:
        return [by for by in (1, 2, 3, 4) if self._hungry[by] > 0]

    def _tell(self, function: Callable[..., None], *args: object) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop may be closed at shutdown
                self._loop.call_soon_threadsafe(function, *args)
