"""Long-term memory: facts in a JSONL file that survives a crash in the middle of a write and several writers.

One line is one fact. An append is one write under a file lock, flushed to disk; a line that a crash left half is
passed over and closed off by the next append. Forgetting rewrites the file (temporary file, then rename), so that
what is forgotten is gone from the disk as well.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from anovax.errors import ToolError
from anovax.files import replacing
from anovax.private import is_private, redacted
from anovax.recall import Index, content

_LOCK_S = 5.0
_CERTAIN = 0.34  # a fact that has less of what was asked is no answer
MAX_FACT = 1000  # characters


class Fact(BaseModel):
    """``at``: seconds since the epoch. ``private`` facts never go to a planner, log or screen by themselves."""

    model_config = ConfigDict(frozen=True)

    id: str
    at: float
    text: str
    private: bool = False


class Facts:
    """The fact store (tool.FactStore). Thread-safe; other processes may write to the same file."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._lock = threading.RLock()
        self._file_lock = FileLock(str(path) + ".lock", timeout=_LOCK_S, thread_local=False)
        self._reset()

    def _reset(self) -> None:
        self._facts: list[Fact | None] = []  # None: forgotten; the numbers are the index's
        self._index = Index()
        self._known: set[str] = set()
        self._offset = 0
        self._inode = 0
        self.damaged = 0  # lines that are no facts (a crash, another program)

    # --- the three things one can do ---------------------------------------------------------------------------------

    def remember(self, fact: str, private: bool = False) -> str:
        """Keep a fact; returns its id, or an empty string when exactly this is known already. ToolError when it
        cannot be written; nothing that was kept before is lost then."""
        text = " ".join(fact.split())[:MAX_FACT]
        if not text:
            raise ToolError("There is nothing to remember", "say what to remember")
        with self._lock, self._writing():
            self._refresh()
            if text.casefold() in self._known:
                return ""
            new = Fact(id=uuid.uuid4().hex[:12], at=self._clock(), text=text, private=private or is_private(text))
            self._append(new)
            self._refresh()
            return new.id

    def recall(self, query: str, limit: int = 5) -> tuple[str, ...]:
        """The facts that answer ``query``, best first; of two about the same thing only the newer. A query that asks
        for nothing in particular ("what do you remember") gets the newest."""
        return tuple(fact.text for fact, _ in self.search(query, limit))

    def forget(self, query: str) -> tuple[str, ...]:
        """Delete the fact that is exactly ``query``, else the one that fits it best, from memory and disk; returns
        what was deleted (nothing fits: empty)."""
        with self._lock, self._writing():
            self._refresh()
            said = " ".join(query.split()).casefold()
            gone = [fact for fact in self._facts if fact and fact.text.casefold() == said]
            gone = gone or [fact for fact, _ in self.search(query, 1)] if content(query) else gone
            if gone:
                self._rewrite(without={fact.id for fact in gone})
                self._drop(gone)
            return tuple(fact.text for fact in gone)

    def search(self, query: str, limit: int = 5) -> tuple[tuple[Fact, float], ...]:
        """Like ``recall``, with each fact's fit 0..1."""
        with self._lock:
            self._refresh()
            if not content(query):
                newest = (fact for fact in reversed(self._facts) if fact)
                return tuple((fact, 1.0) for fact in islice(newest, limit))
            hits = self._index.search(query, limit * 4)
            fitting = [(fact, fit) for number, fit in hits if fit >= _CERTAIN and (fact := self._facts[number])]
            return tuple(_newest_per_subject(fitting)[:limit])

    def __len__(self) -> int:
        with self._lock:
            self._refresh()
            return sum(fact is not None for fact in self._facts)

    # --- the file ----------------------------------------------------------------------------------------------------

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._file_lock:
                yield
        except Timeout:
            raise ToolError(
                "The memory file is in use by another program", f"close what holds {self._path.name}.lock"
            ) from None
        except OSError as error:
            raise ToolError(
                f"Memory could not be written ({error.strerror})", f"free some space or check {self._path}"
            ) from None

    def _append(self, fact: Fact) -> None:
        line = fact.model_dump_json().encode() + b"\n"
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            torn = size > 0 and _byte(descriptor, size - 1) != b"\n"
            _write_all(descriptor, b"\n" + line if torn else line, size)
        finally:
            os.close(descriptor)

    def _rewrite(self, without: set[str]) -> None:
        marks = tuple(f'"id":"{ident}"'.encode() for ident in without)
        with replacing(self._path, private=True) as temporary, temporary.open("wb") as out:
            out.writelines(line for line in self._lines() if not _is_one_of(line, marks, without))

    def _drop(self, gone: list[Fact]) -> None:
        """After a rewrite of our own: what is gone from the file goes from RAM too; the rest need not be read again."""
        idents = {fact.id for fact in gone}
        self._facts = [None if fact and fact.id in idents else fact for fact in self._facts]
        self._known -= {fact.text.casefold() for fact in gone}
        stat = self._path.stat()
        self._inode, self._offset = stat.st_ino, stat.st_size

    def _lines(self) -> Iterator[bytes]:
        with self._path.open("rb") as source:
            for line in source:
                yield line if line.endswith(b"\n") else line + b"\n"

    def _refresh(self) -> None:
        """Read what has been added since the last look; everything again when the file was replaced or cut."""
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            if self._inode:
                self._reset()
            return
        except OSError as error:
            raise _unreadable(self._path, error) from None
        if stat.st_ino != self._inode or stat.st_size < self._offset:
            self._reset()
            self._inode = stat.st_ino
        if stat.st_size > self._offset:
            self._read_on()

    def _read_on(self) -> None:
        try:
            with self._path.open("rb") as source:
                source.seek(self._offset)
                block = source.read()
        except OSError as error:
            raise _unreadable(self._path, error) from None
        whole = block[: block.rfind(b"\n") + 1]  # the rest is being written, or was left half by a crash
        self._offset += len(whole)
        for line in whole.splitlines():
            fact = _parse(line)
            if fact is None:
                self.damaged += bool(line.strip())
            else:
                self._facts.append(fact)
                self._index.add(redacted(fact.text) if fact.private else fact.text)  # a secret is not found by itself
                self._known.add(fact.text.casefold())


