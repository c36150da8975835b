"""One line of text for each event, for the terminal. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.markup import escape

from anovax import events as e
from anovax.visible import visible

COLOURS = {"approve": "green", "notice": "yellow", "ask": "yellow", "refuse": "red"}
ENDED = {"verified": "green", "unverified": "yellow", "skipped": "dim"}


def line_for(event: e.Event) -> str:
    """Rich markup for ``event``, or the empty string when the console says nothing about it."""
    line = LINES.get(type(event))
    return visible(line(event)) if line is not None else ""


def _started(event: e.TurnStarted) -> str:
    return "" if event.source == "microphone" else f"[bold]› {escape(event.text)}[/]"  # the transcript stands there


def _plan(event: e.PlanMade) -> str:
    steps = "  ".join(escape(_call(step)) for step in event.plan.get("steps", ())) or "words only"
    return f"  [magenta]plan[/] {steps} [dim]{event.backend} {event.ms:.0f} ms[/]"


def _judged(event: e.Judged) -> str:
    return f"  [{COLOURS[event.decision]}]{event.decision}[/] {escape(event.reason)} [dim]{event.ms:.1f} ms[/]"


def _finished(event: e.StepFinished) -> str:
    detail = escape(event.error or event.evidence)
    return f"  [{ENDED.get(event.status, 'red')}]{event.status:10}[/] {event.tool} {detail} [dim]{event.ms:.0f} ms[/]"


def _call(step: dict[str, object]) -> str:
    arguments = ", ".join(f"{value}" for key, value in step.items() if key != "tool")
    return f"{step['tool']}({arguments})"


def _watched(event: e.ScreenWatched) -> str:
    return "[bold red]● your screen is being watched[/]" if event.watchers else "[dim]nobody watches the screen[/]"


LINES: dict[type[e.Event], Callable[[Any], str]] = {
    e.WakeHeard: lambda event: f"[bold cyan]◉ {escape(event.word)}[/] [dim]{event.score:.2f}[/]",
    e.ListeningStarted: lambda event: "[cyan]listening…[/]",
    e.PartialTranscribed: lambda event: f"[dim]… {escape(event.text)}[/]",
    e.Transcribed: lambda event: f"[bold]“{escape(event.text)}”[/] [dim]{event.ms:.0f} ms[/]",
    e.TurnStarted: _started,
    e.PlanMade: _plan,
    e.Judged: _judged,
    e.StepWaiting: lambda event: f"  [dim]step {event.step + 1} waits for {event.lock}[/]",
    e.StepRetrying: lambda event: f"  [yellow]step {event.step + 1} again[/]: {escape(event.error)}",
    e.StepFinished: _finished,
    e.RecoveryStarted: lambda event: f"  [yellow]recovery[/]: {escape(event.reason)}",
    e.SpeculationFinished: lambda event: (
        f"  [dim]meanwhile: {', '.join(event.tools)} ({event.hidden_ms:.0f} ms hidden)[/]"
    ),
    e.RecoveryEnded: lambda event: (
        f"  [yellow]recovery {event.result}[/] [dim]{event.turns} turns, {event.agents} agents[/]"
    ),
    e.TurnFinished: lambda event: f"[bold green]«[/] {escape(event.said)} [dim]{event.ms:.0f} ms[/]",
    e.ScreenWatched: _watched,
    e.Noticed: lambda event: f"[yellow]! {escape(event.text)}[/]",
    e.DeviceTroubled: lambda event: (
        f"[yellow]! {escape(event.device)}: {escape(event.problem)}; {escape(event.fix)}[/]"
    ),
    e.DeviceRecovered: lambda event: f"[green]{escape(event.device)} is back[/]",
    e.StopRequested: lambda event: f"[bold red]stop[/] [dim]by {escape(event.by)}[/]",
    e.Muted: lambda event: "[bold red]microphone muted[/]" if event.on else "[green]microphone open[/]",
}
