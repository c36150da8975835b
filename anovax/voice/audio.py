"""Recordings: any file that FFmpeg can read becomes 16 kHz mono, in blocks of bounded size; WAV files are written."""

from __future__ import annotations

import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from anovax.errors import AudioError
from anovax.files import replacing
from anovax.voice import SAMPLE_RATE, Floats, Samples, to_float

MAX_S = 30 * 60.0
BLOCK_S = 10.0


def load_audio(path: Path | str, max_s: float = MAX_S) -> Floats:
    """The recording at ``path`` as float32[n], mono, 16 kHz, in -1 to 1.

    Raises AudioError when the file is missing, no recording, damaged, empty, or longer than ``max_s`` seconds; the
    length is checked while it is read, so memory stays bounded whatever the file says about itself.
    """
    path = Path(path)
    limit, blocks, count = int(max_s * SAMPLE_RATE), [], 0
    for block in read_blocks(path):
        count += len(block)
        if count > limit:
            raise AudioError(f"{path} is longer than {max_s / 60:g} minutes", "cut it into shorter recordings")
        blocks.append(block)
    return to_float(np.concatenate(blocks))


def read_blocks(path: Path | str, block_s: float = BLOCK_S) -> Iterator[Samples]:
    """The recording at ``path``, block by block: int16[<= block_s * 16000], mono, 16 kHz. Raises AudioError."""
    path = Path(path)
    _check(path)
    size, waiting, count, total = int(block_s * SAMPLE_RATE), [], 0, 0
    for piece in _decoded(path):
        waiting.append(piece)
        count += len(piece)
        total += len(piece)
        while count >= size:
            joined = np.concatenate(waiting)
            yield joined[:size]
            waiting, count = [joined[size:]], count - size
    if not total:
        raise AudioError(f"{path} holds no sound", "choose a recording that is not empty")
    if count:
        yield np.concatenate(waiting)


def write_wav(path: Path, samples: Samples, rate: int = SAMPLE_RATE) -> None:
    """int16[n] as a mono 16-bit WAV file, written atomically."""
    with replacing(path) as temporary, wave.open(str(temporary), "wb") as stream:
        stream.setnchannels(1)
        stream.setsampwidth(2)
        stream.setframerate(rate)
        stream.writeframes(samples.astype("<i2").tobytes())


def duration(path: Path | str) -> float | None:
    """Length in seconds as the file's header states it, None when it does not say. Raises AudioError."""
    import av

    path = Path(path)
    _check(path)
    try:
        with av.open(str(path.absolute())) as container:
            return container.duration / av.time_base if container.duration else None
    except (av.FFmpegError, ValueError) as error:
        raise _not_audio(path) from error


def _check(path: Path) -> None:
    if path.is_dir():
        raise AudioError(f"{path} is a folder", "name a recording in it")
    if not path.exists():
        raise AudioError(f"There is no file {path}", "check its name")
    if not path.is_file():  # opening a pipe waits for its other end, and it can be read only once
        raise AudioError(f"{path} is a pipe or a device", "write the sound to a file first")
    try:
        with path.open("rb") as stream:
            if not stream.read(1):
                raise AudioError(f"{path} is empty", "choose a recording that is not empty")
    except OSError as error:
        raise AudioError(f"{path} cannot be read ({error.strerror})", "check its permissions") from error


def _decoded(path: Path) -> Iterator[Samples]:
    import av

    try:
        with av.open(str(path.absolute())) as container:
            if not container.streams.audio:
                raise _not_audio(path)
            resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE)
            for frame in container.decode(audio=0):
                for part in resampler.resample(frame):
                    yield _pcm(part)
            for part in resampler.resample(None):
                yield _pcm(part)
    except (av.FFmpegError, ValueError) as error:
        raise _not_audio(path) from error


def _pcm(frame: Any) -> Samples:
    pcm: Samples = frame.to_ndarray().reshape(-1)
    return pcm


def _not_audio(path: Path) -> AudioError:
    return AudioError(
        f"{path} is not a recording that can be read", "use WAV, FLAC, MP3, Ogg, M4A or another sound file"
    )
