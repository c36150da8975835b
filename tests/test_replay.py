"""anovax replay: a recorded turn is planned and judged again, and executed only when that is asked for."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from anovax import cli, journal, record
from anovax.bus import Bus
from anovax.config import JournalConfig
from anovax.events import TurnStarted


@pytest.fixture(autouse=True)
def own_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("ANOVAX_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("ANOVAX_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ANOVAX_PLANNER__BACKEND", "fastpath")
    monkeypatch.setenv("ANOVAX_TTS__ENABLED", "false")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    return tmp_path / "journal"


def replay(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["anovax", "replay", *arguments])
    try:
        cli.main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0


def recorded(folder: Path, text: str, hide: bool = False) -> None:
    writer = journal.Journal(folder, JournalConfig(), Bus())
    writer.append(TurnStarted(turn="aa11", text=text, source="text"), hide)
    writer.close()


def executed(folder: Path) -> list[str]:
    return [entry.kind for entry in record.entries(folder) if entry.kind == "StepFinished"]


def test_a_replay_only_plans_and_judges(
    own_record: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded(own_record, "what time is it")
    assert replay(monkeypatch, "aa11", "--json") == 0
    row: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert row["plan"]["steps"] == [{"tool": "get_time"}]
    assert row["verdict"]["decision"] == "approve"
    assert executed(own_record) == []


def test_a_replay_executes_when_asked_and_is_a_turn_of_its_own(
    own_record: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded(own_record, "what time is it")
    assert replay(monkeypatch, "aa11", "--run", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert [outcome["status"] for outcome in report["outcomes"]] == ["verified"]
    assert report["turn"] != "aa11"
    assert executed(own_record) == ["StepFinished"]
    assert record.verify(own_record) == []


def test_a_replay_is_judged_by_todays_rules(
    own_record: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded(own_record, "press control alt delete")
    assert replay(monkeypatch, "aa11", "--run", "--json") == 1
    report = json.loads(capsys.readouterr().out)
    assert report["verdict"]["decision"] == "refuse"
    assert executed(own_record) == []


def test_what_is_no_longer_in_the_record_cannot_be_replayed(own_record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(own_record, "type my password hunter2", hide=True)
    assert replay(monkeypatch, "aa11", "--run") == 2
    assert executed(own_record) == []
