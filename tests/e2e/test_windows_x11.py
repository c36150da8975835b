"""Windows by name, closing with and without a question, keys with effects that can be seen, undo."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from desktop_rig import Running, make_step, until
from typing_apps import Terminal

from anovax.agents.hotkey import HotkeyAgent, PressKeysArgs
from anovax.agents.typing import TypeTextArgs, TypingAgent
from anovax.agents.window import CloseWindowArgs, FocusWindowArgs, WindowAgent
from anovax.desktop import Desktop, build
from anovax.desktop.x11_windows import runs
from anovax.errors import AmbiguousTarget, DesktopError, ToolError, UserMustDecide
from anovax.tool import AgentParts

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(90)]

Start = Callable[..., Running]


@pytest.fixture
def agent(desktop: Desktop) -> WindowAgent:
    return WindowAgent(AgentParts(desktop=desktop))


def shell(start: Start, title: str) -> Running:
    return start(["xterm", "-T", title, "-e", "sleep", "600"], title=title)


def test_focus_by_name_by_other_and_back(agent: WindowAgent, start: Start, desktop: Desktop) -> None:
    music, notes = shell(start, "Music list"), shell(start, "Shopping notes")
    done = agent.focus_window(FocusWindowArgs(name="the music window"), make_step())
    assert done.verified
    assert desktop.focused() == music.window
    assert done.undo is not None
    assert done.undo.run(make_step()).verified
    assert desktop.focused() == notes.window
    agent.focus_window(FocusWindowArgs(name="the other one"), make_step())
    assert desktop.focused() == music.window
    agent.focus_window(FocusWindowArgs(name="the last one"), make_step())
    assert desktop.focused() == notes.window


def test_a_name_that_is_not_open_names_what_is(agent: WindowAgent, start: Start) -> None:
    shell(start, "Shopping notes")
    with pytest.raises(ToolError) as caught:
        agent.focus_window(FocusWindowArgs(name="spreadsheet"), make_step())
    assert "Shopping notes" in caught.value.candidates
    assert caught.value.remedy == ()


def test_an_application_that_is_not_open_says_how_to_get_it(agent: WindowAgent, start: Start) -> None:
    shell(start, "Shopping notes")
    with pytest.raises(ToolError) as caught:
        agent.focus_window(FocusWindowArgs(name="calculator"), make_step())
    assert caught.value.remedy == ({"tool": "open_app", "name": "calculator"},)


def test_close_is_seen_in_the_list_of_windows(agent: WindowAgent, start: Start, desktop: Desktop) -> None:
    music, notes = shell(start, "Music list"), shell(start, "Shopping notes")
    done = agent.close_window(CloseWindowArgs(name="music"), make_step())
    assert done.verified
    assert not desktop.exists(music.window)
    assert agent.close_window(CloseWindowArgs(), make_step()).result == "Shopping notes"
    assert not desktop.exists(notes.window)


def test_nothing_is_closed_in_place_of_what_is_not_there(agent: WindowAgent, start: Start, desktop: Desktop) -> None:
    shell(start, "Shopping notes")
    with pytest.raises(UserMustDecide) as caught:
        agent.close_window(CloseWindowArgs(name="downloads"), make_step())
    assert caught.value.candidates == ("Shopping notes",)
    assert caught.value.remedy == ()
    assert len(desktop.windows()) == 1


def test_closing_one_of_two_alike_asks(agent: WindowAgent, start: Start, desktop: Desktop) -> None:
    shell(start, "Draft one"), shell(start, "Draft two"), shell(start, "Player")
    with pytest.raises(AmbiguousTarget):
        agent.close_window(CloseWindowArgs(name="draft"), make_step())
    assert len(desktop.windows()) == 3


def test_a_save_question_is_reported_and_not_answered(
    agent: WindowAgent, start: Start, desktop: Desktop, tmp_path: Path
) -> None:
    note = tmp_path / "letter.txt"
    note.write_text("old")
    editor = start(["mousepad", "--disable-server", str(note)], title="letter")
    desktop.type_text("new ", editor.window, make_step())
    with pytest.raises(ToolError, match="asks"):
        agent.close_window(CloseWindowArgs(name="letter"), make_step())
    assert desktop.exists(editor.window)
    assert note.read_text() == "old"


def test_alt_f4_is_judged_by_what_it_closed(start: Start, desktop: Desktop) -> None:
    keys = HotkeyAgent(AgentParts(desktop=desktop))
    notes = shell(start, "Shopping notes")
    done = keys.press_keys(PressKeysArgs(keys="alt f4"), make_step())
    assert done.verified
    assert not desktop.exists(notes.window)


def test_a_key_without_visible_effect_is_unverified(start: Start, desktop: Desktop) -> None:
    keys = HotkeyAgent(AgentParts(desktop=desktop))
    shell(start, "Shopping notes")
    assert not keys.press_keys(PressKeysArgs(keys="escape", times=3), make_step()).verified
    sent = desktop.keys_sent
    with pytest.raises(ToolError, match="no key 'foo'"):
        keys.press_keys(PressKeysArgs(keys="ctrl+a ctrl+foo"), make_step())
    assert desktop.keys_sent == sent


def test_media_keys_that_the_layout_lacks_are_sent(start: Start, desktop: Desktop) -> None:
    listening = start(["xev", "-event", "keyboard"])
    assert desktop.focused() == listening.window
    for key in ("nexttrack", "f24", "volumeup", "fastforward"):
        desktop.press(key, make_step(), listening.window)


def test_typed_text_is_taken_back(start: Start, tmp_path: Path, desktop: Desktop) -> None:
    typing = TypingAgent(AgentParts(desktop=desktop))
    note = tmp_path / "note.txt"
    note.write_text("")
    editor = start(["mousepad", "--disable-server", str(note)])
    desktop.type_text("keep ", editor.window, make_step())
    done = typing.type_text(TypeTextArgs(text="this goes żółw"), make_step())
    assert done.undo is not None
    done.undo.run(make_step())
    desktop.press("ctrl+s", make_step(), editor.window)
    assert until(lambda: note.read_text().startswith("keep"))
    assert note.read_text().strip() == "keep"


def test_undo_refuses_after_other_keys(start: Start, tmp_path: Path, desktop: Desktop) -> None:
    typing = TypingAgent(AgentParts(desktop=desktop))
    app = Terminal(start, tmp_path)
    done = typing.type_text(TypeTextArgs(text="abc"), make_step())
    desktop.type_text("def", app.window, make_step())
    assert done.undo is not None
    with pytest.raises(ToolError, match="typed since"):
        done.undo.run(make_step())


def test_typing_that_cannot_be_read_back_is_unverified(start: Start, tmp_path: Path, desktop: Desktop) -> None:
    typing = TypingAgent(AgentParts(desktop=desktop))
    Terminal(start, tmp_path)
    done = typing.type_text(TypeTextArgs(text="abc"), make_step())
    assert not done.verified
    assert "cannot be read back" in done.evidence


BUSY = """
import threading, time
def spin():
    while True: pass
{}
print("ready", flush=True); time.sleep(600)
"""


@pytest.mark.parametrize("thread", ["", "threading.Thread(target=spin, daemon=True).start()"], ids=["rests", "busy"])
def test_a_process_is_at_rest_when_every_thread_is(thread: str) -> None:
    """Its main thread may sleep while another still reads its events."""
    process = subprocess.Popen([sys.executable, "-c", BUSY.format(thread)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        assert until(lambda: ("R" in runs(process.pid)) is bool(thread))
    finally:
        process.kill()
        process.communicate()


def test_the_clipboard_comes_and_goes(desktop: Desktop, window_manager: str) -> None:
    text = "żółw 漢字 😀 " * 20_000  # larger than one property: it goes in pieces
    desktop.set_clipboard(text)
    got = subprocess.run(["xclip", "-o", "-selection", "clipboard"], capture_output=True, timeout=10, check=True).stdout
    assert got.decode() == text
    with build(display=window_manager) as other:
        assert other.clipboard() == text


def test_without_a_display_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("XDG_SESSION_TYPE", raising=False)
    with pytest.raises(DesktopError, match="no X display"):
        build()
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    with pytest.raises(DesktopError, match="Wayland"):
        build()
    with pytest.raises(DesktopError, match="cannot be reached"):
        build(display="nonsense")


def test_on_wayland_with_xwayland_the_limit_is_told(monkeypatch: pytest.MonkeyPatch, window_manager: str) -> None:
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    monkeypatch.setenv("DISPLAY", window_manager)
    with build() as desktop:
        assert "XWayland" in desktop.notice
