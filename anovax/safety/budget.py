"""How much of one plan's commands is judged: what is larger or deeper is asked about, so that judging stays quick."""

from __future__ import annotations

MAX_NODES = 1000  # words, redirections and nodes of the grammar
MAX_TEXT = 12_000  # characters of all texts together in all readings, however nested


class TooDeepError(Exception):
    """The text is larger or deeper than what is judged."""


class Budget:
    """What is left for one shell session, over all its lines."""

    def __init__(self) -> None:
        self._nodes, self._text = MAX_NODES, MAX_TEXT

    def spend(self, nodes: int = 0, text: int = 0) -> None:
        """Raises TooDeepError when nothing is left."""
        self._nodes -= nodes
        self._text -= text
        if self._nodes < 0 or self._text < 0:
            raise TooDeepError
