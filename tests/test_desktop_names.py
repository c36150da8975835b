"""Which window and which place on the screen is meant. Pure."""

from __future__ import annotations

import numpy as np
import pytest

from anovax.desktop.ocr import TextBox
from anovax.desktop.screen_targets import choose_place, links, nth, parse_target
from anovax.desktop.window_names import choose_window
from anovax.errors import AmbiguousTarget, ToolError
from anovax.tool import WindowRef

EDITOR = WindowRef(id=1, app="Mousepad", title="notes.txt - Mousepad")
SHELL = WindowRef(id=2, app="XTerm", title="user@host: ~/project")
WEB = WindowRef(id=3, app="Chromium", title="Weather in Oslo - Chromium")
SHELL2 = WindowRef(id=4, app="XTerm", title="user@host: ~/music")
ALL = (WEB, SHELL, EDITOR, SHELL2)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("this window", WEB),
        ("it", WEB),
        ("the other one", SHELL),
        ("the last one", SHELL),
        ("the previous window", SHELL),
        ("mousepad", EDITOR),
        ("mouse pad", EDITOR),
        ("the notes window", EDITOR),
        ("chromium", WEB),
        ("the weather", WEB),
        ("x term", SHELL),
        ("the music window", SHELL2),
    ],
)
def test_windows_by_what_is_said(said: str, meant: WindowRef) -> None:
    assert choose_window(said, ALL, WEB) == meant


def test_another_window_of_the_same_application() -> None:
    assert choose_window("the other xterm", (SHELL, WEB, SHELL2), SHELL) == SHELL2


def test_an_alias_of_the_application() -> None:
    assert choose_window("text editor", ALL, WEB, lambda window: window.app == "Mousepad") == EDITOR


def test_closing_one_of_two_alike_asks() -> None:
    with pytest.raises(AmbiguousTarget) as caught:
        choose_window("xterm", ALL, WEB, most_recent=False)
    assert set(caught.value.candidates) == {SHELL.title, SHELL2.title}
    assert choose_window("xterm", (SHELL, SHELL2), SHELL, most_recent=False) == SHELL


def test_nothing_fits_names_what_is_open() -> None:
    with pytest.raises(ToolError) as caught:
        choose_window("spreadsheet", ALL, WEB)
    assert EDITOR.title in caught.value.candidates


def test_there_is_no_other_window() -> None:
    with pytest.raises(ToolError, match="no other window"):
        choose_window("the other one", (WEB,), WEB)
    with pytest.raises(ToolError, match="No window has the focus"):
        choose_window("this", (), None)


def box(text: str, y: int, x: int = 10, score: float = 1.0) -> TextBox:
    return TextBox(text=text, x=x, y=y, w=60, h=14, score=score)


def test_exact_text_wins_over_longer_ones() -> None:
    boxes = (box("Save as…", 30), box("Save", 10), box("Do not save", 50))
    assert choose_place(parse_target("save"), boxes).y == 10
    assert choose_place(parse_target("the Save as button"), boxes).y == 30


def test_beginning_before_part_before_nearly_alike() -> None:
    assert choose_place(parse_target("open"), (box("Reopen file", 10), box("Open file", 40))).y == 40
    assert choose_place(parse_target("preferences"), (box("Preferencos", 10), box("Quit", 40))).y == 10


def test_several_alike_ask_and_a_number_chooses() -> None:
    boxes = (box("Delete", 90), box("Delete", 20), box("Delete", 50))
    with pytest.raises(AmbiguousTarget) as caught:
        choose_place(parse_target("delete"), boxes)
    assert len(caught.value.candidates) == 3
    assert choose_place(parse_target("the second delete button"), boxes).y == 50
    assert choose_place(parse_target("the last delete"), boxes).y == 90
    with pytest.raises(ToolError, match="only 3"):
        choose_place(parse_target("the fifth delete"), boxes)


def test_nothing_to_be_seen() -> None:
    with pytest.raises(ToolError, match="not to be seen"):
        choose_place(parse_target("publish"), ())


def test_links_are_told_by_their_colour() -> None:
    image = np.full((120, 200, 3), 255, dtype=np.uint8)
    boxes = []
    for row, ink in enumerate(((0, 0, 0), (0, 0, 238), (20, 20, 20), (26, 13, 171))):
        y = 10 + row * 25
        image[y + 3 : y + 11, 12:60:2] = ink
        boxes.append(box(f"row {row}", y))
    found = links(image, boxes)
    assert [each.text for each in found] == ["row 1", "row 3"]
    target = parse_target("the second link")
    assert target.link
    assert nth(found, target).text == "row 3"
