"""Writing under a grammar: greedy, with as few passes through the model as can be.

A pass over k tokens costs far less than k passes over one. So what the grammar forces is fed together with the token
before it, and where an argument has begun to repeat the user's words, their continuation is fed along and kept as far
as the model would have written it (prompt lookup decoding, Saxena 2023:
https://github.com/apoorvumang/prompt-lookup-decoding).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anovax.planner.engine import Engine

Logits = NDArray[np.float32]
NO_TEXT = ""
_LOOP_TOKENS = 64  # chosen by the model one by one, and nothing but a repetition: greedy decoding never leaves it
_LOOP_PERIOD = _LOOP_TOKENS // 3


@dataclass
class Written:
    """What was written. ``sampled`` tokens cost a choice of the model each, ``copied`` ones were proposed from the
    request and confirmed by it, ``forced`` ones followed from the grammar; ``passes`` through the model in all;
    ``truncated``: the token budget ended before the text did, or the model began to repeat itself."""

    text: str = ""
    sampled: int = 0
    copied: int = 0
    forced: int = 0
    passes: int = 0
    truncated: bool = False
    pieces: list[bytes] = field(default_factory=list)


def allowed(matcher: Any, n_vocab: int) -> NDArray[np.bool_]:
    """Which tokens the grammar allows next, shape (n_vocab,)."""
    bits = np.frombuffer(matcher.compute_bitmask(), dtype=np.uint8)
    return np.unpackbits(bits, bitorder="little")[:n_vocab].astype(bool)


def choose(logits: Logits, matcher: Any) -> int:
    """The likeliest token that the grammar allows. ``logits``: shape (n_vocab,)."""
    return int(np.where(allowed(matcher, len(logits)), logits, -np.inf).argmax())


def looping(tokens: Sequence[int]) -> bool:
    """Whether the last of ``tokens`` say the same at least three times over."""
    tail = list(tokens[-_LOOP_TOKENS:])
    return len(tail) == _LOOP_TOKENS and any(tail[n:] == tail[:-n] for n in range(1, _LOOP_PERIOD + 1))


class Writer:
    """Writes one text under ``matcher`` (a fresh llguidance LLMatcher) after what ``engine`` has read.

    Forced bytes are tokenised as text: the grammar's own forced tokens stop where the tokens are ambiguous although the
    text is not. ``propose(text so far)`` guesses what follows; "" when it has no idea.
    """

    def __init__(
        self, engine: Engine, matcher: Any, budget: int, propose: Callable[[str], str] = lambda text: NO_TEXT
    ) -> None:
        self.engine, self.matcher, self.budget, self._propose = engine, matcher, budget, propose
        self.out = Written()
        self._chosen: list[int] = []  # since the user's words were last copied: those may repeat themselves

    def feed(self, tokens: list[int], want: int = 1) -> Logits:
        self.out.passes += 1
        return self.engine.feed(tokens, want)

    def write(self, tokens: list[int]) -> list[int]:
        """Write given tokens; returns the further ones that the grammar then forces, written too."""
        self._note(tokens)
        forced = self.engine.tokenize(self.matcher.compute_ff_bytes().decode("utf-8", "replace"))
        self._note(forced)
        self.out.forced += len(forced)
        return forced

    def _note(self, tokens: list[int]) -> None:
        self.matcher.consume_tokens(tokens)
        self.out.pieces.extend(self.engine.piece(token) for token in tokens)

    @property
    def text(self) -> str:
        return b"".join(self.out.pieces).decode("utf-8", "replace")

    def finish(self, logits: Logits) -> Written:
        """Go on until the grammar is satisfied, the budget is spent or the model repeats itself. ``logits``: after the
        last token fed, (n_vocab,)."""
        while not self.matcher.is_accepting():
            if self.out.sampled + self.out.copied >= self.budget or looping(self._chosen):
                self.out.truncated = True
                break
            token = choose(logits, self.matcher)
            self.out.sampled += 1
            self._chosen.append(token)
            tokens = [token, *self.write([token])]
            if not self.matcher.is_accepting():
                logits = self._feed_with_draft(tokens)
        self.out.text = self.text
        return self.out

    def _feed_with_draft(self, tokens: list[int]) -> Logits:
        """Feed ``tokens`` and a guess at what follows; keep of the guess what the model agrees with."""
        draft = self._draft()
        logits = self.feed(tokens + draft, want=1 + len(draft))
        start = self.engine.past - len(draft)
        for kept, token in enumerate(draft):
            if choose(logits[kept], self.matcher) != token:
                self.engine.truncate(start + kept)
                return np.asarray(logits[kept])
            self._note([token])
            self.out.copied += 1
            self._chosen.clear()
            if self.matcher.is_accepting():
                break
        return np.asarray(logits[-1])

    def _draft(self) -> list[int]:
        guess = self._propose(self.text)
        if not guess:
            return []
        tokens = self.engine.tokenize(guess)[: self.budget]
        return tokens[: self.matcher.validate_tokens(tokens)]
