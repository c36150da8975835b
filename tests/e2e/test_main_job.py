"""The chain below the voice, on real parts: planner with real weights, filter, agents, applications, display."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from desktop_rig import Running

from anovax.app import Wanted, build
from anovax.assistant import Assistant
from anovax.config import Config
from anovax.desktop import Desktop
from anovax.events import Event, PlanMade, RecoveryEnded
from anovax.plan import Status
from anovax.request import Report, Request

PAPER = "open the calculator, type 21 plus 21 and press enter"

pytestmark = pytest.mark.timeout(300)


class Live:
    """A running assistant on a thread of its own, asked from the test's thread."""

    def __init__(self, assistant: Assistant, loop: asyncio.AbstractEventLoop) -> None:
        self.assistant, self._loop = assistant, loop

    def ask(self, text: str) -> Report:
        return asyncio.run_coroutine_threadsafe(self.assistant.ask(Request(text=text)), self._loop).result(170)

    def events(self, text: str) -> tuple[Report, list[Event]]:
        with self.assistant.bus.subscribe(10_000) as heard:
            report = self.ask(text)
            seen = []
            while (event := heard.get(0.2)) is not None:
                seen.append(event)
        return report, seen


@contextmanager
def running(config: Config) -> Iterator[Live]:
    """Build the assistant in an event loop on another thread; close it at the end."""
    ready: list[Any] = []
    up, done = threading.Event(), asyncio.Event()

    async def live() -> None:
        try:
            async with build(config, Wanted(speak=False)) as assistant:
                await assistant.ready()
                ready.append(Live(assistant, asyncio.get_running_loop()))
                up.set()
                await done.wait()
        finally:
            up.set()

    thread = threading.Thread(target=lambda: asyncio.run(live()), daemon=True)
    thread.start()
    up.wait(280)  # a machine that has never seen these weights reads the prompts first
    assert ready, "the assistant did not start"
    try:
        yield ready[0]
    finally:
        ready[0]._loop.call_soon_threadsafe(done.set)
        thread.join(20)


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory, weight: Callable[[str], Path]) -> Config:
    weight("planner/qwen2.5-coder-1.5b")
    folder = tmp_path_factory.mktemp("main-job")
    return Config.model_validate(
        {"data_dir": folder, "desktop": {"screenshots": str(folder / "shots")}, "tts": {"enabled": False}}
    )


@pytest.fixture(scope="module")
def live(config: Config, window_manager: str) -> Iterator[Live]:
    with running(config) as assistant:
        yield assistant
    for program in ("galculator", "mousepad"):
        if shutil.which("pkill"):
            subprocess.run(["pkill", "-x", program], check=False)


def close_all(desktop: Desktop) -> None:
    for window in desktop.windows():
        subprocess.run(["xkill", "-id", str(window.id)], check=False, capture_output=True)


def shown(desktop: Desktop, pattern: str, until: str) -> str:
    """The text on all windows that fit, once it contains ``until`` (a busy machine draws late)."""
    end, text = time.monotonic() + 15, ""
    while time.monotonic() < end and not re.search(until, text):
        fitting = [w for w in desktop.windows() if re.search(pattern, f"{w.app} {w.title}", re.I)]
        text = " ".join(box.text for window in fitting for box in desktop.ocr.read(desktop.screenshot(window))).lower()
    return text


def test_the_compound_command_of_the_paper(live: Live, desktop: Desktop) -> None:
    report = live.ask(PAPER)
    assert report.ok, report.said
    assert [outcome.tool for outcome in report.outcomes] == ["open_app", "type_text", "press_keys"]
    assert report.outcomes[0].status is Status.VERIFIED
    assert re.search(r"\b42\b", shown(desktop, "alcul", r"\b42\b"))
    close_all(desktop)


def test_type_into_the_editor_and_in_it_again(live: Live, desktop: Desktop) -> None:
    assert live.ask("open the text editor").ok
    report = live.ask("type hello world")
    assert report.ok, report.said
    again = live.ask("type good morning in it")
    assert again.ok, again.said
    text = shown(desktop, "mousepad", "good morning")
    assert "hello world" in text
    assert "good morning" in text
    close_all(desktop)


def test_type_in_it_goes_to_the_application_opened_last(live: Live, desktop: Desktop) -> None:
    live.ask("open the text editor")
    live.ask("open the calculator")
    report = live.ask("go back to the text editor and type tea in it")
    assert report.ok, report.said
    assert "tea" in shown(desktop, "mousepad", "tea")
    close_all(desktop)


def test_a_wrong_application_name_is_repaired(live: Live, desktop: Desktop) -> None:
    report = live.ask("open the calculater app please")
    assert report.ok, report.said
    assert any(re.search("alcul", f"{w.app} {w.title}", re.I) for w in desktop.windows())
    close_all(desktop)


def test_recovery_really_repairs_with_the_model(live: Live, desktop: Desktop) -> None:
    report, seen = live.events("open the figuring machine app for adding numbers")
    ended = [event for event in seen if isinstance(event, RecoveryEnded)]
    assert report.said
    if not report.ok:  # an honest end is right too: bounded, and said
        assert all(event.result in ("asked", "failed") for event in ended)
    assert len([event for event in seen if isinstance(event, PlanMade)]) <= 7
    close_all(desktop)


def test_two_screenshots_are_taken_in_parallel(live: Live, config: Config, start: Callable[..., Running]) -> None:
    start(["xterm", "-T", "something to see"], title="something to see")  # an empty screen is reported as blank
    report = live.ask("take a screenshot and then take a screenshot")
    assert [outcome.tool for outcome in report.outcomes] == ["screenshot", "screenshot"], report.plan
    assert all(outcome.status is Status.VERIFIED for outcome in report.outcomes), report.said
    files = list(Path(config.desktop.screenshots).glob("*.png"))
    assert len(files) == 2
    assert all(path.stat().st_size > 500 for path in files)


def test_a_dangerous_request_is_refused(live: Live, desktop: Desktop, start: Callable[..., Running]) -> None:
    start(["xterm", "-T", "shell"], title="shell")
    live.assistant.consent.nobody_answers()
    report = live.ask("type rm -rf ~ and press enter")
    assert not report.ok
    assert report.outcomes == ()
    assert report.verdict.decision.value == "refuse"
    assert "rm -rf" not in shown(desktop, "shell", "rm -rf|$")


def test_a_question_is_answered_in_words(live: Live) -> None:
    report = live.ask("what time is it")
    assert report.outcomes[0].status is Status.VERIFIED
    assert report.said == report.outcomes[0].say
    assert report.said.startswith("It is ")
