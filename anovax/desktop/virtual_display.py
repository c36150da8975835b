"""A private X display with a window manager, for machines without a screen: the demo and the tests use it."""

from __future__ import annotations

import os
import random
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anovax.errors import DesktopError

START_S = 15.0


@contextmanager
def virtual_display(width: int = 1280, height: int = 800) -> Iterator[str]:
    """Start Xvfb on a free display number and openbox on it; yields the display's name (":97").

    Raises DesktopError when one of them is not installed or does not come up. Both end with the context.
    """
    for program in ("Xvfb", "openbox"):
        if shutil.which(program) is None:
            raise DesktopError(f"{program} is not installed", "install xvfb and openbox, or run scripts/start.py")
    reading, writing = os.pipe()
    server = subprocess.Popen(
        [
            *("Xvfb", f":{_free_number()}", "-displayfd", str(writing), "-nolisten", "tcp", "-noreset"),
            *("-screen", "0", f"{width}x{height}x24"),
        ],
        pass_fds=(writing,),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    manager = None
    try:
        display = f":{_number(reading, server)}"
        manager = _manager(display)
        yield display
    finally:
        os.close(reading)
        for process in (manager, server):
            _end(process)


def _free_number() -> int:
    """A display number that nobody holds the lock of. Left to choose by itself, Xvfb may take a number whose socket
    another network namespace uses, and the two servers then share a path."""
    numbers = random.sample(range(200, 1000), 200)
    return next(number for number in numbers if not Path(f"/tmp/.X{number}-lock").exists())


def _number(reading: int, server: subprocess.Popen[bytes]) -> str:
    """The display number that Xvfb writes once it accepts connections."""
    deadline, text = time.monotonic() + START_S, b""
    while not text.endswith(b"\n"):
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
        chunk = os.read(reading, 16) if ready else b""
        if not chunk:
            why = "ended" if server.poll() is not None else f"did not start within {START_S:g} s"
            raise DesktopError(f"Xvfb {why}", "look at the memory and at /tmp/.X11-unix")
        text += chunk
    return text.decode().strip()


def _manager(display: str) -> subprocess.Popen[bytes]:
    """Start openbox and wait until it owns the display (it sets _NET_SUPPORTING_WM_CHECK)."""
    from Xlib import X
    from Xlib.display import Display

    environment = {**os.environ, "DISPLAY": display}
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    manager = subprocess.Popen(["openbox", "--sm-disable"], env=environment, **quiet)  # type: ignore[call-overload]
    connection = Display(display)
    try:
        root = connection.screen().root
        atom = connection.intern_atom("_NET_SUPPORTING_WM_CHECK")
        deadline = time.monotonic() + START_S
        while root.get_full_property(atom, X.AnyPropertyType) is None:
            if manager.poll() is not None or time.monotonic() > deadline:
                raise DesktopError("openbox did not start", "run openbox by hand to see why")
            time.sleep(0.02)
    finally:
        connection.close()
    return manager  # type: ignore[no-any-return]


def _end(process: subprocess.Popen[bytes] | None) -> None:
    if process is None:
        return
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(5)
        return
    process.kill()
    process.wait()
