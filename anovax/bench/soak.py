"""Hours of speech, noise and commands played into the voice loop, faster than life: what it missed, invented, and kept.

All real but the microphone: wake word, endpoint, speech to text and the loop, fed frame by frame. The next frame waits
for the recogniser, which in life has the time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path

import numpy as np
import psutil
from pydantic import BaseModel, ConfigDict

from anovax.bus import Bus
from anovax.config import Config
from anovax.sound import build_speaker, build_transcriber, build_wake, wake_phrase
from anovax.voice import SAMPLE_RATE, Samples, resampled
from anovax.voice.endpoint import Endpointer
from anovax.voice.loop import VoiceLoop
from anovax.voice.vad import SileroVad
from anovax.voice.wake import frames_of

COMMANDS = ("open the calculator", "take a screenshot", "close the window", "what time is it", "scroll down please")
CHATTER = (
    "I told her that we would be late for dinner again.",
    "And then the train stopped in the middle of nowhere.",
    "The weather will be fine until the end of the week.",
)
ROOM_LEVEL, NOISE_LEVEL = 12.0, 900.0  # RMS in int16 steps
NOISE_S = 4.0


class Moment(BaseModel):
    """After ``at_s`` seconds of sound: resident memory, threads, and CPU time per time of sound since the last one."""

    model_config = ConfigDict(frozen=True)

    at_s: float
    memory_mb: float
    threads: int
    cpu_percent: float


class Soak(BaseModel):
    """``missed``: commands that did not become their text; ``invented``: texts and stops that nobody had asked for."""

    model_config = ConfigDict(frozen=True)

    seconds: float
    commands: int
    missed: tuple[str, ...]
    invented: tuple[str, ...]
    moments: tuple[Moment, ...]

    @property
    def grown_mb(self) -> float:
        """The most memory in the second half, beyond the most in the second quarter."""
        memory, quarter = [moment.memory_mb for moment in self.moments], len(self.moments) // 4
        return max(memory[2 * quarter :]) - max(memory[quarter : 2 * quarter + 1])


def run(config: Config, seconds: float, tell: Callable[[str], None] = lambda line: None, seed: int = 11) -> Soak:
    """At least ``seconds`` of sound, a command in about every quarter of a minute; ``tell`` hears how far it is."""
    with ExitStack() as stack:
        listener = _Listener(config, stack)
        draw, missed, invented, moments, count = np.random.default_rng(seed), list[str](), list[str](), [], 0
        for command, chatter in zip(cycle(COMMANDS), cycle(CHATTER), strict=False):
            if listener.heard_s >= seconds:
                break
            invented += listener.hear(_noise(draw), listener.say(chatter), 1.5)
            pause = float(draw.uniform(0.1, 1.2))
            texts = listener.hear(listener.say(listener.phrase), pause, listener.say(command), 2.5)
            missed += [] if command.replace(" ", "") in map(_letters, texts) else [command]
            invented += [text for text in texts if _letters(text) != command.replace(" ", "")]
            count += 1
            moments.append(listener.moment())
            tell(f"{moments[-1].at_s:.0f} s of sound, {moments[-1].memory_mb:.0f} MB, {len(missed)} missed")
        return Soak(
            seconds=round(listener.heard_s, 1),
            commands=count,
            missed=tuple(missed),
            invented=tuple(invented),
            moments=tuple(moments),
        )


class _Listener:
    """The voice loop and what came out of it."""

    def __init__(self, config: Config, stack: ExitStack) -> None:
        self._speaker = build_speaker(config, None)
        stack.callback(self._speaker.close)
        transcriber = build_transcriber(config)
        stack.callback(transcriber.close)
        self.phrase = wake_phrase(config)
        self._texts: list[str] = []
        self._said: dict[str, Samples] = {}
        self.heard_s = 0.0
        self._loop = VoiceLoop(
            _NoMicrophone(),
            build_wake(config),
            Endpointer(config.endpoint, SileroVad()),
            Endpointer.for_interjections(SileroVad()),
            transcriber,
            Bus(),
            on_text=lambda text, samples: self._texts.append(text),
            on_stop=lambda: self._texts.append("stop"),
            phrase=self.phrase,
        )
        stack.callback(self._loop.close)
        self._room = np.random.default_rng(1)
        self._process = psutil.Process()
        self.hear(1.0)
        self._then = (self.heard_s, time.process_time())

    def say(self, text: str) -> Samples:
        if text not in self._said:
            self._said[text] = resampled(*self._speaker.synthesise(text))
        return self._said[text]

    def hear(self, *parts: Samples | float) -> list[str]:
        """Play sounds and seconds of silence in a quiet room; the texts that came of them."""
        sounds = [np.zeros(round(p * SAMPLE_RATE), np.int16) if isinstance(p, float) else p for p in parts]
        for frame in frames_of(sounds):
            noisy = frame + self._room.normal(0, ROOM_LEVEL, len(frame))
            self._loop.feed(noisy.clip(-32768, 32767).astype(np.int16))
            while self._loop.waiting_for_text:
                time.sleep(0.002)
            self.heard_s += len(frame) / SAMPLE_RATE
        texts, self._texts = self._texts, []
        return texts

    def moment(self) -> Moment:
        (then_s, cpu), now_s = self._then, self.heard_s
        self._then = (now_s, time.process_time())
        return Moment(
            at_s=round(now_s, 1),
            memory_mb=round(self._process.memory_info().rss / 1e6, 1),
            threads=threading.active_count(),
            cpu_percent=round(100 * (self._then[1] - cpu) / (now_s - then_s), 1),
        )


class _NoMicrophone:
    at = 0.0

    def read(self, timeout: float = 0.5) -> Samples | None:
        return None

    def close(self) -> None: ...


def _noise(draw: np.random.Generator) -> Samples:
    """A fan, three knocks, or a chord."""
    count, kind = round(NOISE_S * SAMPLE_RATE), int(draw.integers(3))
    t = np.arange(count) / SAMPLE_RATE
    if kind == 0:
        sound = np.convolve(draw.normal(0, NOISE_LEVEL, count), np.ones(8) / 3, "same")
    elif kind == 1:
        sound = 9 * NOISE_LEVEL * draw.normal(0, 1, count) * np.exp(-(t % 1.1) / 0.05)
    else:
        sound = NOISE_LEVEL * np.sin(2 * np.pi * np.outer((220, 277, 330), t)).sum(axis=0)
    noise: Samples = sound.clip(-32768, 32767).astype(np.int16)
    return noise


def _letters(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


def plot(soak: Soak, path: Path) -> None:
    """Memory and CPU over the sound that was heard, as a picture."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, (above, below) = plt.subplots(2, sharex=True, figsize=(7, 5))
    minutes = [moment.at_s / 60 for moment in soak.moments]
    for axes, name, label in ((above, "memory_mb", "memory (MB)"), (below, "cpu_percent", "CPU (% of a core)")):
        values = [getattr(moment, name) for moment in soak.moments]
        axes.plot(minutes, values)
        axes.set(ylabel=label, ylim=(0, 1.2 * max(values)))
        axes.grid(alpha=0.3)
    below.set(xlabel="sound heard (minutes)")
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
