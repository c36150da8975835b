"""What enters a turn and what comes out of it. All frozen."""

from __future__ import annotations

import time
from typing import Any

from pydantic import Field

from anovax.events import Source
from anovax.plan import Frozen, Outcome, Plan, Verdict
from anovax.repair import RecoveryTurn
from anovax.tool import WindowRef


class Request(Frozen):
    """A request as it enters, from whatever source. ``device`` names the phone it came from."""

    text: str
    source: Source = "text"
    device: str = ""


class Surroundings(Frozen):
    """What the desktop shows when a request arrives."""

    focus: WindowRef | None = None
    windows: tuple[WindowRef, ...] = ()


class Report(Frozen):
    """How a request ended; ``anovax do --json`` prints it."""

    turn: str
    text: str
    plan: Plan
    verdict: Verdict
    backend: str
    outcomes: tuple[Outcome, ...] = ()
    recovery: tuple[RecoveryTurn, ...] = ()
    said: str = ""
    ok: bool = False
    ms: dict[str, float] = Field(default_factory=dict)
    error: str = ""
    at: float = Field(default_factory=time.time)

    def to_json(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "turn": self.turn,
            "plan": self.plan.to_json(),
            "verdict": self.verdict.to_json(),
            "backend": self.backend,
            "outcomes": [outcome.to_json() for outcome in self.outcomes],
            "recovery": [
                {"plan": t.plan.to_json(), "outcomes": [o.to_json() for o in t.outcomes], "note": t.note}
                for t in self.recovery
            ],
            "said": self.said,
            "ok": self.ok,
            "ms": self.ms,
            **({"error": self.error} if self.error else {}),
        }
