"""Progress of several files at once: bars that redraw on a terminal, plain lines in a pipe. Standard library only."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from typing import TextIO

REDRAW_S = 0.1
WIDTH = 28


class Bars:
    """A reporter (see ``manifest.Reporter``) for people. Call ``close`` at the end; safe twice."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._lock = threading.Lock()
        self._files: dict[str, tuple[int, int]] = {}
        self._started: dict[str, float] = {}
        self._drawn = 0
        self._at = 0.0

    def note(self, text: str) -> None:
        """Print one sentence above the bars."""
        with self._lock:
            self._erase()
            print(text, file=self._stream, flush=True)
            self._draw()

    def progress(self, name: str, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` bytes are here."""
        with self._lock:
            news = name not in self._files or done >= total
            if self._files.get(name) == (done, total):
                return
            if done:  # before that it waits for its turn
                self._started.setdefault(name, time.monotonic())
            self._files[name] = (done, total)
            if self._live and (news or time.monotonic() - self._at >= REDRAW_S):
                self._erase()
                self._draw()
            elif not self._live and done >= total:
                print(f"{name}: {total / 1e6:,.1f} MB", file=self._stream, flush=True)

    def close(self) -> None:
        """Leave the last state on the screen."""
        with self._lock:
            self._erase()
            self._draw()
            self._drawn = 0
            self._files = {}

    def _erase(self) -> None:
        if self._live and self._drawn:
            self._stream.write(f"\x1b[{self._drawn}A\x1b[J")
        self._drawn = 0

    def _draw(self) -> None:
        if not self._live:
            return
        columns, rows = shutil.get_terminal_size()
        lines = [self._line(name, *state)[: columns - 1] for name, state in self._files.items()][-(rows - 2) :]
        self._stream.write("".join(line + "\n" for line in lines))
        self._stream.flush()
        self._drawn, self._at = len(lines), time.monotonic()

    def _line(self, name: str, done: int, total: int) -> str:
        part = min(1.0, done / total) if total else 1.0
        filled = round(part * WIDTH)
        bar = "█" * filled + "·" * (WIDTH - filled)
        rate = done / max(0.1, time.monotonic() - self._started.get(name, 0.0)) / 1e6
        return f"{bar} {part:4.0%} {done / 1e6:8,.1f} / {total / 1e6:,.1f} MB {rate:6.1f} MB/s  {name}"
