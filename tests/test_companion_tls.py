"""The local authority: made once, renewed by itself, useless outside the LAN."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
import subprocess
from pathlib import Path

import pytest
from cryptography import x509

from anovax.companion import door, pairing, tls
from anovax.companion.tls import Authority
from anovax.config import CompanionConfig
from anovax.errors import CompanionError

NAMES = ("127.0.0.1", "192.168.1.7", "::1", "laptop.local", "localhost")
NOW = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)


def leaf(folder: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate((folder / "server.pem").read_bytes())


def test_made_once_and_then_kept(tmp_path: Path) -> None:
    authority = Authority(tmp_path, NOW)
    assert len(authority.ensure(NAMES)) == 2
    print_ = authority.fingerprint()
    assert authority.ensure(reversed(NAMES)) == ()  # type: ignore[arg-type]
    assert authority.fingerprint() == print_
    assert len(print_.split(":")) == 32


def test_openssl_agrees_with_the_chain(tmp_path: Path) -> None:
    Authority(tmp_path).ensure(NAMES)
    done = subprocess.run(
        ["openssl", "verify", "-x509_strict", "-CAfile", tmp_path / "ca.pem", tmp_path / "server.pem"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_openssl_refuses_a_name_on_the_internet(tmp_path: Path) -> None:
    """The name constraints hold: whoever steals the key cannot pretend to be a bank."""
    Authority(tmp_path).ensure((*NAMES, "bank.example"))
    done = subprocess.run(
        ["openssl", "verify", "-CAfile", tmp_path / "ca.pem", tmp_path / "server.pem"], capture_output=True, text=True
    )
    assert "permitted subtree violation" in done.stdout + done.stderr


def test_every_private_range_is_permitted() -> None:
    networks = [ipaddress.ip_network(entry) for entry in tls.PERMITTED if "/" in entry]
    for address in ("10.0.0.1", "172.31.9.9", "192.168.255.1", "100.64.0.1", "169.254.1.1", "fd12::1", "fe80::1"):
        assert any(ipaddress.ip_address(address) in network for network in networks)


@pytest.mark.parametrize("days", [59, 61, 200, -3])
def test_an_expiring_or_not_yet_valid_certificate_is_renewed(tmp_path: Path, days: int) -> None:
    Authority(tmp_path, NOW).ensure(NAMES)
    before, print_ = leaf(tmp_path), Authority(tmp_path).fingerprint()
    later = Authority(tmp_path, NOW + dt.timedelta(days=days))
    said = later.ensure(NAMES)
    renewed = leaf(tmp_path).serial_number != before.serial_number
    assert renewed is (days != 59)
    assert any("renewed for" in sentence for sentence in said) is renewed
    if days > 0:
        assert later.fingerprint() == print_  # phones need not trust anything new


def test_an_expired_authority_is_made_anew_and_says_what_that_means(tmp_path: Path) -> None:
    Authority(tmp_path, NOW).ensure(NAMES)
    said = Authority(tmp_path, NOW + dt.timedelta(days=3640)).ensure(NAMES)
    assert "each phone must trust it again" in said[0]
    assert Authority(tmp_path).context()


def test_new_names_get_a_new_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path, NOW)
    authority.ensure(NAMES)
    (said,) = authority.ensure((*NAMES, "192.168.1.99"))
    assert said.startswith("The companion's certificate was renewed for 127.0.0.1, 192.168.1.7, 192.168.1.99, ")


@pytest.mark.parametrize("name", ["ca.pem", "ca.key", "server.pem"])
@pytest.mark.parametrize("damage", ["missing", "empty", "half", "other"])
def test_damaged_files_are_made_again(tmp_path: Path, name: str, damage: str) -> None:
    authority = Authority(tmp_path)
    authority.ensure(NAMES)
    path = tmp_path / name
    if damage == "missing":
        path.unlink()
    elif damage == "other":
        other = Authority(tmp_path / "other")
        other.ensure(NAMES)
        path.write_bytes((tmp_path / "other" / name).read_bytes())
    else:
        path.write_bytes(path.read_bytes()[: 0 if damage == "empty" else 100])
    assert authority.ensure(NAMES)
    assert authority.context()
    assert authority.ensure(NAMES) == ()


def test_a_running_server_takes_a_renewed_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    authority.ensure(NAMES)
    context = authority.context()
    authority.ensure((*NAMES, "10.0.0.1"))
    authority.load(context)
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2


def test_a_folder_that_cannot_be_written_gives_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(CompanionError, match=r"^The certificate cannot be written to .*; make that folder writable\.$"):
        Authority(tmp_path / "file").ensure(NAMES)


def test_an_unset_clock_is_named(tmp_path: Path) -> None:
    old = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    assert "1970-01-01; set it" in Authority(tmp_path, old).clock_trouble()
    assert Authority(tmp_path, NOW).clock_trouble() == ""


# --- the door --------------------------------------------------------------------------------------------------------


def test_an_offer_has_everything_a_phone_needs(tmp_path: Path) -> None:
    offer = door.open_offer(CompanionConfig(enabled=True), tmp_path)
    assert offer.url.startswith("https://127.0.0.1:8765/#pair=")
    assert offer.code in offer.url
    assert "?" not in offer.url  # the code is in the fragment, which is sent to nobody
    assert offer.fingerprint.replace(":", "").lower() in offer.url
    assert len(offer.qr.splitlines()) > 15
    assert offer.pin.replace(" ", "").isdecimal()


def test_a_companion_that_is_off_opens_no_door(tmp_path: Path) -> None:
    with pytest.raises(CompanionError, match=r"turned off; set enabled = true"):
        door.open_offer(CompanionConfig(), tmp_path)


def test_no_network_opens_no_door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anovax.companion.network.lan_addresses", lambda: ())
    with pytest.raises(CompanionError, match="no network address now; connect it"):
        door.open_offer(CompanionConfig(enabled=True, lan=True), tmp_path)


def test_the_qr_reads_back(tmp_path: Path) -> None:
    """What the terminal shows is the offer's address: read with another program's decoder."""
    import cv2
    import numpy as np

    text = "https://192.168.1.7:8765/#pair=ABCDEFGHJKMN&ca=" + "0123456789abcdef" * 4
    rows = []
    for line in pairing.terminal_qr(text).splitlines():
        plain = _without_escapes(line)
        if plain:
            rows.append([char in " ▄" for char in plain])
            rows.append([char in " ▀" for char in plain])
    picture = np.where(np.array(rows), 0, 255).astype(np.uint8)
    picture = np.kron(picture, np.ones((8, 8), np.uint8))
    found = {cv2.QRCodeDetector().detectAndDecode(image)[0] for image in (picture, 255 - picture)}
    assert text in found


def _without_escapes(line: str) -> str:
    import re

    return re.sub(r"\x1b\[[0-9;]*m", "", line)
