"""anovax bench run and compare: one folder that describes itself, goes on where it was stopped, and is compared."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anovax.bench.study import backends, differences, figures, report, targets
from anovax.bench.study.energy import Energy
from anovax.bench.study.live import measured
from anovax.bench.study.machine import hashes
from anovax.bench.study.measuring import Measuring
from anovax.bench.study.requests import Asked, digest, read_recordings, read_texts
from anovax.bench.study.rows import Folder, Row
from anovax.bench.study.running import Study, check, run
from anovax.config import Config, PlannerConfig
from anovax.errors import ConfigError, PlannerError, UsageError
from anovax.events import (
    Event,
    Judged,
    PlanMade,
    SpeechStarted,
    StepFinished,
    StepStarted,
    Transcribed,
    TurnFinished,
    UtteranceEnded,
    WakeHeard,
)
from anovax.plan import Planned, PlanRequest
from anovax.planner.fastpath import FastPath
from anovax.tool import CancelFlag, discover
from anovax.voice.audio import write_wav

TABLE = (
    "text\texpected_tools\tkey_argument\n"
    "open the text editor\topen_app\ttext editor\n"
    "type good evening and press enter\ttype_text>press_keys\tgood evening\n"
    "scroll down\tscroll\t\n"
    "zzzz qqqq\tscreenshot\t\n"
)
TOOLS = discover()
pytestmark = pytest.mark.timeout(60)  # plots and rules take their time on a busy machine
ABOUT = {
    "machine": {"processor": "p", "cores": 2, "memory_gb": 8, "system": "s"},
    "versions": {"anovax": "1", "commit": "abc", "engines": []},
    "weights": {},
    "load": {},
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "requests.tsv"
    path.write_text(TABLE, "utf-8")
    return path


def study_of(table: Path, **more: Any) -> Study:
    return Study(tuple(read_texts(table)), ("fastpath",), **more)


def fill(study: Study, path: Path, tell: Callable[[Row, int, int], None] = lambda row, done, of: None) -> Folder:
    folder = Folder(path)
    folder.open(study.settings(Config()), ABOUT)
    asyncio.run(run(study, folder, Config(), TOOLS, None, tell))
    return folder


def test_every_request_is_measured_stage_by_stage_and_judged(table: Path, tmp_path: Path) -> None:
    folder = fill(study_of(table, repeat=2, cold=1), tmp_path / "study")
    rows = folder.rows()
    assert len(rows) == 4 * 2 + 1
    warm = {row.text: row for row in rows if row.mode == "warm"}
    opened = warm["open the text editor"]
    assert (opened.tools, opened.tools_right, opened.argument_right) == ("open_app", True, True)
    assert opened.plan is not None and opened.safety is not None and opened.dispatch is not None and opened.load is None
    assert warm["zzzz qqqq"].tools_right is False
    assert all(
        row.load is not None and row.total is not None and row.total >= row.load for row in rows if row.mode == "cold"
    )
    with (folder.path / "rows.csv").open(encoding="utf-8", newline="") as file:
        assert [line["text"] for line in csv.DictReader(file)] == [row.text for row in rows]


def test_a_backend_that_fails_is_wrong_and_takes_no_part_in_the_times(tmp_path: Path) -> None:
    class Broken(FastPath):
        async def plan(self, request: PlanRequest, cancel: CancelFlag) -> Planned:
            raise PlannerError("The server is away", "try again later")

    measuring = Measuring(Config(), TOOLS, None, Energy(tmp_path))
    asked = Asked("t1", "how are you", read_case("how are you", "chat"))
    base = Row(request="t1", backend="remote", mode="warm", repeat=0)
    row = asyncio.run(measuring.one(asked, Broken(TOOLS), base))
    measuring.close()
    assert "The server is away" in row.error and row.tools_right is False and row.plan is None
    (group,) = figures.groups([row])
    assert group.errors == 1 and group.stages() == [] and group.share("tools_right").value == 0


def test_a_stopped_study_goes_on_and_measures_nothing_twice(table: Path, tmp_path: Path) -> None:
    study = study_of(table, repeat=3)

    def stop(row: Row, done: int, of: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill(study, tmp_path / "study", stop)
    with (tmp_path / "study" / "rows.jsonl").open("a") as file:
        file.write('{"request": "t0001", "ba')  # the machine went down while it wrote
    assert len(Folder(tmp_path / "study").rows()) == 5
    left: list[int] = []
    folder = fill(study, tmp_path / "study", lambda row, done, of: left.append(of))
    assert left == [7] * 7
    assert sorted(row.key for row in folder.rows()) == sorted(row.key for row in study.schedule())


@pytest.mark.parametrize("before", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_table_is_the_same_from_any_editor(table: Path, tmp_path: Path, before: str, end: str) -> None:
    other = tmp_path / "other.tsv"
    other.write_bytes((before + TABLE).replace("\n", end).encode())
    assert read_texts(other) == read_texts(table)


@pytest.mark.parametrize(
    "content", [b"path\ttext\na.wav\tcaf\xe9\n", b"path\ttext\na.wav\t" + b"x" * 200_000, b"", b"a\tb\n"]
)
def test_a_table_that_cannot_be_read_is_told_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "transcripts.tsv").write_bytes(content)
    with pytest.raises(UsageError, match=r"cannot be read|no such table"):
        read_recordings(tmp_path)


def test_a_short_row_is_a_recording_without_words(tmp_path: Path) -> None:
    (tmp_path / "transcripts.tsv").write_text("path\ttext\na.wav\n")
    (tmp_path / "a.wav").write_bytes(b"x")
    assert [(one.text, one.said) for one in read_recordings(tmp_path)] == [("", "")]


def test_rows_of_two_versions_never_share_a_folder(table: Path, tmp_path: Path) -> None:
    folder = fill(study_of(table), tmp_path / "study")
    newer = ABOUT | {"versions": {"anovax": "2", "commit": "def", "engines": []}}
    with pytest.raises(UsageError, match=r"another study .*versions was"):
        folder.open(study_of(table).settings(Config()), newer)
    folder.open(study_of(table).settings(Config()), ABOUT | {"load": {"load_average": 9}, "command": "again"})


def test_a_row_is_one_line_whatever_was_said_and_a_cut_character_loses_only_itself(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "study")
    folder.open({}, ABOUT)
    row = Row(request="t1", backend="b", mode="warm", repeat=0, text="one\u2028two\x85three caf\u00e9")
    folder.add(row)
    line = (folder.path / "rows.jsonl").read_bytes()
    with (folder.path / "rows.jsonl").open("ab") as file:
        file.write(line[: line.rindex("\u00e9".encode()) + 1])
    assert folder.open({}, ABOUT) == [row]


@pytest.mark.parametrize("content", ["[1]", '{"format": 1}', '{"format": 1, "settings": [], "about": 0}', "{", "null"])
def test_what_is_no_study_is_told_in_a_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "study.json").write_text(content)
    with pytest.raises(UsageError, match="holds no study"):
        Folder(tmp_path).open({}, ABOUT)


def test_a_folder_of_another_study_or_of_other_files_is_left_alone(table: Path, tmp_path: Path) -> None:
    fill(study_of(table), tmp_path / "study")
    with pytest.raises(UsageError, match=r"another study .*repeat was 1"):
        fill(study_of(table, repeat=2), tmp_path / "study")
    with pytest.raises(UsageError, match="holds other files"):
        fill(study_of(table), tmp_path)
    (tmp_path / "study" / "rows.jsonl").write_text("nonsense\n{}\n", "utf-8")
    with pytest.raises(UsageError, match="Line 1"):
        Folder(tmp_path / "study").rows()
    with pytest.raises(UsageError, match="holds no study"):
        Folder(tmp_path).study()


def test_order_is_random_and_comes_from_the_seed(table: Path) -> None:
    study = Study(tuple(read_texts(table)), ("fastpath", "rules+0.5B"), repeat=5, seed=1)
    order = [row.key for row in study.schedule()]
    assert order == [row.key for row in study.schedule()]
    assert order != sorted(order) and len(set(order)) == len(order) == 40
    other = Study(study.asked, study.names, repeat=5, seed=2)
    assert [row.key for row in other.schedule()] != order


def test_what_cannot_be_measured_is_said_before_anything_is_loaded(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANOVAX_API_KEY", raising=False)
    asked = tuple(read_texts(table))
    for study in (
        Study((), ("fastpath",)),
        Study(asked, ("simulated",)),
        Study(asked, ("fastpath",), cold=1, live=True),
    ):
        with pytest.raises(UsageError):
            check(study, Config(), TOOLS)
    with pytest.raises(ConfigError, match="needs a key"):
        check(Study(asked, ("gemini",)), Config(), TOOLS)


def test_each_remote_backend_has_its_own_address_and_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANOVAX_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", "mine")
    here = PlannerConfig(url="http://127.0.0.1:1/v1", remote_model="local-one", backend="openai")
    config = Config(planner=here)
    gemini, openai = (backends.named(name, config) for name in ("gemini", "rules+openai"))
    at = backends.named("openai=http://192.168.1.20:8080/v1", config)
    assert gemini.config(config).planner.url == gemini.config(config).planner.remote_model == ""
    assert (gemini.config(config).planner.api_key_env, openai.config(config).planner.api_key_env) == (
        "GEMINI_API_KEY",
        "ANOVAX_API_KEY",
    )
    assert openai.config(config).planner.url == here.url and at.config(config).planner.url.startswith("http://192")
    assert backends.leaves([gemini, openai, at], config) == ["gemini", "openai=http://192.168.1.20:8080/v1"]


def test_the_hashes_are_of_every_weight_that_takes_part(weight: Callable[[str], Path]) -> None:
    for needed in ("tts/en_US-joe-medium", "stt/tiny.en", "wake/hey_jarvis"):
        weight(needed)
    rules = [backends.named("fastpath", Config())]
    assert hashes(rules, Config(), heard=False, live=False) == {}
    assert set(hashes(rules, Config(), heard=True, live=True)) == {
        "tiny.en/model.bin",
        "hey_jarvis_v0.1.onnx",
        "en_US-joe-medium.onnx",
    }


def test_requests_come_from_lists_tables_and_recordings(table: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.txt"
    plain.write_text("what time is it\n\nscroll down\n", "utf-8")
    assert [one.text for one in read_texts(plain)] == ["what time is it", "scroll down"]
    write_wav(tmp_path / "a.wav", np.zeros(1600, np.int16), 16_000)
    (tmp_path / "transcripts.tsv").write_text("path\ttext\texpected_tools\na.wav\twhat time is it\tget_time\n", "utf-8")
    (clip,) = read_recordings(tmp_path)
    assert clip.audio == tmp_path / "a.wav" and clip.case is not None and clip.case.alternatives == (("get_time",),)
    before = digest([clip])
    write_wav(tmp_path / "a.wav", np.ones(1600, np.int16), 16_000)
    assert digest([clip]) != before
    (tmp_path / "plain").mkdir()
    for name, words in (("b.wav", "b.txt"), ("c.wav", "none.txt")):
        write_wav(tmp_path / "plain" / name, np.zeros(1600, np.int16), 16_000)
        (tmp_path / "plain" / words).write_text("scroll down\n", "utf-8")
    (beside,) = read_recordings(tmp_path / "plain")
    assert (beside.text, beside.audio) == ("scroll down", tmp_path / "plain" / "b.wav")
    (tmp_path / "empty").mkdir()
    for bad in (tmp_path / "none.tsv", table, tmp_path / "empty"):
        with pytest.raises(UsageError):
            read_recordings(bad)


def test_the_bootstrap_draws_requests_not_rows() -> None:
    many = figures.quantile({"a": [1.0] * 50, "b": [2.0] * 50}, 0.5)
    few = figures.quantile({"a": [1.0], "b": [2.0]}, 0.5)
    assert (many.low, many.high) == (few.low, few.high) == (1.0, 2.0)  # 50 repeats of two requests are two requests
    assert figures.quantile({}, 0.5).rows == 0
    values = {str(n): [float(n)] for n in range(101)}
    wide = figures.quantile(values, 0.5)
    assert wide.value == 50 and 35 < wide.low < 50 < wide.high < 65
    assert wide == figures.quantile(values, 0.5)


def test_the_report_says_what_was_published_and_what_was_measured(table: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="part of the bench extra")
    folder = fill(study_of(table), tmp_path / "study")
    written = report.write(folder)
    assert {"plots/waterfall.png", "plots/cdf.png", "plots/accuracy.png", "report.md", "report.html"} == set(written)
    text, page = ((folder.path / name).read_text("utf-8") for name in ("report.md", "report.html"))
    for shown in (text, page):
        assert shown.count(figures.PUBLISHED_LABEL) == 3 and "700 to 2000" in shown
        assert "seed" in shown and "abc" in shown and "not available" in shown
    assert page.count("data:image/png;base64,") == 3
    assert 'src="http' not in page and "href=" not in page and 'src="plots' not in page


def test_two_studies_are_compared_over_the_same_requests(table: Path, tmp_path: Path) -> None:
    a, b = (fill(study_of(table, repeat=2), tmp_path / name) for name in "ab")
    slower = [row.model_copy(update={"plan": (row.plan or 0) + 100}) for row in b.rows()]
    b.write("rows.jsonl", "".join(row.model_dump_json() + "\n" for row in slower))
    _, changes = differences.compare(a, b)
    by_figure = {change.figure: change for change in changes}
    plan = by_figure["plan p50, ms"]
    assert plan.clear and plan.change.low > 50 and plan.change.low <= plan.b - plan.a <= plan.change.high
    assert by_figure["tools right, %"].change.value == 0 and not by_figure["tools right, %"].clear


def test_studies_that_cannot_be_compared_say_why(table: Path, tmp_path: Path) -> None:
    a = fill(study_of(table), tmp_path / "a")
    one = a.study()
    two = json.loads(json.dumps(one))
    two["settings"]["requests"] = "other"
    two["about"]["machine"]["cores"] = 64
    found = differences.incomparable(one, two, simulated=False)
    assert found == ["the requests are not the same", "the machines differ: cores 2, 64"]
    two = json.loads(json.dumps(one))
    two["about"]["versions"]["commit"], two["settings"]["configuration"]["planner"]["threads"] = "def", 3
    assert differences.incomparable(one, two, simulated=False) == []
    assert differences.differing(one, two) == [
        "versions commit: abc → def",
        "configuration planner.threads: 0 → 3",
    ]
    other = Folder(tmp_path / "b")
    other.open(study_of(table, cold=1).settings(Config()), ABOUT)
    with pytest.raises(UsageError, match="no backend and mode in common"):
        differences.compare(a, other)


def test_energy_is_read_from_whole_packages_and_survives_the_counters_end(tmp_path: Path) -> None:
    def zone(name: str, kind: str, count: int) -> Path:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        for file, value in (("name", kind), ("energy_uj", count), ("max_energy_range_uj", 10_000_000)):
            (folder / file).write_text(f"{value}\n", "ascii")
        return folder / "energy_uj"

    package = zone("intel-rapl:0", "package-0", 9_000_000)
    zone("intel-rapl:0:0", "core", 1)
    energy = Energy(tmp_path)
    before = energy.read()
    package.write_text("1000000\n", "ascii")
    assert energy.available and energy.joules(before) == pytest.approx(2.0)
    nothing = Energy(tmp_path / "none")
    assert not nothing.available and nothing.joules(nothing.read()) is None


def test_a_live_row_is_counted_from_the_end_of_speech() -> None:
    seen: list[Event] = [
        WakeHeard(at=9.8, word="hey", score=0.9),
        UtteranceEnded(at=12.5, reason="silence", seconds=1.0),
        Transcribed(at=12.6, text="what time is it", ms=90.0, seconds=1.0, window_s=15.0),
        PlanMade(at=12.61, plan={"steps": [{"tool": "get_time"}]}, backend="fastpath", ms=1.0, turn="t"),
        Judged(at=12.62, decision="approve", rule="", reason="", turn="t"),
        StepStarted(at=12.63, turn="t", step=0, attempt=1),
        StepFinished(at=12.65, turn="t", step=0, tool="get_time", status="verified"),
        SpeechStarted(at=12.7, text="noon", latency_s=0.04),
        TurnFinished(at=13.0, turn="t", ok=True, said="noon", ms=1.0),
    ]
    case = read_case("what time is it", "get_time")
    row = measured(Asked("a", "what time is it", case), seen, end=12.0, woken=9.7)
    names = ("wake", "endpoint", "stt", "plan", "safety", "dispatch", "effect", "done", "audio", "total")
    stages = {key: row[key] for key in names}
    wanted = {
        "wake": 100,
        "endpoint": 500,
        "stt": 600,
        "plan": 610,
        "safety": 10,
        "dispatch": 10,
        "effect": 630,
        "done": 650,
        "audio": 90,
        "total": 1000,
    }
    assert stages == pytest.approx(wanted, abs=0.2)
    assert row["tools_right"] is True and row["error"] == ""
    assert measured(Asked("a", "x"), [], 1.0, 1.0)["error"] == "the wake phrase was not heard"


def test_targets_stand_beside_what_was_measured(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    assert targets.resources(folder) == []
    for peak in (9000.0, 1169.0):  # the later one counts
        targets.keep(folder, targets.Resources(backend="rules+0.5B", ready_s=6.0, idle_percent=3.0, peak_mb=peak))
    rows = [
        Row(request=str(n), backend="rules+0.5B", mode="live", repeat=0, answered_by=by, effect=effect, audio=10.0)
        for n, (by, effect) in enumerate([("fastpath", 600.0), ("fastpath", 650.0), ("llamacpp", 2600.0)])
    ]
    found = [target.cells() for target in targets.targets(figures.groups(rows), targets.resources(folder))]
    assert [cells[-1] for cells in found] == ["holds", "missed", "holds", "missed", "holds", "holds"]
    assert found[-1] == ["rules+0.5B: peak memory, MB", "<= 1,300", "1,169", "holds"]


@pytest.mark.full
@pytest.mark.e2e
@pytest.mark.timeout(300)
def test_a_live_study_hears_and_does_what_is_asked(weight: Callable[[str], Path], tmp_path: Path) -> None:
    for needed in ("tts/en_US-joe-medium", "stt/tiny.en", "wake/hey_jarvis"):
        weight(needed)
    texts = tmp_path / "texts.txt"
    texts.write_text("what time is it\n", "utf-8")
    folder = fill(Study(tuple(read_texts(texts)), ("fastpath",), live=True, repeat=3), tmp_path / "live")
    rows = folder.rows()
    assert [row.error for row in rows] == [""] * 3
    done = [row for row in rows if row.tools == "get_time"]  # on a busy machine a word may be misheard
    assert done
    for row in done:
        assert None not in (row.wake, row.endpoint, row.stt, row.plan, row.effect, row.audio, row.done)
    (kept,) = targets.resources(folder)
    assert kept.ready_s > 0 and kept.peak_mb > 100


def read_case(text: str, tools: str) -> Any:
    from anovax.bench.accuracy import Case, alternatives

    return Case(text, alternatives(tools))


@pytest.mark.timeout(60)
def test_interrupted_at_the_terminal_it_keeps_what_is_measured(tmp_path: Path) -> None:
    texts, folder = tmp_path / "many.txt", tmp_path / "study"
    texts.write_text("scroll down\n" * 1000, "utf-8")
    command = [sys.executable, "-m", "anovax", "bench", "run", str(folder), "--texts", str(texts), "--repeat", "20"]
    env = {**os.environ, "ANOVAX_CONFIG": str(tmp_path / "none.toml")}
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    try:
        while running.poll() is None and not (folder / "rows.jsonl").is_file():
            time.sleep(0.05)
        while running.poll() is None and len((folder / "rows.jsonl").read_bytes()) < 2000:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=50)
    finally:
        running.kill()
    assert running.returncode == 130, err
    assert "Traceback" not in err and "goes on" in err
    assert 2 <= len(Folder(folder).rows()) < 20_000
    assert (folder / "report.md").is_file()
