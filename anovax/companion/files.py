"""Small private files, written in one piece: a reader sees the old content or the new, never half of it."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` with mode 0600 next to ``path``, then put it in its place."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def write_json(path: Path, value: Any) -> None:
    write_atomically(path, json.dumps(value, ensure_ascii=False, indent=1).encode())


def read_json(path: Path) -> Any:
    """The file's value, or None when it is absent or no JSON (a damaged file is as good as none)."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
