"""Fit a planner's probe (planner/probe.py) for one model on requests of our own, and say how good it is on held-out
ones.

``python -m anovax.bench.calibrate_plan MODEL.gguf`` writes planner/probes/NAME.npz. To be done again whenever the
prompt, its examples or the tools change: until then the model decides without it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anovax.planner import prompt
from anovax.planner.engine import Engine
from anovax.planner.local import Local
from anovax.planner.probe import Probe, prompt_mark, sample
from anovax.planner.threads import thread_count
from anovax.tool import discover

Array = NDArray[np.float64]
FOLDS = 6
PULL = 0.05  # how strongly the weights are drawn to 0, where the model decides alone; chosen on held-out requests
STEPS = 400
LOOKED_UP = 0.3  # weight of words that a web search would answer as well


@dataclass(frozen=True)
class Samples:
    """One row per request. ``odds``: the model's log-odds of words only, shape (n,). ``tools``: log-probability of
    each tool's first token, shape (n, len(names)). ``seen``: sampled logits, shape (n, SAMPLE). ``words``: whether it
    wants words only, shape (n,). ``first``: index of the first tool, -1 for words. ``weight``: shape (n,)."""

    names: tuple[str, ...]
    odds: Array
    tools: Array
    seen: Array
    words: NDArray[np.bool_]
    first: NDArray[np.int64]
    weight: Array


def requests() -> list[tuple[str, list[Any]]]:
    """(request, plan in the compact form) pairs of our own, none of which is an example of the prompt."""
    rows = files("anovax.planner").joinpath("requests.tsv").read_text("utf-8").splitlines()[1:]
    return [(text, json.loads(plan)) for text, plan in (row.split("\t") for row in rows)]


def measure(local: Local, progress: Callable[[int, int], None] = lambda done, of: None) -> Samples:
    """Read every request once, up to where a single step's tool would stand."""
    counting, engine, rows, seen = local.counting, local.engine, requests(), []
    for done, (text, _) in enumerate(rows):
        local.prefixes.use("plan", prompt.prefix(local.tools))
        logits = engine.feed(engine.tokenize(prompt.entry(text)) + counting.ahead, want=1 + len(counting.ahead))
        seen.append((counting.odds(logits[0]), logits[-1][counting.firsts].copy(), logits[-1][sample()].copy()))
        progress(done + 1, len(rows))
    odds, tools, logit = (np.array(column, dtype=float) for column in zip(*seen, strict=True))
    return prepared(counting.names, [plan for _, plan in rows], odds, tools, logit)


def prepared(names: tuple[str, ...], plans: list[list[Any]], odds: Array, tools: Array, seen: Array) -> Samples:
    tools = tools - np.logaddexp.reduce(tools, axis=1, keepdims=True)
    words = np.array([plan[0] == 0 for plan in plans])
    first = np.array([-1 if plan[0] == 0 else _first(names, plan[1][0]) for plan in plans])
    web = tools.argmax(axis=1) == names.index("web") if "web" in names else np.zeros(len(plans), bool)
    unable = np.array([plan[0] == 0 and "cannot" in plan[1] for plan in plans])
    return Samples(names, odds, tools, seen, words, first, np.where(words & web & ~unable, LOOKED_UP, 1.0))


def _first(names: tuple[str, ...], tool: str) -> int:
    """Which of ``names``, the first tokens of all tools' names, ``tool`` begins with: the longest."""
    return max((i for i, name in enumerate(names) if tool.startswith(name)), key=lambda i: len(names[i]))


def fit(samples: Samples, mark: str) -> Probe:
    mean, scale = samples.seen.mean(axis=0), samples.seen.std(axis=0) + 1e-3
    seen = (samples.seen - mean) / scale
    balance = np.where(samples.words, 1 / samples.words.mean(), 1 / (~samples.words).mean()) / 2
    base = np.stack([samples.odds, np.zeros(len(samples.odds))], axis=1)
    words = regress(base, seen, np.where(samples.words, 0, 1), samples.weight * balance)
    acts = ~samples.words
    tools = regress(samples.tools[acts], seen[acts], samples.first[acts], np.ones(int(acts.sum())))
    single = (array.astype(np.float32) for array in (mean, scale, words[:, 0] - words[:, 1], tools))
    return Probe(mark, samples.names, *single)


def regress(base: Array, seen: Array, target: NDArray[np.int64], weight: Array) -> Array:
    """Multinomial logistic regression of ``target`` on ``seen`` (n, d), added to ``base`` (n, k); weights (d, k).

    Solved in the dual (d is larger than n) by accelerated gradient descent (Nesterov 1983).
    """
    kernel, truth = seen @ seen.T / seen.shape[1], np.eye(base.shape[1])[target]
    step = 1.0 / (np.linalg.eigvalsh(kernel)[-1] * weight.max() / 2 + PULL)
    ahead = now = np.zeros_like(base)
    for k in range(STEPS):
        score = base + kernel @ ahead
        chance = np.exp(score - np.logaddexp.reduce(score, axis=1, keepdims=True))
        new = ahead - step * (weight[:, None] * (chance - truth) + PULL * ahead)
        ahead, now = new + k / (k + 3) * (new - now), new
    return np.asarray(seen.T @ now / seen.shape[1])


def held_out(samples: Samples) -> dict[str, float]:
    """Share decided right by a probe fitted without them: words only, steps, and the first tool; and by the model
    alone."""
    n = len(samples.odds)
    words, tool = np.zeros(n, bool), np.zeros(n, bool)
    for fold in np.array_split(np.random.default_rng(0).permutation(n), FOLDS):
        rest = np.setdiff1d(np.arange(n), fold)
        fields = {key: value[rest] for key, value in vars(samples).items() if key != "names"}
        probe = fit(Samples(names=samples.names, **fields), "")
        seen = (samples.seen[fold] - probe.mean) / probe.scale
        words[fold] = samples.odds[fold] + seen @ probe.words > 0
        tool[fold] = (samples.tools[fold] + seen @ probe.tools).argmax(axis=1) == samples.first[fold]
    acts = ~samples.words
    return {
        "words": float(words[samples.words].mean()),
        "act": float((~words[acts]).mean()),
        "tool": float(tool[acts].mean()),
        "model alone: words": float((samples.odds[samples.words] > 0).mean()),
        "model alone: act": float((samples.odds[acts] <= 0).mean()),
        "model alone: tool": float((samples.tools[acts].argmax(axis=1) == samples.first[acts]).mean()),
    }


def main() -> None:
    path, tools = Path(sys.argv[1]), discover()
    with tempfile.TemporaryDirectory() as folder:
        local = Local(Engine(path, thread_count()), tools, Path(folder), 220)
        samples = measure(local, lambda done, of: print(f"\r{done}/{of}", end="", file=sys.stderr))
        local.close()
    print(json.dumps(held_out(samples)))
    name = path.stem.partition("-instruct")[0]
    fit(samples, prompt_mark(tools.offered)).save(Path(str(files("anovax.planner"))) / "probes" / f"{name}.npz")


if __name__ == "__main__":
    main()
