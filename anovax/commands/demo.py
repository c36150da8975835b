"""demo: the whole chain on a machine with no microphone and no screen."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo() -> None:
    """The whole chain. Example: anovax demo"""
    raise NotImplementedError
