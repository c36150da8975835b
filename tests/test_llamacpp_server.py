"""The ``openai`` backend against llama.cpp's own server, which llama-cpp-python ships, with the small model."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import aiohttp
import pytest

from anovax.config import PlannerConfig
from anovax.plan import PlanRequest
from anovax.planner.openai import OpenAI
from anovax.tool import CancelFlag, discover

pytestmark = [pytest.mark.full, pytest.mark.models, pytest.mark.timeout(400)]
START_S = 120


@pytest.fixture
def server(weight: Callable[[str], Path]) -> Iterator[str]:
    if importlib.util.find_spec("fastapi") is None or importlib.util.find_spec("uvicorn") is None:
        pytest.skip('llama.cpp\'s server is not installed: pip install "llama-cpp-python[server]"')
    model = weight("planner/qwen2.5-coder-0.5b")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(model), "--port", str(port), "--n_ctx", "2048"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"},
    )
    yield f"http://127.0.0.1:{port}/v1"
    process.terminate()
    process.wait(10)


async def answering(url: str) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            async with aiohttp.ClientSession() as session, session.get(f"{url}/models"):
                return
        except aiohttp.ClientError:
            assert time.monotonic() < deadline, "the server does not answer"
            await asyncio.sleep(0.5)


async def test_plans_from_a_real_server(server: str) -> None:
    await answering(server)
    backend = OpenAI(PlannerConfig(url=server, timeout_s=240, max_tokens=120), discover())
    planned = await backend.plan(PlanRequest(text="open the calculator"), CancelFlag())
    assert planned.backend == "openai"
    assert planned.plan.steps or planned.plan.say
