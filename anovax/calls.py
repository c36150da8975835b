"""Waits that a stop ends: for a call in the pool, which also has a time limit, and for anything awaitable."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import NoReturn, TypeVar

from anovax.errors import Cancelled
from anovax.tool import CancelFlag

T = TypeVar("T")
GRACE_S = 0.05  # how long a stop waits for an effect that is under way


async def in_pool(pool: Executor, call: Callable[[], T], cancel: CancelFlag, seconds: float) -> T:
    """What ``call`` returns or raises in a thread of ``pool``; Cancelled as soon as the flag is set, TimeoutError after
    ``seconds``. A call that has not begun by then never does; one that has cannot be ended, and its result is dropped
    (after a stop it has GRACE_S to finish the effect that it is about, so that none comes after the request's end).

    All three ways to end settle one future, and nothing else is waited for: every step of every plan pays for this."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Callable[[], T]] = loop.create_future()

    def settle(answer: Callable[[], T]) -> None:
        if not ended.done():
            ended.set_result(answer)

    def settle_from_a_thread(answer: Callable[[], T]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, answer)

    def work() -> None:
        try:
            result = call()
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            settle_from_a_thread(_raising(error))
        else:
            settle_from_a_thread(lambda: result)

    queued: Future[None] | None = None
    unhook = cancel.on_set(lambda: settle_from_a_thread(_raising(Cancelled(cancel.reason))))
    timer = loop.call_later(seconds, settle, _raising(TimeoutError()))
    try:
        queued = pool.submit(work)
        answer = await ended
        if cancel.is_set() and queued.running():  # a key that is under way is sent before the request has ended
            await asyncio.wait([asyncio.wrap_future(queued)], timeout=GRACE_S)
    finally:
        timer.cancel()
        unhook()
        if queued is not None:
            queued.cancel()
    return answer()


def _raising(error: BaseException) -> Callable[[], NoReturn]:
    def answer() -> NoReturn:
        raise error

    return answer


async def unless_cancelled(work: Awaitable[T], cancel: CancelFlag) -> T:
    """Wait for ``work``; Cancelled as soon as the flag is set, and the work is then cancelled too."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    stopped = asyncio.Event()
    stopping = asyncio.ensure_future(stopped.wait())

    def stop() -> None:
        loop.call_soon_threadsafe(stopped.set)

    unhook = cancel.on_set(stop)
    try:
        await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise Cancelled(cancel.reason)
        return task.result()
    finally:
        unhook()
        stopping.cancel()
        if not task.done():
            task.cancel()
