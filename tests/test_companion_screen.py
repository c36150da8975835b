"""The screen for phones: fresh pictures, no work for nobody, excluded windows, and slow phones."""

from __future__ import annotations

import asyncio
import io
import socket
from pathlib import Path

import numpy as np
import pytest
from companion_rig import PaintedScreen, request, running, status, until
from PIL import Image

from anovax.companion.mjpeg import Screen
from anovax.companion.picture import hide, reduction, render, same, shrink, with_pointer
from anovax.companion.ports import ScreenWindow
from anovax.events import Noticed, StepStarted


def pixels(jpeg: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(jpeg)).convert("RGB"))


# --- pictures --------------------------------------------------------------------------------------------------------


def test_same_sees_one_changed_pixel() -> None:
    for shape in ((90, 160, 3), (9, 7, 3)):  # a size that eight divides, and one that it does not
        a = np.zeros(shape, np.uint8)
        b = a.copy()
        assert same(a, b)
        b[-1, -1, 2] = 1
        assert not same(a, b)
    assert not same(None, a)
    assert not same(a[:-1], a)


@pytest.mark.parametrize("names", [("keepass",), ("KeePassXC",), ("secret vault",), ("nothing", "vault")])
def test_excluded_windows_are_covered_by_application_or_title(names: tuple[str, ...]) -> None:
    frame = np.full((100, 200, 3), 255, np.uint8)
    window = ScreenWindow("org.keepassxc.KeePassXC", "My Secret Vault", 150, -10, 100, 50)
    other = ScreenWindow("xterm", "shell", 0, 0, 50, 50)
    covered = hide(frame, [window, other], names)
    assert (covered[:40, 150:] == covered[0, 150]).all()
    assert covered[0, 150, 0] < 60
    assert (covered[:, :150] == 255).all()
    assert (covered[40:] == 255).all()
    assert (frame == 255).all()


def test_nothing_is_covered_without_a_match() -> None:
    frame = np.full((10, 10, 3), 255, np.uint8)
    assert hide(frame, [ScreenWindow("xterm", "", 0, 0, 10, 10)], ("keepass", "")) is frame


@pytest.mark.parametrize(
    ("screen", "phone", "by"),
    [(1280, 1280, 1), (1920, 960, 2), (3840, 1080, 4), (7680, 400, 4), (800, 0, 4), (640, 2000, 1)],
)
def test_reduction_is_a_whole_number(screen: int, phone: int, by: int) -> None:
    assert reduction(screen, phone) == by


def test_shrinking_averages() -> None:
    frame = np.zeros((4, 4, 3), np.uint8)
    frame[::2] = 200
    assert shrink(frame, 2).shape == (2, 2, 3)
    assert (shrink(frame, 2) == 100).all()


@pytest.mark.parametrize("at", [(0, 0), (99, 59), (50, 30), (-1, 5), (100, 5), (5, 60)])
def test_the_pointer_is_drawn_wherever_it_is(at: tuple[int, int]) -> None:
    frame = np.full((60, 100, 3), 128, np.uint8)
    drawn = with_pointer(frame, *at)
    inside = 0 <= at[0] < 100 and 0 <= at[1] < 60
    assert (not same(frame, drawn)) is inside
    assert (frame == 128).all()


def test_a_rendered_picture_shows_the_frame() -> None:
    frame = np.zeros((120, 160, 3), np.uint8)
    frame[:, 80:] = (250, 20, 20)
    seen = pixels(render(frame, (500, 500), 2))
    assert seen.shape == (60, 80, 3)
    assert abs(int(seen[30, 70, 0]) - 250) < 8
    assert seen[30, 10].max() < 8


# --- the encoder -----------------------------------------------------------------------------------------------------


