"""Train a wake word: make examples, learn, choose the threshold, test on voices never heard, write the file."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anovax.errors import UsageError
from anovax.training import Told, network, untold
from anovax.training.examples import DEPTH, Example
from anovax.training.factory import Factory
from anovax.training.network import Jury
from anovax.training.recipe import Recipe, cast, training_scenes, trial_scenes
from anovax.training.report import Report, measured
from anovax.training.voices import Choir
from anovax.training.windows import corpus
from anovax.voice import FRAME_S

TUNED_SHARE = 0.15  # of the examples, kept aside to choose the threshold
VOTES = 3
MOST_STEPS = 2000
NEEDED = ("onnx", "pyworld")


@dataclass(frozen=True)
class Place:
    """Where things are: the voices (``voices.gather`` with its arguments), openWakeWord's feature networks, the file to
    write; and how many processes."""

    choir: Callable[[], Choir]
    features_dir: Path
    output: Path
    processes: int = 2


def train_wake_word(recipe: Recipe, place: Place, told: Told = untold, steps: int = 0) -> Report:
    """Make ``place.output`` and say how good it is. ``told`` may raise Cancelled: then nothing is left behind.

    Raises UsageError where a library is missing, AudioError for a recording that cannot be read.
    """
    check_libraries()
    started = time.monotonic()
    choir = place.choir()
    voices = cast(choir.voices, recipe.hold_out)
    factory = Factory(place.choir, place.features_dir, place.processes)
    try:
        learnt = list(factory.make(training_scenes(recipe, voices.learning), "examples to learn from", told))
        trial = list(factory.make(trial_scenes(recipe, voices.held_out), "examples to test with", told))
    finally:
        factory.close()
    made, threshold = learn(learnt, steps or min(MOST_STEPS, 10 * recipe.positives), recipe.seed, told)
    found = measured(trial, corpus(trial).scores(made), threshold) if trial else measured([], [], threshold)
    report = Report(
        phrase=recipe.phrase,
        file=str(place.output),
        learning=tuple(voice.name for voice in voices.learning),
        held_out=tuple(voice.name for voice in voices.held_out),
        missing=choir.missing,
        learnt=len(learnt),
        learnt_hours=round(sum(len(e.labels) for e in learnt) * FRAME_S / 3600, 2),
        seconds=round(time.monotonic() - started, 1),
        **dict(found),
    )
    network.write_onnx(
        made, DEPTH, threshold, place.output, {"phrase": recipe.phrase, "report": report.model_dump_json()}
    )
    return report


def check_libraries() -> None:
    """Raises UsageError when a library for training is not installed."""
    import importlib.util

    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"Training needs {' and '.join(missing)}", f"run: pip install {' '.join(missing)}")


def learn(examples: Sequence[Example], steps: int, seed: int = 0, told: Told = untold) -> tuple[Jury, float]:
    """Networks that learnt from most of the examples, and the threshold (log odds) that suits the rest."""
    aside = np.random.default_rng(seed).random(len(examples)) < TUNED_SHARE
    fitted = corpus([e for e, kept in zip(examples, aside, strict=True) if not kept])
    windows, said, other = fitted.windows, fitted.labelled(1), fitted.labelled(0)
    networks = []
    for number in range(VOTES):
        stage = f"training {number + 1} of {VOTES}"
        networks.append(
            network.train(windows, said, other, steps=steps, seed=seed + number, told=_renamed(told, stage))
        )
    made = Jury(tuple(networks))
    tuned = [e for e, kept in zip(examples, aside, strict=True) if kept] or list(examples)
    return made, choose_threshold(tuned, [float(x.max()) for x in corpus(tuned).scores(made)])


def _renamed(told: Told, name: str) -> Told:
    return lambda stage, done, of: told(name, done, of)


def choose_threshold(examples: Sequence[Example], highest: Sequence[float]) -> float:
    """The log odds above which it shall count, from the highest of each example: where the share of the phrase that is
    missed, a fifth of the share of near phrases that are taken for it, and five times that of other sound are least."""
    by_kind: dict[str, list[float]] = {"phrase": [], "near": [], "other": []}
    for example, high in zip(examples, highest, strict=True):
        kind = example.scene.kind
        by_kind[kind if kind in by_kind else "other"].append(high)
    phrase, near, other = (np.array(by_kind[kind] or [-20.0]) for kind in ("phrase", "near", "other"))
    candidates = np.linspace(min(0.0, float(phrase.min())), max(8.0, float(phrase.max())), 200)
    costs = [np.mean(phrase < at) + 0.2 * np.mean(near >= at) + 5 * np.mean(other >= at) for at in candidates]
    best = candidates[np.flatnonzero(np.array(costs) <= min(costs) + 1e-9)]
    return float(best[len(best) // 2])  # the middle of the stretch in which nothing changes
