"""What this process holds (memory, threads, descriptors, child processes, windows, temporary files), and what stays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import psutil

from anovax import heap

# What may be more at the end than at the start. Pools start a thread when nobody is free: up to 8 agents, 2 for the
# desktop, 6 of the benchmark's own loop; memory is in percent, since an allocator's pages come and go.
ALLOWED = {"rss_mb": 3.0, "threads": 16, "descriptors": 0, "processes": 0, "windows": 0, "temporary": 0}


@dataclass(frozen=True)
class Footprint:
    """At one moment. ``rss_mb``: resident memory in MB (10^6 bytes) without what the C library keeps free; ``threads``
    of every kind, native ones too; ``descriptors``: open files, sockets and pipes; ``processes``: living and unburied
    descendants; ``windows``: all top-level windows of the display, shown or not; ``temporary``: files and folders left
    in the temporary folder, and unfinished ones (*.tmp) beside the data."""

    rss_mb: float
    threads: int
    descriptors: int
    processes: int
    windows: int
    temporary: int


@dataclass(frozen=True)
class Growth:
    """One figure of the first and of the last slice; ``allowed``: how much more may be (percent for memory)."""

    figure: str
    start: float
    end: float
    allowed: float

    @property
    def holds(self) -> bool:
        limit = self.start * (1 + self.allowed / 100) if self.figure == "rss_mb" else self.start + self.allowed
        return self.end <= limit

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"holds": self.holds}


class Watch:
    """Looks at this process and at one X display. ``temporary``: its folder of temporary files; ``data``: its data.
    ``close`` is safe twice. Raises DesktopError where there is no such display."""

    def __init__(self, display: str, temporary: Path, data: Path) -> None:
        from anovax.desktop.x11_connection import Connection

        self._connection, self._process = Connection(display), psutil.Process()
        self._temporary, self._data = temporary, data

    def look(self) -> Footprint:
        with self._connection as connection:
            windows = len(connection.display.screen().root.query_tree().children)
        heap.give_back()  # as the assistant does when it rests
        unfinished = sum(name.endswith(".tmp") for name in below(self._data))
        return Footprint(
            rss_mb=round(self._process.memory_info().rss / 1e6, 1),
            threads=self._process.num_threads(),
            descriptors=self._process.num_fds(),
            processes=len(self._process.children(recursive=True)),
            windows=windows,
            temporary=sum(1 for _ in below(self._temporary)) + unfinished,
        )

    def close(self) -> None:
        self._connection.close()


def below(folder: Path) -> Iterator[str]:
    """The names of all files and folders below ``folder``; what goes while this looks is not there."""
    for _, folders, files in os.walk(folder):
        yield from (*folders, *files)


def lowest(seen: Sequence[Footprint]) -> Footprint:
    """The least of each figure: what is above it was at work and went away again."""
    return Footprint(**{field.name: min(getattr(one, field.name) for one in seen) for field in fields(Footprint)})


def growth(start: Footprint, end: Footprint) -> list[Growth]:
    return [Growth(name, getattr(start, name), getattr(end, name), allowed) for name, allowed in ALLOWED.items()]