def _unreadable(path: Path, error: OSError) -> ToolError:
    return ToolError(f"The memory file {path} cannot be read ({error.strerror})", "correct its permissions")


def _byte(descriptor: int, place: int) -> bytes:
    os.lseek(descriptor, place, os.SEEK_SET)
    return os.read(descriptor, 1)


def _write_all(descriptor: int, data: bytes, size: int) -> None:
    """All of ``data`` to disk, or the file as it was (``size`` bytes) and OSError."""
    try:
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    except OSError:
        with suppress(OSError):
            os.ftruncate(descriptor, size)
        raise


def _parse(line: bytes) -> Fact | None:
    try:
        return Fact.model_validate(json.loads(line))
    except (ValueError, ValidationError):
        return None


def _is_one_of(line: bytes, marks: tuple[bytes, ...], idents: set[str]) -> bool:
    """Whether a line is one of these facts; only a line that has the mark is parsed."""
    if not any(mark in line for mark in marks):
        return False
    fact = _parse(line)
    return fact is not None and fact.id in idents


def subject(text: str) -> str:
    """What a fact is about, when it is of the form "my … is …" or "i am called …"; empty otherwise."""
    match = re.match(r"\s*((?:my|our|the)\s.{1,60}?)\s+(?:is|are|was)\s", text.casefold())
    if match:
        return " ".join(sorted(content(match[1])))
    return "nam" if re.match(r"\s*(?:i am called|call me|you can call me)\s", text.casefold()) else ""


def _newest_per_subject(found: list[tuple[Fact, float]]) -> list[tuple[Fact, float]]:
    newest: dict[str, Fact] = {}
    for fact, _ in found:
        about = subject(fact.text)
        if about and (about not in newest or fact.at >= newest[about].at):
            newest[about] = fact
    return [(fact, fit) for fact, fit in found if newest.get(subject(fact.text), fact) is fact]
