"""How good a trained wake word is, on voices that it never heard: rejects, accepts, their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from anovax.bench.table import wilson
from anovax.bench.wake import Point, point
from anovax.training.examples import Example
from anovax.voice import FRAME_S

THRESHOLDS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999)
PER_HOUR = 0.5


class Share(BaseModel):
    """``count`` of ``of``, with Wilson's 95% interval of the share."""

    model_config = ConfigDict(frozen=True)

    name: str
    count: int
    of: int
    share_95: tuple[float, float]


class Measured(BaseModel):
    """What follows from the scores. ``at``: with the threshold 0.5; ``best``: at the lowest threshold with at most 0.5
    false accepts an hour. ``near``: near phrases taken for the phrase; ``rejected``: the phrase missed, by family of
    voices."""

    model_config = ConfigDict(frozen=True)

    at: Point
    best: Point | None
    sweep: tuple[Point, ...]
    near: Share
    rejected: tuple[Share, ...]


class Report(Measured):
    """The figures, and how the wake word was made."""

    phrase: str
    file: str
    learning: tuple[str, ...]
    held_out: tuple[str, ...]
    missing: tuple[str, ...]
    learnt: int
    learnt_hours: float
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        """Whether fewer than 5% are rejected at no more than 0.5 false accepts per hour."""
        return self.best is not None and self.best.positives > 0 and self.best.false_reject < 0.05


def measured(examples: Sequence[Example], odds: Sequence[NDArray[np.float32]], threshold: float) -> Measured:
    """Figures from the log odds of each frame of each example; ``threshold`` is where a score of 0.5 lies."""
    scores = [1 / (1 + np.exp(-np.clip(x.astype(float) - threshold, -40, 40))) for x in odds]
    highest = [float(x.max(initial=0.0)) for x in scores]
    hits = [high for example, high in zip(examples, highest, strict=True) if example.scene.kind == "phrase"]
    speech = [x.tolist() for example, x in zip(examples, scores, strict=True) if _counts(example)]
    hours = sum(map(len, speech)) * FRAME_S / 3600
    sweep = tuple(point(at, hits, speech, hours) for at in THRESHOLDS)
    near = [high for example, high in zip(examples, highest, strict=True) if example.scene.kind == "near"]
    return Measured(
        at=point(0.5, hits, speech, hours),
        best=next((p for p in sweep if hours and p.per_hour <= PER_HOUR), None),
        sweep=sweep,
        near=_share("near phrases", [high >= 0.5 for high in near]),
        rejected=tuple(_rejected(examples, highest)),
    )


def _counts(example: Example) -> bool:
    return example.scene.kind in ("speech", "noise", "recording")


def _rejected(examples: Sequence[Example], highest: Sequence[float]) -> list[Share]:
    said = [(e.scene.voice.family, high) for e, high in zip(examples, highest, strict=True)
            if e.scene.kind == "phrase" and e.scene.voice is not None]  # fmt: skip
    return [
        _share(name, [high < 0.5 for family, high in said if family == name]) for name in sorted({f for f, _ in said})
    ]


def _share(name: str, which: Sequence[bool]) -> Share:
    return Share(name=name, count=sum(which), of=len(which), share_95=wilson(sum(which), len(which)))
