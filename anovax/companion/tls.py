"""A local certificate authority and the server certificate that it signs. Both are made on first use and renewed.

The authority may sign for private addresses and ``.local`` names only (RFC 5280 name constraints), so that a phone
which trusts it risks nothing on the internet. Files, all 0600: ``ca.pem``, ``ca.key``, ``server.pem`` (key and
certificate in one, so that they are always of one piece).
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from anovax.errors import CompanionError
from anovax.files import write_private

CA_LIFE = dt.timedelta(days=3650)
LEAF_LIFE = dt.timedelta(days=90)
RENEW_BEFORE = dt.timedelta(days=30)
SKEW = dt.timedelta(days=2)  # a phone's clock may be behind
SANE_YEAR = 2024  # a clock that shows less was never set

PERMITTED = (
    *("localhost", "local"),
    *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10"),
    *("::1/128", "fc00::/7", "fe80::/10"),
)


class Authority:
    """The certificates in one folder. ``now`` is the clock (aware datetime, UTC), a parameter for tests."""

    def __init__(self, folder: Path, now: dt.datetime | None = None) -> None:
        self.folder = folder
        self._fixed_now = now

    def ensure(self, names: Sequence[str]) -> tuple[str, ...]:
        """Make or renew what is missing, expiring, not yet valid, damaged or for other ``names`` (DNS or IP).

        Returns one sentence for each thing done that the user should know. CompanionError when it cannot be done.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            return (*self.ensure_ca(), *self._ensure_leaf(sorted(set(names))))
        except OSError as error:
            raise CompanionError(
                f"The certificate cannot be written to {self.folder}: {error.strerror}", "make that folder writable"
            ) from None

    def context(self) -> ssl.SSLContext:
        """A server context; load() brings a renewed certificate into one that is in use."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        self.load(context)
        return context

    def load(self, context: ssl.SSLContext) -> None:
        """Serve new connections with the certificate as it is on disk now."""
        try:
            context.load_cert_chain(self.folder / "server.pem")
        except (OSError, ssl.SSLError) as error:
            raise CompanionError(
                f"The certificate in {self.folder} cannot be used: {error}", "remove that folder; it is made again"
            ) from None

    def ca_der(self) -> bytes:
        """The authority's certificate as a phone installs it."""
        return self._read("ca").public_bytes(serialization.Encoding.DER)

    def fingerprint(self) -> str:
        """SHA-256 of the authority's certificate: ``AB:CD:…``, 32 bytes."""
        return self._read("ca").fingerprint(hashes.SHA256()).hex(":").upper()

    def clock_trouble(self) -> str:
        """A sentence when this computer's clock cannot be right, else empty."""
        if self._now().year >= SANE_YEAR:
            return ""
        return f"The clock of this computer says {self._now():%Y-%m-%d}; set it, or phones refuse the certificate."

    def _now(self) -> dt.datetime:
        return self._fixed_now or dt.datetime.now(dt.UTC)

    def _read(self, name: str) -> x509.Certificate:
        return x509.load_pem_x509_certificate((self.folder / f"{name}.pem").read_bytes())

    def _key(self, name: str) -> ec.EllipticCurvePrivateKey:
        path = self.folder / ("ca.key" if name == "ca" else "server.pem")
        key = serialization.load_pem_private_key(path.read_bytes(), None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError("not an elliptic-curve key")
        return key

    def ensure_ca(self) -> tuple[str, ...]:
        """Make or renew the authority alone."""
        fresh = not (self.folder / "ca.pem").exists()
        if not fresh and self._usable("ca", RENEW_BEFORE):
            return ()
        key, name = ec.generate_private_key(ec.SECP256R1()), _name("AnovaX on this computer")
        builder = self._builder(name, name, key, CA_LIFE)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        builder = builder.add_extension(_ca_usage(), critical=True)
        permitted = [_general_name(entry) for entry in PERMITTED]
        builder = builder.add_extension(x509.NameConstraints(permitted, None), critical=True)
        self._store("ca", key, builder.sign(key, hashes.SHA256()))
        if fresh:
            return ("A certificate authority for this computer was made.",)
        return ("The certificate authority was not valid any more and was made anew; each phone must trust it again.",)

    def _ensure_leaf(self, names: list[str]) -> tuple[str, ...]:
        kept = self._usable("server", RENEW_BEFORE) and self._signed_by_ca()
        if kept and self._names_of("server") == names:
            return ()
        key, ca, ca_key = ec.generate_private_key(ec.SECP256R1()), self._read("ca"), self._key("ca")
        builder = self._builder(_name("AnovaX companion"), ca.subject, key, LEAF_LIFE)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(x509.SubjectAlternativeName([_general_name(n) for n in names]), critical=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
        builder = builder.add_extension(issuer, critical=False)
        self._store("server", key, builder.sign(ca_key, hashes.SHA256()))
        return (f"The companion's certificate was renewed for {', '.join(names)}.",)

    def _builder(
        self, subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, life: dt.timedelta
    ) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now() - SKEW)
            .not_valid_after(self._now() + life)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        )

    def _usable(self, name: str, margin: dt.timedelta) -> bool:
        """Readable, valid now and for ``margin`` longer, and its key fits."""
        try:
            certificate, key = self._read(name), self._key(name)
            matches = certificate.public_key() == key.public_key()
        except (OSError, ValueError, TypeError):
            return False
        now = self._now()
        return matches and certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc - margin

    def _signed_by_ca(self) -> bool:
        try:
            self._read("server").verify_directly_issued_by(self._read("ca"))
        except (ValueError, TypeError, InvalidSignature):
            return False
        return True

    def _names_of(self, name: str) -> list[str]:
        san = self._read(name).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        return sorted(str(entry.value) for entry in san)

    def _store(self, name: str, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
        pem = serialization.Encoding.PEM
        private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        public = certificate.public_bytes(pem)
        if name == "ca":
            write_private(self.folder / "ca.key", private)
        write_private(self.folder / f"{name}.pem", public if name == "ca" else private + public)


def certificate_names(hosts: Sequence[str]) -> tuple[str, ...]:
    """Host-header names as they stand in a certificate (an IPv6 address without brackets)."""
    return tuple(host.strip("[]") for host in hosts)


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _general_name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_network(text) if "/" in text else ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _ca_usage() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
