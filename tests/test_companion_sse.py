"""Server-sent events: nothing lost, nothing repeated, nobody held up by somebody slow."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket
import ssl
import time
from pathlib import Path
from typing import Any

import pytest
from companion_rig import Events, request, running, until

from anovax.bus import Bus
from anovax.companion.sse import BATCH, Feed
from anovax.events import Noticed, PartialTranscribed, TurnFinished, TurnStarted


class Cut(Exception):
    """The network went away."""


class Phone:
    """Reads a byte stream as EventSource does, over a connection that breaks after so many bytes."""

    def __init__(self) -> None:
        self.last = ""
        self.events: list[tuple[str, str]] = []
        self._half = b""
        self._left = 0

    def connect(self, budget: int) -> None:
        self._half, self._left = b"", budget

    async def write(self, data: bytes) -> None:
        taken, self._left = data[: self._left], self._left - len(data)
        *whole, self._half = (self._half + taken).split(b"\n\n")
        for block in whole:
            fields = dict(line.split(": ", 1) for line in block.decode().split("\n"))
            self.last = fields.get("id", self.last)
            self.events.append((fields.get("event", "message"), fields["data"]))
        if self._left <= 0:
            raise Cut
        await asyncio.sleep(0)

    def texts(self) -> list[str]:
        return [json.loads(data)["text"] for name, data in self.events if name == "message"]


@pytest.fixture
def bus() -> Bus:
    return Bus()


async def feed_of(bus: Bus, ring: int = 1024) -> Feed:
    feed = Feed(bus, dict, ring)
    feed.start()
    await asyncio.sleep(0)
    return feed


async def read_until_cut(feed: Feed, phone: Phone, budget: int) -> None:
    phone.connect(budget)
    with contextlib.suppress(Cut):
        await feed.send(phone.write, phone.last)


@pytest.mark.parametrize("seed", range(3))
async def test_a_thousand_random_cuts_lose_and_repeat_nothing(bus: Bus, seed: int) -> None:
    feed, phone, chance = await feed_of(bus), Phone(), random.Random(seed)
    published, cuts = 0, 0
    reading = asyncio.create_task(asyncio.sleep(0))
    phone.last = f"{feed._boot}-0"  # it has been here from the start
    while cuts < 1000:
        if reading.done():
            cuts += 1
            reading = asyncio.create_task(read_until_cut(feed, phone, chance.randint(1, 900)))
        for _ in range(chance.randint(0, 3)):
            bus.publish(Noticed(text=f"{published} {'ä' * chance.randint(0, 40)}"))
            published += 1
        await asyncio.sleep(0)
    reading.cancel()
    final = asyncio.create_task(read_until_cut(feed, phone, 10**9))
    await until(lambda: len(phone.texts()) >= published)
    final.cancel()
    assert [int(text.split()[0]) for text in phone.texts()] == list(range(published))
    assert published > 1000
    await feed.close()


async def test_away_for_longer_than_the_ring_means_resync_and_the_current_turn(bus: Bus) -> None:
    feed, phone = await feed_of(bus, ring=50), Phone()
    for n in range(200):
        bus.publish(Noticed(text=str(n)))
    bus.publish(TurnStarted(turn="t", text="now", source="text"))
    await asyncio.sleep(0.01)
    phone.last = f"{feed._boot}-3"
    task = asyncio.create_task(read_until_cut(feed, phone, 10**9))
    await until(lambda: len(phone.events) >= 2)
    task.cancel()
    assert phone.events[0][0] == "resync"
    assert phone.texts() == ["now"]
    await feed.close()


async def test_a_restart_means_resync(bus: Bus) -> None:
    old, new, phone = await feed_of(bus), await feed_of(bus), Phone()
    bus.publish(Noticed(text="x"))
    await asyncio.sleep(0.01)
    phone.last = f"{old._boot}-1"
    task = asyncio.create_task(read_until_cut(new, phone, 10**9))
    await until(lambda: phone.events)
    task.cancel()
    assert phone.events[0][0] == "resync"
    await old.close()
    await new.close()


async def test_events_that_the_bus_dropped_are_admitted(bus: Bus) -> None:
    feed, phone = await feed_of(bus), Phone()
    bus.publish(TurnStarted(turn="t", text="before", source="text"))
    task = asyncio.create_task(read_until_cut(feed, phone, 10**9))
    await until(lambda: phone.texts() == ["before"])
    for n in range(3000):  # more than the bus keeps for one listener, with no chance to read
        bus.publish(Noticed(text=str(n)))
    await until(lambda: phone.texts()[-1:] == ["2999"])
    task.cancel()
    assert [name for name, _ in phone.events].count("resync") == 2
    await feed.close()


async def test_partial_transcripts_are_replaced_not_queued(bus: Bus) -> None:
    feed, phone = await feed_of(bus), Phone()
    task = asyncio.create_task(read_until_cut(feed, phone, 10**9))
    await until(lambda: phone.events)
    for n in range(500):
        bus.publish(PartialTranscribed(text=f"word {n}"))
    await until(lambda: phone.texts()[-1:] == ["word 499"])
    assert len(phone.texts()) < 100
    assert phone.last == ""  # they carry no id
    task.cancel()
    await feed.close()


async def test_a_silent_stream_has_a_heartbeat(bus: Bus) -> None:
    feed, phone = await feed_of(bus), Phone()
    phone.connect(10**9)
    task = asyncio.create_task(feed.send(phone.write, "", heartbeat_s=0.02))
    await until(lambda: [name for name, _ in phone.events].count("beat") >= 3)
    task.cancel()
    await feed.close()


async def test_catching_up_is_done_in_pieces(bus: Bus) -> None:
    feed, phone = await feed_of(bus), Phone()
    for n in range(1000):
        bus.publish(Noticed(text=str(n)))
    await asyncio.sleep(0.05)
    writes: list[int] = []

    async def write(data: bytes) -> None:
        writes.append(data.count(b"\n\n"))
        await phone.write(data)

    phone.connect(10**9)
    task = asyncio.create_task(feed.send(write, f"{feed._boot}-0"))
    await until(lambda: len(phone.events) == 1000)
    task.cancel()
    assert max(writes) <= BATCH
    await feed.close()


async def test_one_stalled_phone_of_fifty_holds_up_nobody(tmp_path: Path) -> None:
    """The bound on the others' delay is measured by `anovax bench companion`; here: they get everything, soon."""
    async with running(tmp_path) as rig, rig.session(rig.pair()) as web:
        sessions = [rig.session(rig.pair(f"p{n % 20}")) for n in range(20)]
        streams = [Events(await sessions[n % 20].get("/api/events")) for n in range(49)]
        for stream in streams:
            assert (await stream.next())[0] == "resync"
        stalled = await asyncio.to_thread(_stalled_phone, rig)
        began = time.monotonic()
        for n in range(400):
            rig.bus.publish(TurnFinished(turn=str(n), said="x" * 2000, ms=1, ok=True))
            if n % 50 == 0:
                await asyncio.sleep(0.01)
        assert time.monotonic() - began < 2  # publishing never waits for a phone
        for stream in streams:
            for n in range(400):
                assert (await stream.next())[1]["turn"] == str(n)
        assert (await web.post("/api/stop")).status == 202
        stalled.close()
        for session in sessions:
            await session.close()


