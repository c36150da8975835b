"""pair and devices: let a phone in, list phones, put one out."""

from __future__ import annotations

import typer

from anovax.commands.output import JSON_OPTION


def register(app: typer.Typer) -> None:
    app.command()(pair)
    app.command()(devices)


def pair(
    host: str = typer.Option("", "--host", help="The address that the phone shall use."),
    json_only: bool = JSON_OPTION,
) -> None:
    """Show the QR code that lets one phone in. Example: anovax pair"""
    raise NotImplementedError


def devices(
    revoke: str = typer.Option("", "--revoke", help="Id or name of the phone to put out."),
    json_only: bool = JSON_OPTION,
) -> None:
    """List paired phones, or revoke one. Example: anovax devices --revoke "Pixel" """
    raise NotImplementedError
