"""The phone companion, measured: glass to glass, CPU per phone, idle, a stalled phone, fifty phones, JPEG encoders.

A real server on loopback over TLS; the phones are real clients in other processes. The screen is a desktop-like picture
whose every frame carries its own time, or, for the idle figure, a real virtual X display where there is one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import psutil
from pydantic import BaseModel, ConfigDict

from anovax.bench import jpeg
from anovax.bench.companion_rig import phones, serving, used_while
from anovax.bench.companion_screens import FPS, DrawnScreen, PacedScreen, desktop_picture, resting_screen
from anovax.bench.table import percentile
from anovax.events import Noticed

PICTURES = "/screen.mjpg?width=1280"
EVENTS = "/api/events"
SETTLE_S = 32.0  # after half a minute of rest the screen is looked at least often
PARTS = ("encoders", "glass", "cpu", "idle", "stalled", "fifty")

Say = Callable[[str], None]


class Figure(BaseModel):
    """One measured value; ``goal`` is the most it should be (None where there is none)."""

    model_config = ConfigDict(frozen=True)

    name: str
    value: float
    unit: str
    goal: float | None = None


def run(
    seconds: float = 15.0, soak_s: float = 0.0, say: Say = lambda text: None, only: tuple[str, ...] = PARTS
) -> list[Figure]:
    """The parts named in ``only``, in about ten times ``seconds`` for all; ``soak_s`` more for the memory over time."""
    return asyncio.run(_measure(seconds, soak_s, say, only))


async def _measure(seconds: float, soak_s: float, say: Say, only: tuple[str, ...]) -> list[Figure]:
    figures: list[Figure] = encoders() if "encoders" in only else []
    for name, what, measure in (
        ("glass", "glass to glass", glass),
        ("cpu", "CPU by phones", cpu),
        ("idle", "idle", idle),
        ("stalled", "a stalled phone", stalled),
        ("fifty", "fifty phones", fifty),
    ):
        if name in only:
            say(what)
            figures += await measure(seconds)
    if soak_s:
        figures += await soak(soak_s, say)
    return figures


def encoders() -> list[Figure]:
    """CPU to encode one 720p desktop picture, for each encoder that is here."""
    figures = []
    for one in jpeg.compare(desktop_picture()):
        figures.append(_figure(f"JPEG 720p, {one.name}, median", one.ms, "ms of CPU"))
        figures.append(_figure(f"JPEG 720p, {one.name}, size", one.kib, "KiB"))
    return figures


async def glass(seconds: float) -> list[Figure]:
    """From a change on the screen to its decoded picture on the phone."""
    async with serving(PacedScreen()) as (server, _):
        delays = await (await phones(server, "pictures", 1, seconds)).delays()
    return [
        _figure("glass to glass, p50", percentile(delays, 0.5), "ms"),
        _figure("glass to glass, p95", percentile(delays, 0.95), "ms", 250),
        _figure("pictures per second", len(delays) / seconds, "1/s"),
    ]


async def cpu(seconds: float) -> list[Figure]:
    """The server's CPU while so many phones watch a screen that always changes."""
    used: dict[int, float] = {}
    for count in (0, 1, 4):
        async with serving(DrawnScreen(moving=True)) as (server, _):
            work = (await phones(server, "pictures", count, seconds)).delays() if count else asyncio.sleep(seconds)
            used[count] = await used_while(work)
    figures = [_figure(f"server CPU, {n} phones at {FPS:g} fps", value, "% of a core") for n, value in used.items()]
    return [*figures, _figure("server CPU for each phone more", (used[4] - used[1]) / 3, "% of a core")]


async def idle(seconds: float) -> list[Figure]:
    """The server's CPU while a phone watches a screen that rests, and while a phone only listens."""
    with resting_screen() as (screen, kind):
        async with serving(screen) as (server, _):
            watch = await phones(server, "hold", 1, seconds + SETTLE_S, PICTURES)
            watching = await used_while(watch.delays(), SETTLE_S)
            listening = await used_while((await phones(server, "hold", 1, seconds + 2, EVENTS)).delays(), 2)
    return [
        _figure(f"idle CPU, a resting screen watched ({kind})", watching, "% of a core", 2),
        _figure("idle CPU, nobody watches", listening, "% of a core", 2),
    ]


