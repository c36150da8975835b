"""Recordings of every kind, good and bad, and devices that are slow."""

from __future__ import annotations

import os
import threading
import wave
from pathlib import Path

import av
import numpy as np
import pytest
import voice_rig as rig

from anovax.bus import Bus
from anovax.config import AudioConfig
from anovax.errors import AudioError
from anovax.voice import SAMPLE_RATE, Device, Direction, level_db, to_float, to_int16
from anovax.voice.audio import duration, load_audio, read_blocks, write_wav
from anovax.voice.devices import SoundDevices
from anovax.voice.microphone import Microphone
from anovax.voice.playback import tone


def encode(path: Path, codec: str, rate: int, layout: str, seconds: float = 1.0) -> Path:
    """A 440 Hz tone as a file of this kind."""
    channels = 2 if layout == "stereo" else 1
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate, layout=layout)
        sound = np.repeat(tone(440, seconds, rate), channels).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(sound, format="s16", layout=layout)
        frame.sample_rate = rate
        resampler = av.AudioResampler(stream.format, stream.layout, rate, stream.frame_size or None)
        for part in [*resampler.resample(frame), *resampler.resample(None)]:
            container.mux(stream.encode(part))
        container.mux(stream.encode(None))
    return path


@pytest.mark.parametrize(
    ("name", "codec", "rate", "layout"),
    [
        ("phone.mp3", "libmp3lame", 8_000, "stereo"),
        ("cd.flac", "flac", 44_100, "stereo"),
        ("voice.ogg", "libopus", 48_000, "mono"),
        ("note.m4a", "aac", 22_050, "mono"),
        ("plain.wav", "pcm_s16le", 16_000, "mono"),
        ("studio.wav", "pcm_s24le", 96_000, "stereo"),
    ],
)
def test_any_file_becomes_16_khz_mono(tmp_path: Path, name: str, codec: str, rate: int, layout: str) -> None:
    sound = load_audio(encode(tmp_path / name, codec, rate, layout))
    assert sound.dtype == np.float32
    assert sound.ndim == 1
    assert len(sound) == pytest.approx(SAMPLE_RATE, rel=0.15)
    spectrum = np.abs(np.fft.rfft(sound))
    assert abs(np.argmax(spectrum) * SAMPLE_RATE / len(sound) - 440) < 3


def bad_files(folder: Path) -> dict[str, Path]:
    made = {
        name: folder / name for name in ("missing.wav", "empty.wav", "text.wav", "silent.wav", "torn.flac", "notes.txt")
    }
    made["empty.wav"].touch()
    made["text.wav"].write_text("This is a letter, not a recording.\n" * 50)
    made["notes.txt"].write_text("just text\n")
    write_wav(made["silent.wav"], np.zeros(0, np.int16))
    made["torn.flac"].write_bytes(b"fLaC" + bytes(4000))  # a beginning, and no recording behind it
    made["folder"] = folder
    return made


@pytest.mark.parametrize(
    ("which", "says"),
    [
        ("missing.wav", "There is no file"),
        ("empty.wav", "is empty"),
        ("text.wav", "not a recording"),
        ("notes.txt", "not a recording"),
        ("silent.wav", "no sound"),
        ("torn.flac", "not a recording"),
        ("folder", "is a folder"),
    ],
)
def test_bad_files_get_one_sentence_that_says_what_to_do(tmp_path: Path, which: str, says: str) -> None:
    with pytest.raises(AudioError, match=says) as caught:
        load_audio(bad_files(tmp_path)[which])
    assert caught.value.fix
    assert str(caught.value).count("\n") == 0


def test_a_colon_in_a_name_names_no_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_wav(tmp_path / "2026-12-01T16:45.wav", tone(440, 0.5))
    monkeypatch.chdir(tmp_path)
    assert len(load_audio("2026-12-01T16:45.wav")) == SAMPLE_RATE // 2
    assert duration("2026-12-01T16:45.wav") == pytest.approx(0.5)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.wav")
    with pytest.raises(AudioError, match=r"is a pipe or a device; write the sound to a file first"):
        load_audio(tmp_path / "pipe.wav")


def test_a_video_without_sound_is_no_recording(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p"
        for _ in range(5):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), format="rgb24")))
        container.mux(stream.encode(None))
    with pytest.raises(AudioError, match="not a recording"):
        load_audio(path)


