"""The pictures of a report: where the time goes, how it is distributed, and what accuracy it buys."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from anovax.bench.study.figures import PUBLISHED, PUBLISHED_LABEL, Group

WATERFALL = ("load", "stt", "plan", "safety", "dispatch")
LIVE = ("endpoint", "stt", "plan", "effect", "done")
COLOURS = dict(
    zip((*WATERFALL, "endpoint", "effect", "done"), ("0.6", "C0", "C1", "C2", "C3", "C4", "C5", "C6"), strict=True)
)


def draw(groups: Sequence[Group]) -> dict[str, bytes]:
    """PNG files by name. Raises ImportError without matplotlib (the bench extra)."""
    from matplotlib.figure import Figure

    made: dict[str, Callable[[Any, Sequence[Group]], bool]] = {
        "waterfall": waterfall,
        "cdf": cdf,
        "accuracy": accuracy,
    }
    pictures = {}
    for name, fill in made.items():
        figure = Figure(figsize=(9, 4.5), layout="constrained")
        shown = [group for group in groups if name == "waterfall" or group.mode != "cold"]
        if fill(figure.subplots(), shown):
            out = io.BytesIO()
            figure.savefig(out, format="png", dpi=110, metadata={"Software": None})
            pictures[f"plots/{name}.png"] = out.getvalue()
    return pictures


def waterfall(axes: Any, groups: Sequence[Group]) -> bool:
    """Medians of the stages, one after the other; below them the published ranges of the cloud chain."""
    for place, group in enumerate(groups):
        start = 0.0
        for stage, ms in _parts(group):
            axes.barh(place, ms, left=start, color=COLOURS[stage], label=stage)
            start += ms
    start = 0.0
    for stage, (low, high) in PUBLISHED.items():
        axes.barh(len(groups), low, left=start, color=COLOURS[stage], alpha=0.35)
        axes.barh(len(groups), high - low, left=start + low, color=COLOURS[stage], alpha=0.2, hatch="///")
        start += high
    axes.set_yticks(range(len(groups) + 1), [*(g.title for g in groups), f"cloud chain: {PUBLISHED_LABEL}"])
    axes.invert_yaxis()
    axes.set(
        xlabel="ms (medians; hatched: from the lowest to the highest published figure)", title="Where the time goes"
    )
    _legend(axes)
    return bool(groups)


def _parts(group: Group) -> list[tuple[str, float]]:
    """(stage, ms): each stage's own time; live rows count from the end of speech, so there it is the difference."""
    names = [name for name in (LIVE if group.mode == "live" else WATERFALL) if group.values(name)]
    medians = [group.quantile(name, 0.5).value for name in names]
    if group.mode == "live":
        medians = list(np.maximum(np.diff([0.0, *medians]), 0.0))
    return list(zip(names, medians, strict=True))


def cdf(axes: Any, groups: Sequence[Group]) -> bool:
    """Of the time to a plan; the published range as a band."""
    shown = False
    for group in groups:
        values = sorted(value for many in group.values("plan").values() for value in many)
        if values:
            axes.step(values, np.arange(1, len(values) + 1) / len(values), where="post", label=group.title)
            shown = True
    low, high = PUBLISHED["plan"]
    axes.axvspan(low, high, color="0.85", zorder=0, label=f"cloud planning {low:g} to {high:g} ms: {PUBLISHED_LABEL}")
    axes.set(xscale="log", xlabel="ms to a plan", ylabel="share of requests", ylim=(0, 1.02), title="Time to a plan")
    _legend(axes)
    return shown


def accuracy(axes: Any, groups: Sequence[Group]) -> bool:
    """Tool accuracy against the median time to a plan, with 95% intervals both ways."""
    shown = False
    for group in groups:
        right, ms = group.share("tools_right"), group.quantile("plan", 0.5)
        if right.rows and ms.rows:
            axes.errorbar(
                ms.value,
                100 * right.value,
                xerr=_bars(ms.value, ms.low, ms.high),
                yerr=_bars(100 * right.value, 100 * right.low, 100 * right.high),
                fmt="o",
                capsize=3,
                label=group.title,
            )
            shown = True
    low, high = PUBLISHED["plan"]
    axes.axvspan(low, high, color="0.85", zorder=0, label=f"cloud planning: {PUBLISHED_LABEL}, no accuracy given")
    axes.set(
        xscale="log", xlabel="ms to a plan (p50)", ylabel="right tools, %", ylim=(0, 103), title="Accuracy and time"
    )
    _legend(axes)
    return shown


def _bars(value: float, low: float, high: float) -> Any:
    return np.nan_to_num([[max(0.0, value - low)], [max(0.0, high - value)]])


def _legend(axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    axes.legend(once.values(), once.keys(), fontsize="small")
