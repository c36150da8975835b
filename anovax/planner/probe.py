"""What a request asks for, read off the model's own state: words only or steps, and which tool comes first.

A small model knows more than it says: its next-token guess leans to some answers, while a linear classifier on its
state tells the kinds of requests well apart (linear probe, Alain & Bengio 2016, https://arxiv.org/abs/1610.01644).
The state is seen through the logits of a fixed sample of the vocabulary, a random projection of it that costs nothing
extra. The weights are fitted per model on requests of our own (``requests.tsv``, by anovax/bench/calibrate_plan.py)
and added to the model's log-odds. Where they do not fit, because the model, the prompt or the tools are others, the
model decides alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anovax.planner.prompt import RULES, shown

Array = NDArray[np.float32]
SAMPLE = 1536  # tokens of the vocabulary
FREQUENT = 50_000  # sampled from the first ones: byte-pair vocabularies begin with what is frequent


def sample() -> NDArray[np.int64]:
    """The ids of the sampled tokens, shape (SAMPLE,)."""
    return np.random.default_rng(0).choice(FREQUENT, SAMPLE, replace=False)


def prompt_mark(tools: Iterable[str]) -> str:
    """What a probe is fitted for besides the weights: the rules and examples of the prompt and the names of the
    tools. Their descriptions may be reworded: that moves the model's state little."""
    return hashlib.sha256("\n".join((RULES, *shown("examples.jsonl"), *sorted(tools))).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Probe:
    """``mean``, ``scale``: of the sampled logits, shape (SAMPLE,). ``words``: weights of words only, shape (SAMPLE,).
    ``tools``: weights per first token of a tool's name, shape (SAMPLE, len(names)). ``mark``: prompt_mark()."""

    mark: str
    names: tuple[str, ...]
    mean: Array
    scale: Array
    words: Array
    tools: Array

    def lean(self, logits: Array) -> tuple[float, Array]:
        """What to add to the log-odds of words only, and to the logits of each tool. ``logits``: where a single step's
        tool would stand, shape (n_vocab,)."""
        seen: Array = (logits[sample()] - self.mean) / self.scale
        return float(seen @ self.words), np.asarray(seen @ self.tools, dtype=np.float32)

    def save(self, path: Path) -> None:
        half = {key: value.astype(np.float16) for key, value in vars(self).items() if key in ("words", "tools")}
        with path.open("wb") as stream:
            np.savez_compressed(stream, mark=self.mark, names=self.names, mean=self.mean, scale=self.scale, **half)


def fitted(model: str, mark: str, names: tuple[str, ...] | None) -> Probe | None:
    """The probe for the GGUF file named ``model``, None where none fits this model, prompt and tools. ``names``:
    first tokens of the tools' names, where the model's tokenizer is at hand."""
    for found in files("anovax.planner").joinpath("probes").iterdir():
        if found.name.endswith(".npz") and found.name.removesuffix(".npz") in model:
            with as_file(found) as path, np.load(path, allow_pickle=False) as data:
                probe = Probe(
                    str(data["mark"]),
                    tuple(str(name) for name in data["names"]),
                    *(data[key].astype(np.float32) for key in ("mean", "scale", "words", "tools")),
                )
            return probe if probe.mark == mark and names in (None, probe.names) else None
    return None
