"""The line that is being typed, as a readline-like editor would hold it."""

from __future__ import annotations

from dataclasses import dataclass

MAX_LINE = 20_000


@dataclass
class Line:
    """``text`` up to the last Enter, ``cursor`` in characters. ``blind``: something that we cannot see was put in
    (history, completion, an unknown clipboard), so the text is only part of the truth."""

    text: str = ""
    cursor: int = 0
    blind: str = ""
    killed: str = ""
    selected: bool = False

    @staticmethod
    def of(text: str) -> Line:
        return Line(text, len(text))

    def insert(self, text: str) -> None:
        if self.selected:
            self.text, self.cursor, self.selected = "", 0, False
        self.text = (self.text[: self.cursor] + text + self.text[self.cursor :])[:MAX_LINE]
        self.cursor = min(self.cursor + len(text), len(self.text))

    def clear(self) -> None:
        self.text, self.cursor, self.blind, self.selected = "", 0, "", False

    def backspace(self, count: int = 1) -> None:
        if self.selected:
            self.clear()
            return
        start = max(0, self.cursor - count)
        self.text, self.cursor = self.text[:start] + self.text[self.cursor :], start

    def delete(self, count: int = 1) -> None:
        if self.selected:
            self.clear()
            return
        self.text = self.text[: self.cursor] + self.text[self.cursor + count :]

    def move(self, by: int) -> None:
        self.selected = False
        self.cursor = max(0, min(len(self.text), self.cursor + by))

    def home(self) -> None:
        self.selected, self.cursor = False, self.text.rfind("\n", 0, self.cursor) + 1

    def end(self) -> None:
        self.selected = False
        stop = self.text.find("\n", self.cursor)
        self.cursor = len(self.text) if stop < 0 else stop

    def word_left(self) -> int:
        place = self.cursor
        while place and self.text[place - 1].isspace():
            place -= 1
        while place and not self.text[place - 1].isspace():
            place -= 1
        return place

    def word_right(self) -> int:
        place = self.cursor
        while place < len(self.text) and self.text[place].isspace():
            place += 1
        while place < len(self.text) and not self.text[place].isspace():
            place += 1
        return place

    def kill(self, start: int, stop: int) -> None:
        self.killed = self.text[start:stop]
        self.text, self.cursor = self.text[:start] + self.text[stop:], start
