"""Words of a command after expansion, and the commands they make."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field, replace
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Word:
    """``text``: what the shell would pass, as far as it is constant. ``open``: some part is known only at run time.
    ``hidden``: written in a way that serves only to hide what it says. ``odd``: the same, but only for a program's
    name (quotes or backslashes inside). ``quoted``: no globbing. ``substituted``: some part is a command's output."""

    text: str
    open: bool = False
    hidden: bool = False
    odd: bool = False
    quoted: bool = False
    substituted: bool = False

    @property
    def globbed(self) -> bool:
        return not self.quoted and bool(re.search(r"[*?]|\[[^\[\]]+\]", self.text))


@dataclass(frozen=True, slots=True)
class Redirect:
    """``operator`` such as ``>`` or ``<``; ``target`` the file."""

    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        return ">" in self.operator


@dataclass(frozen=True)
class Command:
    """One simple command. ``stdin``: its constant input, "" for none, None when it cannot be known."""

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    stdin: str | None = ""
    cwd: str = "."
    piped: bool = False
    env: tuple[tuple[str, str], ...] = field(default=())

    @cached_property
    def name(self) -> str:
        """The program: base name, lower-case, without .exe."""
        text = self.words[0].text.replace("\\", "/") if self.words else ""
        return posixpath.basename(text.rstrip("/")).casefold().removesuffix(".exe")

    @cached_property
    def args(self) -> tuple[Word, ...]:
        return self.words[1:]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.words[1:])

    @cached_property
    def low(self) -> tuple[str, ...]:
        return tuple(word.text.casefold() for word in self.words[1:])

    def inner(self, words: tuple[Word, ...], **changes: object) -> Command:
        """The command that this one would run."""
        return replace(self, words=words, **changes)  # type: ignore[arg-type]

    def has(self, short: str = "", *long: str) -> bool:
        """Any of the one-letter flags ``short`` (also in clusters) or long options (also abbreviated, with =value)."""
        for text in self.texts:
            if text == "--":
                return False
            if text.startswith("--"):
                name = text[2:].split("=")[0].casefold()
                if any(option == name or (len(name) > 3 and option.startswith(name)) for option in long):
                    return True
            elif text.startswith("-") and len(text) > 1 and set(text[1:]) & set(short):
                return True
        return False

    def operands(self, valued: str = "") -> tuple[Word, ...]:
        """The arguments that are no options; ``valued`` are the one-letter options that take the next word."""
        found: list[Word] = []
        skip = only = False
        for word in self.args:
            if skip:
                skip = False
            elif only or not word.text.startswith("-") or word.text == "-":
                found.append(word)
            elif word.text == "--":
                only = True
            elif len(word.text) == 2 and word.text[1] in valued:
                skip = True
        return tuple(found)

    def path(self, word: Word) -> str:
        """A word as a normalised path, relative to where an earlier ``cd`` went."""
        text = word.text if word.text.startswith("/") else posixpath.join(self.cwd, word.text)
        clean = posixpath.normpath(text) if text else ""
        return "/" + clean.lstrip("/") if clean.startswith("/") else clean


def split(words_text: str) -> tuple[Word, ...]:
    return tuple(Word(part) for part in words_text.split())
