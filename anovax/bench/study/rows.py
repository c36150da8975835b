"""What is kept of one measured request, and the folder that keeps it.

A study's folder holds ``study.json`` (settings, machine, versions, hashes), ``rows.jsonl`` and ``rows.csv`` (one row
per request, appended as it is measured), and the reports. A study that was stopped goes on in its folder.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from anovax.errors import UsageError
from anovax.files import write_atomically

FORMAT = 1
MEASURED_WITH = ("machine", "versions", "weights")  # the rows of one folder have these in common
STAGES = (
    "load", "wake", "endpoint", "stt", "plan", "safety", "dispatch", "effect", "audio", "done", "total",
)  # fmt: skip
Mode = Literal["warm", "cold", "live"]


class Row(BaseModel):
    """One request to one backend.

    Milliseconds. ``load``: from nothing to ready (cold only). ``stt``, ``plan``, ``safety``, ``dispatch``: what that
    stage took; in live rows ``wake`` is counted from the end of the wake phrase, ``endpoint``, ``stt``, ``plan``,
    ``effect`` (the first step starts) and ``done`` (the last has ended) from the end of speech, ``dispatch`` from the
    verdict to the first step, ``audio`` (first sound of the answer) from the end of the last step. ``total``: all of
    it. ``energy_j``: joules of the processor packages while it ran, None where the machine does not tell.
    ``simulated``: the network in between was a model.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    request: str
    backend: str
    mode: Mode
    repeat: int
    at: float = 0.0
    text: str = ""
    heard: str = ""
    tools: str = ""
    answered_by: str = ""
    decision: str = ""
    tools_right: bool | None = None
    argument_right: bool | None = None
    word_errors: int | None = None
    words: int | None = None
    load: float | None = None
    wake: float | None = None
    endpoint: float | None = None
    stt: float | None = None
    plan: float | None = None
    safety: float | None = None
    dispatch: float | None = None
    effect: float | None = None
    audio: float | None = None
    done: float | None = None
    total: float | None = None
    sampled_tokens: int = 0
    forced_tokens: int = 0
    energy_j: float | None = None
    simulated: bool = False
    error: str = ""

    @property
    def key(self) -> tuple[str, str, str, int]:
        return self.request, self.backend, self.mode, self.repeat


class Folder:
    """A study's folder. ``open`` makes it, or goes on in it; UsageError when it belongs to other settings."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._jsonl, self._csv = path / "rows.jsonl", path / "rows.csv"

    def open(self, settings: dict[str, Any], about: dict[str, Any]) -> list[Row]:
        """The rows that are there already. ``settings`` decide what is measured, ``about`` says on what and with
        what."""
        if (self.path / "study.json").is_file():
            self._same(settings, about)
        elif self.path.exists() and any(self.path.iterdir()):
            raise UsageError(f"{self.path} holds other files", "name a new folder")
        else:
            self.path.mkdir(parents=True, exist_ok=True)
            self.write("study.json", json.dumps({"format": FORMAT, "settings": settings, "about": about}, indent=1))
        rows = self.rows()
        self.write("rows.jsonl", "".join(_line(row) for row in rows))  # without a line that was cut off
        self.write("rows.csv", _csv([list(Row.model_fields)]) + _csv([list(row.model_dump().values()) for row in rows]))
        return rows

    def _same(self, settings: dict[str, Any], about: dict[str, Any]) -> None:
        study = self.study()
        before = study["settings"] | {key: study["about"].get(key) for key in MEASURED_WITH}
        now = settings | {key: about.get(key) for key in MEASURED_WITH}
        other = [key for key in {**before, **now} if before.get(key) != now.get(key)]
        if other:
            was = ", ".join(f"{key} was {str(before.get(key))[:60]}" for key in other)
            raise UsageError(f"{self.path} holds another study ({was})", "name a new folder, or go on with the same")

    def add(self, row: Row) -> None:
        """Append one row to both files; it is on disk when this returns."""
        for path, line in ((self._jsonl, _line(row)), (self._csv, _csv([list(row.model_dump().values())]))):
            with path.open("a", encoding="utf-8", newline="") as file:
                file.write(line)

    def rows(self) -> list[Row]:
        """All whole rows. UsageError when the file is not ours."""
        if not self._jsonl.is_file():
            return []
        lines = self._jsonl.read_bytes().splitlines()  # bytes: within a text there are other signs that end a line
        rows = []
        for number, line in enumerate(lines, 1):
            try:
                rows.append(Row.model_validate_json(line))
            except ValidationError:
                if number < len(lines):  # only the last line can have been cut off
                    raise UsageError(f"Line {number} of {self._jsonl} is no row", "name another folder") from None
        return rows

    def study(self) -> dict[str, Any]:
        """What study.json says. UsageError when there is none, or of another format."""
        try:
            found: dict[str, Any] = json.loads((self.path / "study.json").read_text("utf-8"))
            if found["format"] != FORMAT:
                raise UsageError(f"{self.path} was written by another version", f"this one reads format {FORMAT}")
            return {**found, "settings": {**found["settings"]}, "about": {**found["about"]}}
        except (OSError, ValueError, KeyError, TypeError):
            raise UsageError(f"{self.path} holds no study", "name a folder that anovax bench run wrote") from None

    def write(self, name: str, content: str | bytes) -> Path:
        """Write one file of the folder, whole or not at all."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
        return path


def _line(row: Row) -> str:
    return row.model_dump_json() + "\n"


def _csv(rows: list[list[Any]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
