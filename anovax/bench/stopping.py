"""How fast "stop" ends everything: milliseconds until the request has ended, and effects after it (there must be none).

Real X session and a virtual loudspeaker: typing into a terminal, waiting for consent, planning with the model, speaking
and recovering, each stopped at a random moment after it has begun.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from anovax.app import Wanted, build
from anovax.assistant import Assistant
from anovax.bench.table import percentile
from anovax.bench.virtual import virtual_machine
from anovax.bus import Subscription
from anovax.config import Config
from anovax.errors import DesktopError
from anovax.events import (
    ConsentAsked,
    Event,
    RecoveryStarted,
    SpeechStarted,
    StepStarted,
    StopRequested,
    TurnStarted,
)
from anovax.request import Request

LONG = "the quick brown fox jumps over the lazy dog " * 40
# what is under way -> the request, the event with which it begins, and when it is stopped after that (seconds)
KINDS: dict[str, tuple[str, type[Event], float, float]] = {
    "typing": (f"type {LONG[:380]}", StepStarted, 0.02, 0.25),
    "consent": ("open the address http://192.168.1.1/", ConsentAsked, 0.02, 0.5),
    "planning": (
        "I would love to hear what you believe the best month for planting tomatoes could be, and why",
        TurnStarted, 0.1, 0.6,
    ),
    "speaking": (f"say {LONG[:200]}", SpeechStarted, 0.1, 1.5),
    "recovering": ("switch to the window of the unicorn stable", RecoveryStarted, 0.02, 0.3),
}  # fmt: skip
TRIES = 3  # a request may end by itself before it is stopped
BEGIN_S = 20.0
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@dataclass(frozen=True)
class Stopped:
    """``ms``: from stop to the request's end, one number a trial; ``late``: trials in which a key was still sent or a
    new sentence begun."""

    kind: str
    trials: int
    p50: float
    p99: float
    longest: float
    late: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


async def run(config: Config, trials: int = 200, tell: Callable[[str], None] = lambda line: None) -> list[Stopped]:
    """``trials`` stops spread over the kinds of work; raises DesktopError without Xvfb and xterm, AudioError without
    PulseAudio. Nothing of the user's is touched."""
    chance = random.Random(1)
    with ExitStack() as stack:
        config, _ = stack.enter_context(virtual_machine(config))
        stack.callback(_terminal().kill)
        async with build(config, Wanted(speak=True)) as assistant:
            await assistant.ready()
            await _terminal_is_up(assistant)
            out = []
            for kind in KINDS:
                out.append(await _kind(assistant, kind, max(1, trials // len(KINDS)), chance))
                tell(f"{kind}: p99 {out[-1].p99:.0f} ms")
            return out


def _terminal() -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(["xterm", "-e", "cat"], **QUIET)  # type: ignore[call-overload,no-any-return]
    except OSError:
        raise DesktopError("xterm is not installed", "install xterm") from None


async def _terminal_is_up(assistant: Assistant) -> None:
    for _ in range(100):
        if assistant.desktop.focused() is not None:
            return
        await asyncio.sleep(0.1)
    raise DesktopError("xterm did not get the focus", "try again on an idle machine")


async def _kind(assistant: Assistant, kind: str, trials: int, chance: random.Random) -> Stopped:
    ended = [await _trial(assistant, kind, chance) for _ in range(trials)]
    spent = [ms for ms, _ in ended]
    p50, p99 = (round(percentile(spent, q), 1) for q in (0.5, 0.99))
    return Stopped(kind, trials, p50, p99, round(max(spent), 1), sum(late for _, late in ended))


async def _trial(assistant: Assistant, kind: str, chance: random.Random) -> tuple[float, bool]:
    """Milliseconds from stop to the end, and whether anything happened after it."""
    text, begin, soonest, latest = KINDS[kind]
    for _ in range(TRIES):
        if kind == "typing":  # what an earlier trial has left in the line would count as one long command
            await assistant.ask(Request(text="press control u"))
        with assistant.bus.subscribe() as events:
            running = asyncio.ensure_future(assistant.ask(Request(text=text)))
            await _begun(events, begin, kind)
            await asyncio.sleep(chance.uniform(soonest, latest))
            if running.done():
                continue
            started = time.perf_counter()
            assistant.stop("bench")
            await running
            spent = (time.perf_counter() - started) * 1000
            sent = assistant.desktop.keys_sent
            await asyncio.sleep(0.2)
            events_after = _events(events)
        after_stop = events_after[[type(event) for event in events_after].index(StopRequested) :]
        return spent, assistant.desktop.keys_sent != sent or any(isinstance(e, SpeechStarted) for e in after_stop)
    raise DesktopError(f"{kind}: the request ended {TRIES} times before it was stopped", "try again on an idle machine")


async def _begun(events: Subscription, begin: type[Event], kind: str) -> None:
    until = time.monotonic() + BEGIN_S
    while time.monotonic() < until:
        while (event := events.get(0)) is not None:
            if isinstance(event, begin):
                return
        await asyncio.sleep(0.01)
    raise DesktopError(f"{kind} did not begin within {BEGIN_S:.0f} s", "try again on an idle machine")


def _events(events: Subscription) -> list[Event]:
    found = []
    while (event := events.get(0)) is not None:
        found.append(event)
    return found
