"""pair and devices: let a phone in, list phones, put one out."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import typer

from anovax.commands.output import JSON_OPTION, emit, note
from anovax.companion import door, pairing
from anovax.companion.devices import Device
from anovax.config import load_config
from anovax.errors import CompanionError

POLL_S = 0.5


def register(app: typer.Typer) -> None:
    app.command()(pair)
    app.command()(devices)


def pair(
    host: str = typer.Option("", "--host", help="The address that the phone shall use."),
    yes: bool = typer.Option(False, "--yes", help="Let in the first phone that shows the code, without asking here."),
    json_only: bool = JSON_OPTION,
) -> None:
    """Show the QR code that lets one phone in, and ask here before it gets in. Example: anovax pair"""
    config = load_config()
    offered = door.open_offer(config.companion, config.data_dir, host)
    folder = door.pairing_folder(config.data_dir)
    if json_only:
        facts = {"url": offered.url, "address": offered.address, "pin": offered.pin}
        emit({**facts, "fingerprint": offered.fingerprint, "expires_s": offered.expires_s})
    else:
        typer.echo(offered.qr)
        typer.echo(f"Scan it, or open {offered.address} and type the PIN {offered.pin}.")
        typer.echo(f"Fingerprint of this computer's certificate: {offered.fingerprint}")
    try:
        _wait(folder, offered.expires_s, yes)
    finally:
        pairing.withdraw(folder)


def devices(
    revoke: str = typer.Option("", "--revoke", help="Id or name of the phone to put out."),
    json_only: bool = JSON_OPTION,
) -> None:
    """List paired phones, or put one out at once. Example: anovax devices --revoke "My phone"."""
    store = door.device_store(load_config().data_dir)
    if revoke:
        gone = store.revoke(revoke)
        emit({"revoked": gone.id, "name": gone.name}) if json_only else typer.echo(f"{gone.name} is out.")
        return
    found = store.list()
    for device in found:
        emit(_facts(device)) if json_only else typer.echo(_line(device))
    if not found and not json_only:
        typer.echo("No phone is paired. Let one in with: anovax pair")


def _wait(folder: Path, seconds: float, yes: bool) -> None:
    """Until a phone has been answered or the offer ends."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for asked in pairing.waiting(folder):
            allow = yes or typer.confirm(f"{asked.name} at {asked.address} wants in. Allow it?", err=True)
            pairing.answer(folder, asked.request, allow)
            note("It is paired." if allow else "It was turned away.")
            return
        time.sleep(POLL_S)
    raise CompanionError("No phone came within the time", "run anovax pair again when the phone is ready")


def _facts(device: Device) -> dict[str, object]:
    return device.model_dump(include={"id", "name", "paired_at", "seen_at"})


def _line(device: Device) -> str:
    seen = datetime.fromtimestamp(device.seen_at, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    return f"{device.id}  {device.name}  last seen {seen}"
