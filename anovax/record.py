"""The record's files: one append-only JSONL file per day, each line chained to the one before by a hash.

A line is ``{"n", "prev", "hash", "at", "turn", "kind", "digest", "data"}``. ``digest`` is the SHA-256 of the salted
data and ``hash`` the SHA-256 of everything but the data, so a secret can be taken out of a line later (``data`` becomes
null) and the chain still holds, while any other change shows. ``head.json`` keeps the newest hash, so that lines cut
from the end show as well; ``start.json`` keeps the number of the oldest line that rotation has left. A line half
written when the power went is dropped at the next start.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anovax.config import Config
from anovax.errors import UsageError
from anovax.events import Event
from anovax.plan import Frozen

START = "0" * 64
START_FILE = "start.json"
HEAD_FILE = "head.json"


class Entry(Frozen):
    """One line of the record. ``data`` is None once it has been redacted."""

    n: int
    prev: str
    hash: str
    at: float
    turn: str
    kind: str
    digest: str
    data: dict[str, Any] | None


class Fault(Frozen):
    """Where the chain does not hold."""

    file: str
    line: int
    problem: str


def journal_folder(config: Config) -> Path:
    """Where the record lies."""
    return Path(config.journal.folder).expanduser() if config.journal.folder else config.data_dir / "journal"


def days(folder: Path) -> list[Path]:
    """The record's files, oldest first."""
    return sorted(folder.glob("????-??-??.jsonl"))


def entries(folder: Path, since: str = "") -> Iterator[Entry]:
    """All readable lines (since a day), oldest first; a half line at the end is passed over."""
    for path in (path for path in days(folder) if path.stem >= since):
        for line in path.read_bytes().splitlines():
            entry = parse(line)
            if entry is not None:
                yield entry


def turn_entries(folder: Path, turn: str) -> list[Entry]:
    """What happened in one turn. UsageError when the record does not know it."""
    found = [entry for entry in entries(folder) if entry.turn == turn or (turn and entry.turn.startswith(turn))]
    if not found or len({entry.turn for entry in found}) > 1:
        problem = f"The record has no turn {turn}" if not found else f"{turn} fits more than one turn"
        raise UsageError(problem, "see the turns with: anovax log")
    return found


def verify(folder: Path) -> list[Fault]:
    """Every place where the chain is broken: changed, missing or added lines. Empty when the record is whole."""
    faults: list[Fault] = []
    prev: str | None = None
    hashes: set[str] = set()
    for path in days(folder):
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            entry = parse(line)
            problem = "this is not a line of the record" if entry is None else _problem(entry, prev)
            if problem:
                faults.append(Fault(file=path.name, line=number, problem=problem))
            if entry is not None:
                prev = entry.hash
                hashes.add(entry.hash)
    head = str(_told(folder, HEAD_FILE, "hash"))
    if head not in hashes and (head or hashes):
        faults.append(Fault(file=HEAD_FILE, line=1, problem="the newest lines of the record are missing"))
    first = next(entries(folder), None)
    told = _told(folder, START_FILE, "n")
    if first is not None and first.n > (told if isinstance(told, int) else 1):
        faults.insert(0, Fault(file=START_FILE, line=1, problem="the oldest lines of the record are missing"))
    return faults


def next_entry(last: Entry | None, event: Event, data: dict[str, Any]) -> Entry:
    head = {
        "n": last.n + 1 if last else 1,
        "prev": last.hash if last else START,
        "at": event.at,
        "turn": event.turn,
        "kind": event.kind,
        "digest": _digest(data),
    }
    return Entry(**head, hash=_digest(head), data=data)


def _digest(values: dict[str, Any]) -> str:
    return hashlib.sha256(as_json(values)).hexdigest()


def as_json(values: dict[str, Any]) -> bytes:
    return json.dumps(values, sort_keys=True).encode()


def _problem(entry: Entry, prev: str | None) -> str:
    head = entry.model_dump(include={"n", "prev", "at", "turn", "kind", "digest"})
    if _digest(head) != entry.hash:
        return "the line was changed"
    if entry.data is not None and _digest(entry.data) != entry.digest:
        return "the data of the line was changed"
    return "a line before this one is missing or was changed" if prev is not None and entry.prev != prev else ""


def parse(line: bytes) -> Entry | None:
    try:
        return Entry.model_validate_json(line)
    except ValueError:
        return None


def last_entry(folder: Path) -> Entry | None:
    """The newest whole line; a half line behind it (a crash while writing) is cut off."""
    for path in reversed(days(folder)):
        size = path.stat().st_size
        with path.open("rb+") as file:
            file.seek(max(0, size - (1 << 20)))
            tail = file.read()
            whole, _, half = tail.rpartition(b"\n")
            if half:
                file.truncate(size - len(half))
            entry = parse(whole.rpartition(b"\n")[2])
        if entry is not None:
            return entry
    return None


def _told(folder: Path, name: str, key: str) -> str | int:
    try:
        value = json.loads((folder / name).read_text(encoding="utf-8"))[key]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return value if isinstance(value, str | int) else ""
