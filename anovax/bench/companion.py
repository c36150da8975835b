"""The phone companion, measured: glass to glass, CPU per phone, idle, a stalled phone, fifty phones, JPEG encoders.

A real server on loopback over TLS; the phones are real clients in other processes. The screen is a desktop-like picture
whose every frame carries its own time, or, for the idle figure, a real virtual X display where there is one.
"""

from __future__ import annotations

import asyncio
import io
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from anovax.bench.phones import stamp
from anovax.bench.table import percentile
from anovax.bus import Bus
from anovax.companion.ports import Frame, Samples, ScreenWindow
from anovax.companion.server import CompanionServer
from anovax.config import CompanionConfig
from anovax.errors import DesktopError
from anovax.events import Noticed

WIDTH, HEIGHT, FPS = 1280, 720, 10.0
Say = Callable[[str], None]


class Figure(BaseModel):
    """One measured value; ``goal`` is the most it should be (None where there is none)."""

    model_config = ConfigDict(frozen=True)

    name: str
    value: float
    unit: str
    goal: float | None = None


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


class DrawnScreen:
    """A desktop-like picture. ``moving``: a window wanders, and each frame carries the time at which it was drawn."""

    def __init__(self, moving: bool) -> None:
        self._ground = desktop_picture()
        self._moving = moving
        self._frames = 0

    def grab(self) -> Frame:
        frame = self._ground.copy()
        if self._moving:
            self._frames += 1
            x = 400 + self._frames * 8 % 600
            frame[300:600, x : x + 240] = self._ground[100:400, 500:740]
            stamp(frame, time.time())
        return frame

    def pointer(self) -> tuple[int, int]:
        return (640, 360)

    def windows(self) -> Sequence[ScreenWindow]:
        return ()


class PacedScreen(DrawnScreen):
    """Changes ten times a second on its own, as a desktop does: what grab() sees may be up to 100 ms old."""

    def __init__(self) -> None:
        super().__init__(True)
        self._shown: tuple[float, Frame] = (0.0, super().grab())

    def grab(self) -> Frame:
        drawn_at = int(time.time() * FPS) / FPS
        if drawn_at != self._shown[0]:
            frame = super().grab()
            stamp(frame, drawn_at)
            self._shown = (drawn_at, frame)
        return self._shown[1].copy()


class XScreen:
    """A real X display."""

    def __init__(self, display: str) -> None:
        from anovax.desktop.capture import Capture

        self._capture = Capture(display)

    def grab(self) -> Frame:
        return self._capture.grab(None)

    def pointer(self) -> tuple[int, int]:
        return (640, 360)

    def windows(self) -> Sequence[ScreenWindow]:
        return ()


def desktop_picture() -> NDArray[np.uint8]:
    """Windows with text and a gradient, as screens have."""
    from PIL import Image, ImageDraw

    picture = Image.linear_gradient("L").resize((WIDTH, HEIGHT)).convert("RGB")
    draw = ImageDraw.Draw(picture)
    for left, top in ((40, 60), (480, 90), (760, 260)):
        draw.rectangle((left, top, left + 460, top + 400), fill=(250, 250, 250))
        draw.rectangle((left, top, left + 460, top + 26), fill=(60, 70, 90))
        for line in range(24):
            draw.text(
                (left + 10, top + 34 + line * 15), f"{line:3}  The quick brown fox jumps over it", fill=(20, 20, 20)
            )
    return np.asarray(picture)


# --- the measurements ------------------------------------------------------------------------------------------------


def run(seconds: float = 15.0, soak_s: float = 0.0, say: Say = lambda text: None) -> list[Figure]:
    """Everything, in about six times ``seconds``; ``soak_s`` more for the memory over time."""
    return [*encoders(), *asyncio.run(_server_figures(seconds, soak_s, say))]


def encoders(rounds: int = 60) -> list[Figure]:
    """CPU milliseconds to encode one 720p desktop picture at quality 70, for each encoder that is here."""
    frame = desktop_picture()
    figures = []
    for name, encode in _encoders().items():
        encode(frame)
        began = time.process_time()
        for _ in range(rounds):
            encode(frame)
        figures.append(_figure(f"JPEG 720p, {name}", (time.process_time() - began) / rounds * 1000, "ms"))
    return figures


