"""What the server answers. Every handler reads its input through ``body`` and stands behind ``guard``."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import web

from anovax.companion import body, live, pages
from anovax.companion.devices import DeviceStore
from anovax.companion.guard import COOKIE, DEVICE
from anovax.companion.listener import Listener
from anovax.companion.mjpeg import WIDTHS, Screen, nearest_width
from anovax.companion.pairing import Desk
from anovax.companion.ports import AssistantPort
from anovax.companion.refusal import Refused
from anovax.companion.sse import Feed
from anovax.companion.streams import Sender, Streams

PUBLIC = frozenset({"/api/hello", "/api/pair", "/api/claim", "/ca.crt"})
COOKIE_S = 400 * 24 * 3600  # as long as browsers keep one
CLAIM_S = 10.0  # how long a phone's question for the laptop's answer is held
COMMANDS_PER_MINUTE = 30
UPLOADS = 4
HISTORY = 50
SLOW_S = 0.5
SNAPSHOT_S = 3.0
CAPTURE_S = 5.0
BOUNDARY = "anovax-frame"
# The next part's head follows each picture at once: browsers show a picture when the next part has begun, and would
# otherwise be one picture late. Its length cannot be known that early, so none is given.
PART = f"\r\n--{BOUNDARY}\r\nContent-Type: image/jpeg\r\n\r\n".encode()
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@dataclass
class Routes:
    """The handlers and what they need. ``ca`` gives the authority's certificate (DER)."""

    assistant: AssistantPort
    desk: Desk
    devices: DeviceStore
    feed: Feed
    screen: Screen | None
    streams: Streams
    listener: Callable[[], Listener]
    files: dict[str, pages.File]
    ca: Callable[[], bytes]
    _uploads: int = 0
    _commands: dict[str, deque[float]] = field(default_factory=dict)

    def table(self) -> list[web.RouteDef]:
        return [
            *(web.get(path, self.file, allow_head=False) for path in self.files),
            web.get("/ca.crt", self.certificate, allow_head=False),
            web.get("/api/hello", self.hello, allow_head=False),
            web.post("/api/pair", self.pair),
            web.post("/api/claim", self.claim),
            web.post("/api/forget", self.forget),
            web.get("/api/events", self.events, allow_head=False),
            web.get("/api/history", self.history, allow_head=False),
            web.post("/api/command", self.command),
            web.post("/api/audio", self.audio),
            web.post("/api/stop", self.stop),
            web.post("/api/consent", self.consent),
            web.get("/api/live", self.live, allow_head=False),
            web.get("/screen.mjpg", self.motion, allow_head=False),
            web.get("/screen.jpg", self.snapshot, allow_head=False),
        ]

    def public(self) -> frozenset[str]:
        return PUBLIC | frozenset(self.files)

    # --- open to strangers -----------------------------------------------------------------------------------------

    async def file(self, request: web.Request) -> web.Response:
        return pages.respond(request, self.files[request.path])

    async def certificate(self, request: web.Request) -> web.Response:
        headers = {"Content-Disposition": 'attachment; filename="anovax-ca.crt"'}
        return web.Response(body=self.ca(), content_type="application/x-x509-ca-cert", headers=headers)

    async def hello(self, request: web.Request) -> web.Response:
        """Is this phone paired, what time is it here, is there a screen to see."""
        device = request.get(DEVICE)
        known = {} if device is None else {"device": device.name, "screen": self.screen is not None}
        return web.json_response({"paired": device is not None, "now": time.time(), **known})

    async def pair(self, request: web.Request) -> web.Response:
        given = await body.read_json(request)
        code, name = given.get("code"), given.get("name")
        if not isinstance(code, str) or not isinstance(name, str):
            raise Refused(400, "malformed", "The code is missing", "type the code that the computer shows")
        claim = self.desk.knock(code, name[:200], request.remote or "")
        return web.json_response({"claim": claim}, status=202)

    async def claim(self, request: web.Request) -> web.Response:
        """Wait for the laptop's answer; once it is yes, the cookie."""
        claim = str((await body.read_json(request)).get("claim", ""))
        deadline = time.monotonic() + CLAIM_S
        while (result := self.desk.claim(claim))[0] == "waiting" and time.monotonic() < deadline:
            await self.desk.answered(0.5)
        response = web.json_response({"result": result[0]})
        response.force_close()  # a stranger's connection lives too briefly for a series of these
        if result[1] is not None:
            self._set_cookie(response, result[1], COOKIE_S)
        return response

    # --- for paired phones -----------------------------------------------------------------------------------------

    async def forget(self, request: web.Request) -> web.Response:
        """The phone unpairs itself."""
        self.devices.revoke(request[DEVICE].id)
        self.streams.end(request[DEVICE].id)
        response = web.json_response({"ok": True})
        self._set_cookie(response, "", 0)
        return response

    async def events(self, request: web.Request) -> web.StreamResponse:
        after = request.headers.get("Last-Event-ID") or request.query.get("after", "")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8", **STREAM_HEADERS})
        await response.prepare(request)
        with self.streams.track(request):
            await self.feed.send(Sender(request, response, self.listener()), after[:64])
        return response

    async def history(self, request: web.Request) -> web.Response:
        return web.json_response({"turns": list(self.assistant.history(HISTORY))})

    async def command(self, request: web.Request) -> web.Response:
        given = await body.read_json(request)
        text = body.text_of(given.get("text"))
        self._spend(request)
        return web.json_response({"turn": self.assistant.submit_text(text, request[DEVICE].name)}, status=202)

    async def audio(self, request: web.Request) -> web.Response:
        self._spend(request)
        if self._uploads >= UPLOADS:
            raise Refused(429, "busy", "Other recordings are being received", "try again in a moment", 2)
        self._uploads += 1
        try:
            data, mime = await body.read_audio(request)
            heard = await self.assistant.submit_audio(data, mime, request[DEVICE].name)
        finally:
            self._uploads -= 1
        return web.json_response({"heard": heard}, status=202)

    async def stop(self, request: web.Request) -> web.Response:
        """Never limited: stop always gets through."""
        self.assistant.stop("phone")
        return web.json_response({"ok": True}, status=202)

    async def consent(self, request: web.Request) -> web.Response:
        given = await body.read_json(request)
        allow = body.flag_of(given.get("allow"))
        if not self.assistant.answer_consent(body.text_of(given.get("consent"), 100), allow, "phone"):
            raise Refused(409, "consent_over", "This question is not open any more")
        return web.json_response({"ok": True})

    async def live(self, request: web.Request) -> web.StreamResponse:
        with self.streams.track(request):
            return await live.serve(request, self.assistant)

    async def snapshot(self, request: web.Request) -> web.Response:
        screen = self._screen()
        with screen.watch(request[DEVICE].id, SNAPSHOT_S):
            try:
                async with asyncio.timeout(CAPTURE_S):
                    picture = await screen.next(_width(request))
            except TimeoutError:
                raise Refused(503, "no_screen", "The screen cannot be captured now") from None
        return web.Response(body=picture.jpeg, content_type="image/jpeg", headers=STREAM_HEADERS)

    async def motion(self, request: web.Request) -> web.StreamResponse:
        screen = self._screen()
        kind = f"multipart/x-mixed-replace; boundary={BOUNDARY}"
        response = web.StreamResponse(headers={"Content-Type": kind, **STREAM_HEADERS})
        await response.prepare(request)
        send = Sender(request, response, self.listener())
        with self.streams.track(request), screen.watch(request[DEVICE].id):
            await send(PART)
            await _pictures(screen, send, _width(request))
        return response

    # --- small parts -----------------------------------------------------------------------------------------------

    def _screen(self) -> Screen:
        if self.screen is None:
            raise Refused(404, "screen_off", "The screen is not shared", "set companion.screen to true on the computer")
        return self.screen

    def _spend(self, request: web.Request) -> None:
        """At most so many commands per minute and phone."""
        now, times = time.monotonic(), self._commands.setdefault(request[DEVICE].id, deque(maxlen=COMMANDS_PER_MINUTE))
        if len(times) == COMMANDS_PER_MINUTE and now - times[0] < 60:
            raise Refused(429, "too_many", "Too many commands at once", "wait a moment", 60 - (now - times[0]))
        times.append(now)
        while len(self._commands) > 64:
            self._commands.pop(next(iter(self._commands)))

    @staticmethod
    def _set_cookie(response: web.Response, token: str, seconds: int) -> None:
        response.set_cookie(COOKIE, token, max_age=seconds, path="/", secure=True, httponly=True, samesite="Strict")


async def _pictures(screen: Screen, send: Sender, wanted: int) -> None:
    """Send pictures for ever; coarser ones while the phone takes them slowly."""
    number, quick, size, again = 0, 0, WIDTHS.index(wanted), False
    while not send.gone:
        try:
            async with asyncio.timeout(2):  # to see whether the phone is still there
                picture = await screen.next(WIDTHS[size], number, again)
        except TimeoutError:
            again = True
            continue
        again = False
        began, number = time.monotonic(), picture.number
        await send(picture.jpeg + PART)
        slow = time.monotonic() - began > SLOW_S
        quick = 0 if slow else quick + 1
        if slow:
            size = max(0, size - 1)
        elif quick % 50 == 0:
            size = min(size + 1, WIDTHS.index(wanted))


def _width(request: web.Request) -> int:
    """From ``?width=``: the pixels across that the phone shows."""
    width = request.query.get("width", "")
    return nearest_width(int(width) if width.isascii() and width.isdecimal() and len(width) < 6 else 1280)
