"""Escape pressed twice, anywhere: the user's stop key. Watches with the X RECORD extension on connections of its own.

Our own Escape presses are recorded as well; ``ours()`` counts the keys that were sent, so that they are not taken for
the user's.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

WITHIN_S = 0.6
ESCAPE = 0xFF1B


class EscapeWatch:
    """Calls ``twice`` (on its own thread) when the user presses Escape twice within 0.6 s. ``close`` ends it."""

    def __init__(self, display: str, twice: Callable[[], None], ours: Callable[[], int] = lambda: 0) -> None:
        from Xlib import X
        from Xlib.display import Display
        from Xlib.ext import record
        from Xlib.protocol import rq

        self._event_of, self._X, self._record = rq.EventField(None), X, record
        self._twice, self._ours = twice, ours
        self._last, self._sent = 0.0, ours()
        self._control, self._data = Display(display), Display(display)
        self._escape = self._control.keysym_to_keycode(ESCAPE)
        every_key = {
            "core_requests": (0, 0),
            "core_replies": (0, 0),
            "ext_requests": (0, 0, 0, 0),
            "ext_replies": (0, 0, 0, 0),
            "delivered_events": (0, 0),
            "device_events": (X.KeyPress, X.KeyPress),
            "errors": (0, 0),
            "client_started": False,
            "client_died": False,
        }
        self._context = self._data.record_create_context(0, [record.AllClients], [every_key])
        self._thread = threading.Thread(target=self._watch, name="escape", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching. Safe twice."""
        with contextlib.suppress(Exception):  # the display may be gone already
            self._control.record_disable_context(self._context)
            self._control.flush()
            self._thread.join(2)
            self._data.record_free_context(self._context)
            self._data.close()
            self._control.close()

    def _watch(self) -> None:
        with contextlib.suppress(Exception):  # ends with the display
            self._data.record_enable_context(self._context, self._take)

    def _take(self, reply: Any) -> None:
        if reply.category != self._record.FromServer or reply.client_swapped:
            return
        data = reply.data
        while data:
            event, data = self._event_of.parse_binary_value(data, self._data.display, None, None)
            if event.type == self._X.KeyPress:
                self._pressed(event.detail)

    def _pressed(self, keycode: int) -> None:
        """Two presses of Escape with nothing of ours in between are the user's."""
        now, sent = time.monotonic(), self._ours()
        ours, self._sent = sent != self._sent, sent
        if keycode != self._escape or ours:
            self._last = 0.0
            return
        if now - self._last <= WITHIN_S:
            self._last = 0.0
            self._twice()
        else:
            self._last = now
