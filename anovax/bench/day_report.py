"""What a day of use was like: slices of about a hundred requests, what grew, and the end compared with the start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise
from typing import Any

import numpy as np

from anovax.bench.footprint import Footprint, Growth, growth, lowest
from anovax.bench.study.figures import Values, drawn, resampled
from anovax.bench.table import percentile, table

SLICE = 100
LEAST_SLICES = 2
SLOWER = 10.0  # percent that p95 may be higher at the end


@dataclass(frozen=True)
class Answer:
    """``ms``: from the end of the request to the beginning of the answer, None when none came; ``ok``: it was done."""

    request: str
    ms: float | None
    ok: bool
    footprint: Footprint


@dataclass(frozen=True)
class Slice:
    """Some requests in a row. ``held``: the least of each figure; ``unanswered``: nothing was heard or understood."""

    first: int
    requests: int
    done: int
    unanswered: int
    p50: float
    p95: float
    held: Footprint


@dataclass(frozen=True)
class Pace:
    """p95 in ms over the same requests at the start and at the end of the day, and the change in percent with its 95%
    interval (a paired bootstrap over requests)."""

    start: float
    end: float
    change: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        return self.change <= SLOWER


@dataclass
class Day:
    """The answers, in order, and the record: how many lines, and where its chain is broken."""

    answers: list[Answer] = field(default_factory=list)
    lines: int = 0
    faults: tuple[str, ...] = ()

    def slices(self) -> list[Slice]:
        """Even ones of about a hundred requests, and no fewer than two."""
        count = min(len(self.answers), max(LEAST_SLICES, round(len(self.answers) / SLICE)))
        edges = [round(n * len(self.answers) / count) for n in range(count + 1)] if count else []
        return [_slice(a, self.answers[a:b]) for a, b in pairwise(edges)]

    def growth(self) -> list[Growth]:
        slices = self.slices()
        return growth(slices[0].held, slices[-1].held) if len(slices) > 1 else []

    def pace(self) -> Pace | None:
        """The first and the last quarter of how often each request came; None when none came twice."""
        times: Values = {}
        for answer in self.answers:
            if answer.ms is not None:
                times.setdefault(answer.request, []).append(answer.ms)
        known = {key: values for key, values in times.items() if len(values) > 1}
        if not known:
            return None
        ends = {key: max(1, len(values) // 4) for key, values in known.items()}
        return _pace(
            {key: values[: ends[key]] for key, values in known.items()},
            {key: values[-ends[key] :] for key, values in known.items()},
        )

    @property
    def holds(self) -> bool:
        """Nothing grew, the record is whole, and it is no slower."""
        pace = self.pace()
        return all(one.holds for one in self.growth()) and not self.faults and (pace is None or pace.holds)

    def to_json(self) -> dict[str, Any]:
        pace = self.pace()
        return {
            "slices": [asdict(one) for one in self.slices()],
            "growth": [one.to_json() for one in self.growth()],
            "pace": asdict(pace) | {"holds": pace.holds} if pace else None,
            "record": {"lines": self.lines, "faults": list(self.faults)},
            "holds": self.holds,
            "requests": [asdict(one) for one in self.answers],
        }

    def table(self) -> str:
        names = [one.name for one in fields(Footprint)]
        rows = [
            (f"{s.first + 1}-{s.first + s.requests}", s.done, s.unanswered, s.p50, s.p95, *asdict(s.held).values())
            for s in self.slices()
        ]
        text = table(rows, ("requests", "done", "unanswered", "p50 ms", "p95 ms", *names))
        return "\n".join([text, "", *self._verdicts()])

    def _verdicts(self) -> list[str]:
        told = [
            f"{one.figure}: {one.start:g} → {one.end:g} ({'holds' if one.holds else 'grew'}; "
            f"{one.allowed:g}{'%' if one.figure == 'rss_mb' else ''} more is allowed)"
            for one in self.growth()
        ]
        if (pace := self.pace()) is not None:
            told.append(
                f"p95 over the same requests: {pace.start:.0f} → {pace.end:.0f} ms, {pace.change:+.1f}% "
                f"({pace.low:+.1f} to {pace.high:+.1f}; {'holds' if pace.holds else 'slower'}, {SLOWER:g}% is allowed)"
            )
        whole = "whole" if not self.faults else f"broken in {len(self.faults)} places, first {self.faults[0]}"
        return [*told, f"record: {self.lines} lines, {whole}"]


def _slice(first: int, answers: Sequence[Answer]) -> Slice:
    times = [answer.ms for answer in answers if answer.ms is not None]
    return Slice(
        first=first,
        requests=len(answers),
        done=sum(answer.ok for answer in answers),
        unanswered=sum(answer.ms is None for answer in answers),
        p50=round(percentile(times, 0.5), 1),
        p95=round(percentile(times, 0.95), 1),
        held=lowest([answer.footprint for answer in answers]),
    )


def _pace(start: Values, end: Values) -> Pace:
    order = sorted(start)
    alone, draws = np.arange(len(order))[None], drawn(len(order), 0)
    was, now = (float(resampled(values, 0.95, alone, order)[0]) for values in (start, end))
    many = 100 * (resampled(end, 0.95, draws, order) / resampled(start, 0.95, draws, order) - 1)
    low, high = (round(float(np.quantile(many, at)), 1) for at in (0.025, 0.975))
    return Pace(round(was, 1), round(now, 1), round(100 * (now / was - 1), 1), low, high)
