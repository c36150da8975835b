"""How many steps a request asks for, 0 for words only: decided before any step is written.

The model knows which requests want words only, but its first guess leans to one side. One constant, fitted per model on
requests of our own (``requests.tsv``, by ``anovax bench calibrate``), puts that right: contextual calibration, Zhao et al. 2021
(https://arxiv.org/abs/2102.09690), with labelled requests in place of a content-free one.
"""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from anovax.plan import MAX_STEPS
from anovax.planner.engine import Engine

NEUTRAL = 0.0


class Counting:
    """``bias`` is added to the log-odds of words only. ``ahead``: the tokens that a count of one forces, with the one."""

    def __init__(self, engine: Engine) -> None:
        self._digits = [engine.tokenize(str(n))[0] for n in range(MAX_STEPS + 1)]
        self.ahead = [*engine.tokenize("1"), *engine.tokenize(',["')]
        self.bias = known_bias(engine.path.stem)

    def odds(self, logits: NDArray[np.float32]) -> float:
        """Log-odds of words only against any number of steps. ``logits``: shape (n_vocab,)."""
        digits = logits[self._digits]
        return float(digits[0] - np.logaddexp.reduce(digits[1:]))

    def count(self, logits: NDArray[np.float32], bias: float) -> int:
        if self.odds(logits) + bias > 0:
            return 0
        return 1 + int(logits[self._digits[1:]].argmax())

    def token(self, count: int) -> int:
        return self._digits[count]


def known_bias(model: str) -> float:
    """The fitted constant for the GGUF file named ``model``, NEUTRAL for one that was never fitted."""
    fitted: dict[str, float] = json.loads(files("anovax.planner").joinpath("calibration.json").read_text("utf-8"))
    return next((bias for name, bias in fitted.items() if name in model), NEUTRAL)
