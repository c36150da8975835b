"""Accepts connections, bounded: TLS for phones, one sentence for plain HTTP, little patience for strangers.

A connection is a stranger until a paired phone's request arrives on it. Strangers are few, live for half a minute at
most, and when they are too many the oldest one of the busiest address goes. So half-open connections and slow headers
cost an attacker something and everybody else nothing. The raw transport below TLS is kept, because only it knows how
many bytes still wait for a slow phone.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
import ssl
import sys
from collections import Counter
from collections.abc import Callable, Coroutine

from anovax.companion.network import is_near
from anovax.companion.wire import Wire, put_below
from anovax.errors import CompanionError

MAX_STRANGERS = 96
MAX_CONNECTIONS = 512
STRANGER_S = 30.0
HELLO_S = 5.0  # until the first byte; then as long again for the TLS handshake
HANDSHAKE_PAUSE_S = 0.004  # between two handshakes that begin; each costs a millisecond or two of the event loop
UNSENT = 64 * 1024  # bytes the kernel may hold unsent: a frame more would be an old picture

PLAIN_REPLY = (
    b"HTTP/1.1 426 Upgrade Required\r\nUpgrade: TLS/1.2, HTTP/1.1\r\nConnection: close\r\nCache-Control: no-store\r\n"
    b"Content-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s"
)
PLAIN_PAGE = (
    b"<!doctype html><meta name=viewport content='width=device-width'><title>AnovaX</title>"
    b"<p>AnovaX answers over https only, because browsers give a page the microphone only there. "
    b"Put <b>https://</b> before the address.<script>location.protocol='https:'</script>"
)

_log = logging.getLogger(__name__)


class Connection:
    """One TCP connection from accept to close."""

    def __init__(self, sock: socket.socket, address: str) -> None:
        self.sock = sock
        self.address = address
        self.raw: asyncio.Transport | None = None
        self.tls: asyncio.Transport | None = None
        self.trusted = False
        self.expiry: asyncio.TimerHandle | None = None
        self.greeting: asyncio.Task[None] | None = None

    def backlog(self) -> int:
        """Bytes accepted for sending that the kernel has not taken yet."""
        return sum(t.get_write_buffer_size() for t in (self.raw, self.tls) if t is not None and not self.is_closing())

    def is_closing(self) -> bool:
        return self.raw is not None and self.raw.is_closing()

    def abort(self) -> None:
        if self.expiry is not None:
            self.expiry.cancel()
        if self.raw is not None:
            if not self.raw.is_closing() or self.raw.get_write_buffer_size():  # else it ends, or has ended, by itself
                self.raw.abort()
        elif self.greeting is not None:
            self.greeting.cancel()  # the socket is closed when its task has let go of it


class Listener:
    """``protocol`` makes an HTTP protocol per connection (an aiohttp Server)."""

    def __init__(self, context: ssl.SSLContext, protocol: Callable[[], asyncio.Protocol]) -> None:
        self._context = context
        self._protocol = protocol
        self._sockets: list[socket.socket] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._connections: dict[Connection, None] = {}  # in order of arrival
        self._turnstile = asyncio.Lock()

    def open(self, addresses: tuple[str, ...], port: int) -> None:
        """Bind and listen. CompanionError when the port is taken or the address is not ours."""
        for address in addresses:
            try:
                sock = socket.create_server((address, port), backlog=128)
            except OSError as error:
                self._close_sockets()
                raise _bind_error(address, port, error) from None
            sock.setblocking(False)
            self._sockets.append(sock)
            self._start(self._accept(sock))

    async def close(self) -> None:
        """Refuse newcomers and cut everybody off. Safe twice."""
        self._close_sockets()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for connection in list(self._connections):
            connection.abort()
        self._connections.clear()

    @property
    def port(self) -> int:
        """The port that was bound, of use when 0 was asked for."""
        return int(self._sockets[0].getsockname()[1])

    @property
    def count(self) -> int:
        return len(self._connections)

    def backlog(self) -> int:
        """The most bytes that wait on any one connection."""
        return max((connection.backlog() for connection in self._connections), default=0)

    def find(self, transport: asyncio.BaseTransport | None) -> Connection | None:
        """The connection that a request came over."""
        return next((c for c in self._connections if c.tls is transport), None) if transport is not None else None

    def trust(self, transport: asyncio.BaseTransport | None) -> None:
        """A paired phone's request came over this connection: it may stay."""
        connection = self.find(transport)
        if connection is not None and not connection.trusted:
            connection.trusted = True
            if connection.expiry is not None:
                connection.expiry.cancel()

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                sock, peer = await loop.sock_accept(listening)
            except OSError as error:  # out of file descriptors: wait for some to come back
                if listening.fileno() < 0:
                    return
                _log.warning("cannot accept: %s", error)
                await asyncio.sleep(0.1)
                continue
            if is_near(peer[0]):
                self._admit(sock, peer[0])
            else:
                sock.close()

    def _admit(self, sock: socket.socket, address: str) -> None:
        _tune(sock)
        connection = Connection(sock, address)
        self._connections[connection] = None
        connection.expiry = asyncio.get_running_loop().call_later(STRANGER_S, connection.abort)
        connection.greeting = self._start(self._greet(connection))
        connection.greeting.add_done_callback(lambda _: self._greeted(connection))
        self._make_room()

    def _make_room(self) -> None:
        strangers = [c for c in self._connections if not c.trusted]
        if len(strangers) <= MAX_STRANGERS and len(self._connections) <= MAX_CONNECTIONS:
            return
        busiest = Counter(c.address for c in strangers).most_common(1)[0][0]
        self._drop(next(c for c in strangers if c.address == busiest))

    def _drop(self, connection: Connection) -> None:
        connection.abort()
        self._connections.pop(connection, None)

    async def _greet(self, connection: Connection) -> None:
        """Look at the first byte: a TLS handshake begins with 0x16, anything else is answered in plain."""
        try:
            async with asyncio.timeout(HELLO_S):
                first = await _peek(connection.sock)
            if first == b"\x16":
                await self._turn()
                await self._encrypt(connection)
            elif first:
                await _explain(connection.sock)
        except (OSError, TimeoutError):  # ssl.SSLError is an OSError
            pass

    async def _turn(self) -> None:
        """Handshakes begin one after the other: a hundred at once would hold up everybody's events for a second."""
        async with self._turnstile:
            await asyncio.sleep(HANDSHAKE_PAUSE_S)

    def _greeted(self, connection: Connection) -> None:
        """The greeting is over, one way or the other: without TLS there is nothing more to say."""
        if connection.tls is None:
            self._drop(connection)
        if connection.raw is None:
            connection.sock.close()

    async def _encrypt(self, connection: Connection) -> None:
        loop = asyncio.get_running_loop()
        wire = Wire(lambda: self._drop(connection))
        raw, _ = await loop.connect_accepted_socket(lambda: wire, connection.sock)
        raw.pause_reading()
        raw.set_write_buffer_limits(high=0)
        connection.raw = raw
        tls = await loop.start_tls(
            raw, wire, self._context, server_side=True, ssl_handshake_timeout=HELLO_S, ssl_shutdown_timeout=1.0
        )
        if tls is not None and not raw.is_closing():
            put_below(raw)
            connection.tls = tls
            wire.hand_over(self._protocol(), tls)

    def _start(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _close_sockets(self) -> None:
        for sock in self._sockets:
            sock.close()
        self._sockets.clear()


def _tune(sock: socket.socket) -> None:
    """No delay for small events, and little room in the kernel, so that a slow phone sees a fresh picture."""
    sock.setblocking(False)
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    lowat = getattr(socket, "TCP_NOTSENT_LOWAT", 25 if sys.platform == "linux" else None)
    if lowat is not None:
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, lowat, UNSENT)


async def _peek(sock: socket.socket) -> bytes:
    """The first byte without taking it; where the loop cannot wait for a socket (Windows), TLS is assumed."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(sock, ready.set)
    except NotImplementedError:
        return b"\x16"
    try:
        await ready.wait()
    finally:
        loop.remove_reader(sock)
    return sock.recv(1, socket.MSG_PEEK)


async def _explain(sock: socket.socket) -> None:
    """Answer plain HTTP with the sentence and the way to https."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(HELLO_S):
        await loop.sock_recv(sock, 4096)
        await loop.sock_sendall(sock, PLAIN_REPLY % (len(PLAIN_PAGE), PLAIN_PAGE))
        sock.shutdown(socket.SHUT_WR)


def _bind_error(address: str, port: int, error: OSError) -> CompanionError:
    if error.errno == errno.EADDRINUSE:
        return CompanionError(
            f"Port {port} is taken by another program", "close that program or choose another companion.port"
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return CompanionError(f"This computer has no address {address} now", "connect it to the network and try again")
    if error.errno == errno.EACCES:
        return CompanionError(f"Port {port} needs administrator rights", "choose a companion.port above 1023")
    return CompanionError(f"The companion cannot listen on {address}:{port}: {error.strerror}", "check the network")
