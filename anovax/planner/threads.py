"""How many threads llama.cpp gets and how they wait, so that it stays quick beside a busy program."""

from __future__ import annotations

import os

MAX_THREADS = 4


def thread_count() -> int:
    """All of two cores, else all but one, MAX_THREADS at most: the rest is for speech and the desktop."""
    cores = os.cpu_count() or 1
    return max(1, min(MAX_THREADS, cores if cores <= 2 else cores - 1))


def wait_passively() -> None:
    """llama.cpp's OpenMP threads meet at a barrier some thousand times per token. By default they spin there, and a
    spinning thread that keeps its core from the one it waits for costs a whole time slice: beside one busy process
    planning became 30 times slower. Must run before libgomp is loaded, which reads this once; settings of the user's
    own win."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
