"""Letting a phone in: the laptop offers a code, the phone shows it, the laptop approves, the phone gets a token.

The command line makes offers and answers requests, the server takes codes and asks; they talk through small files in
one private folder, each written by one side only: ``offer.json`` (command line; the server removes it when used up),
``asked.json`` (server), ``answers/ID`` (command line). Codes are stored as salted hashes.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import io
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from anovax.companion.devices import DeviceStore, clean_name
from anovax.companion.lockout import Lockout
from anovax.companion.refusal import Refused
from anovax.files import read_json, write_json, write_private

OFFER_S = 300.0
REQUEST_S = 120.0
MAX_PENDING = 4
WRONG_PER_OFFER = 10  # 10 guesses at 10^8 PINs: 1e-7 for each offer
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32: 5 bits a letter, no I, L, O, U
CODE_LETTERS = 12  # 60 bits
PIN_DIGITS = 8


@dataclass(frozen=True)
class Offer:
    """What the laptop shows. ``url`` opens the page and pairs (the code is in the fragment, which no server sees);
    ``pin`` is for typing, ``fingerprint`` for comparing, ``qr`` is ready for a terminal, ``expires_s`` seconds left."""

    url: str
    address: str
    code: str
    pin: str
    fingerprint: str
    qr: str
    expires_s: float


class Asked(BaseModel):
    """A phone that showed the right code and waits for the laptop's word. ``expires_at``: epoch seconds."""

    model_config = ConfigDict(frozen=True)

    request: str
    name: str
    address: str
    expires_at: float


class _Offered(BaseModel):
    salt: str
    code: str
    pin: str
    expires_at: float


@dataclass
class _Pending:
    asked: Asked
    claim: str
    answer: bool | None = None


def offer(folder: Path, host: str, port: int, fingerprint: str) -> Offer:
    """Open the door for five minutes; an older offer ends. ``host`` is the address that the phone can reach."""
    code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LETTERS))
    pin = "".join(secrets.choice("0123456789") for _ in range(PIN_DIGITS))
    salt = secrets.token_hex(16)
    offered = _Offered(salt=salt, code=_digest(salt, code), pin=_digest(salt, pin), expires_at=time.time() + OFFER_S)
    write_json(folder / "offer.json", offered.model_dump())
    address = f"https://{host}:{port}/"
    url = f"{address}#pair={code}&ca={fingerprint.replace(':', '').lower()}"
    return Offer(url, address, code, f"{pin[:4]} {pin[4:]}", fingerprint, terminal_qr(url), OFFER_S)


def withdraw(folder: Path) -> None:
    """Close the door. Safe twice."""
    (folder / "offer.json").unlink(missing_ok=True)


def waiting(folder: Path) -> tuple[Asked, ...]:
    """Phones that wait for an answer now."""
    try:
        found = [Asked.model_validate(entry) for entry in read_json(folder / "asked.json") or ()]
    except (ValidationError, TypeError):
        return ()
    return tuple(asked for asked in found if asked.expires_at > time.time())


def answer(folder: Path, request: str, allow: bool) -> None:
    """Let the waiting phone in or not, from any process of this user; the server acts within half a second."""
    if request.isalnum():
        write_private(folder / "answers" / request, b"allow" if allow else b"deny")


def terminal_qr(text: str) -> str:
    """A QR code in half blocks, dark on light whatever the terminal's colours."""
    import segno

    out = io.StringIO()
    segno.make(text, error="l", micro=False).terminal(out, compact=True, border=2)
    return out.getvalue()


