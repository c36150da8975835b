"""Piper, as a stream: sound comes while the rest of the sentence is still being made.

A Piper voice is a VITS network (Kim et al. 2021, arXiv:2106.06103): text to latent frames, then a HiFi-GAN decoder
(Kong et al. 2020, arXiv:2010.05646) that makes samples of them and takes most of the time. The decoder is a stack of
convolutions: a frame depends on a few neighbours only, so it can be run on a part of the frames, and the parts join to
exactly the sound that the whole gives.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anovax.errors import WeightsError
from anovax.voice import Samples
from anovax.voice.network_cut import cut, input_of

DECODER = "/dec/conv_pre/Conv"  # the decoder's first node, as Piper's export names it
NEIGHBOURS = 10  # frames on each side that a frame's sound depends on
FIRST_FRAMES = 24  # about a quarter of a second
MOST_FRAMES = 96
GAIN = 1.5  # Piper's voices peak at a third to two thirds of full scale
QUIET = 300  # int16 level below which a sound has not begun
PAUSE_S = 0.12
PACE = 0.5  # made in less than this part of its length, a chunk twice as long is ready when the one before has ended


class Synthesiser:
    """One Piper voice with one speaker. One thread. Raises WeightsError when it cannot be loaded."""

    def __init__(self, voice_path: Path, volume: float = 1.0) -> None:
        self._volume = volume
        self._voice, self._decoder = _load(Path(voice_path))
        self._latent = self._decoder.get_inputs()[0].name
        self.rate: int = self._voice.config.sample_rate

    def chunks(self, text: str, lead_s: float = 0.04) -> Iterator[tuple[float, Samples]]:
        """The sound of ``text`` as it is made: (how much of it has been said then, 0 to 1; int16[n] at ``rate``).

        It begins ``lead_s`` before the first sound (Piper leaves 40 to 290 ms) and ends with a short pause. Nothing
        comes when there is nothing to say.
        """
        sentences = [phonemes for phonemes in self._voice.phonemize(text) if phonemes]
        for index, phonemes in enumerate(sentences):
            frames = self._frames(self._voice.phonemes_to_ids(phonemes))
            for share, sound in unhurried(trimmed(self._decoded(frames), self.rate, lead_s), self.rate):
                yield (index + share) / len(sentences), sound

    def _frames(self, ids: list[int]) -> NDArray[np.float32]:
        """Latent frames float32[1, channels, n] of phonemes."""
        config = self._voice.config
        scales = np.array([config.noise_scale, config.length_scale, config.noise_w_scale], np.float32)
        feed = {"input": np.array([ids], np.int64), "input_lengths": np.array([len(ids)], np.int64), "scales": scales}
        frames: NDArray[np.float32] = self._voice.session.run(None, feed)[0]
        return frames

    def _decoded(self, frames: NDArray[np.float32]) -> Iterator[tuple[float, Samples]]:
        count = frames.shape[2]
        for start, end in pairwise(spans(count)):
            before = min(start, NEIGHBOURS)
            part = np.ascontiguousarray(frames[:, :, start - before : end + NEIGHBOURS])
            sound = self._decoder.run(None, {self._latent: part})[0].reshape(-1)
            hop = len(sound) // part.shape[2]
            sound = sound[before * hop : (before + end - start) * hop] * (GAIN * self._volume * 32767)
            yield end / count, np.clip(sound, -32767, 32767).astype(np.int16)


def spans(count: int) -> list[int]:
    """Where to cut ``count`` frames: the first part short, each next twice as long, no short rest."""
    cuts, size = [0], FIRST_FRAMES
    while count - cuts[-1] > size * 3 // 2:
        cuts.append(cuts[-1] + size)
        size = min(MOST_FRAMES, 2 * size)
    return [*cuts, count]


def trimmed(chunks: Iterable[tuple[float, Samples]], rate: int, lead_s: float) -> Iterator[tuple[float, Samples]]:
    """``chunks`` without the silence before the first sound, with a short pause after the last."""
    begun, held = False, np.zeros(0, np.int16)
    for share, chunk in chunks:
        sound = np.concatenate([held, chunk])
        loud = np.flatnonzero(np.abs(sound.astype(np.int32)) > QUIET)
        start = max(0, int(loud[0]) - round(lead_s * rate)) if len(loud) and not begun else 0
        end = int(loud[-1]) + 1 if len(loud) else 0
        begun, held = begun or end > 0, sound[end:]
        if end:
            yield share, sound[start:end]
    if begun:
        yield 1.0, held[: round(PAUSE_S * rate)]


def unhurried(
    chunks: Iterator[tuple[float, Samples]], rate: int, clock: Callable[[], float] = time.perf_counter
) -> Iterator[tuple[float, Samples]]:
    """``chunks`` as they come; but all at once where this machine is too busy to make them as fast as they are played:
    a pause before a sentence is better than one in the middle of a word."""
    started = clock()
    held: list[Samples] = []
    for index, (share, sound) in enumerate(chunks):
        slow = index == 0 and clock() - started > PACE * len(sound) / rate
        if held or slow:
            held.append(sound)
        else:
            yield share, sound
    if held:
        yield 1.0, np.concatenate(held)


def _load(path: Path) -> tuple[Any, Any]:
    """Piper's front end with the first part of the network, and the decoder; on threads that sleep when they wait:
    spinning ones starve whatever shares the cores."""
    from piper import PiperVoice
    from piper.config import PiperConfig

    try:
        config = PiperConfig.from_dict(json.loads(path.with_name(f"{path.name}.json").read_text("utf-8")))
        network = path.read_bytes()
        first, decoder = cut(network, input_of(network, DECODER))
        return PiperVoice(config=config, session=_session(first)), _session(decoder)
    except Exception as error:  # onnxruntime's exceptions share no base class
        reason = str(error).splitlines()[0]
        raise WeightsError(f"The voice {path} cannot be loaded ({reason})", "run: anovax models verify") from error


def _session(network: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(network, sess_options=options, providers=["CPUExecutionProvider"])
