"""What the sound hardware really does: two seconds of the room, and a beep that goes out and must come back."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from anovax.errors import AnovaxError
from anovax.voice import SAMPLE_RATE, Device, Ears, Samples, level_db

RECORD_S = 2.0
BEEP_HZ = 1250.0
BEEP_S = 0.25
BLOCK = 320


class Microphone(Ears, Protocol):
    """What is needed of anovax.voice.microphone.Microphone."""

    device: Device | None
    rate: int

    def flush(self) -> None: ...


class Loudspeaker(Protocol):
    """What is needed of anovax.voice.playback.Playback."""

    rate: int

    def queue(self, samples: Samples, rate: int) -> int: ...


@dataclass(frozen=True)
class SoundFacts:
    """What was found. Levels in dB of full scale; ``beep_ms`` is the way out and back, None when it did not come back.

    ``problem`` and ``fix`` are the microphone's, empty when all is well with it.
    """

    microphone: str
    rate: int
    level_db: float
    peak_db: float
    clipped: float
    silent: bool
    loudspeaker: bool
    beep_ms: float | None
    problem: str = ""
    fix: str = ""


def check_sound(microphone: Microphone, playback: Loudspeaker | None, seconds: float = RECORD_S) -> SoundFacts:
    """Record ``seconds`` of the room, play a beep and listen for it. Never raises for a device that does not work."""
    room = _record(microphone, seconds, start_s=4.0)
    beep_ms, heard_out = None, False
    if playback is not None:
        beep_ms, heard_out = _round_trip(microphone, playback)
    device = microphone.device
    return _judged(device, microphone.rate, room, heard_out, beep_ms)


def described(facts: SoundFacts) -> list[tuple[str, str, str]]:
    """The facts for people: (part, what was found, what to do about it or "")."""
    heard = f"{facts.microphone}, {facts.rate} Hz, level {facts.level_db} dB, peak {facts.peak_db} dB"
    clipped = f", {facts.clipped:.1%} clipped" if facts.clipped else ""
    if facts.beep_ms is not None:
        beep = f"a beep came back after {facts.beep_ms:.0f} ms"
    else:
        beep = (
            "a beep was played and did not come back (headphones, or too quiet)"
            if facts.loudspeaker
            else "No loudspeaker can be opened"
        )
    return [
        ("microphone", facts.problem or heard + clipped, facts.fix),
        ("loudspeaker", beep, "" if facts.loudspeaker else "plug one in, or start the sound server"),
    ]


def _judged(device: Device | None, rate: int, room: Samples, loudspeaker: bool, beep_ms: float | None) -> SoundFacts:
    silent = not len(room) or int(room.max()) - int(room.min()) <= 1
    peak = float(np.abs(room.astype(np.int32)).max(initial=0)) / 32768
    clipped = float(np.mean(np.abs(room.astype(np.int32)) >= 32760)) if len(room) else 0.0
    name = device.name if device else "none"
    problem, fix = "", ""
    if not len(room):
        problem, fix = "No microphone gives sound", "plug one in, or choose it with the setting audio.input_device"
    elif silent:
        problem = f"The microphone {name} gives digital silence"
        fix = "unmute it, or choose another: the input may be a loudspeaker's monitor"
    elif clipped > 0.01:
        problem, fix = f"The microphone {name} is too loud and clips", "lower its volume"
    return SoundFacts(
        microphone=name,
        rate=rate,
        level_db=round(level_db(room), 1),
        peak_db=round(20 * float(np.log10(peak + 1e-5)), 1),
        clipped=round(clipped, 4),
        silent=silent,
        loudspeaker=loudspeaker,
        beep_ms=beep_ms,
        problem=problem,
        fix=fix,
    )


def _record(microphone: Ears, seconds: float, start_s: float = 1.0) -> Samples:
    """``seconds`` of sound; less when the microphone does not give any for ``start_s``."""
    frames: list[Samples] = []
    while sum(map(len, frames)) < seconds * SAMPLE_RATE:
        frame = microphone.read(start_s)
        if frame is None:
            break
        frames.append(frame)
    return np.concatenate(frames) if frames else np.zeros(0, np.int16)


def _round_trip(microphone: Microphone, playback: Loudspeaker) -> tuple[float | None, bool]:
    """Milliseconds from queueing a beep until it is heard (None: not within 1.2 s), and whether it could be played."""
    t = np.arange(round(BEEP_S * SAMPLE_RATE)) / SAMPLE_RATE
    beep = np.rint(np.sin(2 * np.pi * BEEP_HZ * t) * 0.4 * 32767).astype(np.int16)
    microphone.flush()
    started = time.monotonic()
    try:
        playback.queue(beep, SAMPLE_RATE)
    except AnovaxError:
        return None, False
    sound = _record(microphone, 1.2)
    begin = microphone.at - len(sound) / SAMPLE_RATE
    onset = beep_onset(sound)
    return (None if onset is None else round((begin + onset - started) * 1000, 1)), True


def beep_onset(sound: Samples) -> float | None:
    """Seconds until the beep begins in int16[n]: five 20 ms blocks in a row with most of their power at its pitch."""
    blocks = sound[: len(sound) // BLOCK * BLOCK].reshape(-1, BLOCK).astype(np.float64)
    if not len(blocks):
        return None
    wave = np.exp(-2j * np.pi * BEEP_HZ * np.arange(BLOCK) / SAMPLE_RATE)
    tone = 2 * np.square(np.abs(blocks @ wave)) / BLOCK
    power = np.square(blocks).sum(axis=1) + 1.0
    hits = (tone / power > 0.5) & (power / BLOCK > 4.0)
    runs = np.convolve(hits, np.ones(5, int), "valid") == 5 if len(hits) >= 5 else np.zeros(0, bool)
    return float(np.argmax(runs)) * BLOCK / SAMPLE_RATE if runs.any() else None
