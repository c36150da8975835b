"""log and replay: what was heard, planned, judged, done; and the same again, dry unless asked otherwise."""

from __future__ import annotations

import asyncio
from pathlib import Path

import typer

from anovax import record
from anovax.commands.ask import plans, show_plan
from anovax.commands.output import JSON_OPTION, emit
from anovax.config import load_config
from anovax.errors import AnovaxError, UsageError
from anovax.record import journal_folder
from anovax.record_text import readable


def register(app: typer.Typer) -> None:
    app.command()(log)
    app.command()(replay)


def log(
    action: str = typer.Argument("show", help="show, or verify the chain."),
    turn: str = typer.Option("", "--turn", help="Only this turn."),
    last: int = typer.Option(200, "--last", min=1, help="How many lines."),
    json_only: bool = JSON_OPTION,
) -> None:
    """The record. Example: anovax log; anovax log verify"""
    folder = journal_folder(load_config())
    if action == "verify":
        _verify(folder, json_only)
        return
    if action != "show":
        raise UsageError(f"There is no log {action}", "write: anovax log, or anovax log verify")
    found = record.turn_entries(folder, turn) if turn else list(record.entries(folder))
    if json_only:
        for entry in found[-last:]:
            emit(entry.model_dump())
    elif not found:
        typer.echo("The record is empty.")
    else:
        for line in readable(found[-last:]):
            typer.echo(line)


def replay(
    turn: str = typer.Argument(..., help="A turn's id, as anovax log shows it."),
    run: bool = typer.Option(False, "--run", help="Execute it too."),
    json_only: bool = JSON_OPTION,
) -> None:
    """Plan and judge a recorded request again; --run executes it. Example: anovax replay 3fa2c1d0"""
    from anovax.commands.live import do_once

    config = load_config()
    text = _heard(record.turn_entries(journal_folder(config), turn))
    if run:
        report = asyncio.run(do_once(config, text, None, dry_run=False, ask=True, silent=False))
        emit(report.to_json()) if json_only else typer.echo(report.said)
        raise typer.Exit(0 if report.ok else 1)
    for planned in plans(config, iter([text]), 1):
        emit(planned) if json_only else show_plan(planned)


def _heard(found: list[record.Entry]) -> str:
    for entry in found:
        if entry.kind == "TurnStarted" and entry.data is not None:
            return str(entry.data["text"])
    raise UsageError("What was said in that turn is no longer in the record", "it held a secret, or the line is lost")


def _verify(folder: Path, json_only: bool) -> None:
    faults = record.verify(folder)
    if json_only:
        emit({"ok": not faults, "faults": [fault.model_dump() for fault in faults]})
    for fault in () if json_only else faults:
        typer.echo(f"{fault.file} line {fault.line}: {fault.problem}")
    if faults:
        raise AnovaxError(f"The record has {len(faults)} broken places", "somebody changed it, or the disk lost data")
    if not json_only:
        typer.echo(f"The record is whole: {sum(1 for _ in record.entries(folder))} lines.")
