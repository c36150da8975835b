"""Phones for the companion's benchmark, in a process of their own, so that they cost the server nothing.

``python -m anovax.bench.phones`` reads one JSON object from standard input ({"origin", "ca", "tokens", "kind",
"seconds", "width", "path"}), says "ready" once every phone has had its first bytes, measures for ``seconds`` from then
on, and writes one JSON object with what it measured.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import socket
import ssl
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

BITS = 44  # milliseconds since the epoch
BLOCK = 16  # pixels


def stamp(frame: NDArray[np.uint8], at: float) -> None:
    """Write a time (epoch seconds) into a frame's upper left as black and white blocks, which survive JPEG."""
    ms = int(at * 1000)
    for bit in range(BITS):
        row, column = divmod(bit, 22)
        frame[row * BLOCK : (row + 1) * BLOCK, column * BLOCK : (column + 1) * BLOCK] = 255 * (ms >> bit & 1)


def read_stamp(frame: NDArray[np.uint8]) -> float:
    """The time that stamp() wrote, epoch seconds."""
    middle = BLOCK // 2
    places = [divmod(bit, 22) for bit in range(BITS)]
    bits = [int(frame[row * BLOCK + middle, column * BLOCK + middle, 1] > 127) for row, column in places]
    return sum(value << bit for bit, value in enumerate(bits)) / 1000


class Gate:
    """Opens when every phone is connected; what is older than that was caught up and is not a delay."""

    def __init__(self, phones: int, seconds: float) -> None:
        self._missing = phones
        self._seconds = seconds
        self.began = self.end = float("inf")

    def arrive(self) -> None:
        self._missing -= 1
        if not self._missing:
            self.began = time.time()
            self.end = self.began + self._seconds
            print("ready", flush=True)

    async def over(self) -> None:
        while time.time() < self.end:  # noqa: ASYNC110  the end is not known before the others are here
            await asyncio.sleep(0.05)


async def events(session: Any, job: dict[str, Any], cookie: dict[str, str], gate: Gate) -> list[float]:
    """Milliseconds from each event's own time to its arrival."""
    delays, arrived = [], False
    async with session.get(f"{job['origin']}/api/events", headers=cookie) as response:
        async for line in response.content:
            if not arrived:
                arrived = True
                gate.arrive()
            if line.startswith(b"data: {") and b'"Noticed"' in line:
                said = json.loads(line[6:])["at"]
                delays += [(time.time() - said) * 1000] if said > gate.began else []
            if time.time() > gate.end:
                break
    return delays


async def pictures(session: Any, job: dict[str, Any], cookie: dict[str, str], gate: Gate) -> list[float]:
    """Milliseconds from a picture's stamp to its having been decoded here."""
    from PIL import Image

    delays, arrived = [], False
    async with session.get(f"{job['origin']}/screen.mjpg?width={job['width']}", headers=cookie) as response:
        while time.time() < gate.end:
            part = await response.content.readuntil(b"\xff\xd9\r\n--")
            frame = np.asarray(Image.open(io.BytesIO(part[part.index(b"\xff\xd8") : -4])).convert("RGB"))
            drawn = read_stamp(frame)
            delays += [(time.time() - drawn) * 1000] if drawn > gate.began else []
            if not arrived:
                arrived = True
                gate.arrive()
    return delays


async def hold(session: Any, job: dict[str, Any], cookie: dict[str, str], gate: Gate) -> list[float]:
    """Read and measure nothing."""
    async with session.get(f"{job['origin']}{job['path']}", headers=cookie) as response:
        await response.content.readany()
        gate.arrive()
        reading = asyncio.create_task(_swallow(response.content))
        await gate.over()
        reading.cancel()
    return []


async def _swallow(content: Any) -> None:
    with contextlib.suppress(ConnectionError):
        while await content.readany():
            pass


async def churn(session: Any, job: dict[str, Any], cookie: dict[str, str], gate: Gate) -> list[float]:
    """Come and go, twice a second, each time over a new connection."""
    head, arrived = {**cookie, "Connection": "close"}, False
    while time.time() < gate.end:
        async with session.get(f"{job['origin']}{job['path']}", headers=head) as response:
            await response.content.readany()
            response.close()
        if not arrived:
            arrived = True
            gate.arrive()
        await asyncio.sleep(0.5)
    return []


async def stall(job: dict[str, Any], token: str, gate: Gate) -> list[float]:
    """Ask and then never read, with as little room for unread bytes as the system allows."""
    secured = await asyncio.to_thread(_ask, job, token)
    gate.arrive()
    await gate.over()
    secured.close()
    return []


def _ask(job: dict[str, Any], token: str) -> ssl.SSLSocket:
    host, port = job["origin"].removeprefix("https://").split(":")
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.connect((host, int(port)))
    secured = ssl.create_default_context(cafile=job["ca"]).wrap_socket(plain, server_hostname=host)
    head = f"GET {job['path']} HTTP/1.1\r\nHost: {host}:{port}\r\nCookie: __Host-anovax={token}\r\n\r\n"
    secured.sendall(head.encode())
    return secured


async def run(job: dict[str, Any]) -> dict[str, Any]:
    import aiohttp

    context = ssl.create_default_context(cafile=job["ca"])
    connector, forever = aiohttp.TCPConnector(ssl=context, limit=0), aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=connector, read_bufsize=2**20, timeout=forever) as session:
        gate = Gate(len(job["tokens"]), float(job["seconds"]))
        done = await asyncio.gather(*(_one(session, job, token, gate) for token in job["tokens"]))
    return {"delays": [delay for delays in done for delay in delays], "phones": len(done)}


async def _one(session: Any, job: dict[str, Any], token: str, gate: Gate) -> list[float]:
    cookie = {"Cookie": f"__Host-anovax={token}"}
    if job["kind"] == "stall":
        return await stall(job, token, gate)
    kinds = {"events": events, "pictures": pictures, "hold": hold, "churn": churn}
    return await kinds[job["kind"]](session, job, cookie, gate)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(json.load(sys.stdin)))), flush=True)
