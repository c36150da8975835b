"""What a benchmark of the whole assistant runs on: virtual sound, a virtual display, files in a folder of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from anovax.config import Config, isolated
from anovax.desktop.virtual_display import virtual_display
from anovax.voice.virtual_sound import VirtualSound

QUIET = {"NO_AT_BRIDGE": "1", "DBUS_SESSION_BUS_ADDRESS": "disabled:"}  # else GTK starts buses that outlive us


@contextmanager
def virtual_machine(config: Config) -> Iterator[tuple[Config, VirtualSound]]:
    """The configuration for it, and its sound; this process then stands on the display (``DISPLAY``). Raises
    DesktopError and AudioError where what it takes is not installed. All of it ends with the block."""
    with (
        VirtualSound() as sound,
        sound.use(),
        virtual_display() as display,
        on_display(display),
        TemporaryDirectory(prefix="anovax-bench-", ignore_cleanup_errors=True) as folder,  # a browser may still write
    ):
        yield isolated(config, Path(folder)), sound


@contextmanager
def on_display(display: str) -> Iterator[None]:
    """Point this process, and the X clients that it starts, at a virtual display for the time of the block."""
    changes = {"DISPLAY": display, "GDK_BACKEND": "x11", "QT_QPA_PLATFORM": "xcb", **QUIET}
    with environment({**changes, "WAYLAND_DISPLAY": None}):
        yield


@contextmanager
def environment(changes: Mapping[str, str | None]) -> Iterator[None]:
    """Set (or, with None, take away) variables of this process for the time of the block."""
    before = {name: os.environ.get(name) for name in changes}
    _apply(changes)
    try:
        yield
    finally:
        _apply(before)


def _apply(changes: Mapping[str, str | None]) -> None:
    for name, value in changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
