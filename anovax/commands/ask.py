"""run, do, plan, check: from a request to a plan, a verdict, an execution."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from anovax.commands.output import JSON_OPTION, emit, lines_of_stdin, note, patiently, progress
from anovax.config import Config, load_config
from anovax.errors import PlannerError, UsageError

BACKEND = typer.Option("", "--backend", help="fastpath, llamacpp, gemini or openai.")
MODEL = typer.Option("", "--model", help="Planner model id (anovax models list) or a path to a GGUF file.")
MAX_TEXT = 5_000


def register(app: typer.Typer) -> None:
    app.command()(run)
    app.command("do")(do)
    app.command()(plan)
    app.command()(check)


def run() -> None:
    """Listen for the wake word and do what is asked. Example: anovax run"""
    from anovax.commands.live import listen

    asyncio.run(listen(load_config()))


def do(
    text: str = typer.Argument("", help="The request."),
    audio: Path = typer.Option(None, "--audio", help="A recording of the request instead of text."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Plan and judge only."),
    yes: bool = typer.Option(False, "--yes", help="Ask nothing at the terminal; never answers a consent question."),
    silent: bool = typer.Option(False, "--silent", help="Do not speak the reply."),
    backend: str = BACKEND,
    model: str = MODEL,
    json_only: bool = JSON_OPTION,
) -> None:
    """One request, executed. Example: anovax do "open the calculator, type 21 plus 21 and press enter"."""
    from anovax.commands.live import do_once

    config = chosen(load_config(), backend, model)
    if bool(text) == bool(audio):
        raise UsageError("Give either a text or --audio FILE", 'write: anovax do "what time is it"')
    if dry_run and text:
        for planned in plans(config, iter([text]), 1):
            emit(planned) if json_only else show_plan(planned)
        return
    report = asyncio.run(do_once(config, text, audio, dry_run, ask=sys.stdin.isatty() and not yes, silent=silent))
    if json_only:
        emit(report.to_json())
    else:
        typer.echo(report.said or "(nothing to say)")
    raise typer.Exit(0 if report.ok else 1)


def plan(
    texts: list[str] = typer.Argument(None, help="One or more requests."),
    stdin: bool = typer.Option(False, "--stdin", help="One request per line, one JSON line each."),
    backend: str = BACKEND,
    model: str = MODEL,
    json_only: bool = JSON_OPTION,
) -> None:
    """Plan and judge; nothing runs. Example: anovax plan "open firefox" """
    if bool(texts) == stdin:
        raise UsageError("Give requests, or --stdin", 'write: anovax plan "open firefox"')
    config = chosen(load_config(), backend, model)
    if stdin:
        source: Iterator[str] = lines_of_stdin()
        total = 0
    else:
        source, total = iter(texts), len(texts)
    for planned in progress(plans(config, source, total), total, "planning"):
        emit(planned) if json_only or stdin else show_plan(planned)


def check(
    stdin: bool = typer.Option(False, "--stdin", help='One {"steps": [...]} per line.'),
    json_only: bool = JSON_OPTION,
) -> None:
    """Judge plans, loading no model. Example: echo '{"steps": [{"tool": "get_time"}]}' | anovax check --stdin"""
    from anovax.safety import Safety
    from anovax.tool import discover

    if not stdin:
        raise UsageError("Plans are read from standard input", "write: anovax check --stdin < plans.jsonl")
    config = load_config()
    safety = Safety(discover(), config.safety, config.desktop.search_url)
    for line in lines_of_stdin():
        emit(safety.judge_json(line))


def chosen(config: Config, backend: str, model: str) -> Config:
    """The configuration with --backend and --model applied; an unknown backend is a usage error."""
    known = ("fastpath", "llamacpp", "gemini", "openai")
    if backend and backend not in known:
        raise UsageError(f"There is no backend {backend}", f"use one of {', '.join(known)}")
    given = (("backend", backend), ("model", model.removeprefix("planner/")))  # the id also as "models list" prints it
    changes: dict[str, Any] = {key: value for key, value in given if value}
    return config.model_copy(update={"planner": config.planner.model_copy(update=changes)})


def plans(config: Config, texts: Iterator[str], total: int) -> Iterator[dict[str, Any]]:
    """Plans and verdicts in the shape of the contract, the model loaded once."""
    from anovax.app import build_planning

    with asyncio.Runner() as runner, build_planning(config) as planning:
        for text in texts:
            if len(text) > MAX_TEXT:
                note(f"A request of {len(text)} characters is cut to {MAX_TEXT}.")
            try:
                yield runner.run(patiently(planning.plan(text[:MAX_TEXT], shown=text), planning.planner.ready))
            except PlannerError as error:
                if total == 1:
                    raise
                yield {"text": text, "plan": {"steps": []}, "error": str(error)}


def show_plan(planned: dict[str, Any]) -> None:
    for number, step in enumerate(planned["plan"]["steps"], 1):
        arguments = ", ".join(f"{key}={value!r}" for key, value in step.items() if key != "tool")
        typer.echo(f"{number}. {step['tool']}({arguments})")
    if planned["plan"].get("say"):
        typer.echo(f"say: {planned['plan']['say']}")
    verdict, ms = planned["verdict"], planned["ms"]
    reason = f": {verdict['reason']}" if verdict["reason"] else ""
    typer.echo(f"{verdict['decision']}{reason}  ({planned['backend']}, {ms['plan']:.0f} ms)")
