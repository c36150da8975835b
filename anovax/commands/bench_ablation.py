"""bench ablation: what each part is good for, by switching it off."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import typer

from anovax.commands.ask import BACKEND, MODEL, chosen
from anovax.commands.output import JSON_OPTION, emit, note
from anovax.config import load_config


def register(app: typer.Typer) -> None:
    app.command()(ablation)


def ablation(
    repeat: int = typer.Option(3, "--repeat", min=1, help="How often each scenario runs under each ablation."),
    backend: str = BACKEND,
    model: str = MODEL,
    json_only: bool = JSON_OPTION,
) -> None:
    """Model, memory, locks, recovery off in turn: what still works. Example: anovax bench ablation --repeat 5"""
    from anovax.bench import ablation as bench

    report = asyncio.run(bench.run(chosen(load_config(), backend, model), repeat, tell=_told))
    emit(report.to_json()) if json_only else typer.echo(report.table())


def _told(row: Any, done: int, of: int) -> None:
    if sys.stderr.isatty():
        note(f"{done} of {of}: {row.scenario}, {row.ablation}")
