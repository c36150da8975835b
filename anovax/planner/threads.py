"""How many threads llama.cpp gets and how they wait, so that it stays quick beside a busy program."""

from __future__ import annotations

import os
import time
from pathlib import Path

MAX_THREADS = 4


def thread_count() -> int:
    """All of two cores, else all but one, MAX_THREADS at most: the rest is for speech and the desktop."""
    cores = os.cpu_count() or 1
    return max(1, min(MAX_THREADS, cores if cores <= 2 else cores - 1))


def threads_now(most: int, running: Path = Path("/proc/loadavg")) -> int:
    """``most``, less what other programs keep busy at this moment, at least 1: a thread that has to share its core
    holds up all the others at each barrier. Where the system does not tell (Linux does), ``most``."""
    try:
        others = min(_running(running) for _ in range(3)) - 1  # one of them is this thread
    except (OSError, ValueError, IndexError):
        return most
    return max(1, min(most, (os.cpu_count() or 1) - others))


def _running(path: Path) -> int:
    """How many threads run or wait for a core, system-wide. Read a little later each time: many run only for a
    moment."""
    time.sleep(0.002)
    return int(path.read_text("ascii").split()[3].split("/")[0])


def wait_passively() -> None:
    """llama.cpp's OpenMP threads meet at a barrier some thousand times per token. By default they spin there, and a
    spinning thread that keeps its core from the one it waits for costs a whole time slice: beside one busy process
    planning became 30 times slower. Must run before libgomp is loaded, which reads this once; settings of the user's
    own win."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
