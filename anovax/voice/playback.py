"""The loudspeaker: what is queued is played without gaps, and silence comes at once when it must.

What is played is kept as a reference, so that the listener can tell its own voice from others.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from anovax.config import AudioConfig
from anovax.voice import SAMPLE_RATE, Devices, Played, Samples, resampled

RATES = (48_000, 44_100)
BLOCK_S = 0.01
IDLE_S = 8.0
REFERENCE_S = 20.0
STUCK_S = 2.0


class Playback:
    """One loudspeaker. Thread-safe. The stream is opened when something is to be played and closed when it was idle.

    Raises AudioError when no loudspeaker can be opened.
    """

    def __init__(self, config: AudioConfig, devices: Devices) -> None:
        self._config, self._devices = config, devices
        self._lock = threading.Condition()
        self._opening = threading.Lock()
        self._queue: deque[Samples] = deque()
        self._head = 0  # samples of the first queued block that are already out
        self._queued = self._out = 0  # samples since the start, at the device's rate
        self._busy_at = self._called_at = self._paused_until = 0.0
        self._stream: Any = None
        self._generation = -1
        self._reference: deque[Played] = deque(maxlen=2000)
        self.rate = RATES[0]
        self.latency_s = 0.0

    def prepare(self) -> None:
        """Open the loudspeaker now, so that the first sound does not wait for it."""
        with self._opening:
            if self._alive():
                return
            self._shut()
            device = self._devices.choose("output", self._config.output_device)
            self._busy_at = self._called_at = time.monotonic()
            self._generation = self._devices.generation
            self._stream = self._devices.open("output", device, RATES, self._callback, BLOCK_S)
            self.rate = round(self._stream.samplerate)
            self.latency_s = float(self._stream.latency)

    def queue(self, samples: Samples, rate: int) -> int:
        """Play int16[n] at ``rate`` after what is queued; returns the position (see ``position``) where it will end."""
        self.prepare()
        sound = resampled(samples, rate, self.rate)
        with self._lock:
            if len(sound):
                self._queue.append(sound)
            self._queued += len(sound)
            return self._queued

    def position(self) -> int:
        """How many samples have gone out so far, at ``rate``."""
        with self._lock:
            return self._out

    def ahead_s(self) -> float:
        """Seconds of sound that are queued and not yet out."""
        with self._lock:
            return (self._queued - self._out) / self.rate

    def wait(self, until: int, stopped: Callable[[], bool] = lambda: False, ahead_s: float = 0.0) -> bool:
        """Wait until ``until`` is at most ``ahead_s`` away. False when stopped, flushed, or the loudspeaker is gone."""
        while True:
            with self._lock:
                if self._out >= until - ahead_s * self.rate:
                    return True
                if stopped() or self._queued < until:
                    return False
                self._lock.wait(0.02)
            if time.monotonic() - self._called_at > STUCK_S or not self._alive():
                self.flush()
                self._shut()
                return False

    def flush(self) -> int:
        """Silence now: drop what is queued; returns the position reached."""
        with self._lock:
            self._queue.clear()
            self._head = 0
            self._queued, self._paused_until = self._out, 0.0
            self._lock.notify_all()
            return self._out

    def pause(self, seconds: float) -> None:
        """Be silent for ``seconds`` and then go on from there; 0: go on now. ``flush`` ends it, too."""
        with self._lock:
            self._paused_until = time.monotonic() + seconds

    def busy(self, tail_s: float = 0.0) -> bool:
        """Whether something is being played, or was within the last ``tail_s`` seconds."""
        with self._lock:
            return self._queued > self._out or time.monotonic() - self._busy_at < tail_s

    def heard(self) -> list[Played]:
        """Take what has been played since the last call, at 16 kHz, oldest first (the last 20 s at most)."""
        with self._lock:
            blocks = list(self._reference)
            self._reference.clear()
        return [Played(b.at, resampled(b.samples, self.rate)) for b in _merged(blocks, self.rate)]

    def close(self) -> None:
        """Silence and let the device go. Safe twice."""
        self.flush()
        with self._opening:
            self._shut()

    def _callback(self, out: Samples, frames: int, when: Any, status: Any) -> None:
        with self._lock:
            now = self._called_at = time.monotonic()
            done = self._fill(out[:, 0], frames if now >= self._paused_until else 0)
            out[:, 1:] = out[:, :1]
            if done:
                self._busy_at = now
                self._reference.append(Played(now + self.latency_s, out[:done, 0].copy()))
                self._lock.notify_all()
            idle = now - self._busy_at > IDLE_S
        if idle:
            raise self._devices.stop_stream

    def _fill(self, out: Samples, frames: int) -> int:
        done = 0
        while self._queue and done < frames:
            block = self._queue[0][self._head : self._head + frames - done]
            out[done : done + len(block)] = block
            done += len(block)
            self._head += len(block)
            if self._head >= len(self._queue[0]):
                self._queue.popleft()
                self._head = 0
        out[done:] = 0
        self._out += done
        return done

    def _alive(self) -> bool:
        return self._stream is not None and self._stream.active and self._generation == self._devices.generation

    def _shut(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None and self._generation == self._devices.generation:
            self._devices.close(stream, 0.5)


def tone(hertz: float, seconds: float, rate: int = SAMPLE_RATE, level: float = 0.2) -> Samples:
    """A sine with soft edges, int16[seconds * rate]."""
    t = np.arange(round(seconds * rate)) / rate
    edge = np.minimum(1.0, np.minimum(t, t[::-1]) / 0.01)
    return np.rint(np.sin(2 * np.pi * hertz * t) * edge * level * 32767).astype(np.int16)


def _merged(blocks: list[Played], rate: int) -> list[Played]:
    """Join blocks that follow each other without a gap."""
    groups: list[list[Played]] = []
    end = -1.0
    for block in blocks:
        if groups and abs(block.at - end) < 0.05:
            groups[-1].append(block)
            end += len(block.samples) / rate
        else:
            groups.append([block])
            end = block.at + len(block.samples) / rate
    return [Played(group[0].at, np.concatenate([b.samples for b in group])) for group in groups]
