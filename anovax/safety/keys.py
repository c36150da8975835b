"""Chords as typed values: ``ctrl+shift+t`` in whatever spelling becomes one canonical Chord."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

_MODIFIERS = {
    "ctrl": "ctrl", "control": "ctrl", "ctl": "ctrl", "lctrl": "ctrl", "rctrl": "ctrl", "strg": "ctrl", "^": "ctrl",
    "shift": "shift", "lshift": "shift", "rshift": "shift",
    "alt": "alt", "option": "alt", "opt": "alt", "lalt": "alt", "altgr": "altgr", "ralt": "altgr",
    "super": "super", "win": "super", "windows": "super", "meta": "super", "cmd": "super", "command": "super",
    "lwin": "super", "rwin": "super", "mod4": "super",
}  # fmt: skip
_NAMES = {
    "return": "enter", "kpenter": "enter", "numpadenter": "enter", "numenter": "enter", "enterkey": "enter",
    "linefeed": "enter", "kp_enter": "enter", "newline": "enter", "\n": "enter", "\r": "enter", "⏎": "enter",
    "↵": "enter",
    "del": "delete", "kpdelete": "delete", "esc": "escape", "bksp": "backspace", "back": "backspace", "bs": "backspace",
    "ins": "insert", "pgup": "pageup", "prior": "pageup", "pgdn": "pagedown", "pgdown": "pagedown", "next": "pagedown",
    "arrowup": "up", "uparrow": "up", "arrowdown": "down", "downarrow": "down", "arrowleft": "left",
    "leftarrow": "left",
    "arrowright": "right", "rightarrow": "right", "spacebar": "space", " ": "space", "prtsc": "printscreen",
    "print": "printscreen", "prtscn": "printscreen", "prtscr": "printscreen", "sysreq": "sysrq", "capslk": "capslock",
    "context": "menu", "apps": "menu", "plus": "+", "minus": "-", "tilde": "~", "grave": "`", "backtick": "`",
    "backquote": "`", "slash": "/", "backslash": "\\", "comma": ",", "period": ".", "dot": ".", "semicolon": ";",
    "equal": "=", "equals": "=", "hash": "#", "quote": "'", "apostrophe": "'", "kpadd": "+", "kpsubtract": "-",
    "underscore": "_", "colon": ":", "asterisk": "*", "star": "*", "exclam": "!", "at": "@", "percent": "%",
    "mute": "volumemute", "playpausetoggle": "playpause", "pauseplay": "playpause", "medianext": "nexttrack",
    "mediaprevious": "prevtrack", "mediaprev": "prevtrack", "mediaplaypause": "playpause", "mediastop": "stop",
    "next_track": "nexttrack", "previoustrack": "prevtrack", "audioraisevolume": "volumeup",
    "audiolowervolume": "volumedown", "audiomute": "volumemute", "audioplay": "playpause", "audionext": "nexttrack",
    "audioprev": "prevtrack", "audiostop": "stop",
}  # fmt: skip
_PLAIN = frozenset(
    [
        "enter",
        "tab",
        "escape",
        "space",
        "backspace",
        "delete",
        "insert",
        "home",
        "end",
        "pageup",
        "pagedown",
        "up",
        "down",
        "left",
        "right",
        "printscreen",
        "pause",
        "break",
        "sysrq",
        "scrolllock",
        "capslock",
        "numlock",
        "menu",
        "clear",
        "help",
        "select",
        "execute",
        "begin",
        "cancel",
        "undo",
        "redo",
        "find",
        "copy",
        "cut",
        "paste",
        "open",
        "volumeup",
        "volumedown",
        "volumemute",
        "playpause",
        "play",
        "stop",
        "nexttrack",
        "prevtrack",
        "rewind",
        "fastforward",
        "eject",
        "brightnessup",
        "brightnessdown",
        "kbdbrightnessup",
        "kbdbrightnessdown",
        "micmute",
        "launchmail",
        "launchmediaselect",
        "launchapp1",
        "launchapp2",
        "calculator",
        "mail",
        "www",
        "homepage",
        "search",
        "favorites",
        "refresh",
        "browserback",
        "browserforward",
        "browserrefresh",
        "browserstop",
        "browsersearch",
        "browserfavorites",
        "browserhome",
        "sleep",
        "power",
        "wake",
        "zoomin",
        "zoomout",
        "super",
        "ctrl",
        "alt",
        "shift",
        "altgr",
        "fn",
        "kp0",
        "kp1",
        "kp2",
        "kp3",
        "kp4",
        "kp5",
        "kp6",
        "kp7",
        "kp8",
        "kp9",
        "kpmultiply",
        "kpdivide",
        "kpdecimal",
    ]
    + [f"f{n}" for n in range(1, 36)]
)


_TWO_WORDS = re.compile(
    r"\b(page (up|down)|(caps|num|scroll) lock|print screen|back space|volume (up|down|mute)|play pause|"
    r"(next|previous|prev) track|space bar|(left|right|up|down) arrow|"
    r"arrow (left|right|up|down)|kp enter|fast forward|brightness (up|down)|zoom (in|out))\b"
)


@dataclass(frozen=True)
class Chord:
    """``mods`` of ctrl, shift, alt, altgr, super; ``key`` a canonical name or one character."""

    mods: frozenset[str]
    key: str

    def __str__(self) -> str:
        return self._name

    @functools.cached_property
    def _name(self) -> str:
        order = [name for name in ("ctrl", "alt", "altgr", "shift", "super") if name in self.mods]
        return "+".join([*order, self.key])


def parse_chords(text: str) -> tuple[Chord, ...]:
    """All chords of a ``keys`` argument, in order; ValueError names the first thing that is no key."""
    if text in ("\n", "\r", " ", "\t"):
        return (Chord(frozenset(), {"\t": "tab", " ": "space"}.get(text, "enter")),)
    text = _TWO_WORDS.sub(lambda match: match[0].replace(" ", ""), text.casefold())
    joined = re.sub(r"\s*\+\s*(?=\S)", "+", text.strip().casefold())
    chords = tuple(_chord(part) for part in re.split(r"[\s,]+(?=\S)|\s+", joined) if part)
    if not chords:
        raise ValueError("no key is named")
    return chords


def names(text: str) -> frozenset[str]:
    """A set of chords from a blank-separated list, by their canonical names: whatever is compared with ``str(chord)``
    must be spelt as it is. ValueError for what is no chord."""
    return frozenset(str(chord) for chord in parse_chords(text))


def _chord(text: str) -> Chord:
    if text in ("+", "-", ","):
        return Chord(frozenset(), text)
    if re.search(r"[^+]\+$", text):
        raise ValueError(f"{text!r} is no whole chord")
    parts = [part for part in re.split(r"\+|(?<=\w)-(?=\w)", text) if part]
    if text.endswith(("++", "+-")) or (text.endswith("-") and len(text) > 1):
        parts = [*parts, text[-1]] if parts[-1:] != [text[-1]] else parts
    if not parts:
        raise ValueError(f"{text!r} is no key")
    mods = [_MODIFIERS.get(part, "") for part in parts[:-1]]
    if not all(mods):
        raise ValueError(f"{text!r} is no chord")
    return Chord(frozenset(mods), _key(parts[-1]))


def _key(name: str) -> str:
    name = _NAMES.get(name, name)
    if len(name) == 1 or name in _PLAIN:
        return name
    short = re.sub(r"[\s_\-]|^xf86|key$", "", name)
    short = _NAMES.get(short, _MODIFIERS.get(short, short))
    if len(short) == 1 or short in _PLAIN:
        return short
    raise ValueError(f"{name!r} is no key")
