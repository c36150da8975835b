"""Live rows: each request is spoken, with the wake phrase, into a virtual microphone and done by the whole assistant
with its real agents on a virtual display.

One assistant listens at a time, so backends follow one another, each with its requests in the study's random order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anovax.app import Wanted, build
from anovax.assistant import Assistant
from anovax.bench import chain
from anovax.bench.study.backends import Backend
from anovax.bench.study.energy import Energy
from anovax.bench.study.measuring import quality, words
from anovax.bench.study.requests import Asked
from anovax.bench.study.rows import Folder, Row
from anovax.bench.study.targets import Resources, keep
from anovax.bench.virtual import virtual_machine
from anovax.config import Config
from anovax.events import (
    Event,
    Judged,
    PlanMade,
    SpeechStarted,
    StepFinished,
    StepStarted,
    Transcribed,
    TurnFinished,
    UtteranceEnded,
    WakeHeard,
)
from anovax.sound import wake_phrase
from anovax.voice import SAMPLE_RATE, Samples, to_int16
from anovax.voice.audio import load_audio
from anovax.voice.virtual_sound import VirtualSound

PAUSE_S = 0.5  # between wake phrase and request


@dataclass(frozen=True)
class Spoken:
    """int16[n], 16 kHz; ``woken_s``: where the wake phrase ends."""

    samples: Samples
    woken_s: float


async def run(
    left: Sequence[Row],
    asked: Mapping[str, Asked],
    known: Sequence[Backend],
    config: Config,
    folder: Folder,
    tell: Callable[[Row, int, int], None],
) -> None:
    """Measure the rows of ``left``. Raises what virtual sound and display raise where they are not installed."""
    by_name, done = {backend.name: backend for backend in known}, 0
    with virtual_machine(config) as (config, sound):
        sounds = spoken(config, [asked[key] for key in dict.fromkeys(row.request for row in left)])
        for name in dict.fromkeys(row.backend for row in left):
            chain.forget_peak()
            started = time.monotonic()
            async with build(by_name[name].config(config), Wanted(listen=True)) as assistant:
                await assistant.ready()
                ready, idle = round(time.monotonic() - started, 2), round(await chain.idle_percent(), 2)
                for base in (row for row in left if row.backend == name):
                    row = await _one(assistant, sound, asked[base.request], sounds[base.request], base)
                    folder.add(row)
                    done += 1
                    tell(row, done, len(left))
                    keep(folder, Resources(backend=name, ready_s=ready, idle_percent=idle, peak_mb=chain.peak_mb()))


def spoken(config: Config, asked: Sequence[Asked]) -> dict[str, Spoken]:
    """Wake phrase, pause, and the recording or, where there is none, the text as Piper says it."""
    phrase = wake_phrase(config)
    said = chain.spoken(config, [phrase, *(one.text for one in asked if one.audio is None)])
    start = np.concatenate([said[phrase], np.zeros(round(PAUSE_S * SAMPLE_RATE), np.int16)])
    woken = len(said[phrase]) / SAMPLE_RATE - chain.tail_s(said[phrase])
    sounds = {one.id: to_int16(load_audio(one.audio)) if one.audio else said[one.text] for one in asked}
    return {key: Spoken(np.concatenate([start, sound]), woken) for key, sound in sounds.items()}


async def _one(assistant: Assistant, sound: VirtualSound, asked: Asked, spoken: Spoken, base: Row) -> Row:
    energy = Energy()
    before, at = energy.read(), time.time()
    seen, end = await chain.played(assistant, sound, spoken.samples, woken=True)
    speech_s = len(spoken.samples) / SAMPLE_RATE - chain.tail_s(spoken.samples)
    found = measured(asked, seen, end, end - speech_s + spoken.woken_s)
    return base.model_copy(update={"at": round(at, 3), "energy_j": energy.joules(before), **found})


def measured(asked: Asked, seen: Sequence[Event], end: float, woken: float) -> dict[str, Any]:
    """A live row's fields from its events; ``end`` of speech and of the wake phrase (``woken``) in time.time()."""

    def first(kind: type[Any]) -> Any:
        return next((event for event in seen if type(event) is kind), None)

    def after(kind: type[Event], since: float) -> float | None:
        event = first(kind)
        return round((event.moment - since) * 1000, 1) if event else None

    heard, plan, judged, finished = first(Transcribed), first(PlanMade), first(Judged), first(TurnFinished)
    last = max((event.at for event in seen if isinstance(event, StepFinished)), default=None)
    found: dict[str, Any] = {
        "text": asked.text,
        "heard": heard.text if heard else "",
        "answered_by": plan.backend if plan else "",
        "decision": judged.decision if judged else "",
        "tools": ">".join(step["tool"] for step in plan.plan["steps"]) or "words" if plan else "",
        "wake": after(WakeHeard, woken),
        "endpoint": after(UtteranceEnded, end),
        "stt": after(Transcribed, end),
        "plan": after(PlanMade, end),
        "safety": after(Judged, plan.at) if plan else None,
        "dispatch": after(StepStarted, judged.at) if judged else None,
        "effect": after(StepStarted, end),
        "audio": after(SpeechStarted, last) if last else None,
        "done": round((last - end) * 1000, 1) if last else None,
        "total": round((finished.at - end) * 1000, 1) if finished else None,
        "error": ""
        if finished
        else "the wake phrase was not heard"
        if not first(WakeHeard)
        else "the request did not end",
    }
    found |= words(asked.said or asked.text, found["heard"])
    if asked.case is not None:
        refused = judged is None or judged.decision == "refuse"
        found |= quality(asked.case, [] if refused or plan is None else plan.plan["steps"])
    return found
