"""Events to the phones as server-sent events: one ring of encoded events, a cursor per phone, no queue to overflow.

A phone that comes back names the last event it has (``Last-Event-ID`` or ``?after=``) and gets the rest. One that has
none, or comes from before a restart, or was away for longer than the ring remembers, gets ``resync`` and then the
events of the current turn. Only lasting events have ids; partial transcripts are overwritten, not queued.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from anovax.bus import Bus
from anovax.events import DeviceAsked, Event, PartialTranscribed, TurnStarted

RING = 1024
HEARTBEAT_S = 15.0
BATCH = 64  # events in one write, so that a phone that catches up does not hold the loop

Write = Callable[[bytes], Awaitable[None]]


class Feed:
    """Listens to the bus and lets any number of phones read along, each at its own pace.

    ``state`` is sent with a resync, ``heard`` is told of every event.
    """

    def __init__(
        self,
        bus: Bus,
        state: Callable[[], dict[str, Any]],
        ring: int = RING,
        heard: Callable[[Event], None] = lambda event: None,
    ) -> None:
        self._subscription = bus.subscribe()
        self._state = state
        self._heard = heard
        self._ring: deque[tuple[int, bytes]] = deque(maxlen=ring)
        self._boot = secrets.token_hex(4)
        self._last = 0
        self._turn_start = 1
        self._lost = 0
        self._partial: tuple[int, bytes] = (0, b"")
        self._changed = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._pump = asyncio.get_running_loop().create_task(self._listen(), name="companion-feed")

    async def close(self) -> None:
        """Stop listening. Safe twice."""
        self._subscription.close()
        if self._pump is not None:
            self._pump.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._pump
            self._pump = None

    def add(self, event: Event) -> None:
        """Take an event into the ring and wake every reader."""
        data = json.dumps(event.to_json(), ensure_ascii=False, separators=(",", ":"))
        if isinstance(event, PartialTranscribed):
            self._partial = (self._partial[0] + 1, f"data: {data}\n\n".encode("utf-8", "replace"))
        elif not isinstance(event, DeviceAsked):  # pairing is the laptop's business alone
            self._last += 1
            if isinstance(event, TurnStarted):
                self._turn_start = self._last
            encoded = f"id: {self._boot}-{self._last}\ndata: {data}\n\n".encode("utf-8", "replace")
            self._ring.append((self._last, encoded))
        self._changed.set()
        self._changed = asyncio.Event()
        self._heard(event)

    async def send(self, write: Write, after: str = "", heartbeat_s: float = HEARTBEAT_S) -> None:
        """Write events to one phone for ever; ends by cancellation or by an error of ``write``."""
        cursor, boot, partial = self._cursor(after), self._boot, self._partial[0]
        while True:
            changed = self._changed
            if cursor is None or boot != self._boot or self._missed(cursor):
                cursor, boot = self._turn_start_kept() - 1, self._boot
                await write(self._resync())
            batch = self._after(cursor)
            if batch:
                cursor = batch[-1][0]
                await write(b"".join(encoded for _, encoded in batch))
            elif partial != self._partial[0]:
                partial, encoded = self._partial
                await write(encoded)
            elif not await _set_within(changed, heartbeat_s):
                await write(f"event: beat\ndata: {time.time():.3f}\n\n".encode())

    async def _listen(self) -> None:
        async for event in self._subscription:
            if self._subscription.lost != self._lost:  # a gap in the numbers must not look like none
                self._lost, self._boot = self._subscription.lost, secrets.token_hex(4)
                self._ring.clear()
            self.add(event)

    def _cursor(self, after: str) -> int | None:
        boot, _, number = after.partition("-")
        if boot != self._boot or not (number.isascii() and number.isdecimal() and len(number) < 16):
            return None
        return int(number) if int(number) <= self._last else None

    def _first(self) -> int:
        return self._ring[0][0] if self._ring else self._last + 1

    def _missed(self, cursor: int) -> bool:
        return cursor + 1 < self._first()

    def _turn_start_kept(self) -> int:
        return max(self._turn_start, self._first())

    def _after(self, cursor: int) -> list[tuple[int, bytes]]:
        skip = cursor + 1 - self._first()
        return list(itertools.islice(self._ring, skip, skip + BATCH)) if cursor < self._last else []

    def _resync(self) -> bytes:
        data = json.dumps({"now": time.time(), "boot": self._boot, "state": self._state()}, ensure_ascii=False)
        return f"event: resync\ndata: {data}\n\n".encode("utf-8", "replace")


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
