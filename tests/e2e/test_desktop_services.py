"""What other services of the session tell: fields through the accessibility bus, loudness through the sound server."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from desktop_rig import QUIET, Running, make_step, until

from anovax.agents.hotkey import HotkeyAgent, PressKeysArgs
from anovax.agents.pointer import ClickArgs, PointerAgent
from anovax.agents.typing import TypeTextArgs, TypingAgent
from anovax.desktop import Desktop, Typed, build
from anovax.errors import FocusLost, ToolError
from anovax.tool import AgentParts

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(90)]


def needs(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


@pytest.fixture
def session_bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A session bus of the test's own, on which the accessibility bus starts by itself."""
    needs("dbus-daemon")
    command = ["dbus-daemon", "--session", "--nofork", "--print-address"]
    daemon = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert daemon.stdout is not None
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", daemon.stdout.readline().strip())
    monkeypatch.delenv("NO_AT_BRIDGE", raising=False)
    forget = ["xprop", "-root", "-remove", "AT_SPI_BUS"]  # an earlier bus, gone by now
    subprocess.run(forget, check=False, **QUIET)
    yield
    daemon.terminate()
    daemon.wait(10)
    daemon.stdout.close()


@pytest.fixture
def agent(session_bus: None, window_manager: str) -> Iterator[TypingAgent]:
    with build(display=window_manager) as desktop:
        yield TypingAgent(AgentParts(desktop=desktop))


@pytest.fixture
def editor(agent: TypingAgent, start: Callable[..., Running], tmp_path: Path) -> Running:
    needs("mousepad")
    note = tmp_path / "note.txt"
    note.write_text("before ")
    running = start(["mousepad", "--disable-server", str(note)], title="note", XDG_DATA_HOME=str(tmp_path))
    desktop: Desktop = agent.parts.desktop
    assert until(lambda: desktop.read_back(running.window) == "before ", 25), "the editor does not tell its text"
    return running


def test_what_was_typed_is_read_back(agent: TypingAgent, editor: Running) -> None:
    text = "Żółw 漢字 😀 „quoted“\nnext line"
    done = agent.type_text(TypeTextArgs(text=text), make_step())
    assert done.verified
    assert "read back" in done.evidence
    assert until(lambda: text in (agent.parts.desktop.read_back(editor.window) or ""))
    assert done.undo is None  # a line break cannot be taken back for certain


