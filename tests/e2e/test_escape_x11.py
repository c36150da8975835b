"""Escape twice, by the user's own keyboard, is a stop; what we press ourselves is not."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable

import pytest
from desktop_rig import Running, make_step

from anovax.desktop import Desktop


def user_presses(display: str, *keys: str, pause_s: float = 0.05) -> None:
    """Keys from another client, as a keyboard's would come."""
    for key in keys:
        subprocess.run(["xdotool", "key", key], env={"DISPLAY": display, "PATH": "/usr/bin:/bin"}, check=True)
        time.sleep(pause_s)


@pytest.mark.parametrize(
    ("keys", "pause_s", "stops"),
    [
        (("Escape", "Escape"), 0.05, True),
        (("Escape", "a", "Escape"), 0.05, False),
        (("Escape", "Escape"), 1.0, False),
        (("a", "a"), 0.05, False),
    ],
)
def test_two_escapes_of_the_user(
    desktop: Desktop, window_manager: str, keys: tuple[str, ...], pause_s: float, stops: bool
) -> None:
    stopped = threading.Event()
    end = desktop.on_escape_twice(stopped.set)
    try:
        time.sleep(0.2)  # the server registers the watch
        user_presses(window_manager, *keys, pause_s=pause_s)
        assert stopped.wait(2 if stops else 0.7) is stops
    finally:
        end()
        end()


def test_our_own_escapes_stop_nothing(desktop: Desktop, start: Callable[..., Running]) -> None:
    running = start(["xterm", "-T", "escapes"], title="escapes")
    stopped = threading.Event()
    end = desktop.on_escape_twice(stopped.set)
    try:
        time.sleep(0.2)
        desktop.press("escape escape escape", make_step(), running.window)
        assert not stopped.wait(0.7)
    finally:
        end()
