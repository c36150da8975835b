"""The command line's contract: exit codes, JSON, and one clear sentence for every kind of bad input."""

from __future__ import annotations

import asyncio
import io
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anovax import cli
from anovax.commands.output import emit, patiently
from anovax.config import load_config
from anovax.planning import told_while
from anovax.voice.audio import write_wav

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """``run("plan", "hello", stdin="")`` calls the command line in this process: (exit code, stdout, stderr)."""
    monkeypatch.setenv("ANOVAX_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("ANOVAX_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ANOVAX_PLANNER__BACKEND", "fastpath")

    def call(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["anovax", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        out = capsys.readouterr()
        return code, out.out, out.err

    return call


def sentence(text: str) -> bool:
    """One line, no traceback, ending like a sentence."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return len(lines) == 1 and "Traceback" not in text and lines[0].rstrip().endswith((".", "!"))


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_plan_prints_the_shape_of_the_contract(run: Run) -> None:
    code, out, _ = run("plan", "--json", "what time is it")
    (row,) = rows(out)
    assert code == 0
    assert set(row) >= {"text", "plan", "verdict", "backend", "ms"}
    assert row["plan"]["steps"] == [{"tool": "get_time"}]
    assert set(row["verdict"]) >= {"decision", "rule", "reason", "step"}
    assert set(row["ms"]) >= {"plan", "safety"}


def test_plan_reads_many_requests_from_standard_input(run: Run) -> None:
    code, out, _ = run("plan", "--stdin", stdin="what time is it\n\nopen firefox\n\xff\n".encode("latin-1"))
    assert code == 0
    assert [row["text"] for row in rows(out)][:2] == ["what time is it", "open firefox"]
    assert len(rows(out)) == 3


def test_a_dry_run_executes_nothing(run: Run) -> None:
    code, out, _ = run("do", "--dry-run", "--json", "take a screenshot")
    assert code == 0
    assert rows(out)[0]["plan"]["steps"] == [{"tool": "screenshot"}]


def test_check_judges_one_plan_per_line(run: Run) -> None:
    bad = [{"steps": [{"tool": "open_app", "name": "terminal"}, {"tool": "type_text", "text": "rm -rf ~\n"}]}]
    lines = [{"steps": [{"tool": "get_time"}]}, *bad, {"steps": [{"tool": "launch_missile"}]}, {"steps": "no"}]
    text = "\n".join([*(json.dumps(line) for line in lines), "{not json", "[]"])
    code, out, _ = run("check", "--stdin", stdin=text.encode())
    assert code == 0
    decisions = [row["decision"] for row in rows(out)]
    assert decisions == ["approve", "refuse", "refuse", "refuse", "refuse", "refuse"]
    assert rows(out)[2]["rule"] == "format"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("transcribe", "no-such-file.wav"), 1),
        (("wake", "no-such-file.wav"), 1),
        (("wake", __file__, "--threshold", "7"), 2),
        (("wake", __file__, "--threshold", "0"), 2),
        (("wake", __file__, "--threshold", "nan"), 2),
        (("do",), 2),
        (("plan",), 2),
        (("check",), 2),
        (("plan", "x", "--backend", "telepathy"), 2),
        (("replay", "ffff"), 2),
        (("log", "burn"), 2),
        (("models", "fetch", "no-such-model"), 2),
        (("pair",), 1),
        (("devices", "--revoke", "nobody"), None),
        (("speak", "  "), 2),
        (("demo", "--audio", "no-such-file.wav"), 2),
        (("bench", "accuracy", "no-such-file.tsv"), 2),
    ],
)
def test_bad_input_gets_one_sentence(run: Run, arguments: tuple[str, ...], code: int | None) -> None:
    got, _, error = run(*arguments)
    assert got in ((1, 2) if code is None else (code,)), error
    assert sentence(error), error


def test_json_holds_no_number_that_json_has_not(capsys: pytest.CaptureFixture[str]) -> None:
    emit({"low": float("nan"), "per_hour_95": (0.5, float("inf")), "rows": [{"p50": -float("inf")}], "n": 1})
    said = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert said == {"low": None, "per_hour_95": [0.5, None], "rows": [{"p50": None}], "n": 1}


@pytest.mark.parametrize("arguments", [("no-such-command",), ("plan", "--no-such-option"), ("transcribe",)])
def test_wrong_use_exits_2(run: Run, arguments: tuple[str, ...]) -> None:
    code, _, error = run(*arguments)
    assert code == 2
    assert "Traceback" not in error


def test_a_text_file_is_no_recording(run: Run, tmp_path: Path, weight: Callable[[str], Path]) -> None:
    weight("stt/tiny.en")
    path = tmp_path / "note.wav"
    path.write_text("this is no sound at all\n" * 50)
    code, _, error = run("transcribe", str(path))
    assert code == 1
    assert sentence(error), error


def test_an_empty_recording(run: Run, tmp_path: Path, weight: Callable[[str], Path]) -> None:
    weight("stt/tiny.en")
    path = tmp_path / "empty.wav"
    write_wav(path, np.zeros(0, np.int16), 16_000)
    code, _, error = run("transcribe", str(path))
    assert code == 1
    assert sentence(error), error


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("typo", "[planner]\nmodle = 'x'\n"),
        ("kind", "[planner]\nthreads = 'many'\n"),
        ("broken", "[planner\n"),
        ("nonsense", "\x00\x01"),
    ],
)
def test_a_bad_configuration_is_named(run: Run, tmp_path: Path, setting: str, text: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    code, _, error = run("plan", "hello")
    assert code == 2, setting
    assert sentence(error), error
    assert "config.toml" in error


def test_missing_weights_name_the_command_that_brings_them(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANOVAX_MODELS", str(tmp_path / "nothing"))
    for arguments in (("transcribe", __file__), ("plan", "explain rain", "--backend", "llamacpp")):
        code, _, error = run(*arguments)
        assert code == 1, arguments
        assert sentence(error), error
        assert "fetch" in error


def test_without_a_display_the_reason_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANOVAX_RECOVERY__ENABLED", "true")
    code, out, error = run("do", "--json", "--silent", "open the calculator")
    assert code == 1, error
    report = json.loads(out)
    assert "no X display" in report["said"]
    assert "set DISPLAY" in report["said"]
    assert report["recovery"] == []  # no other way leads to a desktop that is not there


def test_do_answers_and_the_record_knows_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    code, out, _ = run("do", "--json", "--silent", "what time is it")
    report = json.loads(out)
    assert code == 0
    assert report["outcomes"][0]["status"] == "verified"
    assert set(report["outcomes"][0]) >= {"tool", "status", "evidence", "error", "attempts", "ms"}
    code, out, _ = run("log", "--json")
    kinds = [row["kind"] for row in rows(out)]
    assert kinds[0] == "TurnStarted"
    assert kinds[-1] == "TurnFinished"
    assert run("log", "verify")[0] == 0
    code, out, _ = run("replay", report["turn"], "--json")
    assert rows(out)[0]["plan"]["steps"] == [{"tool": "get_time"}]


def test_every_command_has_help_with_an_example(run: Run) -> None:
    _, out, _ = run("--help")
    commands = re.findall(r"^│ (\w+)\s", out, re.M)
    assert {"run", "demo", "do", "plan", "check", "transcribe", "wake", "speak", "doctor"} <= set(commands)
    for name in sorted({"run", "demo", "do", "plan", "check", "transcribe", "wake", "speak", "doctor", "pair", "log"}):
        code, out, _ = run(name, "--help")
        assert code == 0
        assert "Example" in out, name


def test_what_is_printed_while_descriptor_2_leads_nowhere_is_not_lost() -> None:
    """As it does while sounddevice looks for devices."""
    code = """
import os
from anovax import cli, errors
def app():
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    raise errors.UsageError("Heard")
cli.app = app
cli.main()
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (2, "Heard.\n")


async def test_who_waits_at_a_terminal_hears_that_the_model_is_being_prepared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    prepared = asyncio.Event()

    async def ready() -> None:
        await prepared.wait()

    async def work(seconds: float) -> int:
        await asyncio.sleep(seconds)
        return 5

    assert await patiently(work(0.01), ready, after_s=5) == 5
    assert capsys.readouterr().err == ""
    assert await patiently(work(0.2), ready, after_s=0.01) == 5
    assert "being prepared" in capsys.readouterr().err
    prepared.set()
    assert await patiently(work(0.2), ready, after_s=0.01) == 5
    assert capsys.readouterr().err == ""


async def test_who_waits_is_told_again_and_again_until_it_is_ready() -> None:
    prepared, told = asyncio.Event(), list[float]()

    async def ready() -> None:
        await prepared.wait()

    def tell(seconds: float) -> None:
        told.append(seconds)
        if len(told) == 3:
            prepared.set()

    await told_while(ready, tell, after_s=0.01, every_s=0.01)
    assert told == sorted(told) and len(told) == 3


def test_config_show_prints_what_the_file_may_hold(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANOVAX_DESKTOP__ALIASES", '{"my \\"diary\\"": "mousepad"}')
    _, out, _ = run("config", "show")
    (tmp_path / "copied.toml").write_text(out, "utf-8")
    assert load_config(tmp_path / "copied.toml") == load_config()
    assert tomllib.loads(out)["desktop"]["aliases"] == {'my "diary"': "mousepad"}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ANOVAX_SAFETY__TOOLS", "close_window", "ANOVAX_SAFETY… holds no JSON"),
        ("ANOVAX_SAFETY__TOOLS", '{"close_windw": "ask"}', "close_window"),
        ("ANOVAX_SAFETY__TIERS", '{"typing": "ask"}', "input"),
        ("ANOVAX_PLANNER__MODLE", "x", "planner.modle is wrong: there is no such setting"),
        ("ANOVAX_SAFTEY__TOOLS", "{}", "There is no part saftey for the variable ANOVAX_SAFTEY__TOOLS"),
        ("ANOVAX_WAKE__THRESHOLD", "high", "wake.threshold is wrong"),
    ],
)
def test_a_setting_that_cannot_hold_is_told(
    run: Run, monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    code, out, error = run("plan", "what time is it")
    assert (code, out) == (2, "")
    assert sentence(error), error
    assert said in error


def test_an_unknown_planner_model_is_answered_with_those_there_are(run: Run) -> None:
    _, _, error = run("plan", "--backend", "llamacpp", "--model", "nope", "explain rain")
    assert "planner/qwen2.5-coder-0.5b" in error
    assert "stt/" not in error
    _, _, error = run("models", "fetch", "nope")
    assert "choose one of: default, small, all, planner/" in error


def test_config_show_says_what_leaves_the_machine(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "# Leaves this machine: nothing" in run("config", "show")[1]
    monkeypatch.setenv("ANOVAX_PLANNER__BACKEND", "openai")
    monkeypatch.setenv("ANOVAX_PLANNER__URL", "http://10.0.0.9:8080/v1")
    assert "10.0.0.9" in run("config", "show")[1]
