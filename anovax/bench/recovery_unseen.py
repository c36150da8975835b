"""Further requests whose first plan fails. Written after the loop and its examples were finished, and not to be worked
on: they show how it does on what it was not made with."""

from __future__ import annotations

from anovax.bench.recovery_cases import (
    SHOT,
    TIME,
    Case,
    boards,
    bystander,
    calculator,
    clicking,
    covered,
    disturbed,
    focusing,
    in_the_note,
    only,
    opening,
    slow,
    typing,
    with_editor,
    wrongly,
)
from anovax.bench.recovery_stage import Stage

WORDS = "the plumber comes on thursday between nine and eleven and needs the key from the neighbour"
PAGES = " ".join(f"page {number} has {number * 3} lines and {number + 7} notes," for number in range(2, 28))


def _journal(stage: Stage) -> None:
    stage.editor_entry()
    stage.shell("Server journal")
    stage.editor()
    stage.remember_windows()


def _notice(stage: Stage) -> None:
    stage.later(0.4, lambda: stage.dialog("Backup finished"))


UNSEEN: tuple[Case, ...] = (
    Case("misheard", "start gull calculator", (opening("gull calculator"),), bystander, calculator, harmed=disturbed),
    Case(
        "by what it does",
        "open the adding machine and tell me the time",
        (opening("adding machine"), TIME),
        bystander,
        calculator,
        harmed=disturbed,
    ),
    Case(
        "by what it does, then typing",
        f"open the writing pad and type {WORDS}",
        (opening("writing pad"), typing(WORDS)),
        bystander,
        in_the_note(WORDS),
        harmed=disturbed,
    ),
    Case(
        "a program of another desktop",
        f"open kwrite and type {WORDS}",
        (opening("kwrite"), typing(WORDS)),
        bystander,
        in_the_note(WORDS),
        harmed=disturbed,
    ),
    Case("not here", "open final cut", (opening("final cut"),), bystander, None, harmed=disturbed),
    Case(
        "slow",
        "open harbour charts",
        (opening("harbour charts"),),
        slow("Harbour Charts", "Harbour", 17),
        lambda stage: stage.focus_is("Harbour"),
        harmed=disturbed,
    ),
    Case(
        "not yet open",
        "go to the calculator and take a screenshot",
        (focusing("calculator"), SHOT),
        bystander,
        calculator,
        harmed=disturbed,
    ),
    Case(
        "window by what is in it",
        "switch to the error log",
        (focusing("error log"),),
        _journal,
        lambda stage: stage.focus_is("Server journal"),
        harmed=disturbed,
    ),
    Case(
        "nothing to close",
        "close the picture viewer",
        (("close_window", {"name": "picture viewer"}),),
        with_editor,
        None,
        harmed=disturbed,
    ),
    Case(
        "notice while typing",
        f"type {PAGES}",
        (typing(PAGES),),
        with_editor,
        in_the_note(PAGES),
        {"type_text": _notice},
        disturbed,
    ),
    Case(
        "far below",
        "click archive",
        (clicking("archive"),),
        boards("Forward", "", "", "", "", "", "", "", "Archive"),
        only("Archive"),
        harmed=wrongly("Archive"),
    ),
    Case(
        "by another word",
        "click pictures",
        (clicking("pictures"),),
        boards("Sounds", "Images", "Help"),
        only("Images"),
        harmed=wrongly("Images"),
    ),
    Case(
        "misheard on the screen",
        "click can sell",
        (clicking("can sell"),),
        boards("Continue", "Cancel"),
        only("Cancel"),
        harmed=wrongly("Cancel"),
    ),
    Case(
        "late on the screen",
        "click archive and tell me the time",
        (clicking("archive"), TIME),
        boards("Forward", "Archive", late_ms=8000),
        only("Archive"),
        harmed=wrongly("Archive"),
    ),
    Case(
        "behind another",
        "click forward",
        (clicking("forward"),),
        covered("Archive", "Forward"),
        only("Forward"),
        harmed=wrongly("Forward"),
    ),
)
