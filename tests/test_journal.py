"""The record: chained, redactable, readable after a crash."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from pathlib import Path

import pytest

from anovax import journal, record
from anovax.bus import Bus
from anovax.config import JournalConfig
from anovax.errors import UsageError
from anovax.events import PlanMade, StepFinished, TurnFinished, TurnStarted
from anovax.record_text import readable
from anovax.recordings import recording


def write_turn(folder: Path, turn: str, text: str = "type hello", secret: bool = False) -> None:
    bus = Bus()
    writer = journal.Journal(folder, JournalConfig(), bus)
    bus.publish(TurnStarted(turn=turn, text=text, source="text"))
    bus.publish(PlanMade(turn=turn, plan={"steps": [{"tool": "type_text", "text": text}]}, backend="fastpath", ms=1.0))
    bus.publish(StepFinished(turn=turn, step=0, tool="type_text", status="verified", secret=secret))
    bus.publish(TurnFinished(turn=turn, said="Done.", ms=5.0, ok=True))
    writer.close()


def test_a_turn_reads_back_and_verifies(tmp_path: Path) -> None:
    write_turn(tmp_path, "aa11")
    write_turn(tmp_path, "bb22")
    kinds = [entry.kind for entry in record.turn_entries(tmp_path, "aa")]
    assert kinds == ["TurnStarted", "PlanMade", "StepFinished", "TurnFinished"]
    assert record.verify(tmp_path) == []
    assert "type hello" in "\n".join(readable(record.entries(tmp_path)))


def test_unknown_and_ambiguous_turns_are_usage_errors(tmp_path: Path) -> None:
    write_turn(tmp_path, "aa11")
    write_turn(tmp_path, "aa22")
    with pytest.raises(UsageError, match="no turn"):
        record.turn_entries(tmp_path, "zz")
    with pytest.raises(UsageError, match="more than one"):
        record.turn_entries(tmp_path, "aa")


@pytest.mark.parametrize("fault", ["change", "drop", "swap", "cut_end", "insert"])
def test_every_kind_of_change_shows(tmp_path: Path, fault: str) -> None:
    write_turn(tmp_path, "aa11")
    path = record.days(tmp_path)[0]
    lines = path.read_text().splitlines()
    if fault == "change":
        lines[1] = lines[1].replace("hello", "howdy")
    elif fault == "drop":
        del lines[1]
    elif fault == "swap":
        lines[1], lines[2] = lines[2], lines[1]
    elif fault == "cut_end":
        del lines[-1]
    else:
        lines.insert(1, json.dumps({"n": 2}))
    path.write_text("\n".join(lines) + "\n")
    assert record.verify(tmp_path)


def test_a_half_line_is_dropped_and_the_chain_goes_on(tmp_path: Path) -> None:
    write_turn(tmp_path, "aa11")
    path = record.days(tmp_path)[0]
    with path.open("ab") as file:
        file.write(b'{"n": 5, "prev": "ab')
    write_turn(tmp_path, "bb22")
    assert record.verify(tmp_path) == []
    assert len(list(record.entries(tmp_path))) == 8


def test_a_secret_is_taken_out_and_the_chain_still_holds(tmp_path: Path) -> None:
    write_turn(tmp_path, "aa11", text="type correct horse", secret=True)
    assert "correct horse" not in record.days(tmp_path)[0].read_text()
    assert record.verify(tmp_path) == []
    write_turn(tmp_path, "bb22")
    assert record.verify(tmp_path) == []


def test_what_sounds_like_a_secret_is_never_written(tmp_path: Path) -> None:
    write_turn(tmp_path, "aa11", text="type my password is swordfish")
    assert "swordfish" not in record.days(tmp_path)[0].read_text()
    assert record.verify(tmp_path) == []


def test_two_processes_share_one_chain(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_turn, args=(tmp_path, f"t{number}")) for number in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(15)
    assert record.verify(tmp_path) == []
    assert len(list(record.entries(tmp_path))) == 8


def test_old_days_are_deleted_at_the_start(tmp_path: Path) -> None:
    old = tmp_path / "2001-01-01.jsonl"
    old.write_text("")
    write_turn(tmp_path, "aa11")
    assert not old.exists()


def write_at(folder: Path, *times: float) -> None:
    writer = journal.Journal(folder, JournalConfig(), Bus())
    for number, at in enumerate(times):
        writer.append(TurnStarted(turn=f"t{number}", text="type hello", source="text").model_copy(update={"at": at}))
    writer.close()


DAY_S = 86_400.0


def test_the_chain_goes_over_midnight_and_bears_a_clock_that_goes_back(tmp_path: Path) -> None:
    now = time.time()
    write_at(tmp_path / "forth", now - 2 * DAY_S, now - DAY_S, now)
    assert len(record.days(tmp_path / "forth")) == 3
    write_at(tmp_path / "back", now, now - DAY_S, now, now - 2 * DAY_S)
    write_at(tmp_path / "back", now - DAY_S)
    for folder in (tmp_path / "forth", tmp_path / "back"):
        assert record.verify(folder) == []
        assert [entry.n for entry in record.entries(folder)] == list(range(1, len(list(record.entries(folder))) + 1))


@pytest.mark.parametrize("day", [0, 1, 2])
def test_a_day_that_is_gone_shows(tmp_path: Path, day: int) -> None:
    now = time.time()
    write_at(tmp_path, now - 2 * DAY_S, now - DAY_S, now)
    record.days(tmp_path)[day].unlink()
    assert record.verify(tmp_path)


def test_lines_that_are_gone_from_the_beginning_show(tmp_path: Path) -> None:
    write_turn(tmp_path, "aa11")
    path = record.days(tmp_path)[0]
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    assert [fault.file for fault in record.verify(tmp_path)] == ["start.json"]


def test_lines_that_are_gone_from_the_end_show_without_the_head_too(tmp_path: Path) -> None:
    write_turn(tmp_path, "aa11")
    path = record.days(tmp_path)[0]
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    (tmp_path / "head.json").unlink()
    assert [fault.file for fault in record.verify(tmp_path)] == ["head.json"]


@pytest.mark.parametrize("kept", [0, 2])
def test_rotation_is_no_fault(tmp_path: Path, kept: int) -> None:
    now = time.time()
    write_at(tmp_path, now - 60 * DAY_S, now - 50 * DAY_S, *[now] * kept)
    write_at(tmp_path)
    assert len(list(record.entries(tmp_path))) == kept
    assert record.verify(tmp_path) == []
    write_turn(tmp_path, "bb22")
    assert record.verify(tmp_path) == []
    assert len(list(record.entries(tmp_path))) == kept + 4


@pytest.mark.parametrize(
    "text",
    [
        "type sk-abcdefghijklmnopqrstuvwx",
        "log in with ghp_abcdefghijklmnopqrstuvwxyz0123",
        "AKIAABCDEFGHIJKLMNOP",
        "the wifi key is correcthorse",
        "mein passwort ist hallo",
        "-----BEGIN OPENSSH PRIVATE KEY-----",
    ],
)
def test_keys_of_services_are_never_written(tmp_path: Path, text: str) -> None:
    write_turn(tmp_path, "aa11", text=text)
    assert text not in record.days(tmp_path)[0].read_text()
    assert record.verify(tmp_path) == []


@pytest.mark.parametrize(("text", "secret"), [("type my password is swordfish", False), ("type correct horse", True)])
def test_the_recording_of_a_secret_goes_with_its_words(tmp_path: Path, text: str, secret: bool) -> None:
    for turn in ("aa11", "bb22"):
        recording(tmp_path, turn).parent.mkdir(exist_ok=True)
        recording(tmp_path, turn).write_bytes(b"RIFF")
    write_turn(tmp_path, "aa11", text=text, secret=secret)
    write_turn(tmp_path, "bb22")
    assert [path.stem for path in (tmp_path / "audio").iterdir()] == ["bb22"]


def test_old_recordings_are_deleted_with_their_day(tmp_path: Path) -> None:
    for turn, age in (("old", 31 * DAY_S), ("new", DAY_S)):
        recording(tmp_path, turn).parent.mkdir(exist_ok=True)
        recording(tmp_path, turn).write_bytes(b"RIFF")
        os.utime(recording(tmp_path, turn), (time.time() - age,) * 2)
    write_turn(tmp_path, "aa11")
    assert [path.stem for path in (tmp_path / "audio").iterdir()] == ["new"]


def _write_for_ever(folder: Path) -> None:
    bus = Bus()
    writer = journal.Journal(folder, JournalConfig(), bus)
    for number in range(1_000_000):
        writer.append(TurnStarted(turn=f"t{number}", text="type " + "hello " * 200, source="text"))


def test_a_kill_while_it_writes_loses_at_most_the_line_that_was_under_way(tmp_path: Path) -> None:
    writer = multiprocessing.get_context("spawn").Process(target=_write_for_ever, args=(tmp_path,))
    writer.start()
    until = time.monotonic() + 15
    while sum(1 for _ in record.entries(tmp_path)) < 20 and time.monotonic() < until:
        time.sleep(0.01)
    writer.kill()
    writer.join(10)
    written = [entry.n for entry in record.entries(tmp_path)]
    assert written == list(range(1, len(written) + 1))
    assert len(written) >= 20
    write_turn(tmp_path, "bb22")
    assert record.verify(tmp_path) == []
    assert [entry.n for entry in record.entries(tmp_path)] == list(range(1, len(written) + 5))
