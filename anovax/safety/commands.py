"""What running a line of text as a command would be."""

from __future__ import annotations

import re

from anovax.safety.finding import APPROVED, Finding, ask
from anovax.safety.places import Place

_EVERYDAY = frozenset(
    "ls cd pwd echo cat date whoami git python3 man which grep less head tail mkdir touch clear history top df du".split()
)


def judge_command(text: str, place: Place) -> Finding:
    words = text.split()
    if not words or (place is Place.UNKNOWN and re.fullmatch(r"[\w ,.!?'’]*", text) and len(words) > 3):
        return APPROVED
    if words[0] in _EVERYDAY and not re.search(r"[;&|<>`$(){}\\*~]|/(etc|dev|home|root|usr)", text):
        return APPROVED
    return ask("command", "it would run as a command")
