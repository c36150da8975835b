"""Examples for the network: short scenes with the phrase, with near phrases, with other speech, with noise alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anovax.training.phrases import COMMANDS
from anovax.training.sounds import Vocoder, degraded, noise, trimmed
from anovax.training.voices import Choir, Voice
from anovax.voice import FRAME, SAMPLE_RATE, Samples, to_int16
from anovax.voice.audio import load_audio
from anovax.voice.wake import Features, frames_of

DEPTH = 16  # embeddings that the network sees: 1.28 s of them, each of the last 0.78 s
LEAD_S = 2.1  # a window that ends with the phrase reaches back this far
HEARD_S = 0.32  # for so long after its end the phrase counts as just heard
EARLY_S, LATE_S = 0.25, 0.45  # and so long around that nothing is claimed
TAKES = 6
VOCODED = 0.65  # of the phrase and of near phrases; of other speech less, for it is long
VOCODED_SPEECH = 0.2
MAX_RECORDING_S = 3600.0

Kind = Literal["phrase", "near", "speech", "noise", "recording"]


@dataclass(frozen=True)
class Scene:
    """What to make: ``texts`` in one ``voice`` (for noise: nothing said), everything else drawn from ``seed``.

    ``recording``: a file to take as it is.
    """

    kind: Kind
    seed: int
    voice: Voice | None = None
    texts: tuple[str, ...] = ()
    recording: str = ""


@dataclass(frozen=True)
class Example:
    """Embeddings float32[n, 96], one per frame, and what holds at the end of each: int8[n], 1 the phrase has just been
    said, 0 it has not, -1 neither."""

    scene: Scene
    embeddings: NDArray[np.float32]
    labels: NDArray[np.int8]


class Maker:
    """Makes examples. One thread; a process of its own each, so that all cores work."""

    def __init__(self, choir: Choir, features_dir: Path) -> None:
        self._choir, self._features, self._vocoder = choir, Features(features_dir), Vocoder()
        self._say = lru_cache(maxsize=3_000)(self._spoken)

    def make(self, scene: Scene) -> Example:
        """The example of a scene. Raises AudioError."""
        sound, end = self.sound(scene)
        return Example(scene, self._embedded(sound), _labels(len(sound), end))

    def sound(self, scene: Scene) -> tuple[Samples, int | None]:
        """What is heard, int16[n], and where the phrase ends in it (None: it is not said)."""
        draw = np.random.default_rng(scene.seed)
        if scene.kind == "recording":
            return to_int16(load_audio(scene.recording, MAX_RECORDING_S)), None
        if scene.kind == "noise":
            return to_int16((noise(6 * SAMPLE_RATE, draw) * 10 ** draw.uniform(-3, -0.8)).astype(np.float32)), None
        assert scene.voice is not None
        if scene.kind == "phrase":
            return self._with_phrase(scene.voice, scene.texts[0], draw)
        share = VOCODED if scene.kind == "near" else VOCODED_SPEECH
        said = [self._varied(scene.voice, text, draw, share) for text in scene.texts]
        gaps = [_silence(draw.uniform(0.2, 0.9)) for _ in said]
        whole = np.concatenate([_silence(1.0), *(x for pair in zip(said, gaps, strict=True) for x in pair)])
        return degraded(whole, draw), None

    def _with_phrase(self, voice: Voice, text: str, draw: np.random.Generator) -> tuple[Samples, int]:
        said = self._varied(voice, text, draw, VOCODED)
        lead = _silence(max(0.4, LEAD_S - len(said) / SAMPLE_RATE))
        after = _silence(float(draw.uniform(0.7, 1.0)))
        if draw.random() < 0.4:  # in one breath with a command
            command = self._varied(voice, COMMANDS[int(draw.integers(len(COMMANDS)))], draw, 0.0)
            after = np.concatenate([_silence(float(draw.uniform(0.03, 0.3))), command[: round(0.8 * SAMPLE_RATE)]])
        if draw.random() < 0.25:  # somebody was speaking before
            before = self._varied(voice, COMMANDS[int(draw.integers(len(COMMANDS)))], draw, 0.0)[-len(lead) :]
            lead[-len(before) :] = before
            lead[-round(0.15 * SAMPLE_RATE) :] = 0
        whole = np.concatenate([lead, said, after])
        return degraded(whole, draw), len(lead) + len(said)

    def _varied(self, voice: Voice, text: str, draw: np.random.Generator, share: float) -> Samples:
        said = self._say(voice, text, int(draw.integers(TAKES)))
        if len(said) > SAMPLE_RATE // 5 and draw.random() < share:
            said = trimmed(self._vocoder.other_speaker(said, draw))
        return said

    def _spoken(self, voice: Voice, text: str, take: int) -> Samples:
        return trimmed(self._choir.say(voice, text, np.random.default_rng(take)))

    def _embedded(self, sound: Samples) -> NDArray[np.float32]:
        self._features.reset()
        return np.stack([self._features.push(frame) for frame in frames_of([sound])])


def _labels(count: int, end: int | None) -> NDArray[np.int8]:
    """One label per frame of ``count`` samples in which the phrase ends at ``end``."""
    ends = (np.arange(-(-count // FRAME)) + 1) * FRAME / SAMPLE_RATE
    labels = np.zeros(len(ends), np.int8)
    if end is not None:
        at = end / SAMPLE_RATE
        labels[(ends > at - EARLY_S) & (ends < at + HEARD_S + LATE_S)] = -1
        labels[(ends >= at) & (ends <= at + HEARD_S)] = 1
    return labels


def _silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * SAMPLE_RATE), np.int16)
