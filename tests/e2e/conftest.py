"""A real desktop for end-to-end tests: the session's virtual display, applications started on it, steps to act in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from desktop_rig import QUIET, Running, end, make_step, until

from anovax.desktop import Desktop, build
from anovax.errors import FocusLost
from anovax.tool import StepContext

if TYPE_CHECKING:
    from playwright.async_api import Browser


@pytest.fixture(scope="session")
def window_manager(display: str) -> str:
    """The display's name; the window manager runs on it."""
    return display


@pytest.fixture
def desktop(window_manager: str) -> Iterator[Desktop]:
    with build(display=window_manager) as built:
        yield built


@pytest.fixture
def step() -> StepContext:
    return make_step()


@pytest.fixture
def start(desktop: Desktop, window_manager: str, tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """``start(command, title=…)`` runs a program and waits for its window, focused; all end with the test."""
    started: list[subprocess.Popen[bytes]] = []

    def run(command: list[str], title: str = "", seconds: float = 15.0, **more: str) -> Running:
        before = {window.id for window in desktop.windows()}
        environment = {**os.environ, "DISPLAY": window_manager, **more}
        said = tmp_path / f"{len(started)}.log"
        with said.open("wb") as log:
            process = subprocess.Popen(command, env=environment, start_new_session=True, **{**QUIET, "stderr": log})
        started.append(process)
        step = make_step(seconds)
        window = desktop.wait_for_window(
            lambda w: w.id not in before and bool(w.app or w.title) and title in w.title, seconds - 1, step
        )
        how = f"exit code {process.poll()}, said {said.read_text(errors='replace')[-600:]!r}"
        assert window is not None, f"{command[0]} showed no window: {how}"
        try:
            return Running(process, desktop.activate(window, step))
        except FocusLost:  # a first window that gives way to another one of the same program
            now = desktop.focused()
            assert now is not None and now.pid == window.pid, f"{command[0]} did not get the focus: {how}"
            return Running(process, now)

    yield run
    for process in started:
        end(process)
    until(lambda: not desktop.windows())  # the server gives the same window ids again: see them gone first


@pytest.fixture
def counted(request: pytest.FixtureRequest) -> Callable[[int], Iterator[int]]:
    """``counted(n)`` is ``range(n)`` that says every 50 rounds how far it is, past pytest's capture."""
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def rounds(count: int) -> Iterator[int]:
        begun = time.monotonic()
        for number in range(count):
            if number and number % 50 == 0:
                with capture.global_and_fixture_disabled():
                    spent = time.monotonic() - begun
                    print(f"{request.node.name}: {number} of {count}, {spent:.0f} s", file=sys.stderr, flush=True)
            yield number

    return rounds


@pytest.fixture
def layout(window_manager: str) -> Iterator[Callable[..., None]]:
    """Sets the keyboard layout; "us" again afterwards."""

    def use(names: str, variant: str = "") -> None:
        command = ["setxkbmap", "-display", window_manager, "-layout", names, "-variant", variant]
        subprocess.run(command, check=True, **QUIET)

    yield use
    use("us")


# --- a browser for the phone's page, one for each test file ----------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The browser's own folder; ``tls`` in it is the authority that it trusts."""
    return tmp_path_factory.mktemp("browser")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(folder: Path) -> AsyncIterator[Browser]:
    from companion_browser import launched  # so that the other tests here need no Playwright

    async with launched(folder) as browser:
        yield browser


@pytest.fixture
def data(folder: Path, tmp_path: Path) -> Path:
    """A data folder with the authority that the browser trusts."""
    shutil.copytree(folder / "tls", tmp_path / "companion" / "tls")
    return tmp_path
