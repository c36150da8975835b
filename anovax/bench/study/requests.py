"""What is asked in a study: texts from a list or a labelled table, and recordings with what is said in them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anovax.bench.accuracy import Case, alternatives, read_cases
from anovax.bench.table import read_table, read_text
from anovax.errors import UsageError

SOUNDS = (".wav", ".flac", ".ogg", ".mp3", ".opus", ".m4a")


@dataclass(frozen=True)
class Asked:
    """One request. ``case``: what is right, when that is known; ``audio``: its recording; ``said``: its transcript."""

    id: str
    text: str
    case: Case | None = None
    audio: Path | None = None
    said: str = ""


def read_texts(path: Path) -> list[Asked]:
    """A labelled table (head: text, expected_tools, key_argument), or plain text with one request per line."""
    lines = read_text(path).split("\n")
    if lines[0].split("\t")[:2] == ["text", "expected_tools"]:
        return [Asked(f"t{n:04}", case.text, case) for n, case in enumerate(read_cases(path), 1)]
    texts = [line.split("\t")[0].strip() for line in lines]
    return [Asked(f"t{n:04}", text) for n, text in enumerate(filter(None, texts), 1)]


def read_recordings(place: Path) -> list[Asked]:
    """A table of recordings (head: path, text, and where known expected_tools, key_argument), paths relative to its
    folder or the one above; or a folder with a transcripts.tsv in it, or with a .txt beside each sound file."""
    table = place / "transcripts.tsv" if place.is_dir() else place
    rows = _beside(place) if place.is_dir() and not table.is_file() else _rows(table)
    asked = []
    for number, row in enumerate(rows, 1):
        places = (table.parent / row["path"], table.parent.parent / row["path"])
        audio = next(filter(Path.is_file, places), None)
        if audio is not None:
            asked.append(Asked(f"a{number:04}", row["text"], _case(row), audio, row["text"]))
    if not asked:
        raise UsageError(f"None of the recordings in {table} is there", "paths are relative to the table's folder")
    return asked


def _rows(table: Path) -> list[dict[str, str]]:
    if not table.is_file():
        raise UsageError(f"There is no table {table}", "name a transcripts.tsv with the columns path and text")
    return read_table(table, ("path", "text"))


def _beside(folder: Path) -> list[dict[str, str]]:
    """Each sound file that has its words in a text file of the same name."""
    pairs = [(path, path.with_suffix(".txt")) for path in sorted(folder.iterdir()) if path.suffix.lower() in SOUNDS]
    found = [{"path": path.name, "text": read_text(text).strip()} for path, text in pairs if text.is_file()]
    if not found:
        raise UsageError(f"{folder} holds no recordings with their words", "add a transcripts.tsv, or a .txt to each")
    return found


def _case(row: dict[str, str]) -> Case | None:
    tools = row.get("expected_tools") or ""
    return Case(row["text"], alternatives(tools), row.get("key_argument") or "") if tools else None


def digest(asked: Sequence[Asked]) -> str:
    """One hash over texts, labels and sounds: two studies with the same one asked the same."""
    told = hashlib.sha256()
    for one in asked:
        label = [one.case.alternatives, one.case.key] if one.case else None
        told.update(json.dumps([one.id, one.text, label, one.said]).encode())
        if one.audio is not None:
            told.update(one.audio.read_bytes())
    return told.hexdigest()
