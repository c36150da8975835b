"""The phone's page in a real Chromium against the real server; only the assistant behind it is scripted."""

from __future__ import annotations

import asyncio
import io
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1]))

from companion_browser import axe_source, becomes, phone
from companion_rig import PaintedScreen, Rig, running, until
from playwright.async_api import Browser, Page, expect

from anovax.companion.pages import load, page_folder
from anovax.companion.ports import Frame, ScreenWindow
from anovax.events import (
    ConsentAnswered,
    ConsentAsked,
    Event,
    PlanMade,
    ScreenWatched,
    StepFinished,
    StepQueued,
    StepRetrying,
    StepStarted,
    StepWaiting,
    StopRequested,
    TurnFinished,
    TurnStarted,
)

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(60)]

PLAN = {
    "steps": [{"tool": "open_app", "name": "mousepad"}, {"tool": "type_text", "text": "hello"}, {"tool": "screenshot"}]
}


def queued(step: int, label: str, tool: str = "type_text") -> StepQueued:
    return StepQueued(turn="1", step=step, agent="Typing", tool=tool, args={}, label=label)


def show(rig: Rig, *events: Event) -> None:
    for event in events:
        rig.bus.publish(event)


def a_turn(rig: Rig) -> None:
    """One of everything, as it stands in the middle of a turn."""
    show(
        rig,
        TurnStarted(turn="1", text="open mousepad and type hello", source="phone"),
        PlanMade(turn="1", plan=PLAN, backend="fastpath", ms=2),
        queued(0, "Open mousepad", "open_app"),
        StepStarted(turn="1", step=0),
        StepFinished(turn="1", step=0, tool="open_app", status="verified", evidence="its window has the focus", ms=640),
        queued(1, "Type “hello”"),
        StepWaiting(turn="1", step=1, lock="kb_mouse"),
    )


def question(consent: str = "c1", expires_s: float = 30) -> ConsentAsked:
    exact = "type into xterm:\n<b>rm -r notes</b>"
    return ConsentAsked(
        turn="1", consent=consent, step=1, exact=exact, reason="This deletes files.", expires_s=expires_s
    )


# --- pairing ---------------------------------------------------------------------------------------------------------


