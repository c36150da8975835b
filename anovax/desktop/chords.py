"""Chords: ``ctrl+shift+t`` in any spelling, spoken or written, becomes one canonical Chord. Pure.

A plan's ``keys`` may hold several chords ("ctrl+a ctrl+c"), words as they are spoken ("control shift t", "page down
twice", "capital b") and the names that key libraries use ("volumeup", "XF86AudioPlay", "Prior").
"""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict
from rapidfuzz import process

from anovax.errors import ToolError

MODIFIERS = ("ctrl", "alt", "altgr", "shift", "win")
MAX_CHORDS = 50

_MODIFIER_NAMES = {
    "ctrl": "ctrl", "control": "ctrl", "ctl": "ctrl", "strg": "ctrl", "shift": "shift", "alt": "alt", "option": "alt",
    "opt": "alt", "altgr": "altgr", "alt gr": "altgr", "alt graph": "altgr", "win": "win", "windows": "win",
    "super": "win", "meta": "win", "command": "win", "cmd": "win", "logo": "win",
}  # fmt: skip

# canonical key -> its other names
_ALIASES: dict[str, tuple[str, ...]] = {
    "enter": ("return", "newline", "kp enter", "num enter"), "esc": ("escape",), "tab": ("tabulator",),
    "space": ("spacebar", "space bar"), "backspace": ("back space", "bksp", "rubout"),
    "delete": ("del", "forward delete"),
    "insert": ("ins",), "home": (), "end": (), "pageup": ("page up", "pgup", "prior"),
    "pagedown": ("page down", "pgdn", "pgdown", "next page"),
    "up": ("up arrow", "arrow up", "cursor up"), "down": ("down arrow", "arrow down", "cursor down"),
    "left": ("left arrow", "arrow left", "cursor left"), "right": ("right arrow", "arrow right", "cursor right"),
    "printscreen": ("print screen", "prtsc", "prtscr", "prtscn", "print"), "pause": ("break",),
    "menu": ("apps", "context menu"),
    "capslock": ("caps lock", "caps"), "numlock": ("num lock",), "scrolllock": ("scroll lock",),
    "volumeup": ("volume up", "louder", "audio raise volume"),
    "volumedown": ("volume down", "quieter", "audio lower volume"),
    "volumemute": ("volume mute", "mute", "unmute", "audio mute"), "micmute": ("mic mute", "audio mic mute"),
    "playpause": ("play pause", "play", "audio play", "media play pause"), "stop": ("media stop", "audio stop"),
    "nexttrack": ("next track", "next song", "audio next", "media next"),
    "prevtrack": ("previous track", "prev track", "previous song", "audio prev", "media prev", "media previous"),
    "rewind": ("audio rewind",), "fastforward": ("fast forward", "audio forward"), "eject": (),
    "brightnessup": ("brightness up", "mon brightness up"),
    "brightnessdown": ("brightness down", "mon brightness down"),
    "browserback": ("browser back",), "browserforward": ("browser forward",), "refresh": ("browser refresh",),
    "browserhome": ("browser home",), "calculator": ("launch app2",), "mail": ("launch mail",), "search": (),
    "sleep": (), "power": ("power off",),
    "+": ("plus",), "-": ("minus", "dash", "hyphen"), ",": ("comma",), ".": ("period", "dot", "full stop", "point"),
    "/": ("slash", "forward slash"), "\\": ("backslash", "back slash"), ";": ("semicolon", "semi colon"),
    ":": ("colon",),
    "'": ("apostrophe", "quote", "single quote"), '"': ("double quote", "quotes"),
    "=": ("equal", "equals", "equal sign"),
    "`": ("grave", "backtick", "back tick", "backquote"), "~": ("tilde",), "_": ("underscore",),
    "!": ("exclamation mark", "bang"),
    "?": ("question mark",), "@": ("at", "at sign"), "#": ("hash", "number sign", "pound"),
    "$": ("dollar", "dollar sign"),
    "%": ("percent",), "^": ("caret", "circumflex"), "&": ("ampersand",), "*": ("asterisk", "star"),
    "(": ("left paren", "open paren"),
    ")": ("right paren", "close paren"), "[": ("left bracket", "open bracket"), "]": ("right bracket", "close bracket"),
    "{": ("left brace", "open brace"), "}": ("right brace", "close brace"), "<": ("less than",), ">": ("greater than",),
    "|": ("pipe", "vertical bar"),
    **{f"f{n}": (f"f {n}", f"function {n}") for n in range(1, 25)},
}  # fmt: skip
_SPOKEN_DIGITS = dict(
    zip(("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"), "0123456789", strict=True)
)
_COUNTS = {"once": 1, "twice": 2, "thrice": 3, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7,
           "eight": 8, "nine": 9, "ten": 10, "twenty": 20}  # fmt: skip
_TIMES = re.compile(r"\s+(?:(\w+)\s+times|(once|twice|thrice))$")
_FILLERS = re.compile(r"\b(?:and then|and|then|the|key|keys|button|press)\b")

