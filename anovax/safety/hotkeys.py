"""What chords do to the desktop, apart from editing text."""

from __future__ import annotations

import re

from anovax.safety.finding import Finding, ask, notice, refuse
from anovax.safety.keys import Chord, names, parse_chords
from anovax.safety.places import Place

_SYSTEM = names("ctrl+alt+delete ctrl+alt+kpdecimal ctrl+alt+sysrq ctrl+alt+end ctrl+alt+pause")
_LOSING_AS_WRITTEN = {
    "shift+delete": "it deletes for good, past the trash", "ctrl+shift+delete": "it clears browsing data or records",
    "ctrl+alt+backspace": "it ends the session",
    "ctrl+alt+shift+delete": "it ends the session", "super+shift+e": "it ends the session",
    "super+shift+q": "it closes a window at once", "ctrl+altgr+delete": "it ends the session",
    "super+shift+delete": "it empties the trash", "alt+super+delete": "it empties the trash",
    "super+backspace": "it deletes what is selected", "super+delete": "it deletes what is selected",
    "ctrl+alt+escape": "it kills the window that is clicked next", "super+shift+c": "it closes a window at once",
    "alt+shift+super+escape": "it ends programs at once", "super+x": "it opens the system's own menu",
    "power": "it shuts the computer down", "sleep": "it puts the computer to sleep",
    "alt+f4": "it closes the window, with what is not saved in it",
    "ctrl+shift+q": "it ends a program with all its windows",
    "ctrl+shift+w": "it closes a window with all its tabs", "alt+super+escape": "it ends programs at once",
    "ctrl+alt+super+q": "it ends the session", "super+shift+backspace": "it deletes for good",
    "alt+shift+delete": "it deletes for good", "ctrl+alt+r": "it may restart the computer",
    "ctrl+shift+backspace": "it deletes for good", "super+q": "it ends a program",
    "ctrl+shift+super+power": "it shuts down",
    "ctrl+alt+k": "it may end a program",
    "ctrl+super+q": "it locks the computer", "ctrl+super+f4": "it closes a desktop", "super+f4": "it closes a window",
    "ctrl+alt+f4": "it closes a program", "alt+shift+f4": "it closes a program",
    "super+alt+f4": "it closes a program", "wake": "it changes the power state",
}  # fmt: skip
_LOSING = {str(parse_chords(keys)[0]): why for keys, why in _LOSING_AS_WRITTEN.items()}
_CLOSING = names("alt+f4 ctrl+shift+w super+q ctrl+shift+q super+f4 ctrl+alt+f4 ctrl+super+f4")
_RUN_BOX = names(
    """super+r alt+f2 alt+space super super+s alt+f1 super+a ctrl+escape super+space ctrl+space ctrl+super+space
    alt+f3 super+/"""
)
_TERMINAL = names("ctrl+alt+t super+enter super+t ctrl+shift+` ctrl+alt+enter super+shift+enter")
_AWAY = names(
    """alt+tab alt+shift+tab super+tab alt+escape alt+` ctrl+alt+tab super+d super+m alt+f6 ctrl+f6 ctrl+alt+d
    super+shift+tab ctrl+alt+left ctrl+alt+right ctrl+alt+up ctrl+alt+down super+left super+right super+up
    super+down super+home super+pageup super+pagedown alt+f5 alt+f9 alt+f10 super+w"""
)  # fmt: skip
_CONSOLE = names("""f12 ctrl+shift+i ctrl+shift+j ctrl+shift+k ctrl+shift+c alt+super+i alt+super+j alt+super+c""")
_ADDRESS = names("""ctrl+l f6 alt+d ctrl+k ctrl+e ctrl+t ctrl+n ctrl+shift+n ctrl+shift+p super+t""")
# A terminal, a palette of commands, Emacs' prompts for commands of the shell
_PALETTES = names("""ctrl+shift+p ctrl+` alt+x f1 alt+! alt+shift+! alt+shift+1 alt+& alt+shift+& alt+shift+7 alt+|
    alt+shift+| alt+shift+\\ alt+: alt+shift+: alt+shift+;""")
_CLOSE_WORDS = re.compile(r"\b(close|quit|exit|shut|leave|kill|end|dismiss|alt[ +-]?f(4|four))\b")


def judge_chord(chord: Chord, place: Place, heard: str) -> Finding | None:
    """What pressing it would do, as far as it is no editing. ``heard`` is the user's own request, folded."""
    name = str(chord)
    if name in _SYSTEM or "sysrq" in name or (chord.key == "printscreen" and {"alt"} < chord.mods):
        return refuse("hotkey", f"{name} reaches the system itself")
    if {"ctrl", "alt"} <= chord.mods and re.fullmatch(r"f\d+", chord.key) and name != "ctrl+alt+f4":
        return ask("hotkey", f"{name} switches to a console outside of the desktop")
    if name in _CLOSING and _CLOSE_WORDS.search(heard):
        return notice("close", _LOSING[name])
    if chord.key in ("power", "sleep"):
        return ask("hotkey", _LOSING[chord.key])
    if name in _LOSING:
        return ask("hotkey", _LOSING[name])
    if name == "ctrl+q":
        return None if _CLOSE_WORDS.search(heard) else notice("close", "it ends a program")
    if chord.key == "delete" and not chord.mods and place is Place.FILES:
        return ask("delete", "it deletes the selected files")
    return None


def leads_to(chord: Chord, place: Place) -> Place | None:
    """Where the focus is after a chord that moves it; None when it stays."""
    name = str(chord)
    if place is Place.DOCUMENT and name in _PALETTES:
        return Place.TERMINAL if name == "ctrl+`" else Place.RUN_BOX
    if name in _RUN_BOX and not (place is Place.TERMINAL and name == "ctrl+space"):
        return Place.RUN_BOX
    if name in _TERMINAL:
        return Place.TERMINAL
    if name in _AWAY or ("super" in chord.mods and re.fullmatch(r"\d", chord.key)):
        return Place.UNKNOWN
    if place in (Place.BROWSER, Place.ADDRESS, Place.CONSOLE):
        return Place.CONSOLE if name in _CONSOLE else Place.ADDRESS if name in _ADDRESS else None
    if place is Place.FILES and name in ("ctrl+l", "f4", "alt+d"):
        return Place.RUN_BOX
    if name in ("ctrl+s", "ctrl+shift+s", "f12") and place in (Place.DOCUMENT, Place.MODAL, Place.FILE_DIALOG):
        return Place.FILE_DIALOG
    return Place.FILES if name == "super+e" else None


def closes(chord: Chord, place: Place) -> bool:
    """After it a question such as "Discard changes?" may stand on the screen. A terminal's Ctrl+W deletes a word."""
    return str(chord) in _CLOSING or (str(chord) in ("ctrl+q", "ctrl+w") and place is not Place.TERMINAL)
