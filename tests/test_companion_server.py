"""The companion's server from the outside: pairing, commands, events, streams, revocation, shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import io
import json
import os
import socket
import ssl
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import psutil
import pytest
from companion_rig import HOSTS, Events, PaintedScreen, Rig, ends, request, running, until

from anovax.companion import pairing
from anovax.companion.devices import DeviceStore
from anovax.companion.server import CompanionServer
from anovax.config import CompanionConfig
from anovax.errors import CompanionError
from anovax.events import (
    DeviceAsked,
    Noticed,
    PartialTranscribed,
    ScreenWatched,
    StepQueued,
    TurnFinished,
    TurnStarted,
)


async def test_the_whole_pairing_ceremony(tmp_path: Path) -> None:
    async with running(tmp_path) as rig, rig.session() as web:
        asked: list[DeviceAsked] = []
        seen = rig.bus.subscribe()
        assert (await (await web.get("/api/hello")).json())["paired"] is False
        offer = rig.offer()
        reply = await web.post("/api/pair", json={"code": offer.code, "name": "Pixel"})
        assert reply.status == 202
        claim = (await reply.json())["claim"]
        while (event := seen.get(1)) is not None:
            if isinstance(event, DeviceAsked):
                asked.append(event)
                break
        assert [(a.name, a.address) for a in asked] == [("Pixel", "127.0.0.1")]
        assert rig.server.approve(asked[0].request, True)
        reply = await web.post("/api/claim", json={"claim": claim})
        assert (await reply.json())["result"] == "allowed"
        cookie = reply.headers["Set-Cookie"]
        for needed in ("__Host-anovax=", "HttpOnly", "Secure", "SameSite=Strict", "Path=/"):
            assert needed in cookie
        token = cookie.split("=", 1)[1].split(";")[0]
        assert rig.server.devices.find(token) is not None


async def test_the_pin_can_be_typed_with_its_space(tmp_path: Path) -> None:
    async with running(tmp_path) as rig, rig.session() as web:
        offer = rig.offer()
        assert (await web.post("/api/pair", json={"code": offer.pin, "name": "x"})).status == 202


async def test_another_process_can_approve_and_see_who_asks(tmp_path: Path) -> None:
    async with running(tmp_path) as rig, rig.session() as web:
        offer = rig.offer()
        claim = (await (await web.post("/api/pair", json={"code": offer.code, "name": "iPad"})).json())["claim"]
        (asked,) = pairing.waiting(rig.pairing)
        assert asked.name == "iPad"
        pairing.answer(rig.pairing, asked.request, True)
        assert (await (await web.post("/api/claim", json={"claim": claim})).json())["result"] == "allowed"
        assert [d.name for d in rig.server.devices.list()] == ["iPad"]
        assert not list((rig.pairing / "answers").iterdir())


async def test_a_denied_phone_gets_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as rig, rig.session() as web:
        claim = (await (await web.post("/api/pair", json={"code": rig.offer().code, "name": "x"})).json())["claim"]
        pairing.answer(rig.pairing, pairing.waiting(rig.pairing)[0].request, False)
        reply = await web.post("/api/claim", json={"claim": claim})
        assert (await reply.json())["result"] == "denied"
        assert "Set-Cookie" not in reply.headers
        assert rig.server.devices.list() == ()


async def test_commands_reach_the_assistant_with_the_phones_name(tmp_path: Path) -> None:
    async with running(tmp_path) as rig, rig.session(rig.pair("Pixel")) as web:
        reply = await web.post("/api/command", json={"text": "  open\tthe \x07calculator\n"})
        assert reply.status == 202
        assert (await reply.json())["turn"] == "t1"
        assert rig.assistant.texts == [("open the calculator", "Pixel")]
        await web.post("/api/stop")
        assert rig.assistant.stops == ["phone"]


async def test_a_recording_arrives_whole(tmp_path: Path) -> None:
    async with running(tmp_path) as rig, rig.session(rig.pair()) as web:
        reply = await web.post(
            "/api/audio", data=io.BytesIO(b"x" * 3_000_000), headers={"Content-Type": "audio/webm;codecs=opus"}
        )
        assert reply.status == 202
        assert rig.assistant.recordings == [(3_000_000, "audio/webm", "Pixel")]


async def test_an_unreadable_recording_gives_one_sentence(tmp_path: Path) -> None:
    async with running(tmp_path) as rig, rig.session(rig.pair()) as web:
        reply = await web.post("/api/audio", data=b"junk", headers={"Content-Type": "audio/mp4"})
        assert reply.status == 422
        assert (await reply.json())["sentence"] == "The recording cannot be read; record it again."


async def test_consent_is_answered_once(tmp_path: Path) -> None:
    async with running(tmp_path) as rig, rig.session(rig.pair()) as web:
        rig.assistant.open_questions.add("c1")
        assert (await web.post("/api/consent", json={"consent": "c1", "allow": False})).status == 200
        late = await web.post("/api/consent", json={"consent": "c1", "allow": True})
        assert late.status == 409
        assert rig.assistant.answers == [("c1", False, "phone")]


async def test_history_comes_from_the_assistant(tmp_path: Path) -> None:
    async with running(tmp_path) as rig, rig.session(rig.pair()) as web:
        assert (await (await web.get("/api/history")).json())["turns"][0]["said"] == "Noon."


async def test_events_flow_and_resume(tmp_path: Path) -> None:
    async with running(tmp_path) as rig, rig.session(rig.pair()) as web:
        async with web.get("/api/events") as response:
            events = Events(response)
            name, data = await events.next()
            assert (name, data["state"]) == ("resync", {"muted": False, "screen": False})
            rig.bus.publish(TurnStarted(turn="1", text="hello", source="phone"))
            rig.bus.publish(PartialTranscribed(turn="1", text="he"))
            got = [(await events.next())[1]["kind"] for _ in range(2)]
            assert got == ["TurnStarted", "PartialTranscribed"]
            last = events.last
        rig.bus.publish(TurnFinished(turn="1", said="Hi", ms=1, ok=True))
        async with web.get("/api/events", params={"after": last}) as response:
            assert (await Events(response).next())[1]["said"] == "Hi"
        async with web.get("/api/events", headers={"Last-Event-ID": last}) as response:
            assert (await Events(response).next())[1]["said"] == "Hi"


async def test_a_new_phone_gets_the_current_turn_from_its_start(tmp_path: Path) -> None:
    async with running(tmp_path) as rig, rig.session(rig.pair()) as web:
        for turn in ("1", "2"):
            rig.bus.publish(TurnStarted(turn=turn, text=f"request {turn}", source="text"))
            rig.bus.publish(StepQueued(turn=turn, step=0, agent="a", tool="t", args={}, label="l"))
        await asyncio.sleep(0.05)
        async with web.get("/api/events") as response:
            events = Events(response)
            assert (await events.next())[0] == "resync"
            assert [(await events.next())[1]["turn"] for _ in range(2)] == ["2", "2"]


async def test_pairing_requests_are_not_shown_to_phones(tmp_path: Path) -> None:
    async with running(tmp_path) as rig, rig.session(rig.pair()) as web, web.get("/api/events") as response:
        events = Events(response)
        await events.next()
        rig.bus.publish(DeviceAsked(request="1", name="x", address="10.0.0.9"))
        rig.bus.publish(Noticed(text="after"))
        assert (await events.next())[1]["kind"] == "Noticed"


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_revoking_ends_open_streams_within_a_second(tmp_path: Path, elsewhere: bool) -> None:
    async with running(tmp_path, screen=PaintedScreen()) as rig, rig.session(rig.pair("Lost")) as web:
        async with (
            web.get("/api/events") as events,
            web.get("/screen.mjpg") as screen,
            web.ws_connect("/api/live") as live,
        ):
            await events.content.readline()
            await screen.content.read(10)
            began = time.monotonic()
            if elsewhere:
                code = (
                    "import sys; from pathlib import Path; from anovax.companion.devices import DeviceStore;"
                    "DeviceStore(Path(sys.argv[1])).revoke('Lost')"
                )
                folder = str(tmp_path / "companion" / "devices")
                await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code, folder], check=True)
                began = time.monotonic()
            else:
                rig.server.devices.revoke("Lost")
            for stream in (events, screen):
                await ends(stream)
            assert (await live.receive(timeout=3)).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
            assert time.monotonic() - began < 1
        assert (await web.get("/api/history")).status == 401


async def test_revoking_a_phone_that_takes_nothing_frees_its_place(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        stuck = await _behind(rig)
        rig.server.devices.revoke("stalled")
        await until(lambda: rig.server.connections == 0 and not rig.server.backlog())
        stuck.close()


async def test_a_phone_can_forget_itself(tmp_path: Path) -> None:
    async with running(tmp_path) as rig, rig.session(rig.pair()) as web:
        assert (await web.post("/api/forget")).status == 200
        assert rig.server.devices.list() == ()
        assert (await web.get("/api/history")).status == 401


async def test_the_screen_is_off_by_default(tmp_path: Path) -> None:
    async with running(tmp_path) as rig, rig.session(rig.pair()) as web:
        reply = await web.get("/screen.jpg")
        assert reply.status == 404
        assert "companion.screen" in (await reply.json())["sentence"]


async def test_a_watched_screen_is_shown_on_the_laptop(tmp_path: Path) -> None:
    async with running(tmp_path, screen=PaintedScreen()) as rig, rig.session(rig.pair()) as web:
        seen = rig.bus.subscribe()
        async with web.get("/screen.mjpg") as response:
            assert await response.content.readuntil(b"\xff\xd9\r\n--anovax-frame\r\n")
        await until(lambda: rig.server.watchers == 0, 10)
        counts = []
        while (event := seen.get(0.1)) is not None:
            if isinstance(event, ScreenWatched):
                counts.append(event.watchers)
        assert counts == [1, 0]


async def test_shutdown_with_open_streams_is_quick(tmp_path: Path) -> None:
    async with running(tmp_path, screen=PaintedScreen()) as rig, rig.session(rig.pair()) as web:
        streams = [await web.get(path) for path in ("/api/events", "/screen.mjpg", "/api/events")]
        socket = await web.ws_connect("/api/live")
        claiming = asyncio.create_task(web.post("/api/claim", json={"claim": "x"}))
        stuck = await _behind(rig)
        began = time.monotonic()
        await rig.server.close()
        assert time.monotonic() - began < 1
        await rig.server.close()
        for stream in streams:
            stream.close()
        stuck.close()
        await socket.close()
        await asyncio.gather(claiming, return_exceptions=True)


async def test_partial_transcripts_come_while_speaking(tmp_path: Path) -> None:
    async with running(tmp_path) as rig, rig.session(rig.pair()) as web, web.ws_connect("/api/live") as live:
        for _ in range(10):
            await live.send_bytes(b"\0\1" * 1600)
        assert await live.receive_json(timeout=5) == {"partial": "heard 16000"}


async def test_it_is_off_and_on_loopback_until_the_user_opens_the_lan(tmp_path: Path) -> None:
    assert (CompanionConfig().enabled, CompanionConfig().lan, CompanionConfig().screen) == (False, False, False)
    for lan, address in ((False, "127.0.0.1"), (True, "0.0.0.0")):
        async with running(tmp_path, lan=lan) as rig:
            mine = psutil.Process().net_connections("inet")
            assert {c.laddr.ip for c in mine if c.status == "LISTEN" and c.laddr.port == rig.server.port} == {address}


async def test_snapshots_one_after_the_other_are_one_watcher(tmp_path: Path) -> None:
    """A browser that shows no stream asks for one picture after the other: that is no news each time."""
    async with running(tmp_path, screen=PaintedScreen()) as rig, rig.session(rig.pair()) as web:
        seen = rig.bus.subscribe()
        for _ in range(6):
            assert (await web.get("/screen.jpg")).status == 200
        async with rig.session(rig.pair("Tablet")) as other:
            assert (await other.get("/screen.jpg")).status == 200
        counts = [e.watchers for e in iter(lambda: seen.get(0.1), None) if isinstance(e, ScreenWatched)]
        assert counts == [1, 2]


async def test_a_full_disk_does_not_end_the_watch_for_revoked_phones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with running(tmp_path) as rig, rig.session(rig.pair("Lost")) as web, rig.session() as stranger:
        await stranger.post("/api/pair", json={"code": rig.offer().code, "name": "x"})
        pairing.answer(rig.pairing, pairing.waiting(rig.pairing)[0].request, True)
        monkeypatch.setattr("anovax.companion.pairing.write_json", full)
        async with web.get("/api/events") as events:
            await asyncio.sleep(0.6)  # two looks
            rig.server.devices.revoke("Lost")
            await ends(events)
        monkeypatch.undo()


async def test_a_port_that_is_taken_gives_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        rig = Rig(tmp_path, port=port)
        with pytest.raises(CompanionError, match=f"^Port {port} is taken by another program; .*companion.port.$"):
            await rig.server.start()


async def test_a_new_address_gets_a_certificate_without_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anovax.companion.server.NETWORK_S", 0.05)
    hosts = [*HOSTS]
    rig = Rig(tmp_path)
    server = CompanionServer(
        CompanionConfig(lan=False).model_copy(update={"port": 0}),
        tmp_path,
        rig.bus,
        rig.assistant,
        None,
        hosts=lambda lan: tuple(hosts),
    )
    seen = rig.bus.subscribe()
    await server.start()
    try:
        rig.server = server
        hosts.append("127.0.0.2")
        await asyncio.sleep(0.3)
        connector = aiohttp.TCPConnector(ssl=rig.context())
        async with aiohttp.ClientSession(connector=connector) as web:
            url = f"https://localhost:{server.port}/api/hello"
            assert (await web.get(url)).status == 200
        _, writer = await asyncio.open_connection(  # the running server shows the new certificate
            "127.0.0.1", server.port, ssl=rig.context(), server_hostname="127.0.0.2"
        )
        writer.transport.abort()
        hosts.remove("127.0.0.2")
        await asyncio.sleep(0.3)
    finally:
        await server.close()
    said = []
    while (event := seen.get(0.05)) is not None:
        if isinstance(event, Noticed):
            said.append(event.text)
    assert any("renewed for 127.0.0.1, 127.0.0.2, localhost" in text for text in said)
    assert any("lost its network address" in text or "is gone" in text for text in said)


async def test_devices_survive_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        token = rig.pair("Pixel")
    async with running(tmp_path) as rig, rig.session(token) as web:
        assert (await (await web.get("/api/hello")).json())["device"] == "Pixel"
    assert DeviceStore(tmp_path / "companion" / "devices").list()[0].name == "Pixel"


async def test_anovax_pair_and_devices_in_processes_of_their_own(tmp_path: Path) -> None:
    async with running(tmp_path) as rig, rig.session() as web:
        port = str(rig.server.port)
        settings = {
            "ANOVAX_DATA_DIR": str(tmp_path),
            "ANOVAX_COMPANION__ENABLED": "true",
            "ANOVAX_COMPANION__PORT": port,
        }
        settings = {**os.environ, **settings}
        pair = await _anovax(settings, "pair", "--json", "--yes")
        assert pair.stdout is not None
        shown = json.loads(await pair.stdout.readline())
        assert shown["fingerprint"] == rig.server.authority.fingerprint()
        assert shown["url"].startswith(f"https://127.0.0.1:{port}/#pair=")
        reply = await web.post("/api/pair", json={"code": shown["pin"], "name": "Ada's phone"})
        claim = (await reply.json())["claim"]
        assert (await (await web.post("/api/claim", json={"claim": claim})).json())["result"] == "allowed"
        assert await pair.wait() == 0
        out, _ = await (await _anovax(settings, "devices", "--revoke", "Ada's phone", "--json")).communicate()
        assert json.loads(out)["name"] == "Ada's phone"
        await until(lambda: rig.server.devices.list() == ())


async def _anovax(environment: dict[str, str], *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "anovax", *arguments, env=environment, stdout=asyncio.subprocess.PIPE
    )


class _SetClock:
    """The time module with a wall clock that can be set."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic()

    def time(self) -> float:
        return time.time() + self.ahead


