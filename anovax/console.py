"""One line of text for each event, for the terminal. Pure."""

from __future__ import annotations

from rich.markup import escape

from anovax import events as e


def line_for(event: e.Event) -> str:
    """Rich markup for ``event``, or the empty string when the console says nothing about it."""
    match event:
        case e.WakeHeard():
            return f"[bold cyan]◉ {escape(event.word)}[/] [dim]{event.score:.2f}[/]"
        case e.ListeningStarted():
            return "[cyan]listening…[/]"
        case e.PartialTranscribed():
            return f"[dim]… {escape(event.text)}[/]"
        case e.Transcribed():
            return f"[bold]“{escape(event.text)}”[/] [dim]{event.ms:.0f} ms[/]"
        case e.TurnStarted() if event.source != "microphone":
            return f"[bold]› {escape(event.text)}[/]"
        case e.PlanMade():
            steps = "  ".join(escape(_call(step)) for step in event.plan.get("steps", ())) or "words only"
            return f"  [magenta]plan[/] {steps} [dim]{event.backend} {event.ms:.0f} ms[/]"
        case e.Judged():
            colour = {"approve": "green", "notice": "yellow", "ask": "yellow", "refuse": "red"}[event.decision]
            return f"  [{colour}]{event.decision}[/] {escape(event.reason)} [dim]{event.ms:.1f} ms[/]"
        case e.StepWaiting():
            return f"  [dim]step {event.step + 1} waits for {event.lock}[/]"
        case e.StepRetrying():
            return f"  [yellow]step {event.step + 1} again[/]: {escape(event.error)}"
        case e.StepFinished():
            return _finished(event)
        case e.RecoveryStarted():
            return f"  [yellow]recovery[/]: {escape(event.reason)}"
        case e.SpeculationFinished():
            return f"  [dim]meanwhile: {', '.join(event.tools)} ({event.hidden_ms:.0f} ms hidden)[/]"
        case e.RecoveryEnded():
            return f"  [yellow]recovery {event.result}[/] [dim]{event.turns} turns, {event.agents} agents[/]"
        case e.TurnFinished():
            return f"[bold green]«[/] {escape(event.said)} [dim]{event.ms:.0f} ms[/]"
        case e.ScreenWatched():
            return "[bold red]● your screen is being watched[/]" if event.watchers else "[dim]nobody watches the screen[/]"
        case e.Noticed() | e.DeviceTroubled():
            return f"[yellow]! {escape(event.text if isinstance(event, e.Noticed) else event.problem)}[/]"
        case e.StopRequested():
            return f"[bold red]stop[/] [dim]by {escape(event.by)}[/]"
        case e.Muted():
            return "[bold red]microphone muted[/]" if event.on else "[green]microphone open[/]"
        case _:
            return ""


def _finished(event: e.StepFinished) -> str:
    colour = {"verified": "green", "unverified": "yellow", "skipped": "dim"}.get(event.status, "red")
    detail = escape(event.error or event.evidence)
    return f"  [{colour}]{event.status:10}[/] {event.tool} {detail} [dim]{event.ms:.0f} ms[/]"


def _call(step: dict[str, object]) -> str:
    arguments = ", ".join(f"{value}" for key, value in step.items() if key != "tool")
    return f"{step['tool']}({arguments})"
