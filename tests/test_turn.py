"""What one request carries from step to step."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from anovax.bus import Bus
from anovax.config import Config
from anovax.plan import Decision, Outcome, Plan, Planned, Status, World
from anovax.repair import Refused
from anovax.request import Request, Surroundings
from anovax.safety import Safety
from anovax.tool import CancelFlag, WindowRef, discover
from anovax.turn import Carried, Turn

TOOLS = discover()
EDITOR = WindowRef(id=6, app="Mousepad", title="note.txt", pid=10)
TERMINAL = WindowRef(id=7, app="XTerm", title="bash", pid=11)
DIALOG = WindowRef(id=8, app="xmessage", title="Backup finished", pid=12)


class Desk:
    """A turn whose repairs run on paper; the user who is asked says no."""

    def __init__(self, world: World, focus: WindowRef) -> None:
        self.ran: list[Plan] = []
        parts = SimpleNamespace(
            safety=Safety(TOOLS, Config().safety),
            bus=Bus(),
            look=lambda: _now(Surroundings(focus=focus, windows=(focus,))),
            speak=lambda text, cancel: _now(text),
            consent=SimpleNamespace(ask=lambda turn, verdict, cancel: _now(False)),
            orchestrator=SimpleNamespace(run=self._run),
        )
        self.turn = Turn(cast(Any, parts), Carried(world), Request(text=world.heard), CancelFlag(), "turn")

    async def _run(self, approved: Any, run: Any) -> tuple[Outcome, ...]:
        self.ran.append(approved.plan)
        return tuple(Outcome(tool=step.tool, status=Status.VERIFIED) for step in approved.plan.steps)

    def repair(self, *steps: dict[str, Any]) -> tuple[Outcome, ...] | Refused:
        planned = Planned(plan=Plan.parse({"steps": steps}, TOOLS), backend="script")
        return asyncio.run(cast(Any, self.turn._ports().run(planned)))


async def _now(value: Any) -> Any:
    return value


def test_what_stands_typed_stays_with_its_window_while_another_one_has_the_focus() -> None:
    """A dialog has come up: what was typed into the editor is not the dialog's, and may go on."""
    text = "three bags of flour for the bakery (and one for us); " * 9
    desk = Desk(World(focus=EDITOR, pending=text, heard=f"type {text} thanks"), focus=DIALOG)
    rest = {"tool": "type_text", "text": "thanks"}
    assert not isinstance(desk.repair({"tool": "focus_window", "name": EDITOR.title}, rest), Refused)
    assert len(desk.ran) == 1


def test_a_command_that_stands_in_a_terminal_is_still_there_after_a_dialog() -> None:
    desk = Desk(World(focus=TERMINAL, pending="rm -rf ~", heard="press enter"), focus=DIALOG)
    ended = desk.repair({"tool": "focus_window", "name": "bash"}, {"tool": "press_keys", "keys": "enter"})
    assert isinstance(ended, Refused)
    assert desk.ran == []
    assert desk.turn._world.standing == ((TERMINAL.id, "rm -rf ~"),)
    assert desk.turn._parts.safety.judge(Plan()).verdict.decision is Decision.APPROVE  # the filter itself is at work
