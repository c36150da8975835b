"""Reading what a phone sends: bounded in bytes and in time, one type, nothing compressed."""

from __future__ import annotations

import asyncio
import json
import unicodedata
from typing import Any

from aiohttp import web

from anovax.companion.refusal import Refused

JSON_LIMIT = 16 * 1024
AUDIO_LIMIT = 4 * 1024 * 1024  # two minutes of 16 kHz WAV, half an hour of Opus
TEXT_LIMIT = 2000
BODY_S = 15.0
AUDIO_TYPES = ("audio/webm", "audio/ogg", "audio/mp4", "audio/wav", "audio/x-wav", "audio/wave", "video/webm")


async def read(request: web.Request, limit: int, seconds: float | None = None) -> bytes:
    """The body. Refused when it is longer than ``limit`` bytes, compressed, or slower than ``seconds``."""
    if request.headers.get("Content-Encoding", "identity") != "identity":
        raise Refused(415, "encoding", "A compressed body is not read")
    if request.content_length is not None and request.content_length > limit:
        raise _too_large(limit)
    chunks, size = [], 0
    try:
        async with asyncio.timeout(BODY_S if seconds is None else seconds):
            async for chunk in request.content.iter_any():
                size += len(chunk)
                if size > limit:
                    raise _too_large(limit)
                chunks.append(chunk)
    except TimeoutError:
        raise Refused(408, "slow", "The connection is too slow", "go nearer to the router and try again") from None
    except web.RequestPayloadError:
        raise Refused(400, "malformed", "The request is damaged", "try again") from None
    return b"".join(chunks)


async def read_json(request: web.Request) -> dict[str, Any]:
    """A JSON object."""
    if request.content_type != "application/json":
        raise Refused(415, "type", "Only application/json is read here")
    try:
        value = json.loads(await read(request, JSON_LIMIT))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Refused(400, "malformed", "The request is no JSON object", "reload the page")
    return value


async def read_audio(request: web.Request, seconds: float = 30.0) -> tuple[bytes, str]:
    """A recording and its type (``audio/webm`` …, without parameters)."""
    if request.content_type not in AUDIO_TYPES:
        raise Refused(
            415, "audio_type", "This kind of recording is not understood", f"send {', '.join(AUDIO_TYPES[:4])}"
        )
    data = await read(request, AUDIO_LIMIT, seconds)
    if not data:
        raise Refused(400, "no_audio", "The recording is empty", "hold the button while you speak")
    return data, request.content_type


def text_of(value: object, limit: int = TEXT_LIMIT) -> str:
    """One line of text as a person would type it: no control characters, spaces tidied, not empty."""
    if not isinstance(value, str):
        raise Refused(400, "malformed", "The text is missing", "reload the page")
    kept = "".join(" " if char in "\r\n\t" else char for char in value if char in "\r\n\t" or _is_text(char))
    text = " ".join(kept.split())
    if not text:
        raise Refused(400, "no_text", "There is no text", "type what AnovaX shall do")
    if len(text) > limit:
        raise Refused(413, "long_text", f"The text is longer than {limit} characters", "shorten it")
    return text


def flag_of(value: object) -> bool:
    if not isinstance(value, bool):
        raise Refused(400, "malformed", "Yes or no is missing", "reload the page")
    return value


def _is_text(char: str) -> bool:
    """No control characters, lone surrogates or unassigned ones; joiners and direction marks are text."""
    return unicodedata.category(char) not in ("Cc", "Cs", "Cn", "Co")


def _too_large(limit: int) -> Refused:
    return Refused(413, "too_large", f"More than {limit // 1024} KiB cannot be sent", "make it shorter")
