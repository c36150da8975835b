"""The KV state of a prompt's fixed part: computed once, kept in memory, and on disk for the next start.

A file holds one header line (JSON: key, tokens, digest) and the state. The key covers everything the state depends
on; the digest covers the bytes. What does not match is computed again, never trusted.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from anovax.files import replacing
from anovax.planner.engine import Engine


@dataclass(frozen=True)
class Prefix:
    """``ids``: token ids, needed to share what two prefixes begin with."""

    ids: tuple[int, ...]
    state: bytes

    @property
    def tokens(self) -> int:
        return len(self.ids)


class PrefixCache:
    """Prefixes by name. ``folder`` is where their files lie; a folder that cannot be written only costs time."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self._engine, self._folder = engine, folder
        self._known: dict[str, Prefix] = {}
        self._current = ""
        self.rebuilt: list[str] = []  # names that were not found on disk

    def use(self, name: str, text: str) -> None:
        """Leave exactly ``text`` in the engine's cache; free when it is what was used last."""
        prefix = self._known.get(name)
        if prefix is None:
            self._known[name] = self._load(name, text) or self._build(name, text)
        elif self._current != name:
            self._engine.restore(prefix.state, prefix.tokens)
        self._engine.truncate(self._known[name].tokens)
        self._current = name

    def on_disk(self, name: str) -> bool:
        """Whether there is a file, which may yet turn out to be stale."""
        return self._file(name).exists()

    def _key(self, text: str) -> str:
        stat = self._engine.path.stat()
        with self._engine.path.open("rb") as stream:
            head = hashlib.sha256(stream.read(1 << 16)).hexdigest()
        parts = [stat.st_size, stat.st_mtime_ns, head, self._engine.build, text]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _file(self, name: str) -> Path:
        return self._folder / f"{self._engine.path.stem}.{name}.kv"

    def _load(self, name: str, text: str) -> Prefix | None:
        try:
            with self._file(name).open("rb") as stream:
                header = json.loads(stream.readline(4096))
                state = stream.read()
            good = header["key"] == self._key(text) and header["sha256"] == hashlib.sha256(state).hexdigest()
            prefix = Prefix(tuple(self._engine.tokenize(text, special=True)), state)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return prefix if good and self._engine.restore(state, prefix.tokens) else None

    def _build(self, name: str, text: str) -> Prefix:
        self.rebuilt.append(name)
        tokens = self._engine.tokenize(text, special=True)
        self._engine.feed(tokens[self._shared(tokens) :], want=1)
        prefix = Prefix(tuple(tokens), self._engine.state())
        with contextlib.suppress(OSError):
            self._save(name, text, prefix)
        return prefix

    def _shared(self, tokens: list[int]) -> int:
        """Put back of a known prefix what ``tokens`` begin with too; how many that is."""
        for known in self._known.values():
            n = next((i for i, (a, b) in enumerate(zip(known.ids, tokens, strict=False)) if a != b), 0)
            if n and self._engine.restore(known.state, known.tokens):
                self._engine.truncate(n)
                return n
        self._engine.truncate(0)
        return 0

    def _save(self, name: str, text: str, prefix: Prefix) -> None:
        header = {"key": self._key(text), "tokens": prefix.tokens, "sha256": hashlib.sha256(prefix.state).hexdigest()}
        path = self._file(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary, temporary.open("wb") as stream:
            stream.write(json.dumps(header).encode() + b"\n")
            stream.write(prefix.state)
