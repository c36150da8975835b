"""bench: measured accuracy, latency, safety, wake word, orchestrator, companion; JSON or tables."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from anovax.commands.ask import BACKEND, MODEL, chosen, plans
from anovax.commands.output import JSON_OPTION, emit, note, progress
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
    """How often plans are right. Example: anovax bench accuracy requests.tsv"""
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


@app.command()
def latency(
    file: Path = typer.Argument(EVALUATION / "utterances.tsv", help="A TSV whose first column is a request."),
    count: int = typer.Option(20, "--count", min=2, help="How many requests of the file."),
    clips: Path = typer.Option(EVALUATION / "speech" / "transcripts.tsv", "--clips", help="Table of recordings."),
    model: str = MODEL,
    json_only: bool = JSON_OPTION,
) -> None:
    """Planning and speech to text, each beside the obvious way, in one run. Example: anovax bench latency --count 10"""
    from anovax.bench import latency_plan, latency_stt
    from anovax.planner.llamacpp import model_path
    from anovax.sound import build_transcriber, stt_path
    from anovax.tool import discover
    from anovax.voice.transcribe import Transcriber
    from anovax.voice.vad import SileroVad

    config = chosen(load_config(), "", model)
    if not file.is_file():
        raise UsageError(f"There is no file {file}", "name a TSV of requests")
    plan = latency_plan.run(model_path(config.planner.model), discover(), latency_plan.requests_of(file, count), _told)
    emit({"plan": plan.to_json()}) if json_only else typer.echo(plan.table())
    if clips.is_file():
        path, table_of_clips = stt_path(config), latency_stt.read_clips(clips)
        with ExitStack() as stack:
            ours = stack.enter_context(closing(build_transcriber(config)))
            unhinted = stack.enter_context(closing(Transcriber(config.stt, path, vad=SileroVad())))
            speech = latency_stt.measure(ours, path, table_of_clips, config.stt.threads, unhinted=unhinted)
        emit({"stt": speech.model_dump()}) if json_only else typer.echo(_speech_table(speech.model_dump()))


@app.command()
def chain(
    repeat: int = typer.Option(3, "--repeat", min=1, help="How often each request is spoken."),
    model: str = MODEL,
    json_only: bool = JSON_OPTION,
) -> None:
    """Spoken requests on virtual hardware: end of speech to first effect. Example: anovax bench chain"""
    from anovax.bench import chain as bench
    from anovax.bench.table import table

    report = asyncio.run(bench.run(chosen(load_config(), "", model), repeat, note))
    if json_only:
        emit(report.to_json())
        return
    head = ("read by", "requests", "text p50", "plan p50", "effect p50", "effect p95", "audio p50")
    typer.echo(table(report.lines(), head))
    typer.echo(f"ready {report.ready_s} s; idle {report.idle_percent}% of a core; peak {report.peak_mb:.0f} MB")


@app.command()
def stop(
    trials: int = typer.Option(200, "--trials", min=3, help="How many stops."),
    json_only: bool = JSON_OPTION,
) -> None:
    """How fast "stop" ends typing, waiting and planning. Example: anovax bench stop --trials 60"""
    from anovax.bench import stopping
    from anovax.bench.table import table

    rows = asyncio.run(stopping.run(load_config(), trials, note))
    if json_only:
        for row in rows:
            emit(row.to_json())
        return
    shown = [tuple(row.to_json().values()) for row in rows]
    typer.echo(table(shown, ("while", "trials", "p50 ms", "p99 ms", "longest ms", "keys after it")))


@app.command()
def recovery(
    model: str = MODEL,
    unseen: bool = typer.Option(False, "--unseen", help="Fifteen others, with recovery only."),
    reading: bool = typer.Option(False, "--reading", help="Three that read afterwards, and when they read."),
    json_only: bool = JSON_OPTION,
) -> None:
    """Twenty plans that fail on a real desktop: how recovery ends. Example: anovax bench recovery"""
    from anovax.bench import recovery as bench
    from anovax.bench.recovery_cases import CASES, READING
    from anovax.bench.recovery_unseen import UNSEEN
    from anovax.bench.table import table

    if unseen and reading:
        raise UsageError("--unseen and --reading are two lists of cases", "name one of them")
    cases, modes = CASES, bench.MODES
    if unseen:
        cases, modes = UNSEEN, modes[:1]
    elif reading:
        cases, modes = READING, bench.READING_MODES
    rows = asyncio.run(bench.run(chosen(load_config(), "", model), note, cases, modes))
    if json_only:
        for row in rows:
            emit(asdict(row))
    else:
        head = ("case", "mode", "ended", "right", "by", "turns", "seconds")
        typer.echo(table([(r.case, r.mode, r.ended, r.right, r.by, r.turns, r.seconds) for r in rows], head))
    for total in bench.totals(rows):
        emit(total.to_json()) if json_only else typer.echo(total.line())


@app.command()
def wake(
    folder: Path = typer.Argument(EVALUATION / "speech", help="Recordings; those in wake/ or positive/ hold the word."),
    plot: Path = typer.Option(None, "--plot", help="Write the DET curve to this PNG file."),
    cpu: float = typer.Option(0.0, "--cpu", help="Measure CPU over so many seconds of silence and of speech too."),
    json_only: bool = JSON_OPTION,
) -> None:
    """Detections, false accepts per hour, false rejects. Example: anovax bench wake recordings/"""
    from anovax.bench import wake as bench
    from anovax.bench.table import table
    from anovax.sound import build_wake
    from anovax.voice import to_int16
    from anovax.voice.audio import load_audio

    config = load_config()
    positives, negatives = bench.recordings(_folder(folder))
    report = bench.measure(build_wake(config), config.wake.word, positives, negatives)
    if plot is not None:
        bench.plot_det(report, plot)
    if json_only:
        emit(report.model_dump())
    else:
        rows = [
            (p.threshold, f"{p.detected}/{p.positives}", p.false_reject, p.false_accepts, p.per_hour)
            for p in report.sweep
        ]
        typer.echo(table(rows, ("threshold", "detected", "false rejects", "false accepts", "per hour")))
        typer.echo(f"in use: {report.at.threshold}; CPU {report.cpu_percent}% of a core")
    if cpu:
        speech = to_int16(load_audio(negatives[0]))
        emit(bench.measure_cpu(build_wake(config), build_wake(config, gate=False).feed, speech, cpu).model_dump())


@app.command()
def companion(
    seconds: float = typer.Option(15.0, "--seconds", min=2, help="How long each part is measured."),
    soak: float = typer.Option(0.0, "--soak", help="Seconds of a memory soak at the end."),
    part: list[str] = typer.Option([], "--part", help="Only encoders, glass, cpu, idle, stalled, fifty or none."),
    json_only: bool = JSON_OPTION,
) -> None:
    """Picture and events to phones on loopback. Example: anovax bench companion --seconds 10"""
    from anovax.bench import companion as bench
    from anovax.bench.table import table

    unknown = set(part) - {*bench.PARTS, "none"}
    if unknown:
        raise UsageError(f"There is no part {', '.join(sorted(unknown))}", f"name some of {', '.join(bench.PARTS)}")
    figures = bench.run(seconds, soak, note, tuple(part) or bench.PARTS)
    if json_only:
        for figure in figures:
            emit(figure.model_dump())
        return
    rows = [(f.name, f.value, f.unit, "" if f.goal is None else f"<= {f.goal:g}") for f in figures]
    typer.echo(table(rows, ("figure", "value", "unit", "goal")))


def _speech_table(report: dict[str, Any]) -> str:
    from anovax.bench.table import table

    names = ("word_error_rate", "median_ms", "p95_ms", "loops")
    sides = {"default": "default", "unhinted": "ours, no vocabulary", "ours": "ours"}
    rows = [(shown, *(report[side][name] for name in names)) for side, shown in sides.items() if report[side]]
    return table(rows, ("speech to text", "word error rate", "median ms", "p95 ms", "loops")) + (
        f"\n{report['speedup']} times as fast; word error rate {report['rate_change']:+.4f}"
    )


def _told(done: int, of: int) -> None:
    if sys.stderr.isatty():
        note(f"{done} of {of}")


def _folder(path: Path) -> Path:
    if not path.is_dir():
        raise UsageError(f"There is no folder {path}", "name one with recordings")
    return path
