"""One request after the other, and what outlives each: what stands typed, and what can be taken back."""

from __future__ import annotations

import asyncio
import secrets
import time

from anovax.errors import ToolError, UserMustDecide
from anovax.request import Report, Request
from anovax.tool import CancelFlag, Done, StepContext
from anovax.turn import Carried, Turn, TurnParts

OWN_KEYS_S = 1.0  # a burst of keys takes less, with its way through a terminal


class Turns:
    """Runs one request at a time."""

    def __init__(self, parts: TurnParts) -> None:
        self._parts = parts
        self._busy = asyncio.Lock()
        self._carried = Carried()
        self._running: tuple[Turn, asyncio.AbstractEventLoop] | None = None

    @property
    def typing(self) -> bool:
        """Whether an agent has pressed keys within the last second: a line that arrives now may be its own."""
        return time.monotonic() - self._carried.keys_at < OWN_KEYS_S

    async def run(self, request: Request, cancel: CancelFlag, turn: str = "") -> Report:
        """From text to spoken reply. Never raises for what can go wrong in a request: the report says it."""
        async with self._busy:
            running = Turn(self._parts, self._carried, request, cancel, turn or secrets.token_hex(4))
            self._running = running, asyncio.get_running_loop()
            try:
                return await running.run()
            finally:
                self._running = None

    # --- what agents call back -----------------------------------------------------------------------------------

    def delegate(self, goal: str, step: StepContext) -> Done:
        """Plan and run a sub-goal for the MetaAgent, from its thread, on the request's own budget."""
        if self._running is None or self._running[0].id != step.turn:
            raise ToolError("There is no running request to work for")
        turn, loop = self._running
        return asyncio.run_coroutine_threadsafe(turn.sub_goal(goal, step.level + 1), loop).result(step.remaining)

    def undo(self, step: StepContext) -> Done:
        """Take back the newest step that can be; never across a change of focus."""
        if not self._carried.undo:
            raise UserMustDecide("There is nothing to take back")  # no model can repair that
        action = self._carried.undo[-1]
        focus = self._parts.focused()
        if action.window and (focus is None or focus.id != action.window):
            problem = f"I can only undo “{action.label}” in its own window"
            raise UserMustDecide(problem, "bring it to the front and ask again")
        self._carried.undo.pop()
        return action.run(step)
