"""From a captured frame to a JPEG: compare, hide, shrink, draw the pointer, encode. No state, no window system."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anovax.companion.ports import Frame, ScreenWindow

QUALITY = {1: 70, 2: 75, 3: 78, 4: 80}  # by reduction: small pictures need it more and cost less
HIDDEN = (38, 42, 48)

# The usual arrow: X is its edge, o its face.
_ARROW = """
X
XX
XoX
XooX
XoooX
XooooX
XoooooX
XooooooX
XoooooooX
XoooooXXXX
XooXooX
XoX XooX
XX  XooX
X    XooX
     XooX
      XX
"""


def same(one: Frame | None, other: Frame) -> bool:
    """True when two frames are equal, byte for byte; compared in words of eight where the size allows."""
    if one is None or one.shape != other.shape:
        return False
    a, b = one.reshape(-1), other.reshape(-1)
    return np.array_equal(a.view(np.uint64), b.view(np.uint64)) if a.size % 8 == 0 else np.array_equal(a, b)


def hide(frame: Frame, windows: Sequence[ScreenWindow], excluded: Sequence[str]) -> Frame:
    """Cover every window whose application or title contains one of ``excluded`` (any case), even where another
    window lies above it: better a covered patch too many than a password. The frame itself is not changed."""
    names = [name.casefold() for name in excluded if name]
    secret = [w for w in windows if any(name in f"{w.app}\n{w.title}".casefold() for name in names)]
    if not secret:
        return frame
    covered = frame.copy()
    for w in secret:
        covered[max(0, w.y) : max(0, w.y + w.height), max(0, w.x) : max(0, w.x + w.width)] = HIDDEN
    return covered


def reduction(screen_width: int, wanted: int) -> int:
    """By which whole number (1 to 4) a screen is divided for a phone that shows ``wanted`` pixels across.

    Whole numbers, because averaging whole blocks of pixels is quick and keeps text legible.
    """
    return max(1, min(4, round(screen_width / max(wanted, 1))))


def shrink(frame: Frame, by: int) -> Frame:
    """The frame with blocks of ``by`` x ``by`` pixels averaged."""
    if by == 1:
        return frame
    from PIL import Image

    return np.asarray(Image.fromarray(frame).reduce(by))


def with_pointer(frame: Frame, x: int, y: int) -> Frame:
    """The frame with an arrow whose tip is at (x, y); the frame itself is not changed."""
    height, width = frame.shape[:2]
    if not (0 <= x < width and 0 <= y < height):
        return frame
    drawn = frame.copy()
    edge, face = (mask[: height - y, : width - x] for mask in _arrow())
    patch = drawn[y : y + edge.shape[0], x : x + edge.shape[1]]
    patch[edge] = 0
    patch[face] = 255
    return drawn


def encode(frame: Frame, quality: int) -> bytes:
    """JPEG, 4:2:0. simplejpeg was the quickest of those measured (`anovax bench companion` prints the comparison)."""
    import simplejpeg

    return bytes(
        simplejpeg.encode_jpeg(
            np.ascontiguousarray(frame), quality=quality, colorspace="RGB", colorsubsampling="420", fastdct=True
        )
    )


def render(frame: Frame, pointer: tuple[int, int], by: int) -> bytes:
    """Everything for one reduction: shrink, draw the pointer at its natural size, encode."""
    small = with_pointer(shrink(frame, by), pointer[0] // by, pointer[1] // by)
    return encode(small, QUALITY[by])


def _arrow() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    rows = _ARROW.strip("\n").split("\n")
    width = max(map(len, rows))
    grid = np.array([list(row.ljust(width)) for row in rows])
    return grid == "X", grid == "o"
