"""What is recognised in the text itself: the wake phrase in front, "stop" and its kin, "never mind". Pure."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

STOP = re.compile(
    r"^\W*((please|okay|ok|no|now),? )*(stop|stop it|stop that|stop talking|stop now|cancel|cancel that|quiet|be quiet|"
    r"shut up|silence|enough|that's enough|abort|halt)( now| please| it)?\W*$",
    re.IGNORECASE,
)
NEVER_MIND = re.compile(
    r"^\W*((oh|no|actually|okay|ok),? )*(never ?mind|forget it|forget that|nothing)\W*$", re.IGNORECASE
)


def without_phrase(text: str, phrase: str) -> str:
    """``text`` without the wake phrase at its beginning, however it was spelled ("Hey, Travis.")."""
    words = list(re.finditer(r"[\w']+", text))
    best, cut = 0.0, 0
    for count in range(1, min(len(words), len(phrase.split()) + 2) + 1):
        said = "".join(w.group().lower() for w in words[:count])
        score = SequenceMatcher(None, said, phrase.replace(" ", "").lower()).ratio()
        if score > best:
            best, cut = score, words[count - 1].end()
    if best < 0.66:
        return text.strip()
    rest = text[cut:].lstrip(" ,.!?;:-–—…")
    return rest[:1].upper() + rest[1:] if text[:1].isupper() else rest