async def test_a_clock_that_is_set_renews_the_certificate_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, days = _SetClock(), 80
    monkeypatch.setattr("anovax.companion.server.time", clock)
    monkeypatch.setattr("anovax.companion.server.NETWORK_S", 0.05)
    async with running(tmp_path) as rig:
        serial = certificate_of(rig)
        await asyncio.sleep(0.2)
        assert certificate_of(rig) == serial
        rig.server.authority._fixed_now = datetime.now(UTC) + timedelta(days=days)
        clock.ahead = days * 86400.0
        await until(lambda: certificate_of(rig) != serial)


async def test_an_ageing_certificate_is_renewed_while_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anovax.companion.server.NETWORK_S", 0.05)
    monkeypatch.setattr("anovax.companion.server.CERTIFICATE_S", 0.1)
    async with running(tmp_path) as rig:
        serial = certificate_of(rig)
        await asyncio.sleep(0.3)
        assert certificate_of(rig) == serial
        rig.server.authority._fixed_now = datetime.now(UTC) + timedelta(days=61)
        await until(lambda: certificate_of(rig) != serial)
        shown = await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", rig.server.port))
        assert shown.strip() in certificate_of(rig)  # new connections get it


def certificate_of(rig: Rig) -> str:
    return (rig.folder / "companion" / "tls" / "server.pem").read_text()


