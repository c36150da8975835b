"""Which window a spoken name means: by title and application, "the other one", "the last one". Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapidfuzz import fuzz, process, utils

from anovax.errors import AmbiguousTarget, ToolError
from anovax.tool import WindowRef

THIS = re.compile(r"(this|that|it|the (current|active|focused|front))( one| window)?", re.I)
OTHER = re.compile(r"(the )?(other|previous|last|next|other one)( one| window)?", re.I)
NOISE = re.compile(r"\b(the|my|a|window|windows|app|application|please)\b", re.I)
LEAST, CLEAR = 70.0, 8.0  # score from which a window fits; lead from which the best one is clear


def choose(name: str, windows: Sequence[WindowRef], focus: WindowRef | None) -> WindowRef:
    """The window that ``name`` means among ``windows`` (top one first).

    ToolError when none fits (its candidates are the open windows), AmbiguousTarget when two fit alike.
    """
    others = [window for window in windows if focus is None or window.id != focus.id]
    if THIS.fullmatch(name.strip()) and focus is not None:
        return focus
    if OTHER.fullmatch(name.strip()):
        if not others:
            raise ToolError("There is no other window", "open one first")
        return others[0]
    scored = sorted(((score(name, window), window) for window in windows), key=lambda pair: -pair[0])
    fitting = [(points, window) for points, window in scored if points >= LEAST]
    if not fitting:
        names = tuple(window.name for window in windows[:5])
        raise ToolError(f"No window is called {name!r}", f"open are: {', '.join(names) or 'none'}", candidates=names)
    best, window = fitting[0]
    rivals = [other for points, other in fitting[1:] if best - points < CLEAR]
    if rivals and len({window.name, *(rival.name for rival in rivals)}) > 1:
        names = tuple(dict.fromkeys(w.name for w in (window, *rivals)))
        raise AmbiguousTarget(f"More than one window fits {name!r}", "say which", candidates=names)
    return window


def score(name: str, window: WindowRef) -> float:
    """0 to 100: how well ``name`` fits the window's application or title."""
    said = utils.default_process(NOISE.sub(" ", name)) or utils.default_process(name)
    best = process.extractOne(said, [window.app, window.title], scorer=fuzz.WRatio, processor=utils.default_process)
    return float(best[1]) if best else 0.0
