"""A day of use: its round is fair, its verdicts are right, and a small one on a real virtual desktop leaks nothing."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from anovax.bench.day import Plan, close_applications, run
from anovax.bench.day_report import Answer, Day
from anovax.bench.footprint import Footprint, Growth, Watch, growth, lowest
from anovax.bench.study.backends import named
from anovax.bench.study.requests import Asked
from anovax.config import Config
from anovax.desktop.virtual_display import virtual_display
from anovax.errors import UsageError

NEEDED = ("Xvfb", "openbox", "pulseaudio", "pacat", "galculator", "mousepad")
needs_display = pytest.mark.skipif(any(shutil.which(name) is None for name in NEEDED), reason="not installed")
HELD = Footprint(rss_mb=100.0, threads=10, descriptors=20, processes=5, windows=8, temporary=0)
TEXTS = (
    "what time is it",
    "open the calculator",
    "take a screenshot",
    "what day is it",
    "remember that the plumber comes on friday",
    "do you remember when the plumber comes",
)


def asked(*texts: str) -> tuple[Asked, ...]:
    return tuple(Asked(f"t{n}", text) for n, text in enumerate(texts))


def held(**more: float) -> Footprint:
    return Footprint(**{**HELD.__dict__, **more})


def answers(*times: float | None, footprint: Footprint = HELD) -> list[Answer]:
    return [Answer(f"t{n}", ms, ms is not None, footprint) for n, ms in enumerate(times)]


def test_every_round_asks_the_same_in_the_same_seeded_order() -> None:
    texts = asked(*(f"request {n}" for n in range(140)))
    plan = Plan(texts, texts[:30], 2000, 200, seed=3)
    order = plan.round()
    assert plan.rounds == 15 and len(order) == 134 + 14
    assert order == plan.round() and order != Plan(texts, texts[:30], 2000, 200, seed=4).round()
    assert len({(one.id, aloud) for one, aloud in order}) == len(order)
    assert Plan(texts, (), 12, 0).rounds == 2 and len(Plan(texts, (), 12, 0).round()) == 6
    for nothing in (Plan((), (), 10, 0), Plan(texts, (), 10, 1), Plan(texts, texts, 0, 0)):
        with pytest.raises(UsageError):
            nothing.round()


def test_what_was_at_work_for_a_while_is_no_leak_and_what_stays_is() -> None:
    assert lowest([held(windows=12, threads=9), held(descriptors=44)]) == held(threads=9)
    assert all(one.holds for one in growth(HELD, held(rss_mb=102.0, threads=18)))
    for figure in ("descriptors", "processes", "windows", "temporary"):
        (leak,) = [one for one in growth(HELD, held(**{figure: getattr(HELD, figure) + 1})) if not one.holds]
        assert leak.figure == figure
    assert not Growth("rss_mb", 100.0, 104.0, 3.0).holds and not Growth("threads", 10, 27, 16).holds


def test_the_end_is_compared_with_the_start_over_the_same_requests() -> None:
    times = [10.0, 20.0, 30.0, 40.0]
    same = Day(answers(*times) * 8)
    pace = same.pace()
    assert pace is not None and (pace.start, pace.change, pace.low, pace.high) == (pace.end, 0.0, 0.0, 0.0)
    assert same.holds
    slower = Day(answers(*times) * 6 + answers(*(1.2 * ms for ms in times)) * 2)
    pace = slower.pace()
    assert pace is not None and pace.change == pytest.approx(20.0) and not pace.holds and not slower.holds
    assert Day(answers(10.0, None)).pace() is None


def test_a_leak_a_broken_record_and_an_unanswered_request_are_told() -> None:
    leaking = Day(answers(1.0, 2.0) * 100 + answers(1.0, None, footprint=held(windows=9)) * 100, lines=3)
    assert [one.requests for one in leaking.slices()] == [100] * 4
    assert leaking.slices()[-1].unanswered == 50 and not leaking.holds
    told = leaking.table()
    assert "windows: 8 → 9 (grew" in told and "record: 3 lines, whole" in told
    assert "broken in 1 places" in Day(answers(1.0), 3, ("2026-01-01.jsonl 7: gone",)).table()
    known = json.loads(json.dumps(leaking.to_json()))
    assert known["holds"] is False and len(known["slices"]) == 4 and len(known["requests"]) == 400
    assert Day().slices() == [] and Day().holds and Day().table()


@needs_display
def test_a_watch_sees_windows_files_descriptors_and_processes(tmp_path: Path) -> None:
    from Xlib.display import Display

    temporary, data = (tmp_path / name for name in ("temporary", "data"))
    for folder in (temporary, data):
        folder.mkdir()
    with virtual_display() as name, closing(Watch(name, temporary, data)) as watch:
        before = settled(watch)
        connection = Display(name)
        connection.screen().root.create_window(0, 0, 1, 1, 0, 0)  # never shown, and a window all the same
        connection.sync()
        (temporary / "left").write_text("")
        (data / "x.tmp").write_text("")
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        after = watch.look()
        child.kill()
        child.communicate()
        connection.close()
    assert (after.windows, after.temporary, after.processes) == (before.windows + 1, 2, before.processes + 1)
    assert after.descriptors >= before.descriptors + 2


def settled(watch: Watch) -> Footprint:
    """What is there once the processes of earlier tests have gone."""
    seen, end = watch.look(), time.monotonic() + 10
    while time.monotonic() < end:
        time.sleep(0.2)
        seen, before = watch.look(), seen
        if (seen.processes, seen.descriptors) == (before.processes, before.descriptors):
            break
    return seen


@needs_display
def test_an_application_that_asks_back_is_ended(display: str, tmp_path: Path) -> None:
    from anovax.bench.recovery_stage import Stage
    from anovax.desktop import build

    with build(display=display) as desktop:
        stage = Stage(desktop, tmp_path / "scene", tmp_path / "share")
        try:
            stage.change_note()
            assert [window.title[0] for window in desktop.windows()] == ["*"]
            close_applications(desktop)
            assert not desktop.windows()
        finally:
            stage.clear()


@needs_display
@pytest.mark.e2e
@pytest.mark.timeout(90)
def test_a_small_day_leaks_nothing_and_leaves_nothing_behind() -> None:
    lived, told = Day(), list[tuple[int, int]]()
    before = [os.environ.get(name) for name in ("DISPLAY", "HOME", "TMPDIR", "XDG_DATA_HOME", "PULSE_SERVER")]
    plan = Plan(asked(*TEXTS), (), 12, 0, speak=False, warm=6)
    asyncio.run(run(plan, Config(), named("fastpath", Config()), lived, lambda done, of: told.append((done, of))))
    assert len(lived.answers) == 12 and told[-1] == (18, 18)
    assert lived.lines > 12 and not lived.faults
    assert [one.figure for one in lived.growth() if not one.holds and one.figure != "rss_mb"] == []
    after = [os.environ.get(name) for name in ("DISPLAY", "HOME", "TMPDIR", "XDG_DATA_HOME", "PULSE_SERVER")]
    assert after == before and Path(tempfile.gettempdir()).is_dir()


@needs_display
@pytest.mark.full
@pytest.mark.e2e
@pytest.mark.timeout(1800)
def test_hundreds_of_requests_typed_and_spoken_leak_nothing(weight: Callable[[str], Path]) -> None:
    for needed in ("tts/en_US-joe-medium", "stt/tiny.en", "wake/hey_jarvis"):
        weight(needed)
    lived, texts = Day(), asked(*TEXTS, "open the text editor", "type good evening", "scroll down", "press escape")
    plan = Plan(texts, texts[:4], 300, 20)
    asyncio.run(run(plan, Config(), named("fastpath", Config()), lived))
    grown: list[Any] = [one for one in lived.growth() if not one.holds]
    assert grown == [] and not lived.faults, lived.table()


@needs_display
@pytest.mark.full
@pytest.mark.e2e
@pytest.mark.timeout(90)
def test_stopped_at_the_terminal_it_tells_what_there_is(tmp_path: Path) -> None:
    texts, out = tmp_path / "texts.txt", tmp_path / "day.json"
    texts.write_text("what day is it\nwhat time is it\n", "utf-8")
    command = [sys.executable, "-m", "anovax", "bench", "day", str(texts), "--texts", "100000", "--audio", "0"]
    env = {**os.environ, "ANOVAX_CONFIG": str(tmp_path / "none.toml"), "TMPDIR": str(tmp_path)}
    running = subprocess.Popen([*command, "--silent", "--out", str(out)], stderr=subprocess.PIPE, text=True, env=env)
    try:
        end = time.monotonic() + 60
        while not _asked(tmp_path) and time.monotonic() < end:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 130, err
    assert "Stopped after" in err and "Traceback" not in err
    assert json.loads(out.read_text("utf-8"))["record"]["lines"] > 0
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("anovax-")] == []


def _asked(folder: Path) -> bool:
    """Whether the record of a day has begun."""
    return any(path.stat().st_size > 5000 for path in folder.glob("anovax-bench-*/journal/*.jsonl"))
