"""The whole chain, spoken: milliseconds from the end of speech to text, plan, first effect and first audio.

Requests are spoken by Piper into a virtual microphone (push-to-talk, so that the wake word is not part of it) and done
on a virtual display. The two kinds of requests are those that the rules read and those that need the model.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from anovax.app import Wanted, build
from anovax.assistant import Assistant
from anovax.bench.table import percentile
from anovax.bench.virtual import virtual_machine
from anovax.bus import Subscription
from anovax.config import Config
from anovax.events import (
    Event,
    PlanMade,
    SpeechStarted,
    StepFinished,
    StepStarted,
    Transcribed,
    TurnFinished,
    UtteranceEnded,
)
from anovax.sound import build_speaker
from anovax.voice import SAMPLE_RATE, Samples, resampled
from anovax.voice.virtual_sound import VirtualSound

BY_RULES = (
    "what time is it",
    "take a screenshot",
    "what is today's date",
    "remember that the spare key is in the garage",
    "what day of the week is it",
    "read the screen",
)
BY_MODEL = (
    "make a picture of everything that is on my display right now",
    "please jot down for me that the plumber comes on friday",
    "tell me how late it has become over in tokyo",
    "I wonder which weekday we have got today, could you look",
)
PATIENCE_S = 60.0
SILENCE_S = 10.0  # after which a request that nothing at all was heard of will not come any more
IDLE_S = 20.0


@dataclass(frozen=True)
class Row:
    """One spoken request; milliseconds after the end of speech, ``audio`` after the last outcome."""

    text: str
    heard: str
    kind: str
    backend: str
    endpoint: float
    text_ms: float
    plan: float
    effect: float
    audio: float
    ok: bool


@dataclass(frozen=True)
class Report:
    """``peak_mb``: peak memory of this process; ``idle_percent``: of one core while nobody speaks; ``ready_s``: from
    the start of building until everything is loaded and listening."""

    rows: tuple[Row, ...]
    ready_s: float
    idle_percent: float
    peak_mb: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def lines(self) -> list[tuple[str, int, float, float, float, float, float]]:
        """For each kind: how many, and the medians of its stages, with p95 of the first effect."""
        out = []
        for kind in ("rules", "model"):
            rows = [row for row in self.rows if row.kind == kind]

            def of(name: str, q: float, rows: list[Row] = rows) -> float:
                return round(percentile([getattr(row, name) for row in rows], q), 0)

            effects = (of("effect", 0.5), of("effect", 0.95))
            out.append((kind, len(rows), of("text_ms", 0.5), of("plan", 0.5), *effects, of("audio", 0.5)))
        return out


async def run(config: Config, repeat: int = 1, tell: Callable[[str], None] = lambda line: None) -> Report:
    """Speak every request ``repeat`` times and measure; ``tell`` hears of each."""
    with virtual_machine(config) as (config, sound):
        said = spoken(config, (*BY_RULES, *BY_MODEL))
        forget_peak()
        started = time.monotonic()
        async with build(config, Wanted(listen=True)) as assistant:
            await assistant.ready()
            ready = time.monotonic() - started
            idle = await idle_percent()
            rows = []
            for _ in range(repeat):
                for text, samples in said.items():
                    rows.append(await _one(assistant, sound, text, samples))
                    tell(f"{rows[-1].text}: first effect after {rows[-1].effect:.0f} ms")
        return Report(tuple(rows), round(ready, 2), round(idle, 2), peak_mb())


def spoken(config: Config, texts: Sequence[str]) -> dict[str, Samples]:
    """Each text as int16[n], 16 kHz, said by Piper in a process of its own: what is measured holds one voice only."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_say, config, tuple(texts)).result()


def _say(config: Config, texts: tuple[str, ...]) -> dict[str, Samples]:
    speaker = build_speaker(config, None)
    try:
        made = {text: speaker.synthesise(text) for text in texts}
    finally:
        speaker.close()
    return {text: resampled(s, rate) for text, (s, rate) in made.items()}


async def _one(assistant: Assistant, sound: VirtualSound, text: str, samples: Samples) -> Row:
    seen, end = await played(assistant, sound, samples)
    return _row(text, seen, end)


async def played(
    assistant: Assistant, sound: VirtualSound, samples: Samples, woken: bool = False
) -> tuple[list[Event], float]:
    """Play int16[n], 16 kHz, to the listening assistant: all events until the request has ended, and when (time.time())
    the speech did. Push-to-talk, unless ``woken`` says that the wake phrase is in ``samples``."""
    loop = asyncio.get_running_loop()
    assert assistant.ears is not None
    with assistant.bus.subscribe(10_000) as events:
        if not woken:
            assistant.ears.listen()
            await asyncio.sleep(0.3)  # the loop opens its ear with the next frame
        await loop.run_in_executor(None, sound.play_into_microphone, samples)
        end = time.time() - tail_s(samples)
        seen = await loop.run_in_executor(None, until_finished, events)
    await asyncio.sleep(0.5)
    return seen, end


def tail_s(samples: Samples) -> float:
    """Seconds of near silence at the end of a spoken text: the speech ended that much earlier."""
    loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > 300)
    return (len(samples) - int(loud[-1]) - 1) / SAMPLE_RATE if len(loud) else 0.0


def until_finished(events: Subscription) -> list[Event]:
    """All events up to the end of the request; those that there are when it does not come to one."""
    seen: list[Event] = []
    end = time.monotonic() + PATIENCE_S
    while (event := events.get(max(0.0, min(end - time.monotonic(), PATIENCE_S if seen else SILENCE_S)))) is not None:
        seen.append(event)
        if isinstance(event, TurnFinished):
            return seen
        if isinstance(event, UtteranceEnded) and event.reason in ("empty", "cancelled"):
            return seen
    return seen


def _row(text: str, seen: list[Event], end: float) -> Row:
    def after(kind: type[Event], since: float, last: bool = False) -> float:
        times = [event.moment for event in seen if type(event) is kind]
        return round(((times[-1] if last else times[0]) - since) * 1000, 1) if times else float("nan")

    plan = next((event for event in seen if isinstance(event, PlanMade)), None)
    done = [event.at for event in seen if isinstance(event, StepFinished)]
    finished = next((event for event in seen if isinstance(event, TurnFinished)), None)
    return Row(
        text=text,
        heard=next((event.text for event in seen if isinstance(event, Transcribed)), ""),
        kind="rules" if text in BY_RULES else "model",
        backend=plan.backend if plan else "",
        endpoint=after(UtteranceEnded, end),
        text_ms=after(Transcribed, end),
        plan=after(PlanMade, end),
        effect=after(StepStarted, end),
        audio=after(SpeechStarted, done[-1]) if done else float("nan"),
        ok=finished is not None and finished.ok,
    )


async def idle_percent() -> float:
    """Percent of one core that this process uses while nobody speaks."""
    await asyncio.sleep(3)  # loading has settled
    before, started = time.process_time(), time.monotonic()
    await asyncio.sleep(IDLE_S)
    return 100 * (time.process_time() - before) / (time.monotonic() - started)


def forget_peak() -> None:
    """Let the peak of resident memory count from here (Linux; elsewhere it stays that of the process's life)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", "ascii")


def peak_mb() -> float:
    """Peak resident memory of this process since ``forget_peak``, in MB (10^6 bytes)."""
    with suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text("ascii", "replace").splitlines()
        return round(int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) * 1024 / 1e6)
    return round(float(getattr(psutil.Process().memory_info(), "peak_wset", psutil.Process().memory_info().rss)) / 1e6)
