"""What needs a running assistant: listening, one executed request, the console that shows every event."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from collections.abc import Coroutine
from pathlib import Path

import typer
from rich.console import Console

from anovax.app import Wanted, build
from anovax.assistant import Assistant
from anovax.bus import Bus, Subscription
from anovax.commands.output import patiently
from anovax.config import Config
from anovax.console import line_for
from anovax.errors import AudioError, Cancelled
from anovax.events import ConsentAsked, DeviceAsked
from anovax.request import Report, Request
from anovax.sound import wake_phrase


async def listen(config: Config) -> None:
    """The assistant with microphone, voice and (when turned on) the companion, until Ctrl-C."""
    wanted = Wanted(listen=True, companion=config.companion.enabled)
    bus = Bus()
    shown = asyncio.create_task(show(bus.subscribe()))  # building has news too: no microphone, the phone's address
    async with build(config, wanted, bus=bus) as assistant:
        asking = asyncio.create_task(keyboard(assistant)) if can_be_typed() else None
        done = asyncio.Event()
        _on_signals(assistant, done)
        typer.echo(f"Listening. Say “{wake_phrase(config)}”, or type a request. Ctrl-C ends.", err=True)
        await done.wait()
        for task in (shown, asking):
            if task is not None:
                task.cancel()


async def do_once(config: Config, text: str, audio: Path | None, dry_run: bool, ask: bool, silent: bool) -> Report:
    """Execute one request. ``ask``: consent questions are put at the terminal, else they are answered no."""
    ask = ask and can_be_typed()
    async with build(config, Wanted(speak=not silent, stt=audio is not None)) as assistant:
        ended = asyncio.Event()
        _on_signals(assistant, ended)
        shown = asyncio.create_task(show(assistant.bus.subscribe())) if sys.stderr.isatty() else None
        asking = asyncio.create_task(keyboard(assistant)) if ask else None
        if not ask:
            assistant.consent.nobody_answers()
        try:
            work = _unless_ended(_once(assistant, text, audio, dry_run), assistant, ended)
            return await patiently(work, assistant.ready)
        finally:
            for task in (shown, asking):
                if task is not None:
                    task.cancel()


async def _once(assistant: Assistant, text: str, audio: Path | None, dry_run: bool) -> Report:
    if audio is not None:
        text = (await assistant.transcribe(audio)).text
        if not text:
            raise AudioError(f"No speech was found in {audio}", "record it again, nearer to the microphone")
    if dry_run:
        return await assistant.planned(text)
    return await assistant.ask(Request(text=text, source="audio_file" if audio else "text"))


async def _unless_ended(work: Coroutine[None, None, Report], assistant: Assistant, ended: asyncio.Event) -> Report:
    """What ``work`` gives. When the program is to end first, a running request is stopped, and its report says so;
    anything else is given up with Cancelled."""
    task, ending = asyncio.create_task(work), asyncio.create_task(ended.wait())
    await asyncio.wait((task, ending), return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    if not task.done() and not assistant.stop("end"):
        task.cancel()
        raise Cancelled("before it was done")
    return await task


async def show(events: Subscription) -> None:
    """Print every event on standard error, one line each."""
    console = Console(stderr=True, highlight=False)
    async for event in events:
        line = line_for(event)
        if line:
            console.print(line)


def can_be_typed() -> bool:
    """Whether standard input is a terminal or a pipe. A service has neither, and a file is no person."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):  # closed, or none at all
        return False
    return sys.stdin.isatty() or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


async def keyboard(assistant: Assistant) -> None:
    """Lines typed at the terminal: requests, answers to consent questions, approvals of phones."""
    phones: list[str] = []  # pairing requests that wait for a yes
    asked = asyncio.create_task(_announce(assistant.bus, phones))
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        while line := await reader.readline():
            text = line.decode("utf-8", errors="replace").strip()
            if sys.stdin.isatty() and assistant.typed_by_agent(text):
                continue
            if phones and text.lower() in ("y", "yes", "n", "no"):
                assistant.approve(phones.pop(), text.lower().startswith("y"))
            elif text:
                await assistant.typed(text)
    finally:
        asked.cancel()


async def _announce(bus: Bus, phones: list[str]) -> None:
    """Say at the terminal what needs an answer; pairing requests are kept in ``phones``."""
    with bus.subscribe() as events:
        async for event in events:
            if isinstance(event, ConsentAsked):
                typer.echo(f"\n{event.reason}\n  {event.exact}\nDo it? [yes/no, {event.expires_s:.0f} s]", err=True)
            elif isinstance(event, DeviceAsked):
                phones.append(event.request)
                typer.echo(f"\n{event.name} at {event.address} wants to be paired. Let it in? [yes/no]", err=True)


def _on_signals(assistant: Assistant, done: asyncio.Event) -> None:
    """Ctrl-C stops what is being done; with nothing to stop it ends the program, as SIGTERM always does."""

    def interrupt() -> None:
        if not assistant.stop("keyboard"):
            done.set()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, interrupt)
    loop.add_signal_handler(signal.SIGTERM, done.set)
