"""What a benchmark of the whole assistant runs on: virtual sound, a virtual display, files in a folder of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from anovax.config import Config, isolated
from anovax.desktop.virtual_display import virtual_display
from anovax.voice.virtual_sound import VirtualSound


@contextmanager
def virtual_machine(config: Config) -> Iterator[tuple[Config, VirtualSound]]:
    """The configuration for it, and its sound; this process then stands on the display (``DISPLAY``). Raises
    DesktopError and AudioError where what it takes is not installed. All of it ends with the block."""
    with (
        VirtualSound() as sound,
        sound.use(),
        virtual_display() as display,
        TemporaryDirectory(prefix="anovax-bench-") as folder,
    ):
        os.environ["DISPLAY"] = display
        yield isolated(config, Path(folder)), sound