class Desk:
    """The server's side of pairing. ``ask`` is called when a phone showed the right code and needs approval."""

    def __init__(
        self,
        folder: Path,
        devices: DeviceStore,
        ask: Callable[[Asked], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._devices = devices
        self._ask = ask
        self._clock = clock
        self._lockout = Lockout(folder / "lockout.json", clock)
        self._pending: dict[str, _Pending] = {}
        self._wrong_in_offer: dict[str, int] = {}
        self._changed = asyncio.Event()
        self._publish()

    def knock(self, secret: str, name: str, address: str) -> str:
        """A phone shows a code or a PIN. Returns its claim (a secret of its own to ask with). Refused says why not."""
        pause = self._lockout.pause(address)
        if pause:
            raise Refused(429, "locked", "Too many wrong codes", f"wait {round(pause)} s and try again", pause)
        offered = self._open_offer()
        if len(self._pending) >= MAX_PENDING:
            raise Refused(429, "busy", "Other phones are waiting", "answer them on the computer first", 10)
        if not self._fits(offered, secret):
            self._note_wrong(offered, address)
            raise Refused(403, "wrong_code", "That code is wrong", "look at the computer and type it again")
        withdraw(self._folder)  # single use: taken before anybody is asked
        self._lockout.right(address)
        return self._open_request(clean_name(name), address)

    def claim(self, claim: str) -> tuple[Literal["waiting", "denied"], None] | tuple[Literal["allowed"], str]:
        """What became of the request. ``allowed`` comes once, with the new phone's token."""
        self.sweep()
        hashed = _digest("claim", claim)
        found = next((p for p in self._pending.values() if hmac.compare_digest(p.claim, hashed)), None)
        if found is None:
            return "denied", None
        if found.answer is None:
            return "waiting", None
        self._forget(found.asked.request)
        return ("allowed", self._devices.add(found.asked.name)[1]) if found.answer else ("denied", None)

    def approve(self, request: str, allow: bool) -> bool:
        """The laptop's answer; False when nobody waits under that id (any more)."""
        self.sweep()
        if request not in self._pending:
            return False
        self._pending[request].answer = allow
        self._publish()
        return True

    def sweep(self) -> None:
        """Drop requests that nobody answered in time, and read answers that other processes gave."""
        for request, pending in list(self._pending.items()):
            if pending.asked.expires_at <= self._clock():
                self._forget(request)
            elif pending.answer is None:
                self._read_answer(request, pending)

    async def answered(self, seconds: float) -> None:
        """Wait until any request was answered or dropped, at most ``seconds``."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()

    @property
    def busy(self) -> bool:
        """True while a phone waits: only then is there anything to sweep."""
        return bool(self._pending)

    def _open_offer(self) -> _Offered:
        try:
            offered = _Offered.model_validate(read_json(self._folder / "offer.json"))
        except ValidationError:
            offered = None
        if offered is None or not 0 < offered.expires_at - self._clock() <= OFFER_S + 1:
            withdraw(self._folder)
            raise Refused(410, "no_offer", "No code is open now", "run `anovax pair` on the computer for a new one")
        return offered

    @staticmethod
    def _fits(offered: _Offered, secret: str) -> bool:
        typed = "".join(char for char in secret.upper() if char.isascii() and char.isalnum())[:64]
        digest = _digest(offered.salt, typed)
        return hmac.compare_digest(digest, offered.code) | hmac.compare_digest(digest, offered.pin)

    def _note_wrong(self, offered: _Offered, address: str) -> None:
        self._lockout.wrong(address)
        wrong = self._wrong_in_offer.get(offered.salt, 0) + 1
        self._wrong_in_offer = {offered.salt: wrong}
        if wrong >= WRONG_PER_OFFER:
            withdraw(self._folder)

    def _open_request(self, name: str, address: str) -> str:
        claim = secrets.token_urlsafe(32)
        expires = self._clock() + REQUEST_S
        asked = Asked(request=secrets.token_hex(4), name=name, address=address, expires_at=expires)
        self._pending[asked.request] = _Pending(asked, _digest("claim", claim))
        self._publish()
        self._ask(asked)
        return claim

    def _read_answer(self, request: str, pending: _Pending) -> None:
        try:
            pending.answer = (self._folder / "answers" / request).read_bytes() == b"allow"
        except FileNotFoundError:
            return
        self._publish()

    def _forget(self, request: str) -> None:
        self._pending.pop(request, None)
        (self._folder / "answers" / request).unlink(missing_ok=True)
        self._publish()

    def _publish(self) -> None:
        open_now: Sequence[_Pending] = [p for p in self._pending.values() if p.answer is None]
        write_json(self._folder / "asked.json", [p.asked.model_dump() for p in open_now])
        self._changed.set()
        self._changed = asyncio.Event()


def _digest(salt: str, secret: str) -> str:
    return hashlib.sha256(f"{salt}:{secret}".encode("utf-8", "surrogatepass")).hexdigest()
