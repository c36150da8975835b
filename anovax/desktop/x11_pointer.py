"""The pointer on X11 through XTEST."""

from __future__ import annotations

import time

from anovax.desktop.backend import Button
from anovax.desktop.x11_connection import Connection
from anovax.tool import StepContext

_BUTTONS: dict[Button, int] = {"left": 1, "middle": 2, "right": 3}
_WHEEL = {"up": 4, "down": 5, "left": 6, "right": 7}
_CLICK_GAP_S = 0.06  # well inside every toolkit's double-click time, yet two events for it


class Pointer:
    """Moves, clicks, drags and scrolls over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._x = connection

    def at(self) -> tuple[int, int]:
        with self._x:
            seen = self._x.root.query_pointer()
            return int(seen.root_x), int(seen.root_y)

    def move(self, x: int, y: int) -> None:
        from Xlib import X

        with self._x:
            self._x.display.xtest_fake_input(X.MotionNotify, 0, x=x, y=y, root=self._x.root)
            self._x.display.sync()

    def click(self, x: int, y: int, button: Button, count: int) -> None:
        """Press and release in one write each, so that no button can stay down."""
        from Xlib import X

        self.move(x, y)
        for number in range(count):
            if number:
                time.sleep(_CLICK_GAP_S)
            with self._x:
                self._x.display.xtest_fake_input(X.ButtonPress, _BUTTONS[button])
                self._x.display.xtest_fake_input(X.ButtonRelease, _BUTTONS[button])
                self._x.display.sync()

    def drag(self, x: int, y: int, to_x: int, to_y: int, step: StepContext) -> None:
        """Press at one place, move in small steps, release at the other; released in every case."""
        from Xlib import X

        self.move(x, y)
        with self._x:
            self._x.display.xtest_fake_input(X.ButtonPress, 1)
            self._x.display.sync()
        try:
            for part in range(1, 11):
                step.sleep(0.015)
                self.move(x + (to_x - x) * part // 10, y + (to_y - y) * part // 10)
        finally:
            with self._x:
                self._x.display.xtest_fake_input(X.ButtonRelease, 1)
                self._x.display.sync()

    def scroll(self, direction: str, amount: int, step: StepContext) -> None:
        from Xlib import X

        for _ in range(amount):
            step.check()
            with self._x:
                self._x.display.xtest_fake_input(X.ButtonPress, _WHEEL[direction])
                self._x.display.xtest_fake_input(X.ButtonRelease, _WHEEL[direction])
                self._x.display.sync()
