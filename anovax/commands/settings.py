"""config show, config path: what is set, and what of it would leave this machine."""

from __future__ import annotations

import typer

from anovax.commands.output import JSON_OPTION, emit
from anovax.config import Config, config_path, load_config

app = typer.Typer(help="Show the configuration.", no_args_is_help=True)

REMOTE = ("gemini", "openai")


@app.command()
def show(json_only: bool = JSON_OPTION) -> None:
    """All settings as they are in force. Example: anovax config show"""
    config = load_config()
    if json_only:
        emit({"config": config.model_dump(mode="json"), "leaves_this_machine": what_leaves(config)})
        return
    for part, values in config.model_dump(mode="json").items():
        if not isinstance(values, dict):
            typer.echo(f"{part} = {values}")
            continue
        typer.echo(f"\n[{part}]")
        for key, value in values.items():
            typer.echo(f"{key} = {value!r}")
    typer.echo(f"\nLeaves this machine: {what_leaves(config)}")


@app.command()
def path() -> None:
    """Where the configuration file is looked for. Example: anovax config path"""
    typer.echo(str(config_path()))


def what_leaves(config: Config) -> str:
    """In words: what the chosen planner sends away."""
    planner = config.planner
    if planner.backend not in REMOTE:
        return "nothing"
    where = planner.url or f"the {planner.backend} service"
    return f"each request's text, its context and recalled facts go to {where}"
