"""Which window is meant: "this", "the other one", "the last one", "the other terminal", a title,
an application. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rapidfuzz import fuzz, utils

from anovax.errors import AmbiguousTarget, ToolError
from anovax.tool import WindowRef

_THIS = re.compile(r"^(?:|it|this|that|current|active|focused|this one|here)$")
_OTHER = re.compile(r"^(?:other|another|last|previous|prior|second|next|one before|before)(?: one)?(?: (?P<name>.+))?$")
_FILLERS = re.compile(r"\b(?:the|my|a|an|window|windows|app|application|program|please)\b")
_GOOD = 75.0
_CLOSE = 4.0  # scores that differ by less fit alike


def choose_window(
    name: str,
    windows: Sequence[WindowRef],
    focused: WindowRef | None,
    same_app: Callable[[WindowRef], bool] = lambda window: False,
    most_recent: bool = True,
) -> WindowRef:
    """The window that ``name`` stands for. ``windows`` are in order of use, the latest first; ``same_app`` tells
    windows of the application that the name is an alias of ("text editor"). With ``most_recent`` the latest of
    several windows that fit alike is meant; without, AmbiguousTarget asks. ToolError names what is open when nothing
    fits."""
    plain = " ".join(_FILLERS.sub(" ", name.casefold()).split())
    if _THIS.match(plain):
        return _focused(focused)
    others = [window for window in windows if focused is None or window.id != focused.id]
    if (match := _OTHER.match(plain)) is not None and not _named_so(plain, windows):
        if match["name"]:
            return _named(match["name"], others, same_app, most_recent)
        if not others:
            raise ToolError("There is no other window", "open one first")
        return others[0]
    here_first = sorted(windows, key=lambda window: focused is not None and window.id != focused.id)
    return _named(plain, here_first, same_app, most_recent, focused)


def _focused(focused: WindowRef | None) -> WindowRef:
    if focused is None:
        raise ToolError("No window has the focus", "say which window you mean")
    return focused


def _named_so(plain: str, windows: Sequence[WindowRef]) -> bool:
    return any(plain == window.title.casefold() or plain == window.app.casefold() for window in windows)


def score(plain: str, window: WindowRef) -> float:
    """How well a name fits a window, 0..100: whole words of the title or application count most."""
    texts = [utils.default_process(text) for text in (window.app, window.title) if text]
    wanted = utils.default_process(plain)
    joined = wanted.replace(" ", "")
    best = 0.0
    for text in texts:
        whole = 100.0 if joined == text.replace(" ", "") else 0.0
        within = 95.0 if f" {wanted} " in f" {text} " else 0.0
        near = max(
            fuzz.ratio(wanted, text), fuzz.partial_ratio(joined, text.replace(" ", "")) * 0.9 if len(joined) > 3 else 0
        )
        best = max(best, whole, within, near, fuzz.token_set_ratio(wanted, text) * 0.85)
    return best


def _named(
    plain: str,
    windows: Sequence[WindowRef],
    same_app: Callable[[WindowRef], bool],
    most_recent: bool,
    focused: WindowRef | None = None,
) -> WindowRef:
    ranked = [(max(score(plain, window), 92.0 if same_app(window) else 0.0), window) for window in windows]
    top = max((value for value, _ in ranked), default=0.0)
    if top < _GOOD:
        names = tuple(window.name for _, window in sorted(ranked, key=lambda pair: -pair[0]))[:5]
        raise ToolError(
            f"No open window is called {plain!r}",
            f"open are {', '.join(names)}" if names else "nothing is open",
            candidates=names,
        )
    alike = [window for value, window in ranked if value > top - _CLOSE]
    if len(alike) == 1 or (focused is not None and alike[0].id == focused.id):
        return alike[0]
    if most_recent and len({window.app for window in alike}) == 1:
        return alike[0]
    names = tuple(window.name for window in alike)
    raise AmbiguousTarget(f"{len(alike)} windows fit {plain!r}: {', '.join(names)}", "say which one", candidates=names)
