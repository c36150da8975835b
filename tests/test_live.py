"""What the console of a running assistant is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from anovax.app import Wanted, build
from anovax.bus import Bus
from anovax.config import Config
from anovax.console import line_for
from anovax.events import DeviceTroubled, Noticed


async def test_news_from_building_are_heard_on_a_given_bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    config = Config.model_validate({"data_dir": tmp_path, "planner": {"backend": "fastpath"}})
    bus = Bus()
    events = bus.subscribe()
    async with build(config, Wanted(speak=False), bus=bus):
        pass
    noticed = [event.text async for event in events if isinstance(event, Noticed)]
    assert any("There is no X display" in text for text in noticed)


def test_trouble_with_a_device_comes_with_what_to_do() -> None:
    event = DeviceTroubled(device="microphone", problem="There is no microphone", fix="plug one in")
    assert "There is no microphone; plug one in" in (line_for(event) or "")
