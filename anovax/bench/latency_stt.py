"""Speech to text against faster-whisper's own default call with the same weights: time, word error rate, loops."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from anovax.bench.table import read_table
from anovax.errors import UsageError
from anovax.voice import SAMPLE_RATE, Floats, Transcript
from anovax.voice.audio import load_audio
from anovax.voice.guards import compression

SHORT_S = 8.0
LOOP = 2.4  # Whisper's own threshold for a text that repeats itself


class Recogniser(Protocol):
    """anovax.voice.transcribe.Transcriber."""

    def transcribe(self, samples: Floats) -> Transcript: ...


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Clip(_Frozen):
    """One recording and what was said; ``[slots] a; b`` are phrases that must occur, ``[contains] x`` one."""

    path: Path
    text: str


class Side(_Frozen):
    """One recogniser over all clips; times in ms over the clips shorter than 8 s."""

    errors: int
    words: int
    word_error_rate: float
    median_ms: float
    p95_ms: float
    loops: int
    fallbacks: int = 0


class SttReport(_Frozen):
    """``speedup``: median of the default call over ours; ``rate_change``: ours minus the default's word error rate;
    ``unhinted``: ours without the vocabulary hint."""

    clips: int
    short_clips: int
    ours: Side
    default: Side
    unhinted: Side | None = None
    speedup: float
    rate_change: float


class _Run(_Frozen):
    text: str
    ms: float
    seconds: float
    fallback: bool = False


def read_clips(table: Path) -> list[Clip]:
    """Clips of a tab-separated table with columns path and text, paths relative to the folder above the table's."""
    if not table.is_file():
        raise UsageError(f"There is no table {table}", "name a transcripts.tsv with the columns path and text")
    rows = read_table(table, ("path", "text"))
    roots = (table.parent, table.parent.parent)
    clips = [(next((r / row["path"] for r in roots if (r / row["path"]).is_file()), None), row["text"]) for row in rows]
    return [Clip(path=path, text=text) for path, text in clips if path is not None and text]


def measure(
    recogniser: Recogniser,
    model_path: Path,
    clips: Sequence[Clip],
    threads: int = 2,
    progress: Callable[[Path], None] = lambda path: None,
    unhinted: Recogniser | None = None,
) -> SttReport:
    """Transcribe every clip both ways (and without the hint), in turns. Raises UsageError, AudioError."""
    if not clips:
        raise UsageError(
            "There are no clips with a transcript", "name a transcripts.tsv with the columns path and text"
        )
    default = _default(model_path, threads)
    ours_runs, default_runs, unhinted_runs = [], [], []
    for clip in clips:
        progress(clip.path)
        sound = load_audio(clip.path)
        ours_runs.append(_timed(partial(_ours, recogniser), sound))
        default_runs.append(
            _timed(lambda x: (" ".join(s.text for s in default.transcribe(x, language="en")[0]), False), sound)
        )
        if unhinted is not None:
            unhinted_runs.append(_timed(partial(_ours, unhinted), sound))
    ours, other = _side(clips, ours_runs), _side(clips, default_runs)
    return SttReport(
        clips=len(clips),
        short_clips=sum(run.seconds < SHORT_S for run in ours_runs),
        ours=ours,
        default=other,
        unhinted=_side(clips, unhinted_runs) if unhinted is not None else None,
        speedup=round(other.median_ms / max(ours.median_ms, 1e-9), 2),
        rate_change=round(ours.word_error_rate - other.word_error_rate, 4),
    )


def _ours(recogniser: Recogniser, sound: Floats) -> tuple[str, bool]:
    heard = recogniser.transcribe(sound)
    return heard.text, heard.fallback


def _default(model_path: Path, threads: int) -> Any:
    from faster_whisper import WhisperModel

    return WhisperModel(str(model_path), device="cpu", cpu_threads=threads, local_files_only=True)


def _timed(call: Callable[[Floats], tuple[str, bool]], sound: Floats) -> _Run:
    started = time.perf_counter()
    text, fallback = call(sound)
    ms = (time.perf_counter() - started) * 1000
    return _Run(text=text, ms=ms, seconds=len(sound) / SAMPLE_RATE, fallback=fallback)


def _side(clips: Sequence[Clip], runs: Sequence[_Run]) -> Side:
    counts = [word_errors(clip.text, run.text) for clip, run in zip(clips, runs, strict=True)]
    errors, words = sum(e for e, _ in counts), sum(n for _, n in counts)
    times = sorted(run.ms for run in runs if run.seconds < SHORT_S) or [0.0]
    return Side(
        errors=errors,
        words=words,
        word_error_rate=round(errors / max(1, words), 4),
        median_ms=round(statistics.median(times), 1),
        p95_ms=round(times[min(len(times) - 1, round(0.95 * len(times)))], 1),
        loops=sum(compression(run.text) > LOOP for run in runs),
        fallbacks=sum(run.fallback for run in runs),
    )


def word_errors(reference: str, heard: str) -> tuple[int, int]:
    """Errors and words of one clip, after Whisper's English normaliser (Radford et al. 2022, appendix C)."""
    from whisper_normalizer.english import EnglishTextNormalizer

    clean = EnglishTextNormalizer()
    said = clean(heard)
    if reference.startswith("[slots]"):
        slots = [clean(slot.strip()) for slot in reference.removeprefix("[slots]").split(";")]
        return sum(len(s.split()) for s in slots if s not in said), sum(len(s.split()) for s in slots)
    wanted = clean(reference.removeprefix("[contains]").strip())
    if reference.startswith("[contains]") and wanted in said:
        return 0, len(wanted.split())
    return distance(wanted.split(), said.split()), len(wanted.split())


def distance(wanted: Sequence[str], got: Sequence[str]) -> int:
    """Least number of words inserted, deleted or replaced (Levenshtein 1966)."""
    row = list(range(len(got) + 1))
    for i, a in enumerate(wanted, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(got, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]
