"""From the phone's button to the real desktop and back: real page, server, recogniser, planner, safety and agents."""

from __future__ import annotations

import asyncio
import contextlib
import io
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1]))

from companion_browser import becomes, phone
from companion_rig import until
from playwright.async_api import Browser, Page, expect

from anovax.app import Wanted, build
from anovax.assistant import Assistant
from anovax.companion.devices import DeviceStore
from anovax.config import CompanionConfig, Config, PlannerConfig, SafetyConfig, TtsConfig

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(90)]


class Home:
    """A running assistant with its companion, as companion_browser.phone() needs it."""

    def __init__(self, assistant: Assistant, folder: Path, port: int) -> None:
        self.assistant = assistant
        self.origin = f"https://localhost:{port}"
        self.devices = DeviceStore(folder / "companion" / "devices")

    def pair(self, name: str) -> str:
        return self.devices.add(name)[1]


@contextlib.asynccontextmanager
async def home(folder: Path, data: Path, stt: bool = False, **safety: str) -> AsyncIterator[Home]:
    shutil.copytree(folder / "tls", data / "companion" / "tls")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config = Config(
        data_dir=data,
        planner=PlannerConfig(backend="fastpath"),
        tts=TtsConfig(enabled=False),
        safety=SafetyConfig(tools=safety),
        companion=CompanionConfig(enabled=True, screen=True, port=port),
    )
    async with build(config, Wanted(speak=False, stt=stt, companion=True)) as assistant:
        yield Home(assistant, data, port)


@contextlib.asynccontextmanager
async def application(display: str, *command: str) -> AsyncIterator[None]:
    """An application on the virtual screen, for the time of the block."""
    process = await asyncio.create_subprocess_exec(*command, env={"DISPLAY": display, "PATH": "/usr/bin:/bin"})
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


def windows(display: str) -> str:
    return wmctrl(display, "-lx")


def wmctrl(display: str, *arguments: str) -> str:
    environment = {"DISPLAY": display, "PATH": "/usr/bin:/bin"}
    return subprocess.run(["wmctrl", *arguments], env=environment, capture_output=True, text=True).stdout


async def picture(page: Page) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(await page.locator("#picture").screenshot())).convert("RGB"), np.int16)


async def differs(page: Page, before: np.ndarray) -> bool:
    return bool(np.abs(await picture(page) - before).max() > 60)


async def test_a_typed_request_opens_a_real_application(
    browser: Browser, folder: Path, display: str, tmp_path: Path
) -> None:
    async with home(folder, tmp_path) as at, phone(browser, at) as it:
        page = await it.paired("Pixel")
        await page.click("#watch")
        await expect(page.locator("#picture-note")).to_be_empty()
        before = await picture(page)
        await page.fill("#text", "open the calculator")
        await page.press("#text", "Enter")
        card = page.locator("#cards > li").first
        await expect(card).to_have_attribute("data-state", "verified", timeout=20_000)
        await expect(page.locator("#reply-text")).not_to_be_empty()
        assert "galculator" in windows(display)
        await becomes(lambda: differs(page, before))  # the new window is seen on the phone
        await page.click("#open-history")
        await expect(page.locator("#past li").first).to_contain_text("open the calculator")
        wmctrl(display, "-xc", "galculator")


@pytest.mark.models
async def test_a_spoken_request_is_understood(
    browser: Browser, folder: Path, display: str, tmp_path: Path, weight: Callable[[str], Path]
) -> None:
    weight("stt/tiny.en")
    async with home(folder, tmp_path, stt=True) as at, phone(browser, at) as it:
        page = await it.paired("Pixel")
        box = await page.locator("#talk").bounding_box()
        assert box is not None
        await page.mouse.move(box["x"] + 40, box["y"] + 30)
        await page.mouse.down()
        await expect(page.locator("#hearing-text")).to_contain_text("calculator", ignore_case=True, timeout=20_000)
        await page.mouse.up()
        await expect(page.locator("#heard-text")).to_contain_text("calculator", ignore_case=True, timeout=20_000)
        await expect(page.locator("#heard-who")).to_have_text("From a phone")
        await expect(page.locator("#reply-text")).not_to_be_empty(timeout=20_000)
        wmctrl(display, "-xc", "galculator")


async def test_a_denied_question_does_nothing(browser: Browser, folder: Path, display: str, tmp_path: Path) -> None:
    async with home(folder, tmp_path, open_app="ask") as at, phone(browser, at) as it:
        page = await it.paired("Pixel")
        await page.fill("#text", "open the calculator")
        await page.press("#text", "Enter")
        await expect(page.locator(".question pre")).to_contain_text("alculator")
        await page.click(".choice.no")
        await expect(page.locator(".question")).to_have_count(0)
        await expect(page.locator("#reply-text")).not_to_be_empty()
        assert "galculator" not in windows(display)


async def test_stop_in_the_middle_of_typing(browser: Browser, folder: Path, display: str, tmp_path: Path) -> None:
    """Into the calculator, where one key is pressed three times a second at most: the stop cannot come too late."""
    async with home(folder, tmp_path) as at, phone(browser, at) as it, application(display, "galculator"):
        await until(lambda: "galculator" in str(at.assistant.desktop.focused()), 15)
        page = await it.paired("Pixel")
        await page.fill("#text", f"type {'1' * 120}")
        await page.press("#text", "Enter")
        card = page.locator("#cards > li").first
        await expect(card).to_have_attribute("data-state", "running", timeout=20_000)
        await page.click("#stop")
        await expect(card).to_have_attribute("data-state", "cancelled", timeout=20_000)
        await expect(page.locator("#reply-text")).not_to_be_empty()
        typed = at.assistant.desktop.keys_sent
        await page.wait_for_timeout(1000)
        assert at.assistant.desktop.keys_sent == typed < 120
