"""A server on loopback that speaks the Gemini protocol and answers with the plans of a local backend.

It stands where the cloud would be, so that a study can be made without one. What it needs for a plan is what the local
backend needs on this machine: a data centre is quicker or slower. Every figure from it is labelled as simulated.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from anovax.errors import AnovaxError
from anovax.plan import PlanRequest
from anovax.planner.protocol import Planner
from anovax.tool import CancelFlag


class GeminiServer:
    """Answers ``generateContent`` with what ``planner`` plans for the request in the body."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self.app = web.Application()
        self.app.router.add_post("/v1beta/models/{call}", self._generate)

    async def _generate(self, request: web.Request) -> web.Response:
        body = await request.json()
        try:
            user = json.loads(body["contents"][0]["parts"][0]["text"])
            planned = await self._planner.plan(PlanRequest(text=user["request"]), CancelFlag())
        except (KeyError, IndexError, TypeError, ValueError):
            raise web.HTTPBadRequest from None
        except AnovaxError as error:
            raise web.HTTPServiceUnavailable(text=str(error)) from None
        part = {"text": json.dumps(planned.plan.to_json())}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        return web.json_response({"candidates": [candidate], "modelVersion": "simulated"})


@asynccontextmanager
async def serving(planner: Planner) -> AsyncIterator[int]:
    """The port of such a server, for the time of the block."""
    runner = web.AppRunner(GeminiServer(planner).app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
