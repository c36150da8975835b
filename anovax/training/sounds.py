"""One voice becomes many, and a studio becomes a room: vocoder, reverberation, noise, level. int16[n], 16 kHz."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anovax.voice import SAMPLE_RATE, Samples

STEP_MS = 8.0  # between two spectra of the vocoder
LOUD = 300  # int16 level below which a synthesised sound has not begun or is over


def trimmed(sound: Samples) -> Samples:
    """Without the silence before and after; empty when there is nothing but silence."""
    heights = np.abs(sound.astype(np.int32))
    loud = np.flatnonzero(heights > min(LOUD, heights.max(initial=0) // 20))
    return sound[int(loud[0]) : int(loud[-1]) + 1] if len(loud) else sound[:0]


class Vocoder:
    """WORLD (Morise, Yokomori, Ozawa 2016): pitch, formants and pace of a voice, moved apart from each other."""

    def __init__(self) -> None:
        import pyworld

        self._world: Any = pyworld

    def other_speaker(self, sound: Samples, draw: np.random.Generator) -> Samples:
        """``sound`` as another person might say it: other pitch, livelier or flatter, other vocal tract, other pace."""
        pitch, tract = float(np.exp(draw.uniform(-0.45, 0.55))), float(np.exp(draw.uniform(-0.16, 0.2)))
        return self.moved(sound, pitch, tract, float(draw.uniform(0.6, 1.5)), float(draw.uniform(0.82, 1.2)))

    def moved(self, sound: Samples, pitch: float, tract: float, melody: float = 1.0, pace: float = 1.0) -> Samples:
        """Pitch times ``pitch``, its movement times ``melody``, formants times ``tract``, speed times ``pace``."""
        x = sound.astype(np.float64) / 32768.0
        raw, times = self._world.dio(x, SAMPLE_RATE, frame_period=STEP_MS)
        f0 = self._world.stonemask(x, raw, times, SAMPLE_RATE)
        spectrum = self._world.cheaptrick(x, f0, times, SAMPLE_RATE)
        breath = self._world.d4c(x, f0, times, SAMPLE_RATE)
        y = self._world.synthesize(
            _new_pitch(f0, pitch, melody),
            _stretched(spectrum, tract),
            _stretched(breath, tract),
            SAMPLE_RATE,
            STEP_MS / pace,
        )
        return _scaled(y, float(np.abs(sound).max(initial=1)))


def _new_pitch(f0: NDArray[np.float64], factor: float, melody: float) -> NDArray[np.float64]:
    voiced = f0 > 0
    if not voiced.any():
        return f0
    moved = f0.copy()
    middle = np.exp(np.log(f0[voiced]).mean())
    moved[voiced] = np.clip(middle * factor * (f0[voiced] / middle) ** melody, 55, 500)
    return moved


def _stretched(spectra: NDArray[np.float64], factor: float) -> NDArray[np.float64]:
    """Each row (a spectrum) stretched along frequency, which is what a shorter vocal tract does."""
    bins = spectra.shape[1]
    source = np.minimum(np.arange(bins) / factor, bins - 1)
    below = source.astype(int)
    above, share = np.minimum(below + 1, bins - 1), source - below
    return np.ascontiguousarray(spectra[:, below] * (1 - share) + spectra[:, above] * share)


def in_a_room(sound: Samples, draw: np.random.Generator) -> Samples:
    """``sound`` with the reverberation of a small random room: early reflections, then a diffuse decaying tail."""
    seconds = float(draw.uniform(0.1, 0.6))
    count = round(seconds * SAMPLE_RATE)
    time = np.arange(count) / SAMPLE_RATE
    tail = draw.normal(0, 1, count) * np.exp(-6.9 * time / seconds)
    tail[: round(0.004 * SAMPLE_RATE)] = 0.0
    early = draw.integers(round(0.002 * SAMPLE_RATE), round(0.02 * SAMPLE_RATE), 5)
    tail[early[early < count]] += draw.normal(0, 6, len(early[early < count]))
    response = float(draw.uniform(0.1, 0.9)) * tail / np.sqrt(np.square(tail).sum())
    response[0] += 1.0
    size = len(sound) + count
    wet = np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(response, size), size)[: len(sound) + count // 3]
    return _scaled(wet, float(np.abs(sound).max(initial=1)))


def noise(count: int, draw: np.random.Generator) -> NDArray[np.float64]:
    """Noise of unit power, float64[count]: anything from rumble to hiss, with a slow swell, sometimes with hum."""
    size = 1 << max(1, count - 1).bit_length()
    frequencies = np.fft.rfftfreq(size, 1 / SAMPLE_RATE)
    shape = 1.0 / np.maximum(frequencies, 40.0) ** draw.uniform(0.0, 1.2)
    shape[frequencies > draw.uniform(2_000, 8_000)] *= draw.uniform(0.05, 1.0)
    made = np.fft.irfft(shape * np.fft.rfft(draw.normal(0, 1, size)), size)[:count]
    time = np.arange(count) / SAMPLE_RATE
    made *= 1.0 + draw.uniform(0, 0.8) * np.sin(2 * np.pi * draw.uniform(0.1, 3.0) * time + draw.uniform(0, 6))
    if draw.random() < 0.3:
        hertz = draw.uniform(48, 400)
        made += made.std() * sum(np.sin(2 * np.pi * hertz * k * time) / k for k in (1, 2, 3))
    return made / max(1e-9, float(made.std()))


def degraded(sound: Samples, draw: np.random.Generator, easy: float = 0.25) -> Samples:
    """``sound`` as a microphone may get it: a room, a tone balance, noise, a level. A share ``easy`` stays clean."""
    if draw.random() >= easy and draw.random() < 0.7:
        sound = in_a_room(sound, draw)
    level = float(10 ** draw.uniform(-1.6, -0.1)) * 32767
    clean = _scaled(_tilted(sound, draw), level).astype(np.float64)
    ratio = draw.uniform(25, 45) if draw.random() < easy else draw.uniform(3, 30)
    loudness = float(np.sqrt(np.mean(np.square(clean)))) * 10 ** (-ratio / 20)
    mixed = clean + noise(len(clean), draw) * max(loudness, 2.0)
    return np.clip(np.rint(mixed), -32768, 32767).astype(np.int16)


def _tilted(sound: Samples, draw: np.random.Generator) -> NDArray[np.float64]:
    """Another microphone: a gentle slope of the spectrum."""
    slope = float(draw.uniform(-0.5, 0.5))
    x = sound.astype(np.float64)
    return x + slope * np.concatenate([[0.0], x[:-1]])


def _scaled(sound: NDArray[np.float64], peak: float) -> Samples:
    highest = float(np.abs(sound).max(initial=0.0))
    return np.clip(np.rint(sound * (peak / max(highest, 1e-9))), -32768, 32767).astype(np.int16)
