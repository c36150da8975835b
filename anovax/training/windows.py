"""From examples to what the network sees: rows of embeddings, windows into them, and which window belongs to what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anovax.training.examples import DEPTH, Example
from anovax.training.network import Jury, Windows, agreed


@dataclass(frozen=True)
class Corpus:
    """All windows of some examples: ``labels`` int8[k] as in Example, ``owner`` int64[k] the example of each."""

    examples: tuple[Example, ...]
    windows: Windows
    labels: NDArray[np.int8]
    owner: NDArray[np.int64]

    def labelled(self, label: int) -> NDArray[np.int64]:
        return np.flatnonzero(self.labels == label)

    def scores(self, jury: Jury) -> list[NDArray[np.float32]]:
        """Log odds for each frame of each example, as the ONNX file will give them."""
        every = jury.scores(self.windows, np.arange(len(self.labels)))
        cuts = np.cumsum([len(example.labels) for example in self.examples])[:-1]
        return [agreed(odds) for odds in np.split(every, cuts)]


def corpus(examples: Sequence[Example]) -> Corpus:
    """The windows of ``examples``; each begins as if its first frame had been heard for a while."""
    rows, ends, at = [], [], 0
    for example in examples:
        count = len(example.labels)
        rows += [np.repeat(example.embeddings[:1], DEPTH - 1, axis=0), example.embeddings]
        ends.append(np.arange(count) + at + DEPTH - 1)
        at += count + DEPTH - 1
    return Corpus(
        tuple(examples),
        Windows(np.concatenate(rows), np.concatenate(ends), DEPTH),
        np.concatenate([example.labels for example in examples]),
        np.repeat(np.arange(len(examples)), [len(example.labels) for example in examples]),
    )
