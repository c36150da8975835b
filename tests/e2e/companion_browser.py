"""A real Chromium that trusts the companion's own authority, hears a recording as its microphone, and is watched for
errors. Needs ``chromium`` and, to trust the authority as a phone does, ``certutil`` (Debian: libnss3-tools)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from companion_rig import HOSTS, Rig, until
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from anovax.companion import pairing
from anovax.companion.tls import Authority

PHONE = {"width": 390, "height": 844}
NPM_CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "anovax" / "npm"


def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("needs a Chromium browser (Debian: apt-get install chromium)")
    return found


def axe_source() -> str:
    """The accessibility checker axe-core, from a cache outside this folder; fetched by npm the first time."""
    path = NPM_CACHE / "node_modules" / "axe-core" / "axe.min.js"
    if not path.exists() and shutil.which("npm"):
        NPM_CACHE.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(subprocess.SubprocessError):
            subprocess.run(["npm", "install", "--prefix", NPM_CACHE, "axe-core@4"], capture_output=True, timeout=15)
    if not path.exists():
        pytest.skip(f"needs axe-core (npm install --prefix {NPM_CACHE} axe-core@4)")
    return path.read_text()


def speech(folder: Path) -> Path:
    """A recording of somebody speaking, for the browser's microphone."""
    if shutil.which("espeak-ng") is None:
        pytest.skip("needs espeak-ng to make a recording (Debian: apt-get install espeak-ng)")
    path = folder / "speech.wav"
    subprocess.run(["espeak-ng", "-s", "140", "-w", path, "Open the calculator."], check=True)
    return path


def trusted_home(folder: Path) -> Path:
    """A home folder whose certificate store trusts a new authority, which lies in ``folder/tls``."""
    if shutil.which("certutil") is None:
        pytest.skip("needs certutil (Debian: apt-get install libnss3-tools)")
    authority = Authority(folder / "tls")
    authority.ensure(HOSTS)
    store = folder / "home" / ".pki" / "nssdb"
    store.mkdir(parents=True)
    for command in (
        ["-N", "--empty-password"],
        ["-A", "-t", "C,,", "-n", "anovax", "-i", str(folder / "tls" / "ca.pem")],
    ):
        subprocess.run(["certutil", "-d", f"sql:{store}", *command], check=True, capture_output=True)
    return folder / "home"


@contextlib.asynccontextmanager
async def launched(folder: Path) -> AsyncIterator[Browser]:
    arguments = [
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",  # what a phone asks of others is not ours
        "--disable-dev-shm-usage",
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-audio-capture={speech(folder)}%noloop",
    ]
    home = trusted_home(folder)
    async with async_playwright() as playwright:
        environment: dict[str, Any] = {**os.environ, "HOME": str(home)}
        browser = await playwright.chromium.launch(executable_path=chromium(), args=arguments, env=environment)
        try:
            yield browser
        finally:
            await browser.close()


class Phone:
    """One browser profile with one page, and what went wrong in it."""

    def __init__(self, rig: Rig, context: BrowserContext, page: Page) -> None:
        self.rig = rig
        self.context = context
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(error.stack or str(error)))
        page.on("console", lambda m: self.errors.append(f"{m.text} {m.location}") if m.type == "error" else None)

    async def open(self, path: str = "/") -> Page:
        await self.page.goto(self.rig.origin + path)
        return self.page

    async def paired(self, name: str = "Pixel") -> Page:
        """Open the page as a phone that was paired before."""
        cookie = {"name": "__Host-anovax", "value": self.rig.pair(name), "url": self.rig.origin, "secure": True}
        await self.context.add_cookies([{**cookie, "httpOnly": True, "sameSite": "Strict"}])  # type: ignore[list-item]
        await self.open()
        await self.state("live")
        return self.page

    async def state(self, name: str, seconds: float = 12) -> None:
        await self.page.wait_for_selector(f"#link[data-state={name}]", timeout=seconds * 1000)

    async def answer_on_the_laptop(self, allow: bool) -> None:
        await until(lambda: pairing.waiting(self.rig.pairing))
        assert self.rig.server.approve(pairing.waiting(self.rig.pairing)[0].request, allow)

    async def overflow(self) -> list[str]:
        """What sticks out sideways, or is a button smaller than a fingertip (24 CSS pixels, WCAG 2.5.8)."""
        return list(
            await self.page.evaluate("""() => {
              const wide = document.documentElement.clientWidth, found = [];
              const page = document.documentElement.scrollWidth;
              if (page > wide + 1) found.push(`page ${page}`);
              for (const node of document.querySelectorAll("button, input, select, h1, h2, p, .card, .question")) {
                const box = node.getBoundingClientRect();
                if (!box.width || node.closest(".quick, .away, dialog:not([open])")) continue;
                const name = `${node.tagName}#${node.id}.${node.className}`;
                if (box.left < -1 || box.right > wide + 1) found.push(`${name} ${box.left} ${box.right}`);
                if (node.tagName === "BUTTON" && (box.width < 24 || box.height < 24)) found.push(`small ${name}`);
                const cut = node.scrollWidth > node.clientWidth + 1;
                if (cut && node.matches("button, h1, h2, p")) found.push(`cut ${name} ${node.textContent}`);
              }
              return found;
            }""")
        )


async def becomes(check: Callable[[], Awaitable[bool]], seconds: float = 5) -> None:
    """Wait until ``check`` says yes; fails the test when it does not."""
    async with asyncio.timeout(seconds):
        while not await check():  # noqa: ASYNC110  what is waited for is on a screen
            await asyncio.sleep(0.1)


@contextlib.asynccontextmanager
async def phone(browser: Browser, rig: Rig, **settings: Any) -> AsyncIterator[Phone]:
    """A new profile. When the block ends the page must have had no error, unless ``errors`` were cleared."""
    context = await browser.new_context(**{"viewport": PHONE, "has_touch": True, "locale": "en", **settings})
    try:
        held = Phone(rig, context, await context.new_page())
        yield held
        assert held.errors == [], held.errors
    finally:
        await context.close()
