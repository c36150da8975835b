"""Focus and modifiers on a real X server: thieves, kills, cancels, users who hold keys."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from desktop_rig import QUIET, end, make_step, read, until
from typing_apps import Terminal

from anovax.agents.typing import TypeTextArgs, TypingAgent
from anovax.desktop import Desktop, build
from anovax.errors import Cancelled, FocusLost, ToolError
from anovax.tool import AgentParts, Effect, StepContext

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

TEXT = "the quick brown fox jumps over the lazy dog ßżя " * 4 + "\n"


def thefts(
    rounds: Iterable[int], start: Callable[..., object], folder: Path, desktop: Desktop
) -> list[tuple[int, str]]:
    """Let another window take the focus at a random moment of typing, in each round. Returns, for each, how many
    characters the thief got and the name that the failure gave."""
    victim, thief = (Terminal(start, made) for made in folders(folder, 2))
    chance, seen = random.Random(3), []
    for _ in rounds:
        desktop.activate(victim.window, make_step())
        thief.clear(desktop, make_step())
        timer = threading.Timer(chance.uniform(0.02, 0.6), lambda: desktop.activate(thief.window, make_step()))
        timer.start()
        with pytest.raises(FocusLost) as caught:
            desktop.type_text(TEXT * 60, victim.window, make_step())
        timer.join()
        time.sleep(0.05)
        seen.append((len(thief.content()), caught.value.thief))
        assert "\n" not in thief.content()
    return seen


def folders(folder: Path, count: int) -> list[Path]:
    made = [folder / str(number) for number in range(count)]
    for each in made:
        each.mkdir()
    return made


def check(seen: list[tuple[int, str]]) -> None:
    print(f"thefts {len(seen)}, stray characters at most {max(stray for stray, _ in seen)}", file=sys.stderr)
    assert all(stray <= 1 for stray, _ in seen)
    assert all(name == "sh" for _, name in seen)


def test_a_thief_gets_at_most_one_character(start: Callable[..., object], tmp_path: Path, desktop: Desktop) -> None:
    check(thefts(range(12), start, tmp_path, desktop))


def test_what_was_interrupted_can_be_finished(start: Callable[..., object], tmp_path: Path, desktop: Desktop) -> None:
    """The failure of an interrupted typing carries the steps that finish it: every character once."""
    victim, thief = (Terminal(start, made) for made in folders(tmp_path, 2))
    desktop.activate(victim.window, make_step())
    agent, text = TypingAgent(AgentParts(desktop=desktop)), TEXT.strip() * 20
    theft = threading.Thread(target=lambda: desktop.activate(thief.window, make_step()))
    bursts: list[Effect] = []

    def watch(effect: Effect) -> None:
        bursts.append(effect)
        if len(bursts) == 4:  # some of it has been typed by now
            theft.start()

    with pytest.raises(FocusLost) as caught:
        agent.type_text(TypeTextArgs(text=text), make_step(recheck=watch))
    theft.join()
    back, rest = caught.value.remedy
    assert back["tool"] == "focus_window"
    assert text.endswith(rest["text"]) and 0 < len(rest["text"]) < len(text)
    desktop.activate(victim.window, make_step())
    agent.type_text(TypeTextArgs(text=rest["text"]), make_step())
    assert until(lambda: victim.content() == text)


SPLASH = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget
said, how, go = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
app = QApplication(["drawer"])
splash = QWidget(); splash.setWindowTitle("Starting"); splash.show()
edit = QPlainTextEdit(); edit.setWindowTitle("Drawing")
edit.textChanged.connect(lambda: said.write_text(edit.toPlainText()))
def look():
    if go.exists():
        timer.stop(); edit.show(); edit.activateWindow()
        if how == "gives way": QTimer.singleShot(200, splash.close)
timer = QTimer(); timer.timeout.connect(look); timer.start(20)
app.exec()
"""


