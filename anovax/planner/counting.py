"""The first decisions of a plan: how many steps, 0 for words only, and the first tool; before any step is written.

Committing to the number first keeps a small model from inventing further steps.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anovax.plan import MAX_STEPS
from anovax.planner.engine import Engine
from anovax.planner.probe import fitted, prompt_mark

Logits = NDArray[np.float32]


class Decision(NamedTuple):
    """How many ``steps``; ``lean``: what to add to the logits of the tools' first tokens (``Counting.firsts``)."""

    steps: int
    lean: Logits


class Counting:
    """``ahead``: the tokens of a count of one and of all that it forces, up to the tool's name."""

    def __init__(self, engine: Engine, tools: Collection[str]) -> None:
        self._digits = [engine.tokenize(str(n))[0] for n in range(MAX_STEPS + 1)]
        self.firsts = sorted({engine.tokenize(name)[0] for name in tools})
        self.names = tuple(engine.piece(token).decode() for token in self.firsts)
        self.ahead = [*engine.tokenize("1"), *engine.tokenize(',["')]
        self.probe = fitted(engine.path.stem, prompt_mark(tools), self.names)

    def odds(self, count: Logits) -> float:
        """The model's log-odds of words only against any number of steps. ``count``: logits where the count stands."""
        digits = count[self._digits]
        return float(digits[0] - np.logaddexp.reduce(digits[1:]))

    def decide(self, count: Logits, tool: Logits, probed: bool = True) -> Decision:
        """``count`` and ``tool``: logits where the count stands and where a single step's tool would, shape
        (n_vocab,)."""
        nothing = np.zeros(len(self.firsts), dtype=np.float32)
        words, lean = self.probe.lean(tool) if self.probe and probed else (0.0, nothing)
        if self.odds(count) + words > 0:
            return Decision(0, nothing)
        return Decision(1 + int(count[self._digits[1:]].argmax()), lean)

    def token(self, count: int) -> int:
        return self._digits[count]
