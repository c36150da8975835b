"""Which lines of a picture may carry a text, by their shape alone: where words begin and end in it.

The recogniser needs some twenty milliseconds a line, a page of text has hundreds of them, and most can be told from
the wanted text by the lengths of their words. A guess from typical letter widths, good for an order, never a verdict.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Picture = npt.NDArray[np.uint8]  # height x width x 3
Mask = npt.NDArray[np.bool_]  # one entry per step from left to right: inside a word or not

_STEPS = 96
_INK = 60  # least difference from the ground, of 255
_WORD_GAP = 0.17  # heights of the line's box from which a gap parts two words
_WIDTHS = {  # ems of a letter in a grotesque such as Helvetica, the commonest kind on screens
    0.24: "ijl'|", 0.28: "ftI.,:;!/ ", 0.33: "r-()[]", 0.5: "cksvxyzJ", 0.61: "FTZ", 0.67: "ABEKPSVXY&",
    0.72: "wCDHNRU", 0.78: "GOQ", 0.84: "mM", 0.94: "W@%",
}  # fmt: skip
_WIDTH = {char: width for width, chars in _WIDTHS.items() for char in chars}
_EM_PER_HEIGHT = 0.75  # letter size of a line whose box (with its margin) is one high
_TOO_LONG = 0.35  # what a line loses for each doubling of its length against the expected one


def likeness(crops: list[Picture], text: str) -> npt.NDArray[np.float64]:
    """How well each crop's words lie where those of ``text`` would: about 1 alike, lower unlike. Shape (n,)."""
    wanted, ems = expected(text)
    return np.array([_fit(crop, wanted, ems) for crop in crops])


def expected(text: str) -> tuple[Mask, float]:
    """Where the words of ``text`` lie in a typical proportional font, and its length in ems."""
    line = " ".join(text.split())
    widths = [_WIDTH.get(char, 0.56) for char in line]
    ends = np.cumsum(widths)
    middle = (np.arange(_STEPS) + 0.5) / _STEPS * ends[-1]
    at = np.searchsorted(ends, middle)
    return np.array([line[place] != " " for place in at]), float(ends[-1])


def words_of(crop: Picture) -> tuple[Mask, int]:
    """Columns of a line that lie inside a word, from the first ink to the last, and how many columns that are."""
    ground = np.median(crop.reshape(-1, 3), axis=0)
    inked = (np.abs(crop.astype(np.int16) - ground).max(axis=2) > _INK).any(axis=0)
    columns = np.flatnonzero(inked)
    if not len(columns):
        return np.zeros(1, dtype=bool), 0
    gaps = np.diff(columns)
    mask = inked[columns[0] : columns[-1] + 1].copy()
    for place in np.flatnonzero(gaps - 1 < max(2.0, _WORD_GAP * crop.shape[0])):
        mask[columns[place] - columns[0] : columns[place + 1] - columns[0]] = True
    return mask, len(mask)


def _fit(crop: Picture, wanted: Mask, ems: float) -> float:
    mask, length = words_of(crop)
    if not length:
        return -1.0
    steps = ((np.arange(_STEPS) + 0.5) / _STEPS * length).astype(int)
    longer = abs(np.log2(length / (ems * _EM_PER_HEIGHT * crop.shape[0])))
    return float((mask[steps] == wanted).mean()) - _TOO_LONG * float(longer)
