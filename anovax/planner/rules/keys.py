"""Keys and chords as they are spoken, and the press rules."""

from __future__ import annotations

import re

from anovax.planner.numbers import number, spoken_numbers
from anovax.planner.rules.notation import Reading, Rule, Scene, call, rules

_NAMES = {
    "control": "ctrl", "ctrl": "ctrl", "shift": "shift", "alt": "alt", "option": "alt", "windows": "win",
    "window": "win", "win": "win", "super": "win", "meta": "win", "command": "win", "cmd": "win", "alt gr": "altgr",
    "enter": "enter", "return": "enter", "escape": "esc", "esc": "esc", "tab": "tab", "space": "space",
    "spacebar": "space", "space bar": "space", "backspace": "backspace", "back space": "backspace", "delete": "delete",
    "del": "delete", "insert": "insert", "home": "home", "end": "end", "page up": "pageup", "pageup": "pageup",
    "page down": "pagedown", "pagedown": "pagedown", "up": "up", "down": "down", "left": "left", "right": "right",
    "up arrow": "up", "down arrow": "down", "left arrow": "left", "right arrow": "right", "arrow up": "up",
    "arrow down": "down", "arrow left": "left", "arrow right": "right", "caps lock": "capslock",
    "num lock": "numlock", "scroll lock": "scrolllock", "print screen": "printscreen", "printscreen": "printscreen",
    "menu": "menu", "plus": "plus", "minus": "minus", "dash": "minus", "hyphen": "minus", "comma": "comma",
    "period": "period", "dot": "period", "full stop": "period", "slash": "slash", "forward slash": "slash",
    "backslash": "backslash", "back slash": "backslash", "semicolon": "semicolon", "apostrophe": "apostrophe",
    "equals": "equal", "equal": "equal", "grave": "grave", "backtick": "grave",
    "volume up": "volumeup", "volume down": "volumedown", "mute": "volumemute", "volume mute": "volumemute",
    "play": "playpause", "pause": "playpause", "play pause": "playpause", "next track": "nexttrack",
    "previous track": "prevtrack",
}  # fmt: skip
MODIFIERS = frozenset({"ctrl", "shift", "alt", "win", "altgr"})
_ALONE = frozenset({"enter", "esc", "tab", "backspace", "delete", "pageup", "pagedown", "space"})
_CHARACTER = re.compile(r"^(?:[a-z0-9]|f(?:[1-9]|1[0-9]|2[0-4]))$")
_JOIN = re.compile(r"(?<=\w)\s*(?:\+|-)\s*(?=\w)|\s+(?:plus|and)\s+(?=\S)")
_CAPITAL = re.compile(r"^(?:capital|uppercase|upper case|big) ([a-z])$")
_SPELT_OUT = re.compile(r"^(?:letter|number|digit|character) (?=\w+$)")
_OFTEN = re.compile(r",? (?:(once|twice|thrice)|(\S+(?: \S+)?) times?)$", re.IGNORECASE)
_KEY_WORD = re.compile(r" (?:key|keys|button)$", re.IGNORECASE)
_FUNCTION_KEY = re.compile(r"\bf (?=\d)")


def chord(text: str) -> str | None:
    """A chord as it is written: "control shift t" -> "ctrl+shift+t"; None when a word in it is no key."""
    line = _SPELT_OUT.sub("", " ".join(text.lower().removeprefix("the ").split()))
    if capital := _CAPITAL.match(line):
        return f"shift+{capital[1]}"
    line = _FUNCTION_KEY.sub("f", spoken_numbers(_JOIN.sub(" ", line)))
    words, keys, at = line.split(), [], 0
    while at < len(words):
        pair = " ".join(words[at : at + 2])
        width = 2 if pair in _NAMES and at + 1 < len(words) else 1
        word = " ".join(words[at : at + width])
        key = _NAMES.get(word) or (word if _CHARACTER.match(word) else None)
        if key is None:
            return None
        keys.append(key)
        at += width
    *held, last = keys or [""]
    whole = bool(last) and all(key in MODIFIERS for key in held) and len(set(keys)) == len(keys)
    return "+".join(keys) if whole else None


def how_often(text: str) -> tuple[str, int | None]:
    """What is to be repeated, and how often: "tab three times" -> ("tab", 3). None: no number that makes sense."""
    if not (often := _OFTEN.search(text)):
        return text, 1
    head, words = text[: often.start()], (often[1] or often[2]).split()
    if len(words) == 2 and number(" ".join(words)) is None:
        head, words = f"{head} {words[0]}", words[1:]
    return head, number(" ".join(words))


def _press(match: re.Match[str], scene: Scene) -> Reading | None:
    said, times = how_often(match["keys"])
    keys = chord(_KEY_WORD.sub("", said))
    if keys is None or times is None or not 1 <= times <= 50:
        return None
    return call("press_keys", keys=keys, times=times) if times != 1 else call("press_keys", keys=keys)


def _bare(match: re.Match[str], scene: Scene) -> Reading | None:
    keys = chord(match["keys"])
    chorded = keys is not None and "+" in keys and keys.split("+")[0] in ("ctrl", "alt", "win")
    arrow = keys is not None and "arrow" in match["keys"].lower()
    return call("press_keys", keys=keys) if keys in _ALONE or chorded or arrow else None


def key_rules() -> tuple[Rule, ...]:
    """press X, hit X twice, push X, and chords said alone."""
    press = "(press|hit|push|tap|strike|press on) [the]"
    return (
        *rules(_press, f"{press} <keys>"),
        *rules(_bare, "<keys>"),
    )
