"""What is made for one training: which voices learn, which are kept for the test, which scenes. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anovax.errors import UsageError
from anovax.training.examples import Kind, Scene
from anovax.training.phrases import near_phrases, sentences, ways_to_say
from anovax.training.voices import Voice, speaker_of

SHARES = {"piper": 0.3, "hibari": 0.15, "flite": 0.2, "festival": 0.05, "espeak": 0.3}  # of the phrases, by family
COST = {"piper": 3.0, "hibari": 2.0, "flite": 0.5, "festival": 6.0, "espeak": 0.3}  # so much rarer in long speech
HELD_OUT = 0.2
MINIMUM = 10
SPEECH_S = 12.0  # what three sentences with their pauses take, about


@dataclass(frozen=True)
class Recipe:
    """How much of what. ``positives``: times that the phrase is said for training; ``test_hours``: of other speech by
    voices that do not learn; ``negatives``: folder of recordings that do not hold the phrase."""

    phrase: str
    spellings: tuple[str, ...]
    positives: int = 2000
    test_hours: float = 2.0
    hold_out: tuple[str, ...] = ()
    negatives: tuple[Path, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        if self.positives < MINIMUM:
            raise UsageError(f"{self.positives} examples are too few", f"take at least {MINIMUM}, better 2000")


@dataclass(frozen=True)
class Cast:
    """Voices that learn and voices that are never heard in training."""

    learning: tuple[Voice, ...]
    held_out: tuple[Voice, ...]


def cast(voices: Sequence[Voice], named: Sequence[str] = ()) -> Cast:
    """Keep a fifth of the speakers of each kind for the test, and those that are ``named`` (as in "hibari/heart").

    Which fifth follows from their names alone. Raises UsageError for a name that is no voice's, and when all are kept.
    """
    known = {voice.name for voice in voices} | {voice.family for voice in voices}
    if unknown := [name for name in named if name not in known]:
        raise UsageError(f"There is no voice called {unknown[0]}", f"there are: {', '.join(sorted(known))}")
    kept = {speaker_of(voice) for voice in voices if voice.name in named or voice.family in named}
    for kind in sorted({_kind(voice) for voice in voices}):
        speakers = sorted({speaker_of(v) for v in voices if _kind(v) == kind}, key=_lot)
        kept |= set(speakers[: int(HELD_OUT * len(speakers))])
    learning = tuple(voice for voice in voices if speaker_of(voice) not in kept)
    if not learning:
        raise UsageError("All voices are held out", "leave some to learn from")
    return Cast(learning, tuple(voice for voice in voices if speaker_of(voice) in kept))


def training_scenes(recipe: Recipe, voices: Sequence[Voice]) -> list[Scene]:
    """The scenes to learn from, said by ``voices``, in an order in which progress is even."""
    draw = np.random.default_rng(recipe.seed)
    near = near_phrases(recipe.phrase, draw, 450)
    ways = ways_to_say(recipe.spellings)
    count = recipe.positives
    scenes = [_scene("phrase", (_one(draw, ways),), voices, draw) for _ in range(count)]
    scenes += [_scene("near", _some(draw, near, 3), voices, draw) for _ in range(count // 2)]
    said = sentences(draw, count, near)
    scenes += [_scene("speech", (said[2 * i], said[2 * i + 1]), voices, draw) for i in range(count // 2)]
    scenes += [Scene("noise", int(draw.integers(1 << 40))) for _ in range(count // 16 + 2)]
    scenes += [Scene("recording", 0, recording=str(path)) for path in recipe.negatives]
    return [scenes[i] for i in draw.permutation(len(scenes))]


def trial_scenes(recipe: Recipe, voices: Sequence[Voice]) -> list[Scene]:
    """The scenes to test with, said by ``voices``: a fifth as many phrases as are learnt, as many near phrases, and
    ``test_hours`` of other speech."""
    if not voices:
        return []
    draw = np.random.default_rng(recipe.seed + 1_000_003)
    near = near_phrases(recipe.phrase, draw, 450)
    ways = ways_to_say(recipe.spellings)
    count = max(MINIMUM, recipe.positives // 5)
    scenes = [_scene("phrase", (_one(draw, ways),), voices, draw) for _ in range(count)]
    scenes += [_scene("near", _some(draw, near, 1), voices, draw) for _ in range(count)]
    count = round(recipe.test_hours * 3600 / SPEECH_S)
    said = sentences(draw, 3 * count)
    scenes += [_scene("speech", tuple(said[3 * i : 3 * i + 3]), voices, draw) for i in range(count)]
    return [scenes[i] for i in draw.permutation(len(scenes))]


def _scene(kind: Kind, texts: tuple[str, ...], voices: Sequence[Voice], draw: np.random.Generator) -> Scene:
    weights = np.array([_weight(voice, voices, kind) for voice in voices])
    voice = voices[int(draw.choice(len(voices), p=weights / weights.sum()))]
    return Scene(kind, int(draw.integers(1 << 40)), voice, texts)


def _weight(voice: Voice, voices: Sequence[Voice], kind: Kind) -> float:
    """So that each family has its share, whatever the number of its voices; slow ones say less of the long texts."""
    share = SHARES[voice.family] / (COST[voice.family] if kind == "speech" else 1.0)
    return share / sum(other.family == voice.family for other in voices)


def _kind(voice: Voice) -> str:
    return speaker_of(voice).partition(" ")[0] if voice.family in ("flite", "festival") else voice.family


def _lot(speaker: str) -> str:
    return hashlib.sha256(speaker.encode()).hexdigest()


def _one(draw: np.random.Generator, texts: Sequence[str]) -> str:
    return texts[int(draw.integers(len(texts)))]


def _some(draw: np.random.Generator, texts: Sequence[str], count: int) -> tuple[str, ...]:
    return tuple(texts[int(i)] for i in draw.integers(len(texts), size=count))
