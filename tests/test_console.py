"""The console has a line for what a user should see, and never breaks on what it holds."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from anovax import events as e
from anovax.console import LINES, line_for

EVENTS = [
    e.WakeHeard(word="hey_jarvis", score=0.9),
    e.TurnStarted(text="open [bold]x[/]", source="text"),
    e.PlanMade(plan={"steps": [{"tool": "open_app", "name": "[red]"}]}, backend="fastpath", ms=1),
    e.PlanMade(plan={"steps": []}, backend="fastpath", ms=1),
    e.Judged(decision="refuse", rule="r", reason="[/nonsense]"),
    e.StepFinished(step=0, tool="type_text", status="failed", error="[/]"),
    e.StepFinished(step=0, tool="type_text", status="verified", evidence="read back"),
    e.ScreenWatched(watchers=1),
    e.TurnFinished(said="Done.", ms=3, ok=True),
    e.Muted(on=True),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind)
def test_a_line_prints_whatever_the_event_holds(event: e.Event) -> None:
    out = io.StringIO()
    Console(file=out, width=200).print(line_for(event))
    assert out.getvalue().strip()


def test_what_the_transcript_shows_is_not_said_twice() -> None:
    assert line_for(e.TurnStarted(text="hello", source="microphone")) == ""


def test_unknown_events_are_passed_over() -> None:
    assert line_for(e.SpeechStarted(text="hello")) == ""
    assert set(LINES) <= set(e.event_types().values())
