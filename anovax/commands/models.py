"""models list, fetch, verify, bundle: the weights. scripts/fetch_models.py is the same code without installing."""

from __future__ import annotations

import time
from pathlib import Path

import typer

from anovax import weights
from anovax.commands.output import JSON_OPTION, emit
from anovax.errors import WeightsError
from anovax.setup import bundle as bundles
from anovax.setup.bars import Bars
from anovax.setup.manifest import Manifest, models_dir

app = typer.Typer(help="The model weights: list, fetch, verify, bundle.", no_args_is_help=True)

NAMES = typer.Argument(None, help="Profiles (default, small, all) or model ids.")


@app.command("list")
def show(json_only: bool = JSON_OPTION) -> None:
    """Every model, whether it is here, its size and licence. Example: anovax models list"""
    shelf = weights.Shelf()
    for model in Manifest.load().models:
        here = all(shelf.check(file) == "ok" for file in model.files)
        if json_only:
            row = {"id": model.id, "here": here, "bytes": model.bytes, "licence": model.licence}
            emit({**row, "non_commercial": model.non_commercial})
            continue
        use = " (non-commercial use only)" if model.non_commercial else ""
        typer.echo(f"{'here' if here else '-':5} {model.id:28} {model.bytes / 1e6:8,.1f} MB  {model.licence}{use}")


@app.command()
def fetch(
    names: list[str] = NAMES,
    given: Path = typer.Option(None, "--from", help="A folder or bundle to look in first."),
    offline: bool = typer.Option(False, "--offline", help="Never ask the network."),
    json_only: bool = JSON_OPTION,
) -> None:
    """Bring weights here. Example: anovax models fetch small"""
    started, bars = time.monotonic(), Bars()
    try:
        brought = weights.fetch(names or ["default"], given=given, offline=offline, report=bars)
    finally:
        bars.close()
    seconds = round(time.monotonic() - started, 1)
    if json_only:
        emit({"fetched": [file.path for file in brought], "folder": str(models_dir()), "seconds": seconds})
        return
    files = "1 file" if len(brought) == 1 else f"{len(brought)} files"
    what = f"{files} fetched and verified" if brought else "All weights are here and verified"
    typer.echo(f"{what} in {models_dir()} ({seconds} s).")


@app.command()
def verify(names: list[str] = NAMES, json_only: bool = JSON_OPTION) -> None:
    """Hash every weight file again. Example: anovax models verify"""
    bad = 0
    for file, state in weights.verify(names or ()):
        bad += state != "ok"
        emit({"file": file.path, "state": state}) if json_only else typer.echo(f"{state:8}{file.path}")
    if bad:
        raise WeightsError(f"{bad} weight files are missing or wrong", "run: anovax models fetch")


@app.command()
def bundle(
    path: Path = typer.Argument(..., help="The archive to write."),
    names: list[str] = typer.Option(["default"], "--with", help="Profiles or model ids."),
    weights_only: bool = typer.Option(False, "--weights-only", help="Leave the wheels out."),
    offline: bool = typer.Option(False, "--offline", help="Never ask the network for weights."),
    json_only: bool = JSON_OPTION,
) -> None:
    """One archive for a machine without a network. Example: anovax models bundle anovax.tar"""
    bars = Bars()
    try:
        extent: bundles.Extent = "weights" if weights_only else "run"
        checksum = bundles.make_whole(path, names, bars, extent, given=None, offline=offline)
    finally:
        bars.close()
    made = {"bundle": str(path), "checksum": str(checksum), "bytes": path.stat().st_size}
    emit(made) if json_only else typer.echo(f"{path} ({path.stat().st_size / 1e6:,.0f} MB) with {checksum.name}.")