async def test_nothing_is_captured_while_nobody_watches() -> None:
    painted = PaintedScreen()
    screen = Screen(painted, 30, ())
    await asyncio.sleep(0.1)
    assert painted.grabs == 0
    with screen.watch():
        await screen.next(640)
    grabs = painted.grabs
    await asyncio.sleep(0.5)
    assert painted.grabs <= grabs + 1
    await screen.close()


async def test_an_unchanged_screen_sends_nothing_and_a_change_comes_soon() -> None:
    painted = PaintedScreen()
    screen = Screen(painted, 30, ())
    with screen.watch():
        first = await screen.next(640)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.4):
                await screen.next(640, first.number)
        painted.frame[:] = 200
        async with asyncio.timeout(2):
            second = await screen.next(640, first.number)
        assert pixels(second.jpeg)[100, 100].min() > 190
        painted.at = (300, 200)  # the pointer alone is a change, too
        async with asyncio.timeout(2):
            third = await screen.next(640, second.number)
        assert pixels(third.jpeg)[203, 301].min() > 220
    await screen.close()


async def test_a_screen_that_rests_is_looked_at_less_and_less_until_something_stirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream that is open and waits, over the network: its waiting is no reason to look."""
    monkeypatch.setattr("anovax.companion.mjpeg.IDLE", ((1.0, 60.0),))
    painted = PaintedScreen()
    async with (
        running(tmp_path, screen=painted, screen_fps=30) as rig,
        rig.session(rig.pair()) as web,
        web.get("/screen.mjpg?width=640") as response,
    ):
        await response.content.readuntil(b"\xff\xd9\r\n--")
        await until(lambda: painted.grabs > 10)
        await asyncio.sleep(1.2)
        grabs = painted.grabs
        await asyncio.sleep(2.3)  # longer than the stream waits in one go
        assert painted.grabs <= grabs + 1
        painted.frame[:] = 200
        rig.bus.publish(StepStarted(turn="1", step=0))
        jpeg = await asyncio.wait_for(response.content.readuntil(b"\xff\xd9\r\n--"), 5)
        assert pixels(jpeg[jpeg.index(b"\xff\xd8") : -4])[100, 100].min() > 190
        await until(lambda: painted.grabs > grabs + 10)  # at full rate again
        painted.at = (300, 200)
        await asyncio.wait_for(response.content.readuntil(b"\xff\xd9\r\n--"), 5)


async def test_a_second_watcher_gets_a_picture_of_a_screen_that_rests() -> None:
    screen = Screen(PaintedScreen(), 30, ())
    with screen.watch():
        first = await screen.next(640)
        waiting = asyncio.create_task(screen.next(640, first.number))
        await asyncio.sleep(0.1)
        async with asyncio.timeout(2):
            assert (await screen.next(640)).jpeg == first.jpeg
            assert (await screen.next(360)).jpeg != first.jpeg
        waiting.cancel()
    await screen.close()


async def test_pictures_are_made_only_as_fast_as_they_are_taken() -> None:
    painted = PaintedScreen()
    screen = Screen(painted, 30, ())
    with screen.watch():
        first = await screen.next(640)
        grabs = painted.grabs
        await asyncio.sleep(0.5)  # this phone is busy with the first one
        assert painted.grabs <= grabs + 1
        painted.frame[:] = 9
        async with asyncio.timeout(2):
            assert pixels((await screen.next(640, first.number)).jpeg)[200, 200].max() < 16
    await screen.close()


async def test_a_slow_phone_gets_the_newest_picture() -> None:
    painted = PaintedScreen()
    screen = Screen(painted, 30, ())
    with screen.watch():
        quick = asyncio.create_task(_follow(screen))
        number = (await screen.next(640)).number
        for value in range(0, 250, 25):
            painted.frame[:] = value
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.3)
        picture = await screen.next(640, number)
        assert abs(int(pixels(picture.jpeg)[200, 200, 0]) - 225) < 8
        quick.cancel()
    await screen.close()


async def _follow(screen: Screen) -> None:
    number = 0
    while True:
        number = (await screen.next(640, number)).number


async def test_a_screen_that_fails_is_said_once_and_comes_back() -> None:
    painted, said = PaintedScreen(), list[str]()
    whole, painted.frame = painted.frame, None  # type: ignore[assignment]
    screen = Screen(painted, 30, (), troubled=said.append)
    with screen.watch():
        waiting = asyncio.create_task(screen.next(640))
        await until(lambda: said)
        painted.frame = whole
        async with asyncio.timeout(5):
            assert (await waiting).jpeg
    assert len(said) == 1
    assert said[0].startswith("The screen cannot be shown: ")
    await screen.close()


async def test_no_picture_when_windows_cannot_be_listed() -> None:
    """Then it cannot be known what must be hidden."""

    class Blind(PaintedScreen):
        def windows(self) -> tuple[ScreenWindow, ...]:
            raise OSError("no window list")

    screen = Screen(Blind(), 30, ("keepass",))
    with screen.watch(), pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await screen.next(640)
    await screen.close()


async def test_watchers_come_and_go_quickly() -> None:
    counts: list[int] = []
    screen = Screen(PaintedScreen(), 30, (), watched=counts.append)
    for _ in range(30):
        with screen.watch():
            async with asyncio.timeout(3):
                await screen.next(360)
    assert counts == [1, 0] * 30
    await screen.close()
    await screen.close()


# --- over the network ------------------------------------------------------------------------------------------------


async def test_the_snapshot_is_a_jpeg_at_the_phones_size(tmp_path: Path) -> None:
    painted = PaintedScreen(1280, 720)
    painted.shown = [ScreenWindow("KeePassXC", "", 0, 0, 640, 720)]
    async with running(tmp_path, screen=painted) as rig, rig.session(rig.pair()) as web:
        seen = pixels(await (await web.get("/screen.jpg?width=1280")).read())
        seen = pixels(await (await web.get("/screen.jpg?width=640")).read())
        assert seen.shape == (360, 640, 3)
        assert seen[100, 100].tolist() != seen[100, 600].tolist()  # the password manager is covered
        for odd in ("", "0", "-5", "x", "9" * 50, "\u0663"):
            assert (await web.get("/screen.jpg", params={"width": odd})).status == 200


async def test_a_snapshot_of_a_broken_screen_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anovax.companion.routes.CAPTURE_S", 0.5)
    painted = PaintedScreen()
    painted.frame = None  # type: ignore[assignment]
    async with running(tmp_path, screen=painted) as rig, rig.session(rig.pair()) as web:
        seen = rig.bus.subscribe()
        reply = await web.get("/screen.jpg")
        assert reply.status == 503
        events = iter(lambda: seen.get(0.1), None)
        assert any(isinstance(e, Noticed) and "cannot be shown" in e.text for e in events)


async def test_a_stalled_phone_holds_one_picture_and_no_one_else(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    painted = PaintedScreen(1280, 720)
    async with running(tmp_path, screen=painted, screen_fps=30) as rig, rig.session(rig.pair()) as web:
        plain = socket.socket()
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.connect(("127.0.0.1", rig.server.port))
        stalled = await asyncio.to_thread(rig.context().wrap_socket, plain, server_hostname="localhost")
        ask = request(rig, "GET /screen.mjpg?width=1280", f"Cookie: __Host-anovax={rig.pair('stalled')}")
        await asyncio.to_thread(stalled.sendall, ask)
        assert status(await asyncio.to_thread(stalled.recv, 20)) == 200
        async with web.get("/screen.mjpg?width=1280") as response:
            for _ in range(20):
                painted.frame = rng.integers(0, 255, (720, 1280, 3), np.uint8)  # large pictures
                jpeg = await asyncio.wait_for(response.content.readuntil(b"\xff\xd9\r\n--"), 5)
        assert 0 < rig.server.backlog() <= len(jpeg) * 1.5
        stalled.close()
