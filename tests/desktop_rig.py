"""Steps, waiting and processes for tests that act on the virtual desktop."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

from anovax.tool import CancelFlag, Effect, StepContext, WindowRef

QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Running:
    """A started program with its window."""

    def __init__(self, process: subprocess.Popen[bytes], window: WindowRef) -> None:
        self.process, self.window = process, window


def make_step(
    seconds: float = 60.0, recheck: Callable[[Effect], None] = lambda effect: None, target: WindowRef | None = None
) -> StepContext:
    return StepContext("turn", 0, time.monotonic() + seconds, CancelFlag(), threading.Event(), recheck, target)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a program and everything that it started (it leads a session of its own)."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, 9)
    process.wait(10)


def until(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Wait for something outside; True as soon as it holds."""
    end_at = time.monotonic() + seconds
    while time.monotonic() < end_at:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
