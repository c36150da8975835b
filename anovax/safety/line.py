"""The line that is being typed, as readline or a text field would hold it, and the keys that edit it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
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
        action = ACTIONS.get(name)
        if action is not None:
            action(self)
        elif name in _HISTORY or (name in _LATER_HISTORY and self.text):
            self.blind = self.blind or name
        elif len(chord.key) == 1 and chord.mods <= {"shift", "altgr"}:
            self.insert(chord.key.upper() if "shift" in chord.mods else chord.key)
        elif chord.key == "space" and chord.mods <= {"shift"}:
            self.insert(" ")


def _stay(line: Line) -> None:
    """Nothing changes."""


def _start(line: Line) -> None:
    line.cursor, line.recent = 0, ""


def _end(line: Line) -> None:
    line.go(len(line.text))


def _word_back(line: Line) -> None:
    line.go(line.word_left())


def _word_on(line: Line) -> None:
    line.go(line.word_right())


def _kill_word_back(line: Line) -> None:
    line.kill(line.word_left(), line.cursor)


def _kill_word_on(line: Line) -> None:
    line.kill(line.cursor, line.word_right())


def _back(line: Line) -> None:
    line.move(-1)


def _on(line: Line) -> None:
    line.move(1)


ACTIONS: Mapping[str, Callable[[Line], None]] = {
    **dict.fromkeys(names("backspace shift+backspace ctrl+h"), Line.backspace),
    **dict.fromkeys(names("delete ctrl+d"), Line.delete),
    **dict.fromkeys(names("left ctrl+b"), _back), **dict.fromkeys(names("right ctrl+f"), _on),
    **dict.fromkeys(names("home ctrl+a shift+home ctrl+home ctrl+shift+home"), _start),
    **dict.fromkeys(names("end ctrl+e ctrl+end"), _end),
    **dict.fromkeys(names("ctrl+left alt+b"), _word_back), **dict.fromkeys(names("ctrl+right alt+f"), _word_on),
    **dict.fromkeys(names("ctrl+w alt+backspace ctrl+backspace"), _kill_word_back),
    **dict.fromkeys(names("alt+d ctrl+delete"), _kill_word_on),
    "ctrl+u": lambda line: line.kill(0, line.cursor),
    "ctrl+k": lambda line: line.kill(line.cursor, len(line.text)),
    "ctrl+y": lambda line: line.insert(line.killed), "ctrl+t": Line.swap, "ctrl+c": Line.clear,
    **dict.fromkeys(names("alt+l alt+u ctrl+g escape"), _stay),
}  # fmt: skip