def _encoders() -> dict[str, Callable[[NDArray[np.uint8]], bytes]]:
    import simplejpeg
    from PIL import Image

    def pillow(frame: NDArray[np.uint8]) -> bytes:
        out = io.BytesIO()
        Image.fromarray(frame).save(out, "JPEG", quality=70)
        return out.getvalue()

    def simple(frame: NDArray[np.uint8]) -> bytes:
        return bytes(simplejpeg.encode_jpeg(frame, quality=70, colorspace="RGB", colorsubsampling="420", fastdct=True))

    found: dict[str, Callable[[NDArray[np.uint8]], bytes]] = {"Pillow": pillow, "simplejpeg": simple}
    with suppress(ImportError, RuntimeError, OSError):  # RuntimeError: its system library is not here
        from turbojpeg import TJPF_RGB, TJSAMP_420, TurboJPEG  # type: ignore[import-not-found,unused-ignore]

        turbo = TurboJPEG()
        found["PyTurboJPEG"] = lambda frame: bytes(turbo.encode(frame, 70, TJPF_RGB, TJSAMP_420))
    return found


async def _server_figures(seconds: float, soak_s: float, say: Say) -> list[Figure]:
    figures = []
    say("glass to glass")
    figures += await _glass(seconds)
    for phones in (0, 1, 4):
        say(f"CPU with {phones} phones")
        figures.append(await _cpu(phones, seconds))
    say("idle")
    figures += await _idle(seconds)
    say("a stalled phone")
    figures += await _stalled(seconds)
    say("fifty phones")
    figures += await _fifty(seconds)
    if soak_s:
        say("memory over time")
        figures += await soak(soak_s)
    return figures


async def _glass(seconds: float) -> list[Figure]:
    """From a change on the screen to its decoded picture on the phone."""
    async with _serving(PacedScreen()) as (server, _):
        result = await _phones(server, "pictures", 1, seconds)
    delays = result["delays"][3:]
    return [
        _figure("glass to glass, p50", percentile(delays, 0.5), "ms"),
        _figure("glass to glass, p95", percentile(delays, 0.95), "ms", 250),
        _figure("pictures per second", len(delays) / seconds, "1/s"),
    ]


async def _cpu(phones: int, seconds: float) -> Figure:
    """The server's CPU while so many phones watch a screen that always changes."""
    async with _serving(DrawnScreen(moving=True)) as (server, _):
        used = await _used_while(_phones(server, "pictures", phones, seconds) if phones else asyncio.sleep(seconds))
    return _figure(f"server CPU, {phones} phones at {FPS:g} fps", used, "% of a core")


async def _idle(seconds: float) -> list[Figure]:
    """The server's CPU while a phone watches a screen that rests, and while a phone only listens."""
    with _resting_screen() as (screen, kind):
        async with _serving(screen) as (server, _):
            watching = await _used_while(_phones(server, "hold", 1, seconds, "/screen.mjpg?width=1280"), 2)
            listening = await _used_while(_phones(server, "hold", 1, seconds, "/api/events"), 2)
    return [
        _figure(f"idle CPU, a resting screen watched ({kind})", watching, "% of a core", 2),
        _figure("idle CPU, nobody watches", listening, "% of a core", 2),
    ]


class _resting_screen:  # noqa: N801  a context manager, read as a function
    """A real X display where there is one, else a drawn picture."""

    def __enter__(self) -> tuple[Any, str]:
        from anovax.desktop.virtual_display import virtual_display

        self._display = virtual_display(WIDTH, HEIGHT)
        try:
            return XScreen(self._display.__enter__()), "X display"
        except DesktopError:
            self._display = None  # type: ignore[assignment]
            return DrawnScreen(moving=False), "drawn"

    def __exit__(self, *error: object) -> None:
        if self._display is not None:
            self._display.__exit__(None, None, None)


async def _stalled(seconds: float) -> list[Figure]:
    """What a phone that takes nothing makes the server hold, and what it does to a phone beside it."""
    async with _serving(PacedScreen()) as (server, _):
        stalled = asyncio.create_task(_phones(server, "stall", 1, seconds + 2, "/screen.mjpg?width=1280"))
        watching = asyncio.create_task(_phones(server, "pictures", 1, seconds))
        most = 0
        while not watching.done():
            await asyncio.sleep(0.02)
            most = max(most, server.backlog())
        delays = (await watching)["delays"][3:]
        await stalled
    from anovax.companion.picture import encode

    picture = len(encode(desktop_picture(), 70))
    return [
        _figure("held for a stalled phone", most / picture, "pictures", 1.1),
        _figure("glass to glass beside it, p95", percentile(delays, 0.95), "ms", 250),
    ]


