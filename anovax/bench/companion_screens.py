"""Screens for the companion's benchmark: a desktop-like picture whose frames carry their time, or a real X display."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anovax.bench.phones import stamp
from anovax.companion.ports import Frame, ScreenWindow
from anovax.errors import DesktopError

WIDTH, HEIGHT, FPS = 1280, 720, 10.0


class DrawnScreen:
    """A desktop-like picture. ``moving``: a window wanders, and each frame carries the time at which it was drawn."""

    def __init__(self, moving: bool) -> None:
        self._ground = desktop_picture()
        self._moving = moving
        self._frames = 0

    def grab(self) -> Frame:
        frame = self._ground.copy()
        if self._moving:
            self._frames += 1
            x = 400 + self._frames * 8 % 600
            frame[300:600, x : x + 240] = self._ground[100:400, 500:740]
            stamp(frame, time.time())
        return frame

    def pointer(self) -> tuple[int, int]:
        return (640, 360)

    def windows(self) -> Sequence[ScreenWindow]:
        return ()


class PacedScreen(DrawnScreen):
    """Changes ten times a second on its own, as a desktop does: what grab() sees may be up to 100 ms old."""

    def __init__(self) -> None:
        super().__init__(True)
        self._shown: tuple[float, Frame] = (0.0, super().grab())

    def grab(self) -> Frame:
        drawn_at = int(time.time() * FPS) / FPS
        if drawn_at != self._shown[0]:
            frame = super().grab()
            stamp(frame, drawn_at)
            self._shown = (drawn_at, frame)
        return self._shown[1].copy()


@contextmanager
def resting_screen() -> Iterator[tuple[Any, str]]:
    """A screen that does not change, and its kind: a real X display where there is one, else a drawn picture."""
    from anovax.desktop import build
    from anovax.desktop.virtual_display import virtual_display
    from anovax.remote import LaptopScreen

    with ExitStack() as stack:
        try:
            display = stack.enter_context(virtual_display(WIDTH, HEIGHT))
            screen: Any = LaptopScreen(stack.enter_context(build(display=display)))
            kind = "X display"
        except DesktopError:
            screen, kind = DrawnScreen(moving=False), "drawn"
        yield screen, kind


def desktop_picture() -> NDArray[np.uint8]:
    """Windows with text and a gradient, as screens have."""
    from PIL import Image, ImageDraw

    picture = Image.linear_gradient("L").resize((WIDTH, HEIGHT)).convert("RGB")
    draw = ImageDraw.Draw(picture)
    for left, top in ((40, 60), (480, 90), (760, 260)):
        draw.rectangle((left, top, left + 460, top + 400), fill=(250, 250, 250))
        draw.rectangle((left, top, left + 460, top + 26), fill=(60, 70, 90))
        for line in range(24):
            draw.text(
                (left + 10, top + 34 + line * 15), f"{line:3}  The quick brown fox jumps over it", fill=(20, 20, 20)
            )
    return np.asarray(picture)
