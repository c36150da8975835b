"""The running assistant: one door for requests from microphone, keyboard and phone, and one for stopping them."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import deque
from typing import Any

from anovax.bus import Bus
from anovax.consent import ConsentDesk
from anovax.errors import AnovaxError, UsageError
from anovax.events import Noticed, StopRequested
from anovax.planning import Planning
from anovax.tool import CancelFlag
from anovax.turn import Report, Request, Turns

MAX_WAITING = 4  # requests that queue behind a running one
MAX_HISTORY = 200
STOP_WORDS = frozenset(
    {"stop", "stop it", "stop that", "cancel", "cancel that", "abort", "quiet", "be quiet", "shut up", "enough"}
)


def is_stop(text: str) -> bool:
    """Whether a whole utterance means: end everything, now."""
    return text.lower().strip(" .!,") in STOP_WORDS


class Assistant:
    """Owns the queue of requests and the running turns' cancel flags. Lives on the event loop; ``stop`` and ``hear``
    may be called from any thread."""

    def __init__(self, bus: Bus, turns: Turns, consent: ConsentDesk, planning: Planning) -> None:
        self.bus = bus
        self.planning = planning
        self.consent = consent
        self._turns = turns
        self._loop = asyncio.get_running_loop()
        self._flags: set[CancelFlag] = set()
        self._tasks: set[asyncio.Task[Report]] = set()
        self._history: deque[dict[str, Any]] = deque(maxlen=MAX_HISTORY)

    async def ask(self, request: Request, turn: str = "") -> Report:
        """Run one request to its end, after those before it. Never raises for what can go wrong in a request."""
        cancel = CancelFlag()
        self._flags.add(cancel)
        try:
            report = await self._turns.run(request, cancel, turn)
        finally:
            self._flags.discard(cancel)
        self._history.appendleft(_past(report, request))
        return report

    def submit(self, request: Request) -> str:
        """Start a request without waiting; returns its turn id, empty when the words were an answer or a stop.

        Raises UsageError when too many requests wait already.
        """
        if is_stop(request.text):
            self.stop(request.device or request.source)
            return ""
        if self.consent.answer_spoken(request.text, request.device or request.source):
            return ""
        if len(self._tasks) > MAX_WAITING:
            raise UsageError("Too many requests are waiting", "say stop, or wait a moment")
        turn = secrets.token_hex(4)
        task = self._loop.create_task(self.ask(request, turn))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return turn

    def hear(self, request: Request) -> None:
        """``submit`` from another thread (the voice loop's)."""
        if is_stop(request.text):  # not through the event loop's queue: stop wins
            self.stop(request.source)
        else:
            self._loop.call_soon_threadsafe(self._submit_or_say, request)

    def stop(self, by: str) -> bool:
        """End every running and waiting request: no effect after this. False when there was nothing to end."""
        flags = tuple(self._flags)
        for flag in flags:
            flag.set("stop")
        self.bus.publish(StopRequested(by=by))
        return bool(flags)

    def history(self, limit: int) -> list[dict[str, Any]]:
        """The last finished turns, newest first."""
        return list(self._history)[:limit]

    async def close(self) -> None:
        """Stop what runs and wait for it. Safe twice."""
        if self._flags:
            self.stop("shutdown")
        for task in tuple(self._tasks):
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def _submit_or_say(self, request: Request) -> None:
        try:
            self.submit(request)
        except AnovaxError as error:
            self.bus.publish(Noticed(text=str(error), level="warning"))


def _past(report: Report, request: Request) -> dict[str, Any]:
    """One finished turn as the companion's history shows it."""
    return {
        "turn": report.turn,
        "at": report.at,
        "text": report.text,
        "said": report.said,
        "ok": report.ok,
        "source": request.source,
    }
