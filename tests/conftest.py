"""Fixtures that many tests share. Nothing here touches the user's own files, screen or sound."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from anovax import weights
from anovax.errors import WeightsError
from anovax.isolation import cut_off, unroutable

if TYPE_CHECKING:
    from voice_rig import Piper

    from anovax.voice.transcribe import Transcriber


PACKETS_BEFORE = pytest.StashKey[tuple[int, int]]()


def pytest_sessionstart(session: pytest.Session) -> None:
    """The tests, and whatever they start, have no network but loopback, where the system allows that; those marked
    ``network`` run by themselves. They can be stopped with SIGINT, which a shell takes from what it starts in the
    background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if session.config.option.markexpr != "network" and cut_off():
        session.config.stash[PACKETS_BEFORE] = (unroutable(4), unroutable(6))


def left(config: pytest.Config) -> tuple[int, int] | None:
    """Packets of this session that found no way out of the machine, of IPv4 and of IPv6; None where it has a network.

    A Chromium asks the kernel once whether there is a way for IPv6, which counts there though nothing is sent.
    """
    before = config.stash.get(PACKETS_BEFORE, None)
    return None if before is None else (unroutable(4) - before[0], unroutable(6) - before[1])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    packets = left(config)
    told = "as it is" if config.option.markexpr == "network" else "this system does not let the tests do without"
    if packets is not None:
        told = f"none; packets without a way out: {packets[0]} (IPv4), {packets[1]} (IPv6, browsers looking for one)"
    terminalreporter.write_line(f"network: {told}", red=packets is not None and packets[0] > 0)


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Data, configuration and state in a temporary folder, and no library that asks the network for news of itself."""
    home = tmp_path_factory.mktemp("home")
    changes = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("DATA", "CONFIG", "STATE")}
    changes |= {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("ANOVAX_")]:
            if name not in {"ANOVAX_MODELS", "ANOVAX_CACHE"}:  # where the weights are is the machine's affair
                patch.delenv(name)
        for name, value in changes.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="session")
def weight() -> Callable[[str], Path]:
    """Gives the verified file or folder of a model; the test is skipped where the weights were not fetched."""

    def find(model_id: str) -> Path:
        try:
            return weights.find(model_id)
        except WeightsError as error:
            pytest.skip(str(error))

    return find


@pytest.fixture(scope="module")
def say(weight: Callable[[str], Path]) -> Iterator[Piper]:
    """Gives a text as the assistant's voice says it; for each module anew, so that it says the same in each."""
    from voice_rig import Piper

    voice = Piper(weight("tts/en_US-joe-medium"))
    yield voice
    voice.close()


@pytest.fixture(scope="module")
def stt(weight: Callable[[str], Path]) -> Iterator[Transcriber]:
    """Speech to text, as the product builds it."""
    from voice_rig import transcriber

    model = transcriber(weight)
    yield model
    model.close()


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """The name of a virtual screen with a window manager, which is also ``DISPLAY`` from here on."""
    from anovax.desktop.virtual_display import virtual_display

    with virtual_display() as name, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISPLAY", name)
        # GTK would start buses of its own, which outlive the display and mislead the next application.
        patch.setenv("NO_AT_BRIDGE", "1")
        patch.setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:")
        yield name
