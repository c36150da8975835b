"""bench day: many hours of use in one process, and what it holds at the end that it did not hold at the start."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from anovax import __version__
from anovax.commands.doctor import versions
from anovax.commands.output import JSON_OPTION, bar, emit, note
from anovax.config import load_config
from anovax.files import write_atomically

if TYPE_CHECKING:
    from anovax.bench.day import Plan
    from anovax.bench.day_report import Day

EVALUATION = Path("../shared/eval")


def register(app: typer.Typer) -> None:
    app.command()(day)


def day(
    requests: Path = typer.Argument(EVALUATION / "utterances.tsv", help="One per line, or a table as for accuracy."),
    texts: int = typer.Option(2000, "--texts", min=0, help="How many are typed."),
    audio: int = typer.Option(200, "--audio", min=0, help="How many are spoken."),
    recordings: Path = typer.Option(None, "--recordings", help="As for run; without, Piper says the requests."),
    backend: str = typer.Option("fastpath", "--backend", help="As for run: fastpath, rules+0.5B, rules+1.5B."),
    seed: int = typer.Option(0, "--seed", help="Decides choice and order."),
    silent: bool = typer.Option(False, "--silent", help="Write the answers only: quicker, and less like a day."),
    out: Path = typer.Option(None, "--out", help="Write everything, each request too, to this JSON file."),
    json_only: bool = JSON_OPTION,
) -> None:
    """A day of use: does anything leak or slow down? Example: anovax bench day requests.txt --texts 300 --audio 30"""
    from anovax.isolation import isolate

    isolate()  # before any other thread exists: pages that requests open are asked of nobody
    from anovax.bench.day import Plan, run, short
    from anovax.bench.day_report import Day
    from anovax.bench.study.backends import named
    from anovax.bench.study.requests import read_recordings, read_texts

    config = load_config()
    known, lived = named(backend, config), Day()
    asked = tuple(read_texts(requests))
    said = short(read_recordings(recordings)) if recordings else asked
    plan = Plan(asked, said, texts, audio, seed, not silent)
    about = _about(plan, backend)
    try:
        with bar("living") as tell:
            asyncio.run(run(plan, config, known, lived, tell))
    except (KeyboardInterrupt, asyncio.CancelledError):
        note(f"Stopped after {len(lived.answers)} requests.")
        _finish(lived, about, out, json_only)
        raise typer.Exit(130) from None
    except BaseException:
        if lived.answers:  # hours of measuring are not lost with what ended them
            _finish(lived, about, out, json_only)
        raise
    _finish(lived, about, out, json_only)
    if not lived.holds:
        raise typer.Exit(1)


def _finish(lived: Day, about: dict[str, Any], out: Path | None, json_only: bool) -> None:
    told = {**about, **lived.to_json()}
    if out is not None:
        write_atomically(out, json.dumps(told, indent=1))
    emit(told) if json_only else typer.echo(lived.table())


def _about(plan: Plan, backend: str) -> dict[str, Any]:
    """What was measured on what, as it was at the start."""
    from anovax.bench.study import machine
    from anovax.bench.study.requests import digest

    return {
        "backend": backend,
        "seed": plan.seed,
        "rounds": plan.rounds,
        "requests_hash": digest((*plan.texts, *plan.spoken)),
        "machine": machine.machine(),
        "versions": machine.versions(versions(__version__)),
        "load": machine.load(),
    }
