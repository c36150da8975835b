"""What the remote backends share: one JSON request under a time limit, and every failure as one clear sentence.

A remote backend sends the request's text and its context to another machine. It is used only when the configuration
names it, and what it sends is exactly ``body()``: the same the user can see with ``anovax config show`` and in the
events.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn, Protocol

import aiohttp

from anovax.config import PlannerConfig
from anovax.errors import Cancelled, PlanFormatError, PlannerError
from anovax.plan import Context, Failure, Plan, Planned, PlanRequest
from anovax.planner import prompt
from anovax.planner.grounding import answering
from anovax.tool import CancelFlag, Toolbox

MAX_ANSWER = 1 << 20  # bytes
REFUSALS = (400, 422, 500)  # of a form that the server does not know; llama-cpp-python's server answers with a 500


class Dialect(Protocol):
    """How one kind of server is spoken to. ``label`` stands in error sentences."""

    label: str

    def call(self, system: str, user: str) -> tuple[str, Mapping[str, str], Mapping[str, Any]]:
        """Address, headers and JSON body of one request."""
        ...

    def simpler(self) -> bool:
        """Fall back to an older form of the request after the server has refused it; False when there is none."""
        ...

    def text(self, answer: Mapping[str, Any]) -> tuple[str, bool]:
        """The plan's JSON text and whether it was cut off. Raises KeyError, IndexError or TypeError for another
        shape."""
        ...


class Remote:
    """A Planner over HTTP. One connection per request: there is nothing to give back."""

    def __init__(self, name: str, dialect: Dialect, config: PlannerConfig, tools: Toolbox) -> None:
        self.name = name
        self._dialect, self._config, self._tools = dialect, config, tools

    async def plan(self, request: PlanRequest, cancel: CancelFlag) -> Planned:
        user = json.dumps({"request": request.text[: prompt.MAX_REMOTE], **shown(request.context)}, ensure_ascii=False)
        return await self._ask(prompt.instructions(self._tools), user, cancel)

    async def think(self, failure: Failure, cancel: CancelFlag) -> Planned:
        tried = [{**step.to_json(), "ended": ended} for step, ended in failure.tried]
        told = {"request": failure.text[: prompt.MAX_REMOTE], "tried": tried, "seen": failure.observations}
        user = json.dumps({**told, **shown(failure.context)}, ensure_ascii=False)
        return await self._ask(prompt.instructions(self._tools) + prompt.REPAIR, user, cancel)

    async def _ask(self, system: str, user: str, cancel: CancelFlag) -> Planned:
        started = time.perf_counter()
        text, cut = await until_cancelled(self._post(system, user), cancel)
        if cut:
            raise PlannerError(f"{self._dialect.label} cut its answer off", "ask for less at once")
        try:
            plan = answering(Plan.parse(json.loads(text), self._tools))
        except (ValueError, PlanFormatError):
            raise PlannerError(f"{self._dialect.label} answered with something that is no plan", "ask again") from None
        return Planned(plan=plan, backend=self.name, ms=(time.perf_counter() - started) * 1000)

    async def _post(self, system: str, user: str) -> tuple[str, bool]:
        url, headers, body = self._dialect.call(system, user)
        limit = aiohttp.ClientTimeout(total=self._config.timeout_s)
        try:
            async with (
                aiohttp.ClientSession(timeout=limit) as session,
                session.post(url, json=body, headers=headers, allow_redirects=False) as response,
            ):
                raw = await response.content.read(MAX_ANSWER)
                status, answered = response.status, response.headers
        except TimeoutError:
            self._fail(f"did not answer within {self._config.timeout_s:g} s")
        except aiohttp.ClientError as error:
            self._fail(f"cannot be reached ({type(error).__name__})", "check the network and planner.url")
        if status in REFUSALS and self._dialect.simpler():
            return await self._post(system, user)
        self._check(status, answered)
        return self._read(raw)

    def _check(self, status: int, headers: Mapping[str, str]) -> None:
        if status == 429:
            wait = headers.get("Retry-After", "")
            self._fail("takes no more requests now", f"try again in {wait} s" if wait.isdigit() else "try again later")
        if status in (401, 403):
            self._fail("does not accept the key", f"set {self._config.api_key_env} to a valid key")
        if status == 404:
            self._fail("does not know that address or model", "check planner.url and planner.remote_model")
        if status >= 500:
            self._fail(f"has trouble of its own (HTTP {status})", "try again later")
        if status != 200:
            self._fail(f"refused the request (HTTP {status})", "check planner.url and planner.remote_model")

    def _read(self, raw: bytes) -> tuple[str, bool]:
        try:
            return self._dialect.text(json.loads(raw))
        except (ValueError, KeyError, IndexError, TypeError):
            raise PlannerError(f"{self._dialect.label} answered in an unknown form", "check planner.url") from None

    def _fail(self, what: str, fix: str = "try again, or plan locally") -> NoReturn:
        raise PlannerError(f"{self._dialect.label} {what}", fix)

    async def ready(self) -> None:
        """Nothing is loaded."""

    def close(self) -> None:
        """Holds nothing. Safe twice."""


class OrLocal:
    """``remote``, and ``local`` when it fails: only where ``planner.fall_back_to_local`` is set."""

    def __init__(self, remote: Remote, local: Any) -> None:
        self._remote, self._local = remote, local
        self.name = remote.name

    async def plan(self, request: PlanRequest, cancel: CancelFlag) -> Planned:
        """``Planned.backend`` tells which of the two answered."""
        try:
            return await self._remote.plan(request, cancel)
        except PlannerError:
            cancel.check()
            planned: Planned = await self._local.plan(request, cancel)
            return planned

    async def think(self, failure: Failure, cancel: CancelFlag) -> Planned:
        try:
            return await self._remote.think(failure, cancel)
        except PlannerError:
            cancel.check()
            planned: Planned = await self._local.think(failure, cancel)
            return planned

    async def ready(self) -> None:
        await self._local.ready()

    def close(self) -> None:
        self._remote.close()
        self._local.close()


def shown(context: Context) -> dict[str, Any]:
    """What of ``context`` is sent: short, bounded, only what there is."""
    turns = [{"request": turn.heard[:200], "plan": turn.plan.to_json()["steps"]} for turn in context.turns]
    data: dict[str, Any] = {
        "earlier": turns,
        "focused_window": context.focus.name[:80] if context.focus else "",
        "open_windows": [window.name[:80] for window in context.windows[:12]],
        "recent_apps": list(context.recent_apps[:6]),
        "notes": [fact[:200] for fact in context.facts[:6]],
    }
    return {"context": {key: value for key, value in data.items() if value}} if any(data.values()) else {}


def _in_loop(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    loop.call_soon_threadsafe(task.cancel)


async def until_cancelled(work: Any, cancel: CancelFlag) -> tuple[str, bool]:
    """The result of the coroutine ``work``; Cancelled as soon as ``cancel`` is set, which may be by another thread."""
    task: asyncio.Task[tuple[str, bool]] = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    unhook = cancel.on_set(partial(_in_loop, loop, task))
    try:
        return await task
    except asyncio.CancelledError:
        if cancel.is_set():
            raise Cancelled(cancel.reason) from None
        raise
    finally:
        unhook()
        task.cancel()
