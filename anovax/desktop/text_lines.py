"""Where lines of text are in a picture of a screen: image processing only, some ten milliseconds for 1080p.

Text on a screen is upright and crisp, so a learned detector (about a second on two cores) is not needed: letters are
small connected pieces of high contrast; pieces of one height that stand beside one another make a line.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Boxes = npt.NDArray[np.int32]  # n x 4: x, y, w, h

_CONTRAST = 40  # least step in brightness (of 255) at a letter's edge
_MIN_H, _MAX_H = 5, 90  # pixels of a letter's height
_MAX_LETTER_W = 160  # pieces wider than this are frames and rules
_SOLID = 0.25  # share of its box that a letter's outline fills at least
_RULE = 48  # pixels of a straight run that is no part of a letter
_GAP = 0.75  # letters and words further apart than this (in heights of the line) belong to two lines
MAX_BOXES = 600


def text_lines(image: npt.NDArray[np.uint8]) -> Boxes:
    """Boxes of likely lines of text in an RGB picture (height, width, 3), uint8, with a small margin."""
    import cv2

    grey = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2GRAY)
    edges = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, np.ones((2, 2), np.uint8)) > _CONTRAST
    letters = _letters(cv2, _without_rules(cv2, edges.astype(np.uint8)))
    return _grouped(cv2, letters, grey.shape)


def _without_rules(cv2: Any, edges: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Edges less long straight runs (frames, underlines), so that a letter that touches one stays a letter."""
    for shape in ((1, _RULE), (_RULE, 1)):
        edges = edges & ~cv2.morphologyEx(edges, cv2.MORPH_OPEN, np.ones(shape, np.uint8))
    return edges


def _letters(cv2: Any, edges: npt.NDArray[np.uint8]) -> Boxes:
    """Connected pieces of a letter's size."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(edges, connectivity=8)
    boxes = stats[1:, :4]
    area = stats[1:, 4]
    w, h = boxes[:, 2], boxes[:, 3]
    hollow = (w > 24) & (h > 8) & (area < _SOLID * w * h)  # frames of buttons and fields
    fits = (
        ~hollow
        & (h <= _MAX_H)
        & (w <= _MAX_LETTER_W)
        & (area >= 4)
        & ((h >= 2) | (w >= 2))
        & (w <= 14 * np.maximum(h, 2))
    )
    return np.asarray(boxes[fits], dtype=np.int32)


def _grouped(cv2: Any, letters: Boxes, shape: tuple[int, ...]) -> Boxes:
    """Letters drawn as bars that reach as far as their height allows; what touches is one line."""
    canvas = np.zeros(shape, dtype=np.uint8)
    tall = letters[letters[:, 3] >= _MIN_H]
    for x, y, w, h in tall:
        reach = int(_GAP * min(h, 40) / 2) + 1
        cv2.rectangle(canvas, (int(x) - reach, int(y) + h // 4), (int(x + w) + reach, int(y + h) - h // 4), 255, -1)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(canvas, connectivity=4)
    return _around(labels, letters, len(stats))


def _around(labels: npt.NDArray[np.int32], letters: Boxes, count: int) -> Boxes:
    """The box around all letters of each group, with a margin for accents and descenders."""
    middle = labels[letters[:, 1] + letters[:, 3] // 2, letters[:, 0] + letters[:, 2] // 2]
    left, top = np.full(count, 1 << 30), np.full(count, 1 << 30)
    right, bottom, pieces = np.zeros(count, int), np.zeros(count, int), np.zeros(count, int)
    np.minimum.at(left, middle, letters[:, 0])
    np.minimum.at(top, middle, letters[:, 1])
    np.maximum.at(right, middle, letters[:, 0] + letters[:, 2])
    np.maximum.at(bottom, middle, letters[:, 1] + letters[:, 3])
    np.add.at(pieces, middle, 1)
    height, width = bottom - top, right - left
    real = (pieces > 0) & (np.arange(count) > 0) & (height >= _MIN_H) & (height <= _MAX_H) & (width >= 4)
    margin = np.maximum(2, height // 6)
    limit_y, limit_x = labels.shape
    x, y = np.maximum(left - margin, 0), np.maximum(top - margin, 0)
    w, h = np.minimum(right + margin, limit_x) - x, np.minimum(bottom + margin, limit_y) - y
    return np.asarray(np.stack([x, y, w, h], axis=1)[real][:MAX_BOXES], dtype=np.int32)
