"""What the focused field holds, as applications tell through AT-SPI 2 (the accessibility bus), over D-Bus by jeepney.

Everything here only reads, is bounded in time, and gives None when the session has no accessibility bus or the
application does not take part in it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from pydantic import BaseModel, ConfigDict

_LIMIT_S = 0.6  # for one look at the focused field
_MOST_NODES = 3000
_REGISTRY, _ROOT = "org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root"
_ACCESSIBLE, _TEXT = "org.a11y.atspi.Accessible", "org.a11y.atspi.Text"
_PASSWORD = 40  # ATSPI_ROLE_PASSWORD_TEXT
_ACTIVE, _FOCUSED, _SHOWING = 1, 12, 25  # AtspiStateType


class Field(BaseModel):
    """The focused field. ``text`` is None when it offers none; ``secure`` marks a password."""

    model_config = ConfigDict(frozen=True)

    text: str | None = None
    secure: bool = False


class Accessibility:
    """Asks the accessibility bus. One call at a time; any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bus: Any = None
        self._absent_until = 0.0
        self._last: tuple[str, str] | None = None  # where the focus was; the search starts there

    def focused_field(self, pid: int) -> Field | None:
        """The field of process ``pid`` that has the keyboard focus, None when it cannot be told."""
        with self._lock:
            end = time.monotonic() + _LIMIT_S
            try:
                bus = self._connected()
                return None if bus is None else self._field(bus, pid, end)
            except (OSError, TimeoutError, KeyError, IndexError, ValueError, ConnectionError):
                self._drop()
                return None

    def _connected(self) -> Any:
        """A connection to the accessibility bus; asked for again only after a while when there is none."""
        from jeepney.io.blocking import open_dbus_connection

        if self._bus is None and time.monotonic() >= self._absent_until:
            self._absent_until = time.monotonic() + 10.0
            session = open_dbus_connection(bus="SESSION")
            try:
                address = self._call(session, "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress")[0]
            finally:
                session.close()
            self._bus = open_dbus_connection(bus=address.split(",guid=")[0])
        return self._bus

    def _call(
        self,
        bus: Any,
        name: str,
        path: str,
        interface: str,
        method: str,
        signature: str = "",
        body: tuple[Any, ...] = (),
    ) -> Any:
        from jeepney import DBusAddress, MessageType, new_method_call

        reply = bus.send_and_get_reply(
            new_method_call(DBusAddress(path, name, interface), method, signature, body), timeout=_LIMIT_S
        )
        if reply.header.message_type is MessageType.error:
            raise ValueError(f"{method}: {reply.body}")
        return reply.body

    def _field(self, bus: Any, pid: int, end: float) -> Field | None:
        for name, path in self._call(bus, _REGISTRY, _ROOT, _ACCESSIBLE, "GetChildren")[0]:
            owner = self._call(
                bus,
                "org.freedesktop.DBus",
                "/org/freedesktop/DBus",
                "org.freedesktop.DBus",
                "GetConnectionUnixProcessID",
                "s",
                (name,),
            )
            if owner[0] == pid:
                return self._field_of(bus, name, path, end)
        return None

    def _field_of(self, bus: Any, name: str, path: str, end: float) -> Field | None:
        if self._last is not None and self._last[0] == name:
            last, self._last = self._last, None
            with suppress(ValueError):  # the last field may be gone
                if self._states(bus, *last) >> _FOCUSED & 1:
                    self._last = last
                    return self._describe(bus, *last)
        self._last = next(self._focused(bus, name, path, end), None)
        return None if self._last is None else self._describe(bus, *self._last)

    def _focused(self, bus: Any, name: str, path: str, end: float) -> Iterator[tuple[str, str]]:
        """Depth first through what is showing, to the node with the state FOCUSED."""
        waiting, seen = [(name, path)], 0
        while waiting and seen < _MOST_NODES and time.monotonic() < end:
            node = waiting.pop()
            seen += 1
            states = self._states(bus, *node)
            if states >> _FOCUSED & 1:
                yield node
            if seen == 1 or states >> _SHOWING & 1 or states >> _ACTIVE & 1:
                waiting += reversed(self._call(bus, *node, _ACCESSIBLE, "GetChildren")[0])

    def _states(self, bus: Any, name: str, path: str) -> int:
        low, high = self._call(bus, name, path, _ACCESSIBLE, "GetState")[0]
        return int(low) | int(high) << 32

    def _describe(self, bus: Any, name: str, path: str) -> Field:
        secure = self._call(bus, name, path, _ACCESSIBLE, "GetRole")[0] == _PASSWORD
        if secure or _TEXT not in self._call(bus, name, path, _ACCESSIBLE, "GetInterfaces")[0]:
            return Field(secure=secure)
        return Field(text=str(self._call(bus, name, path, _TEXT, "GetText", "ii", (0, -1))[0]))

    def _drop(self) -> None:
        if self._bus is not None:
            self._bus.close()
            self._bus = None

    def close(self) -> None:
        """Safe twice."""
        with self._lock:
            self._drop()
