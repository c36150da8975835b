"""What `anovax pair` and `anovax devices` call; they run beside the assistant, in a process of their own."""

from __future__ import annotations

from pathlib import Path

from anovax.companion import network, pairing
from anovax.companion.devices import DeviceStore
from anovax.config import CompanionConfig
from anovax.errors import CompanionError


def open_offer(config: CompanionConfig, data_dir: Path, host: str = "") -> pairing.Offer:
    """A QR code, a link, a PIN and the fingerprint, good for five minutes and one phone.

    ``host`` is the address that the phone shall use; empty finds the best one. CompanionError when the companion is
    off, or no phone could reach this computer.
    """
    from anovax.companion.tls import Authority

    if not config.enabled:
        raise CompanionError(
            "The companion is turned off", "set enabled = true, and lan = true for a phone, under [companion]"
        )
    addresses = network.lan_addresses() if config.lan else ("127.0.0.1",)
    if not addresses:
        raise CompanionError("This computer has no network address now", "connect it to the same network as the phone")
    authority = Authority(data_dir / "companion" / "tls")
    authority.ensure_ca()
    return pairing.offer(pairing_folder(data_dir), host or addresses[0], config.port, authority.fingerprint())


def pairing_folder(data_dir: Path) -> Path:
    """For pairing.waiting(), pairing.answer() and pairing.withdraw()."""
    return data_dir / "companion" / "pairing"


def device_store(data_dir: Path) -> DeviceStore:
    """list() and revoke(); a running assistant notices within half a second."""
    return DeviceStore(data_dir / "companion" / "devices")
