"""Pictures of the screen through mss, one instance per thread, as RGB arrays."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from anovax.desktop.backend import Image, Monitor, Rect
from anovax.errors import DesktopError


class Capture:
    """Grabs parts of the virtual screen. Any thread may call it; each gets its own mss instance."""

    def __init__(self, display: str = "") -> None:
        self._options: dict[str, Any] = {"display": display} if display else {}
        self._lock = threading.Lock()
        self._by_thread: dict[threading.Thread, Any] = {}
        self._closed = False

    def grab(self, rect: Rect | None) -> Image:
        """Height x width x 3 RGB uint8 in captured pixels; None is the whole virtual screen. Parts outside the screen
        are cut off. DesktopError when nothing can be captured."""
        from mss.exception import ScreenShotError

        grabber = self._mine()
        try:
            box = self._clip(rect, grabber.monitors[0])
            shot = grabber.grab(box)
        except ScreenShotError as problem:
            raise DesktopError(
                f"The screen cannot be captured ({problem})", "check that the session is not locked"
            ) from None
        pixels = np.frombuffer(shot.bgra, dtype=np.uint8).reshape(shot.height, shot.width, 4)
        return np.stack([pixels[:, :, channel] for channel in (2, 1, 0)], axis=-1)  # quicker than a reversed slice

    def monitors(self) -> tuple[Monitor, ...]:
        """The monitors, the primary one first; ``scale`` is captured pixels per logical pixel."""
        grabber = self._mine()
        found = []
        for one in grabber.monitors[1:]:
            rect = Rect(x=one["left"], y=one["top"], w=one["width"], h=one["height"])
            found.append(
                Monitor(
                    rect=rect, scale=self._scale(grabber, one), name=str(one.get("name") or one.get("output") or "")
                )
            )
        return tuple(found)

    def _scale(self, grabber: Any, one: dict[str, int]) -> float:
        """Compare a capture's width with the logical width that was asked for (macOS captures in physical pixels)."""
        strip = {**one, "height": 1}
        return float(grabber.grab(strip).width) / one["width"]

    def _clip(self, rect: Rect | None, whole: dict[str, int]) -> dict[str, int]:
        if rect is None:
            return whole
        left, top = max(rect.x, whole["left"]), max(rect.y, whole["top"])
        right = min(rect.x + rect.w, whole["left"] + whole["width"])
        bottom = min(rect.y + rect.h, whole["top"] + whole["height"])
        if right <= left or bottom <= top:
            raise DesktopError("That part is outside the screen", "bring the window back onto the screen")
        return {"left": left, "top": top, "width": right - left, "height": bottom - top}

    def _mine(self) -> Any:
        import mss
        from mss.exception import ScreenShotError

        me = threading.current_thread()
        with self._lock:
            if self._closed:
                raise DesktopError("The desktop is closed")
            for thread in [thread for thread in self._by_thread if not thread.is_alive()]:
                self._by_thread.pop(thread).close()
            if me not in self._by_thread:
                try:
                    self._by_thread[me] = mss.MSS(**self._options)
                except (ScreenShotError, OSError) as problem:
                    raise DesktopError(
                        f"The screen cannot be captured ({problem})", "start AnovaX inside a desktop session"
                    ) from None
            return self._by_thread[me]

    def close(self) -> None:
        """Give every instance back. Safe twice."""
        with self._lock:
            self._closed = True
            instances, self._by_thread = list(self._by_thread.values()), {}
        for instance in instances:
            instance.close()
