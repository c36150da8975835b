"""Scrolling: by words, by notches, and to the ends."""

from __future__ import annotations

import re

from anovax.planner.numbers import number
from anovax.planner.rules.notation import Build, Reading, Rule, Scene, book_rules, call

_PHRASES = r"""
top := (page|document|screen|article|window|site|website|list)

= scroll
scroll <how>

= scroll on
(scroll|keep scrolling|keep scrolling down|continue scrolling)

= top
(scroll|go|jump|move|take me) [back] [up] [all the way] to [the] [very] top [of] [the|this] [{top}]
[the] top of [the|this] {top}
back to [the] top [of] [the|this] [{top}]
(go|jump|move|scroll|take me) [back] to [the] (beginning|start) of [the|this] {top}

= bottom
(scroll|go|jump|move|take me) [down] [all the way] to [the] [very] (bottom|end) [of] [the|this] [{top}]
[the] bottom of [the|this] {top}
"""


def _scroll(match: re.Match[str], scene: Scene) -> Reading | None:
    how = " ".join(match["how"].lower().split())
    if (found := _SCROLL.match(how)) is None:
        return None
    direction, amount = found["direction"], found["amount"] or ""
    if found["all"] or "all the way" in amount or amount in ("to the bottom", "to the top", "to the end"):
        return call("scroll", direction={"up": "top", "down": "bottom"}.get(direction, direction))
    if amount in _AMOUNTS:
        return call("scroll", direction=direction, amount=_AMOUNTS[amount])
    n = number(re.sub(r"^by | (?:times|lines|notches|steps|pages)$", "", amount))
    if n and 6 < n <= 50 and amount.endswith(" pages") and direction in ("up", "down"):
        return call("press_keys", keys=f"page{direction}", times=n)
    n = n * 8 if n and amount.endswith(" pages") else n
    return call("scroll", direction=direction, amount=n) if n and n <= 50 else None


_SCROLL = re.compile(
    r"^(?:the page |the screen |this page |page |the window |it |this |on this page )?(?P<all>all the way )?"
    r"(?:to the )?(?P<direction>up|down|left|right)(?:wards?)?(?: (?:on )?(?:the|this) (?:page|screen|"
    r"window))?(?: (?P<amount>.+))?$"
)
_AMOUNTS = {
    "": 3, "a bit": 2, "a little": 2, "a little bit": 2, "slightly": 1, "more": 3, "some more": 3, "a bit more": 2,
    "a little more": 2, "a lot": 10, "again": 3, "further": 3, "one page": 8, "a page": 8, "one screen": 8, "slowly": 1,
}  # fmt: skip


def scroll_rules() -> tuple[Rule, ...]:
    """Scroll down a bit, to the bottom, five times."""
    builds: dict[str, Build | Reading] = {
        "scroll": _scroll,
        "scroll on": call("scroll", direction="down"),
        "top": call("scroll", direction="top"),
        "bottom": call("scroll", direction="bottom"),
    }
    return book_rules(_PHRASES, builds)
