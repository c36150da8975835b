"""The microphone: frames at 16 kHz from whatever the hardware gives, and a listener that does not stay dead.

The PortAudio callback only puts blocks into a bounded queue. The thread that reads is the one that notices trouble (no
blocks, a stopped stream, digital silence, a clock that jumped over a suspend) and opens the device again with back-off.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from anovax.bus import Bus
from anovax.config import AudioConfig
from anovax.errors import AudioError
from anovax.events import DeviceRecovered, DeviceTroubled
from anovax.voice import FRAME, SAMPLE_RATE, Device, Devices, Samples, resampler

BLOCK_S = 0.02
QUEUE_S = 8.0
STALE_S = 1.0  # no block for so long: the device is gone
START_S = 4.0  # USB and Bluetooth microphones may take that long for the first block
SILENT_S = 6.0  # so much digital silence is no room
BACK_OFF_S = (0.1, 0.25, 0.5, 1.0)  # back within two seconds, however long it was gone
SUSPEND_S = 2.0


def sleep_clock() -> float:
    """Seconds that this machine has spent suspended since it was started (0 where the system does not tell)."""
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    return time.clock_gettime(boottime) - time.monotonic() if boottime is not None else 0.0


class Microphone:
    """Frames of one microphone. ``read`` belongs to one thread; ``close`` may be called from any.

    ``at`` is when the last frame that was read ended (monotonic seconds); ``lost`` counts blocks dropped because nobody
    read them in time. Publishes DeviceTroubled and DeviceRecovered, each once.
    """

    def __init__(
        self, config: AudioConfig, devices: Devices, bus: Bus, suspended: Callable[[], float] = sleep_clock
    ) -> None:
        self._config, self._devices, self._bus, self._suspended = config, devices, bus, suspended
        self._blocks: deque[tuple[float, Samples]] = deque(maxlen=round(QUEUE_S / BLOCK_S))
        self._ready = threading.Condition()
        self._rest = np.zeros(0, np.int16)
        self._stream: Any = None
        self._resampled = resampler(SAMPLE_RATE)
        self._closed = False
        self._slept = suspended()
        self._opened_at = self._heard_at = self._sounded_at = time.monotonic()
        self._fresh, self._tries, self._next_try = True, 0, 0.0
        self._trouble = ""
        self.device: Device | None = None
        self.rate = 0
        self.lost = 0
        self.at = self._heard_until = self._opened_at

    def read(self, timeout: float = 0.5) -> Samples | None:
        """The next frame (int16[1280], 16 kHz), or None when none came within ``timeout`` seconds or it is closed."""
        end = time.monotonic() + timeout
        while not self._closed:
            self._supervise()
            if len(self._rest) < FRAME:
                self._take(max(0.0, min(0.1, end - time.monotonic())))
            if len(self._rest) >= FRAME:
                frame, self._rest = self._rest[:FRAME], self._rest[FRAME:]
                self.at = self._heard_until - len(self._rest) / SAMPLE_RATE
                return frame
            if time.monotonic() >= end:
                return None
        return None

    def flush(self) -> None:
        """Drop what was recorded and not yet read."""
        with self._ready:
            self._blocks.clear()
        self._rest = self._rest[:0]

    def close(self) -> None:
        """Stop recording. Safe twice."""
        self._closed = True
        with self._ready:
            self._ready.notify_all()
        self._shut()

    # --- recording ----------------------------------------------------------------------------------------------------

    def _callback(self, data: Samples, frames: int, when: Any, status: Any) -> None:
        with self._ready:
            self.lost += len(self._blocks) == self._blocks.maxlen
            self._heard_at = time.monotonic()  # here, not where it is read: a busy reader is no dead microphone
            self._blocks.append((self._heard_at, data.copy()))
            self._ready.notify()

    def _take(self, wait_s: float) -> None:
        with self._ready:
            if not self._blocks:
                self._ready.wait(wait_s)
            blocks = list(self._blocks)
            self._blocks.clear()
        if blocks:
            self._heard(blocks[-1][0], np.concatenate([_mono(block) for _, block in blocks]))

    def _heard(self, at: float, samples: Samples) -> None:
        self._heard_until = at
        self._fresh, self._tries = False, 0
        if int(samples.max()) - int(samples.min()) > 1:
            self._sounded_at = at
        self._rest = np.concatenate([self._rest, self._resampled(samples)])

    # --- staying alive ------------------------------------------------------------------------------------------------

    def _supervise(self) -> None:
        now = time.monotonic()
        if self._stream is None:
            if now >= self._next_try:
                self._reopen(now)
        elif problem := self._problem(now):
            self._troubled(problem, "it is tried again until it works")
            self._shut()
            self._next_try = now
        else:
            self._watch_silence()

    def _problem(self, now: float) -> str:
        slept, self._slept = self._suspended() - self._slept, self._suspended()
        if slept > SUSPEND_S:
            return f"the computer slept for {slept:.0f} s"
        if not self._stream.active:
            return "it has stopped"
        if now - self._heard_at > (START_S if self._fresh else STALE_S):
            return "it gives no sound any more"
        return ""

    def _watch_silence(self) -> None:
        silent = self._heard_until - self._sounded_at > SILENT_S and not self._fresh
        if silent and not self._trouble:
            self._troubled("it gives digital silence", self._silence_fix())
        elif self._trouble and not self._fresh and not silent:
            self._recovered()

    def _silence_fix(self) -> str:
        source = pulse_default_source()
        others = [
            d.name
            for d in self._devices.list("input")
            if self.device and d.index != self.device.index and not d.monitor
        ]
        why = (
            f"the input is {source}, which is a loudspeaker's monitor"
            if source.endswith(".monitor")
            else "it may be muted"
        )
        choice = f"; choose another: {', '.join(others)} (setting audio.input_device)" if others else ""
        return why + choice

    def _reopen(self, now: float) -> None:
        if self._tries >= 2:  # looking for devices anew ends other streams too, so only when plain opening did not help
            self._devices.refresh()
        try:
            self.device = self._choose()
            self._stream = self._devices.open("input", self.device, (SAMPLE_RATE, 48_000), self._callback, BLOCK_S)
        except AudioError as error:
            self._troubled(error.problem, error.fix)
            self._next_try = now + BACK_OFF_S[min(self._tries, len(BACK_OFF_S) - 1)]
            self._tries += 1
            return
        self.rate = round(self._stream.samplerate)
        self._resampled = resampler(self.rate)
        self._fresh = True
        self._opened_at = self._heard_at = self._heard_until = self._sounded_at = time.monotonic()

    def _choose(self) -> Device:
        try:
            return self._devices.choose("input", self._config.input_device)
        except AudioError:
            if not self._config.input_device or self._tries < 2:
                raise
            return self._devices.choose("input")  # better another microphone than none; the event names it

    def _shut(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            self._devices.close(stream, 0.5)

    def _troubled(self, problem: str, fix: str) -> None:
        if self._trouble:
            return
        self._trouble = problem
        name = self.device.name if self.device else self._config.input_device or "microphone"
        self._bus.publish(DeviceTroubled(device=name, problem=problem, fix=fix))

    def _recovered(self) -> None:
        self._trouble = ""
        self._bus.publish(DeviceRecovered(device=self.device.name if self.device else "microphone"))


def pulse_default_source() -> str:
    """The name of PulseAudio's or PipeWire's default source, empty when it cannot be asked."""
    try:
        done = subprocess.run(["pactl", "get-default-source"], capture_output=True, text=True, timeout=2, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def _mono(block: Samples) -> Samples:
    if block.ndim == 1 or block.shape[1] == 1:
        return block.reshape(-1)
    mono: Samples = block.astype(np.int32).mean(axis=1).astype(np.int16)
    return mono
