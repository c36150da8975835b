"""Applications, screenshots and reading the screen on a real X server with real programs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from anovax.agents.app import AppAgent, OpenAppArgs
from anovax.agents.screen import ReadScreenArgs, ScreenAgent
from anovax.config import Config, DesktopConfig
from anovax.desktop import Desktop, build
from anovax.desktop.applications import Applications
from anovax.desktop.launch import Launcher
from anovax.errors import ToolError, UserMustDecide
from anovax.tool import AgentParts, CancelFlag, Effect, NoArgs, StepContext

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]
NEEDED = ("Xvfb", "openbox", "galculator", "mousepad", "xterm")

if missing := [name for name in NEEDED if shutil.which(name) is None]:
    pytest.skip(f"not installed: {', '.join(missing)}; scripts/start.py installs them", allow_module_level=True)

ENTRY = "[Desktop Entry]\nType=Application\nName={name}\nExec={exec}\n{more}\n"


class Steps:
    """Makes step contexts and keeps the effects that they announced."""

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self.cancel = CancelFlag()

    def __call__(self, ttl: float = 25.0) -> StepContext:
        end = time.monotonic() + ttl
        return StepContext("turn", 0, end, self.cancel, threading.Event(), recheck=self.effects.append)


@pytest.fixture
def steps() -> Steps:
    return Steps()


@pytest.fixture
def entry_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "share/applications"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def desktop(display: str, entry_folder: Path, tmp_path: Path) -> Iterator[Desktop]:
    """The real desktop; applications come from the system and from ``entry_folder``. What was started is ended."""
    made = build(DesktopConfig(screenshots=str(tmp_path / "pictures")), display)
    env = {**os.environ, "XDG_DATA_HOME": str(entry_folder.parent)}
    made.applications = Applications(env=env)
    with made:
        yield made
        for window in made.windows():
            if window.pid > 1:  # 0 would be everybody here
                with suppress(OSError):
                    os.kill(window.pid, signal.SIGKILL)
        end = time.monotonic() + 5
        while made.windows() and time.monotonic() < end:
            time.sleep(0.02)


@pytest.fixture
def apps(desktop: Desktop) -> AppAgent:
    return AppAgent(AgentParts(desktop))


def test_opened_focused_opened_anew_and_taken_back(apps: AppAgent, desktop: Desktop, steps: Steps) -> None:
    first = apps.open_app(OpenAppArgs(name="the calculater app"), steps())
    assert first.verified
    assert "galculator" in first.evidence
    assert [(e.kind, e.payload) for e in steps.effects] == [("launch", "galculator")]
    assert len(desktop.windows()) == 1
    editor = apps.open_app(OpenAppArgs(name="mouse pad"), steps())
    assert "Mousepad" in editor.evidence
    again = apps.open_app(OpenAppArgs(name="calculator"), steps())
    assert "open already" in again.evidence
    assert again.undo is None  # nothing was opened
    focus = desktop.focused()
    assert focus is not None
    assert focus.app.casefold() == "galculator"
    assert len(desktop.windows()) == 2
    another = apps.open_app(OpenAppArgs(name="calculator", new=True), steps())
    assert len(desktop.windows()) == 3
    assert another.undo is not None
    taken = another.undo.run(steps())
    assert taken.verified
    assert len(desktop.windows()) == 2
    assert "closed already" in another.undo.run(steps()).evidence


QUESTION = """
from PySide6.QtWidgets import QApplication, QMessageBox
app = QApplication(["question"])
QMessageBox.question(None, "Restore", "Restore what was not saved?")
"""


def test_a_question_before_the_window_is_left_to_the_user(
    apps: AppAgent, desktop: Desktop, entry_folder: Path, steps: Steps, tmp_path: Path
) -> None:
    """What a plan types next would press its buttons."""
    pytest.importorskip("PySide6.QtWidgets")
    script = tmp_path / "question.py"
    script.write_text(QUESTION)
    (entry_folder / "q.desktop").write_text(ENTRY.format(name="Questioner", exec=f"{sys.executable} {script}", more=""))
    with pytest.raises(UserMustDecide, match="asks something first, in 'Restore'"):
        apps.open_app(OpenAppArgs(name="questioner"), steps())
    assert [window.title for window in desktop.windows()] == ["Restore"]


def test_a_program_that_ends_at_once_is_a_failure(apps: AppAgent, entry_folder: Path, steps: Steps) -> None:
    (entry_folder / "brittle.desktop").write_text(ENTRY.format(name="Brittle", exec="sh -c 'exit 3'", more=""))
    started = time.monotonic()
    with pytest.raises(ToolError, match="Brittle ended at once with code 3"):
        apps.open_app(OpenAppArgs(name="brittle"), steps())
    assert time.monotonic() - started < 10  # not the whole TTL


def test_a_program_without_a_window_is_not_called_open(apps: AppAgent, entry_folder: Path, steps: Steps) -> None:
    (entry_folder / "daemon.desktop").write_text(ENTRY.format(name="Silent Daemon", exec="sleep 3", more=""))
    with pytest.raises(ToolError, match="no window of it appeared"):
        apps.open_app(OpenAppArgs(name="silent daemon"), steps(ttl=2.0))


def test_a_window_of_another_program_is_not_taken_for_it(
    apps: AppAgent, desktop: Desktop, entry_folder: Path, steps: Steps
) -> None:
    """While we wait for one program, another opens a window: no false success."""
    (entry_folder / "daemon.desktop").write_text(ENTRY.format(name="Silent Daemon", exec="sleep 5", more=""))
    intruder = subprocess.Popen(["xterm", "-T", "Silent Daemon"])
    try:
        with pytest.raises(ToolError, match="no window of it appeared"):
            apps.open_app(OpenAppArgs(name="silent daemon"), steps(ttl=4.0))
        assert any(window.title == "Silent Daemon" for window in desktop.windows())
    finally:
        intruder.kill()
        intruder.wait()


def test_a_launcher_that_forks_and_ends_is_followed(apps: AppAgent, entry_folder: Path, steps: Steps) -> None:
    (entry_folder / "forker.desktop").write_text(
        ENTRY.format(name="Forker", exec="sh -c 'xterm -class Odd -T Forked & exit 0'", more="")
    )
    assert "Forked" in apps.open_app(OpenAppArgs(name="forker"), steps()).evidence


def test_a_slow_window_is_waited_for(apps: AppAgent, entry_folder: Path, steps: Steps) -> None:
    (entry_folder / "slow.desktop").write_text(
        ENTRY.format(name="Slowpoke", exec="sh -c 'sleep 2; exec xterm -T Slow'", more="")
    )
    assert apps.open_app(OpenAppArgs(name="slow poke"), steps()).verified


def test_a_window_that_comes_too_late_is_not_waited_for_twice(
    apps: AppAgent, desktop: Desktop, entry_folder: Path, steps: Steps
) -> None:
    """Asked for again, a slow start is waited for; it is not started a second time."""
    command = "sh -c 'sleep 3; exec xterm -class Sleepy -T Sleepy'"
    (entry_folder / "late.desktop").write_text(ENTRY.format(name="Sleepyhead", exec=command, more=""))
    with pytest.raises(ToolError, match="no window of it appeared") as caught:
        apps.open_app(OpenAppArgs(name="sleepyhead"), steps(ttl=2.0))
    assert caught.value.remedy == ({"tool": "open_app", "name": "Sleepyhead"},)
    assert apps.open_app(OpenAppArgs(name="sleepyhead"), steps()).verified
    assert [effect.kind for effect in steps.effects] == ["launch"]
    assert len(desktop.windows()) == 1


def test_what_is_not_installed_tells_what_is(apps: AppAgent, steps: Steps) -> None:
    with pytest.raises(ToolError) as caught:
        apps.open_app(OpenAppArgs(name="maths helper"), steps())
    assert {"text editor", "calculator", "terminal"} <= set(caught.value.candidates)


def test_a_program_for_the_terminal_gets_one(apps: AppAgent, entry_folder: Path, steps: Steps) -> None:
    (entry_folder / "top.desktop").write_text(ENTRY.format(name="Process Top", exec="top", more="Terminal=true"))
    done = apps.open_app(OpenAppArgs(name="process top"), steps())
    assert done.verified
    assert steps.effects[0].payload.endswith("-e top")


def test_cancelled_while_waiting(apps: AppAgent, entry_folder: Path, steps: Steps) -> None:
    from anovax.errors import Cancelled

    (entry_folder / "daemon.desktop").write_text(ENTRY.format(name="Silent Daemon", exec="sleep 3", more=""))
    threading.Timer(0.3, steps.cancel.set).start()
    started = time.monotonic()
    with pytest.raises(Cancelled):
        apps.open_app(OpenAppArgs(name="silent daemon"), steps())
    assert time.monotonic() - started < 3


def test_safety_stops_the_start(apps: AppAgent, desktop: Desktop) -> None:
    def refuse(effect: Effect) -> None:
        raise ToolError(f"not {effect.payload}")

    context = StepContext("turn", 0, time.monotonic() + 5, CancelFlag(), threading.Event(), recheck=refuse)
    with pytest.raises(ToolError, match="not galculator"):
        apps.open_app(OpenAppArgs(name="calculator"), context)
    assert desktop.windows() == ()


@pytest.mark.skipif(shutil.which("dbus-daemon") is None, reason="dbus-daemon is not installed")
def test_started_through_dbus(
    apps: AppAgent, desktop: Desktop, entry_folder: Path, steps: Steps, tmp_path: Path
) -> None:
    """A real application, activated over a real session bus, its Exec line unusable."""
    services = entry_folder.parent / "dbus-1/services"
    services.mkdir(parents=True)
    (services / "org.xfce.mousepad.service").write_text(
        f"[D-BUS Service]\nName=org.xfce.mousepad\nExec=/usr/bin/env DISPLAY={os.environ['DISPLAY']} mousepad\n"
    )
    (entry_folder / "org.xfce.mousepad.desktop").write_text(
        ENTRY.format(name="Bus Editor", exec="/bin/false", more="DBusActivatable=true\nStartupWMClass=Mousepad")
    )
    env = {
        **os.environ,
        "XDG_DATA_DIRS": f"{entry_folder.parent}:/usr/share",
        "XDG_DATA_HOME": str(entry_folder.parent),
    }
    command = ["dbus-daemon", "--session", "--nofork", "--print-address"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as bus:
        try:
            assert bus.stdout is not None
            address = bus.stdout.readline().strip()
            desktop.launch = Launcher({**desktop.launch._env, "DBUS_SESSION_BUS_ADDRESS": address})
            done = apps.open_app(OpenAppArgs(name="bus editor"), steps())
            assert done.verified
            assert "Mousepad" in done.evidence
        finally:
            bus.terminate()


# --- the screen ------------------------------------------------------------------------------------------------------


@pytest.fixture
def screen(desktop: Desktop) -> ScreenAgent:
    return ScreenAgent(AgentParts(desktop, config=Config(desktop=desktop.config)))


@pytest.fixture
def note(desktop: Desktop) -> Iterator[Callable[[str], None]]:
    """Shows text in a window of its own and waits until it has the focus."""
    shown: list[subprocess.Popen[bytes]] = []

    def show(text: str) -> None:
        script = f"printf '%b' '{text}'; sleep 60"
        shown.append(
            subprocess.Popen(["xterm", "-fa", "DejaVu Sans Mono", "-fs", "14", "-T", "Note", "-e", "sh", "-c", script])
        )
        step = Steps()(10)
        assert desktop.wait_for_window(lambda w: w.title == "Note", 10, step)
        ready = desktop.wait_for_window(lambda w: (f := desktop.focused()) is not None and f.title == "Note", 5, step)
        assert ready
        assert desktop.wait_for_window(lambda w: int(desktop.screenshot(ready).std()) > 5, 10, step)

    yield show
    for process in shown:
        process.kill()
        process.wait()


def test_a_screenshot_shows_the_screen(
    screen: ScreenAgent, desktop: Desktop, note: Callable[[str], None], steps: Steps
) -> None:
    from PIL import Image

    note("hello")
    done = screen.screenshot(NoArgs(), steps())
    assert done.verified
    path = Path(done.result)
    assert path.name.endswith("_note.png")
    assert path.parent == Path(desktop.config.screenshots)
    assert not list(path.parent.glob(".*"))
    saved = np.asarray(Image.open(path))
    assert saved.shape == desktop.screenshot().shape
    second = Path(screen.screenshot(NoArgs(), steps()).result)
    assert second != path
    assert path.exists()


def test_a_blank_screen_is_called_blank(screen: ScreenAgent, steps: Steps) -> None:
    done = screen.screenshot(NoArgs(), steps())
    assert not done.verified
    assert "all one colour" in done.evidence
    assert "blank" in done.say


def test_what_does_it_say(screen: ScreenAgent, note: Callable[[str], None], steps: Steps) -> None:
    note("The gate code is 4711\\nMilk and bread\\nTrain leaves at 17:45\\n")
    done = screen.read_screen(ReadScreenArgs(query="when does the train leave"), steps())
    assert done.verified
    assert "17:45" in done.result
    assert "Milk" not in done.result
    assert "17:45" in done.say
    everything = screen.read_screen(ReadScreenArgs(), steps())
    assert "4711" in everything.result
    assert "Milkandbread" in everything.result.replace(" ", "")  # a space may get lost in OCR
    nothing = screen.read_screen(ReadScreenArgs(query="temperature"), steps())
    assert not nothing.verified
    assert "cannot see that" in nothing.say


def test_text_is_found_where_it_stands(desktop: Desktop, note: Callable[[str], None]) -> None:
    """The place that OCR names is the place where the pixels are."""
    note("Alpha Bravo\\n\\n\\n   Charlie Delta\\n")
    focus = desktop.focused()
    assert focus is not None
    image = desktop.screenshot(focus)
    found = desktop.ocr.find(image, "charlie delta")
    assert found
    box = found[0]
    inside = image[box.y : box.y + box.h, box.x : box.x + box.w]
    outside = image.copy()
    outside[box.y : box.y + box.h, box.x : box.x + box.w] = image[0, 0]
    assert desktop.ocr.find(np.ascontiguousarray(outside), "charlie delta") == ()
    assert inside.std() > 5