KEYS: dict[str, str] = {
    **{alias: key for key, aliases in _ALIASES.items() for alias in (key, *aliases)},
    **{alias.replace(" ", ""): key for key, aliases in _ALIASES.items() for alias in aliases},
    **_SPOKEN_DIGITS,
}


class Chord(BaseModel):
    """``mods`` in the order ctrl, alt, altgr, shift, win; ``key`` a canonical name or one character."""

    model_config = ConfigDict(frozen=True)

    mods: tuple[str, ...] = ()
    key: str

    def __str__(self) -> str:
        return "+".join([*self.mods, self.key])


def parse_chords(text: str) -> tuple[Chord, ...]:
    """All chords that ``text`` names, in order. ToolError names the first word that is no key, with near names; nothing
    has been pressed by then."""
    line, times = _times(" ".join(text.split()) if text.strip() else _blank(text))
    found: list[Chord] = []
    words = _words(line)
    while words:
        chord, words = _take(words, text)
        found.append(chord)
    if not found:
        raise ToolError(f"No key is named in {text!r}", "name a key such as enter, or a chord such as ctrl+c")
    if len(found) * times > MAX_CHORDS:
        raise ToolError(f"{len(found) * times} key presses are too many at once", f"ask for at most {MAX_CHORDS}")
    return tuple(found) * times


def _blank(text: str) -> str:
    return {"\n": "enter", "\r": "enter", "\t": "tab", " ": "space"}.get(text[:1], "")


def _times(line: str) -> tuple[str, int]:
    match = _TIMES.search(line.lower())
    if not match:
        return line, 1
    word = match[1] or match[2]
    count = _COUNTS.get(word) or (int(word) if word.isdecimal() else 0)
    return (line[: match.start()], count) if count else (line, 1)


def _words(line: str) -> list[str]:
    """Words, with "+" between keys kept as its own word; a final "+" (or a lone one) is the key plus."""
    spaced = re.sub(r"(?<=[^\s+])\s*\+\s*(?=\S)", " \0 ", line)
    spaced = re.sub(r"(?i)\b(ctrl|control|alt|shift|win|super|cmd|meta)-(?=\w)", "\\1 \0 ", spaced)
    spaced = re.sub(r"(?i)\bXF86_?(?=\w)", "", spaced)
    if len(line) > 1:
        spaced = " ".join(_FILLERS.sub(" ", spaced.lower() if len(line.split()) > 1 else spaced).split()) or spaced
    return re.split(r"[\s,]+(?=\S)|\s+", spaced.strip()) if spaced.strip() else []


def _take(words: list[str], whole: str) -> tuple[Chord, list[str]]:
    """The first chord and the words after it: modifiers, then one key; joined by "+" or merely following each other."""
    mods: list[str] = []
    while (found := _modifier(words)) is not None:
        name, rest = found
        if not rest:
            return _chord(mods, name), []  # a modifier pressed alone, such as the Windows key
        mods.append(name)
        words = rest[1:] if rest[0] in ("\0", "plus") and len(rest) > 1 else rest
    key, extra, words = _key(words, whole)
    if words[:1] == ["\0"]:
        raise ToolError(f"{whole!r} is no chord: {key} is no modifier", "name modifiers first, as in ctrl+shift+t")
    return _chord([*mods, *extra], key), words


def _chord(mods: list[str], key: str) -> Chord:
    return Chord(mods=tuple(name for name in MODIFIERS if name in mods and name != key), key=key)


def _modifier(words: list[str]) -> tuple[str, list[str]] | None:
    for width in (2, 1):
        name = _MODIFIER_NAMES.get(" ".join(words[:width]).lower())
        if name and len(words) >= width:
            return name, words[width:]
    return None


def _key(words: list[str], whole: str) -> tuple[str, list[str], list[str]]:
    """(canonical key, modifiers that it implies, words after it)."""
    if len(words) > 1 and words[0].lower() in ("capital", "uppercase", "big") and len(words[1]) == 1:
        return words[1].lower(), ["shift"], words[2:]
    for width in (3, 2, 1):
        name = KEYS.get(" ".join(words[:width]).lower())
        if name and len(words) >= width:
            return name, [], words[width:]
    if words and len(words[0]) == 1:
        char = words[0]
        return char.lower(), ["shift"] if char.isalpha() and char != char.lower() else [], words[1:]
    raise _unknown(words[0].replace("\0", "+") if words else "", whole)


def _unknown(word: str, whole: str) -> ToolError:
    near = tuple(match[0] for match in process.extract(word, list(KEYS), limit=3, score_cutoff=75))
    names = tuple(dict.fromkeys(KEYS[name] for name in near))
    hint = f"did you mean {' or '.join(names)}" if names else "name a key such as enter, or a chord such as ctrl+c"
    return ToolError(f"There is no key {word!r} (in {whole!r})", hint, candidates=names)
