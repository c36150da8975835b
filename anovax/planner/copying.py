"""What an argument will probably go on with: the user's own words."""

from __future__ import annotations

import re

MAX_GUESS = 40  # characters: a longer wrong guess would cost more than it can save
_OPEN_STRING = re.compile(r'"((?:[^"\\]|\\.)*)$')
_JOINT = re.compile(r",|\.\s|\s(?:and|then)\b", re.IGNORECASE)


class Copying:
    """Guesses from ``request``, as it stands in the prompt. ``__call__`` takes the JSON text written so far."""

    def __init__(self, request: str) -> None:
        self._request = request
        self._lower = request.lower()

    def __call__(self, written: str) -> str:
        """The words after those that the open string ends with, up to where a new thing begins, and its closing quote;
        "" outside strings and where the words so far are not the request's."""
        if written.count('"') % 2 == 0 or (match := _OPEN_STRING.search(written)) is None or not match[1].strip():
            return ""
        at = self._find(match[1].lower())
        if at < 0:
            return ""
        rest = self._request[at:]
        joint = _JOINT.search(rest)
        rest = rest[: joint.start()] if joint else rest
        return (
            rest[:MAX_GUESS]
            if len(rest) > MAX_GUESS
            else rest + '"' + ("]]" if not joint and self._last(written) else "]")
        )

    def _find(self, said: str) -> int:
        """Where the one occurrence of ``said`` at a word's start ends; -1 for none or several."""
        places = [m.end() for m in re.finditer(rf"(?<!\w){re.escape(said)}", self._lower)]
        return places[0] if len(places) == 1 else -1

    @staticmethod
    def _last(written: str) -> bool:
        """Whether the step that is being written is the last of those announced."""
        count = re.match(r"\[(\d)", written)
        return count is not None and written.count('["') == int(count[1])
