"""What the focused field holds and where named things are, as applications tell through AT-SPI 2 (the accessibility
bus), over D-Bus by jeepney.

Everything here only reads, is bounded in time, and gives None when the session has no accessibility bus or the
application does not take part in it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from pydantic import BaseModel, ConfigDict
from rapidfuzz import utils

from anovax.desktop.backend import Rect
from anovax.desktop.ocr import TextBox

_LIMIT_S = 0.6  # for one look at the focused field
_MOST_NODES = 3000
_REGISTRY, _ROOT = "org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root"
_ACCESSIBLE, _TEXT = "org.a11y.atspi.Accessible", "org.a11y.atspi.Text"
_PASSWORD = 40  # ATSPI_ROLE_PASSWORD_TEXT
_ACTIVE, _FOCUSED, _SHOWING = 1, 12, 25  # AtspiStateType
_ACTION, _COMPONENT = "org.a11y.atspi.Action", "org.a11y.atspi.Component"
_PAGE_TAB, _LIST_ITEM, _LINK = 37, 32, 88  # AtspiRole of what is clicked without having an action of its own
_COLLECTION, _RULE = "org.a11y.atspi.Collection", "(aiia{ss}iaiiasib)uib"
_ALL, _CANONICAL = 1, 1  # AtspiCollectionMatchType, AtspiCollectionSortOrder
_ON_SCREEN = 0  # AtspiCoordType
_DECORATION = 80  # pixels that a title bar and borders take at most


Node = tuple[str, str]  # bus name and object path


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
        self._last: Node | None = None  # where the focus was; the search starts there

    def focused_field(self, pid: int) -> Field | None:
        """The field of process ``pid`` that has the keyboard focus, None when it cannot be told."""
        found: Field | None = self._asked(lambda bus, end: self._field(bus, pid, end))
        return found

    def named(self, pid: int, frame: Rect, name: str) -> tuple[TextBox, ...]:
        """Where the window at ``frame`` shows things to click that are called exactly ``name`` (case and punctuation
        aside), in screen pixels. Empty when it has none, and when process ``pid`` does not tell, or tells of another
        place than the window's (as scaled toolkits do)."""
        return self._asked(lambda bus, end: tuple(self._named(bus, pid, frame, name, end))) or ()

    def _asked(self, work: Callable[[Any, float], Any]) -> Any:
        with self._lock:
            try:
                bus = self._connected()
                return None if bus is None else work(bus, time.monotonic() + _LIMIT_S)
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

    def _root_of(self, bus: Any, pid: int) -> Node | None:
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
                return name, path
        return None

    def _field(self, bus: Any, pid: int, end: float) -> Field | None:
        root = self._root_of(bus, pid)
        return None if root is None else self._field_of(bus, *root, end)

    def _named(self, bus: Any, pid: int, frame: Rect, name: str, end: float) -> Iterator[TextBox]:
        wanted, root = utils.default_process(name), self._root_of(bus, pid)
        windows: list[Node] = self._call(bus, *root, _ACCESSIBLE, "GetChildren")[0] if root else []
        for window in windows:
            if _around(self._place(bus, *window), frame):
                for node in self._shown(bus, *window):
                    if time.monotonic() > end:
                        raise TimeoutError  # half the answer could hide that the name stands there twice
                    called = self._called(bus, *node)
                    if wanted and utils.default_process(called) == wanted and self._clickable(bus, *node):
                        at = self._place(bus, *node)
                        yield TextBox(text=called, **at.model_dump(), score=1.0)

    def _shown(self, bus: Any, name: str, path: str) -> list[Node]:
        """The nodes below that are showing: one call for all of them."""
        rule: tuple[Any, ...] = ([1 << _SHOWING, 0], _ALL, {}, _ALL, [], _ALL, [], _ALL, False)
        found: list[Node] = self._call(bus, name, path, _COLLECTION, "GetMatches", _RULE, (rule, _CANONICAL, 0, True))[
            0
        ]
        return found

    def _clickable(self, bus: Any, name: str, path: str) -> bool:
        if _ACTION in self._call(bus, name, path, _ACCESSIBLE, "GetInterfaces")[0]:
            return True
        return self._call(bus, name, path, _ACCESSIBLE, "GetRole")[0] in (_PAGE_TAB, _LIST_ITEM, _LINK)

    def _place(self, bus: Any, name: str, path: str) -> Rect:
        x, y, w, h = self._call(bus, name, path, _COMPONENT, "GetExtents", "u", (_ON_SCREEN,))[0]
        return Rect(x=x, y=y, w=w, h=h)

    def _called(self, bus: Any, name: str, path: str) -> str:
        found = self._call(bus, name, path, "org.freedesktop.DBus.Properties", "Get", "ss", (_ACCESSIBLE, "Name"))
        return str(found[0][1])

    def _field_of(self, bus: Any, name: str, path: str, end: float) -> Field | None:
        if self._last is not None and self._last[0] == name:
            last, self._last = self._last, None
            with suppress(ValueError):  # the last field may be gone
                if self._states(bus, *last) >> _FOCUSED & 1:
                    self._last = last
                    return self._describe(bus, *last)
        self._last = next(self._focused(bus, name, path, end), None)
        return None if self._last is None else self._describe(bus, *self._last)

    def _focused(self, bus: Any, name: str, path: str, end: float) -> Iterator[Node]:
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


def _around(outer: Rect, content: Rect) -> bool:
    """Whether ``outer`` is a window's place with its decoration, which toolkits count in, around ``content``."""
    left, top = content.x - outer.x, content.y - outer.y
    more = (left, top, outer.w - content.w - left, outer.h - content.h - top)
    return all(0 <= edge <= _DECORATION for edge in more)
