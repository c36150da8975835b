"""bench voice: how quick the voice is on virtual sound hardware."""

from __future__ import annotations

import typer

from anovax.commands.output import JSON_OPTION, emit, note
from anovax.config import load_config


def register(app: typer.Typer) -> None:
    app.command()(voice)


def voice(
    trials: int = typer.Option(10, "--trials", min=2, help="How often each thing is tried."),
    json_only: bool = JSON_OPTION,
) -> None:
    """First audio, interruptions, final text, devices that come back. Example: anovax bench voice --trials 5"""
    from anovax.bench import voice as bench
    from anovax.bench.table import table

    figures = bench.run(load_config(), trials, note)
    if json_only:
        for figure in figures:
            emit(figure.model_dump())
        return
    rows = [
        (f.name, f.trials, f.missed, f.p50, f.p95, f.longest, "" if f.goal is None else f"<= {f.goal:g}")
        for f in figures
    ]
    typer.echo(table(rows, ("voice", "trials", "missed", "p50 ms", "p95 ms", "longest ms", "goal ms")))
