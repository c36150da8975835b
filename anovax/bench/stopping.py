"""How fast "stop" ends everything: milliseconds until the request has ended, and effects after it (there must be none).

Real X session: typing into a terminal, waiting for consent, planning with the model, each stopped at a random moment.
"""

from __future__ import annotations

import asyncio
import os
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
from anovax.config import Config
from anovax.desktop.virtual_display import virtual_display
from anovax.errors import DesktopError
from anovax.request import Request

LONG = "the quick brown fox jumps over the lazy dog " * 40
KINDS = {
    "typing": f"type {LONG[:380]}",
    "consent": "open the address http://192.168.1.1/",
    "planning": "I would love to hear what you believe the best month for planting tomatoes could be, and why",
}
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@dataclass(frozen=True)
class Stopped:
    """``ms``: from stop to the request's end, one number a trial; ``late``: trials in which a key was still sent."""

    kind: str
    trials: int
    p50: float
    p99: float
    longest: float
    late: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


async def run(config: Config, trials: int = 200, tell: Callable[[str], None] = lambda line: None) -> list[Stopped]:
    """``trials`` stops spread over the kinds of work; raises DesktopError without Xvfb and xterm."""
    chance = random.Random(1)
    with ExitStack() as stack:
        display = stack.enter_context(virtual_display())
        os.environ["DISPLAY"] = display
        stack.callback(_terminal(display).kill)
        async with build(config, Wanted(speak=False)) as assistant:
            await assistant.ready()
            await _terminal_is_up(assistant)
            out = []
            for kind, text in KINDS.items():
                out.append(await _kind(assistant, kind, text, trials // len(KINDS), chance))
                tell(f"{kind}: p99 {out[-1].p99:.0f} ms")
            return out


def _terminal(display: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "DISPLAY": display}
    try:
        return subprocess.Popen(["xterm", "-e", "cat"], env=environment, **QUIET)  # type: ignore[call-overload,no-any-return]
    except OSError:
        raise DesktopError("xterm is not installed", "install xterm") from None


async def _terminal_is_up(assistant: Assistant) -> None:
    for _ in range(100):
        if assistant.desktop.focused() is not None:
            return
        await asyncio.sleep(0.1)
    raise DesktopError("xterm did not get the focus", "try again on an idle machine")


async def _kind(assistant: Assistant, kind: str, text: str, trials: int, chance: random.Random) -> Stopped:
    spent, late = [], 0
    for _ in range(trials):
        running = asyncio.ensure_future(assistant.ask(Request(text=text)))
        await asyncio.sleep(chance.uniform(0.15, 0.6))
        started = time.perf_counter()
        assistant.stop("bench")
        await running
        spent.append((time.perf_counter() - started) * 1000)
        sent = assistant.desktop.keys_sent
        await asyncio.sleep(0.2)
        late += assistant.desktop.keys_sent != sent
    p50, p99 = (round(percentile(spent, q), 1) for q in (0.5, 0.99))
    return Stopped(kind, trials, p50, p99, round(max(spent), 1), late)
