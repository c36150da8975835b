"""An installed application as every platform describes it, and how it was found from a spoken name."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Application(BaseModel):
    """What can be started. ``names``: localised and plain name; ``command``: arguments without field codes;
    ``mime`` and ``categories`` as in XDG desktop entries; ``wm_class``: what its windows call themselves."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    names: tuple[str, ...] = ()
    generic: tuple[str, ...] = ()
    comment: str = ""
    keywords: tuple[str, ...] = ()
    categories: frozenset[str] = frozenset()
    mime: frozenset[str] = frozenset()
    command: tuple[str, ...] = ()
    cwd: str = ""
    terminal: bool = False
    dbus: bool = False
    wm_class: str = ""
    path: str = ""

    @property
    def program(self) -> str:
        """Base name of the executable, past ``env VAR=…`` and interpreters' wrappers."""
        words = [word for word in self.command if "=" not in word.split("/")[0]]
        while len(words) > 1 and words[0].rsplit("/", 1)[-1] in ("env", "sh", "python3", "flatpak", "snap"):
            words = [word for word in words[1:] if not word.startswith("-") and word != "run"]
        return words[0].replace("\\", "/").rsplit("/", 1)[-1] if words else ""


class Ranked(BaseModel):
    """One candidate: ``score`` 0..100, ``why`` what fitted."""

    model_config = ConfigDict(frozen=True)

    app: Application
    score: float
    why: str = ""


class Resolution(BaseModel):
    """What a spoken name stands for. ``found``: exactly ``app``. ``ambiguous``: ``candidates`` fit alike, ask.
    ``none``: nothing fits; ``candidates`` are the nearest, for recovery to judge, and ``akin`` is installed and of the
    kind that was meant ("gedit" where there is another text editor)."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["found", "ambiguous", "none"]
    app: Application | None = None
    candidates: tuple[Ranked, ...] = ()
    akin: Application | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(ranked.app.name for ranked in self.candidates)
