"""From sound to text and back.

What the parts of this package hand to each other stands here; app.py wires them. Everywhere inside: mono, 16,000
samples/s, int16; a frame is 1,280 samples (80 ms). ``seconds`` count from the first sample that a part was fed.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE = 16_000
FRAME = 1_280
FRAME_S = FRAME / SAMPLE_RATE

Samples = NDArray[np.int16]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Detection:
    """The wake word was heard: its ``score`` (0 to 1) rose above the threshold ``t`` seconds into the sound."""

    word: str
    score: float
    t: float


@dataclass(frozen=True)
class Utterance:
    """One command as it was said: int16[n] with pre-roll. ``reason``: silence, complete, cap, cancelled, empty.

    ``speech_s`` is how much of it was speech, ``woken`` whether the wake word stands at its beginning.
    """

    samples: Samples
    reason: str
    speech_s: float
    woken: bool = False

    @property
    def seconds(self) -> float:
        return len(self.samples) / SAMPLE_RATE


@dataclass(frozen=True)
class Transcript:
    """What was said.

    ``seconds`` of sound took ``ms``; ``window_s`` is the encoder window, ``fallback`` whether the guards sent it to the
    full one; ``no_speech`` and ``logprob`` are the recogniser's own doubts.
    """

    text: str
    seconds: float
    ms: float
    window_s: float
    fallback: bool = False
    no_speech: float = 0.0
    logprob: float = 0.0


@dataclass(frozen=True)
class Played:
    """A stretch of sound (int16[n], 16 kHz) that left for the loudspeaker at ``at`` (monotonic seconds)."""

    at: float
    samples: Samples


Direction = Literal["input", "output"]


@dataclass(frozen=True)
class Device:
    """A sound device. ``monitor``: it gives back what a loudspeaker plays, not what a microphone hears."""

    index: int
    name: str
    rate: int
    inputs: int
    outputs: int
    default: bool = False

    @property
    def monitor(self) -> bool:
        return "monitor" in self.name.lower()


class Devices(Protocol):
    """The owner of all sound devices (anovax.voice.devices.SoundDevices); ``generation`` counts its restarts."""

    generation: int

    @property
    def stop_stream(self) -> Exception: ...

    def list(self, direction: Direction) -> list[Device]: ...

    def choose(self, direction: Direction, name: str = "") -> Device: ...

    def open(
        self,
        direction: Direction,
        device: Device,
        rates: tuple[int, ...],
        callback: Callable[..., None],
        block_s: float,
    ) -> Any: ...

    def close(self, stream: Any, patience_s: float = ...) -> bool: ...

    def refresh(self) -> bool: ...


class SpeechProbability(Protocol):
    """Tells speech from the rest, with memory of what it heard before."""

    def __call__(self, samples: Samples) -> float:
        """Probability (0 to 1) that the newest 512-sample chunks hold speech; the highest of those completed now."""

    def reset(self) -> None:
        """Forget what was heard."""


class Ears(Protocol):
    """Where frames come from (anovax.voice.microphone.Microphone); ``at``: when the last one ended (monotonic)."""

    at: float

    def read(self, timeout: float = ...) -> Samples | None: ...

    def close(self) -> None: ...


class Wake(Protocol):
    """anovax.voice.wake.WakeDetector."""

    score: float

    def feed(self, frame: Samples) -> Detection | None: ...

    def reset(self) -> None: ...


class Endpoint(Protocol):
    """anovax.voice.endpoint.Endpointer."""

    speech_s: float
    pause_s: float
    speaking: bool

    @property
    def started(self) -> bool: ...

    def begin(self, before: Samples | None = ..., woken: bool = ...) -> None: ...

    def feed(self, frame: Samples) -> Utterance | None: ...

    def hear(self, text: str) -> None: ...

    def forget(self) -> None: ...

    def samples(self) -> Samples: ...


class Recogniser(Protocol):
    """anovax.voice.transcribe.Transcriber."""

    def submit(self, samples: Samples) -> Future[Transcript]: ...


class OwnVoice(Protocol):
    """What the assistant itself makes audible (anovax.voice.echo.OwnVoice).

    It takes that out of a frame, and knows whether the last frame held more than that, and whether a wake word just
    heard was its own.
    """

    def clean(self, frame: Samples, at: float) -> Samples: ...

    def said_wake_word(self) -> bool: ...

    def audible(self) -> bool: ...

    def talked_over(self) -> bool: ...

    def pause(self, seconds: float) -> None: ...

    def interrupt(self) -> None: ...

    def earcon(self) -> None: ...


def to_float(samples: Samples) -> Floats:
    """int16 to float32 in -1 to 1."""
    return samples.astype(np.float32) / 32768.0


def to_int16(samples: Floats) -> Samples:
    """float32 in -1 to 1 to int16, clipped."""
    pcm: Samples = np.clip(np.rint(samples * 32767.0), -32768, 32767).astype(np.int16)
    return pcm


def resampled(samples: Samples, source: int, target: int = SAMPLE_RATE) -> Samples:
    """``samples`` (int16[n] at ``source`` Hz) at ``target`` Hz, in soxr's high quality."""
    if source == target or not len(samples):
        return samples
    import soxr

    converted: Samples = soxr.resample(samples, source, target, quality="HQ")
    return converted


def resampler(source: int, target: int = SAMPLE_RATE) -> Callable[[Samples], Samples]:
    """``resampled`` for a stream: takes it piece by piece, and the pieces join without a seam."""
    if source == target:
        return lambda samples: samples
    import soxr

    stream = soxr.ResampleStream(source, target, 1, dtype="int16", quality="HQ")
    convert: Callable[[Samples], Samples] = stream.resample_chunk
    return convert


def level_db(samples: Samples) -> float:
    """RMS level in dB relative to full scale; -100 for silence."""
    if not len(samples):
        return -100.0
    power = float(np.mean(np.square(samples.astype(np.float64) / 32768.0)))
    return max(-100.0, 10.0 * float(np.log10(power + 1e-12)))
