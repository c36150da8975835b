"""Undo takes back the newest step that can be, each once, and never in another window than its own."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from anovax.errors import ToolError, UserMustDecide
from anovax.tool import CancelFlag, Done, StepContext, Undo, UndoAction, WindowRef, discover
from anovax.turns import Turns

EDITOR = WindowRef(id=7, app="Mousepad", title="notes.txt")
TERMINAL = WindowRef(id=8, app="XTerm", title="bash")
STEP = StepContext("turn", 0, time.monotonic() + 60, CancelFlag(), threading.Event())


class Desk:
    """Which window has the focus, and what was taken back."""

    def __init__(self) -> None:
        self.focus: WindowRef | None = EDITOR
        self.taken: list[str] = []
        self.turns = Turns(cast(Any, SimpleNamespace(focused=lambda: self.focus)))

    def did(self, label: str, window: int) -> None:
        def back(step: StepContext) -> Done:
            self.taken.append(label)
            return Done(evidence=f"{label} taken back")

        self.turns._carried.undo.append(UndoAction(label, back, window))


@pytest.mark.parametrize("focus", [TERMINAL, None, EDITOR.model_copy(update={"id": 9})])
def test_never_across_a_change_of_focus(focus: WindowRef | None) -> None:
    desk = Desk()
    desk.did("typing", EDITOR.id)
    desk.focus = focus
    with pytest.raises(UserMustDecide, match="only undo “typing” in its own window"):
        desk.turns.undo(STEP)
    assert desk.taken == []
    desk.focus = EDITOR  # it can still be taken back there
    assert desk.turns.undo(STEP).evidence == "typing taken back"


def test_an_older_step_is_not_taken_back_past_a_newer_one_of_another_window() -> None:
    desk = Desk()
    desk.did("typing here", EDITOR.id)
    desk.did("typing there", TERMINAL.id)
    with pytest.raises(ToolError, match="typing there"):
        desk.turns.undo(STEP)
    assert desk.taken == []


def test_the_newest_first_and_each_once() -> None:
    desk = Desk()
    desk.did("typing", EDITOR.id)
    desk.did("a fact", 0)
    desk.focus = None  # a fact has no window
    desk.turns.undo(STEP)
    desk.focus = EDITOR
    desk.turns.undo(STEP)
    assert desk.taken == ["a fact", "typing"]
    with pytest.raises(UserMustDecide, match="nothing to take back"):
        desk.turns.undo(STEP)


def test_every_tool_says_beforehand_whether_it_can_be_taken_back() -> None:
    declared = {name: spec.undo for name, spec in discover().specs.items()}
    assert all(isinstance(undo, Undo) for undo in declared.values())
    reversible = {name for name, undo in declared.items() if undo is Undo.REVERSIBLE}
    assert reversible >= {"type_text", "open_app", "focus_window", "remember", "forget", "open_url"}
    assert {"click", "press_keys", "close_window", "delegate", "speak"} <= set(declared) - reversible
