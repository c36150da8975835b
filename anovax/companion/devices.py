"""The phones that were let in: one small file per phone, so that adding, revoking and looking never disturb each other.

A file holds the SHA-256 of the phone's token (256 random bits), never the token; its modification time is when the
phone was last seen. Removing the file revokes the phone, from whichever process.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
import unicodedata
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from anovax.errors import CompanionError, UsageError
from anovax.files import read_json, write_json

MAX_DEVICES = 32
SEEN_EVERY_S = 60.0
NAME_LENGTH = 40


class Device(BaseModel):
    """A paired phone. ``paired_at`` and ``seen_at`` are seconds since the epoch."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    token_sha256: str
    paired_at: float
    seen_at: float = 0.0


class DeviceStore:
    """The folder of paired phones. Cheap enough to be asked on every request."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._by_hash: dict[str, Device] = {}
        self._files: frozenset[str] = frozenset()
        self._gone: frozenset[str] = frozenset()
        self.refresh()

    def add(self, name: str) -> tuple[Device, str]:
        """A new phone and its token, which exists nowhere else."""
        if len(self.list()) >= MAX_DEVICES:
            raise CompanionError(f"{MAX_DEVICES} phones are paired", "revoke one with `anovax devices --revoke NAME`")
        token = secrets.token_urlsafe(32)
        device = Device(
            id=secrets.token_hex(4), name=clean_name(name), token_sha256=_hash(token), paired_at=time.time()
        )
        write_json(self._path(device.id), device.model_dump(exclude={"seen_at"}))
        self.refresh()
        return device, token

    def find(self, token: str) -> Device | None:
        """The phone that holds ``token``, unless it has been revoked in the meantime."""
        if token and _hash(token) not in self._by_hash:
            self.refresh()  # another process may have let it in just now
        device = self._by_hash.get(_hash(token)) if token else None
        if device is None:
            return None
        try:
            seen = self._path(device.id).stat().st_mtime
        except OSError:
            return None
        if time.time() - seen > SEEN_EVERY_S:
            with contextlib.suppress(OSError):
                os.utime(self._path(device.id))
        return device

    def list(self) -> tuple[Device, ...]:
        """All phones, the one last seen first."""
        self.refresh()
        found = [device.model_copy(update={"seen_at": self._seen(device.id)}) for device in self._by_hash.values()]
        return tuple(sorted(found, key=lambda device: -device.seen_at))

    def revoke(self, which: str) -> Device:
        """Remove the phone with this id or name. UsageError when there is none, or more than one of that name."""
        found = [d for d in self.list() if d.id == which] or [d for d in self.list() if d.name == which]
        if not found:
            raise UsageError(f"No phone is called {which!r}", "see `anovax devices`")
        if len(found) > 1:
            raise UsageError(f"{len(found)} phones are called {which!r}", "name one by its id, see `anovax devices`")
        self._path(found[0].id).unlink(missing_ok=True)
        self.refresh()
        return found[0]

    def gone(self) -> frozenset[str]:
        """The ids that were revoked, here or in another process, since this was last asked."""
        self.refresh()
        gone, self._gone = self._gone, frozenset()
        return gone

    def refresh(self) -> None:
        """Read what has changed on disk."""
        try:
            files = frozenset(p.stem for p in self._folder.glob("*.json") if not p.name.startswith("."))
        except OSError:
            files = frozenset()
        self._gone |= self._files - files
        if files != self._files:
            self._by_hash = {d.token_sha256: d for d in map(self._read, files) if d is not None}
            self._files = files

    def _read(self, device_id: str) -> Device | None:
        try:
            device = Device.model_validate(read_json(self._path(device_id)))
        except ValidationError:
            return None
        return device if device.id == device_id else None

    def _seen(self, device_id: str) -> float:
        try:
            return self._path(device_id).stat().st_mtime
        except OSError:
            return 0.0

    def _path(self, device_id: str) -> Path:
        return self._folder / f"{device_id}.json"


def clean_name(name: str) -> str:
    """A name that can be shown anywhere: no control, formatting or bidirectional characters, at most 40 long."""
    visible = "".join(char for char in name if unicodedata.category(char)[0] not in "CZ" or char == " ")
    return " ".join(visible.split())[:NAME_LENGTH].strip() or "phone"


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