def test_a_truncated_recording_is_an_error_or_what_is_there(tmp_path: Path) -> None:
    whole = encode(tmp_path / "whole.flac", "flac", 16_000, "mono", 3.0).read_bytes()
    torn = tmp_path / "torn.flac"
    torn.write_bytes(whole[: len(whole) // 2])
    try:
        heard = len(load_audio(torn))
    except AudioError:
        return
    assert 0 < heard < 3 * SAMPLE_RATE


def test_too_long_is_refused_without_holding_it_all(tmp_path: Path) -> None:
    path = tmp_path / "long.wav"
    with wave.open(str(path), "wb") as stream:
        stream.setnchannels(1)
        stream.setsampwidth(2)
        stream.setframerate(16_000)
        for _ in range(70):
            stream.writeframes(rig.room_noise(1.0).tobytes())
    with pytest.raises(AudioError, match="longer than 1 minutes"):
        load_audio(path, max_s=60)
    assert duration(path) == pytest.approx(70, abs=0.1)


def test_blocks_are_bounded_and_join_to_the_whole(tmp_path: Path) -> None:
    path = encode(tmp_path / "tone.flac", "flac", 44_100, "stereo", 5.0)
    blocks = list(read_blocks(path, block_s=1.0))
    assert all(len(block) <= SAMPLE_RATE for block in blocks)
    assert np.array_equal(to_float(np.concatenate(blocks)), load_audio(path))


def test_a_wav_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "out.wav"
    write_wav(path, tone(440, 0.5), 16_000)
    assert len(load_audio(path)) == SAMPLE_RATE // 2
    assert list(tmp_path.iterdir()) == [path]


def test_levels_and_conversions() -> None:
    assert level_db(np.zeros(100, np.int16)) == -100.0
    assert level_db(np.zeros(0, np.int16)) == -100.0
    assert level_db(np.full(100, 16_384, np.int16)) == pytest.approx(-6.02, abs=0.01)
    assert to_int16(np.array([-2.0, 0.0, 2.0], np.float32)).tolist() == [-32768, 0, 32767]


class StuckStream:
    """A stream of a sound server that has died: ending it waits for ``released``."""

    def __init__(self) -> None:
        self.released = threading.Event()

    def abort(self) -> None:
        self.released.wait(10)

    def close(self) -> None: ...


def test_portaudio_is_not_ended_while_a_stream_is_still_being_closed() -> None:
    devices, stream = SoundDevices(), StuckStream()
    assert not devices.close(stream, 0.05)
    assert not devices.refresh(0.05)
    assert devices.generation == 0
    stream.released.set()
    assert devices.refresh(5)
    assert devices.generation == 1


class SlowHeadset:
    """A device that gives its first sound only after ``delay_s``, in stereo at ``rate``: a tone on the left alone."""

    generation = 0
    active = True

    def __init__(self, rate: int, delay_s: float) -> None:
        self.samplerate = rate
        self._left, self._ended = tone(1000, 3.0, rate), threading.Event()
        self._delay_s = delay_s

    def choose(self, direction: Direction, name: str = "") -> Device:
        return Device(0, "Headset", self.samplerate, 2, 2, True)

    def open(self, direction, device, rates, callback, block_s):  # type: ignore[no-untyped-def]
        block = round(block_s * self.samplerate)

        def play() -> None:
            self._ended.wait(self._delay_s)
            for start in range(0, len(self._left) - block, block):
                left = self._left[start : start + block]
                callback(np.stack([left, np.zeros_like(left)], axis=1), block, None, None)

        threading.Thread(target=play, daemon=True).start()
        return self

    def close(self, stream: object, patience_s: float = 1.0) -> bool:
        self._ended.set()
        return True


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
def test_a_headset_that_starts_slowly_in_stereo_is_waited_for(rate: int) -> None:
    bus = Bus()
    with bus.subscribe() as events:
        microphone = Microphone(AudioConfig(), SlowHeadset(rate, delay_s=1.3), bus)
        frames = [frame for frame in (microphone.read(3.0) for _ in range(20)) if frame is not None]
        microphone.close()
        assert events.get(0) is None  # no trouble, and none that was over
    heard = np.concatenate(frames)
    assert len(frames) == 20
    assert abs(np.argmax(np.abs(np.fft.rfft(heard))) * SAMPLE_RATE / len(heard) - 1000) < 5
