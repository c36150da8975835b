"""What happens to people with phones: impatient taps, a headset unplugged, another app in between, a clock set."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from companion_browser import phone
from companion_rig import PaintedScreen, running, until
from playwright.async_api import Browser, Page, expect

from anovax.companion.pages import load, page_folder
from anovax.companion.sse import Feed
from anovax.events import ConsentAnswered, ConsentAsked, StepQueued, StepStarted, TurnStarted

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(60)]

SLOW_MICROPHONE = """() => {
  window.opened = []; window.asked = 0;
  const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  const wait = new Promise((resolve) => { window.permit = resolve; });
  navigator.mediaDevices.getUserMedia = async (wish) => {
    window.asked += 1;
    await wait;
    const stream = await real(wish);
    window.opened.push(stream);
    return stream;
  };
}"""
LIVE_TRACKS = "() => window.opened.flatMap((s) => s.getTracks()).filter((t) => t.readyState === 'live').length"


async def hide(page: Page, hidden: bool) -> None:
    """As when another app comes to the front, and goes again."""
    await page.evaluate(
        """(hidden) => {
          Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )


async def test_taps_while_the_browser_asks_for_the_microphone_make_one_recording(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired()
        await page.evaluate(SLOW_MICROPHONE)
        for _ in range(5):  # on, off, on, off, on
            await page.click("#talk")
        assert await page.evaluate("window.asked") == 3
        await page.evaluate("window.permit()")
        await page.wait_for_function("() => window.opened.length === 3")
        await page.wait_for_function(f"() => ({LIVE_TRACKS})() === 1")  # the other two were let go
        await page.wait_for_timeout(600)
        await page.click("#talk")
        await until(lambda: rig.assistant.recordings)
        await page.wait_for_function(f"() => ({LIVE_TRACKS})() === 0")
        await expect(page.locator("#talk-text")).to_have_text("Hold to talk")
        assert len(rig.assistant.recordings) == 1


@pytest.mark.full
async def test_a_press_right_after_the_last_one_does_not_mix_recordings(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired()
        await page.click("#talk")
        await page.wait_for_timeout(700)
        await page.evaluate("""() => {  // the first press ends it, two more come too early
          const talk = document.getElementById("talk");
          for (const kind of ["keydown", "keyup", "keydown", "keyup", "keydown", "keyup"]) {
            talk.dispatchEvent(new KeyboardEvent(kind, { key: " " }));
          }
        }""")
        await until(lambda: rig.assistant.recordings)
        await expect(page.locator("#talk")).to_have_attribute("aria-pressed", "false")
        assert len(rig.assistant.recordings) == 1


@pytest.mark.full
async def test_an_unplugged_microphone_ends_the_recording_and_what_was_said_is_sent(
    browser: Browser, data: Path
) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired()
        await page.evaluate(SLOW_MICROPHONE)
        await page.evaluate("window.permit()")
        await page.click("#talk")
        await page.wait_for_function("() => window.opened.length === 1")
        await page.wait_for_timeout(700)
        await page.evaluate("() => window.opened[0].getTracks().forEach((track) => track.stop())")
        await until(lambda: rig.assistant.recordings)
        await expect(page.locator("#talk")).to_have_attribute("aria-pressed", "false")


async def test_looking_for_the_code_in_another_app_does_not_end_pairing(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.open()
        await page.fill("#pair-code", rig.offer().pin)
        await page.click("#pair-form button")
        await expect(page.locator("#pair-status")).to_contain_text("allow")
        await hide(page, True)
        await hide(page, False)
        await page.evaluate("dispatchEvent(new Event('offline')); dispatchEvent(new Event('online'))")
        await page.wait_for_timeout(300)
        await expect(page.locator("#pair-status")).to_contain_text("allow")  # not "not paired any more"
        await it.answer_on_the_laptop(True)
        await it.state("live")


async def test_a_double_tap_asks_once(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired()
        await page.evaluate("""() => {
          const [quick, text, form] = [document.querySelector("#quick button"), document.getElementById("text"),
            document.getElementById("ask")];
          quick.click(); quick.click();
          text.value = "open the calculator";
          form.requestSubmit(); form.requestSubmit();
        }""")
        await expect(page.locator("#text")).to_have_value("")
        assert rig.assistant.texts == [("What time is it?", "Pixel"), ("open the calculator", "Pixel")]
        await page.wait_for_timeout(1100)
        await page.click("#quick button >> nth=0")  # meant
        await until(lambda: len(rig.assistant.texts) == 3)


async def test_an_answered_question_opens_no_keyboard(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired()
        rig.assistant.open_questions.add("c")
        rig.bus.publish(TurnStarted(turn="1", text="delete it", source="phone"))
        rig.bus.publish(ConsentAsked(turn="1", consent="c", step=0, exact="rm x", reason="", expires_s=20))
        await page.click(".choice.no")
        rig.bus.publish(ConsentAnswered(turn="1", consent="c", answer="denied", by="phone"))
        await expect(page.locator(".question")).to_have_count(0)
        assert await page.evaluate("document.activeElement.id") in ("turn", "")


async def test_escape_closes_the_large_picture_and_stops_nothing(browser: Browser, data: Path) -> None:
    async with running(data, screen=PaintedScreen()) as rig, phone(browser, rig) as it:
        page = await it.paired()
        rig.bus.publish(TurnStarted(turn="1", text="type", source="phone"))
        await expect(page.locator("#heard-text")).to_have_text("type")
        await page.click("#watch")
        await expect(page.locator("#picture-note")).to_be_empty()
        await page.focus("#enlarge")
        await page.keyboard.press("Enter")
        await expect(page.locator("#screen")).to_have_class("screen big")
        await page.keyboard.press("Escape")
        await expect(page.locator("#screen")).to_have_class("screen")
        await page.wait_for_timeout(200)
        assert rig.assistant.stops == []
        await page.keyboard.press("Escape")
        await until(lambda: rig.assistant.stops == ["phone"])


@pytest.mark.full
async def test_a_revoked_phone_asks_for_no_more_pictures(browser: Browser, data: Path) -> None:
    async with running(data, screen=PaintedScreen()) as rig, phone(browser, rig) as it:
        page = await it.paired("Lost")
        await page.click("#watch")
        await expect(page.locator("#picture-note")).to_be_empty()
        rig.server.devices.revoke("Lost")
        await it.state("unpaired")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        await page.wait_for_timeout(2500)  # a broken picture is asked for again after two seconds
        assert asked == []
        it.errors.clear()


async def test_a_clock_that_is_set_meanwhile_does_not_hide_a_question(
    browser: Browser, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Feed.send, "__defaults__", ("", 0.3))  # the heart beats faster
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired()
        await page.evaluate("() => { const real = Date.now; Date.now = () => real() + 3_600_000; }")
        await expect(page.locator("#trouble")).to_contain_text("clock")
        rig.bus.publish(TurnStarted(turn="1", text="delete it", source="phone"))
        rig.bus.publish(ConsentAsked(turn="1", consent="c", step=0, exact="rm x", reason="", expires_s=20))
        await expect(page.locator(".question")).to_have_count(1)
        await expect(page.locator(".question .left")).to_contain_text("20 seconds")


async def test_clocks_that_tick_before_the_cards_are_drawn(browser: Browser, data: Path) -> None:
    """On a busy phone the clocks' timer may come between an event and the drawing of its card."""
    async with running(data) as rig, phone(browser, rig) as it:
        await it.context.add_init_script("requestAnimationFrame = (draw) => { window.drawLater = draw; return 1; }")
        page = await it.paired()
        rig.bus.publish(TurnStarted(turn="1", text="type", source="phone"))
        rig.bus.publish(StepQueued(turn="1", step=0, agent="Typing", tool="type_text", args={}, label="Type"))
        rig.bus.publish(StepStarted(turn="1", step=0))
        await page.wait_for_function("() => window.drawLater")
        await page.wait_for_timeout(600)  # two ticks
        await page.evaluate("() => window.drawLater()")
        await expect(page.locator("#cards > li")).to_have_attribute("data-state", "running")


async def test_the_service_worker_knows_every_file_that_the_page_loads(browser: Browser, data: Path) -> None:
    async with running(data) as rig, phone(browser, rig) as it:
        page = await it.paired()
        await page.evaluate("navigator.serviceWorker.ready.then(() => 1)")
        kept = await page.evaluate(
            "async () => (await (await caches.open((await caches.keys())[0])).keys()).map((r) => r.url)"
        )
        needed = {path for path in load(page_folder()) if path.endswith((".js", ".css", ".webmanifest", ".svg"))}
        assert {rig.origin + path for path in needed - {"/sw.js"}} <= set(kept)
