"""Writes the record (anovax/record.py): every event that counts, in a thread of its own, without what is secret."""

from __future__ import annotations

import os
import secrets
import threading
from collections import deque
from datetime import UTC, datetime, timedelta
from pathlib import Path

from filelock import FileLock

from anovax import recordings
from anovax.bus import Bus
from anovax.config import JournalConfig
from anovax.errors import AnovaxError
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
from anovax.private import is_private
from anovax.record import HEAD_FILE, START_FILE, Entry, as_json, days, entries, last_entry, next_entry, parse

RECORDED: tuple[type[Event], ...] = (
    WakeHeard, Transcribed, TurnStarted, PlanMade, Judged, ConsentAsked, ConsentAnswered, StepFinished,
    RecoveryStarted, RecoveryEnded, SpeechEnded, TurnFinished, StopRequested,
)  # fmt: skip
KEPT = (StepFinished, Judged, ConsentAnswered)  # tell how a secret turn ended, not what was said
SECRETS = 100
QUEUE = 10_000


class JournalError(AnovaxError):
    """The record cannot be read or written."""


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
                last = last_entry(self._folder)
                path = max([path, *days(self._folder)])  # never an older day, should the clock go back
                self._newest = path.name
            data = {key: value for key, value in event.to_json().items() if key not in ("kind", "turn", "at")}
            entry = next_entry(last, event, {**data, "salt": secrets.token_hex(8)})
            entry = entry.model_copy(update={"data": None}) if hide else entry
            _append_line(path, entry.model_dump_json())
            self._known = (path.stat().st_size, entry)
            _write(self._folder / HEAD_FILE, as_json({"n": entry.n, "hash": entry.hash}))

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
                _write(self._folder / START_FILE, as_json({"n": kept.n}))
            elif old:  # the next line is the first one again
                old += [self._folder / START_FILE, self._folder / HEAD_FILE]
            for path in old:
                path.unlink(missing_ok=True)


def redact(folder: Path, turn: str, lock: FileLock) -> None:
    """Take the data of a turn's lines out of the record, keeping their places in the chain."""
    with lock:
        for path in days(folder):
            lines = path.read_bytes().splitlines()
            changed = [_redacted(line, turn) for line in lines]
            if changed != lines:
                _write(path, b"\n".join([*changed, b""]))


def _redacted(line: bytes, turn: str) -> bytes:
    entry = parse(line)
    if entry is None or entry.turn != turn or entry.kind in {kind.__name__ for kind in KEPT}:
        return line
    return entry.model_copy(update={"data": None}).model_dump_json().encode()


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


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        problem = f"The folder {folder} cannot be made: {error.strerror}"
        raise JournalError(problem, "set data_dir, or [journal] folder") from None
