"""A companion server in a temporary folder with a scripted assistant as its neighbour, and a client that trusts it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np

from anovax.bus import Bus
from anovax.companion import pairing
from anovax.companion.ports import Frame, Samples, ScreenWindow
from anovax.companion.server import CompanionServer
from anovax.config import CompanionConfig
from anovax.errors import AudioError
from anovax.events import Event

HOSTS = ("localhost", "127.0.0.1")


class ScriptedAssistant:
    """Remembers what it was asked; answers from a script."""

    def __init__(self) -> None:
        self.texts: list[tuple[str, str]] = []
        self.recordings: list[tuple[int, str, str]] = []
        self.stops: list[str] = []
        self.answers: list[tuple[str, bool, str]] = []
        self.open_questions: set[str] = set()
        self.partial_samples: list[int] = []

    def submit_text(self, text: str, device: str) -> str:
        self.texts.append((text, device))
        return f"t{len(self.texts)}"

    async def submit_audio(self, data: bytes, mime: str, device: str) -> str:
        if data.startswith(b"junk"):
            raise AudioError("The recording cannot be read", "record it again")
        self.recordings.append((len(data), mime, device))
        return "open the calculator"

    async def transcribe_partial(self, samples: Samples) -> str:
        self.partial_samples.append(len(samples))
        return f"heard {len(samples)}"

    def stop(self, by: str) -> None:
        self.stops.append(by)

    def answer_consent(self, consent_id: str, allow: bool, by: str) -> bool:
        if consent_id not in self.open_questions:
            return False
        self.open_questions.discard(consent_id)
        self.answers.append((consent_id, allow, by))
        return True

    def history(self, limit: int) -> Sequence[dict[str, Any]]:
        turn = {"turn": "t0", "at": 1.0, "text": "what time is it", "said": "Noon.", "ok": True, "source": "text"}
        return [turn][:limit]

    def state(self) -> dict[str, Any]:
        return {"muted": False}


class PaintedScreen:
    """A screen that a test paints on."""

    def __init__(self, width: int = 640, height: int = 360) -> None:
        self.frame: Frame = np.full((height, width, 3), 60, np.uint8)
        self.at = (10, 10)
        self.shown: list[ScreenWindow] = []
        self.grabs = 0

    def grab(self) -> Frame:
        self.grabs += 1
        return self.frame.copy()

    def pointer(self) -> tuple[int, int]:
        return self.at

    def windows(self) -> Sequence[ScreenWindow]:
        return tuple(self.shown)


class Rig:
    """The server, its neighbours and a browser's worth of manners."""

    def __init__(self, folder: Path, *, screen: Any = None, **config: Any) -> None:
        self.folder = folder
        self.bus = Bus()
        self.assistant = ScriptedAssistant()
        self.screen = screen
        self.config = CompanionConfig(enabled=True, port=config.pop("port", 1), screen=screen is not None, **config)
        self.server = self._server()
        self.published: list[Event] = []

    def _server(self) -> CompanionServer:
        config = self.config.model_copy(update={"port": 0}) if self.config.port == 1 else self.config
        return CompanionServer(config, self.folder, self.bus, self.assistant, self.screen, hosts=lambda lan: HOSTS)

    @property
    def pairing(self) -> Path:
        return self.folder / "companion" / "pairing"

    @property
    def origin(self) -> str:
        return f"https://localhost:{self.server.port}"

    def context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.folder / "companion" / "tls" / "ca.pem"))

    def offer(self) -> pairing.Offer:
        return pairing.offer(self.pairing, "localhost", self.server.port, self.server.authority.fingerprint())

    def session(self, token: str = "") -> aiohttp.ClientSession:
        """A browser: Origin and the page's header on everything, the cookie when there is one."""
        headers = {"Origin": self.origin, "X-AnovaX": "1"} | ({"Cookie": f"__Host-anovax={token}"} if token else {})
        return aiohttp.ClientSession(
            self.origin,
            headers=headers,
            connector=aiohttp.TCPConnector(ssl=self.context(), limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    def pair(self, name: str = "Pixel") -> str:
        """The token of a new phone, without the ceremony."""
        return self.server.devices.add(name)[1]


@contextlib.asynccontextmanager
async def running(folder: Path, **config: Any) -> AsyncIterator[Rig]:
    rig = Rig(folder, **config)
    seen = rig.bus.subscribe()
    await rig.server.start()
    try:
        yield rig
    finally:
        await rig.server.close()
        seen.close()


async def raw(rig: Rig, data: bytes, seconds: float = 3.0, source: str = "127.0.0.1") -> bytes:
    """Send bytes as they are over TLS; what comes back until the server closes or nothing more comes."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", rig.server.port, ssl=rig.context(), server_hostname="localhost", local_addr=(source, 0)
    )
    got = b""
    try:
        writer.write(data)
        async with asyncio.timeout(seconds):
            while chunk := await reader.read(65536):
                got += chunk
    except (TimeoutError, ConnectionError, ssl.SSLError):
        pass
    finally:
        writer.transport.abort()
    return got


def request(
    rig: Rig, line: str = "GET /api/history", *headers: str, body: bytes = b"", host: str | None = None
) -> bytes:
    """A request with an honest Host unless another is given, closing the connection."""
    head = [f"{line} HTTP/1.1", f"Host: {host if host is not None else rig.origin[8:]}", "Connection: close", *headers]
    return "\r\n".join(head).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body


def status(answer: bytes) -> int:
    """The status of an answer, 0 when the server just closed."""
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else 0


async def until(condition: Any, seconds: float = 10.0) -> None:
    """Wait for something that happens on its own; fails the test when it does not."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  what is waited for is outside this loop's reach
            await asyncio.sleep(0.01)


async def ends(response: aiohttp.ClientResponse, seconds: float = 3.0) -> None:
    """Returns when the stream has ended, in whatever way; fails the test when it goes on."""
    async with asyncio.timeout(seconds):
        with contextlib.suppress(aiohttp.ClientError, ConnectionError):
            while await response.content.readany():
                pass


class Events:
    """Reads server-sent events from a response."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.last = ""

    async def next(self, seconds: float = 12.0) -> tuple[str, Any]:
        """Event name and data of the next event."""
        name, data = "message", ""
        async with asyncio.timeout(seconds):
            while True:
                line = (await self._response.content.readline()).decode().rstrip("\n")
                if line.startswith("id: "):
                    self.last = line[4:]
                elif line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    data += line[6:]
                elif not line and data:
                    return name, json.loads(data)
                elif not line and self._response.content.at_eof():
                    raise ConnectionResetError("the stream ended")
