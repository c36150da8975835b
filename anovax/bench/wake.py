"""How well and how cheaply a wake word is heard: rejects, false accepts per hour, their intervals, CPU time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from pydantic import BaseModel, ConfigDict

from anovax.bench.table import wilson
from anovax.errors import UsageError
from anovax.voice import FRAME_S, SAMPLE_RATE, Detection, Samples
from anovax.voice.audio import read_blocks
from anovax.voice.wake import frames_of

THRESHOLDS = tuple(round(0.05 * i, 2) for i in range(1, 20))
REFRACTORY_S = 1.6
ENDINGS = {".wav", ".flac", ".mp3", ".ogg", ".opus", ".m4a"}
POSITIVE_FOLDERS = ("wake", "positive")


class Detector(Protocol):
    """anovax.voice.wake.WakeDetector."""

    threshold: float
    score: float

    def reset(self) -> None: ...

    def feed(self, frame: Samples) -> Detection | None: ...


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Point(_Frozen):
    """One threshold. Rates with 95% intervals: Wilson's for rejects, the exact Poisson one for false accepts."""

    threshold: float
    detected: int
    positives: int
    false_reject: float
    false_reject_95: tuple[float, float]
    false_accepts: int
    hours: float
    per_hour: float
    per_hour_95: tuple[float, float]


class WakeReport(_Frozen):
    """``cpu_percent``: of one core, over all that was listened to; ``at`` is the threshold in use."""

    word: str
    at: Point
    sweep: tuple[Point, ...]
    cpu_percent: float


class CpuReport(_Frozen):
    """CPU in percent of one core over ``seconds`` of sound each."""

    seconds: float
    silence_percent: float
    speech_percent: float
    plain_silence_percent: float
    plain_speech_percent: float


def measure(
    detector: Detector,
    word: str,
    positives: Sequence[Path],
    negatives: Sequence[Path],
    progress: Callable[[Path], None] = lambda path: None,
) -> WakeReport:
    """Listen to every recording once; each positive one holds the wake word once. Raises UsageError, AudioError."""
    if not positives and not negatives:
        raise UsageError("There are no recordings", "name a folder with sound files")
    started, cpu = 0.0, time.process_time()
    hits: list[float] = []
    misses: list[list[float]] = []
    for path in (*positives, *negatives):
        progress(path)
        scores = frame_scores(detector, path)
        started += len(scores) * FRAME_S
        if path in positives:
            hits.append(max(scores, default=0.0))
        else:
            misses.append(scores)
    cpu = time.process_time() - cpu
    hours = sum(map(len, misses)) * FRAME_S / 3600
    sweep = tuple(point(threshold, hits, misses, hours) for threshold in THRESHOLDS)
    at = point(detector.threshold, hits, misses, hours)
    return WakeReport(word=word, at=at, sweep=sweep, cpu_percent=round(100 * cpu / max(started, 1e-9), 2))


def frame_scores(detector: Detector, path: Path) -> list[float]:
    """The score of every 80 ms frame of a recording, with a second of silence before it and after it."""
    detector.reset()
    scores = []
    for frame in frames_of(_padded(path), pad_s=1.0):
        detector.feed(frame)
        scores.append(detector.score)
    return scores


def recordings(folder: Path) -> tuple[list[Path], list[Path]]:
    """Positive and negative recordings below ``folder``: those in a folder called wake… or positive…, and the rest."""
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}", "name a folder with sound files")
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS)
    positive = [p for p in found if p.parent.name.lower().startswith(POSITIVE_FOLDERS)]
    return positive, [p for p in found if p not in positive]


def measure_cpu(
    gated: Detector, plain: Callable[[Samples], object], speech: Samples, seconds: float = 600.0
) -> CpuReport:
    """CPU share in a quiet room and in speech (int16[n], repeated): ours, and ``plain``'s, called for each frame."""
    quiet = np.random.default_rng(0).normal(0, 8, SAMPLE_RATE * 20).astype(np.int16)
    gated.reset()
    shares = [_share(step, sound, seconds) for step in (gated.feed, plain) for sound in (quiet, speech)]
    return CpuReport(
        seconds=seconds,
        silence_percent=shares[0],
        speech_percent=shares[1],
        plain_silence_percent=shares[2],
        plain_speech_percent=shares[3],
    )


def plot_det(report: WakeReport, path: Path) -> None:
    """The detection error trade-off curve as a picture."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 4))
    axes.plot(
        [p.per_hour for p in report.sweep], [100 * p.false_reject for p in report.sweep], marker="o", markersize=3
    )
    axes.plot([report.at.per_hour], [100 * report.at.false_reject], "rs", label=f"threshold {report.at.threshold}")
    axes.set(xlabel="false accepts per hour", ylabel="false rejects (%)", title=f"{report.word}: DET")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)


def point(threshold: float, hits: list[float], misses: list[list[float]], hours: float) -> Point:
    detected = sum(score >= threshold for score in hits)
    false = sum(count_accepts(scores, threshold) for scores in misses)
    low, high = poisson_95(false)
    return Point(
        threshold=threshold,
        detected=detected,
        positives=len(hits),
        false_reject=1 - detected / len(hits) if hits else 0.0,
        false_reject_95=wilson(len(hits) - detected, len(hits)),
        false_accepts=false,
        hours=round(hours, 4),
        per_hour=false / hours if hours else 0.0,
        per_hour_95=(low / hours, high / hours) if hours else (0.0, math.inf),
    )


def count_accepts(scores: Iterable[float], threshold: float) -> int:
    """How often a detector with this threshold would have fired; one phrase fires once."""
    count, blocked = 0, -1
    for index, score in enumerate(scores):
        if score >= threshold and index >= blocked:
            count += 1
            blocked = index + round(REFRACTORY_S / FRAME_S)
    return count


def poisson_95(count: int) -> tuple[float, float]:
    """The exact interval of a Poisson count (Garwood 1936)."""
    from scipy.stats import chi2

    low = float(chi2.ppf(0.025, 2 * count)) / 2 if count else 0.0
    return low, float(chi2.ppf(0.975, 2 * count + 2)) / 2


def _padded(path: Path) -> Iterable[Samples]:
    yield np.zeros(SAMPLE_RATE, np.int16)
    yield from read_blocks(path)


def _share(step: Callable[[Samples], object], sound: Samples, seconds: float) -> float:
    frames = list(frames_of([sound]))
    count = round(seconds / FRAME_S)
    started = time.process_time()
    for index in range(count):
        step(frames[index % len(frames)])
    return round(100 * (time.process_time() - started) / seconds, 2)
