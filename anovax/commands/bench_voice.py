"""bench voice: how quick the voice is on virtual sound hardware."""

from __future__ import annotations

from pathlib import Path

import typer

from anovax.commands.output import JSON_OPTION, emit, note
from anovax.config import load_config


def register(app: typer.Typer) -> None:
    app.command()(voice)


def voice(
    trials: int = typer.Option(10, "--trials", min=2, help="How often each thing is tried."),
    soak: float = typer.Option(0.0, "--soak", min=0, help="Instead: so many seconds of sound, faster than life."),
    plot: Path | None = typer.Option(None, "--plot", help="Draw memory and CPU of the soak into this file."),
    json_only: bool = JSON_OPTION,
) -> None:
    """First audio, interruptions, final text, devices that come back. Example: anovax bench voice --trials 5"""
    if soak:
        _soak(soak, plot, json_only)
        return
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


def _soak(seconds: float, plot: Path | None, json_only: bool) -> None:
    from anovax.bench import soak as bench

    found = bench.run(load_config(), seconds, note)
    if plot is not None:
        bench.plot(found, plot)
        note(f"drawn: {plot}")
    if json_only:
        emit(found.model_dump())
        return
    last = found.moments[-1]
    typer.echo(f"{found.seconds:.0f} s of sound, {found.commands} commands")
    typer.echo(f"missed: {', '.join(found.missed) or 'none'}; invented: {', '.join(found.invented) or 'none'}")
    typer.echo(f"memory {last.memory_mb:.0f} MB, grown by {found.grown_mb:.1f} MB; {last.threads} threads")
