"""The line that is being typed, as readline or a text field would hold it, and the keys that edit it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from anovax.safety.keys import Chord, names

MAX_LINE = 20_000
_HISTORY = names(
    """up ctrl+r ctrl+p ctrl+s pageup alt+p alt+< alt+> ctrl+x alt+. alt+_ alt+ctrl+y alt+shift+- alt+y alt+t alt+c
    alt+r alt+* alt+= alt+? alt+/ alt+# alt+^ alt+! alt+ctrl+e ctrl+/ ctrl+_ ctrl+shift+- alt+shift+. alt+&
    alt+shift+7 alt+\\ ctrl+] alt+ctrl+]"""
)  # fmt: skip
_LATER_HISTORY = names("down ctrl+n pagedown alt+n f8 f7 f3 f5 alt+f7")


@dataclass
class Line:
    """``text`` since the last Enter, ``cursor`` in characters. ``blind``: something that we cannot see was put in
    (history, completion, an unknown clipboard), so that the text is only part of the truth. ``recent``: what was typed
    since a key that a text field and a shell read differently (Ctrl+A selects all or goes to the start)."""

    text: str = ""
    cursor: int = 0
    blind: str = ""
    killed: str = ""
    recent: str = ""

    @staticmethod
    def of(text: str) -> Line:
        return Line(text, len(text), recent=text)

    def insert(self, text: str) -> None:
        self.text = (self.text[: self.cursor] + text + self.text[self.cursor :])[:MAX_LINE]
        self.cursor = min(self.cursor + len(text), len(self.text))
        self.recent = (self.recent + text)[-MAX_LINE:]

    def clear(self) -> None:
        self.text = self.recent = self.blind = ""
        self.cursor = 0

    def backspace(self) -> None:
        start = max(0, self.cursor - 1)
        self.text, self.cursor = self.text[:start] + self.text[self.cursor :], start
        self.recent = self.recent[:-1]

    def delete(self) -> None:
        self.text = self.text[: self.cursor] + self.text[self.cursor + 1 :]

    def move(self, by: int) -> None:
        self.cursor = max(0, min(len(self.text), self.cursor + by))

    def go(self, place: int) -> None:
        self.cursor = max(0, min(len(self.text), place))

    def word_left(self) -> int:
        match = re.search(r"\S+\s*\Z", self.text[: self.cursor])
        return match.start() if match else 0

    def word_right(self) -> int:
        match = re.match(r"\s*\S+", self.text[self.cursor :])
        return self.cursor + match.end() if match else len(self.text)

    def kill(self, start: int, stop: int) -> None:
        self.killed = self.text[start:stop]
        self.text, self.cursor = self.text[:start] + self.text[stop:], start

    def swap(self) -> None:
        """Ctrl+T: the two characters around the cursor."""
        place = min(self.cursor, len(self.text) - 1)
        if place > 0:
            pair = self.text[place - 1 : place + 1]
            self.text = self.text[: place - 1] + pair[::-1] + self.text[place + 1 :]
            self.cursor = place + 1

    def press(self, chord: Chord) -> None:
        """An editing key. Keys that do not edit change nothing; keys whose effect cannot be told make it blind."""
        name = str(chord)
        action = self._actions().get(name)
        if action is not None:
            action()
        elif name in _HISTORY or (name in _LATER_HISTORY and self.text):
            self.blind = self.blind or name
        elif len(chord.key) == 1 and chord.mods <= {"shift", "altgr"}:
            self.insert(chord.key.upper() if "shift" in chord.mods else chord.key)
        elif chord.key == "space" and chord.mods <= {"shift"}:
            self.insert(" ")

    def _actions(self) -> dict[str, Callable[[], None]]:
        def start() -> None:
            self.cursor, self.recent = 0, ""

        return {
            "backspace": self.backspace, "shift+backspace": self.backspace, "ctrl+h": self.backspace,
            "delete": self.delete, "ctrl+d": self.delete,
            "left": lambda: self.move(-1), "ctrl+b": lambda: self.move(-1), "right": lambda: self.move(1),
            "ctrl+f": lambda: self.move(1),
            "home": start, "ctrl+a": start, "end": lambda: self.go(len(self.text)),
            "ctrl+e": lambda: self.go(len(self.text)),
            "shift+home": start, "ctrl+home": start, "ctrl+shift+home": start,
            "ctrl+end": lambda: self.go(len(self.text)),
            "ctrl+left": lambda: self.go(self.word_left()), "alt+b": lambda: self.go(self.word_left()),
            "ctrl+right": lambda: self.go(self.word_right()), "alt+f": lambda: self.go(self.word_right()),
            "ctrl+u": lambda: self.kill(0, self.cursor), "ctrl+k": lambda: self.kill(self.cursor, len(self.text)),
            "ctrl+w": lambda: self.kill(self.word_left(), self.cursor),
            "alt+backspace": lambda: self.kill(self.word_left(), self.cursor),
            "ctrl+backspace": lambda: self.kill(self.word_left(), self.cursor),
            "alt+d": lambda: self.kill(self.cursor, self.word_right()),
            "ctrl+delete": lambda: self.kill(self.cursor, self.word_right()),
            "ctrl+y": lambda: self.insert(self.killed), "ctrl+t": self.swap,
            "alt+l": lambda: None, "alt+u": lambda: None, "ctrl+c": self.clear, "ctrl+g": lambda: None,
            "escape": lambda: None,
        }  # fmt: skip
