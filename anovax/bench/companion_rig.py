"""What the companion's benchmark measures with: a real server on loopback, and phones in processes of their own."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil

from anovax.bench.companion_screens import FPS, WIDTH
from anovax.bus import Bus
from anovax.companion.ports import Samples
from anovax.companion.server import CompanionServer
from anovax.config import CompanionConfig


class _NoAssistant:
    """The companion's neighbour: nothing is asked of it here."""

    def submit_text(self, text: str, device: str) -> str:
        return ""

    async def submit_audio(self, data: bytes, mime: str, device: str) -> str:
        return ""

    async def transcribe_partial(self, samples: Samples) -> str:
        return ""

    def stop(self, by: str) -> None:
        return None

    def answer_consent(self, consent_id: str, allow: bool, by: str) -> bool:
        return False

    def history(self, limit: int) -> Sequence[dict[str, Any]]:
        return ()

    def state(self) -> dict[str, Any]:
        return {}


@asynccontextmanager
async def serving(screen: Any) -> AsyncIterator[tuple[CompanionServer, Bus]]:
    """A companion with this screen (None: no screen is shared)."""
    with tempfile.TemporaryDirectory(prefix="anovax-bench-") as folder:
        wanted = CompanionConfig(enabled=True, screen=screen is not None, screen_fps=FPS)
        bus, config = Bus(), wanted.model_copy(update={"port": 0})
        server = CompanionServer(config, Path(folder), bus, _NoAssistant(), screen)
        await server.start()
        try:
            yield server, bus
        finally:
            await server.close()


class Phones:
    """Phones in another process; see anovax.bench.phones."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def delays(self) -> list[float]:
        """Wait until they are done; the milliseconds that they measured."""
        out, _ = await self._process.communicate()
        return list(json.loads(out.splitlines()[-1])["delays"])

    def done(self) -> bool:
        return self._process.returncode is not None


async def phones(server: CompanionServer, kind: str, count: int, seconds: float, path: str = "") -> Phones:
    """Start ``count`` phones; returns when all are connected, from when on they measure for ``seconds``."""
    tokens = [server.devices.add(f"phone {n}")[1] for n in range(min(count, 8))]
    ca = server.authority.folder / "ca.pem"
    job: dict[str, Any] = {"origin": f"https://127.0.0.1:{server.port}", "ca": str(ca), "kind": kind, "path": path}
    job |= {"tokens": [tokens[n % len(tokens)] for n in range(count)], "seconds": seconds, "width": WIDTH}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "anovax.bench.phones", stdin=pipe, stdout=pipe, limit=2**24
    )
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the phones have no pipes")
    process.stdin.write(json.dumps(job).encode())
    process.stdin.close()
    if (await process.stdout.readline()).strip() != b"ready":
        raise RuntimeError("the phones did not connect")
    return Phones(process)


async def used_while(work: Awaitable[Any], settle: float = 0.0) -> float:
    """Per cent of a core that this process used while ``work`` ran, after ``settle`` seconds."""
    task = asyncio.ensure_future(work)
    await asyncio.sleep(settle)
    cpu, clock = _cpu_seconds(), time.monotonic()
    await task
    return (_cpu_seconds() - cpu) / (time.monotonic() - clock) * 100


def _cpu_seconds() -> float:
    used = psutil.Process().cpu_times()  # of this process alone, without its children
    return float(used.user + used.system)
