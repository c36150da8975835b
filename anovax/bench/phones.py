"""Phones for the companion's benchmark, in a process of their own, so that they cost the server nothing.

``python -m anovax.bench.phones`` reads one JSON object from standard input ({"origin", "ca", "tokens", "kind",
"seconds", "width"}), says "ready" once all are connected, and writes one JSON object with what it measured.
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


async def events(session: Any, origin: str, cookie: dict[str, str], end: float) -> list[float]:
    """Milliseconds from each event's own time to its arrival."""
    delays, began = [], time.time() + 1  # what was said before is caught up, not delayed
    async with session.get(f"{origin}/api/events", headers=cookie) as response:
        async for line in response.content:
            if line.startswith(b"data: {") and b'"Noticed"' in line:
                said = json.loads(line[6:])["at"]
                delays += [(time.time() - said) * 1000] if said > began else []
            if time.time() > end:
                break
    return delays


async def pictures(session: Any, origin: str, cookie: dict[str, str], end: float, width: int) -> list[float]:
    """Milliseconds from a picture's stamp to its having been decoded here."""
    from PIL import Image

    delays = []
    async with session.get(f"{origin}/screen.mjpg?width={width}", headers=cookie) as response:
        while time.time() < end:
            part = await response.content.readuntil(b"\xff\xd9\r\n--")
            frame = np.asarray(Image.open(io.BytesIO(part[part.index(b"\xff\xd8") : -4])).convert("RGB"))
            delays.append((time.time() - read_stamp(frame)) * 1000)
    return delays


async def hold(session: Any, origin: str, cookie: dict[str, str], end: float, path: str) -> list[float]:
    """Read and measure nothing."""
    async with session.get(f"{origin}{path}", headers=cookie) as response:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, end - time.time())):
                while await response.content.readany():
                    pass
    return []


def stall(job: dict[str, Any], token: str, end: float) -> list[float]:
    """Ask and then never read, with as little room for unread bytes as the system allows."""
    host, port = job["origin"].removeprefix("https://").split(":")
    with socket.socket() as plain:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.connect((host, int(port)))
        with ssl.create_default_context(cafile=job["ca"]).wrap_socket(plain, server_hostname=host) as secured:
            head = f"GET {job['path']} HTTP/1.1\r\nHost: {host}:{port}\r\nCookie: __Host-anovax={token}\r\n\r\n"
            secured.sendall(head.encode())
            time.sleep(max(0.0, end - time.time()))
    return []


async def run(job: dict[str, Any]) -> dict[str, Any]:
    import aiohttp

    context = ssl.create_default_context(cafile=job["ca"])
    connector, forever = aiohttp.TCPConnector(ssl=context, limit=0), aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=connector, read_bufsize=2**20, timeout=forever) as session:
        end = time.time() + float(job["seconds"])
        work = [asyncio.create_task(_one(session, job, token, end)) for token in job["tokens"]]
        print("ready", flush=True)
        done = await asyncio.gather(*work)
    return {"delays": [delay for delays in done for delay in delays], "phones": len(done)}


async def _one(session: Any, job: dict[str, Any], token: str, end: float) -> list[float]:
    cookie = {"Cookie": f"__Host-anovax={token}"}
    if job["kind"] == "events":
        return await events(session, job["origin"], cookie, end)
    if job["kind"] == "pictures":
        return await pictures(session, job["origin"], cookie, end, int(job["width"]))
    if job["kind"] == "stall":
        return await asyncio.to_thread(stall, job, token, end)
    return await hold(session, job["origin"], cookie, end, job["path"])


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(json.load(sys.stdin)))), flush=True)
