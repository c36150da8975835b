"""Files written in one piece: a reader, and a crash, sees the old content or the new, never half of it."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def replacing(path: Path, private: bool = False, synced: bool = True) -> Iterator[Path]:
    """A new empty file beside ``path`` to be filled in the block; it takes the place of ``path`` at the end, unless the
    block fails. ``private``: nobody but the user reads it. ``synced``: whole even after a power cut, for which the disk
    is waited for. The folder must be there. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    try:
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666))
        yield temporary
        if synced:  # the name must not reach the disk before the content
            with temporary.open("rb+") as written:
                os.fsync(written.fileno())
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def write_atomically(path: Path, content: str | bytes, private: bool = False) -> None:
    """``replacing`` with ``content``, text as UTF-8."""
    with replacing(path, private) as temporary:
        temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


def write_private(path: Path, content: bytes) -> None:
    """``write_atomically`` for the user alone, in a folder that is made for the user alone."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(path, content, private=True)


def write_json(path: Path, value: Any) -> None:
    """``write_private`` of a JSON value."""
    write_private(path, json.dumps(value, ensure_ascii=False, indent=1).encode())


def read_json(path: Path) -> Any:
    """The file's value, or None when it is absent or no JSON (a damaged file is as good as none)."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
