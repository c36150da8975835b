"""Training a wake word: phrases by rule, voices that are here, sounds, the network, and all of it end to end."""

from __future__ import annotations

import shutil
import wave
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import voice_rig as rig

from anovax.config import WakeConfig
from anovax.errors import AnovaxError, AudioError, Cancelled, UsageError
from anovax.training import network, phrases, sounds
from anovax.training.examples import DEPTH, Example, Maker, Scene
from anovax.training.factory import Factory
from anovax.training.recipe import Recipe, cast, training_scenes, trial_scenes
from anovax.training.report import measured
from anovax.training.train import Place, choose_threshold, train_wake_word
from anovax.training.voices import Choir, Espeak, Voice, gather, speaker_of
from anovax.training.windows import corpus
from anovax.voice import SAMPLE_RATE, Samples
from anovax.voice.wake import WakeDetector

Weight = Callable[[str], Path]
pytestmark = pytest.mark.timeout(60)  # learning on a busy machine takes its time
pyworld = pytest.importorskip("pyworld", reason="part of the train extra")
pytest.importorskip("onnx", reason="part of the train extra")


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- phrases ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phrase", ["", "42", "hey", "hallo #1", "a b c d e f g", "слушай", "hey_you", "x" * 40])
def test_what_is_no_wake_phrase_is_refused_in_one_sentence(phrase: str) -> None:
    with pytest.raises(UsageError, match=r"^“.*” is .+; .+\.$"):
        phrases.checked(phrase)


def test_a_phrase_is_taken_without_marks() -> None:
    assert phrases.checked("Hey, Anova!") == "hey anova"


@pytest.mark.parametrize("phrase", ["hey anova", "okay robin", "computer", "wake up friend"])
def test_near_phrases_follow_from_any_phrase_and_are_never_the_phrase(phrase: str) -> None:
    near = phrases.near_phrases(phrase, draw(), 1000)
    assert len(near) > 100
    assert len(set(near)) == len(near)
    assert phrase not in near
    assert len(phrases.near_phrases(phrase, draw(), 10)) == 10


def test_the_rules_find_what_one_would_think_of() -> None:
    near = set(phrases.near_phrases("hey anova", draw(), 5000))
    assert {"hey nova", "casanova", "hey anna", "anova", "hey", "okay anova", "hey innova"} <= near | {"hey innova"}
    assert not {"hay anova", "hey annova", "hey a nova", "hey enova"} & near  # the same to the ear


def test_sentences_are_made_and_read_from_the_manual() -> None:
    said = phrases.sentences(draw(), 90, ["casanova"])
    assert len(said) == 90
    assert len(set(said)) > 80
    assert sum(text.startswith("casanova") for text in said) == 30


# --- voices -----------------------------------------------------------------------------------------------------------

VOICES = (
    *(Voice("espeak", f"v{i}") for i in range(10)),
    Voice("piper", "joe"), Voice("flite", "slt"), Voice("flite", "rms"), Voice("flite", "awb"), Voice("flite", "kal16"),
    Voice("festival", "cmu_us_slt_arctic_hts"), Voice("festival", "kal_diphone"), Voice("festival", "ked_diphone"),
)  # fmt: skip


def test_one_person_in_two_synthesisers_is_one_speaker() -> None:
    assert speaker_of(Voice("flite", "slt")) == speaker_of(Voice("festival", "cmu_us_slt_arctic_hts"))
    assert speaker_of(Voice("flite", "kal16")) == speaker_of(Voice("festival", "kal_diphone"))
    assert speaker_of(Voice("espeak", "f1")) != speaker_of(Voice("espeak", "f2"))


def test_a_fifth_of_the_speakers_is_kept_and_nobody_is_on_both_sides() -> None:
    found = cast(VOICES, ["piper/joe"])
    assert {speaker_of(v) for v in found.learning}.isdisjoint(speaker_of(v) for v in found.held_out)
    assert set(found.learning) | set(found.held_out) == set(VOICES)
    assert sum(v.family == "espeak" for v in found.held_out) == 2
    assert Voice("piper", "joe") in found.held_out
    assert cast(VOICES, ["piper/joe"]) == found