@pytest.mark.parametrize("how", ["gives way", "stays"])
def test_a_first_window_that_gives_way(
    start: Callable[..., object], tmp_path: Path, desktop: Desktop, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """A splash screen that closes before a key was sent hands its place to the program's new window; a window that
    only loses the focus to it does not."""
    pytest.importorskip("PySide6.QtWidgets")
    said, go = tmp_path / "said", tmp_path / "go"
    start([sys.executable, "-c", SPLASH, str(said), how, str(go)], title="Starting")
    agent = TypingAgent(AgentParts(desktop=desktop))

    def change(effect: Effect) -> None:
        if not go.exists():  # the first look of safety: nothing has been typed
            go.touch()
            assert until(lambda: getattr(desktop.focused(), "title", "") == "Drawing", 15)

    if how == "stays":
        with pytest.raises(FocusLost, match="went from Starting to Drawing"):
            agent.type_text(TypeTextArgs(text="hello world"), make_step(recheck=change))
        assert read(said) == ""
    else:
        monkeypatch.setattr("anovax.agents.typing._GIVES_WAY_S", 15.0)  # a busy machine closes late
        agent.type_text(TypeTextArgs(text="hello world"), make_step(recheck=change))
        assert until(lambda: read(said) == "hello world")


@pytest.mark.full
@pytest.mark.timeout(900)
def test_two_hundred_thefts(
    start: Callable[..., object], tmp_path: Path, desktop: Desktop, counted: Callable[[int], Iterator[int]]
) -> None:
    check(thefts(counted(200), start, tmp_path, desktop))


def test_a_window_that_dies_while_it_is_typed_into(
    start: Callable[..., object], tmp_path: Path, desktop: Desktop
) -> None:
    running = start(["xterm", "-u8", "-e", "sh", "-c", "stty -echo; exec cat > /dev/null"])
    threading.Timer(0.2, lambda: end(running.process)).start()  # type: ignore[attr-defined]
    with pytest.raises(ToolError):
        desktop.type_text(TEXT * 60, running.window, make_step())  # type: ignore[attr-defined]


def test_after_a_cancel_no_key_is_sent(start: Callable[..., object], tmp_path: Path, desktop: Desktop) -> None:
    app = Terminal(start, tmp_path)
    step = make_step()
    at = []

    def stop() -> None:
        at.append(time.monotonic())
        step.cancel.set("stop")

    threading.Timer(0.3, stop).start()
    with pytest.raises(Cancelled):
        desktop.type_text(TEXT * 60, app.window, step)
    assert time.monotonic() - at[0] < 0.15
    sent = desktop.keys_sent
    time.sleep(0.3)
    assert desktop.keys_sent == sent
    assert len(app.content()) <= sent
    assert keys_down(desktop) == []


def test_safety_sees_every_burst_before_it_is_typed(
    start: Callable[..., object], tmp_path: Path, desktop: Desktop
) -> None:
    app = Terminal(start, tmp_path)
    seen: list[Effect] = []

    def recheck(effect: Effect) -> None:
        seen.append(effect)
        if "rm" in effect.payload:
            raise ToolError("refused", "ask for something else")

    with pytest.raises(ToolError, match="refused"):
        desktop.type_text("echo hello world\nrm -rf x", app.window, make_step(recheck=recheck))
    until(lambda: app.content() == "echo hello world\n")
    assert app.content() == "echo hello world\n"
    assert [effect.payload for effect in seen] == ["echo hello world", "\n", "rm -rf x"]
    assert all(effect.window is not None and effect.window.id == app.window.id for effect in seen)


def keys_down(desktop: Desktop) -> list[int]:
    """Keycodes that the server holds as pressed."""
    from anovax.desktop.x11_connection import Connection

    connection = Connection(os.environ["DISPLAY"])
    with connection:
        bits = connection.display.query_keymap()
    connection.close()
    return [code for code in range(256) if bits[code // 8] & 1 << code % 8]


def hold(name: str, down: bool) -> None:
    subprocess.run(["xdotool", "keydown" if down else "keyup", name], check=True, **QUIET)


def test_a_held_modifier_is_waited_for(start: Callable[..., object], tmp_path: Path, desktop: Desktop) -> None:
    app = Terminal(start, tmp_path)
    hold("Control_L", True)
    threading.Timer(0.5, lambda: hold("Control_L", False)).start()
    desktop.type_text("c plain", app.window, make_step())
    assert until(lambda: app.content() == "c plain")


def test_a_modifier_that_stays_held_is_named(start: Callable[..., object], tmp_path: Path, desktop: Desktop) -> None:
    app = Terminal(start, tmp_path)
    hold("Control_L", True)
    try:
        with pytest.raises(ToolError, match="Control is being held down"):
            desktop.type_text("c", app.window, make_step())
        assert app.content() == ""
    finally:
        hold("Control_L", False)


def test_caps_lock_changes_nothing_and_stays_on(start: Callable[..., object], tmp_path: Path, desktop: Desktop) -> None:
    app = Terminal(start, tmp_path)
    text = "Straße ŻÓŁW żółw ABC abc 123"
    desktop.press("capslock", make_step())
    try:
        desktop.type_text(text, app.window, make_step())
        assert until(lambda: app.content() == text)
        leds = subprocess.run(["xset", "q"], capture_output=True, text=True, check=True).stdout
        assert "Caps Lock:   on" in leds
    finally:
        desktop.press("capslock", make_step())


def test_a_layout_that_changes_while_typing(
    start: Callable[..., object], tmp_path: Path, desktop: Desktop, layout: Callable[..., None]
) -> None:
    app = Terminal(start, tmp_path)
    text = "yz[]@# " * 150
    changes = [threading.Timer(0.1 * at, layout, [name]) for at, name in enumerate(("de", "fr", "us"), 1)]
    for change in changes:
        change.start()
    desktop.type_text(text, app.window, make_step())
    until(lambda: len(app.content()) == len(text))
    right = sum(got == wanted for got, wanted in zip(app.content(), text, strict=False))
    for change in changes:
        change.join()
    # what the terminal had not yet looked up when the map changed is beyond reach: four bursts for each change
    assert right >= len(text) - 3 * 64


TYPIST = """
import sys, time
sys.path[:0] = sys.argv[2:]
from desktop_rig import make_step
from anovax.desktop import build
desktop = build()
window = next(w for w in desktop.windows() if w.id == int(sys.argv[1]))
print("ready", flush=True)
while True:
    desktop.type_text("MiXeD CaSe @# ŻÓŁW AbC ", window, make_step())
    desktop.press("shift+a", make_step(), window)
"""


def kills(rounds: Iterable[int], app: Terminal, desktop: Desktop) -> int:
    """Kill a typing process at a random moment, in each round; how often a key was left down."""
    chance, left = random.Random(4), 0
    command = [sys.executable, "-c", TYPIST, str(app.window.id), str(Path(__file__).parents[1])]
    for _ in rounds:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=Path(__file__).parents[2]
        ) as typist:
            assert typist.stdout is not None
            assert typist.stdout.readline() == b"ready\n"
            time.sleep(chance.uniform(0.0, 0.15))
            typist.send_signal(signal.SIGKILL)
        left += bool(keys_down(desktop))
    return left


def test_a_killed_process_leaves_no_key_down(start: Callable[..., object], tmp_path: Path, desktop: Desktop) -> None:
    assert kills(range(4), Terminal(start, tmp_path), desktop) == 0


@pytest.mark.full
@pytest.mark.timeout(7200)
def test_a_thousand_kills(
    start: Callable[..., object], tmp_path: Path, desktop: Desktop, counted: Callable[[int], Iterator[int]]
) -> None:
    assert kills(counted(1000), Terminal(start, tmp_path), desktop) == 0


def test_spare_keys_are_given_back(start: Callable[..., object], tmp_path: Path, window_manager: str) -> None:
    def mapped() -> str:
        return subprocess.run(["xmodmap", "-pke"], capture_output=True, text=True, check=True).stdout

    before = mapped()
    with build(display=window_manager) as other:
        step: StepContext = make_step()
        app = Terminal(start, tmp_path)
        other.activate(app.window, step)
        other.type_text("żółw 漢字", app.window, step)
        assert until(lambda: app.content() == "żółw 漢字")
        assert mapped() != before
    assert mapped() == before


def test_modifiers_left_by_a_predecessor_are_released(window_manager: str, desktop: Desktop) -> None:
    hold("Shift_L", True)
    assert keys_down(desktop)
    with build(display=window_manager):
        assert keys_down(desktop) == []
