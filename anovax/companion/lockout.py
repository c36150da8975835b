"""Wrong guesses cost time: per address and over all addresses, doubling, and a restart does not forgive them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel, ValidationError

from anovax.files import read_json, write_json

PER_ADDRESS = 5
IN_ALL = 20
FIRST_PAUSE_S = 60.0
LONGEST_PAUSE_S = 3600.0
FORGET_S = 24 * 3600.0
MAX_ADDRESSES = 512


class Count(BaseModel):
    """Wrong guesses so far; ``until`` is when the next one is heard, ``last`` when the last came (epoch seconds)."""

    wrong: int = 0
    until: float = 0.0
    last: float = 0.0


class _Book(BaseModel):
    everyone: Count = Count()
    addresses: dict[str, Count] = {}


class Lockout:
    """Counts wrong guesses in one file, which only the server writes."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        try:
            self._book = _Book.model_validate(read_json(path) or {})
        except ValidationError:
            self._book = _Book()

    def pause(self, address: str) -> float:
        """Seconds that ``address`` has to wait before it may guess, 0 when it may now.

        A wait is never longer than the longest pause, even if the clock was set back in between.
        """
        until = max(self._book.everyone.until, self._book.addresses.get(address, Count()).until)
        return min(max(0.0, until - self._clock()), LONGEST_PAUSE_S)

    def wrong(self, address: str) -> None:
        """Note a wrong guess."""
        addresses = self._book.addresses
        addresses[address] = self._next(addresses.pop(address, Count()), PER_ADDRESS)
        while len(addresses) > MAX_ADDRESSES:
            addresses.pop(min(addresses, key=lambda key: addresses[key].until))
        self._book.everyone = self._next(self._book.everyone, IN_ALL)
        self._save()

    def right(self, address: str) -> None:
        """Forgive this address; the count over all stays."""
        if self._book.addresses.pop(address, None) is not None:
            self._save()

    def _next(self, count: Count, free: int) -> Count:
        now = self._clock()
        wrong = 1 if now - count.last > FORGET_S else count.wrong + 1
        pause = FIRST_PAUSE_S * 2 ** min(wrong // free - 1, 16) if wrong % free == 0 else 0.0
        until = max(count.until, now + min(pause, LONGEST_PAUSE_S)) if pause else count.until
        return Count(wrong=wrong, last=now, until=until)

    def _save(self) -> None:
        write_json(self._path, self._book.model_dump())