def _stalled_phone(rig: object) -> socket.socket:
    """Asks for events and then never reads."""
    from companion_rig import Rig

    assert isinstance(rig, Rig)
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.connect(("127.0.0.1", rig.server.port))
    secured: ssl.SSLSocket = rig.context().wrap_socket(plain, server_hostname="localhost")
    secured.sendall(request(rig, "GET /api/events", f"Cookie: __Host-anovax={rig.pair('stalled')}"))
    return secured


@pytest.mark.parametrize("cuts", [40, pytest.param(1000, marks=[pytest.mark.full, pytest.mark.timeout(300)])])
async def test_reconnects_over_the_network_lose_and_repeat_nothing(tmp_path: Path, cuts: int) -> None:
    """As EventSource does: TLS, a cut after any number of bytes, the last number that arrived whole."""
    chance = random.Random(cuts)
    async with running(tmp_path) as rig:
        stop, published = asyncio.Event(), 0

        async def publish() -> None:
            nonlocal published
            while not stop.is_set():
                rig.bus.publish(Noticed(text=f"{published} {'ä' * chance.randint(0, 300)}"))
                published += 1
                await asyncio.sleep(0.004)

        phone, context = Phone(), rig.context()
        phone.last = f"{rig.server._feed._boot}-0"  # it has been here from the start
        publishing = asyncio.create_task(publish())
        head = f"Cookie: __Host-anovax={rig.pair()}"
        for cut in range(cuts + 1):
            if cut == cuts:
                stop.set()
                await publishing
            phone.connect(chance.randint(1, 4000) if cut < cuts else 10**9)
            await _listen(rig, context, head, phone, published if cut == cuts else None)
        assert [int(text.split()[0]) for text in phone.texts()] == list(range(published))
        assert [name for name, _ in phone.events if name == "resync"] == []


async def _listen(rig: Any, context: ssl.SSLContext, head: str, phone: Phone, until_events: int | None) -> None:
    """One connection, read in small pieces and dropped when the phone's budget is used up."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", rig.server.port, ssl=context, server_hostname="localhost"
    )
    writer.write(request(rig, "GET /api/events", head, f"Last-Event-ID: {phone.last}"))
    await reader.readuntil(b"\r\n\r\n")
    with contextlib.suppress(Cut):
        while until_events is None or len(phone.texts()) < until_events:
            size = int(await asyncio.wait_for(reader.readline(), 10), 16)
            await phone.write((await reader.readexactly(size + 2))[:-2])
    writer.transport.abort()
