"""demo: the whole chain on a machine with no microphone and no screen."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import typer
from rich.console import Console

from anovax.commands.ask import BACKEND, MODEL, chosen
from anovax.commands.output import JSON_OPTION, emit
from anovax.config import load_config
from anovax.errors import AnovaxError, UsageError


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    audio: Path = typer.Option(None, "--audio", help="Play this recording into the microphone instead."),
    text: str = typer.Option("", "--text", help="Skip the voice: this request as text."),
    out: Path = typer.Option(Path("demo-output"), "--out", help="Where recordings, screenshot and events are kept."),
    backend: str = BACKEND,
    model: str = MODEL,
    json_only: bool = JSON_OPTION,
) -> None:
    """The whole chain on virtual sound and a virtual screen, with no network. Example: anovax demo"""
    from anovax.isolation import isolate

    if audio and text:
        raise UsageError("Give --audio or --text, not both")
    if audio and not audio.exists():
        raise UsageError(f"There is no file {audio}", "check its name")
    isolation = isolate()  # before any other thread exists
    from anovax import demo as scene

    config = chosen(load_config(), backend, model)
    folder = out / time.strftime("%Y%m%d-%H%M%S")
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(stderr=True, highlight=False)

    def tell(line: str) -> None:
        if line and not json_only:
            console.print(line)

    result = asyncio.run(scene.run(config, isolation, folder, audio, text, tell))
    emit(scene.as_json(result)) if json_only else show(result)
    if not result.ok:
        wrong = "; ".join(f"{name}: {why}" for name, why in result.checks.items() if why)
        raise AnovaxError(f"The demo did not do all it promises: {wrong}", f"see {folder}")


def show(result: object) -> None:
    """The timeline and the checks, for people."""
    from anovax.demo import Result

    assert isinstance(result, Result)
    typer.echo(f"\nheard  “{result.heard}”\nsaid   “{result.said}”\n\nmilliseconds after the end of speech:")
    for name, ms in result.stages.items():
        typer.echo(f"  {name:22}{ms:>8.0f}")
    typer.echo("")
    for name, wrong in result.checks.items():
        typer.echo(f"  {'✗' if wrong else '✓'} {name}{': ' + wrong if wrong else ''}")
    for name, value in result.facts.items():
        typer.echo(f"  {name}: {value}")
    typer.echo(f"\neverything is in {result.folder}")
