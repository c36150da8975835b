"""bench: measured accuracy, latency, safety, wake word, orchestrator, companion; JSON or tables."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import typer

from anovax.commands.ask import BACKEND, MODEL, chosen, plans
from anovax.commands.output import JSON_OPTION, emit, progress
from anovax.config import load_config
from anovax.errors import UsageError

app = typer.Typer(help="Measure: accuracy, latency, safety, wake, orchestrator, companion.", no_args_is_help=True)

EVALUATION = Path("../shared/eval")


@app.command()
def accuracy(
    file: Path = typer.Argument(..., help="A TSV of labelled requests."),
    backend: str = BACKEND,
    model: str = MODEL,
    fast: bool = typer.Option(True, "--fast-path/--no-fast-path", help="Let rules answer first."),
    json_only: bool = JSON_OPTION,
) -> None:
    """How often plans are right. Example: anovax bench accuracy ../shared/eval/utterances.tsv"""
    from anovax.bench.accuracy import Score, read_cases

    config = chosen(load_config(), backend, model)
    config = config.model_copy(update={"planner": config.planner.model_copy(update={"fast_path": fast})})
    cases, score = read_cases(file), Score()
    planned = plans(config, iter([case.text for case in cases]), 0)
    for case, plan in zip(cases, progress(planned, len(cases), "planning"), strict=True):
        score.add(case, plan)
        if json_only:
            emit(plan)
    typer.echo(score.report(), err=json_only)


@app.command()
def orchestrator(
    plans_count: int = typer.Option(1000, "--plans", min=10, help="How many plans."),
    json_only: bool = JSON_OPTION,
) -> None:
    """What running a plan of 8 no-op steps costs. Example: anovax bench orchestrator"""
    from anovax.bench.orchestrator import run
    from anovax.bench.table import table

    rows = run(plans_count)
    if json_only:
        for row in rows:
            emit(asdict(row))
        return
    shown = [(row.kind, row.plans, row.p50, row.p95, row.p99) for row in rows]
    typer.echo(table(shown, ("plan of 8 steps", "plans", "p50 ms", "p95 ms", "p99 ms")))


@app.command()
def safety(
    folder: Path = typer.Option(EVALUATION, "--eval", help="Folder with dangerous.tsv and benign_lookalikes.tsv."),
    json_only: bool = JSON_OPTION,
) -> None:
    """What the filter catches, what it wrongly catches, and its latency. Example: anovax bench safety"""
    from anovax.bench import safety as bench

    report = bench.run(folder)
    emit(report.to_json()) if json_only else typer.echo(report.table())


@app.command()
def memory(
    facts: int = typer.Option(100_000, "--facts", min=100, help="How many facts."),
    json_only: bool = JSON_OPTION,
) -> None:
    """Loading, recall, one more and one fewer among many facts. Example: anovax bench memory"""
    from anovax.bench.memory import measure
    from anovax.bench.table import table

    figures = measure(facts).model_dump()
    emit(figures) if json_only else typer.echo(table([tuple(figures.values())], tuple(figures)))


@app.command()
def ocr(json_only: bool = JSON_OPTION) -> None:
    """How long finding and reading text on a 1080p screen takes. Example: anovax bench ocr"""
    from anovax.bench.ocr import measure
    from anovax.bench.table import table

    rows = [figures.model_dump() for figures in measure()]
    if json_only:
        for row in rows:
            emit(row)
        return
    typer.echo(table([tuple(row.values()) for row in rows], tuple(rows[0])))


def _folder(path: Path) -> Path:
    if not path.is_dir():
        raise UsageError(f"There is no folder {path}", "name one with recordings")
    return path


def quiet() -> bool:
    """Whether standard error is no terminal: no progress then."""
    return not sys.stderr.isatty()
