"""Live partial transcripts: a WebSocket that takes 16-bit sound while the button is held and answers with text.

Only a preview: the recording itself comes by POST. At most one recognition runs per phone, on the newest half minute.
"""

from __future__ import annotations

import asyncio
import contextlib

import numpy as np
from aiohttp import WSMsgType, web

from anovax.companion.ports import AssistantPort, Samples
from anovax.companion.refusal import Refused
from anovax.errors import AnovaxError

RATE = 16_000
KEEP_S = 28  # the recogniser's window
EVERY_S = 0.6
MESSAGE_LIMIT = 64 * 1024  # two seconds in one message
SILENT_S = 10.0  # a phone that holds the button sends ten messages a second


class _Heard:
    """The sound of one press of the button, bounded."""

    def __init__(self) -> None:
        self._pcm = bytearray()
        self.seconds = 0.0

    def add(self, pcm: bytes) -> None:
        self._pcm += pcm[: len(pcm) // 2 * 2]
        del self._pcm[: max(0, len(self._pcm) - KEEP_S * RATE * 2)]
        self.seconds += len(pcm) / 2 / RATE

    def samples(self) -> Samples:
        return (np.frombuffer(bytes(self._pcm), dtype="<i2") / np.float32(32768)).astype(np.float32)


async def serve(request: web.Request, assistant: AssistantPort) -> web.WebSocketResponse:
    """Binary messages in (little-endian 16-bit mono at 16 kHz), ``{"partial": text}`` out, until the phone closes."""
    socket = web.WebSocketResponse(max_msg_size=MESSAGE_LIMIT, heartbeat=10, compress=False, timeout=1.0)
    try:
        await socket.prepare(request)
    except ValueError:  # a key that is no text
        raise Refused(400, "malformed", "The request is damaged", "try again") from None
    heard = _Heard()
    recogniser = asyncio.create_task(_recognise(socket, heard, assistant))
    try:
        while True:
            message = await socket.receive(timeout=SILENT_S)
            if message.type is not WSMsgType.BINARY:
                break
            heard.add(message.data)
    except TimeoutError:
        pass
    finally:
        recogniser.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await recogniser
        await socket.close()
    return socket


async def _recognise(socket: web.WebSocketResponse, heard: _Heard, assistant: AssistantPort) -> None:
    """Transcribe again whenever there is more sound, never faster than the recogniser is."""
    done, said = 0.0, ""
    while not socket.closed:
        await asyncio.sleep(EVERY_S)
        if heard.seconds - done < EVERY_S / 2:
            continue
        done = heard.seconds
        with contextlib.suppress(AnovaxError):
            text = await assistant.transcribe_partial(heard.samples())
            if text and text != said:
                said = text
                with contextlib.suppress(ConnectionError):
                    await socket.send_json({"partial": text})
