"""Selections as ICCCM 2.0 describes them: fetching one from its owner, handing ours over, both also in pieces
(INCR)."""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from typing import Any

from anovax.desktop.x11_connection import Connection

Content = dict[str, bytes]  # target name -> bytes

MAX_BYTES = 32 * 1024 * 1024
_PIECE = 128 * 1024  # well below the server's smallest maximum request
_TEXT_TARGETS = ("UTF8_STRING", "text/plain;charset=utf-8", "text/plain", "TEXT", "STRING")
_NOT_CONTENT = {"TARGETS", "TIMESTAMP", "MULTIPLE", "SAVE_TARGETS", "DELETE", "INSERT_SELECTION", "INSERT_PROPERTY"}


def text_content(text: str) -> Content:
    """Text under every name that applications ask for."""
    data = text.encode("utf-8")
    latin = text.encode("latin-1", errors="replace")
    return {name: latin if name == "STRING" else data for name in _TEXT_TARGETS}


class SelectionReader:
    """Fetches a selection into a property of our window until ``end`` (time.monotonic() seconds)."""

    def __init__(
        self, connection: Connection, window: Any, selection: str, end: float, other: Callable[[Any], None]
    ) -> None:
        self._x, self._window, self._selection, self._end, self._other = connection, window, selection, end, other
        self._place = connection.atom("ANOVAX_SELECTION")

    def first(self, targets: tuple[str, ...]) -> Content:
        """The first of ``targets`` that the owner delivers."""
        for name in targets:
            if (data := self._fetch(name)) is not None:
                return {name: data}
        return {}

    def everything(self) -> Content:
        """All targets with content; those that do not arrive in time, or are too large, are left out."""
        from array import array

        listed = self._fetch("TARGETS") or b""
        names = [self._x.display.get_atom_name(atom) for atom in array("I", listed) if atom]
        found: Content = {}
        for name in names:
            if (
                name not in _NOT_CONTENT
                and sum(map(len, found.values())) < MAX_BYTES
                and (data := self._fetch(name)) is not None
            ):
                found[name] = data
        return found

    def _fetch(self, target: str) -> bytes | None:
        from Xlib import X

        if not self._x.display.get_selection_owner(self._x.atom(self._selection)):
            return None
        self._window.delete_property(self._place)
        self._window.convert_selection(self._x.atom(self._selection), self._x.atom(target), self._place, X.CurrentTime)
        self._x.display.flush()
        notified = self._wait(lambda seen: seen.type == X.SelectionNotify)
        if notified is None or notified.property == X.NONE:
            return None
        kind, data = self._take()
        return self._pieces() if kind == self._x.atom("INCR") else data

    def _take(self) -> tuple[int, bytes]:
        from Xlib import X

        found = self._window.get_full_property(self._place, X.AnyPropertyType)
        self._window.delete_property(self._place)
        self._x.display.flush()
        if found is None:
            return 0, b""
        value = found.value
        return int(found.property_type), value if isinstance(value, bytes) else value.tobytes()

    def _pieces(self) -> bytes | None:
        from Xlib import X

        data = b""
        while len(data) < MAX_BYTES:
            if not self._wait(
                lambda seen: (
                    seen.type == X.PropertyNotify and seen.atom == self._place and seen.state == X.PropertyNewValue
                )
            ):
                return None
            _, piece = self._take()
            if not piece:
                return data
            data += piece
        return None

    def _wait(self, wanted: Callable[[Any], bool]) -> Any:
        while time.monotonic() < self._end:
            for seen in self._x.arrived():
                if wanted(seen):
                    return seen
                self._other(seen)
            select.select([self._x.display.fileno()], [], [], 0.05)
        return None


class Outgoing:
    """Our answer to one SelectionRequest, in pieces when it is large."""

    def __init__(self, connection: Connection, asked: Any, content: Content) -> None:
        self._x, self._asked, self._content = connection, asked, content
        self._rest = b""
        self.finished = True

    def answer(self) -> bool:
        """Deliver, or say that we cannot. True when something was handed over."""
        from Xlib import X
        from Xlib.protocol import event

        target = self._x.display.get_atom_name(self._asked.target)
        place = self._asked.property or self._asked.target
        given = self._give(target, place)
        note = event.SelectionNotify(
            time=self._asked.time, requestor=self._asked.requestor, selection=self._asked.selection,
            target=self._asked.target,
            property=place if given else X.NONE,
        )  # fmt: skip
        self._asked.requestor.send_event(note)
        self._x.display.flush()
        return given

    def _give(self, target: str, place: int) -> bool:
        from Xlib import X, Xatom

        requestor = self._asked.requestor
        if target == "TARGETS":
            names = [self._x.atom(name) for name in ("TARGETS", *self._content)]
            requestor.change_property(place, Xatom.ATOM, 32, names)
            return True
        data = self._content.get(target)
        if data is None:
            return False
        if len(data) <= _PIECE:
            requestor.change_property(place, self._asked.target, 8, data)
            return True
        requestor.change_attributes(event_mask=X.PropertyChangeMask)
        requestor.change_property(place, self._x.atom("INCR"), 32, [len(data)])
        self._rest, self.finished = data, False
        return True

    def proceed(self, window: int, place: int) -> bool:
        """The requestor took a piece: give the next (an empty one ends it). True when all of it is over."""
        if window != self._asked.requestor.id or place != (self._asked.property or self._asked.target):
            return False
        piece, self._rest = self._rest[:_PIECE], self._rest[_PIECE:]
        self._asked.requestor.change_property(place, self._asked.target, 8, piece)
        self._x.display.flush()
        return not piece
