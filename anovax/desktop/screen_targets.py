"""Which place on the screen is meant: visible text, "the second Save", "the second link". Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict
from rapidfuzz import fuzz, utils

from anovax.desktop.backend import Image
from anovax.desktop.ocr import TextBox, reading_order
from anovax.errors import AmbiguousTarget, ToolError

_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "last": -1,
}  # fmt: skip
_NUMBERED = re.compile(
    rf"^(?:the )?(?:(?P<word>{'|'.join(_ORDINALS)})|(?P<digits>\d{{1,2}})(?:st|nd|rd|th))\s+(?P<what>.+)$"
)
_KINDS = re.compile(r"\s+(?:button|link|icon|tab|menu|menu item|item|entry|label|field|box|checkbox|option)$")
_LINKS = re.compile(r"^(?:links?|results?|search results?|hyperlinks?)$")
_NEARLY = 85.0  # percent of letters alike, for a text that OCR or STT got slightly wrong


class Target(BaseModel):
    """What was said, taken apart. ``number``: 1 for the first, -1 for the last, 0 when none was said; ``link``: any
    link."""

    model_config = ConfigDict(frozen=True)

    text: str
    number: int = 0
    link: bool = False


def parse_target(said: str) -> Target:
    """ "the second link" -> link number 2; "the Save button" -> "Save"."""
    line = " ".join(said.split())
    numbered = _NUMBERED.match(line.casefold())
    number = 0
    if numbered:
        number = _ORDINALS[numbered["word"]] if numbered["word"] else int(numbered["digits"])
        line = line[len(line) - len(numbered["what"]) :]
    if _LINKS.match(line.casefold()) and number:
        return Target(text=line, number=number, link=True)
    line = re.sub(r"(?i)^(?:the|on)\s+", "", line)
    return Target(text=_KINDS.sub("", line, count=1) or line, number=number)


def choose_place(target: Target, found: Sequence[TextBox]) -> TextBox:
    """The box that is meant: exact before beginning before part before nearly alike. Without a number several that
    fit in the same way are ambiguous, and the user must choose."""
    alike = _alike(utils.default_process(target.text) or target.text.casefold(), found)
    if not alike:
        near = tuple(dict.fromkeys(box.text for box in found))[:3]
        raise ToolError(
            f"{target.text!r} is not to be seen on the screen", "name a text that can be seen", candidates=near
        )
    if target.number:
        return nth(alike, target)
    if len(alike) > 1:
        places = tuple(f"{box.text} at {box.centre[0]}, {box.centre[1]}" for box in alike)
        problem = f"{target.text!r} is on the screen {len(alike)} times"
        raise AmbiguousTarget(problem, "say which one, such as the second", candidates=places)
    return alike[0]


def _alike(said: str, boxes: Sequence[TextBox]) -> tuple[TextBox, ...]:
    """The boxes of the best kind of fit that any of them has, in reading order."""
    tests: tuple[Callable[[str], bool], ...] = (
        lambda text: text == said,
        lambda text: text.startswith(said + " "),
        lambda text: re.search(rf"\b{re.escape(said)}\b", text) is not None,
        lambda text: fuzz.ratio(said, text) >= _NEARLY,
        lambda text: len(said) > 4 and fuzz.partial_ratio(said, text) >= _NEARLY,
    )
    for fits in tests:
        if found := tuple(box for box in boxes if fits(utils.default_process(box.text) or box.text.casefold())):
            return reading_order(found)
    return ()


def labels(said: str, boxes: Sequence[TextBox], most: int = 5) -> tuple[str, ...]:
    """Short texts that could be clicked instead (buttons, entries), those that sound most like ``said`` first."""
    short = dict.fromkeys(
        box.text.strip() for box in boxes if len(box.text.strip()) >= 2 and len(box.text.split()) <= 4
    )
    wanted = utils.default_process(said)
    alike = sorted(short, key=lambda text: -fuzz.ratio(wanted, utils.default_process(text)))
    return tuple(alike[:most])


def nth(boxes: Sequence[TextBox], target: Target) -> TextBox:
    """Number ``target.number`` of ``boxes``; ToolError when there are fewer."""
    at = target.number - 1 if target.number > 0 else len(boxes) + target.number
    if not 0 <= at < len(boxes):
        raise ToolError(f"There are only {len(boxes)} of {target.text!r} on the screen", "name one that can be seen")
    return boxes[at]


def links(image: Image, boxes: Sequence[TextBox]) -> tuple[TextBox, ...]:
    """The lines whose letters are coloured like a link (blue or violet on a light ground, light blue on a dark one), in
    reading order. A guess from the picture alone, for applications that do not tell what is a link."""
    return tuple(
        box
        for box in reading_order(tuple(boxes))
        if _is_link_coloured(image[box.y : box.y + box.h, box.x : box.x + box.w])
    )


def _is_link_coloured(crop: Image) -> bool:
    pixels = crop.reshape(-1, 3).astype(np.int16)
    if not len(pixels):
        return False
    ground = np.median(pixels, axis=0)
    ink = pixels[np.abs(pixels - ground).sum(axis=1) > 120]
    if len(ink) < 8:
        return False
    red, green, blue = np.median(ink, axis=0)
    return bool(blue - red > 60 and blue - green > 30 and blue > 110)