async def stalled(seconds: float) -> list[Figure]:
    """What a phone that takes nothing makes the server hold, and what it does to a phone beside it."""
    async with serving(PacedScreen()) as (server, _):
        stuck = await phones(server, "stall", 1, seconds + 5, PICTURES)
        watching = await phones(server, "pictures", 1, seconds)
        most, measured = 0, asyncio.ensure_future(watching.delays())
        while not measured.done():
            await asyncio.sleep(0.02)
            most = max(most, server.backlog())
        delays = await measured
        await stuck.delays()
    picture = next(one.kib for one in jpeg.compare(desktop_picture(), 1) if one.name == "simplejpeg") * 1024
    return [
        _figure("held for a stalled phone", most / picture, "pictures", 1.1),
        _figure("glass to glass beside it, p50", percentile(delays, 0.5), "ms"),
        _figure("glass to glass beside it, p95", percentile(delays, 0.95), "ms", 250),
    ]


async def fifty(seconds: float) -> list[Figure]:
    """Event delay for 49 phones, 20 events a second, while one more takes nothing."""
    async with serving(None) as (server, bus):
        stuck = await phones(server, "stall", 1, seconds + 10, EVENTS)
        measured = asyncio.ensure_future((await phones(server, "events", 49, seconds)).delays())
        slowest = late = 0.0
        while not measured.done():
            began = time.perf_counter()
            bus.publish(Noticed(text="x" * 500))
            slowest = max(slowest, time.perf_counter() - began)
            await asyncio.sleep(0.05)
            late = max(late, time.perf_counter() - began - 0.05)
        delays = await measured
        await stuck.delays()
    return [
        _figure("event delay, 49 phones beside a stalled one, p50", percentile(delays, 0.5), "ms"),
        _figure("event delay, the same, p95", percentile(delays, 0.95), "ms", 50),
        _figure("event delay, the same, longest", max(delays), "ms", 50),
        _figure("the server's event loop late by at most", late * 1000, "ms"),
        _figure("publish() at most", slowest * 1000, "ms"),
    ]


async def soak(seconds: float, say: Say = lambda text: None) -> list[Figure]:
    """How much memory grows after the first quarter, while one phone watches, one listens and one comes and goes."""
    async with serving(DrawnScreen(moving=True)) as (server, bus):
        # The first smaller picture makes the allocator keep two frames' worth for good: that is no growth over time.
        await (await phones(server, "hold", 1, 2, "/screen.mjpg?width=640")).delays()
        kinds = ("pictures", "events", "churn")
        measured = [asyncio.ensure_future((await phones(server, kind, 1, seconds, EVENTS)).delays()) for kind in kinds]
        end, sizes = time.monotonic() + seconds, list[float]()
        while (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(1.0, left))
            for _ in range(5):  # so that the ring of events is full within the first quarter
                bus.publish(Noticed(text="x" * 200))
            sizes.append(psutil.Process().memory_info().rss / 2**20)
            if len(sizes) % 60 == 0:
                say(f"memory over time: {sizes[-1]:.1f} MiB, {left / 60:.0f} minutes to go")
        await asyncio.gather(*measured)
    return _growth(sizes, seconds)


def _growth(sizes: list[float], seconds: float) -> list[Figure]:
    settled = sizes[len(sizes) // 4 :]
    third = max(1, len(settled) // 3)
    growth = percentile(settled[-third:], 0.5) - percentile(settled[:third], 0.5)
    return [
        _figure(f"memory growth over {seconds / 60:.0f} min", growth, "MiB", 1),
        _figure("memory at the end", sizes[-1], "MiB"),
    ]


def _figure(name: str, value: float, unit: str, goal: float | None = None) -> Figure:
    return Figure(name=name, value=round(value, 3), unit=unit, goal=goal)
