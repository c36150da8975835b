"""Voices, rooms and noises for the tests of the voice part: made here, by real synthesisers, copied from nowhere."""

from __future__ import annotations

import shutil
import subprocess
import wave
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import soxr

from anovax.config import EndpointConfig, SttConfig, TtsConfig, WakeConfig
from anovax.voice import SAMPLE_RATE, Samples
from anovax.voice.speak import Speaker
from anovax.voice.speakable import sentences
from anovax.voice.transcribe import Transcriber
from anovax.voice.vad import SileroVad
from anovax.voice.vocabulary import vocabulary
from anovax.voice.wake import Gate, WakeDetector, frames_of

Weight = Callable[[str], Path]


onnxruntime.set_seed(20)  # Piper draws noise; the tests say the same thing every time


class Piper:
    """Says things in the assistant's voice; every sentence is made once. int16[n] at 16 kHz."""

    def __init__(self, voice: Path) -> None:
        self._speaker = Speaker(TtsConfig(), voice, None, sentences)
        self._said: dict[str, Samples] = {}

    def __call__(self, text: str) -> Samples:
        if text not in self._said:
            sound, rate = self._speaker.synthesise(text)
            self._said[text] = soxr.resample(sound, rate, SAMPLE_RATE)
        return self._said[text]

    def close(self) -> None:
        self._speaker.close()


def espeak(text: str, folder: Path, voice: str = "en-us", speed: int = 150, pitch: int = 50) -> Samples | None:
    """``text`` in one of espeak-ng's voices, int16[n] at 16 kHz; None where espeak-ng is not installed."""
    if shutil.which("espeak-ng") is None:
        return None
    file = folder / "espeak.wav"
    command = ["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), "-w", str(file), text]
    subprocess.run(command, check=True, capture_output=True)
    with wave.open(str(file)) as stream:
        sound = np.frombuffer(stream.readframes(stream.getnframes()), np.int16)
        return soxr.resample(sound, stream.getframerate(), SAMPLE_RATE)


def silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * SAMPLE_RATE), np.int16)


def room_noise(seconds: float, level: float = 12.0, seed: int = 1) -> Samples:
    """Brownish noise as of a quiet room, int16[n]; ``level`` is its RMS in int16 steps."""
    white = np.random.default_rng(seed).normal(0, 1, round(seconds * SAMPLE_RATE))
    smooth = np.convolve(white, np.exp(-np.arange(40) / 8.0), "same")
    return np.rint(smooth / smooth.std() * level).astype(np.int16)


def cough(seed: int = 3) -> Samples:
    """A burst of noise with a sharp onset and two decays, as a cough is."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(0.45 * SAMPLE_RATE)) / SAMPLE_RATE
    shape = np.exp(-t / 0.06) + 0.5 * np.exp(-np.abs(t - 0.25) / 0.04)
    return np.rint(rng.normal(0, 1, len(t)) * shape * 9000).clip(-32768, 32767).astype(np.int16)


def music(seconds: float) -> Samples:
    """A chord progression with soft notes, no voice."""
    t = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    chords = [(220, 277, 330), (196, 247, 294), (175, 220, 262), (165, 208, 247)]
    sound = np.zeros(len(t))
    for i, chord in enumerate(chords * 10):
        at = i * 0.6
        note = np.where((t >= at) & (t < at + 0.6), np.exp(-(t - at) * 3), 0.0)
        for hertz in chord:
            sound += note * sum(np.sin(2 * np.pi * hertz * k * t) / k**2 for k in (1, 2, 3))
    return np.rint(sound / np.abs(sound).max() * 9000).astype(np.int16)


def join(*parts: Samples, gap_s: float = 0.0) -> Samples:
    return np.concatenate([x for part in parts for x in (part, silence(gap_s))])


def mixed(*parts: Samples) -> Samples:
    """Sounds on top of each other, as long as the longest."""
    total = np.zeros(max(map(len, parts)), np.int32)
    for part in parts:
        total[: len(part)] += part
    return total.clip(-32768, 32767).astype(np.int16)


def louder(sound: Samples, factor: float) -> Samples:
    return np.rint(sound * factor).clip(-32768, 32767).astype(np.int16)


def room(seed: int = 0, seconds: float = 0.22, direct_ms: float = 12.0, wet: float = 0.35) -> np.ndarray:
    """An impulse response: the direct sound after ``direct_ms``, then a decaying diffuse tail. float64[n]."""
    rng = np.random.default_rng(seed)
    count = round(seconds * SAMPLE_RATE)
    tail = rng.normal(0, 1, count) * np.exp(-np.arange(count) / (0.05 * SAMPLE_RATE))
    response = wet * tail / np.sqrt(np.square(tail).sum())
    start = round(direct_ms * SAMPLE_RATE / 1000)
    response[:start] = 0.0
    response[start] = 1.0
    return response


def through(sound: Samples, response: np.ndarray, gain: float = 1.0) -> Samples:
    """``sound`` as it arrives at the microphone of such a room."""
    size = len(sound) + len(response)
    wet = np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(response, size), size)[: len(sound)]
    return np.rint(wet * gain).clip(-32768, 32767).astype(np.int16)


def frames(sound: Samples) -> Sequence[Samples]:
    return list(frames_of([sound]))


def wake_detector(weight: Weight, gate: bool = True, **config: float) -> WakeDetector:
    settings = WakeConfig(**config)  # type: ignore[arg-type]
    return WakeDetector(settings, weight("wake/hey_jarvis"), weight("wake/features"), Gate() if gate else None)


def transcriber(weight: Weight, **config: object) -> Transcriber:
    """As the product builds it, on a machine with three applications."""
    words = vocabulary(("Firefox", "Calculator", "Text Editor"))
    return Transcriber(SttConfig(**config), weight("stt/tiny.en"), lambda: words, SileroVad())  # type: ignore[arg-type]


def quick_endpoint(**changes: float) -> EndpointConfig:
    return EndpointConfig(**changes)  # type: ignore[arg-type]
