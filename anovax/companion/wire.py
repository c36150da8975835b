"""Two thin layers in a connection: one between TLS and HTTP, one between the socket and TLS."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast


class Wire(asyncio.Protocol):
    """Between TLS and HTTP: keeps what arrives before HTTP takes over, and tells when the connection is gone."""

    def __init__(self, closed: Callable[[], None]) -> None:
        self._http: asyncio.Protocol | None = None
        self._early = b""
        self._closed = closed

    def hand_over(self, http: asyncio.Protocol, transport: asyncio.Transport) -> None:
        self._http = http
        http.connection_made(transport)
        if self._early:
            http.data_received(self._early)

    def data_received(self, data: bytes) -> None:
        if self._http is None:
            self._early += data
        else:
            self._http.data_received(data)

    def eof_received(self) -> bool | None:
        return self._http.eof_received() if self._http is not None else None

    def pause_writing(self) -> None:
        if self._http is not None:
            self._http.pause_writing()

    def resume_writing(self) -> None:
        if self._http is not None:
            self._http.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._http is not None:
            self._http.connection_lost(exc)
        self._closed()


class _Below(asyncio.BufferedProtocol):
    """Between the socket and TLS: passes everything on, "you may write again" a moment later.

    The socket's transport says so from within its own write loop. When what TLS then writes finds the phone gone,
    asyncio ends the connection twice, and reports the second time as an error with a traceback.
    """

    def __init__(self, raw: asyncio.Transport, tls: asyncio.BufferedProtocol) -> None:
        self._raw = raw
        self._tls = tls

    def get_buffer(self, sizehint: int) -> memoryview:
        return memoryview(self._tls.get_buffer(sizehint))

    def buffer_updated(self, nbytes: int) -> None:
        self._tls.buffer_updated(nbytes)

    def eof_received(self) -> bool | None:
        return self._tls.eof_received()

    def pause_writing(self) -> None:
        self._tls.pause_writing()

    def resume_writing(self) -> None:
        asyncio.get_running_loop().call_soon(self._resume)

    def connection_lost(self, exc: Exception | None) -> None:
        self._tls.connection_lost(exc)

    def _resume(self) -> None:
        if not self._raw.is_closing():
            self._tls.resume_writing()


def put_below(raw: asyncio.Transport) -> None:
    """Put the lower layer under a TLS connection that has been set up on ``raw``."""
    raw.set_protocol(_Below(raw, cast(asyncio.BufferedProtocol, raw.get_protocol())))
