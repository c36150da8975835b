"""Clicks on buttons that decide something."""

from __future__ import annotations

import re

from anovax.safety.finding import Finding, ask, notice
from anovax.safety.normalise import simple, words

_DECIDING = words(
    """yes ok okay allow accept agree confirm proceed delete remove erase format uninstall install pay buy purchase
    order checkout subscribe send transfer submit grant authorize authorise approve trust enable disable discard
    overwrite replace reset wipe publish post share upload donate bid withdraw unlock run execute restart reboot
    shutdown shut empty destroy terminate revoke unsubscribe deactivate merge deploy reject decline kill force
    logout signout clear permit understand anyway always permanently"""
)
_GRAVE = words("""delete remove erase format uninstall pay buy purchase order checkout transfer wipe destroy empty reset
    overwrite donate withdraw terminate deactivate install permanently discard""")
_PHRASES = re.compile(
    r"don'?t save|turn off|log ?out|sign ?out|move to trash|shut ?down|run anyway|open anyway|i agree|place "
    r"order|factory|sign in as|continue$|^next$|^finish$|^y$|^да$|^ja$|^oui$|^si$|^sí$"
)
# What people say for a button, beside the word on it
_SAID = {"yes": "confirm accept agree", "ok": "okay confirm accept", "okay": "ok", "delete": "remove erase",
"send": "submit", "submit": "send", "buy": "purchase order pay", "allow": "accept permit grant",
         "accept": "allow agree", "post": "publish send", "discard": "close without", "install": "set up",
         "run": "start", "remove": "delete", "confirm": "yes ok"}  # fmt: skip


def judge_click(target: str, heard: str) -> Finding | None:
    """A click on ``target``; ``heard`` is the user's own request. None when the button decides nothing."""
    label, said = simple(target), simple(heard)
    deciding = [word for word in re.findall(r"[\w']+", label) if word in _DECIDING]
    if not deciding and not _PHRASES.search(label):
        return None
    if len(label.split()) > 6 and not _PHRASES.search(label):
        return None
    asked = bool(said) and (
        _names(said, label)
        or all(
            _names(said, word) or any(_names(said, other) for other in _SAID.get(word, "").split())
            for word in deciding or ["-"]
        )
    )
    if not asked:
        return ask("click", f"nobody has asked to click “{target}”")
    return notice("click", f"“{target}” cannot be taken back") if set(deciding) & _GRAVE else None


def _names(said: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said) is not None
