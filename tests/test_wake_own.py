"""Wake words that are not openWakeWord's: the one that AnovaX brings along, and those of the user."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import voice_rig as rig
from typer.testing import CliRunner

from anovax import weights
from anovax.cli import app
from anovax.commands.wake import _place
from anovax.config import Config, WakeConfig
from anovax.errors import UsageError
from anovax.setup.manifest import PACKAGE, Manifest
from anovax.sound import wake_phrase
from anovax.voice.wake import Gate, WakeDetector

Weight = Callable[[str], Path]
pytestmark = pytest.mark.timeout(60)


def anova(weight: Weight) -> WakeDetector:
    return WakeDetector(WakeConfig(), weights.find("wake/hey_anova"), weight("wake/features"), Gate())


def test_ours_lies_in_the_package_wherever_the_other_weights_are(tmp_path: Path) -> None:
    found = weights.find("wake/hey_anova", tmp_path)
    assert found.is_relative_to(PACKAGE)
    assert not Manifest.load().model("wake/hey_anova").non_commercial
    assert [state for _, state in weights.states(["wake/hey_anova"], tmp_path)] == ["ok"]
    assert weights.fetch(["wake/hey_anova"], folder=tmp_path, offline=True) == ()


def test_a_file_of_the_user_is_found_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "wake").mkdir()
    own = tmp_path / "wake" / "hey_you.onnx"
    with pytest.raises(UsageError, match="hey_you"):
        weights.find("wake/hey_you", tmp_path)
    own.write_bytes(b"mine")
    assert weights.find("wake/hey_you", tmp_path) == own


def test_a_name_of_ours_cannot_be_taken(tmp_path: Path) -> None:
    (tmp_path / "wake").mkdir()
    (tmp_path / "wake" / "hey_anova.onnx").write_bytes(b"not ours")
    assert weights.find("wake/hey_anova", tmp_path).is_relative_to(PACKAGE)


@pytest.mark.models
def test_ours_hears_its_phrase_and_not_others(weight: Weight) -> None:
    say, detector = rig.Piper(weight("tts/en_US-joe-medium")), anova(weight)
    try:
        found = detector.detections(rig.join(rig.room_noise(2.0), say("hey anova"), rig.room_noise(1.0)))
        assert [detection.word for detection in found] == ["hey_anova"]
        other = [say(text) for text in ("hey jarvis", "what time is it", "open the calculator", "thank you very much")]
        assert detector.detections(rig.join(rig.room_noise(2.0), *other, gap_s=0.5)) == []
        assert detector.detections(rig.join(rig.room_noise(3.0, 1500), rig.music(5.0), rig.cough(), gap_s=0.5)) == []
    finally:
        say.close()


@pytest.mark.models
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("42",), "no phrase that can be spoken"),
        (("hey robin", "--positives", "3"), "too few"),
        (("hey robin", "--negatives", "nowhere"), "no recordings in nowhere"),
        (("hey robin", "-o", "nowhere/x.onnx"), "no folder nowhere"),
    ],
)
def test_what_cannot_be_trained_is_one_sentence(weight: Weight, arguments: tuple[str, ...], said: str) -> None:
    weight("tts/en_US-joe-medium")
    done = CliRunner().invoke(app, ["wake", "train", *arguments])
    assert isinstance(done.exception, UsageError)
    assert said in str(done.exception)


def test_a_phrase_of_ours_may_be_trained_again_under_another_name(weight: Weight) -> None:
    weight("tts/en_US-joe-medium")
    place = _place("hey anova", None, 1)
    assert place.output.name == "hey_anova_v0_own.onnx"
    assert wake_phrase(Config(wake=WakeConfig(word=str(place.output)))) == "hey anova"


@pytest.mark.full
@pytest.mark.models
@pytest.mark.timeout(1800)
def test_the_figures_of_ours_on_voices_that_it_never_heard(weight: Weight) -> None:
    """Looser than what was measured: the draws of Piper's and the synthesisers' versions differ."""
    pytest.importorskip("pyworld", reason="part of the train extra")
    if not all(map(shutil.which, ("espeak-ng", "flite"))):
        pytest.skip("espeak-ng and flite are the voices of this test")
    from functools import partial

    from anovax.training.factory import Factory
    from anovax.training.recipe import Recipe, cast, trial_scenes
    from anovax.training.voices import gather

    recipe = Recipe("hey anova", ("hey anova", "hey uh nova"), 300, 0.25, seed=5)
    detector, choir = anova(weight), partial(gather, ())
    kept = json.loads(detector._model.get_modelmeta().custom_metadata_map["report"])["held_out"]
    voices = [voice for voice in cast(choir().voices, []).held_out if voice.name in kept]
    factory = Factory(choir, weight("wake/features"))
    hits, accepts, seconds = [], 0, 0.0
    try:
        for example in factory.make(trial_scenes(recipe, voices)):
            scores = _scores(detector, example.embeddings)
            if example.scene.kind == "phrase":
                hits.append(scores.max() >= 0.5)
            elif example.scene.kind == "speech":
                accepts += int(scores.max() >= 0.5)
                seconds += 0.08 * len(scores)
    finally:
        factory.close()
    assert np.mean(hits) > 0.75
    assert accepts / (seconds / 3600) < 12


def _scores(detector: WakeDetector, embeddings: np.ndarray) -> np.ndarray:
    depth, name = detector._depth, detector._input.name
    rows = np.concatenate([np.repeat(embeddings[:1], depth - 1, axis=0), embeddings])
    windows = [rows[at : at + depth][None] for at in range(len(embeddings))]
    return np.array([float(detector._model.run(None, {name: window})[0].reshape(-1)[0]) for window in windows])
