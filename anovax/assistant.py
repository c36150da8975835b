"""The running assistant: one door for requests from microphone, keyboard and phone, and one for stopping them."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from anovax import heap
from anovax.bus import Bus
from anovax.consent import ConsentDesk
from anovax.errors import AnovaxError, AudioError, UsageError
from anovax.events import Noticed, StopRequested
from anovax.plan import Decision
from anovax.planning import Planning
from anovax.request import Report, Request
from anovax.tool import CancelFlag
from anovax.turns import Turns
from anovax.voice import Transcript
from anovax.voice.audio import load_audio
from anovax.voice.transcribe import Transcriber

MAX_WAITING = 4  # requests that queue behind a running one
MAX_HISTORY = 200
REST_S = 2.0  # after the last request: by then its answer is being heard
STOP_WORDS = frozenset(
    {"stop", "stop it", "stop that", "cancel", "cancel that", "abort", "quiet", "be quiet", "shut up", "enough"}
)


def is_stop(text: str) -> bool:
    """Whether a whole utterance means: end everything, now."""
    return text.lower().strip(" .!,") in STOP_WORDS


class Ears(Protocol):
    """The voice loop as the assistant drives it."""

    muted: bool

    def start(self) -> None: ...
    def listen(self) -> None: ...
    def mute(self, on: bool) -> None: ...


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
        self._rest: asyncio.TimerHandle | None = None
        self.transcriber: Transcriber | None = None  # set by app.py when this run hears
        self.ears: Ears | None = None
        self.desktop: Any = None  # the facade that the agents act through, for benchmarks
        self.approve: Callable[[str, bool], bool] = lambda request, allow: False  # lets a phone in

    @property
    def busy(self) -> bool:
        """Whether a request is being worked on."""
        return bool(self._flags)

    @property
    def muted(self) -> bool:
        return self.ears is not None and self.ears.muted

    async def ready(self) -> None:
        """Wait until the planner's model is loaded. Raises PlannerError or WeightsError when it cannot be."""
        await self.planning.planner.ready()

    async def ask(self, request: Request, turn: str = "") -> Report:
        """Run one request to its end, after those before it. Never raises for what can go wrong in a request."""
        cancel = CancelFlag()
        self._flags.add(cancel)
        try:
            report = await self._turns.run(request, cancel, turn)
        finally:
            self._flags.discard(cancel)
        self._history.appendleft(_past(report, request))
        self._rest_later()
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

    def hear(self, request: Request, started: Callable[[str], None] = lambda turn: None) -> None:
        """``submit`` from another thread (the voice loop's); ``started`` gets the turn's id."""
        if is_stop(request.text):  # not through the event loop's queue: stop wins
            self.stop(request.source)
        else:
            self._loop.call_soon_threadsafe(self._submit_or_say, request, started)

    def stop(self, by: str) -> bool:
        """End every running and waiting request: no effect after this. False when there was nothing to end."""
        flags = tuple(self._flags)
        for flag in flags:
            flag.set("stop")
        self.bus.publish(StopRequested(by=by))
        return bool(flags)

    def stopped_by(self, whom: str) -> None:
        """``stop`` for those who need no answer."""
        self.stop(whom)

    def typed_by_agent(self, text: str) -> bool:
        """Whether a line at the terminal may come from an agent's own keys: then it asks, allows and pairs nothing. A
        stop always counts."""
        own = self._turns.typing and not is_stop(text)
        if own:
            self.bus.publish(Noticed(text="A line came in while I was typing, so I did not take it.", level="warning"))
        return own

    async def typed(self, text: str) -> None:
        """A line from the keyboard: a stop, an answer, or a request."""
        self._submit_or_say(Request(text=text, source="text"))

    async def transcribe(self, path: Path) -> Transcript:
        """What is said in a recording. Raises AudioError."""
        if self.transcriber is None:
            raise AudioError("Speech recognition is not loaded", "start with a microphone")
        samples = await self._loop.run_in_executor(None, load_audio, path)
        return await asyncio.wrap_future(self.transcriber.submit(samples))

    async def planned(self, text: str) -> Report:
        """Plan and judge only: a dry run."""
        planned, verdict, ms = await self.planning.judged(text)
        report = Report(turn="", text=text, plan=planned.plan, verdict=verdict, backend=planned.backend, ms=ms)
        return report.model_copy(update={"said": planned.plan.say, "ok": verdict.decision is not Decision.REFUSE})

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
        if self._rest is not None:
            self._rest.cancel()

    def _rest_later(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
        self._rest = self._loop.call_later(REST_S, lambda: None if self.busy else heap.give_back())

    def _submit_or_say(self, request: Request, started: Callable[[str], None] = lambda turn: None) -> None:
        try:
            if turn := self.submit(request):
                started(turn)
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
