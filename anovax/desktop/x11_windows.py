"""Top-level windows through EWMH (Extended Window Manager Hints 1.5), and plain root children without a window
manager."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from anovax.desktop.backend import Rect
from anovax.desktop.x11_connection import Connection
from anovax.tool import WindowRef

_NOT_FOR_USERS = {"_NET_WM_WINDOW_TYPE_DESKTOP", "_NET_WM_WINDOW_TYPE_DOCK", "_NET_WM_WINDOW_TYPE_NOTIFICATION"}
_PING_S = 1.0
_IDLE_S = 1.5
_FROM_A_PAGER = 2  # source indication: the user asked for it through a tool


class Windows:
    """Lists, names, activates and closes windows over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._x = connection
        self._mute: set[int] = set()  # windows that do not answer pings

    def all(self) -> tuple[WindowRef, ...]:
        """Windows of applications, the top one first (most recently raised)."""
        with self._x:
            refs = (self.ref(window_id) for window_id in reversed(self._ids()) if not self._hidden_kind(window_id))
            return tuple(ref for ref in refs if ref.app or ref.title or self._alive(ref.id))

    def _alive(self, window_id: int) -> bool:
        """A window manager may list a window for a while after it is gone."""
        from Xlib import error

        try:
            self._x.window(window_id).get_attributes()
        except error.XError:
            return False
        return True

    def _ids(self) -> tuple[int, ...]:
        stacking = self._x.cardinals(self._x.root.id, "_NET_CLIENT_LIST_STACKING")
        listed = self._x.cardinals(self._x.root.id, "_NET_CLIENT_LIST")
        if listed or stacking:
            return stacking or listed
        return tuple(child.id for child in self._x.root.query_tree().children if self._looks_like_one(child))

    def _looks_like_one(self, window: Any) -> bool:
        from Xlib import X, error

        try:
            seen = window.get_attributes()
        except error.XError:
            return False
        return bool(seen.map_state == X.IsViewable and not seen.override_redirect)

    def _hidden_kind(self, window_id: int) -> bool:
        return any(
            self._x.display.get_atom_name(atom) in _NOT_FOR_USERS
            for atom in self._x.cardinals(window_id, "_NET_WM_WINDOW_TYPE")
        )

    def exists(self, window_id: int) -> bool:
        with self._x:
            return window_id in self._ids() and self._alive(window_id)

    def ref(self, window_id: int) -> WindowRef:
        with self._x:
            names = self._x.text(window_id, "WM_CLASS").split("\0")
            pid = self._x.cardinals(window_id, "_NET_WM_PID")
            title = self._x.text(window_id, "_NET_WM_NAME") or self._x.text(window_id, "WM_NAME")
            return WindowRef(id=window_id, pid=pid[0] if pid else 0, app=names[-1], title=title)

    def focused(self) -> WindowRef | None:
        """The window that the next key really goes to (the X input focus), None when no window has it."""
        with self._x:
            top = self.top_level(self.focus_id())
            return self.ref(top) if top else None

    def focus_id(self) -> int:
        """The raw focus: a window id, 0 for none, 1 for "wherever the pointer is"."""
        focus = self._x.display.get_input_focus().focus
        return int(focus if isinstance(focus, int) else focus.id)

    def top_level(self, window_id: int) -> int:
        """The application window that contains ``window_id``; 0 when it belongs to none."""
        from Xlib import error

        clients = set(self._ids())
        while window_id > 1 and window_id != self._x.root.id:
            if window_id in clients:
                return window_id
            try:
                parent = self._x.window(window_id).query_tree().parent
            except error.XError:
                return 0
            if not clients and parent and parent.id == self._x.root.id:
                return window_id
            window_id = parent.id if parent else 0
        return 0

    def activate(self, window_id: int) -> None:
        """Ask the window manager to raise and focus; the caller checks whether it did."""
        with self._x:
            if self._x.cardinals(self._x.root.id, "_NET_SUPPORTING_WM_CHECK"):
                self._x.message(window_id, "_NET_ACTIVE_WINDOW", _FROM_A_PAGER, 0, 0)
            else:
                self._focus_without_manager(window_id)

    def _focus_without_manager(self, window_id: int) -> None:
        from Xlib import X

        window = self._x.window(window_id)
        window.configure(stack_mode=X.Above)
        window.set_input_focus(X.RevertToParent, X.CurrentTime)
        self._x.display.sync()

    def close(self, window_id: int) -> None:
        with self._x:
            self._x.message(window_id, "_NET_CLOSE_WINDOW", 0, _FROM_A_PAGER)

    def transient_for(self, window_id: int) -> int:
        """The window that ``window_id`` is a dialog of, 0 when it is none."""
        with self._x:
            owner = self._x.cardinals(window_id, "WM_TRANSIENT_FOR")
            return owner[0] if owner else 0

    def is_modal(self, window_id: int) -> bool:
        """Whether it blocks the rest of its application (_NET_WM_STATE_MODAL)."""
        with self._x:
            return self._x.atom("_NET_WM_STATE_MODAL") in self._x.cardinals(window_id, "_NET_WM_STATE")

    def frame(self, window_id: int) -> Rect | None:
        """Where the window's content is on the screen, in pixels; None when it is gone."""
        from Xlib import error

        with self._x:
            try:
                size = self._x.window(window_id).get_geometry()
                at = self._x.window(window_id).translate_coords(self._x.root, 0, 0)
            except error.XError:
                return None
            return Rect(x=-at.x, y=-at.y, w=size.width, h=size.height)

    def at(self, x: int, y: int) -> WindowRef | None:
        """The window that a click at x, y would hit."""
        with self._x:
            for window_id in reversed(self._ids()):
                rect = self.frame(window_id)
                if rect and rect.contains(x, y) and self._looks_like_one(self._x.window(window_id)):
                    return self.ref(window_id)
            return None

    def answers(self, window_id: int, seconds: float) -> bool | None:
        """Whether the application has worked off everything that was sent to it so far (_NET_WM_PING); None when it
        does not take part in that protocol."""
        from Xlib import X
        from Xlib.protocol import event

        with self._x:
            ping = self._x.atom("_NET_WM_PING")
            if ping not in self._x.cardinals(window_id, "WM_PROTOCOLS"):
                return None
            # most toolkits answer to those who select SubstructureNotify, Qt to those who select StructureNotify
            self._x.root.change_attributes(event_mask=X.SubstructureNotifyMask | X.StructureNotifyMask)
            stamp = int(time.monotonic() * 1000) & 0x7FFFFFFF
            asked = event.ClientMessage(
                window=self._x.window(window_id),
                client_type=self._x.atom("WM_PROTOCOLS"),
                data=(32, [ping, stamp, window_id, 0, 0]),
            )
            self._x.window(window_id).send_event(asked)
            self._x.display.flush()
        try:
            return self._pong(ping, stamp, time.monotonic() + seconds)
        finally:
            with self._x:
                self._x.root.change_attributes(event_mask=0)
                self._x.display.flush()

    def _pong(self, ping: int, stamp: int, end: float) -> bool:
        while time.monotonic() < end:
            with self._x:
                for seen in self._x.arrived():
                    if seen.type == 33 and list(seen.data[1][:2]) == [ping, stamp]:  # ClientMessage
                        return True
            time.sleep(0.002)
        return False

    def settle(self, window: WindowRef, seconds: float) -> bool | None:
        """Wait until the application has worked off what was sent to it; False when it has not by then. None when it
        does not say so: then its process has been seen asleep, which is a good sign but no proof."""
        end, asked = time.monotonic() + seconds, window.id not in self._mute
        if asked and self.answers(window.id, min(_PING_S, seconds)):
            return True
        idle = self._idle(window.pid, min(end, time.monotonic() + _IDLE_S))
        if asked and idle and seconds >= _PING_S:
            self._mute.add(window.id)  # it has had time and did not answer: do not wait for that again
        return None if idle else False

    def takes_keymap(self, window: WindowRef, seconds: float) -> None:
        """Wait until the application has had its chance to read a changed keymap. One that hears of it over the
        connection that brings its keys does so in order, as old toolkits do, which know no ping; some have a second
        connection for it (Chromium asks GTK), and only that the whole process has come to rest tells of that one."""
        end = time.monotonic() + seconds
        if window.id not in self._mute and self.answers(window.id, seconds):
            self._idle(window.pid, end)

    def _idle(self, pid: int, end: float) -> bool:
        """Wait until no thread of a local process has run between three looks; then it has read its events. A round
        trip before each look makes the server answer it, if that is what it sleeps for. False when it is stopped or
        gone; without a pid, a short fixed wait. One that never rests has at least had the time."""
        before, calm = "", 0
        while calm < 3 and time.monotonic() < end:
            with self._x:
                self._x.display.sync()
            time.sleep(0.004 if pid else 0.03)
            now = runs(pid)
            calm = calm + 1 if now == before and "R" not in now else 0
            before = now
        return not pid or before[:1] in ("S", "R", "D")


def runs(pid: int) -> str:
    """The state letter of each thread of a process and how often it has been switched, the main thread first; empty
    when there is no such process here. A toolkit may read its events in a thread of its own (Qt does)."""
    threads = sorted(Path(f"/proc/{pid}/task").glob("*/status"), key=lambda path: int(path.parent.name))
    return " ".join(_run(thread) for thread in threads)


def _run(thread: Path) -> str:
    try:
        lines = thread.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""  # it has ended meanwhile
    wanted = ("State:", "voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:")
    return " ".join(line.split()[1] for line in lines if line.startswith(wanted))
