"""The assistant's own voice taken out of what the microphone hears.

A frequency-domain adaptive filter (Shynk 1992, IEEE Signal Processing Magazine 9(1): overlap-save, normalised per bin)
learns the way from loudspeaker to microphone and subtracts what it predicts. It learns from the last few frames again,
and only where prediction and microphone agree, so that a person who talks at the same time does not spoil it.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from anovax.errors import AudioError
from anovax.voice import FRAME, SAMPLE_RATE, Detection, Played, Samples

TAPS = 4096  # 256 ms of room and driver delay
SIZE = 8192
BINS = SIZE // 2 + 1
REUSE = 4
HOLD = 20  # frames for which learning may pause
LEAD_S = 0.04  # the reference is taken this much earlier than the clocks say, so that the filter stays causal
HISTORY_S = 12.0
KNOWN = 12  # frames of its own voice after which it is known how much of that is usually left
OVER_DB = 10.0  # so much more than usual is somebody else
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

    ``suppression_db`` is how much of the last frame's power was taken away; ``talked_over`` whether more was left of it
    than is usually left of the assistant's own voice.
    """

    def __init__(self) -> None:
        self._weights: NDArray[Any] = np.zeros(BINS, np.complex128)
        self._power: NDArray[Any] = np.full(BINS, 1e3)
        self._recent: deque[tuple[NDArray[Any], NDArray[Any]]] = deque(maxlen=REUSE)
        self._leak = 1.0  # how much of the echo is left, as learnt so far
        self._held = 0
        self._played = 0.0  # power, with a slow decay: rooms answer late
        self._usual_db, self._known, self._over = -100.0, 0, 0  # what is left, relative to what was played
        self.suppression_db = 0.0
        self.talked_over = False

    def clean(self, frame: Samples, reference: NDArray[np.float32]) -> Samples:
        """``frame`` int16[1280]; ``reference`` float32[8192] that ends where the frame ends (16 kHz, int16 scale)."""
        played = float(np.dot(reference, reference))
        if played / SIZE < 1.0:
            self.suppression_db, self.talked_over = 0.0, True
            return frame
        sound: NDArray[Any] = frame.astype(np.float64)
        spectrum = np.fft.rfft(reference)
        echo = self._predict(spectrum)
        error = sound - echo
        before, after = _energy(sound), _energy(error)
        self._played = max(played, 0.7 * self._played)
        left_db = 10.0 * float(np.log10(min(before, after) / self._played))
        more = self._known >= KNOWN and left_db > self._usual_db + OVER_DB
        self.talked_over = more and not _alike(error, echo)  # an echo grown louder is more of the same
        self._get_used_to(left_db)
        if self._may_learn(before, after):
            self._learn(spectrum, sound)
        if after > before:  # a prediction that makes it worse is not used
            error, after = sound, before
        self.suppression_db = 10.0 * float(np.log10(before / after))
        cleaned: Samples = np.clip(np.rint(error), -32768, 32767).astype(np.int16)
        return cleaned

    def _may_learn(self, before: float, after: float) -> bool:
        """Not while much more is left than usual: somebody else is talking. Not for ever: rooms change."""
        left = after / before
        if (self.talked_over or left > 6.0 * self._leak) and self._held < HOLD:
            self._held += 1
            return False
        self._held = 0
        self._leak = min(1.0, 0.9 * self._leak + 0.1 * left)
        return True

    def _get_used_to(self, left_db: float) -> None:
        """Follow what is left at its loudest, up soon and down slowly. Somebody else is left out, but not for ever."""
        self._over = self._over + 1 if self.talked_over else 0
        if not 0 < self._over <= HOLD:
            self._known += 1
            self._usual_db += (0.3 if left_db > self._usual_db else 0.1) * (left_db - self._usual_db)

    def _learn(self, spectrum: NDArray[Any], sound: NDArray[Any]) -> None:
        """One step for this frame and one more for each of the last few: sound is short, and they cost little."""
        self._power = 0.8 * self._power + 0.2 * np.square(np.abs(spectrum))
        self._recent.append((spectrum, sound))
        for far, near in reversed(self._recent):
            error = np.zeros(SIZE)
            error[-FRAME:] = near - self._predict(far)
            power = np.maximum(self._power, np.square(np.abs(far)))
            gradient = np.conj(far) * np.fft.rfft(error) / (power + 1e-4 * power.max() + 1e3)
            taps = np.fft.irfft(self._weights + gradient, SIZE)
            taps[TAPS:] = 0.0  # the constraint that keeps the convolution linear
            self._weights = np.fft.rfft(taps)

    def _predict(self, spectrum: NDArray[Any]) -> NDArray[Any]:
        echo: NDArray[Any] = np.fft.irfft(spectrum * self._weights, SIZE)[-FRAME:]
        return echo


def _energy(sound: NDArray[Any]) -> float:
    return float(np.dot(sound, sound)) + 1.0


def _alike(sound: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether one is mostly a multiple of the other."""
    return float(np.dot(sound, other)) ** 2 > 0.4 * _energy(sound) * _energy(other)


class Loudspeaker(Protocol):
    """What is needed of anovax.voice.playback.Playback."""

    def heard(self) -> list[Played]: ...

    def busy(self, tail_s: float = ...) -> bool: ...

    def queue(self, samples: Samples, rate: int) -> int: ...

    def pause(self, seconds: float) -> None: ...


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
        self._now = 0.0

    def clean(self, frame: Samples, at: float) -> Samples:
        """``frame`` (int16[1280]) that ended ``at`` (monotonic seconds) without the assistant's own sound."""
        self._now = at
        for played in self._playback.heard():
            self._reference.add(played.at, played.samples)
            self._look_for_own_word(played)
        if not self._playback.busy(tail_s=0.6):
            return frame
        return self._canceller.clean(frame, self._reference.around(at + LEAD_S, SIZE))

    def said_wake_word(self) -> bool:
        """Whether the assistant itself said something like the wake word within the last seconds."""
        return self._now - self._own_word_at < OWN_WORD_S

    def audible(self) -> bool:
        return self._playback.busy(tail_s=0.4)

    def talked_over(self) -> bool:
        """Whether the last frame held more than can be left of its own voice: somebody else speaks."""
        return self._canceller.talked_over

    def pause(self, seconds: float) -> None:
        """Be silent for at most so long; 0 goes on."""
        self._playback.pause(seconds)

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
                self._own_word_at = played.at + len(played.samples) / SAMPLE_RATE


class NoVoice:
    """An OwnVoice for a machine without a loudspeaker."""

    def clean(self, frame: Samples, at: float) -> Samples:
        return frame

    def said_wake_word(self) -> bool:
        return False

    def audible(self) -> bool:
        return False

    def talked_over(self) -> bool:
        return False

    def pause(self, seconds: float) -> None: ...

    def interrupt(self) -> None: ...

    def earcon(self) -> None: ...
