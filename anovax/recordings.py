"""Recordings of spoken requests beside the record, if the configuration asks for them: they go when their words go."""

from __future__ import annotations

from pathlib import Path

FOLDER = "audio"


def recording(folder: Path, turn: str) -> Path:
    """Where the recording of a turn lies in the record's ``folder``."""
    return folder / FOLDER / f"{turn}.wav"


def forget(folder: Path, turn: str) -> None:
    """The turn held a secret: nobody shall hear it again."""
    recording(folder, turn).unlink(missing_ok=True)


def rotate(folder: Path, before: float) -> None:
    """Delete what was recorded before a time, in seconds since 1970."""
    for path in (folder / FOLDER).glob("*.wav"):
        if path.stat().st_mtime < before:
            path.unlink(missing_ok=True)
