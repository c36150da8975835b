"""The clipboard on X11: reading the CLIPBOARD selection, and owning it (ICCCM 2.0, section 2).

A selection's owner must answer whenever somebody pastes, so one thread owns a connection of its own for that; it is
started with the first use. The thread alone touches the connection.
"""

from __future__ import annotations

import os
import queue
import select
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from anovax.desktop.x11_connection import Connection
from anovax.desktop.x11_selection import Content, Outgoing, SelectionReader, text_content
from anovax.errors import DesktopError

_READ_S = 2.0


class Clipboard:
    """Text in and out, whole contents for putting back later. Any thread may call it."""

    def __init__(self, display: str) -> None:
        self._display = display
        self._lock = threading.Lock()
        self._thread: _Owner | None = None
        self._closed = False

    def text(self) -> str | None:
        """What a paste would insert as text; None when the clipboard holds no text (or its owner does not answer)."""
        found = self._ask(lambda owner: owner.read(("UTF8_STRING", "STRING"), "CLIPBOARD"))
        data = next(iter(found.values()), None)
        return None if data is None else data.decode("utf-8", errors="replace")

    def content(self) -> Content:
        """Everything that the clipboard offers, by target."""
        return dict(self._ask(lambda owner: owner.read(None, "CLIPBOARD")))

    def set_text(self, text: str, selection: str = "CLIPBOARD") -> None:
        self.offer(text_content(text), selection)

    def offer(self, content: Mapping[str, bytes], selection: str = "CLIPBOARD") -> None:
        """Become the owner with this content; empty content gives the ownership up."""
        self._ask(lambda owner: owner.own(dict(content), selection))

    def fetches_by(self, window: int, selection: str = "CLIPBOARD") -> int:
        """How often the application of ``window`` has fetched our content since it was offered (others, such as a
        clipboard manager, do not count)."""
        return int(self._ask(lambda owner: owner.fetches_by(window, selection)))

    def _ask(self, work: Callable[[_Owner], Any]) -> Any:
        with self._lock:
            if self._closed:
                raise DesktopError("The desktop is closed")
            if self._thread is None or not self._thread.is_alive():
                self._thread = _Owner(self._display)
        return self._thread.ask(work)

    def close(self) -> None:
        """Give the clipboard up. Safe twice."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.stop()


class _Owner(threading.Thread):
    """The thread that owns the connection and answers those who paste."""

    def __init__(self, display: str) -> None:
        super().__init__(name="anovax-clipboard", daemon=True)
        self._x = Connection(display)
        self._window = self._x.root.create_window(-1, -1, 1, 1, 0, 0)
        from Xlib import X

        self._window.change_attributes(event_mask=X.PropertyChangeMask)
        self._jobs: queue.Queue[tuple[Callable[[_Owner], Any], Future[Any]] | None] = queue.Queue(maxsize=64)
        self._wake_read, self._wake_write = os.pipe()
        self._owned: dict[str, Content] = {}
        self._served: dict[str, list[int]] = {}  # windows that fetched our content
        self._outgoing: list[Outgoing] = []
        self.start()

    def ask(self, work: Callable[[_Owner], Any]) -> Any:
        answer: Future[Any] = Future()
        self._jobs.put((work, answer))
        os.write(self._wake_write, b"x")
        return answer.result(timeout=30)

    def stop(self) -> None:
        self._jobs.put(None)
        os.write(self._wake_write, b"x")
        self.join(timeout=5)

    def run(self) -> None:
        try:
            while self._turn():
                pass
        except DesktopError:
            pass  # the display is gone, and with it the clipboard; waiting callers are told below
        finally:
            self._give_up()

    def _turn(self) -> bool:
        with self._x:
            self.pump()
            select.select([self._x.display.fileno(), self._wake_read], [], [], 1.0)
            self.pump()
        while not self._jobs.empty():
            os.read(self._wake_read, 1)
            job = self._jobs.get()
            if job is None:
                return False
            self._do(*job)
        return True

    def _do(self, work: Callable[[_Owner], Any], answer: Future[Any]) -> None:
        try:
            with self._x:
                answer.set_result(work(self))
        except Exception as problem:  # noqa: BLE001 - handed to the caller, who waits for it in another thread
            answer.set_exception(problem)

    def _give_up(self) -> None:
        while not self._jobs.empty():
            if job := self._jobs.get():
                job[1].set_exception(DesktopError("The display is gone"))
        self._x.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    # --- within the thread, connection held --------------------------------------------------------------------------

    def read(self, targets: tuple[str, ...] | None, selection: str) -> Content:
        if selection in self._owned:
            mine = self._owned[selection]
            return mine if targets is None else {name: mine[name] for name in targets[:1] if name in mine}
        reader = SelectionReader(self._x, self._window, selection, time.monotonic() + _READ_S, self._answer)
        return reader.everything() if targets is None else reader.first(targets)

    def own(self, content: Content, selection: str) -> None:
        from Xlib import X
        from Xlib.protocol import request

        self._served[selection] = []
        atom = self._x.atom(selection)
        request.SetSelectionOwner(
            display=self._x.display.display,
            window=self._window if content else X.NONE,
            selection=atom,
            time=X.CurrentTime,
        )
        self._owned.pop(selection, None)
        if not content:
            self._x.display.sync()
        elif self._x.display.get_selection_owner(atom) != self._window:
            raise DesktopError("The clipboard cannot be taken", "close the program that holds it and try again")
        else:
            self._owned[selection] = content

    def fetches_by(self, window: int, selection: str) -> int:
        client = ~int(self._x.display.display.info.resource_id_mask)
        return sum(asker & client == window & client for asker in self._served.get(selection, ()))

    def pump(self) -> None:
        for seen in self._x.arrived():
            self._answer(seen)

    def _answer(self, seen: Any) -> None:
        from Xlib import X

        if seen.type == X.SelectionRequest:
            self._hand_over(seen)
        elif seen.type == X.SelectionClear:
            name = self._x.display.get_atom_name(seen.atom)
            self._owned.pop(name, None)
        elif seen.type == X.PropertyNotify and seen.state == X.PropertyDelete:
            self._outgoing = [part for part in self._outgoing if not part.proceed(seen.window.id, seen.atom)]

    def _hand_over(self, asked: Any) -> None:
        name = self._x.display.get_atom_name(asked.selection)
        outgoing = Outgoing(self._x, asked, self._owned.get(name, {}))
        if outgoing.answer() and self._x.display.get_atom_name(asked.target) not in ("TARGETS", "TIMESTAMP"):
            self._served.setdefault(name, []).append(asked.requestor.id)
        if not outgoing.finished:
            self._outgoing.append(outgoing)
