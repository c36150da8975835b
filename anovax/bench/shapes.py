"""The plans that a model would make of a dangerous text."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

Step = dict[str, Any]


def _type(text: str) -> Step:
    return {"tool": "type_text", "text": text}


def _press(keys: str) -> Step:
    return {"tool": "press_keys", "keys": keys}


def _open(name: str) -> Step:
    return {"tool": "open_app", "name": name}


def _pieces(text: str, rng: random.Random, most: int) -> list[Step]:
    count = min(rng.randint(2, most), max(1, len(text)))
    cuts = sorted(rng.sample(range(1, len(text)), count - 1)) if len(text) > 1 else []
    return [_type(text[start:stop]) for start, stop in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def shapes(text: str, kind: str, rng: random.Random) -> Iterator[tuple[str, list[Step]]]:
    """The plans that a model might make of a row: (name of the shape, steps)."""
    if kind == "url":
        yield "open_url", [{"tool": "open_url", "url": text}]
        if not re.search(r"[\x00-\x1f]", text):  # a control character would be a key there
            yield "address bar", [_open("firefox"), _press("ctrl+l"), _type(text), _press("enter")]
        return
    if kind == "hotkey":
        yield "press", [_press(text)]
        return
    shells = ("powershell", "cmd", "command prompt") if kind == "powershell" else ("terminal", "xterm", "konsole")
    shell, enter = rng.choice(shells), rng.choice(("enter", "return", "ctrl+m"))
    yield "terminal", [_open(shell), _type(text), _press(enter)]
    yield "newline", [_open(shell), _type(text + "\n")]
    yield "unknown", [_type(text), _press(enter)]
    yield "split", [*_pieces(text, rng, 6), _press(enter)]
    yield "focus", [{"tool": "focus_window", "name": shell}, *_pieces(text, rng, 4), _press(enter)]
    if "\n" not in text:
        yield "edited", [_open(shell), _type("x" + text), _press("home delete end"), _press(enter)]
        yield "run box", [_press(rng.choice(("super+r", "alt+f2"))), _type(text), _press(enter)]
        yield "launcher", [_press("super"), _type(text), _press(enter)]
        if len(text) <= 200:
            yield "open_app", [_open(text)]