@pytest.mark.parametrize(("named", "said"), [(["nobody"], "no voice called nobody"), (["espeak"], "All voices")])
def test_voices_that_cannot_be_kept(named: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        cast(VOICES[:10], named)


def test_scenes_are_shared_out_among_families_and_the_test_has_other_draws() -> None:
    recipe = Recipe("hey anova", ("hey anova",), positives=200, test_hours=0.5)
    scenes = training_scenes(recipe, VOICES)
    said = [scene.voice.family for scene in scenes if scene.kind == "phrase" and scene.voice]
    assert len(said) == 200
    assert 0.25 < said.count("piper") / len(said) < 0.5
    seeds = {scene.seed for scene in scenes}
    assert len(seeds) > 0.99 * len(scenes)
    assert seeds.isdisjoint(scene.seed for scene in trial_scenes(recipe, VOICES))
    with pytest.raises(UsageError, match="too few"):
        Recipe("hey anova", ("hey anova",), positives=3)


def test_a_synthesiser_that_fails_is_one_sentence(tmp_path: Path) -> None:
    from anovax.training.voices import _spoken

    with pytest.raises(AudioError, match=r"false could not speak"):
        _spoken(["false"], "hello")


# --- sounds -----------------------------------------------------------------------------------------------------------


def buzz(hertz: float, seconds: float = 0.6) -> Samples:
    """A pulse train through one resonance: a voice, nearly."""
    from scipy.signal import lfilter

    time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    pulses = np.diff(np.floor(time * hertz), prepend=0.0)
    return np.rint(lfilter([1.0], [1, -1.6, 0.8], pulses) * 3000).clip(-32768, 32767).astype(np.int16)


def pitch(sound: Samples) -> float:
    f0, _ = pyworld.dio(sound.astype(np.float64) / 32768, SAMPLE_RATE)
    return float(np.median(f0[f0 > 0]))


def test_the_vocoder_moves_pitch_pace_and_formants_apart() -> None:
    vocoder, sound = sounds.Vocoder(), buzz(120)
    higher = vocoder.moved(sound, pitch=1.5, tract=1.0)
    assert pitch(higher) == pytest.approx(180, rel=0.05)
    assert len(higher) == pytest.approx(len(sound), rel=0.05)
    quicker = vocoder.moved(sound, pitch=1.0, tract=1.0, pace=1.25)
    assert len(quicker) == pytest.approx(len(sound) / 1.25, rel=0.05)
    shorter = vocoder.moved(sound, pitch=1.0, tract=1.3)
    assert centre(shorter) > 1.1 * centre(sound)
    assert pitch(shorter) == pytest.approx(120, rel=0.05)


def centre(sound: Samples) -> float:
    power = np.abs(np.fft.rfft(sound))
    return float((power * np.fft.rfftfreq(len(sound), 1 / SAMPLE_RATE)).sum() / power.sum())


def test_the_vocoder_survives_what_has_no_pitch() -> None:
    vocoder = sounds.Vocoder()
    for sound in (rig.silence(0.5), rig.room_noise(0.5, 2000)):
        assert np.isfinite(vocoder.other_speaker(sound, draw()).astype(float)).all()


def test_rooms_and_noise_keep_it_in_range_and_differ() -> None:
    said = buzz(150)
    made = [sounds.degraded(said, draw(seed)) for seed in range(8)]
    assert all(len(sound) >= len(said) and sound.dtype == np.int16 for sound in made)
    assert len({int(np.abs(sound.astype(int)).max()) for sound in made}) == 8
    assert sounds.noise(1000, draw()).std() == pytest.approx(1.0)


def test_silence_is_trimmed_even_from_a_faint_voice() -> None:
    faint = rig.louder(buzz(150), 0.02)
    assert len(sounds.trimmed(rig.join(rig.silence(0.5), faint, rig.silence(0.5)))) <= len(faint)
    assert len(sounds.trimmed(rig.silence(1.0))) == 0


# --- the network ------------------------------------------------------------------------------------------------------


def made_up(count: int, seed: int) -> list[Example]:
    """Examples in which the phrase is a movement along one direction of the embeddings."""
    rng, found = np.random.default_rng(seed), []
    for number in range(count):
        rows, labels = rng.normal(0, 1, (40, 96)).astype(np.float32), np.zeros(40, np.int8)
        if number % 2:
            rows[12:28, :20] += 2.0
            labels[24:28] = 1
        found.append(Example(Scene("phrase" if number % 2 else "speech", number), rows, labels))
    return found


def test_the_network_learns_and_its_file_gives_the_same_scores(tmp_path: Path) -> None:
    import onnxruntime

    whole = corpus(made_up(30, 1))
    learnt = [network.train(whole.windows, whole.labelled(1), whole.labelled(0), steps=60, seed=n) for n in (1, 2)]
    made, other = network.Jury(tuple(learnt)), made_up(20, 2)
    odds = corpus(other).scores(made)
    highest = [float(x.max()) for x in odds]
    assert min(highest[1::2]) > max(highest[0::2])
    threshold = choose_threshold(other, highest)
    found = measured(other, odds, threshold)
    assert (found.at.detected, found.at.positives, found.at.false_accepts) == (10, 10, 0)
    path = tmp_path / "made_up.onnx"
    network.write_onnx(made, DEPTH, threshold, path, {"phrase": "made up"})
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for end in (20, 26, 27, 33):
        window = other[1].embeddings[end - DEPTH - 1 : end + 1]
        (score,) = session.run(None, {"windows": window[None]})
        assert score.shape == (1, 1)
        assert float(score[0, 0]) == pytest.approx(1 / (1 + np.exp(threshold - odds[1][end])), abs=1e-4)
    assert session.get_modelmeta().custom_metadata_map["phrase"] == "made up"
    assert [file.name for file in tmp_path.iterdir()] == ["made_up.onnx"]


def test_three_frames_must_agree() -> None:
    assert network.agreed(np.array([1, 5, 5, 5, 0], np.float32)).tolist() == [-20, -20, 1, 5, 0]


def test_gradients_are_those_of_finite_differences() -> None:
    rng = draw(3)
    made = network.Network((6, 4, 1), np.zeros(6, np.float32), np.ones(6, np.float32), rng)
    x, wanted = rng.normal(size=(5, 6)).astype(np.float32), np.array([1, 0, 1, 0, 0], np.float32)
    weight = np.array([1, 2, 1, 1, 3], np.float32)

    def loss() -> float:
        odds = made.log_odds(x).astype(float)
        return float((weight * (np.log1p(np.exp(odds)) - wanted * odds)).sum() / weight.sum())

    grads = made.gradients(x, wanted, weight)
    for layer, gradient in zip(made.layers, grads, strict=True):
        for values, found in zip(layer, gradient, strict=True):
            at = tuple(int(rng.integers(size)) for size in values.shape)
            values[at] += 1e-2
            above = loss()
            values[at] -= 2e-2
            below = loss()
            values[at] += 1e-2
            assert (above - below) / 2e-2 == pytest.approx(float(found[at]), abs=2e-3)


# --- all of it --------------------------------------------------------------------------------------------------------


class OneVoice:
    """A choir of one voice and its imitations by the vocoder."""

    family = "piper"

    def __init__(self, say: rig.Piper) -> None:
        self._say = say

    def speakers(self) -> list[str]:
        return ["joe"]

    def say(self, speaker: str, text: str, draw: np.random.Generator) -> Samples:
        return self._say(text)


@pytest.mark.models
@pytest.mark.timeout(60)
def test_labels_stand_where_the_phrase_ends(weight: Weight, say: rig.Piper) -> None:
    maker = Maker(Choir([OneVoice(say)]), weight("wake/features"))
    scene = Scene("phrase", 5, Voice("piper", "joe"), ("hey anova",))
    _, end = maker.sound(scene)
    assert end is not None
    example = maker.make(scene)
    assert example.embeddings.shape == (len(example.labels), 96)
    first = int(np.flatnonzero(example.labels == 1)[0])
    assert first * 1280 < end <= (first + 1) * 1280
    assert (example.labels == 0).any()
    assert (maker.make(Scene("noise", 1)).labels == 0).all()


def few_voices() -> Choir:
    """Two variants of espeak-ng: quick, and small enough to learn by heart."""
    return Choir([_Few()])


class _Few(Espeak):
    def speakers(self) -> list[str]:
        return super().speakers()[:2]


needs_espeak = pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed")


@needs_espeak
@pytest.mark.models
@pytest.mark.timeout(120)
def test_from_a_phrase_to_a_detector_that_hears_it(tmp_path: Path, weight: Weight) -> None:
    output, choir = tmp_path / "good_morning.onnx", few_voices()
    recipe = Recipe("good morning", ("good morning",), positives=16, test_hours=0.0)
    place = Place(few_voices, weight("wake/features"), output, processes=0)
    stages: list[str] = []
    report = train_wake_word(recipe, place, lambda stage, done, of: stages.append(stage), steps=150)
    assert [file.name for file in tmp_path.iterdir()] == ["good_morning.onnx"]
    assert next(iter(stages)) == "examples to learn from"
    assert stages[-1] == "training 3 of 3"
    assert (len(report.learning), report.held_out, report.good) == (2, (), False)
    detector = WakeDetector(WakeConfig(), output, weight("wake/features"))
    assert detector.word == "good_morning"
    said = sounds.trimmed(choir.say(choir.voices[0], "good morning", draw(1)))
    found = detector.detections(rig.join(rig.room_noise(2.5, 20), said, rig.room_noise(0.8, 20)))
    assert [detection.word for detection in found] == ["good_morning"]
    assert detector.detections(rig.room_noise(4.0, 500)) == []


@needs_espeak
@pytest.mark.models
def test_stopped_in_the_middle_it_leaves_nothing(tmp_path: Path, weight: Weight) -> None:
    def stop(stage: str, done: int, of: int) -> None:
        raise Cancelled

    recipe = Recipe("good morning", ("good morning",), positives=10, test_hours=0.0)
    place = Place(few_voices, weight("wake/features"), tmp_path / "x.onnx", processes=0)
    with pytest.raises(Cancelled):
        train_wake_word(recipe, place, stop)
    assert list(tmp_path.iterdir()) == []


@needs_espeak
@pytest.mark.models
@pytest.mark.timeout(60)
def test_a_damaged_recording_ends_the_factory_in_one_sentence(tmp_path: Path, weight: Weight) -> None:
    bad = tmp_path / "bad.wav"
    bad.write_bytes(b"RIFF nothing")
    factory = Factory(partial(gather, ()), weight("wake/features"), processes=1)
    try:
        with pytest.raises(AnovaxError, match=r"bad\.wav"):
            list(factory.make([Scene("recording", 0, recording=str(bad))]))
    finally:
        factory.close()
        factory.close()


def test_a_choir_needs_a_voice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="no voice to train with"):
        gather(())


def test_a_recording_is_taken_as_it_is(tmp_path: Path, weight: Weight) -> None:
    path = tmp_path / "note.wav"
    with wave.open(str(path), "wb") as stream:
        stream.setparams((1, 2, SAMPLE_RATE, 0, "NONE", ""))
        stream.writeframes(buzz(130, 1.0).tobytes())
    maker = Maker(Choir([_Mute()]), weight("wake/features"))
    example = maker.make(Scene("recording", 0, recording=str(path)))
    assert len(example.labels) == 13
    assert (example.labels == 0).all()


class _Mute:
    family = "piper"

    def speakers(self) -> list[str]:
        return ["nobody"]

    def say(self, speaker: str, text: str, draw: np.random.Generator) -> Samples:
        raise AssertionError
