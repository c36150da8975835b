"""The screen for the phones: one thread captures and encodes for everybody, each phone takes the newest picture.

There is one slot per picture width; a new picture replaces the old one. A phone that is slow to take one misses the
next and then gets the newest: it loses rate, not freshness. Nothing is captured while nobody watches or nobody is ready
for more, nothing is encoded while nothing changes.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from anovax.companion.picture import hide, reduction, render, same
from anovax.companion.ports import Frame, ScreenPort

WIDTHS = (360, 480, 640, 960, 1280, 1920, 2560)  # what phones may ask for; a picture may be wider, see reduction()
# After so many seconds of rest: look only so often. The pointer, a step that begins or a phone that comes ends that.
IDLE = ((30.0, 1.0), (10.0, 0.5), (1.5, 0.2))
LATE_S = 0.6  # a picture older than this is not handed out without another look
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

    def pause(self) -> float:
        """Seconds that the next look may wait beyond the usual, because the screen rests."""
        rest = time.monotonic() - self.changed_at
        return next((period for after, period in IDLE if rest > after), 0.0)

    def pointer_moved(self) -> bool:
        return self._port.pointer() != self.pointer


class Screen:
    """Lives on the event loop; its thread lives while somebody watches.

    ``watched`` is told how many phones watch when that changes, ``troubled`` one sentence when there is no picture.
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
        self._watchers: Counter[str] = Counter()  # streams and snapshots by phone
        self._hungry: Counter[int] = Counter()  # phones waiting for a picture, by width
        self._late: set[int] = set()  # widths that need the last picture confirmed even if nothing changes
        self._slots: dict[int, Picture] = {}
        self._fresh = asyncio.Event()
        self._poke = threading.Event()  # look now
        self._stirred = threading.Event()  # and go on looking at full rate
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._failing = False

    @contextlib.contextmanager
    def watch(self, phone: str = "", linger_s: float = 0.0) -> Iterator[None]:
        """``phone`` watches during the block and ``linger_s`` longer (a snapshot is over before it is seen)."""
        self._count(phone, +1)
        try:
            yield
        finally:
            if linger_s:
                asyncio.get_running_loop().call_later(linger_s, self._count, phone, -1)
            else:
                self._count(phone, -1)

    async def next(self, width: int, after: int = 0, again: bool = False) -> Picture:
        """The newest picture for this width (one of WIDTHS), as soon as there is one with a number above ``after``.

        ``again``: the caller waited just now, so that this is no reason to look.
        """
        self._hungry[width] += 1
        if not again:
            self._poke.set()
        try:
            while True:
                fresh = self._fresh
                picture = self._slots.get(width)
                if picture is None or picture.number > after:
                    if picture is not None and self._is_new(picture):
                        return picture
                    self._late.add(width)
                await fresh.wait()
        finally:
            self._hungry[width] -= 1

    def wake(self) -> None:
        """Something is about to happen on the screen: look at once and at full rate."""
        self._stirred.set()
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
        """How many phones watch."""
        return len(self._watchers)

    def _is_new(self, picture: Picture) -> bool:
        """Not left over from the time when nobody of this width was ready."""
        return time.monotonic() - picture.at < LATE_S

    def _count(self, phone: str, change: int) -> None:
        before = self.watchers
        self._watchers[phone] += change
        self._watchers = +self._watchers  # without those at zero
        if self.watchers != before:
            self._watched(self.watchers)
        if self._watchers and self._thread is None:
            self._loop, self._stop = asyncio.get_running_loop(), threading.Event()
            self._thread = threading.Thread(target=self._work, args=(self._stop,), name="screen", daemon=True)
            self._thread.start()
        elif not self._watchers and self._thread is not None:
            self._stop.set()
            self._poke.set()
            self._thread = None
            self._slots.clear()

    def _put(self, width: int, picture: Picture) -> None:
        self._slots[width] = picture
        self._late.discard(width)
        self._failing = False
        self._fresh.set()
        self._fresh = asyncio.Event()

    def _fail(self, problem: str) -> None:
        if not self._failing:
            self._failing = True
            self._troubled(f"The screen cannot be shown: {problem}")

    # --- the thread ------------------------------------------------------------------------------------------------

    def _work(self, stop: threading.Event) -> None:
        shot = _Shot(self._port, self._exclude)
        sent, told = dict[int, Picture](), dict[int, int]()
        while not stop.is_set():
            began = time.monotonic()
            period = self._period
            try:
                self._serve(shot, sent, told)
            except Exception as error:  # noqa: BLE001  a window system can fail in any way: say so, try again
                self._tell(self._fail, str(error).rstrip(".") or type(error).__name__)
                period = RETRY_S
            stop.wait(max(0.0, began + period - time.monotonic()))
            self._rest(shot, stop)

    def _serve(self, shot: _Shot, sent: dict[int, Picture], told: dict[int, int]) -> None:
        """Capture if somebody is ready, and encode what is new once for each reduction that is waited for.

        ``sent`` are the last pictures by reduction, ``told`` the last numbers by width.
        """
        if not self._wanted():
            return
        frame = shot.take()
        for width in self._wanted():
            by = reduction(frame.shape[1], width)
            if by not in sent or sent[by].number != shot.number:
                sent[by] = Picture(shot.number, render(frame, shot.pointer, by), shot.at)
            if told.get(width) != shot.number or width in self._late:
                told[width] = shot.number
                self._tell(self._put, width, replace(sent[by], at=shot.at))

    def _rest(self, shot: _Shot, stop: threading.Event) -> None:
        """Wait longer when nobody is ready or the screen rests; a poke or the moving pointer ends that."""
        end = time.monotonic() + (shot.pause() if self._wanted() else IDLE[0][1])
        while (left := end - time.monotonic()) > 0 and not stop.is_set():
            if self._poke.wait(min(left, self._period)) or (self._wanted() and _moved(shot)):
                break
        self._poke.clear()
        if self._stirred.is_set():
            self._stirred.clear()
            shot.changed_at = time.monotonic()

    def _wanted(self) -> list[int]:
        return [width for width in WIDTHS if self._hungry[width] > 0]

    def _tell(self, function: Callable[..., None], *args: object) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop may be closed at shutdown
                self._loop.call_soon_threadsafe(function, *args)


def _moved(shot: _Shot) -> bool:
    try:
        return shot.pointer_moved()
    except Exception:  # noqa: BLE001  the next look will say so
        return True


def nearest_width(wanted: int) -> int:
    """The one of WIDTHS that shows at least ``wanted`` pixels across."""
    return next((width for width in WIDTHS if width >= wanted), WIDTHS[-1])
