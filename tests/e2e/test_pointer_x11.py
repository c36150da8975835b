"""Clicks, drags and scrolling on real windows; what was hit is told by the window itself."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from desktop_rig import QUIET, Running, make_step, read, until

from anovax.agents.pointer import ClickArgs, DragArgs, PointerAgent, ScrollArgs
from anovax.desktop import Desktop
from anovax.errors import AmbiguousTarget, ToolError
from anovax.tool import AgentParts, Effect

pytest.importorskip("tkinter")
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(90)]

BOARD = """
import sys, tkinter
from pathlib import Path
root = tkinter.Tk(); root.title("Board"); root.geometry("600x400+100+80"); root.configure(bg="white")
log = open(sys.argv[1], "a", buffering=1)
font = ("DejaVu Sans", 16)
def button(name, x, y, **more):
    made = tkinter.Button(root, text=name, font=font, command=lambda: print("pressed", name, x, file=log), **more)
    made.place(x=x, y=y)
for name, x, y in (("Publish", 20, 20), ("Discard", 220, 20), ("Delete", 20, 90), ("Delete", 220, 90)):
    button(name, x, y)
for number, text in enumerate(("Introduction", "Weather report", "Contact us")):
    link = tkinter.Label(root, text=text, font=font, fg="#0000ee", bg="white")
    link.place(x=20, y=160 + 40 * number)
    link.bind("<Button-1>", lambda event, text=text: (print("link", text, file=log), root.title(text)))
tkinter.Label(root, text="Plain words here", font=font, bg="white").place(x=300, y=160)
pad = tkinter.Canvas(root, width=180, height=120, bg="#ddd"); pad.place(x=400, y=260)
for name in ("<Button-1>", "<Button-2>", "<Button-3>", "<Double-Button-1>", "<B1-Motion>", "<ButtonRelease-1>"):
    pad.bind(name, lambda event, name=name: print(name, event.x, event.y, file=log))
