"""Text from anywhere, for the eyes: nothing in it moves the cursor, hides a letter or turns a line around. Pure."""

from __future__ import annotations

import re

# Control characters but the newline and the tab, invisible letters, marks that change the direction of writing
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]|"
    "(?<=[\x00-\x7f])\u200d|\u200d(?=[\x00-\x7f])"
)


def visible(text: str) -> str:
    """The text with what cannot be seen written out: ``ls\\r`` becomes ``ls<U+000D>``. Joined emoji stay whole."""
    return text if text.isprintable() else _UNSEEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)
