"""The grammar's scanner (tree-sitter-bash up to 0.25.1) looks letters up in a table of 256 and reads behind its end,
which can end the process. It never sees another letter: each has a Latin one in its place."""

from __future__ import annotations

_POOL = [chr(code) for code in range(0xC0, 0xFF) if chr(code).isalpha()]
_ANY = "\xff"  # for all that are more than the pool


class Narrow:
    """One text's places, kept over the texts within it: a letter in place of another stays as it is."""

    def __init__(self) -> None:
        self._to: dict[str, str] = {}

    def __call__(self, text: str) -> bytes:
        """The text as the grammar may see it."""
        if not text.isascii():
            given = set(self._to.values())
            for char in dict.fromkeys(char for char in text if not char.isascii() and char not in given):
                if char not in self._to:
                    self._to[char] = _POOL[len(self._to)] if len(self._to) < len(_POOL) else _ANY
            text = "".join(self._to.get(char, char) for char in text)
        return text.encode()

    def back(self, text: str) -> str:
        """What is told to the user, with the letters that were given."""
        return text if text.isascii() else text.translate({ord(to): char for char, to in self._to.items()})
