"""bench run, bench compare: backends side by side on the same requests, and two such studies beside one another."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from anovax import __version__
from anovax.commands.doctor import versions
from anovax.commands.output import JSON_OPTION, bar, emit, note
from anovax.config import Config, load_config
from anovax.errors import UsageError

if TYPE_CHECKING:
    from anovax.bench.study.rows import Folder
    from anovax.bench.study.running import Study


def register(app: typer.Typer) -> None:
    app.command()(run)
    app.command()(compare)


def run(
    folder: Path = typer.Argument(..., help="Where the study is kept; one that was stopped goes on there."),
    texts: Path = typer.Option(None, "--texts", help="Requests: one per line, or a table as for accuracy."),
    recordings: Path = typer.Option(None, "--recordings", help="A transcripts.tsv, or the folder that holds it."),
    backend: list[str] = typer.Option(["fastpath"], "--backend", help="May be given several times; see the docs."),
    count: int = typer.Option(0, "--count", min=0, help="So many requests, drawn by the seed; 0: all."),
    repeat: int = typer.Option(1, "--repeat", min=1, help="Warm rows per request and backend."),
    cold: int = typer.Option(0, "--cold", min=0, help="So many requests to a backend that was just loaded."),
    seed: int = typer.Option(0, "--seed", help="Decides order, choice and the modelled network."),
    simulate: str = typer.Option("", "--simulate-cloud", help="delay=80,jitter=20,loss=1 (ms, ms, percent)."),
    live: bool = typer.Option(False, "--live", help="Speak each request on virtual hardware and do it."),
    json_only: bool = JSON_OPTION,
) -> None:
    """Backends side by side in one run. Example: anovax bench run study --texts requests.tsv --backend 1.5B"""
    from anovax.bench.study.network import Network
    from anovax.bench.study.running import Study

    names, network = list(dict.fromkeys(backend)), Network.parse(simulate) if simulate else None
    if network is not None and not any(name.endswith("simulated") for name in names):
        names.append("simulated")
    study = Study(tuple(_asked(texts, recordings, count, seed)), tuple(names), repeat, cold, seed, network, live)
    made = _open(study, folder, load_config())
    try:
        _measure(study, made, load_config())
    except (KeyboardInterrupt, asyncio.CancelledError):
        _finish(made, json_only)
        note(f"Stopped; what was measured is in {folder}. The same command goes on.")
        raise typer.Exit(130) from None
    _finish(made, json_only)


def compare(
    a: Path = typer.Argument(..., help="A study's folder."),
    b: Path = typer.Argument(..., help="Another's."),
    json_only: bool = JSON_OPTION,
) -> None:
    """What changed from study A to study B, with intervals. Example: anovax bench compare before after"""
    from anovax.bench.study.differences import compare as compared
    from anovax.bench.study.rows import Folder
    from anovax.bench.table import table

    differing, changes = compared(Folder(a), Folder(b))
    if json_only:
        emit({"differing": differing, "changes": [change.to_json() for change in changes]})
        return
    for line in differing:
        typer.echo(f"not the same: {line}")
    head = ("backend", "mode", "figure", "A", "B", "B - A (95% interval)", "")
    typer.echo(table([change.cells() for change in changes], head))


def _asked(texts: Path | None, recordings: Path | None, count: int, seed: int) -> list[Any]:
    import random

    from anovax.bench.study.requests import read_recordings, read_texts

    if texts is None and recordings is None:
        raise UsageError("A study needs requests", "add --texts FILE or --recordings TABLE")
    asked = [*(read_texts(texts) if texts else ()), *(read_recordings(recordings) if recordings else ())]
    chosen = random.Random(seed).sample(asked, count) if 0 < count < len(asked) else asked
    return sorted(chosen, key=lambda one: one.id)


def _open(study: Study, path: Path, config: Config) -> Folder:
    """Check everything before the first model is loaded, and write down what is measured on what."""
    from anovax.bench.study import machine
    from anovax.bench.study.backends import leaves, named
    from anovax.bench.study.rows import Folder
    from anovax.bench.study.running import check
    from anovax.tool import discover

    backends = check(study, config, discover())
    for name in leaves(backends, config):
        note(f"The backend {name} sends these requests to another machine.")
    heard = study.live or any(one.audio for one in study.asked)
    answering = [named(study.network.answers, config)] if study.network else []
    about = {
        "machine": machine.machine(),
        "versions": machine.versions(versions(__version__)),
        "weights": machine.hashes([*backends, *answering], config, heard, study.live),
        "load": machine.load(),
        "command": " ".join(sys.argv[1:]),
    }
    made = Folder(path)
    made.open(study.settings(config), about)
    return made


def _measure(study: Study, folder: Folder, config: Config) -> None:
    from anovax.bench.study import running
    from anovax.sound import build_transcriber
    from anovax.tool import discover

    with ExitStack() as stack:
        recogniser = None
        if any(one.audio for one in study.asked) and not study.live:
            recogniser = build_transcriber(config)
            stack.callback(recogniser.close)
        tell = stack.enter_context(bar("measuring"))
        asyncio.run(running.run(study, folder, config, discover(), recogniser, lambda row, done, of: tell(done, of)))


def _finish(folder: Folder, json_only: bool) -> None:
    from anovax.bench.study import report
    from anovax.bench.study.figures import groups
    from anovax.bench.table import table

    written = report.write(folder)
    head, body = report.quality(groups(folder.rows()))
    if json_only:
        emit({"folder": str(folder.path), "files": written, "figures": [dict(zip(head, r, strict=True)) for r in body]})
        return
    typer.echo(table(body, head))
    typer.echo(f"{folder.path / 'report.html'}")
