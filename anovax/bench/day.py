"""A day of use in one process: hundreds of typed and spoken requests, done by the whole assistant on a virtual machine.

The same round of requests, in the same order, comes again and again, so that its end can be compared with its start. A
few rounds before the first warm up: what is used for the first time costs memory once. Applications are closed after
every few requests, as a user would; what is still there afterwards has leaked.
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil

from anovax.app import Wanted, build
from anovax.assistant import Assistant
from anovax.bench import chain
from anovax.bench.day_report import Answer, Day
from anovax.bench.footprint import Watch
from anovax.bench.study import live
from anovax.bench.study.backends import Backend
from anovax.bench.study.requests import Asked
from anovax.bench.virtual import environment, virtual_machine
from anovax.config import Config
from anovax.desktop import Desktop
from anovax.desktop import build as build_desktop
from anovax.errors import AnovaxError, UsageError
from anovax.events import Event, SpeechStarted, TurnFinished
from anovax.record import entries, journal_folder, verify
from anovax.request import Request
from anovax.tool import CancelFlag, StepContext
from anovax.voice import SAMPLE_RATE
from anovax.voice.virtual_sound import VirtualSound

CONSENT_S = 1.1  # nobody answers questions here: silence means no
CLOSE_EVERY = 5  # requests
WARM_S = 20  # of speech: more than fits into the recogniser's short window
CLOSE_S = 10.0  # how long an application may take to close before it is ended


@dataclass(frozen=True)
class Plan:
    """``texts`` to type, ``spoken`` to say (from their recordings, where they have one); so many of each, in whole
    rounds. ``speak``: answer aloud, which takes its time."""

    texts: tuple[Asked, ...]
    spoken: tuple[Asked, ...]
    text_requests: int
    audio_requests: int
    seed: int = 0
    speak: bool = True
    warm: int = 50  # requests at least, in whole rounds, before the day is counted

    @property
    def rounds(self) -> int:
        """At least two, and as many as it takes to ask everything so often."""
        typed = -(-self.text_requests // max(1, len(self.texts)))
        said = -(-self.audio_requests // max(1, len(self.spoken)))
        return max(2, typed, said)

    def round(self) -> list[tuple[Asked, bool]]:
        """One round in its order: the request, and whether it is spoken. UsageError when there is nothing to ask."""
        chance, found = random.Random(self.seed), []
        for known, count, aloud in ((self.texts, self.text_requests, False), (self.spoken, self.audio_requests, True)):
            if count and not known:
                raise UsageError("There is nothing to ask", "name a list of requests")
            found += [(one, aloud) for one in chance.sample(known, -(-count // self.rounds))]
        if not found:
            raise UsageError("A day without requests measures nothing", "ask for some text or audio requests")
        chance.shuffle(found)
        return found


async def run(
    plan: Plan, config: Config, backend: Backend, day: Day, tell: Callable[[int, int], None] = lambda done, of: None
) -> None:
    """Live through the day; ``day`` gets each answer as it comes, so that a day cut short has what there is of it.
    ``tell`` hears how many requests are done, the warming ones too. Raises what a missing X server, sound server or
    weight raises."""
    order = plan.round()
    with virtual_machine(config) as (config, sound), _temporary(config.data_dir) as (temporary, home):
        config = _configured(backend.config(config), plan.speak)
        sounds = live.spoken(config, [one for one, aloud in order if aloud]) if plan.audio_requests else {}
        try:
            async with _living(config, sound, sounds, temporary, home) as living:
                await living.warm_up()
                before = len(order) * -(-plan.warm // len(order))
                total = before + len(order) * plan.rounds
                for number in range(total):
                    one, aloud = order[number % len(order)]
                    place = (number + 1) % len(order)
                    answer = await living.ask(one, aloud, tidy=not place or not place % CLOSE_EVERY)
                    if number >= before:
                        day.answers.append(answer)
                    tell(number + 1, total)
        finally:
            day.lines = sum(1 for _ in entries(journal_folder(config)))
            day.faults = tuple(
                f"{fault.file} {fault.line}: {fault.problem}" for fault in verify(journal_folder(config))
            )


def _configured(config: Config, speak: bool) -> Config:
    safety = config.safety.model_copy(update={"consent_s": CONSENT_S})
    tts = config.tts.model_copy(update={"enabled": config.tts.enabled and speak})
    return config.model_copy(update={"safety": safety, "tts": tts})


@contextmanager
def _temporary(folder: Path) -> Iterator[tuple[Path, Path]]:
    """A folder for everybody's temporary files, and a home for the applications."""
    temporary, home = folder / "temporary", folder / "home"
    for made in (temporary, home):
        made.mkdir()
    with environment({"TMPDIR": str(temporary)}):
        tempfile.tempdir = None  # looked for anew
        try:
            yield temporary, home
        finally:
            tempfile.tempdir = None


