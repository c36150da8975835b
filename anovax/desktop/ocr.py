"""Text on the screen, found offline: RapidOCR (PP-OCR detection and recognition, ONNX weights inside its package)."""

from __future__ import annotations

import re
import threading
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict
from rapidfuzz import fuzz

from anovax.errors import DesktopError


class TextBox(BaseModel):
    """One line of text. ``x``, ``y``: top left corner, ``w``, ``h``: size, in pixels of the picture that was read;
    ``score`` 0..1 is the recogniser's own."""

    model_config = ConfigDict(frozen=True)

    text: str
    x: int
    y: int
    w: int
    h: int
    score: float

    @property
    def centre(self) -> tuple[int, int]:
        return self.x + self.w // 2, self.y + self.h // 2


class Ocr:
    """Reads pictures. The engine is built on the first read, and kept; one read at a time (thread-safe)."""

    def __init__(self, threads: int = 2) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._engine: Any = None

    def read(self, image: npt.NDArray[np.uint8]) -> tuple[TextBox, ...]:
        """Lines of text in ``image`` (uint8, shape (height, width, 3), RGB), in reading order."""
        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
            raise DesktopError(f"OCR needs an RGB picture of bytes, not {image.dtype} of shape {image.shape}")
        with self._lock:
            if self._engine is None:
                self._engine = _build(self._threads)
            rows, _ = self._engine(image[:, :, ::-1], use_cls=False)
        return reading_order(tuple(_box(points, text, float(score)) for points, text, score in rows or ()))


def _build(threads: int) -> Any:
    from rapidocr_onnxruntime import RapidOCR

    return RapidOCR(intra_op_num_threads=threads, inter_op_num_threads=1)


def _box(points: Any, text: str, score: float) -> TextBox:
    corners = np.asarray(points, dtype=float)
    left, top = corners.min(axis=0)
    right, bottom = corners.max(axis=0)
    return TextBox(text=text, x=round(left), y=round(top), w=round(right - left), h=round(bottom - top), score=score)


def reading_order(boxes: tuple[TextBox, ...]) -> tuple[TextBox, ...]:
    """Top to bottom, and left to right within a line (boxes whose centres lie within half a line's height)."""
    lines: list[list[TextBox]] = []
    for box in sorted(boxes, key=lambda b: b.y + b.h / 2):
        if lines and abs(box.y + box.h / 2 - lines[-1][0].y - lines[-1][0].h / 2) < 0.5 * min(box.h, lines[-1][0].h):
            lines[-1].append(box)
        else:
            lines.append([box])
    return tuple(box for line in lines for box in sorted(line, key=lambda b: b.x))


def as_lines(boxes: tuple[TextBox, ...]) -> tuple[str, ...]:
    """Boxes in reading order, joined into the lines that they stand on."""
    lines: list[list[TextBox]] = []
    for box in boxes:
        previous = lines[-1][-1] if lines else None
        beside = previous is not None and box.x >= previous.x and abs(box.centre[1] - previous.centre[1]) < 0.5 * min(box.h, previous.h)
        if beside:
            lines[-1].append(box)
        else:
            lines.append([box])
    return tuple("  ".join(box.text for box in line) for line in lines)


def relevant(lines: tuple[str, ...], query: str) -> tuple[str, ...]:
    """The lines that bear on ``query``, best first, at most five; a line that ends in a colon brings the next along."""
    wanted = [word for word in re.findall(r"\w+", query.casefold()) if word not in _ASKING]
    if not wanted:
        return lines
    scored = [(sum(_has(line, word) for word in wanted) / len(wanted), place) for place, line in enumerate(lines)]
    chosen = [place for fit, place in sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:5] if fit >= 0.5]
    out: list[str] = []
    for place in chosen:
        out += [lines[place], *(lines[place + 1 : place + 2] if lines[place].rstrip().endswith(":") else ())]
    return tuple(dict.fromkeys(out))


_ASKING = frozenset("what which who does do is are the a an it this that my on in of say says tell me read screen window show shows about".split())


def _has(line: str, word: str) -> bool:
    return fuzz.partial_ratio(word, line.casefold()) >= 85
