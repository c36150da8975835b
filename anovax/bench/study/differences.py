"""Two studies compared: differences with bootstrap intervals, over the same requests; refused where they would mean
nothing."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from anovax.bench.study.figures import Estimate, Group, Values, drawn, groups, number, resampled
from anovax.bench.study.rows import Folder
from anovax.errors import UsageError

MACHINE = ("processor", "cores", "memory_gb")


@dataclass(frozen=True)
class Change:
    """One figure in A, in B, and B minus A with its 95% interval. ``clear``: the interval does not hold 0."""

    backend: str
    mode: str
    figure: str
    a: float
    b: float
    change: Estimate

    @property
    def clear(self) -> bool:
        return self.change.low > 0 or self.change.high < 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"clear": self.clear}

    def cells(self) -> tuple[str, ...]:
        told = f"{number(self.change.value)} ({number(self.change.low)} to {number(self.change.high)})"
        verdict = "differs" if self.clear else "no clear difference"
        return self.backend, self.mode, self.figure, number(self.a), number(self.b), told, verdict


def compare(a: Folder, b: Folder, seed: int = 0) -> tuple[list[str], list[Change]]:
    """What differs between the two set-ups, and the changes. UsageError when they cannot be compared."""
    one, two = a.study(), b.study()
    first, second = ({(g.backend, g.mode): g for g in groups(folder.rows())} for folder in (a, b))
    both = sorted(first.keys() & second.keys())
    unlike = incomparable(one, two, any(first[key].simulated for key in both))
    if not both:
        unlike.append("they have no backend and mode in common")
    if unlike:
        raise UsageError(f"{a.path} and {b.path} cannot be compared: {'; '.join(unlike)}", "measure both alike")
    return differing(one, two), [change for key in both for change in changes(first[key], second[key], seed)]


def incomparable(one: dict[str, Any], two: dict[str, Any], simulated: bool) -> list[str]:
    """Reasons; empty when the same was asked on the same machine and, if ``simulated``, over the same network."""
    found = []
    if one["settings"].get("requests") != two["settings"].get("requests"):
        found.append("the requests are not the same")
    over, other = one["settings"].get("network"), two["settings"].get("network")
    if simulated and over != other:
        found.append(f"the network is {over} in one, {other} in the other")
    was, now = one["about"].get("machine", {}), two["about"].get("machine", {})
    unlike = (key for key in MACHINE if was.get(key) != now.get(key))
    found += [f"the machines differ: {key} {was.get(key)}, {now.get(key)}" for key in unlike]
    return found


def differing(one: dict[str, Any], two: dict[str, Any]) -> list[str]:
    """What else is not the same, and may be why the figures differ."""
    told = []
    for part, key in (("about", "versions"), ("about", "weights"), ("settings", "configuration"), ("about", "load")):
        was, now = flat(one[part].get(key)), flat(two[part].get(key))
        told += [
            f"{key} {name}: {was.get(name)} → {now.get(name)}"
            for name in {**was, **now}
            if was.get(name) != now.get(name)
        ]
    return told


def flat(value: Any, name: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        return {k: v for key, inner in value.items() for k, v in flat(inner, f"{name}.{key}" if name else key).items()}
    return {name: value}


def changes(a: Group, b: Group, seed: int) -> list[Change]:
    """Of every stage both have (p50, p95), and of the shares of right plans."""
    stages = [stage for stage in a.stages() if stage in b.stages()]
    found = [
        _change(a, f"{stage} p{100 * q:.0f}, ms", a.values(stage), b.values(stage), q, seed)
        for stage, q in itertools.product(stages, (0.5, 0.95))
    ]
    found += [
        _change(a, f"{name.replace('_', ' ')}, %", _shares(a, name), _shares(b, name), None, seed)
        for name in ("tools_right", "argument_right")
    ]
    return [change for change in found if change is not None]


def _shares(group: Group, name: str) -> Values:
    found: Values = {}
    for row in group.rows:
        if (right := getattr(row, name)) is not None:
            found.setdefault(row.request, []).append(100.0 * right)
    return found


def _change(group: Group, figure: str, a: Values, b: Values, q: float | None, seed: int) -> Change | None:
    """Over the requests that both have; each draw takes the same requests from both (a paired bootstrap)."""
    order = sorted(a.keys() & b.keys())
    if not order:
        return None
    a, b = ({key: values[key] for key in order} for values in (a, b))
    alone = np.arange(len(order))[None]
    was, now = float(_statistic(a, q, alone, order)[0]), float(_statistic(b, q, alone, order)[0])
    low = high = float("nan")
    if len(order) > 1:
        draws = drawn(len(order), seed)
        many = _statistic(b, q, draws, order) - _statistic(a, q, draws, order)
        low, high = (float(np.quantile(many, at)) for at in (0.025, 0.975))
    return Change(group.backend, group.mode, figure, was, now, Estimate(now - was, low, high, len(order)))


def _statistic(values: Values, q: float | None, draws: Any, order: list[str]) -> Any:
    if q is not None:
        return resampled(values, q, draws, order)
    means = np.array([np.mean(values[request]) for request in order])
    return means[draws].mean(axis=1)
