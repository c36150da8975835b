"""The voice as a stream: its chunks join to the sound that the whole gives, and what is cut is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from anovax.errors import WeightsError
from anovax.voice import Samples, resampled, resampler
from anovax.voice.network_cut import cut, input_of
from anovax.voice.synthesis import DECODER, FIRST_FRAMES, GAIN, Synthesiser, spans, trimmed, unhurried

pytestmark = pytest.mark.timeout(60)  # loading a voice on a busy machine takes its time
Weight = Callable[[str], Path]
RATE = 22_050


@pytest.fixture(scope="module")
def voice(weight: Weight) -> Synthesiser:
    return Synthesiser(weight("tts/en_US-joe-medium"))


@pytest.mark.models
def test_the_cut_network_gives_in_chunks_what_the_whole_gives(weight: Weight, voice: Synthesiser) -> None:
    network = weight("tts/en_US-joe-medium").read_bytes()
    latent = input_of(network, DECODER)
    frames = voice._frames(voice._voice.phonemes_to_ids(voice._voice.phonemize("I opened the calculator.")[0]))
    whole = onnxruntime.InferenceSession(cut(network, latent)[1]).run(None, {latent: frames})[0].reshape(-1)
    joined = np.concatenate([sound for _, sound in voice._decoded(frames)])
    assert len(joined) == len(whole)
    assert np.abs(joined - np.clip(whole * GAIN * 32767, -32767, 32767)).max() < 2


@pytest.mark.models
def test_a_text_comes_in_chunks_that_say_how_far_they_are(voice: Synthesiser) -> None:
    shares, sounds = zip(*voice.chunks("The screenshot is in your pictures folder."), strict=True)
    assert list(shares) == sorted(shares)
    assert shares[-1] == 1.0
    assert 1.2 < sum(map(len, sounds)) / voice.rate < 4.0
    assert np.abs(np.concatenate(sounds).astype(np.int32)).max() > 8000
    assert list(voice.chunks("")) == []


@pytest.mark.models
def test_a_volume_of_half_is_half(voice: Synthesiser, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = np.random.default_rng(1).normal(0, 0.5, (1, 192, 30)).astype(np.float32)
    loud = next(voice._decoded(frames))[1].astype(np.int32)
    monkeypatch.setattr(voice, "_volume", 0.5)
    assert np.abs(loud / 2 - next(voice._decoded(frames))[1]).max() <= 1


@pytest.mark.parametrize("count", [1, FIRST_FRAMES, 40, 100, 200, 3000])
def test_frames_are_cut_without_a_rest(count: int) -> None:
    cuts = spans(count)
    sizes = np.diff(cuts)
    assert (cuts[0], cuts[-1]) == (0, count)
    assert sizes.min() > 0
    assert sizes.max() <= 150
    assert sizes[0] <= FIRST_FRAMES * 3 // 2


def chunk(*levels: int) -> Samples:
    return np.repeat(np.array(levels, np.int16), RATE // 10)


def test_silence_is_cut_before_the_first_sound_and_after_the_last() -> None:
    parts = [(0.2, chunk(0, 0)), (0.4, chunk(0, 9000)), (0.7, chunk(0, 9000, 0)), (1.0, chunk(0, 0, 0))]
    cut_off = list(trimmed(iter(parts), RATE, lead_s=0.05))
    sound = np.concatenate([s for _, s in cut_off])
    assert [share for share, _ in cut_off] == [0.4, 0.7, 1.0]
    assert len(sound) == round(0.05 * RATE) + 3 * (RATE // 10) + round(0.12 * RATE)
    assert list(trimmed(iter([(1.0, chunk(0, 0))]), RATE, 0.05)) == []


CHUNKS = [(0.3, chunk(1)), (0.6, chunk(2)), (1.0, chunk(3))]  # of 100 ms


def test_chunks_are_passed_on_as_they_come() -> None:
    assert [share for share, _ in unhurried(iter(CHUNKS), RATE, iter((0.0, 0.04)).__next__)] == [0.3, 0.6, 1.0]


def test_a_busy_machine_pauses_before_a_sentence_and_not_in_a_word() -> None:
    ((share, sound),) = unhurried(iter(CHUNKS), RATE, iter((0.0, 0.06)).__next__)
    assert (share, sound.tolist()) == (1.0, np.concatenate([one for _, one in CHUNKS]).tolist())


def test_a_stream_is_resampled_without_seams() -> None:
    tone = np.rint(np.sin(np.arange(RATE) * 0.1) * 9000).astype(np.int16)
    convert = resampler(RATE, 48_000)
    joined = np.concatenate([convert(tone[start : start + 5000]) for start in range(0, RATE, 5000)])
    whole = resampled(tone, RATE, 48_000)
    assert len(whole) - len(joined) < 0.05 * 48_000
    assert np.abs(joined.astype(np.int32) - whole[: len(joined)])[100:-100].max() <= 4
    assert resampler(48_000, 48_000)(tone) is tone


@pytest.mark.parametrize("content", [b"", b"not a network", bytes(range(256))])
def test_a_damaged_voice_is_said_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "voice.onnx").write_bytes(content)
    (tmp_path / "voice.onnx.json").write_text("{}")
    with pytest.raises(WeightsError, match="cannot be loaded"):
        Synthesiser(tmp_path / "voice.onnx")


@pytest.mark.parametrize("content", [b"", b"\x3a\xff", b"\x3a\x05abc", b"\xff\xff", bytes(range(256))])
def test_what_is_no_network_cannot_be_cut(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"no ONNX network|no node"):
        input_of(content, DECODER)
    with pytest.raises(ValueError, match=r"no ONNX network|cross the cut"):
        cut(content, "x")


@pytest.mark.models
def test_a_cut_through_more_than_one_tensor_is_refused(weight: Weight) -> None:
    network = weight("tts/en_US-joe-medium").read_bytes()
    with pytest.raises(ValueError, match="cross the cut"):
        cut(network, input_of(network, "/enc_p/encoder/attn_layers.0/conv_q/Conv"))
