"""Training a wake word on this machine: voices, phrases, sounds, a small network, an honest report.

The recipe is openWakeWord's (Scripka 2023, github.com/dscripka/openWakeWord): synthetic speech for the phrase, other
speech and noise against it, and a small classifier on frozen speech embeddings. Sounds are int16, mono, 16 kHz.
"""

from __future__ import annotations

from collections.abc import Callable

Told = Callable[[str, int, int], None]
"""``told(stage, done, of)``: how a long job goes on. It may raise Cancelled to end it."""


def untold(stage: str, done: int, of: int) -> None:
    """Tells nobody."""
