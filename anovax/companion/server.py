"""The companion's server: builds the parts, keeps certificate, network and revocations up to date, ends quickly."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
import time
from collections.abc import Callable
from pathlib import Path

from aiohttp import web

from anovax.bus import Bus
from anovax.companion import network, pages
from anovax.companion.devices import DeviceStore
from anovax.companion.guard import Guard, add_security_headers
from anovax.companion.listener import Listener
from anovax.companion.mjpeg import Screen
from anovax.companion.pairing import Asked, Desk
from anovax.companion.ports import AssistantPort, ScreenPort
from anovax.companion.routes import Routes
from anovax.companion.sse import Feed
from anovax.companion.streams import Streams
from anovax.companion.tls import Authority, certificate_names
from anovax.config import CompanionConfig
from anovax.errors import AnovaxError, CompanionError
from anovax.events import DeviceAsked, Event, Noticed, ScreenWatched, StepFinished, StepStarted

LOOK_S = 0.25  # for revoked phones and answers from other processes
NETWORK_S = 5.0
CERTIFICATE_S = 3600.0
CLOCK_S = 60.0  # a jump of the clock by this much is a reason to look at the certificate
REQUEST_BUFFER = 64 * 1024


class CompanionServer:
    """Serves one page, one event stream and one picture to paired phones. Made, started and closed on one event loop.

    ``hosts`` gives the allowed Host names; a parameter for tests, as is ``page_dir`` (None finds the page).
    """

    def __init__(
        self,
        config: CompanionConfig,
        data_dir: Path,
        bus: Bus,
        assistant: AssistantPort,
        screen: ScreenPort | None,
        page_dir: Path | None = None,
        hosts: Callable[[bool], tuple[str, ...]] = network.host_names,
    ) -> None:
        self._config = config
        self._bus = bus
        self._assistant = assistant
        self._screen_port = screen if config.screen else None
        self._page_dir = page_dir or pages.page_folder()
        self._find_hosts = hosts
        self.folder = data_dir / "companion"
        self.authority = Authority(self.folder / "tls")
        self.devices = DeviceStore(self.folder / "devices")
        self._hosts: tuple[str, ...] = ()
        self._context: ssl.SSLContext | None = None
        self._listener: Listener | None = None
        self._desk: Desk | None = None
        self._feed: Feed | None = None
        self._screen: Screen | None = None
        self._streams = Streams()
        self._runner: web.AppRunner | None = None
        self._chores: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Listen. CompanionError in one sentence when the port, the address or the certificate cannot be had."""
        try:
            self._hosts = self._find_hosts(self._config.lan)
            self._renew()
            self._context = self.authority.context()
            self._build()
            await self._open()
        except BaseException:
            await self.close()
            raise
        self._chores = [
            asyncio.create_task(self._watch_files(), name="companion-files"),
            asyncio.create_task(self._watch_network(), name="companion-network"),
        ]
        if self._config.lan and not self._lan():
            self._notice("This computer has no network address now; phones reach it once it is connected.", "warning")

    async def close(self) -> None:
        """End all streams, then the server; well under a second. Safe twice."""
        for chore in self._chores:
            chore.cancel()
        await asyncio.gather(*self._chores, return_exceptions=True)
        self._chores = []
        await self._streams.close()
        if self._listener is not None:
            await self._listener.close()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        if self._screen is not None:
            await self._screen.close()
        if self._feed is not None:
            await self._feed.close()

    def approve(self, request: str, allow: bool) -> bool:
        """The laptop's answer to DeviceAsked; False when nobody waits under that id any more."""
        return self._desk is not None and self._desk.approve(request, allow)

    @property
    def port(self) -> int:
        return self._listener.port if self._listener is not None else self._config.port

    @property
    def url(self) -> str:
        """Where phones find the page: the LAN address if there is one."""
        return f"https://{(self._lan() or ('127.0.0.1',))[0]}:{self.port}/"

    @property
    def connections(self) -> int:
        return self._listener.count if self._listener is not None else 0

    def backlog(self) -> int:
        """Bytes that wait for the slowest phone."""
        return self._listener.backlog() if self._listener is not None else 0

    @property
    def watchers(self) -> int:
        return self._screen.watchers if self._screen is not None else 0

    # --- building --------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self._desk = Desk(self.folder / "pairing", self.devices, self._ask)
        self._feed = Feed(self._bus, self._state, heard=self._look_up)
        if self._screen_port is not None:
            self._screen = Screen(
                self._screen_port,
                self._config.screen_fps,
                self._config.exclude_windows,
                lambda count: self._bus.publish(ScreenWatched(watchers=count)),
                lambda sentence: self._notice(sentence, "warning"),
            )

    async def _open(self) -> None:
        if self._desk is None or self._feed is None or self._context is None:
            raise RuntimeError("not built")
        files = pages.load(self._page_dir)
        routes = Routes(
            self._assistant,
            self._desk,
            self.devices,
            self._feed,
            self._screen,
            self._streams,
            self._the_listener,
            files,
            self.authority.ca_der,
        )
        guard = Guard(lambda: self._hosts, lambda: self.port, self.devices, routes.public(), self._trust)
        app = web.Application(middlewares=[guard.middleware()], client_max_size=REQUEST_BUFFER)
        app.on_response_prepare.append(add_security_headers)
        app.add_routes(routes.table())
        self._runner = web.AppRunner(
            app,
            access_log=None,
            logger=_quiet_log(),
            shutdown_timeout=0.2,
            keepalive_timeout=30,
            lingering_time=0,
            auto_decompress=False,
            read_bufsize=REQUEST_BUFFER,
            max_line_size=4096,
            max_field_size=4096,
            max_headers=64,
        )
        await self._runner.setup()
        self._feed.start()
        self._listener = Listener(self._context, self._protocol)
        self._listener.open(("0.0.0.0",) if self._config.lan else ("127.0.0.1",), self._config.port)

    def _protocol(self) -> asyncio.Protocol:
        if self._runner is None or self._runner.server is None:
            raise CompanionError("The companion is closing")
        return self._runner.server()

    def _the_listener(self) -> Listener:
        if self._listener is None:
            raise CompanionError("The companion is closing")
        return self._listener

    # --- what happens on the way -----------------------------------------------------------------------------------

    def _trust(self, request: web.Request) -> None:
        if self._listener is not None:
            self._listener.trust(request.transport)

    def _ask(self, asked: Asked) -> None:
        self._bus.publish(DeviceAsked(request=asked.request, name=asked.name, address=asked.address))

    def _look_up(self, event: Event) -> None:
        """A step that begins or ends is about to change the screen, or has just done so."""
        if self._screen is not None and isinstance(event, StepStarted | StepFinished):
            self._screen.wake()

    def _state(self) -> dict[str, object]:
        return {**self._assistant.state(), "screen": self._screen is not None}

    def _notice(self, text: str, level: str = "info") -> None:
        self._bus.publish(Noticed.model_validate({"text": text, "level": level}))

    def _lan(self) -> tuple[str, ...]:
        return tuple(host for host in self._hosts if host not in network.LOOPBACK_NAMES and not host.endswith(".local"))

    def _renew(self) -> None:
        """Certificate for the names of now; a running server takes it up at once."""
        trouble = self.authority.clock_trouble()
        sentences = self.authority.ensure(certificate_names(self._hosts))
        for sentence in (trouble, *sentences):
            if sentence:
                self._notice(sentence, "warning" if sentence == trouble else "info")
        if self._context is not None and sentences:
            self.authority.load(self._context)

    async def _watch_files(self) -> None:
        """Revocations and approvals may come from another process."""
        while self._desk is not None:
            await asyncio.sleep(LOOK_S)
            for device in self.devices.gone():
                self._streams.end(device)
            with contextlib.suppress(OSError):  # a full disk, a file that went: the next look is soon
                if self._desk.busy:
                    self._desk.sweep()

    async def _watch_network(self) -> None:
        """Addresses come and go; certificates grow old, all at once when the clock is set."""
        checked, clocks = time.monotonic(), time.time() - time.monotonic()
        while True:
            await asyncio.sleep(NETWORK_S)
            try:
                hosts = await asyncio.to_thread(self._find_hosts, self._config.lan)
            except OSError:
                continue
            jumped = abs(time.time() - time.monotonic() - clocks) > CLOCK_S
            if hosts == self._hosts and time.monotonic() - checked < CERTIFICATE_S and not jumped:
                continue
            checked, clocks = time.monotonic(), time.time() - time.monotonic()
            lost, self._hosts = set(self._hosts) - set(hosts), hosts
            with contextlib.suppress(OSError):
                self._follow(lost)

    def _follow(self, lost: set[str]) -> None:
        try:
            self._renew()
        except AnovaxError as error:
            self._notice(str(error), "error")
        if lost and self._lan():
            self._notice(
                f"The address {', '.join(sorted(lost))} is gone; phones now find AnovaX at {self.url}", "warning"
            )
        elif lost:
            self._notice("This computer has lost its network address; phones reach it once it is connected.", "warning")


def _quiet_log() -> logging.Logger:
    """For aiohttp, which would log a traceback for every odd byte that a stranger sends."""
    log = logging.getLogger("anovax.companion.http")
    log.setLevel(logging.CRITICAL)
    return log
