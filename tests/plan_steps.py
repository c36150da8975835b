"""Steps of plans as the tests write them."""

from __future__ import annotations

Step = dict[str, object]


def open_app(name: str) -> Step:
    return {"tool": "open_app", "name": name}


def type_text(text: str) -> Step:
    return {"tool": "type_text", "text": text}


def press_keys(keys: str, times: int = 1) -> Step:
    return {"tool": "press_keys", "keys": keys, "times": times}
