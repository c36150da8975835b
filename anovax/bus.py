"""Publish and subscribe. One bounded queue per listener; a slow listener loses its oldest events, nobody else's."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncIterator

from anovax.events import Event

DEFAULT_QUEUE = 1024


class Subscription:
    """One listener's queue. Read it from a thread with ``get`` or from the event loop with ``async for``.

    ``lost`` counts events that were dropped because this listener was too slow.
    """

    def __init__(self, bus: Bus, size: int) -> None:
        self._bus = bus
        self._events: deque[Event] = deque(maxlen=size)
        self._ready = threading.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake: asyncio.Event | None = None
        self._closed = False
        self.lost = 0

    def put(self, event: Event) -> None:
        """Called by the bus only; never blocks."""
        with self._ready:
            if self._closed:
                return
            if len(self._events) == self._events.maxlen:
                self.lost += 1
            self._events.append(event)
            self._ready.notify()
            self._notify_loop()

    def get(self, timeout: float | None = None) -> Event | None:
        """The next event, or None when ``timeout`` seconds pass or the subscription is closed."""
        with self._ready:
            self._ready.wait_for(lambda: self._events or self._closed, timeout)
            return self._events.popleft() if self._events else None

    async def __aiter__(self) -> AsyncIterator[Event]:
        self._loop, self._wake = asyncio.get_running_loop(), asyncio.Event()
        while True:
            self._wake.clear()
            with self._ready:
                batch = list(self._events)
                self._events.clear()
                closed = self._closed
            for event in batch:
                yield event
            if closed:
                return
            if not batch:
                await self._wake.wait()

    def close(self) -> None:
        """Stop listening; what is queued can still be read. Safe twice."""
        self._bus.drop(self)
        with self._ready:
            self._closed = True
            self._ready.notify_all()
            self._notify_loop()

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _notify_loop(self) -> None:
        if self._loop is not None and self._wake is not None:
            with contextlib.suppress(RuntimeError):  # the loop may already be closed at shutdown
                self._loop.call_soon_threadsafe(self._wake.set)


class Bus:
    """Fans each event out to all subscriptions; may be called from any thread; never blocks on a listener."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: tuple[Subscription, ...] = ()

    def publish(self, event: Event) -> None:
        with self._lock:  # the lock keeps one order of events for all listeners
            for listener in self._listeners:
                listener.put(event)

    def subscribe(self, size: int = DEFAULT_QUEUE) -> Subscription:
        subscription = Subscription(self, size)
        with self._lock:
            self._listeners = (*self._listeners, subscription)
        return subscription

    def drop(self, subscription: Subscription) -> None:
        with self._lock:
            self._listeners = tuple(x for x in self._listeners if x is not subscription)

    def close(self) -> None:
        """End every subscription. Safe twice."""
        for listener in self._listeners:
            listener.close()
