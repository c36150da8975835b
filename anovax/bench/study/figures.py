"""From rows to figures: quantiles with bootstrap intervals, accuracy with score intervals, word error rate, energy.

Rows of one request belong together, so the bootstrap (Efron 1979) draws requests, not rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anovax.bench.study.rows import STAGES, Row
from anovax.bench.table import wilson

ROUNDS = 1000
# Summary of ../shared/paper.txt: milliseconds, and never measured by this program.
PUBLISHED = {"stt": (600.0, 1400.0), "plan": (700.0, 2000.0), "dispatch": (0.0, 50.0)}
PUBLISHED_LABEL = "published, not measured here"
Values = dict[str, list[float]]  # by request


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95% interval (NaN from fewer than two requests), and from how many rows."""

    value: float
    low: float
    high: float
    rows: int

    def shown(self, unit: str = "") -> str:
        if not self.rows:
            return "not measured"
        return f"{number(self.value)}{unit} ({number(self.low)} to {number(self.high)})"


@dataclass(frozen=True)
class Group:
    """All rows of one backend in one mode."""

    backend: str
    mode: str
    rows: tuple[Row, ...]

    @property
    def simulated(self) -> bool:
        return self.rows[0].simulated

    @property
    def title(self) -> str:
        label = f"{self.backend}, {self.mode}"
        return f"{label} (simulated network)" if self.simulated else label

    def values(self, stage: str) -> Values:
        found: Values = defaultdict(list)
        for row in self.rows:
            value = getattr(row, stage)
            if value is not None and not row.error:
                found[row.request].append(float(value))
        return found

    def stages(self) -> list[str]:
        return [stage for stage in STAGES if self.values(stage)]

    def quantile(self, stage: str, q: float, seed: int = 0) -> Estimate:
        return quantile(self.values(stage), q, seed)

    def share(self, name: str) -> Estimate:
        """How often ``tools_right`` or ``argument_right``, over requests that have a label."""
        known = [getattr(row, name) for row in self.rows if getattr(row, name) is not None]
        if not known:
            return Estimate(float("nan"), float("nan"), float("nan"), 0)
        per_request = {row.request for row in self.rows if getattr(row, name) is not None}
        share = sum(known) / len(known)  # repeats of a request are not new evidence: the interval counts requests
        return Estimate(share, *wilson(round(share * len(per_request)), len(per_request)), len(known))

    def word_error_rate(self) -> float | None:
        total = sum(row.words or 0 for row in self.rows)
        return sum(row.word_errors or 0 for row in self.rows) / total if total else None

    def joules(self) -> float | None:
        known = [row.energy_j for row in self.rows if row.energy_j is not None]
        return sum(known) / len(known) if known else None

    @property
    def errors(self) -> int:
        return sum(bool(row.error) for row in self.rows)


def groups(rows: Iterable[Row]) -> list[Group]:
    """By backend and mode, in the order of their names."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        found[row.backend, row.mode].append(row)
    return [Group(*key, tuple(found[key])) for key in sorted(found)]


def drawn(requests: int, seed: int, rounds: int = ROUNDS) -> Any:
    """Indices of requests, int64[rounds, requests]."""
    return np.random.default_rng(seed).integers(0, requests, (rounds, requests))


def resampled(values: Values, q: float, draws: Any, order: Sequence[str]) -> Any:
    """The q-quantile of each draw of requests, float64[rounds]."""
    width = max(map(len, values.values()))
    table = np.full((len(order), width), np.nan)
    for place, request in enumerate(order):
        table[place, : len(values[request])] = values[request]
    return np.nanquantile(table[draws].reshape(len(draws), -1), q, axis=1)


def quantile(values: Values, q: float, seed: int = 0) -> Estimate:
    flat = [value for many in values.values() for value in many]
    if not flat:
        return Estimate(float("nan"), float("nan"), float("nan"), 0)
    value, nothing = float(np.quantile(flat, q)), float("nan")
    if len(values) < 2:
        return Estimate(value, nothing, nothing, len(flat))
    many = resampled(values, q, drawn(len(values), seed), sorted(values))
    return Estimate(value, float(np.quantile(many, 0.025)), float(np.quantile(many, 0.975)), len(flat))


def number(value: float) -> str:
    """Enough digits and no more; a dash for what cannot be said."""
    if value != value:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2g}"
