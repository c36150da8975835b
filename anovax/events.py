"""Every event, as a past-tense fact in a frozen model. JSON is derived from the fields; ``kind`` is the class name.

Times are seconds since the epoch (``at``); durations are milliseconds (``ms``) or seconds (``seconds``) as named.
"""

from __future__ import annotations

import time
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Source = Literal["microphone", "text", "audio_file", "phone"]


class Event(BaseModel):
    """Something that has happened. ``turn`` is the request it belongs to, empty when it belongs to none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    turn: str = ""
    at: float = Field(default_factory=time.time)

    @property
    def moment(self) -> float:
        """When it is there for the user, in seconds since the epoch."""
        return self.at

    @property
    def kind(self) -> str:
        return type(self).__name__

    def to_json(self) -> dict[str, Any]:
        """The event as plain JSON values, with its ``kind``."""
        return {"kind": self.kind, **self.model_dump(mode="json")}


# --- voice -----------------------------------------------------------------------------------------------------------


class WakeHeard(Event):
    word: str
    score: float


class ListeningStarted(Event):
    """The microphone is open for a command (after the wake word or push-to-talk)."""


class PartialTranscribed(Event):
    """What the speech recogniser believes so far; may still change."""

    text: str


class UtteranceEnded(Event):
    """The endpointer closed the utterance. ``reason``: silence, complete, cap, cancelled, empty."""

    seconds: float
    reason: str


class Transcribed(Event):
    text: str
    seconds: float
    ms: float
    window_s: float
    fallback: bool = False


class SpeechStarted(Event):
    """The first sound of ``text`` is on its way to the loudspeaker; after ``latency_s`` seconds it is out."""

    text: str
    latency_s: float = 0.0

    @property
    def moment(self) -> float:
        return self.at + self.latency_s


class SpeechEnded(Event):
    """``spoken`` is what was really played before the end or the interruption."""

    spoken: str
    interrupted: bool = False


class DeviceTroubled(Event):
    """A sound device is silent, gone, or refuses; ``fix`` says what to do."""

    device: str
    problem: str
    fix: str = ""


class DeviceRecovered(Event):
    device: str


class Muted(Event):
    on: bool


# --- one request -----------------------------------------------------------------------------------------------------


class TurnStarted(Event):
    text: str
    source: Source


class PlanMade(Event):
    """``plan`` is Plan.to_json(); ``origin``: first, delegate, recovery."""

    plan: dict[str, Any]
    backend: str
    ms: float
    origin: str = "first"
    sampled_tokens: int = 0
    forced_tokens: int = 0


class Judged(Event):
    """``decision``: approve, notice, ask, refuse. ``step`` is the index of the deciding step, None for the whole."""

    decision: str
    rule: str
    reason: str
    step: int | None = None
    ms: float = 0.0
    origin: str = "first"


class ConsentAsked(Event):
    """``exact`` is the very effect that is asked about: the bytes, the window, the URL."""

    consent: str
    step: int
    exact: str
    reason: str
    expires_s: float


class ConsentAnswered(Event):
    """``answer``: allowed, denied, expired. ``by``: voice, keyboard, phone, nobody."""

    consent: str
    answer: str
    by: str


class StepQueued(Event):
    step: int
    agent: str
    tool: str
    args: dict[str, Any]
    label: str


class StepWaiting(Event):
    step: int
    lock: str


class StepStarted(Event):
    step: int
    attempt: int = 1


class StepRetrying(Event):
    step: int
    attempt: int
    error: str


class StepFinished(Event):
    """The one terminal event of a step; the fields are those of Outcome. ``secret``: the record redacts the turn."""

    step: int
    tool: str
    status: str
    evidence: str = ""
    error: str = ""
    attempts: int = 1
    ms: float = 0.0
    secret: bool = False


class RecoveryStarted(Event):
    step: int
    reason: str


class SpeculationFinished(Event):
    """Read-only work that ran while the recovery model was thinking; ``hidden_ms`` is how much of it cost no time."""

    tools: tuple[str, ...]
    hidden_ms: float


class RecoveryEnded(Event):
    """``result``: repaired, asked, failed, cancelled."""

    result: str
    turns: int
    agents: int


class TurnFinished(Event):
    said: str
    ms: float
    ok: bool


class StopRequested(Event):
    by: str


# --- surroundings ----------------------------------------------------------------------------------------------------


class ScreenWatched(Event):
    """How many companions are watching the screen now; the console shows a visible sign while it is not zero."""

    watchers: int


class DeviceAsked(Event):
    """A phone wants to be paired; the laptop shows ``name`` and ``address`` and approves or not."""

    request: str
    name: str
    address: str


class Noticed(Event):
    """A sentence for the user that belongs to no other event (a warning, a hint)."""

    text: str
    level: Literal["info", "warning", "error"] = "info"


def event_types() -> dict[str, type[Event]]:
    """All event classes by ``kind``."""

    def below(cls: type[Event]) -> list[type[Event]]:
        return [cls, *(leaf for child in cls.__subclasses__() for leaf in below(child))]

    return {cls.__name__: cls for cls in below(Event) if cls is not Event}
