"""The folder with the weights, and which of its files are known to be right. Standard library only.

What has been hashed is remembered by size and time of change in ``.verified.json`` beside the weights, so that a later
look costs a few ``stat`` calls.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from pathlib import Path
from typing import Any, Literal

from anovax.files import write_atomically
from anovax.setup.manifest import PACKAGE, WeightFile, models_dir, sha256_of

State = Literal["ok", "missing", "wrong"]
STATE_FILE = ".verified.json"


class Shelf:
    """The models folder and what is known to be right in it. ``folder`` defaults to ``models_dir()``."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or models_dir()
        self._state = _read_state(self.folder / STATE_FILE)
        self._lock = threading.Lock()

    def path(self, file: WeightFile) -> Path:
        return PACKAGE / file.inside if file.inside else self.folder / file.path

    def check(self, file: WeightFile, rehash: bool = False) -> State:
        """Whether ``file`` lies here and matches its hash; hashes it when it changed since the last look."""
        path = self.path(file)
        try:
            stat = path.stat()
        except OSError:
            return "missing"
        mark = [stat.st_size, stat.st_mtime_ns, file.sha256]
        if not rehash and self._state.get(file.path) == mark:
            return "ok"
        if stat.st_size != file.bytes or sha256_of(path) != file.sha256:
            self._remember(file.path, None)
            return "wrong"
        self._remember(file.path, mark)
        return "ok"

    def accept(self, file: WeightFile, temporary: Path) -> None:
        """Give a complete, hashed temporary file its final name and remember that it is right."""
        os.replace(temporary, self.path(file))
        temporary.unlink(missing_ok=True)  # a rename onto another link of the same file leaves both names
        stat = self.path(file).stat()
        self._remember(file.path, [stat.st_size, stat.st_mtime_ns, file.sha256])

    def _remember(self, path: str, mark: list[Any] | None) -> None:
        with self._lock:
            if self._state.get(path) == mark:
                return
            self._state[path] = mark
            with contextlib.suppress(OSError):  # a read-only folder is hashed again next time
                write_atomically(self.folder / STATE_FILE, json.dumps(self._state, indent=1, sort_keys=True))


def _read_state(path: Path) -> dict[str, Any]:
    try:
        state = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}
