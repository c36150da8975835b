"""What the companion needs from the rest of AnovaX. ``app`` supplies both; the companion imports neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Frame = NDArray[np.uint8]
"""One picture of the screen: (height, width, 3), RGB."""

Samples = NDArray[np.float32]
"""Mono sound at 16 kHz, values in [-1, 1], shape (n,)."""


class AssistantPort(Protocol):
    """The assistant as a phone sees it. All methods are called on the event loop and must not block it.

    ``device`` is the name the user gave to the phone; it goes into the journal.
    """

    def submit_text(self, text: str, device: str) -> str:
        """Start a turn as if ``text`` had been typed on the laptop; returns the turn's id."""
        ...

    async def submit_audio(self, data: bytes, mime: str, device: str) -> str:
        """Decode ``data`` (audio/webm, audio/mp4, audio/ogg or audio/wav), transcribe it and start a turn with it.

        Returns what was heard, empty when there was no speech. AnovaxError says what is wrong with a recording.
        """
        ...

    async def transcribe_partial(self, samples: Samples) -> str:
        """What has been said so far; empty when the recogniser is busy or there is nothing yet."""
        ...

    def stop(self, by: str) -> None:
        """Stop speech, agents and the running turn at once."""
        ...

    def answer_consent(self, consent_id: str, allow: bool, by: str) -> bool:
        """Answer a consent question; False when it is not open any more (answered, expired, never asked)."""
        ...

    def history(self, limit: int) -> Sequence[dict[str, Any]]:
        """The last ``limit`` finished turns, newest first: ``turn``, ``at``, ``text``, ``said``, ``ok``, ``source``."""
        ...

    def state(self) -> dict[str, Any]:
        """What events alone cannot tell a phone that has just come: ``muted`` and the like, as JSON values."""
        ...


@dataclass(frozen=True)
class ScreenWindow:
    """A visible top-level window: names as the window system gives them, rectangle in pixels of the frame."""

    app: str
    title: str
    x: int
    y: int
    width: int
    height: int


class ScreenPort(Protocol):
    """The screen. Called from one thread only, the encoder's; may block it for the time of a capture."""

    def grab(self) -> Frame:
        """The screen as it is now, without the pointer."""
        ...

    def pointer(self) -> tuple[int, int]:
        """The pointer's position in pixels of the frame."""
        ...

    def windows(self) -> Sequence[ScreenWindow]:
        """All visible windows. Needed to hide the excluded ones: if it fails, no picture is sent."""
        ...
