"""The modelled network and the local server that speaks the Gemini protocol, with the real Gemini backend in front."""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import time
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from anovax.bench.study import backends, cloud, network
from anovax.bench.study.network import Network
from anovax.bench.study.requests import Asked
from anovax.bench.study.rows import Folder, Row
from anovax.bench.study.running import Study, run
from anovax.config import Config
from anovax.errors import PlannerError, UsageError
from anovax.plan import Plan, PlanRequest
from anovax.planner.fastpath import FastPath
from anovax.tool import CancelFlag, discover

TOOLS = discover()
pytestmark = pytest.mark.timeout(60)  # compiling rules and schema takes its time on a busy machine


@pytest.fixture(scope="module")
def rules() -> FastPath:
    return FastPath(TOOLS)


def test_packets_take_delay_and_jitter_and_losses_cost_retransmissions() -> None:
    chance = random.Random(1)
    calm = Network(delay=80, jitter=20, loss=0)
    times = [calm.packet_ms(chance) for _ in range(2000)]
    assert 60 <= min(times) < 62 and 98 < max(times) <= 100 and 79 < statistics.mean(times) < 81
    lossy = Network(delay=80, jitter=0, loss=10)
    times = [lossy.packet_ms(chance) for _ in range(5000)]
    lost = [ms for ms in times if ms > 80]
    assert 0.08 < len(lost) / len(times) < 0.12
    assert min(lost) == 80 + 2 * 80 + 200  # the round trip and Linux's least waiting time, once
    assert {80 + 360 + 720} <= set(lost)  # lost twice: doubled
    assert Network(delay=0, jitter=5, loss=0).packet_ms(chance) >= 0


def test_the_same_seed_gives_the_same_network() -> None:
    shape = Network(loss=5)
    one, two = (([shape.packet_ms(chance) for _ in range(50)]) for chance in (random.Random(7), random.Random(7)))
    assert one == two


def test_a_network_is_read_from_one_word() -> None:
    assert Network.parse("delay=5, jitter=1,loss=0.5,answers=fastpath") == Network(
        delay=5, jitter=1, loss=0.5, answers="fastpath"
    )
    for bad in ("delay=-1", "speed=9", "loss=much", "delay"):
        with pytest.raises(UsageError, match="delay=80,jitter=20,loss=1"):
            Network.parse(bad)


async def planned(url: str, text: str) -> Plan:
    backend = backends.named("simulated", Config(), lambda: url)
    planner = backend.build(Config(), TOOLS)
    try:
        return (await planner.plan(PlanRequest(text=text), CancelFlag())).plan
    finally:
        planner.close()


async def test_a_plan_comes_through_the_network_unchanged_and_late(rules: FastPath) -> None:
    local, shape = rules, Network(delay=40, jitter=0, loss=0, handshakes=1)
    text = "type good evening and press enter"
    async with cloud.serving(local) as port, network.through(shape, port, seed=0) as url:
        started = time.monotonic()
        plan = await planned(url, text)
        took = (time.monotonic() - started) * 1000
        one, two = await asyncio.gather(planned(url, "scroll down"), planned(url, text))
    assert plan == two == (await local.plan(PlanRequest(text=text), CancelFlag())).plan
    assert one.steps[0].tool == "scroll"
    assert took >= 0.95 * 4 * 40  # one round trip to connect, one to ask


async def test_what_the_server_cannot_read_is_a_clear_error(rules: FastPath) -> None:
    async with cloud.serving(rules) as port, network.through(Network(delay=0, jitter=0), port, 0) as url:
        with pytest.raises(PlannerError, match="does not know that address"):
            await planned(f"{url}/elsewhere", "scroll down")


async def test_a_network_to_nowhere_is_a_clear_error() -> None:
    async with network.through(Network(delay=1, jitter=0), 9, 0) as url:
        with pytest.raises(PlannerError, match="cannot be reached"):
            await planned(url, "scroll down")


async def test_what_is_still_open_at_the_end_is_closed_without_a_word(
    rules: FastPath, caplog: pytest.LogCaptureFixture
) -> None:
    async with cloud.serving(rules) as port, network.through(Network(delay=1, jitter=0), port, 0) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        assert await reader.readline()  # answered, and kept open for more
    await reader.read()
    writer.close()
    assert caplog.records == []


async def test_simulated_rows_are_labelled(tmp_path: Path) -> None:
    shape = Network(delay=2, jitter=1, loss=0, answers="fastpath")
    study = Study((Asked("t1", "scroll down"),), ("fastpath", "simulated"), network=shape)
    folder = Folder(tmp_path / "study")
    folder.open(study.settings(Config()), {})
    await run(study, folder, Config(), TOOLS, None)
    by_name: dict[str, Row] = {row.backend: row for row in folder.rows()}
    assert by_name["simulated"].simulated and not by_name["fastpath"].simulated
    assert by_name["simulated"].tools == by_name["fastpath"].tools == "scroll"
    assert by_name["simulated"].error == ""


async def test_two_servers_stand_side_by_side_in_one_study(
    rules: FastPath, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def completions(request: web.Request) -> web.Response:
        """As an OpenAI-compatible server answers; what it plans comes from the rules."""
        said = json.loads((await request.json())["messages"][-1]["content"])
        plan = (await rules.plan(PlanRequest(text=said["request"]), CancelFlag())).plan
        return web.json_response({"choices": [{"message": {"content": json.dumps(plan.to_json())}}]})

    monkeypatch.setenv("GEMINI_API_KEY", "none")
    application = web.Application()
    application.router.add_post("/v1/chat/completions", completions)
    async with cloud.serving(rules) as port, TestServer(application) as server:
        names = ("fastpath", f"gemini=http://127.0.0.1:{port}", f"openai={server.make_url('/v1')}")
        study = Study((Asked("t1", "scroll down"), Asked("t2", "take a screenshot")), names)
        folder = Folder(tmp_path / "study")
        folder.open(study.settings(Config()), {})
        await run(study, folder, Config(), TOOLS, None)
    rows = folder.rows()
    assert {(row.backend, row.text): (row.tools, row.error) for row in rows} == {
        (name, text): (tools, "")
        for name in names
        for text, tools in (("scroll down", "scroll"), ("take a screenshot", "screenshot"))
    }