root.mainloop()
"""


@pytest.fixture
def agent(desktop: Desktop) -> PointerAgent:
    return PointerAgent(AgentParts(desktop=desktop))


@pytest.fixture
def board(start: Callable[..., Running], tmp_path: Path, desktop: Desktop) -> Running:
    running = start([sys.executable, "-c", BOARD, str(tmp_path / "log")], title="Board")
    desktop.move(5, 5)
    assert until(lambda: drawn(desktop, running), 15), "the board is not drawn"
    return running


def drawn(desktop: Desktop, board: Running) -> bool:
    """Whether the last thing on the board, its grey pad, is there, and the picture has come to rest."""
    before = desktop.screenshot(board.window)
    time.sleep(0.1)
    after = desktop.screenshot(board.window)
    pad = after[262:378, 402:578]
    return bool(after.shape == (400, 600, 3) and (pad == 0xDD).all() and (before == after).all())


def corner(desktop: Desktop, board: Running) -> tuple[int, int]:
    frame = desktop.frame(board.window)
    assert frame is not None
    return frame.x, frame.y


def test_a_click_lands_where_it_should(agent: PointerAgent, board: Running, desktop: Desktop, tmp_path: Path) -> None:
    left, top = corner(desktop, board)
    agent.click(ClickArgs(x=left + 450, y=top + 300), make_step())
    agent.click(ClickArgs(x=left + 451, y=top + 301, button="right"), make_step())
    agent.click(ClickArgs(x=left + 452, y=top + 302, button="middle"), make_step())
    agent.click(ClickArgs(x=left + 453, y=top + 303, count=2), make_step())
    assert until(lambda: "<Double-Button-1>" in read(tmp_path / "log"))
    lines = read(tmp_path / "log").splitlines()
    assert lines[0] == "<Button-1> 50 40"
    assert "<Button-3> 51 41" in lines
    assert "<Button-2> 52 42" in lines
    assert desktop.pointer() == (left + 453, top + 303)


def test_drag_moves_with_the_button_down(board: Running, desktop: Desktop, tmp_path: Path) -> None:
    left, top = corner(desktop, board)
    desktop.drag(left + 420, top + 280, left + 520, top + 340, make_step())
    assert until(lambda: "<ButtonRelease-1> 120 80" in read(tmp_path / "log"))
    assert read(tmp_path / "log").count("<B1-Motion>") >= 5


LINE = "Strawberry and then Pineapple\n"


@pytest.fixture
def words(start: Callable[..., Running], tmp_path: Path) -> Running:
    """An editor with two words far apart on one line."""
    note = tmp_path / "note.txt"
    note.write_text(LINE)
    return start(["mousepad", "--disable-server", str(note)], title="note")


def test_dragging_from_one_word_to_another_selects(
    agent: PointerAgent, words: Running, desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anovax.agents.pointer._EFFECT_S", 15.0)  # a busy machine draws late
    assert agent.drag(DragArgs(target="Strawberry", to="Pineapple"), make_step()).verified
    desktop.press("ctrl+c", make_step())
    assert until(lambda: "and then" in (desktop.clipboard() or ""))
    assert (desktop.clipboard() or "") in LINE


def test_a_drag_to_where_nothing_can_be_dropped_is_unverified(agent: PointerAgent, board: Running) -> None:
    frame = agent.parts.desktop.frame(board.window)
    places = DragArgs(x=frame.x + 300, y=frame.y + 230, to_x=frame.x + 330, to_y=frame.y + 240)
    assert not agent.drag(places, make_step()).verified


def test_what_is_to_be_dragged_must_be_seen(agent: PointerAgent, board: Running) -> None:
    with pytest.raises(ToolError, match="not to be seen") as caught:
        agent.drag(DragArgs(target="Publish", to="Disregard"), make_step())
    assert caught.value.remedy[1] == {"tool": "drag", "target": "Publish", "to": "Disregard"}
    with pytest.raises(ValueError, match="a place to drag to"):
        DragArgs(target="Publish")


def test_safety_sees_both_ends_of_a_drag(start: Callable[..., Running], desktop: Desktop) -> None:
    here = start(["xterm", "-T", "Here", "-geometry", "30x10+20+20", "-e", "sleep", "600"], title="Here").window
    there = start(["xterm", "-T", "There", "-geometry", "30x10+600+400", "-e", "sleep", "600"], title="There").window
    seen: list[Effect] = []
    ends = [frame.centre for window in (here, there) if (frame := desktop.frame(window))]
    desktop.drag(*ends[0], *ends[1], make_step(recheck=seen.append))
    assert [(e.kind, e.window.id) for e in seen if e.window] == [("click", here.id), ("drop", there.id)]


def test_named_text_is_found_and_pressed(agent: PointerAgent, board: Running, tmp_path: Path) -> None:
    done = agent.click(ClickArgs(target="the Discard button"), make_step())
    assert until(lambda: read(tmp_path / "log") == "pressed Discard 220\n")
    assert "Discard" in done.evidence


def test_two_alike_ask_and_a_number_chooses(agent: PointerAgent, board: Running, tmp_path: Path) -> None:
    with pytest.raises(AmbiguousTarget):
        agent.click(ClickArgs(target="delete"), make_step())
    assert read(tmp_path / "log") == ""
    agent.click(ClickArgs(target="the second delete button"), make_step())
    assert until(lambda: read(tmp_path / "log") == "pressed Delete 220\n")


def test_the_second_link(agent: PointerAgent, board: Running, tmp_path: Path) -> None:
    done = agent.click(ClickArgs(target="the second link"), make_step())
    assert until(lambda: read(tmp_path / "log") == "link Weather report\n")
    assert done.verified
    assert "title" in done.evidence


def test_absent_text_is_said_to_be_absent(agent: PointerAgent, board: Running) -> None:
    with pytest.raises(ToolError, match="not to be seen") as caught:
        agent.click(ClickArgs(target="Disregard"), make_step())
    assert caught.value.candidates[0] == "Discard"
    assert [step["tool"] for step in caught.value.remedy] == ["scroll", "click"]


def test_a_click_on_nothing_is_unverified(agent: PointerAgent, board: Running, desktop: Desktop) -> None:
    left, top = corner(desktop, board)
    assert not agent.click(ClickArgs(x=left + 560, y=top + 60), make_step()).verified


def test_a_place_outside_every_screen_is_an_error(agent: PointerAgent, board: Running) -> None:
    with pytest.raises(ToolError, match="no screen"):
        agent.click(ClickArgs(x=90_000, y=5), make_step())


def test_scrolling_is_verified_by_what_moved(
    agent: PointerAgent, start: Callable[..., Running], tmp_path: Path
) -> None:
    long = tmp_path / "long.txt"
    long.write_text("\n".join(f"line {number}" for number in range(400)))
    start(["mousepad", "--disable-server", str(long)])
    assert agent.scroll(ScrollArgs(direction="down"), make_step()).verified
    assert agent.scroll(ScrollArgs(direction="bottom"), make_step()).verified
    assert not agent.scroll(ScrollArgs(direction="down"), make_step()).verified
    assert agent.scroll(ScrollArgs(direction="top"), make_step()).verified


@pytest.fixture
def two_monitors(window_manager: str) -> Iterator[None]:
    """The screen as two monitors side by side (RandR 1.5)."""

    def xrandr(*arguments: str) -> None:
        subprocess.run(["xrandr", "-display", window_manager, *arguments], check=True, **QUIET)

    xrandr("--setmonitor", "left", "640/170x800/210+0+0", "screen")
    xrandr("--setmonitor", "right", "640/170x800/210+640+0", "none")
    yield
    xrandr("--delmonitor", "right")
    xrandr("--delmonitor", "left")


def test_the_second_monitor(
    two_monitors: None, agent: PointerAgent, start: Callable[..., Running], tmp_path: Path, desktop: Desktop
) -> None:
    script = BOARD.replace("600x400+100+80", "600x400+660+80")
    start([sys.executable, "-c", script, str(tmp_path / "log")], title="Board")
    assert [monitor.rect.x for monitor in desktop.monitors()] == [0, 640]
    agent.click(ClickArgs(target="Publish"), make_step())
    assert until(lambda: read(tmp_path / "log") == "pressed Publish 20\n")


def test_a_picture_of_a_window(board: Running, desktop: Desktop) -> None:
    picture = desktop.screenshot(board.window)
    assert picture.shape == (400, 600, 3)
    whole = desktop.screenshot()
    assert whole.shape == (800, 1280, 3)
    left, top = corner(desktop, board)
    assert (whole[top : top + 400, left : left + 600] == picture).all()
