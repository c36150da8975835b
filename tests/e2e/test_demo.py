"""``anovax demo`` as a newcomer runs it: its own process, by voice, cut off from the network."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from anovax.plan import Plan
from anovax.sound import is_whole
from anovax.tool import discover

NEEDED = ("Xvfb", "openbox", "pulseaudio", "pacat", "galculator")


@pytest.mark.timeout(180)
@pytest.mark.parametrize("spoken", [True, False], ids=["voice", "text"])
def test_the_demo_does_all_it_promises(tmp_path: Path, weight: Callable[[str], Path], spoken: bool) -> None:
    for program in NEEDED:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    for model in ("stt/tiny.en", "tts/en_US-joe-medium", "wake/hey_jarvis"):
        weight(model)
    command = [sys.executable, "-m", "anovax", "demo", "--json", "--backend", "fastpath", "--out", str(tmp_path)]
    if not spoken:
        command += ["--text", "open the calculator, type 21 plus 21 and press enter"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False)
    result = json.loads(done.stdout)
    assert done.returncode == 0, result["checks"]
    assert set(result["checks"].values()) == {"ok"}
    kept = {path.name for path in Path(result["folder"]).iterdir()}
    assert {"answer.wav", "events.jsonl", "screenshot.png", "result.json"} <= kept
    assert ("command.wav" in kept) is spoken


@pytest.mark.parametrize(
    ("steps", "whole"),
    [
        ([{"tool": "get_time"}], True),
        ([{"tool": "press_keys", "keys": "volumeup"}], True),
        ([{"tool": "open_app", "name": "calculator"}], False),
        ([{"tool": "open_app", "name": "calculator"}, {"tool": "type_text", "text": "1"}], False),
        ([{"tool": "open_app", "name": "calculator"}, {"tool": "press_keys", "keys": "enter"}], True),
        ([], True),
    ],
)
def test_a_request_that_may_go_on_is_waited_for(steps: list[dict[str, str]], whole: bool) -> None:
    assert is_whole(Plan.parse({"steps": steps}, discover())) is whole
    assert not is_whole(None)
