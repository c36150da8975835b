"""Writing under a grammar: greedy, every forced byte fed in one batch with the token before it, never one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anovax.planner.engine import Engine


@dataclass
class Written:
    """What was written. ``sampled`` tokens were chosen by the model, ``forced`` ones followed from the grammar;
    ``truncated``: the token budget ended before the text did."""

    text: str = ""
    sampled: int = 0
    forced: int = 0
    truncated: bool = False
    pieces: list[bytes] = field(default_factory=list)


def allowed(matcher: Any, n_vocab: int) -> NDArray[np.bool_]:
    """Which tokens the grammar allows next, shape (n_vocab,)."""
    bits = np.frombuffer(matcher.compute_bitmask(), dtype=np.uint8)
    return np.unpackbits(bits, bitorder="little")[:n_vocab].astype(bool)


def choose(logits: NDArray[np.float32], matcher: Any) -> int:
    """The likeliest token that the grammar allows. ``logits``: shape (n_vocab,)."""
    return int(np.where(allowed(matcher, len(logits)), logits, -np.inf).argmax())


class Writer:
    """Writes one text under ``matcher`` (a fresh llguidance LLMatcher) after what ``engine`` has read.

    Forced bytes are tokenised as text: the grammar's own forced tokens stop where the tokens are ambiguous although the
    text is not.
    """

    def __init__(self, engine: Engine, matcher: Any, budget: int) -> None:
        self.engine, self.matcher, self.budget = engine, matcher, budget
        self.out = Written()

    def take(self, token: int) -> list[int]:
        """Write ``token`` and what it forces; the tokens to feed."""
        self.out.sampled += 1
        return [token, *self.write([token])]

    def write(self, tokens: list[int]) -> list[int]:
        """Write given tokens; returns the further ones that the grammar then forces."""
        self._note(tokens)
        forced = self.engine.tokenize(self.matcher.compute_ff_bytes().decode("utf-8", "replace"))
        self._note(forced)
        self.out.forced += len(forced)
        return forced

    def _note(self, tokens: list[int]) -> None:
        self.matcher.consume_tokens(tokens)
        self.out.pieces.extend(self.engine.piece(token) for token in tokens)

    def finish(self, logits: NDArray[np.float32]) -> Written:
        """Go on until the grammar is satisfied or the budget is spent. ``logits``: after the last token fed."""
        while not self.matcher.is_accepting():
            if self.out.sampled >= self.budget:
                self.out.truncated = True
                break
            tokens = self.take(choose(logits, self.matcher))
            if not self.matcher.is_accepting():
                logits = self.engine.feed(tokens)[-1]
        self.out.text = b"".join(self.out.pieces).decode("utf-8", "replace")
        return self.out
