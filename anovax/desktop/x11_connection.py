"""One connection to the X server and the lock that owns it.

Xlib does not survive two threads inside one connection, so everything that talks to the server does so within
``with connection:``, which also turns Xlib's errors into DesktopError.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from anovax.desktop.x11_keymap import Keymap, parse_keymap, wire_key
from anovax.errors import DesktopError


class Connection:
    """``display`` is python-xlib's Display, ``root`` the root window's id. Raises DesktopError when there is none."""

    def __init__(self, name: str = "") -> None:
        from Xlib import X, Xatom, display, error

        self._X, self._Xatom, self._error = X, Xatom, error
        self.name = name or os.environ.get("DISPLAY", "")
        try:
            self.display = display.Display(self.name)
        except (error.DisplayError, error.XauthError, error.ConnectionClosedError, OSError) as problem:
            raise _unreachable(self.name, problem) from None
        self.display.set_error_handler(
            lambda *_: None
        )  # errors of requests without reply: the effect is checked instead
        self.root = self.display.screen().root
        self._lock = threading.RLock()
        self._atoms: dict[str, int] = {}
        self._stale_keymap = True
        self._closed = False
        if not all(self.display.query_extension(name) for name in ("XTEST", "XKEYBOARD")):
            self.close()
            raise DesktopError(
                f"The display {self.name} has no XTEST or no XKEYBOARD extension", "use an X server that has both"
            )
        self._xkb = self._use_xkb()

    def __enter__(self) -> Connection:
        self._lock.acquire()
        if self._closed:
            self._lock.release()
            raise DesktopError("The connection to the display is closed")
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, _: object) -> None:
        self._lock.release()
        gone = (self._error.ConnectionClosedError, BrokenPipeError, ConnectionError, TypeError, AttributeError)
        if isinstance(problem, self._error.XError):
            raise DesktopError(f"The X server refused a request: {type(problem).__name__}") from problem
        if problem is not None and isinstance(problem, gone) and self._is_gone():
            raise DesktopError("The display is gone", "start AnovaX again in the new session") from problem

    def _is_gone(self) -> bool:
        return self.display.display.socket_error is not None

    def atom(self, name: str) -> int:
        if name not in self._atoms:
            self._atoms[name] = int(self.display.intern_atom(name))
        return self._atoms[name]

    def window(self, window_id: int) -> Any:
        return self.display.create_resource_object("window", window_id)

    def property(self, window_id: int, name: str) -> Any:
        """A property's value (array of integers or bytes), or None when it or the window does not exist."""
        try:
            found = self.window(window_id).get_full_property(self.atom(name), self._X.AnyPropertyType)
        except self._error.XError:
            return None
        return None if found is None else found.value

    def cardinals(self, window_id: int, name: str) -> tuple[int, ...]:
        value = self.property(window_id, name)
        return () if value is None or isinstance(value, bytes | str) else tuple(int(number) for number in value)

    def text(self, window_id: int, name: str) -> str:
        value = self.property(window_id, name)
        if isinstance(value, bytes):
            return value.decode("utf-8", errors="replace").rstrip("\0")
        return value if isinstance(value, str) else ""

    def message(self, window: int, kind: str, *data: int) -> None:
        """Send an EWMH client message about ``window`` to the window manager."""
        from Xlib.protocol import event

        words = (list(data) + [0] * 5)[:5]
        sent = event.ClientMessage(window=self.window(window), client_type=self.atom(kind), data=(32, words))
        self.root.send_event(sent, event_mask=self._X.SubstructureRedirectMask | self._X.SubstructureNotifyMask)
        self.display.flush()

    @contextmanager
    def server_grabbed(self) -> Iterator[None]:
        """Nobody else's requests are served inside: what is checked there still holds when the next key is pressed.
        Keep it to a few requests; call nothing that uses another connection."""
        self.display.grab_server()
        try:
            yield
        finally:
            if not self._is_gone():
                self.display.ungrab_server()
                self.display.flush()

    def arrived(self) -> Iterator[Any]:
        """The events that have arrived; no round trip. Notes a changed keymap on the way."""
        while self.display.pending_events():
            seen = self.display.next_event()
            if seen.type in (self._X.MappingNotify, self._xkb.event):
                self._stale_keymap = True
            yield seen

    def keymap_changed(self) -> bool:
        """Whether the keymap has changed since the last ``read_keymap``."""
        for _ in self.arrived():
            pass
        return self._stale_keymap

    def read_keymap(self) -> Keymap:
        """The server's keymap (XkbGetMap: key types, key symbols, modifier map)."""
        self.keymap_changed()
        self._stale_keymap = False
        return parse_keymap(bytes(self._xkb.GetMap(self.display.display, self._xkb.opcode).data))

    def write_keys(self, keymap: Keymap, changed: dict[int, int]) -> None:
        """Give keycodes of ``keymap`` single keysyms (0 clears one): one request whatever their number, because window
        managers and toolkits read the whole map again after each."""
        first, last = min(changed), max(changed)
        keys = [wire_key(changed[c]) if c in changed else keymap.keys[c].wire for c in range(first, last + 1)]
        bounds = min(keymap.keys), max(keymap.keys)
        self._xkb.SetMap(self.display.display, self._xkb.opcode, bounds, first, keys)
        self.display.sync()

    def set_locks(self, lock_mods: int, group: int) -> None:
        """Set Caps Lock's and the layout group's locked state (XkbLatchLockState). No reply, so it joins the next
        flush."""
        self._xkb.LatchLock(self.display.display, self._xkb.opcode, lock_mods, group)

    def _use_xkb(self) -> Any:
        from anovax.desktop.x11_xkb import Xkb

        return Xkb(self.display)

    def close(self) -> None:
        """Give the connection back. Safe twice."""
        with self._lock:
            if not self._closed:
                self._closed = True
                if not self._is_gone():
                    self.display.close()


def _unreachable(name: str, problem: Exception) -> DesktopError:
    if not name:
        return DesktopError("There is no X display", "start AnovaX inside a desktop session, or set DISPLAY")
    return DesktopError(f"The X display {name} cannot be reached ({problem})", "check DISPLAY and XAUTHORITY")