@pytest.mark.parametrize("goodbye", [True, False])
async def test_a_phone_that_goes_in_the_middle_of_a_write_is_no_error(tmp_path: Path, goodbye: bool) -> None:
    """It takes what it can and closes, with or without TLS's goodbye, while more is waiting for it."""
    troubles: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: troubles.append(context["message"]))
    async with running(tmp_path) as rig:
        for _ in range(3):
            phone = await _behind(rig)
            _drain(phone)  # the server's loop stands still meanwhile
            phone.setblocking(False)
            with contextlib.suppress(OSError):
                phone.unwrap() if goodbye else phone.shutdown(socket.SHUT_RDWR)
            phone.close()
            await until(lambda: rig.server.connections == 0)
    assert troubles == []


async def _behind(rig: Rig) -> ssl.SSLSocket:
    """A phone that takes nothing, and for which something waits."""
    phone = await asyncio.to_thread(_asked, rig)
    while not rig.server.backlog():
        rig.bus.publish(Noticed(text="x" * 20_000))
        await asyncio.sleep(0.001)
    return phone


def _asked(rig: Rig) -> ssl.SSLSocket:
    """Asks for events and then never reads."""
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.connect(("127.0.0.1", rig.server.port))
    secured = rig.context().wrap_socket(plain, server_hostname="localhost")
    secured.sendall(request(rig, "GET /api/events", f"Cookie: __Host-anovax={rig.pair('stalled')}"))
    return secured


def _drain(phone: ssl.SSLSocket) -> None:
    """Take what the system has, as it is."""
    with socket.socket(fileno=os.dup(phone.fileno())) as plain:
        plain.settimeout(0.2)
        with contextlib.suppress(TimeoutError):
            while plain.recv(1 << 20):
                pass