async def _fifty(seconds: float) -> list[Figure]:
    """Event delay for 49 phones, 20 events a second, while one more takes nothing."""
    async with _serving(None) as (server, bus):
        stalled = asyncio.create_task(_phones(server, "stall", 1, seconds + 2, "/api/events"))
        others = asyncio.create_task(_phones(server, "events", 49, seconds + 1))
        await asyncio.sleep(2)
        slowest = 0.0
        while not others.done():
            began = time.perf_counter()
            bus.publish(Noticed(text="x" * 500))
            slowest = max(slowest, time.perf_counter() - began)
            await asyncio.sleep(0.05)
        delays = (await others)["delays"]
        await stalled
    return [
        _figure("event delay, 49 phones beside a stalled one, p95", percentile(delays, 0.95), "ms", 50),
        _figure("event delay, the same, longest", max(delays), "ms", 50),
        _figure("publish() at most", slowest * 1000, "ms"),
    ]


async def soak(seconds: float) -> list[Figure]:
    """How much the memory grows while two phones watch and listen, after the first quarter."""
    async with _serving(DrawnScreen(moving=True)) as (server, bus):
        phones = [
            asyncio.create_task(_phones(server, kind, 1, seconds + 1, "/api/events")) for kind in ("pictures", "events")
        ]
        end, sizes = time.monotonic() + seconds, list[float]()
        while time.monotonic() < end:
            await asyncio.sleep(1)
            bus.publish(Noticed(text="x" * 200))
            sizes.append(psutil.Process().memory_info().rss / 2**20)
        await asyncio.gather(*phones)
    settled = sizes[len(sizes) // 4 :]
    third = max(1, len(settled) // 3)
    growth = percentile(settled[-third:], 0.5) - percentile(settled[:third], 0.5)
    return [
        _figure(f"memory growth over {seconds / 60:.0f} min", growth, "MiB"),
        _figure("memory at the end", sizes[-1], "MiB"),
    ]


# --- how -------------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _serving(screen: Any) -> AsyncIterator[tuple[CompanionServer, Bus]]:
    with tempfile.TemporaryDirectory(prefix="anovax-bench-") as folder:
        wanted = CompanionConfig(enabled=True, screen=screen is not None, screen_fps=FPS)
        bus, config = Bus(), wanted.model_copy(update={"port": 0})
        server = CompanionServer(config, Path(folder), bus, _NoAssistant(), screen)
        await server.start()
        try:
            yield server, bus
        finally:
            await server.close()


async def _phones(server: CompanionServer, kind: str, count: int, seconds: float, path: str = "") -> dict[str, Any]:
    """Run phones in another process; what they measured."""
    tokens = [server.devices.add(f"phone {n}")[1] for n in range(min(count, 8))]
    tokens = [tokens[n % len(tokens)] for n in range(count)]
    ca = server.authority.folder / "ca.pem"
    job: dict[str, Any] = {"origin": f"https://127.0.0.1:{server.port}", "ca": str(ca), "tokens": tokens, "kind": kind}
    job |= {"seconds": seconds, "width": WIDTH, "path": path}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "anovax.bench.phones", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate(json.dumps(job).encode())
    result: dict[str, Any] = json.loads(out.splitlines()[-1])
    return result


async def _used_while(work: Any, settle: float = 0.0) -> float:
    """Per cent of a core that this process used while ``work`` ran, after ``settle`` seconds."""
    task = asyncio.ensure_future(work)
    await asyncio.sleep(settle)
    cpu, clock = _cpu_seconds(), time.monotonic()
    await task
    return (_cpu_seconds() - cpu) / (time.monotonic() - clock) * 100


def _cpu_seconds() -> float:
    used = psutil.Process().cpu_times()  # of this process alone, without its children
    return float(used.user + used.system)


def _figure(name: str, value: float, unit: str, goal: float | None = None) -> Figure:
    return Figure(name=name, value=round(value, 3), unit=unit, goal=goal)
