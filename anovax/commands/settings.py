"""config show, path, reference: what is set, what can be set, and what of it would leave this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from anovax.commands.output import JSON_OPTION, emit
from anovax.config import Config, config_path, load_config

app = typer.Typer(help="Show the configuration.", no_args_is_help=True)

REMOTE = ("gemini", "openai")


@app.command()
def show(json_only: bool = JSON_OPTION) -> None:
    """All settings as they are in force, as the file writes them. Example: anovax config show"""
    config = load_config()
    if json_only:
        emit({"config": config.model_dump(mode="json"), "leaves_this_machine": what_leaves(config)})
        return
    for part, values in config.model_dump(mode="json").items():
        if not isinstance(values, dict):
            typer.echo(f"{part} = {_toml(values)}")
            continue
        typer.echo(f"\n[{part}]")
        for key, value in values.items():
            typer.echo(f"{key} = {_toml(value)}")
    typer.echo(f"\n# Leaves this machine: {what_leaves(config)}")


@app.command()
def path() -> None:
    """Where the configuration file is looked for. Example: anovax config path"""
    typer.echo(str(config_path()))


@app.command("reference")
def show_reference() -> None:
    """Every setting there is, as Markdown. Example: anovax config reference > docs/configuration.md"""
    typer.echo(reference(), nl=False)


def what_leaves(config: Config) -> str:
    """In words: what the chosen planner sends away."""
    planner = config.planner
    if planner.backend not in REMOTE:
        return "nothing"
    where = planner.url or f"the {planner.backend} service"
    return f"each request's text, its context and recalled facts go to {where}"


# --- the reference ---------------------------------------------------------------------------------------------------

_INTRODUCTION = """\
# Configuration

Printed by `anovax config reference` from the models in `anovax/config.py`; a test keeps the two equal.

Settings come from one TOML file and from environment variables. `anovax config path` tells where the file is looked for
(`ANOVAX_CONFIG` names another one), `anovax config show` what is in force. Without a file the defaults hold. A variable
wins over the file, and an unknown key is an error that names it.

```toml
[planner]
model = "qwen2.5-coder-0.5b"

[safety.tools]
close_window = "ask"
```

The same by variables: `ANOVAX_PLANNER__MODEL=qwen2.5-coder-0.5b` (two underscores between part and key), and for tables
and lists JSON: `ANOVAX_SAFETY__TOOLS='{"close_window": "ask"}'`.
"""
_VARIABLES = """
## Variables that are no settings

| variable | meaning |
|---|---|
| `ANOVAX_CONFIG` | the configuration file |
| `ANOVAX_MODELS` | folder of the weights; else `models/` of the clone, or `anovax/models` in the user's data folder |
| `ANOVAX_CACHE` | downloads, weights by hash and built wheels; else `anovax` in the user's cache folder |
"""
_SIGNS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


def reference() -> str:
    """All settings with defaults, bounds, meanings and variables, as Markdown. The same on every machine."""
    own = {name: field for name, field in Config.model_fields.items() if not _is_part(field)}
    parts: dict[str, Any] = {name: field.annotation for name, field in Config.model_fields.items() if _is_part(field)}
    text = _INTRODUCTION + "\n## Top of the file\n" + _table("", own)
    for name, part in parts.items():
        text += f"\n## [{name}]\n" + _preface(part) + _table(name, part.model_fields)
    return text + _VARIABLES


def _is_part(field: FieldInfo) -> bool:
    return isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)


def _preface(part: type[Any]) -> str:
    said = " ".join((vars(part).get("__doc__") or "").split()).replace("``", "`")
    return f"\n{said}\n" if said else ""


def _table(part: str, fields: dict[str, FieldInfo]) -> str:
    rows = "".join(_row(part, key, field) for key, field in fields.items())
    return "\n| key | default | values | meaning | variable |\n|---|---|---|---|---|\n" + rows


def _row(part: str, key: str, field: FieldInfo) -> str:
    variable = "__".join(name.upper() for name in (part, key) if name)
    cells = (f"`{key}`", _default(field), ", ".join(_values(field)), field.description or "", f"`ANOVAX_{variable}`")
    return "| " + " | ".join(cells) + " |\n"


def _default(field: FieldInfo) -> str:
    """The default as TOML writes it; a folder of this machine only by its kind."""
    value = field.get_default(call_default_factory=True)
    if isinstance(value, Path):
        return "`anovax` in the user's data folder"
    return f"`{_toml(value)}`"


def _toml(value: Any) -> str:
    """A setting's value as TOML writes it; a table stands on one line."""
    if isinstance(value, dict):
        inside = ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _values(field: FieldInfo) -> Iterator[str]:
    """What may stand there: the type, then the bounds."""
    kind = field.annotation
    inner = get_args(kind)
    if get_origin(kind) is Literal:
        yield " or ".join(f"`{choice}`" for choice in inner)
        return
    if get_origin(kind) is dict:
        choices = get_args(inner[1])
        yield "table of " + (" or ".join(f"`{choice}`" for choice in choices) or "texts")
        return
    names = {str: "text", int: "whole number", float: "number", bool: "`true` or `false`", Path: "folder"}
    yield "list of texts" if get_origin(kind) is tuple else names[kind]  # type: ignore[index]
    for bound in field.metadata:
        for name, sign in _SIGNS.items():
            if hasattr(bound, name):
                yield f"{sign} {getattr(bound, name):g}"
