"""Where on the screen a named thing is, among the texts that were read there. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapidfuzz import fuzz, utils

from anovax.desktop.ocr import TextBox
from anovax.errors import AmbiguousTarget, ToolError

ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1}
ORDINAL = re.compile(rf"\b({'|'.join(ORDINALS)})\b\s*(?:one\s*)?", re.I)
NOISE = re.compile(r"\b(the|on|button|link|menu|tab|icon|item)\b", re.I)
LEAST = 85.0


def find_target(name: str, boxes: Sequence[TextBox]) -> tuple[int, int]:
    """The centre of the text that ``name`` means: exact before beginning before part before nearly alike.

    "the second …" chooses by reading order. ToolError when nothing fits, AmbiguousTarget when several do alike.
    """
    ordinal = ORDINAL.search(name)
    said = _plain(NOISE.sub(" ", ORDINAL.sub(" ", name) if ordinal else name)) or _plain(name)
    found = _best(said, boxes)
    if not found:
        near = tuple(box.text for box in sorted(boxes, key=lambda b: -fuzz.ratio(said, _plain(b.text)))[:3])
        raise ToolError(f"{name!r} is not to be seen on the screen", "name a text that is visible", candidates=near)
    if ordinal:
        number = ORDINALS[ordinal.group(1).lower()]
        if number > len(found):
            raise ToolError(f"There are only {len(found)} of {said!r} on the screen", "count again")
        return found[number - 1 if number > 0 else number].centre
    if len(found) > 1:
        places = tuple(f"{box.text} at {box.x}, {box.y}" for box in found[:4])
        problem = f"{name!r} is on the screen {len(found)} times"
        raise AmbiguousTarget(problem, "say which: the first, the second", candidates=places)
    return found[0].centre


def _best(said: str, boxes: Sequence[TextBox]) -> list[TextBox]:
    tests = (
        lambda text: text == said,
        lambda text: text.startswith(said + " "),
        lambda text: re.search(rf"\b{re.escape(said)}\b", text) is not None,
        lambda text: fuzz.ratio(said, text) >= LEAST,
    )
    for fits in tests:
        if found := [box for box in boxes if fits(_plain(box.text))]:
            return found
    return []


def _plain(text: str) -> str:
    return str(utils.default_process(text))
