"""Open streams, by phone: to end them when the phone is revoked or the server goes, and to wait for slow phones."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

from aiohttp import web

from anovax.companion.guard import DEVICE
from anovax.companion.listener import Connection, Listener

MAX_PER_DEVICE = 12
STALLED_S = 30.0
LOOK_S = 0.005


class Streams:
    """A registry of the tasks that serve event streams, pictures and sockets."""

    def __init__(self) -> None:
        self._tasks: dict[str, dict[asyncio.Task[object], None]] = {}

    @contextlib.contextmanager
    def track(self, request: web.Request) -> Iterator[None]:
        """Register the current task for the time of the block. A phone's oldest stream gives way to its 13th.

        That the phone goes away ends the block and is no error.
        """
        task, device = asyncio.current_task(), request[DEVICE].id
        if task is None:
            raise RuntimeError("a stream is served by a task")
        tasks = self._tasks.setdefault(device, {})
        if len(tasks) >= MAX_PER_DEVICE:
            next(iter(tasks)).cancel()
        tasks[task] = None
        try:
            yield
        except ConnectionError:
            pass
        finally:
            tasks.pop(task, None)
            if not tasks:
                self._tasks.pop(device, None)

    def end(self, device: str) -> None:
        """Cut the phone off."""
        for task in list(self._tasks.get(device, ())):
            task.cancel()

    async def close(self) -> None:
        """Cut everybody off and wait until they are gone. Safe twice."""
        tasks = [task for tasks in self._tasks.values() for task in tasks]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=0.5)

    def count(self, device: str) -> int:
        return len(self._tasks.get(device, ()))


class Sender:
    """Writes to one phone and returns only when the kernel has taken everything, so that nothing piles up here."""

    def __init__(self, request: web.Request, response: web.StreamResponse, listener: Listener) -> None:
        self._response = response
        self._transport = request.transport
        self._connection: Connection | None = listener.find(request.transport)

    async def __call__(self, data: bytes) -> None:
        """ConnectionResetError when the phone is gone, or took nothing for half a minute."""
        await self._response.write(data)
        waited = 0.0
        while self._backlog():
            if waited > STALLED_S:
                raise ConnectionResetError("the phone takes nothing")
            await asyncio.sleep(LOOK_S if waited < 1 else 0.05)
            waited += LOOK_S if waited < 1 else 0.05

    @property
    def gone(self) -> bool:
        return self._transport is None or self._transport.is_closing()

    def _backlog(self) -> int:
        if self.gone:
            raise ConnectionResetError("the phone is gone")
        return self._connection.backlog() if self._connection is not None else 0
