"""The error tree. Every error says what went wrong, what to do about it, and what to speak.

Raise a subclass; catch only where something can be done about it. The command line prints ``str(error)`` as one
sentence, the speech agent says ``error.spoken``; neither ever shows a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Steps = tuple[Mapping[str, Any], ...]  # as on the wire: {"tool": "open_app", "name": "calculator"}


class AnovaxError(Exception):
    """Root of everything that AnovaX raises on purpose.

    ``problem`` is what went wrong, ``fix`` what the user can do, ``spoken`` a short form for the loudspeaker.
    """

    exit_code = 1

    def __init__(self, problem: str, fix: str = "", spoken: str = "") -> None:
        self.problem = problem.rstrip(". ")
        self.fix = fix.rstrip(". ")
        self.spoken = spoken or self.problem
        super().__init__(f"{self.problem}; {self.fix}." if self.fix else f"{self.problem}.")


class UsageError(AnovaxError):
    """The user asked for something that has no meaning (a missing file, malformed JSON, an unknown option)."""

    exit_code = 2


class ConfigError(UsageError):
    """The configuration file or an ANOVAX_* variable holds something that cannot be used."""


class WeightsError(AnovaxError):
    """A model file is missing, does not match its hash, or cannot be fetched."""


class PlannerError(AnovaxError):
    """No plan could be made: the backend failed, timed out, or answered with something that is no plan."""


class PlanFormatError(UsageError):
    """A plan or a step is not of the form that the tools declare (unknown tool, missing or malformed argument)."""


class SafetyError(AnovaxError):
    """The filter itself could not come to a verdict; it fails closed."""


class EffectRefused(SafetyError):
    """The re-check just before an effect said no: the desktop is no longer what the plan was approved for."""


class ToolError(AnovaxError):
    """A tool tried and did not succeed. ``candidates`` are near misses that recovery can use (application names…);
    ``remedy`` are the steps that the tool itself would take next, where it knows."""

    def __init__(
        self, problem: str, fix: str = "", spoken: str = "", candidates: tuple[str, ...] = (), remedy: Steps = ()
    ) -> None:
        super().__init__(problem, fix, spoken)
        self.candidates = candidates
        self.remedy = remedy


class FocusLost(ToolError):
    """Another window took the focus between two effects; ``thief`` is its name, ``typed`` how many characters had
    arrived before."""

    def __init__(self, expected: str, thief: str, typed: int = 0) -> None:
        fix = "bring the right window to the front and ask again"
        super().__init__(f"The focus went from {expected} to {thief}", fix)
        self.expected = expected
        self.thief = thief
        self.typed = typed


class UserMustDecide(ToolError):
    """Only the user can say how it goes on; nothing is tried instead."""


class AmbiguousTarget(UserMustDecide):
    """More than one thing fits what was said; the user must choose among ``candidates``."""


class DesktopError(AnovaxError):
    """There is no usable display, or the platform cannot do what was asked."""


class AudioError(AnovaxError):
    """A recording or a sound device cannot be used."""


class CompanionError(AnovaxError):
    """The phone companion cannot be served (port taken, certificate unusable…)."""


class Cancelled(AnovaxError):
    """The user said stop. Never swallowed by the one who is being stopped."""

    exit_code = 130  # as of a program that Ctrl-C ends

    def __init__(self, reason: str = "stopped") -> None:
        super().__init__(f"Stopped ({reason})", spoken="Stopped.")
        self.reason = reason


class TimedOut(AnovaxError):
    """A step outlived its TTL."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f"{what} did not finish within {seconds:g} s")
        self.seconds = seconds
