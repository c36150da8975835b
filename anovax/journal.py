"""The record: one append-only JSONL file per day, each line chained to the one before by a hash.

A line is ``{"n", "prev", "hash", "at", "turn", "kind", "digest", "data"}``. ``digest`` is the SHA-256 of the salted
data and ``hash`` the SHA-256 of everything but the data, so a secret can be taken out of a line later (``data`` becomes
null) and the chain still holds, while any other change shows. ``head.json`` keeps the newest hash, so that lines cut
from the end show as well; ``start.json`` keeps the number of the oldest line that rotation has left. A line half
written when the power went is dropped at the next start.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import threading
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from filelock import FileLock

from anovax import recordings
from anovax.bus import Bus
from anovax.config import Config, JournalConfig
from anovax.errors import AnovaxError, UsageError
from anovax.events import (
    ConsentAnswered,
    ConsentAsked,
    Event,
    Judged,
    Noticed,
    PlanMade,
    RecoveryEnded,
    RecoveryStarted,
    SpeechEnded,
    StepFinished,
    StopRequested,
    Transcribed,
    TurnFinished,
    TurnStarted,
    WakeHeard,
)
from anovax.files import replacing
from anovax.plan import Frozen
from anovax.private import is_private

RECORDED: tuple[type[Event], ...] = (
    WakeHeard, Transcribed, TurnStarted, PlanMade, Judged, ConsentAsked, ConsentAnswered, StepFinished,
    RecoveryStarted, RecoveryEnded, SpeechEnded, TurnFinished, StopRequested,
)  # fmt: skip
KEPT = (StepFinished, Judged, ConsentAnswered)  # tell how a secret turn ended, not what was said
START = "0" * 64
START_FILE = "start.json"
SECRETS = 100
QUEUE = 10_000


class JournalError(AnovaxError):
    """The record cannot be read or written."""


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


class Journal:
    """Writes the bus's events to the record from its own thread. ``close`` writes what is queued; safe twice."""

    def __init__(self, folder: Path, config: JournalConfig, bus: Bus) -> None:
        self._folder = folder
        self._config = config
        self._bus = bus
        self._lock = FileLock(str(folder / ".lock"))
        self._secret: deque[str] = deque(maxlen=SECRETS)  # turns whose words are not written
        self._newest = ""  # name of the newest file, its size and its last line
        self._known: tuple[int, Entry | None] = (-1, None)
        _make(folder)
        self._rotate()
        self._subscription = bus.subscribe(QUEUE)
        self._thread = threading.Thread(target=self._listen, name="journal", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._subscription.close()
        self._thread.join(5)

    def append(self, event: Event, hide: bool = False) -> None:
        """Write one line; the chain continues whatever another process has added meanwhile. ``hide``: without data."""
        with self._lock:
            self._newest = max(self._newest, f"{datetime.fromtimestamp(event.at, UTC):%Y-%m-%d}.jsonl")
            path, (size, last) = self._folder / self._newest, self._known
            if not path.exists() or path.stat().st_size != size:  # another day, or another process wrote
                last = _last_entry(self._folder)
                path = max([path, *days(self._folder)])  # never an older day, should the clock go back
                self._newest = path.name
            data = {key: value for key, value in event.to_json().items() if key not in ("kind", "turn", "at")}
            entry = _entry(last, event, {**data, "salt": secrets.token_hex(8)})
            entry = entry.model_copy(update={"data": None}) if hide else entry
            _append_line(path, entry.model_dump_json())
            self._known = (path.stat().st_size, entry)
            _write(self._folder / "head.json", _json({"n": entry.n, "hash": entry.hash}))

    def _listen(self) -> None:
        while (event := self._subscription.get()) is not None:
            if isinstance(event, RECORDED):
                try:
                    self._record(event)
                except JournalError as error:  # said, and tried again with the next event
                    self._bus.publish(Noticed(text=str(error), level="error"))

    def _record(self, event: Event) -> None:
        """Write the event; what looks like a secret, and the rest of its turn, without its data."""
        if isinstance(event, TurnStarted | Transcribed) and is_private(event.text):
            self._secret.append(event.turn)
            recordings.forget(self._folder, event.turn)
        hide = event.turn in self._secret and not isinstance(event, KEPT)
        self.append(event, hide or (isinstance(event, Transcribed) and is_private(event.text)))
        if isinstance(event, StepFinished) and event.secret:
            self._secret.append(event.turn)
            recordings.forget(self._folder, event.turn)
            redact(self._folder, event.turn, self._lock)

    def _rotate(self) -> None:
        since = datetime.now(UTC) - timedelta(days=self._config.keep_days)
        oldest = f"{since:%Y-%m-%d}"
        recordings.rotate(self._folder, since.timestamp())
        with self._lock:
            old = [path for path in days(self._folder) if path.stem < oldest]
            kept = next((entry for entry in entries(self._folder, oldest)), None)
            if old and kept is not None:
                _write(self._folder / START_FILE, _json({"n": kept.n}))
            elif old:  # the next line is the first one again
                old += [self._folder / START_FILE, self._folder / "head.json"]
            for path in old:
                path.unlink(missing_ok=True)


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
            entry = _parse(line)
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
            entry = _parse(line)
            problem = "this is not a line of the record" if entry is None else _problem(entry, prev)
            if problem:
                faults.append(Fault(file=path.name, line=number, problem=problem))
            if entry is not None:
                prev = entry.hash
                hashes.add(entry.hash)
    head = str(_told(folder, "head.json", "hash"))
    if head not in hashes and (head or hashes):
        faults.append(Fault(file="head.json", line=1, problem="the newest lines of the record are missing"))
    first = next(entries(folder), None)
    told = _told(folder, START_FILE, "n")
    if first is not None and first.n > (told if isinstance(told, int) else 1):
        faults.insert(0, Fault(file=START_FILE, line=1, problem="the oldest lines of the record are missing"))
    return faults


def redact(folder: Path, turn: str, lock: FileLock) -> None:
    """Take the data of a turn's lines out of the record, keeping their places in the chain."""
    with lock:
        for path in days(folder):
            lines = path.read_bytes().splitlines()
            changed = [_redacted(line, turn) for line in lines]
            if changed != lines:
                _write(path, b"\n".join([*changed, b""]))


def _redacted(line: bytes, turn: str) -> bytes:
    entry = _parse(line)
    if entry is None or entry.turn != turn or entry.kind in {kind.__name__ for kind in KEPT}:
        return line
    return entry.model_copy(update={"data": None}).model_dump_json().encode()


def _entry(last: Entry | None, event: Event, data: dict[str, Any]) -> Entry:
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
    return hashlib.sha256(_json(values)).hexdigest()


def _json(values: dict[str, Any]) -> bytes:
    return json.dumps(values, sort_keys=True).encode()


def _problem(entry: Entry, prev: str | None) -> str:
    head = entry.model_dump(include={"n", "prev", "at", "turn", "kind", "digest"})
    if _digest(head) != entry.hash:
        return "the line was changed"
    if entry.data is not None and _digest(entry.data) != entry.digest:
        return "the data of the line was changed"
    return "a line before this one is missing or was changed" if prev is not None and entry.prev != prev else ""


def _parse(line: bytes) -> Entry | None:
    try:
        return Entry.model_validate_json(line)
    except ValueError:
        return None


def _last_entry(folder: Path) -> Entry | None:
    """The newest whole line; a half line behind it (a crash while writing) is cut off."""
    for path in reversed(days(folder)):
        size = path.stat().st_size
        with path.open("rb+") as file:
            file.seek(max(0, size - (1 << 20)))
            tail = file.read()
            whole, _, half = tail.rpartition(b"\n")
            if half:
                file.truncate(size - len(half))
            entry = _parse(whole.rpartition(b"\n")[2])
        if entry is not None:
            return entry
    return None


def _append_line(path: Path, line: str) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line.encode() + b"\n")
        finally:
            os.close(handle)
    except OSError as error:
        raise JournalError(f"The record {path} cannot be written: {error.strerror}", "free some space") from None


def _write(path: Path, content: bytes) -> None:
    try:
        with replacing(path, private=True, synced=False) as temporary:  # written with every line of the record
            temporary.write_bytes(content)
    except OSError as error:
        raise JournalError(f"The record {path} cannot be written: {error.strerror}", "free some space") from None


def _told(folder: Path, name: str, key: str) -> str | int:
    try:
        value = json.loads((folder / name).read_text(encoding="utf-8"))[key]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return value if isinstance(value, str | int) else ""


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        problem = f"The folder {folder} cannot be made: {error.strerror}"
        raise JournalError(problem, "set data_dir, or [journal] folder") from None