async def test_pairing_by_the_qr_codes_link(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        offer = rig.offer()
        page = await it.open(offer.url.removeprefix(rig.origin))
        await expect(page.locator("#pair-status")).to_contain_text("allow")
        assert page.url == f"{rig.origin}/"  # the code is gone from the address and from the history
        await expect(page.locator("#pair-print")).to_contain_text(offer.fingerprint)
        await it.answer_on_the_laptop(True)
        await it.state("live")
        (cookie,) = await it.context.cookies()
        assert (cookie["httpOnly"], cookie["secure"], cookie["sameSite"]) == (True, True, "Strict")
        assert await page.evaluate("document.cookie") == ""
        await page.reload()
        await it.state("live")


async def test_pairing_by_typing_a_wrong_and_then_the_right_pin(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.open()
        await page.fill("#pair-code", "1111 1111")
        await page.press("#pair-code", "Enter")
        await expect(page.locator("#pair-status")).to_have_text(re.compile("No code is open now"))
        offer = rig.offer()
        await page.fill("#pair-code", "1111 1111")
        await page.press("#pair-code", "Enter")
        await expect(page.locator("#pair-status")).to_have_text(re.compile("That code is wrong"))
        await page.fill("#pair-code", offer.pin)
        await page.fill("#pair-name", "Ada's phone")
        await page.click("#pair-form button")
        await it.answer_on_the_laptop(True)
        await it.state("live")
        assert rig.server.devices.list()[0].name == "Ada's phone"
        it.errors.clear()  # the browser reports the refusals


async def test_a_phone_that_the_laptop_denies(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.open(rig.offer().url.removeprefix(rig.origin))
        await it.answer_on_the_laptop(False)
        await expect(page.locator("#pair-status")).to_have_text("The computer did not allow this phone.")
        await expect(page.locator("#main")).to_be_hidden()


async def test_a_revoked_phone_is_told(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired("Lost")
        rig.server.devices.revoke("Lost")
        await expect(page.locator("#pair-status")).to_have_text(re.compile("not paired any more"))
        await it.state("unpaired")
        it.errors.clear()


@pytest.mark.full
async def test_unpairing_itself(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired()
        page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
        await page.click("#open-menu")
        await page.click("#forget")
        await expect(page.locator("#pair-form")).to_be_visible()
        assert rig.server.devices.list() == ()
        it.errors.clear()


async def test_plain_http_leads_to_https(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        await it.page.goto(rig.origin.replace("https", "http"))
        await it.page.wait_for_url(f"{rig.origin}/")
        await expect(it.page.locator("#pair-form")).to_be_visible()
        it.errors.clear()  # the 426 is reported


# --- asking ----------------------------------------------------------------------------------------------------------


async def test_text_quick_requests_and_history(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired()
        await page.fill("#text", "open the calculator")
        await page.press("#text", "Enter")
        await expect(page.locator("#text")).to_have_value("")
        await page.click("#quick button >> nth=0")
        await until(lambda: len(rig.assistant.texts) == 2)
        assert rig.assistant.texts == [("open the calculator", "Pixel"), ("What time is it?", "Pixel")]
        await page.click("#open-menu")
        await page.fill("#quick-edit", "Play music\n\n  Sperren = Lock the screen ")
        await page.click("#menu [data-close]")
        await page.reload()
        await expect(page.locator("#quick button")).to_have_text(["Play music", "Sperren"])
        await page.click("#quick button >> nth=1")
        await until(lambda: rig.assistant.texts[-1] == ("Lock the screen", "Pixel"))
        await page.click("#open-history")
        await expect(page.locator("#past li")).to_contain_text(["what time is it"])


@pytest.mark.parametrize("how", ["hold", pytest.param("tap", marks=pytest.mark.full), "keyboard"])
async def test_push_to_talk(browser: Browser, data: Path, how: str) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page, kept = await it.paired(), list[tuple[bytes, str]]()
        original = rig.assistant.submit_audio

        async def keep(recording: bytes, mime: str, device: str) -> str:
            kept.append((recording, mime))
            return await original(recording, mime, device)

        rig.assistant.submit_audio = keep  # type: ignore[method-assign]
        box = await page.locator("#talk").bounding_box()
        assert box is not None
        await page.mouse.move(box["x"] + 40, box["y"] + 30)
        begin, end = {
            "hold": (page.mouse.down, page.mouse.up),
            "tap": (lambda: page.mouse.click(box["x"] + 40, box["y"] + 30),) * 2,
            "keyboard": (lambda: page.keyboard.down("Space"), lambda: page.keyboard.up("Space")),
        }[how]
        if how == "keyboard":
            await page.focus("#talk")
        await begin()
        await expect(page.locator("#talk")).to_have_attribute("aria-pressed", "true")
        await expect(page.locator("#hearing-text")).to_have_text(re.compile("heard [0-9]+"), timeout=8000)
        await end()
        await expect(page.locator("#talk")).to_have_attribute("aria-pressed", "false")
        await until(lambda: kept)
        sound = decoded(kept[0][0])
        assert kept[0][1] == "audio/webm"
        assert 0.5 < len(sound) / 16_000 < 12
        assert np.abs(sound).max() > 0.05  # somebody speaks in it
        assert rig.assistant.partial_samples


def decoded(recording: bytes) -> np.ndarray:
    """Mono at 16 kHz, float."""
    import av

    resampler = av.AudioResampler(format="flt", layout="mono", rate=16_000)
    with av.open(io.BytesIO(recording)) as container:
        frames = [out for frame in container.decode(audio=0) for out in resampler.resample(frame)]
    return np.concatenate([frame.to_ndarray().reshape(-1) for frame in frames])


async def test_a_recording_is_not_lost_with_the_network(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired()
        listener, port = rig.server._listener, rig.server.port
        assert listener is not None
        await page.click("#talk")
        await page.wait_for_timeout(700)
        await listener.close()
        await page.click("#talk")
        await expect(page.locator("#trouble")).to_contain_text("not reached")
        listener.open(("127.0.0.1",), port)
        await it.state("live")
        await page.click("#again")
        await until(lambda: len(rig.assistant.recordings) == 1)
        it.errors.clear()


async def test_a_blocked_microphone_is_explained(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        await it.context.add_init_script(
            "navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', 'NotAllowedError'); }"
        )
        page = await it.paired()
        await page.click("#talk")
        await expect(page.locator("#trouble")).to_contain_text("microphone is blocked")
        await page.evaluate("Object.defineProperty(navigator, 'mediaDevices', {value: undefined})")
        await page.click("#talk")
        await expect(page.locator("#trouble")).to_contain_text("only to a secure page")


# --- watching --------------------------------------------------------------------------------------------------------


async def states(page: Page, *wanted: str) -> None:
    for number, state in enumerate(wanted):
        await expect(page.locator("#cards > li").nth(number)).to_have_attribute("data-state", state)


async def test_the_cards_go_by(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired()
        a_turn(rig)
        cards = page.locator("#cards > li")
        await expect(page.locator("#heard-text")).to_have_text("open mousepad and type hello")
        await expect(cards).to_have_count(3)
        await states(page, "verified", "waiting", "planned")
        await expect(cards.nth(0)).to_contain_text("0.6 s")
        await expect(cards.nth(0)).to_contain_text("its window has the focus")
        await expect(cards.nth(1)).to_contain_text("Waiting for keyboard and mouse")
        show(rig, StepStarted(turn="1", step=1))
        await states(page, "verified", "running", "planned")
        await expect(cards.nth(1).locator(".time")).to_have_text(re.compile(r"[1-9]\.\d s"))  # the clock runs
        show(rig, StepRetrying(turn="1", step=1, attempt=2, error="no focus"), StepStarted(turn="1", step=1, attempt=2))
        show(rig, queued(2, "Take a screenshot"), StepStarted(turn="1", step=2))
        show(
            rig,
            StepFinished(turn="1", step=1, tool="type_text", status="failed", error="The focus was lost", attempts=2),
        )
        show(rig, StepFinished(turn="1", step=2, tool="screenshot", status="unverified", ms=90))
        show(rig, TurnFinished(turn="1", said="That did not work.", ms=900, ok=False))
        await states(page, "verified", "failed", "unverified")
        await expect(cards.nth(1)).to_contain_text("2 attempts")
        await expect(page.locator("#reply-text")).to_have_text("That did not work.")


async def test_a_phone_that_comes_late_sees_the_whole_turn(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        a_turn(rig)
        page = await it.paired()
        await expect(page.locator("#cards > li")).to_have_count(3)


async def test_consent_shows_the_exact_effect_and_no_is_no(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired()
        a_turn(rig)
        rig.assistant.open_questions.add("c1")
        show(rig, question())
        exact = page.locator(".question pre")
        await expect(exact).to_have_text("type into xterm:\n<b>rm -r notes</b>")  # as text, not as markup
        assert await exact.locator("b").count() == 0
        await page.click(".choice.no")
        await until(lambda: rig.assistant.answers == [("c1", False, "phone")])
        show(rig, ConsentAnswered(turn="1", consent="c1", answer="denied", by="phone"))
        await expect(page.locator(".question")).to_have_count(0)


async def test_a_tap_that_was_under_way_is_no_consent(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired()
        a_turn(rig)
        rig.assistant.open_questions.add("c1")
        await page.evaluate("""() => new MutationObserver(() => document.querySelector(".choice.yes")?.click())
          .observe(document.getElementById("questions"), { childList: true })""")
        show(rig, question())
        await expect(page.locator(".choice.yes")).to_be_enabled()
        assert rig.assistant.answers == []


async def test_a_question_expires_on_the_phone_too(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired()
        a_turn(rig)
        show(rig, question(expires_s=1.5))
        await expect(page.locator(".question")).to_have_count(1)
        await expect(page.locator(".question")).to_have_count(0)
        show(rig, question("c2"))
        await page.click(".choice.yes")  # the assistant says that it is not open any more
        await expect(page.locator("#trouble")).to_contain_text("not open any more")
        it.errors.clear()


@pytest.mark.parametrize("how", ["button", pytest.param("escape", marks=pytest.mark.full)])
async def test_stop_in_the_middle_of_typing(browser: Browser, data: Path, how: str) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired()
        a_turn(rig)
        await expect(page.locator("#cards > li")).to_have_count(3)
        await (page.click("#stop") if how == "button" else page.keyboard.press("Escape"))
        await until(lambda: rig.assistant.stops == ["phone"])
        show(rig, StopRequested(by="phone"), StepFinished(turn="1", step=1, tool="type_text", status="cancelled"))
        show(rig, TurnFinished(turn="1", said="Stopped.", ms=5, ok=False))
        await expect(page.locator("#cards > li >> nth=1")).to_have_attribute("data-state", "cancelled")
        await expect(page.locator("#reply-text")).to_have_text("Stopped.")


async def test_two_phones_at_once(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as one, phone(browser, rig, locale="de") as two:
        first, second = await one.paired("One"), await two.paired("Zwei")
        a_turn(rig)
        rig.assistant.open_questions.add("c1")
        show(rig, question())
        for page in (first, second):
            await expect(page.locator(".question")).to_have_count(1)
        await second.click(".choice.yes")
        await until(lambda: rig.assistant.answers == [("c1", True, "phone")])
        show(rig, ConsentAnswered(turn="1", consent="c1", answer="allowed", by="phone"))
        for page in (first, second):
            await expect(page.locator(".question")).to_have_count(0)
        await first.fill("#text", "from one")
        await first.press("#text", "Enter")
        await second.click("#quick button >> nth=0")
        await until(lambda: sorted(rig.assistant.texts) == [("What time is it?", "Zwei"), ("from one", "One")])


# --- the network -----------------------------------------------------------------------------------------------------


async def test_the_network_goes_and_comes_back_and_nothing_is_missed(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired()
        a_turn(rig)
        await expect(page.locator("#cards > li")).to_have_count(3)
        listener, port = rig.server._listener, rig.server.port
        assert listener is not None
        await listener.close()  # as when the router is switched off: streams break, nothing answers
        await it.state("offline")
        show(rig, StepStarted(turn="1", step=1))
        show(rig, StepFinished(turn="1", step=1, tool="type_text", status="verified", evidence="read back", ms=300))
        await page.click("#stop")
        await expect(page.locator("#trouble")).to_contain_text("Stop did not reach the computer")
        listener.open(("127.0.0.1",), port)
        await it.state("live")
        await expect(page.locator("#cards > li >> nth=1")).to_have_attribute("data-state", "verified")
        await expect(page.locator("#cards > li")).to_have_count(3)
        await expect(page.locator("#trouble")).to_be_hidden()
        it.errors.clear()


@pytest.mark.full
async def test_the_assistant_restarts(browser: Browser, data: Path) -> None:
    async with running(data) as rig:
        port = rig.server.port
        async with phone(browser, rig) as it:
            await it.paired()
            await rig.server.close()
            await it.state("offline")
            rig.config = rig.config.model_copy(update={"port": port})
            rig.server = rig._server()
            await rig.server.start()
            await it.state("live")
            a_turn(rig)
            await expect(it.page.locator("#cards > li")).to_have_count(3)
            it.errors.clear()


async def test_a_silent_connection_is_not_called_live(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        await it.page.clock.install()
        page = await it.paired()
        await page.evaluate("""() => {
          window.seen = [];
          const link = document.getElementById("link");
          new MutationObserver(() => window.seen.push(link.dataset.state)).observe(link, { attributes: true });
        }""")
        await page.clock.run_for(20_000)  # a heartbeat is due every 15 s; the page's clock runs ahead of the computer's
        assert await page.evaluate("window.seen") == []
        await page.clock.run_for(5_000)
        await page.wait_for_timeout(100)
        assert (await page.evaluate("window.seen"))[0] == "reconnecting"
        await it.state("live")


async def test_the_service_worker_keeps_the_page_and_nothing_private(browser: Browser, data: Path) -> None:
    async with running(data, screen=PaintedScreen()) as rig, phone(browser, rig) as it:
        page = await it.paired()
        a_turn(rig)
        await page.evaluate("navigator.serviceWorker.ready.then(() => 1)")
        await page.click("#open-history")
        await page.click("#history [data-close]")
        await page.click("#watch")
        await page.reload()
        await it.state("live")
        kept = await page.evaluate("""async () => {
          const caught = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()));
          return caught.flat().map((request) => request.url);
        }""")
        assert f"{rig.origin}/app.js" in kept
        assert {url.removeprefix(rig.origin) for url in kept} <= set(load(page_folder()))  # the page's files alone
        await rig.server.close()
        await page.reload()  # the computer is away, the page is not
        await it.state("offline")
        await expect(page.locator("#stop")).to_be_visible()
        it.errors.clear()


# --- the screen ------------------------------------------------------------------------------------------------------


class XvfbScreen:
    """A real X server's screen."""

    def __init__(self, display: str) -> None:
        import mss

        self._mss = mss.MSS(display=display)

    def grab(self) -> Frame:
        shot = self._mss.grab(self._mss.monitors[1])
        return np.ascontiguousarray(np.asarray(shot)[:, :, 2::-1])

    def pointer(self) -> tuple[int, int]:
        return (5, 5)

    def windows(self) -> tuple[ScreenWindow, ...]:
        return ()


async def test_the_real_desktop_is_seen_to_change(browser: Browser, data: Path, display: str) -> None:
    async with running(data, screen=XvfbScreen(display)) as rig, phone(browser, rig) as it:
        seen = rig.bus.subscribe()
        page = await it.paired()
        await expect(page.locator("#screen")).to_be_hidden()
        await page.click("#watch")
        for colour in ("#c03020", "#2040c0", "#20a040"):
            await asyncio.to_thread(subprocess.run, ["xsetroot", "-display", display, "-solid", colour], check=True)
            red, green, blue = bytes.fromhex(colour[1:])
            await becomes(lambda wanted=(red, green, blue): shows(page, wanted))
        await page.evaluate(
            "() => { Object.defineProperty(document, 'hidden', {value: true});"
            "document.dispatchEvent(new Event('visibilitychange')); }"
        )
        await until(lambda: rig.server.watchers == 0)  # a hidden page does not watch
        counts = [e.watchers for e in iter(lambda: seen.get(0.1), None) if isinstance(e, ScreenWatched)]
        assert counts == [1, 0]


@pytest.mark.full
async def test_snapshots_where_a_stream_does_not_show(browser: Browser, data: Path) -> None:
    async with running(data, screen=PaintedScreen(1280, 720)) as rig, phone(browser, rig) as it:
        await it.context.route("**/screen.mjpg*", lambda route: None)  # as in a browser that shows nothing of it
        page = await it.paired()
        await page.click("#watch")
        await page.wait_for_function("() => document.getElementById('picture').naturalWidth > 0", timeout=15_000)
        rig.screen.frame[:] = (10, 200, 30)
        await becomes(lambda: shows(page, (10, 200, 30)))


async def shows(page: Page, colour: tuple[int, int, int]) -> bool:
    """Whether the middle of the picture on the phone has this colour, as nearly as JPEG keeps it."""
    shot = np.asarray(Image.open(io.BytesIO(await page.locator("#picture").screenshot())).convert("RGB"), np.int16)
    return bool(np.abs(shot[shot.shape[0] // 2, shot.shape[1] // 2] - colour).max() <= 12)


LATER_LOOKS = [("en", True), ("ar", False), ("de", False), ("de", True)]

# --- for everybody ---------------------------------------------------------------------------------------------------


LOOKS = [("en", False), ("ar", True), *(pytest.param(*look, marks=pytest.mark.full) for look in LATER_LOOKS)]


@pytest.mark.parametrize(("language", "dark"), LOOKS)
async def test_no_serious_accessibility_finding(browser: Browser, data: Path, language: str, dark: bool) -> None:
    axe = axe_source()
    scheme = "dark" if dark else "light"
    async with (
        running(data, screen=PaintedScreen()) as rig,
        phone(browser, rig, locale=language, color_scheme=scheme, reduced_motion="reduce") as it,
    ):

        async def check(where: str) -> None:
            await it.page.evaluate(axe)
            found = await it.page.evaluate("axe.run({resultTypes: ['violations']}).then((result) => result.violations)")
            serious = [
                (v["id"], [n["html"][:90] for n in v["nodes"]]) for v in found if v["impact"] in ("serious", "critical")
            ]
            assert serious == [], where

        await it.open()
        await expect(it.page.locator("#pair-form")).to_be_visible()
        await check("pairing")
        page = await it.paired()
        await check("idle")
        await page.click("#watch")
        a_turn(rig)
        show(rig, queued(2, "x"), StepStarted(turn="1", step=2), queued(3, "y"), queued(4, "z"))
        show(rig, StepFinished(turn="1", step=3, tool="t", status="failed", error="gone"))
        show(
            rig,
            StepFinished(turn="1", step=4, tool="t", status="refused", error="no"),
            question(),
        )
        await expect(page.locator(".question")).to_have_count(1)
        await check("turn")
        for button in ("#open-menu", "#open-history"):
            await page.click(button)
            await expect(page.locator("dialog[open]")).to_be_visible()
            await check(button)
            await page.keyboard.press("Escape")


SIZES = [
    (language, *size) for language in ("en", "de", "ar") for size in ((320, 100), (390, 200), (844, 100), (320, 200))
]
HARDEST = {("de", 320, 200), ("ar", 390, 200), ("en", 844, 100)}


@pytest.mark.parametrize(
    ("language", "width", "scale"),
    [size if size in HARDEST else pytest.param(*size, marks=pytest.mark.full) for size in SIZES],
)
async def test_everything_fits(browser: Browser, data: Path, language: str, width: int, scale: int) -> None:
    size = {"width": width, "height": 390 if width == 844 else 700}
    async with running(data, screen=PaintedScreen()) as rig, phone(browser, rig, locale=language, viewport=size) as it:
        grow = f"document.documentElement.style.fontSize = '{scale}%'; dispatchEvent(new Event('resize'))"
        page = await it.open()
        await page.evaluate(grow)
        await expect(page.locator("#pair-form")).to_be_visible()
        assert await it.overflow() == []
        page = await it.paired()
        await page.evaluate(grow)
        rig.assistant.open_questions.add("c1")
        a_turn(rig)
        show(rig, question())
        await expect(page.locator(".question")).to_have_count(1)
        assert await it.overflow() == []
        assert await page.evaluate("document.documentElement.dir") == ("rtl" if language == "ar" else "ltr")
        await expect(page.locator("#stop")).to_be_in_viewport(ratio=0.9 if width != 844 else 0)
        await page.click(".choice.no", timeout=5000)  # reachable, not under the bar
        await page.click("#stop")
        await until(lambda: rig.assistant.stops and rig.assistant.answers)
        await page.click("#open-menu")
        assert await it.overflow() == []


async def test_every_sentence_exists_in_every_language(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        await it.open()
        keys = await it.page.evaluate("""async () => {
          const flat = (table, at = "") => Object.entries(table).flatMap(([key, value]) =>
            typeof value === "string" ? [`${at}${key} ${[...value.matchAll(/\\{\\w+\\}/g)].sort()}`]
              : Array.isArray(value) ? [`${at}${key}[${value.length}]`] : flat(value, `${at}${key}.`));
          const load = async (name) => flat((await import(`/words-${name}.js`)).default).sort();
          return Promise.all(["en", "de", "ar"].map(load));
        }""")
        assert keys[0] == keys[1] == keys[2]
        used = set(re.findall(r'data-t(?:-\w+)?="(\w+)"', load(page_folder())["/"].body.decode()))
        assert used <= {key.split()[0].split(".")[0].split("[")[0] for key in keys[0]}


async def test_the_keyboard_reaches_everything(browser: Browser, data: Path) -> None:
    async with running(data, screen=PaintedScreen()) as rig, phone(browser, rig) as it:
        page = await it.paired()
        reached = set()
        for _ in range(20):
            await page.keyboard.press("Tab")
            reached.add(await page.evaluate("document.activeElement.id || document.activeElement.className"))
        assert {"skip", "open-history", "open-menu", "text", "watch", "talk", "stop"} <= reached


async def test_it_can_be_installed(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        await it.paired()
        client = await it.context.new_cdp_session(it.page)
        manifest = await client.send("Page.getAppManifest")
        assert manifest["errors"] == []
        await it.page.evaluate("navigator.serviceWorker.ready.then(() => 1)")
        assert (await client.send("Page.getInstallabilityErrors"))["installabilityErrors"] in (
            [],
            [{"errorId": "in-incognito", "errorArguments": []}],
        )


@pytest.mark.full
async def test_the_language_and_the_colours_can_be_chosen(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig, color_scheme="light") as it:
        page = await it.paired()
        await page.click("#open-menu")
        await page.select_option("#language", "ar")
        await expect(page.locator("#menu-title")).to_have_text("الإعدادات")
        await page.select_option("#theme", "dark")
        await page.reload()
        await it.state("live")
        await expect(page.locator("html")).to_have_attribute("dir", "rtl")
        await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
