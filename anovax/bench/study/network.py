"""A modelled network: a TCP proxy on loopback that delays what passes through it.

Each direction delivers packets in order, each ``delay`` ± ``jitter`` milliseconds after it was sent (uniform, as
``tc netem`` does it). A lost packet is sent again after TCP's retransmission timeout, taken as the round trip plus
200 ms (Linux's minimum over RFC 6298), doubled each time; what is behind it waits. A new connection costs
``handshakes`` round trips before its first byte: one for TCP and one for TLS 1.3. All chance comes from one seed.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from anovax.errors import UsageError

PACKET = 1460  # bytes of payload of one packet on Ethernet
RETRANSMIT_MS = 200.0
MOST_LOSSES = 6


class Network(BaseModel):
    """Milliseconds one way, percent of packets, round trips. ``answers``: the backend whose plans the server gives."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    delay: float = Field(80.0, ge=0, le=5000)
    jitter: float = Field(20.0, ge=0, le=5000)
    loss: float = Field(1.0, ge=0, le=50)
    handshakes: int = Field(2, ge=0, le=4)
    answers: str = "1.5B"

    @staticmethod
    def parse(text: str) -> Network:
        """From "delay=80,jitter=20,loss=1". UsageError says what is wrong."""
        pairs = [part.partition("=") for part in text.split(",") if part.strip()]
        try:
            return Network.model_validate({key.strip(): value.strip() for key, _, value in pairs})
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise UsageError(
                f"The network's {where} is wrong: {first['msg']}", "write: delay=80,jitter=20,loss=1"
            ) from None

    def packet_ms(self, chance: random.Random) -> float:
        """How long one packet is under way, with all its losses."""
        wait, timeout = 0.0, 2 * self.delay + RETRANSMIT_MS
        for _ in range(MOST_LOSSES):
            if chance.random() * 100 >= self.loss:
                break
            wait, timeout = wait + timeout, timeout * 2
        return wait + max(0.0, self.delay + chance.uniform(-self.jitter, self.jitter))

    def handshake_ms(self, chance: random.Random) -> float:
        return sum(self.packet_ms(chance) for _ in range(2 * self.handshakes))


class Proxy:
    """Forwards connections to a port of this machine through ``network``."""

    def __init__(self, network: Network, port: int, seed: int) -> None:
        self._network, self._port, self._chance = network, port, random.Random(seed)
        self._open: set[asyncio.Task[Any]] = set()

    async def serve(self) -> asyncio.Server:
        return await asyncio.start_server(self._connected, "127.0.0.1", 0)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The task is ours: of one that the server made, it would report the cancellation by ``close`` as an error."""
        task = asyncio.ensure_future(self._forward(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await asyncio.sleep(self._network.handshake_ms(self._chance) / 1000)
            there, back = await asyncio.open_connection("127.0.0.1", self._port)
            await asyncio.gather(self._carry(reader, back), self._carry(there, writer))
        except OSError:
            pass  # one side has gone: so does the other
        finally:
            writer.close()

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Deliver each packet at its time; reading goes on meanwhile, so that packets travel side by side."""
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(4096)
        sender = asyncio.ensure_future(self._deliver(queue, sink))
        try:
            while data := await source.read(PACKET):
                due = asyncio.get_running_loop().time() + self._network.packet_ms(self._chance) / 1000
                await queue.put((due, data))
        finally:
            await queue.put((0.0, b""))
            await sender

    @staticmethod
    async def _deliver(queue: asyncio.Queue[tuple[float, bytes]], sink: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        while (item := await queue.get())[1]:
            await asyncio.sleep(max(0.0, item[0] - loop.time()))
            sink.write(item[1])
            await sink.drain()
        with contextlib.suppress(OSError, RuntimeError):
            sink.close()

    async def close(self) -> None:
        for task in tuple(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)


@asynccontextmanager
async def through(network: Network, port: int, seed: int) -> AsyncIterator[str]:
    """The URL of a proxy in front of ``port``, for the time of the block."""
    proxy = Proxy(network, port, seed)
    server = await proxy.serve()
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await proxy.close()
