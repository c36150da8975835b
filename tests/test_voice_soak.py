"""Speech, noise and commands for a long time, faster than life: nothing missed, invented, or kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import voice_rig  # noqa: F401  (Piper's noise is drawn as in the other tests: the same every time)

from anovax.bench import soak
from anovax.config import Config

Weight = Callable[[str], Path]


@pytest.fixture(autouse=True)
def weights_are_here(weight: Weight) -> None:
    for model in ("tts/en_US-joe-medium", "stt/tiny.en", "wake/hey_jarvis", "wake/features"):
        weight(model)


@pytest.mark.models
@pytest.mark.full
@pytest.mark.timeout(3600)
def test_a_long_day() -> None:
    found = soak.run(Config(), 900)
    assert found.commands >= 50
    assert (found.missed, found.invented) == ((), ())
    assert found.grown_mb < 30  # what is still learnt settles, nothing grows on
    assert found.moments[-1].threads <= found.moments[5].threads


@pytest.mark.models
@pytest.mark.timeout(90)
def test_a_short_while(tmp_path: Path) -> None:
    before = threading.active_count()
    found = soak.run(Config(), 20)
    assert found.commands >= 2
    assert len(found.missed) <= 1, found.missed  # on a busy machine a pause may be heard where there was none
    assert found.invented == ()
    assert threading.active_count() <= before + 1
    soak.plot(found, tmp_path / "soak.png")
    assert (tmp_path / "soak.png").stat().st_size > 1000


def test_growth_is_measured_after_the_start() -> None:
    moments = [
        soak.Moment(at_s=float(i), memory_mb=memory, threads=3, cpu_percent=20.0)
        for i, memory in enumerate((100.0, 180.0, 200.0, 201.0, 202.0, 203.0, 203.0, 205.0))
    ]
    found = soak.Soak(seconds=8, commands=8, missed=(), invented=(), moments=tuple(moments))
    assert found.grown_mb == 3.0