def test_words_that_were_there_before_prove_nothing(
    agent: TypingAgent, editor: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = Typed(characters=7, method="keys", settled=True)
    monkeypatch.setattr(agent.parts.desktop, "type_text", lambda text, window, step: lost)
    with pytest.raises(ToolError, match="does not show"):
        agent.type_text(TypeTextArgs(text="before "), make_step())


def test_what_an_application_tells_of_itself_is_clicked(
    agent: TypingAgent, editor: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its own name and place, without reading the screen; "Word Wrap" is there only while its menu is open."""
    desktop: Desktop = agent.parts.desktop
    monkeypatch.setattr(desktop.ocr, "find", lambda *_: pytest.fail("the screen was read"))
    monkeypatch.setattr("anovax.desktop.atspi._LIMIT_S", 15.0)  # a busy machine answers late
    monkeypatch.setattr("anovax.agents.pointer._EFFECT_S", 15.0)
    pointer = PointerAgent(AgentParts(desktop=desktop))
    assert desktop.named(editor.window, "word wrap") == ()
    assert desktop.named(editor.window, "note.txt - Mousepad") == ()  # the window itself is no button
    assert pointer.click(ClickArgs(target="the document menu"), make_step()).verified
    assert until(lambda: len(desktop.named(editor.window, "word wrap")) == 1)
    desktop.press("esc", make_step())


def test_undo_is_read_back_too(agent: TypingAgent, editor: Running) -> None:
    done = agent.type_text(TypeTextArgs(text="gone again"), make_step())
    assert done.undo is not None
    assert done.undo.run(make_step()).verified
    assert agent.parts.desktop.read_back(editor.window) == "before "


def faults(editor: Running, desktop: Desktop, start: Callable[..., Running]) -> dict[str, Callable[[], object]]:
    """What may go wrong while text is being typed."""
    pid = editor.process.pid

    def layout() -> None:
        for name in ("fr", "ru", "us"):
            subprocess.run(["setxkbmap", "-display", os.environ["DISPLAY"], name], check=False, **QUIET)

    def hang() -> None:
        os.kill(pid, 19)
        threading.Timer(0.6, os.kill, (pid, 18)).start()

    return {
        "nothing": lambda: None,
        "layout": layout,
        "hang": hang,
        "other text": lambda: subprocess.run(["xdotool", "type", "INTRUDER"], check=False, **QUIET),
        "backspace": lambda: subprocess.run(["xdotool", "key", "BackSpace", "BackSpace"], check=False, **QUIET),
        "cursor": lambda: subprocess.run(["xdotool", "key", "Home"], check=False, **QUIET),
        "click away": lambda: subprocess.run(["xdotool", "key", "alt+f"], check=False, **QUIET),
        "dies": editor.process.kill,
    }


def timed(work: Callable[[], object], ended: list[float]) -> None:
    work()
    ended.append(time.monotonic())


def stamped(read: Callable[..., str | None], asked: list[float]) -> Callable[..., str | None]:
    """``read`` that notes when it was called."""

    def reading(*args: object) -> str | None:
        asked.append(time.monotonic())
        return read(*args)

    return reading


def injected(
    rounds: Iterable[int],
    agent: TypingAgent,
    make: Callable[[], Running],
    start: Callable[..., Running],
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[int, int]:
    """(verified, falsely verified) of typings into which faults are injected, one a round. A claim is about what the
    field held when it was last read; what happens from then on does not make it wrong."""
    desktop: Desktop = agent.parts.desktop
    verified = false = 0
    editor = make()
    text = "verify this sentence, letter by letter. " * 10
    asked: list[float] = []
    monkeypatch.setattr(desktop, "read_back", stamped(desktop.read_back, asked))
    for number in rounds:
        if editor.process.poll() is not None:
            editor = make()
        names = list(faults(editor, desktop, start))
        try:
            desktop.activate(editor.window, make_step())
        except FocusLost:  # a menu or a question of the last round is in the way
            subprocess.run(["xdotool", "key", "Escape"], check=False, **QUIET)
            continue
        ended: list[float] = []

        what = faults(editor, desktop, start)[names[number % len(names)]]
        fault = threading.Timer(0.02 + 0.013 * (number % 9), timed, (what, ended))
        fault.start()
        try:
            done = agent.type_text(TypeTextArgs(text=text), make_step(15))
            last_asked = asked[-1]
        except (ToolError, FocusLost):
            fault.join()
            subprocess.run(["xdotool", "key", "Escape"], check=False, **QUIET)
            continue
        fault.join()
        held = desktop.read_back(editor.window)
        verified += done.verified
        false += done.verified and ended[0] < last_asked and (held is None or text not in held)
    return verified, false


@pytest.fixture
def make_editor(agent: TypingAgent, start: Callable[..., Running], tmp_path: Path) -> Callable[[], Running]:
    needs("mousepad", "xdotool")

    def make() -> Running:
        note = tmp_path / "note.txt"
        note.write_text("before ")
        running = start(["mousepad", "--disable-server", str(note)], title="note", XDG_DATA_HOME=str(tmp_path))
        until(lambda: agent.parts.desktop.read_back(running.window) is not None, 10)
        return running

    return make


def test_faults_do_not_make_it_claim_success(
    agent: TypingAgent,
    make_editor: Callable[[], Running],
    start: Callable[..., Running],
    layout: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    verified, false = injected(range(8), agent, make_editor, start, monkeypatch)
    assert verified >= 1
    assert false == 0


@pytest.mark.full
@pytest.mark.timeout(1500)
def test_two_hundred_faults(
    agent: TypingAgent,
    make_editor: Callable[[], Running],
    start: Callable[..., Running],
    layout: Callable[..., None],
    counted: Callable[[int], Iterator[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    verified, false = injected(counted(200), agent, make_editor, start, monkeypatch)
    print(f"verified {verified} of 200, falsely {false}")
    assert verified >= 20
    assert false <= 2


PASSWORD = """
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
window = Gtk.Window(title="Sign in")
entry = Gtk.Entry(visibility=False, input_purpose=Gtk.InputPurpose.PASSWORD)
window.add(entry); window.show_all(); entry.grab_focus(); Gtk.main()
"""


def test_a_password_field_is_known_as_one(agent: TypingAgent, start: Callable[..., Running]) -> None:
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import gi; gi.require_version('Gtk', '3.0')"], check=False, **QUIET).returncode:
        pytest.skip("GTK's Python bindings are not installed")
    running = start([python, "-c", PASSWORD], title="Sign in")
    desktop: Desktop = agent.parts.desktop
    assert until(lambda: desktop.secure_field() is True, 10)
    done = agent.type_text(TypeTextArgs(text="hunter2"), make_step())
    assert done.secret
    assert done.undo is None
    assert "hunter2" not in done.evidence
    assert desktop.read_back(running.window) is None


@pytest.fixture
def sound_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """PulseAudio with one silent output."""
    needs("pulseaudio", "pactl")
    folder = tmp_path / "pulse"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("PULSE_RUNTIME_PATH", str(folder))
    monkeypatch.setenv("PULSE_SERVER", f"unix:{folder}/native")
    command = ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--disable-shm"]
    command += ["-L", f"module-native-protocol-unix socket={folder}/native", "-L", "module-null-sink"]
    server = subprocess.Popen(command, **QUIET)
    assert until(lambda: subprocess.run(["pactl", "info"], check=False, **QUIET).returncode == 0, 15)
    yield
    server.terminate()
    server.wait(10)


def test_volume_keys_change_the_volume_and_are_taken_back(
    sound_server: None, desktop: Desktop, start: Callable[..., Running]
) -> None:
    start(["xterm", "-e", "sleep", "600"])
    keys = HotkeyAgent(AgentParts(desktop=desktop))
    keys.press_keys(PressKeysArgs(keys="volume down", times=2), make_step())
    done = keys.press_keys(PressKeysArgs(keys="volumedown", times=2), make_step())
    assert done.verified
    assert "from 90% to 80%" in done.evidence
    assert done.undo is not None
    assert done.undo.run(make_step()).verified
    muted = keys.press_keys(PressKeysArgs(keys="mute"), make_step())
    assert muted.verified
    assert "muted" in muted.evidence
    loudest = keys.press_keys(PressKeysArgs(keys="volumeup", times=3), make_step())
    assert "100%" in loudest.evidence
    assert keys.press_keys(PressKeysArgs(keys="volumeup"), make_step()).verified  # it is at its end, and that is said
