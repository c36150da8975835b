"""The wake word: as good as openWakeWord itself, cheaper, and deaf to nothing that the gate kept out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import voice_rig as rig

from anovax.config import WakeConfig
from anovax.errors import WeightsError
from anovax.voice import FRAME, SAMPLE_RATE
from anovax.voice.wake import Gate, WakeDetector, frames_of

pytestmark = [pytest.mark.models, pytest.mark.timeout(60)]  # loading models on a busy machine takes its time
Weight = Callable[[str], Path]


@pytest.fixture(scope="module")
def detector(weight: Weight) -> WakeDetector:
    return rig.wake_detector(weight)


@pytest.mark.timeout(120)
def test_scores_are_those_of_openwakeword(weight: Weight, say: rig.Piper) -> None:
    from openwakeword.model import Model

    folder = weight("wake/features")
    theirs = Model(
        wakeword_models=[str(weight("wake/hey_jarvis"))],
        inference_framework="onnx",
        melspec_model_path=str(folder / "melspectrogram.onnx"),
        embedding_model_path=str(folder / "embedding_model.onnx"),
    )
    ours = rig.wake_detector(weight, gate=False)
    sound = rig.join(rig.room_noise(2.0), say("hey jarvis"), rig.room_noise(1.5), say("what a lovely day"))
    expected, got = [], []
    for frame in rig.frames(sound):
        expected.append(float(theirs.predict(frame)["hey_jarvis_v0.1"]))
        ours.feed(frame)
        got.append(ours.score)
    settled = 24  # until both have forgotten the noise they start with
    assert max(expected) > 0.5
    assert np.allclose(expected[settled:], got[settled:], atol=0.02)


def test_heard_once_at_the_right_time(detector: WakeDetector, say: rig.Piper) -> None:
    phrase = say("hey jarvis")
    found = detector.detections(rig.join(rig.room_noise(2.0), phrase, rig.room_noise(1.0)))
    assert [d.word for d in found] == ["hey_jarvis"]
    end = 2.0 + len(phrase) / SAMPLE_RATE
    assert end - 0.6 < found[0].t < end + 0.5


@pytest.mark.parametrize("quiet_s", [0.3, 5.0, 40.0])
@pytest.mark.parametrize("level", [1.0, 0.12])
def test_the_gate_loses_no_first_syllable(detector: WakeDetector, say: rig.Piper, quiet_s: float, level: float) -> None:
    sound = rig.join(
        rig.room_noise(quiet_s, seed=round(quiet_s)), rig.louder(say("hey jarvis"), level), rig.silence(0.5)
    )
    noisy = rig.mixed(sound, rig.room_noise(len(sound) / SAMPLE_RATE, seed=9))
    assert len(detector.detections(noisy)) == 1


def test_the_gate_is_shut_in_a_quiet_room_and_open_for_speech(say: rig.Piper) -> None:
    gate = Gate()
    quiet = [gate.feed(frame) for frame in rig.frames(rig.room_noise(20.0))]
    assert sum(quiet[25:]) == 0
    assert any(gate.feed(frame) for frame in rig.frames(say("hey")))


def test_the_gate_follows_a_fan_that_starts(say: rig.Piper) -> None:
    gate = Gate()
    for frame in rig.frames(rig.room_noise(5.0, level=10)):
        gate.feed(frame)
    fan = [gate.feed(frame) for frame in rig.frames(rig.room_noise(60.0, level=300))]
    assert fan[0]
    assert not any(fan[-100:])


@pytest.mark.parametrize(
    "text", ["hey there, how are you", "the weather in Paris", "open the calculator", "thank you very much"]
)
def test_other_words_do_not_wake(detector: WakeDetector, say: rig.Piper, text: str) -> None:
    assert detector.detections(rig.join(rig.room_noise(1.0), say(text))) == []


def test_noise_does_not_wake(detector: WakeDetector) -> None:
    sounds = rig.join(rig.silence(3.0), rig.room_noise(5.0, level=2000), rig.music(6.0), rig.cough(), gap_s=1.0)
    assert detector.detections(sounds) == []


def test_a_recording_may_come_in_blocks_of_any_size(detector: WakeDetector, say: rig.Piper) -> None:
    sound = rig.join(rig.room_noise(1.0), say("hey jarvis"))
    whole = detector.detections(sound)
    detector.reset()
    assert list(detector.scan(np.array_split(sound, 37))) == whole
    assert len(whole) == 1


def test_frames_are_whole_and_nothing_is_lost() -> None:
    sound = np.arange(1, 3_001, dtype=np.int16)
    frames = list(frames_of([sound[:700], sound[700:701], sound[701:]]))
    assert all(len(frame) == FRAME for frame in frames)
    assert np.concatenate(frames)[:3000].tolist() == sound.tolist()


def test_a_broken_network_is_one_sentence(tmp_path: Path, weight: Weight) -> None:
    broken = tmp_path / "hey_you.onnx"
    broken.write_bytes(b"no network")
    with pytest.raises(WeightsError, match="cannot be loaded"):
        WakeDetector(WakeConfig(), broken, weight("wake/features"))
