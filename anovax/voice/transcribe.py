"""Speech to text: faster-whisper's model with an encoder window that fits, and guards against its inventions.

Whisper (Radford et al. 2022, arXiv:2212.04356) always encodes 30 s. Its encoder also accepts less, which is where the
time goes; but a window cut close to the words makes the decoder repeat itself. So the window has a floor, whatever
looks like a loop or a guess is decoded again with the full window and more beams, and nothing is decoded in silence.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from anovax.config import SttConfig
from anovax.errors import AudioError, WeightsError
from anovax.tool import CancelFlag
from anovax.voice import SAMPLE_RATE, Floats, Samples, SpeechProbability, Transcript, to_float, to_int16
from anovax.voice.guards import Decoded, believed, doubtful, likelier, tidy, wants_hint

FULL_WINDOW_S = 30.0
SHORT_WINDOW_S = 12.0
SHORT_S = 8.0  # the longest sound that the short window is used for
FULL_BEAM = 5
SEGMENT_S = 24.0
MIN_SPEECH_S = 0.10
ENOUGH_SPEECH_S = 0.5  # no judgement asks for more
VAD_CHUNK = 512
MOST_HINT = 120  # tokens; the last ones weigh most


class Transcriber:
    """One Whisper model and the one thread that runs it.

    ``hint`` gives words that are likely to be said; ``vad`` judges whether anybody speaks (None: always
    believed). Raises WeightsError when the model cannot be loaded.
    """

    def __init__(
        self,
        config: SttConfig,
        model_path: Path,
        hint: Callable[[], str] = lambda: "",
        vad: SpeechProbability | None = None,
    ) -> None:
        self._config, self._hint, self._vad = config, hint, vad
        self._model = _load(Path(model_path), config)
        self._tokens = _tokenizer(self._model, config.language)
        self._suppressed = _suppressed(self._tokens)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="stt")

    def transcribe(
        self,
        samples: Samples | Floats,
        cancel: CancelFlag | None = None,
        progress: Callable[[float], None] = lambda seconds: None,
    ) -> Transcript:
        """The text of ``samples`` (int16[n] or float32[n], 16 kHz). Empty text when nobody speaks.

        Long recordings are cut at quiet places; ``progress`` gets the seconds done. Raises Cancelled, AudioError.
        """
        return self.submit(samples, cancel, progress).result()

    def submit(
        self,
        samples: Samples | Floats,
        cancel: CancelFlag | None = None,
        progress: Callable[[float], None] = lambda seconds: None,
    ) -> Future[Transcript]:
        """The same, without waiting. Jobs run one after the other."""
        if samples.ndim != 1:
            raise AudioError("The sound is not mono", "mix it down to one channel first")
        return self._worker.submit(self._run, samples, cancel or CancelFlag(), progress)

    def close(self) -> None:
        """Finish the job at hand and stop. Safe twice."""
        self._worker.shutdown(wait=True, cancel_futures=True)

    def _run(self, samples: Samples | Floats, cancel: CancelFlag, progress: Callable[[float], None]) -> Transcript:
        started, done, parts = time.perf_counter(), 0, []
        sound = _floats(samples)
        for segment in segments(sound):
            cancel.check()
            parts.append(self._segment(segment))
            done += len(segment)
            progress(done / SAMPLE_RATE)
        return _joined(parts, len(sound) / SAMPLE_RATE, (time.perf_counter() - started) * 1000)

    def _segment(self, sound: Floats) -> tuple[Decoded, bool]:
        """Decode at most SEGMENT_S seconds; whether the full window had to be used."""
        spoken = self._speech_seconds(sound)
        if spoken < MIN_SPEECH_S or float(np.abs(sound).max(initial=0.0)) < 1e-4:
            return Decoded("", 1.0, 0.0, 0.0), False
        seconds = len(sound) / SAMPLE_RATE
        window, beam = window_for(seconds), max(self._config.beam, FULL_BEAM)
        if window == FULL_WINDOW_S:
            return believed(self._decode(sound, window, beam), spoken), False
        encoded = self._encode(sound, window)
        result = self._generate(encoded, sound, window, self._config.beam)
        if wants_hint(result) and (hint := self._hinted()):
            result = likelier(result, self._generate(encoded, sound, window, self._config.beam, hint))
        if not doubtful(result, seconds):
            return believed(result, spoken), False
        return believed(self._decode(sound, FULL_WINDOW_S, beam), spoken), True

    def _speech_seconds(self, sound: Floats) -> float:
        """How long somebody speaks; once that is ENOUGH_SPEECH_S, the rest is not looked at."""
        if self._vad is None:
            return len(sound) / SAMPLE_RATE
        self._vad.reset()
        pcm = to_int16(sound)
        chunks = (pcm[i : i + VAD_CHUNK] for i in range(0, len(pcm) - VAD_CHUNK + 1, VAD_CHUNK))
        spoken = (chunk for chunk in chunks if self._vad(chunk) >= 0.5)
        enough = math.ceil(ENOUGH_SPEECH_S * SAMPLE_RATE / VAD_CHUNK)
        return sum(1 for _ in islice(spoken, enough)) * VAD_CHUNK / SAMPLE_RATE

    def _decode(self, sound: Floats, window_s: float, beam: int) -> Decoded:
        return self._generate(self._encode(sound, window_s), sound, window_s, beam)

    def _encode(self, sound: Floats, window_s: float) -> Any:
        import ctranslate2

        mels = self._mels(sound, window_s)
        return self._model.model.encode(ctranslate2.StorageView.from_array(np.ascontiguousarray(mels[None])))

    def _generate(self, encoded: Any, sound: Floats, window_s: float, beam: int, hint: Sequence[int] = ()) -> Decoded:
        prompt: list[int] = self._model.get_prompt(self._tokens, list(hint))
        limit = len(prompt) + 12 + math.ceil(len(sound) / SAMPLE_RATE * 9)  # nobody says nine tokens a second
        best = self._model.model.generate(
            encoded,
            [prompt],
            beam_size=beam,
            return_scores=True,
            return_no_speech_prob=True,
            suppress_blank=True,
            suppress_tokens=self._suppressed,
            max_length=min(448, limit),
            max_initial_timestamp_index=50,
        )[0]
        ids = best.sequences_ids[0]
        text = tidy(self._tokens.decode(ids))
        return Decoded(text, best.no_speech_prob, best.scores[0] * len(ids) / (len(ids) + 1), window_s)

    def _mels(self, sound: Floats, window_s: float) -> Floats:
        mels: Floats = self._model.feature_extractor(sound)
        width = round(window_s * 100)
        return np.pad(mels[:, :width], ((0, 0), (0, max(0, width - mels.shape[1]))))

    def _hinted(self) -> list[int]:
        hint = " ".join(filter(None, (self._config.hint, self._hint()))).strip()
        tokens: list[int] = self._tokens.encode(" " + hint)[-MOST_HINT:] if hint else []
        return tokens


def _floats(samples: Samples | Floats) -> Floats:
    if samples.dtype == np.int16:
        return to_float(samples.astype(np.int16, copy=False))
    return samples.astype(np.float32)


def window_for(seconds: float) -> float:
    """The encoder window in seconds for so much sound.

    Short ones get 12 s: with 10 s Whisper repeats itself, and twice as many must be decoded again; with longer sound it
    starts to make mistakes that the full window does not.
    """
    return SHORT_WINDOW_S if seconds <= SHORT_S else FULL_WINDOW_S


def segments(sound: Floats, longest_s: float = SEGMENT_S) -> Iterator[Floats]:
    """Cut a recording (float32[n]) into pieces of at most ``longest_s``, at the quietest spot of each last third."""
    longest, step = int(longest_s * SAMPLE_RATE), SAMPLE_RATE // 10
    start = 0
    while len(sound) - start > longest:
        first = start + longest * 2 // 3
        blocks = sound[first : start + longest]
        blocks = blocks[: len(blocks) // step * step].reshape(-1, step)
        cut = first + int(np.square(blocks).mean(axis=1).argmin()) * step + step // 2
        yield sound[start:cut]
        start = cut
    yield sound[start:]


def _joined(parts: list[tuple[Decoded, bool]], seconds: float, ms: float) -> Transcript:
    heard = [part for part, _ in parts if part.text] or [part for part, _ in parts]
    return Transcript(
        text=" ".join(part.text for part in heard).strip(),
        seconds=round(seconds, 3),
        ms=round(ms, 1),
        window_s=max((part.window_s for part, _ in parts), default=0.0),
        fallback=any(fallback for _, fallback in parts),
        no_speech=round(max((part.no_speech for part in heard), default=1.0), 3),
        logprob=round(min((part.logprob for part in heard), default=0.0), 3),
    )


def _load(path: Path, config: SttConfig) -> Any:
    os.environ.setdefault(
        "OMP_WAIT_POLICY", "passive"
    )  # threads that spin at barriers starve whatever shares the cores
    from faster_whisper import WhisperModel

    if not (path / "model.bin").is_file():
        raise WeightsError(f"There is no speech model at {path}", "run: anovax models fetch")
    try:
        return WhisperModel(
            str(path), device="cpu", compute_type="int8", cpu_threads=config.threads, local_files_only=True
        )
    except (RuntimeError, ValueError, OSError) as error:
        raise WeightsError(
            f"The speech model at {path} cannot be loaded ({error})", "run: anovax models verify"
        ) from error


def _tokenizer(model: Any, language: str) -> Any:
    from faster_whisper.tokenizer import Tokenizer

    many = model.model.is_multilingual
    return Tokenizer(model.hf_tokenizer, many, task="transcribe", language=language if many else "en")


def _suppressed(tokens: Any) -> list[int]:
    from faster_whisper.transcribe import get_suppressed_tokens

    return list(get_suppressed_tokens(tokens, [-1]))
