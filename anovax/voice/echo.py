"""The assistant's own voice taken out of what the microphone hears.

A frequency-domain adaptive filter (Shynk 1992, IEEE Signal Processing Magazine 9(1): overlap-save, normalised per bin)
learns the way from loudspeaker to microphone and subtracts what it predicts. It learns only where prediction and
microphone agree, so that a person who talks at the same time does not spoil it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from anovax.errors import AudioError
from anovax.voice import FRAME, SAMPLE_RATE, Detection, Played, Samples

TAPS = 4096  # 256 ms of room and driver delay
SIZE = 8192
STEP = 0.5
LEAD_S = 0.04  # the reference is taken this much earlier than the clocks say, so that the filter stays causal
HISTORY_S = 12.0
OWN_WORD_SCORE = 0.1
OWN_WORD_S = 2.5


class Reference:
    """What was played, on the clock of the microphone: a ring of the last 12 s at 16 kHz."""

    def __init__(self) -> None:
        self._ring = np.zeros(round(HISTORY_S * SAMPLE_RATE), np.float32)
        self._origin: float | None = None
        self._end = 0  # sample index up to which the ring is written

    def add(self, at: float, samples: Samples) -> None:
        """int16[n] left at ``at`` (monotonic seconds). Stretches that nearly touch are joined without a seam."""
        if self._origin is None:
            self._origin, self._end = at, 0
        start = round((at - self._origin) * SAMPLE_RATE)
        if abs(start - self._end) < SAMPLE_RATE // 25:
            start = self._end
        self._write(start, samples.astype(np.float32))

    def around(self, at: float, count: int) -> NDArray[np.float32]:
        """The ``count`` samples that end at ``at``; zeros where nothing was played."""
        if self._origin is None:
            return np.zeros(count, np.float32)
        end = round((at - self._origin) * SAMPLE_RATE)
        index = np.arange(end - count, end)
        known = (index >= max(0, self._end - len(self._ring))) & (index < self._end)
        return np.where(known, self._ring[index % len(self._ring)], np.float32(0))

    def _write(self, start: int, sound: NDArray[np.float32]) -> None:
        size = len(self._ring)
        if start > self._end:
            gap = np.arange(max(self._end, start - size), start)
            self._ring[gap % size] = 0.0
        sound = sound[-size:]
        self._ring[np.arange(start, start + len(sound)) % size] = sound
        self._end = max(self._end, start + len(sound))


class EchoCanceller:
    """Give each microphone frame and the reference that belongs to it; get the frame without the echo.

    ``suppression_db`` is how much of the last frame's power was taken away.
    """

    def __init__(self) -> None:
        self._weights = np.zeros(SIZE // 2 + 1, np.complex64)
        self._power = np.full(SIZE // 2 + 1, 1e3, np.float32)
        self.suppression_db = 0.0

    def clean(self, frame: Samples, reference: NDArray[np.float32]) -> Samples:
        """``frame`` int16[1280]; ``reference`` float32[8192] that ends where the frame ends (16 kHz, int16 scale)."""
        spectrum = np.fft.rfft(reference)
        energy = float(np.dot(reference, reference)) / SIZE
        if energy < 1.0:
            self.suppression_db = 0.0
            return frame
        echo = np.fft.irfft(spectrum * self._weights, SIZE)[-FRAME:]
        sound: NDArray[Any] = frame.astype(np.float32)
        error: NDArray[Any] = sound - echo
        before, after = float(np.dot(sound, sound)) + 1.0, float(np.dot(error, error)) + 1.0
        self._learn(spectrum, error, before, after)
        if after > before:  # a prediction that makes it worse is not used
            error, after = sound, before
        self.suppression_db = 10.0 * float(np.log10(before / after))
        cleaned: Samples = np.clip(np.rint(error), -32768, 32767).astype(np.int16)
        return cleaned

    def _learn(self, spectrum: NDArray[Any], error: NDArray[Any], before: float, after: float) -> None:
        power = np.square(np.abs(spectrum)).astype(np.float32)
        self._power = np.maximum(power, 0.8 * self._power + 0.2 * power)
        padded = np.zeros(SIZE, np.float32)
        padded[-FRAME:] = error
        step = STEP * (0.25 if after > 4.0 * before else 1.0)
        gradient = np.conj(spectrum) * np.fft.rfft(padded) / (self._power + 1e-3 * float(self._power.max()) + 1e3)
        taps = np.fft.irfft(self._weights + step * gradient, SIZE)
        taps[TAPS:] = 0.0  # the constraint that keeps the convolution linear
        self._weights = np.fft.rfft(taps).astype(np.complex64)


class Loudspeaker(Protocol):
    """What is needed of anovax.voice.playback.Playback."""

    def heard(self) -> list[Played]: ...

    def busy(self, tail_s: float = ...) -> bool: ...

    def queue(self, samples: Samples, rate: int) -> int: ...


class Wake(Protocol):
    """A wake detector of its own for the reference, without a gate."""

    score: float

    def feed(self, frame: Samples) -> Detection | None: ...


class OwnVoice:
    """What the assistant makes audible, taken out of what it hears.

    ``wake`` listens to the reference: where the assistant itself says the wake phrase, the microphone's detector is not
    believed. ``interrupt`` silences the speaker; ``earcon`` (int16[n], 16 kHz) is the sign that it listens.
    """

    def __init__(
        self,
        playback: Loudspeaker,
        wake: Wake | None,
        interrupt: Callable[[], None],
        earcon: Samples | None = None,
    ) -> None:
        self._playback, self._wake, self._interrupt, self._earcon = playback, wake, interrupt, earcon
        self._reference, self._canceller = Reference(), EchoCanceller()
        self._rest = np.zeros(0, np.int16)
        self._own_word_at = -100.0

    def clean(self, frame: Samples, at: float) -> Samples:
        """``frame`` (int16[1280]) that ended ``at`` (monotonic seconds) without the assistant's own sound."""
        for played in self._playback.heard():
            self._reference.add(played.at, played.samples)
            self._look_for_own_word(played)
        if not self._playback.busy(tail_s=0.6):
            return frame
        return self._canceller.clean(frame, self._reference.around(at + LEAD_S, SIZE))

    def said_wake_word(self) -> bool:
        """Whether the assistant itself said something like the wake word within the last seconds."""
        return time.monotonic() - self._own_word_at < OWN_WORD_S

    def audible(self) -> bool:
        return self._playback.busy(tail_s=0.4)

    def interrupt(self) -> None:
        self._interrupt()

    def earcon(self) -> None:
        """Give the sign, if there is one and a loudspeaker."""
        if self._earcon is not None:
            with contextlib.suppress(AudioError):
                self._playback.queue(self._earcon, SAMPLE_RATE)

    def _look_for_own_word(self, played: Played) -> None:
        if self._wake is None:
            return
        sound = np.concatenate([self._rest, played.samples])
        whole = len(sound) // FRAME * FRAME
        self._rest = sound[whole:]
        for frame in sound[:whole].reshape(-1, FRAME):
            self._wake.feed(frame)
            if self._wake.score > OWN_WORD_SCORE:
                self._own_word_at = time.monotonic()