def _desktop(config: Config, home: Path) -> Desktop:
    """The virtual display's; what is launched from it has a home of its own, and touches nothing of the user's."""
    places = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "CACHE", "STATE", "DATA")}
    with environment({"HOME": str(home), **places}):
        return build_desktop(config.desktop)


@asynccontextmanager
async def _living(
    config: Config, sound: VirtualSound, sounds: dict[str, live.Spoken], temporary: Path, home: Path
) -> AsyncIterator[_Living]:
    wanted = Wanted(listen=bool(sounds), speak=config.tts.enabled)
    async with build(config, wanted, desktop=_desktop(config, home)) as assistant:
        await assistant.ready()
        watch = Watch(os.environ["DISPLAY"], temporary, config.data_dir)
        try:
            yield _Living(assistant, sound, sounds, watch)
        finally:
            close_applications(assistant.desktop)  # one that outlives its home would write into it again
            watch.close()


@dataclass
class _Living:
    """One assistant, its user, and who watches."""

    assistant: Assistant
    sound: VirtualSound
    sounds: dict[str, live.Spoken]
    watch: Watch
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    async def warm_up(self) -> None:
        """Let the recogniser use its full window once, as it does now and then where it doubts what it heard."""
        if self.assistant.transcriber is not None:
            said = np.concatenate([one.samples for one in self.sounds.values()])
            await asyncio.wrap_future(self.assistant.transcriber.submit(np.resize(said, WARM_S * SAMPLE_RATE)))

    async def ask(self, asked: Asked, aloud: bool, tidy: bool) -> Answer:
        """Ask, wait for the end, close the applications when it is time to, and look at what is held."""
        seen, since = await (self._say(asked) if aloud else self._type(asked))
        if tidy:
            await self.loop.run_in_executor(None, close_applications, self.assistant.desktop)
        footprint = await self.loop.run_in_executor(None, self.watch.look)
        finished = next((event for event in seen if isinstance(event, TurnFinished)), None)
        began = next((event.moment for event in seen if isinstance(event, SpeechStarted | TurnFinished)), None)
        return Answer(
            request=f"{asked.id}{' spoken' if aloud else ''}",
            ms=None if finished is None or began is None else round((began - since) * 1000, 1),
            ok=finished is not None and finished.ok,
            footprint=footprint,
        )

    async def _say(self, asked: Asked) -> tuple[list[Event], float]:
        return await chain.played(self.assistant, self.sound, self.sounds[asked.id].samples, woken=True)

    async def _type(self, asked: Asked) -> tuple[list[Event], float]:
        with self.assistant.bus.subscribe(10_000) as events:
            since = time.time()
            if not self.assistant.submit(Request(text=asked.text)):
                return [], since  # a "stop", with nothing to stop
            return await self.loop.run_in_executor(None, chain.until_finished, events), since


def close_applications(desktop: Desktop) -> None:
    """Close every window, as a user would, and wait until its program has ended; what asks back or hangs is killed."""
    programs = [_program(window.pid) for window in desktop.windows()]
    step = StepContext("day", 0, time.monotonic() + CLOSE_S, CancelFlag(), threading.Event())
    for window in desktop.windows():
        with suppress(AnovaxError):  # it has gone by itself
            desktop.close_window(window, step)
    _wait_while(lambda: _open(desktop) or any(map(_runs, programs)), lambda: _kill(_asking(desktop)))
    _kill([*programs, *(_program(window.pid) for window in desktop.windows())])
    _wait_while(lambda: _open(desktop) or any(map(_runs, programs)))


def _wait_while(busy: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None) -> None:
    patience = time.monotonic() + CLOSE_S
    while busy() and time.monotonic() < patience:
        meanwhile()
        time.sleep(0.02)


def _kill(programs: Sequence[psutil.Process | None]) -> None:
    for program in programs:
        with suppress(psutil.Error):
            if program is not None:
                program.kill()


def _open(desktop: Desktop) -> bool:
    return bool(desktop.windows())


def _asking(desktop: Desktop) -> list[psutil.Process | None]:
    """The programs that ask whether to close, and no others: a browser that is killed leaves its files behind."""
    return [_program(window.pid) for window in desktop.windows() if desktop.dialog_of(window) is not None]


def _program(pid: int) -> psutil.Process | None:
    """The process of a window, if we started it: no other is ever killed."""
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        return process if any(parent.pid == os.getpid() for parent in process.parents()) else None
    return None


def _runs(program: psutil.Process | None) -> bool:
    with suppress(psutil.Error):
        return program is not None and program.status() != psutil.STATUS_ZOMBIE
    return False


def short(asked: Sequence[Asked], longest_s: float = 10.0) -> tuple[Asked, ...]:
    """The recordings that can be requests: nobody asks for longer than that."""
    from anovax.voice.audio import load_audio

    found = []
    for one in asked:
        with suppress(AnovaxError):
            if one.audio is not None and len(load_audio(one.audio, longest_s)):
                found.append(one)
    return tuple(found)
