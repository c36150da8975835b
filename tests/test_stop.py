"""Stop wins: over speech that has not begun to sound, and over work of the model that cannot be interrupted."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest

from anovax import calls
from anovax.app import _Core
from anovax.assistant import Assistant
from anovax.bus import Bus
from anovax.commands.live import _unless_ended
from anovax.config import TtsConfig
from anovax.errors import AudioError, Cancelled
from anovax.events import SpeechEnded, SpeechStarted
from anovax.plan import PlanRequest
from anovax.planner.llamacpp import LlamaCpp, _unless_stopped
from anovax.request import Report
from anovax.tool import CancelFlag
from anovax.voice import Samples
from anovax.voice.speak import Speaker
from anovax.voice.speakable import sentences


class Loudspeaker:
    """The speaker's neighbour: somebody says stop while it gets ready."""

    rate, latency_s = 22_050, 0.04

    def __init__(self, flag: CancelFlag) -> None:
        self.prepare = flag.set
        self.queued = 0

    def queue(self, samples: Samples, rate: int) -> int:
        self.queued += len(samples)
        return self.queued

    def wait(self, until: int, stopped: Callable[[], bool] = lambda: False, ahead_s: float = 0.0) -> bool:
        return not stopped()

    def flush(self) -> int:
        return 0

    def position(self) -> int:
        return 0


def test_stopped_before_the_first_sound_nothing_is_said(weight: Callable[[str], Path]) -> None:
    flag, bus = CancelFlag(), Bus()
    loudspeaker = Loudspeaker(flag)
    speaker = Speaker(TtsConfig(), weight("tts/en_US-joe-medium"), loudspeaker, sentences, bus)
    with bus.subscribe() as events:
        with pytest.raises(Cancelled):
            speaker.say("One two three. Four five six.", flag)
        seen = list(iter(lambda: events.get(0), None))
    speaker.close()
    assert seen == [SpeechEnded(spoken="", interrupted=True, at=seen[0].at)]
    assert loudspeaker.queued == 0


def test_speech_has_begun_when_its_first_sound_is_on_its_way_and_is_heard_a_driver_later(
    weight: Callable[[str], Path],
) -> None:
    bus, before = Bus(), []
    with bus.subscribe() as events:
        loudspeaker = Loudspeaker(CancelFlag())
        queue = loudspeaker.queue

        def noticed(samples: Samples, rate: int) -> int:
            before.append(events.get(0))
            return queue(samples, rate)

        loudspeaker.queue = noticed  # type: ignore[method-assign]
        speaker = Speaker(TtsConfig(), weight("tts/en_US-joe-medium"), loudspeaker, sentences, bus)
        speaker.say("One two three. Four five six.", CancelFlag())
        speaker.close()
    assert before[0] is None
    started = before[1]
    assert isinstance(started, SpeechStarted)
    assert started.moment == started.at + loudspeaker.latency_s and before.count(None) == len(before) - 1


@pytest.mark.parametrize("ending", ["result", "error", "never"])
async def test_nobody_waits_for_a_worker_after_a_stop(ending: str) -> None:
    working: Future[str] = Future()
    cancel = CancelFlag()
    waiting = asyncio.ensure_future(_unless_stopped(asyncio.wrap_future(working), cancel))
    await asyncio.sleep(0)
    threading.Thread(target=cancel.set, args=("phone",)).start()
    with pytest.raises(Cancelled):
        await waiting
    if ending == "result":
        working.set_result("late")
    elif ending == "error":
        working.set_exception(Cancelled("phone"))
    await asyncio.sleep(0)


async def test_a_worker_that_ends_gives_its_result_or_its_error() -> None:
    good: Future[str] = Future()
    good.set_result("planned")
    assert await _unless_stopped(asyncio.wrap_future(good), CancelFlag()) == "planned"
    bad: Future[str] = Future()
    bad.set_exception(ValueError("broken"))
    with pytest.raises(ValueError, match="broken"):
        await _unless_stopped(asyncio.wrap_future(bad), CancelFlag())


@pytest.mark.parametrize(("grace_s", "stuck"), [(10.0, False), (0.01, True)])
async def test_an_effect_that_is_under_way_ends_before_the_request(
    grace_s: float, stuck: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "GRACE_S", grace_s)
    begun, go_on, effects = threading.Event(), threading.Event(), list[str]()

    def press() -> None:
        begun.set()
        go_on.wait(10)
        effects.append("key")

    cancel = CancelFlag()
    with ThreadPoolExecutor(1) as pool:
        call = asyncio.ensure_future(calls.in_pool(pool, press, cancel, 10))
        await asyncio.to_thread(begun.wait, 10)
        cancel.set("stop")
        if not stuck:
            go_on.set()
        with pytest.raises(Cancelled):
            await call
        assert effects == ([] if stuck else ["key"])
        go_on.set()


async def test_stop_does_not_wait_for_the_model_to_be_loaded() -> None:
    planner, flag = object.__new__(LlamaCpp), CancelFlag()
    planner._loaded = loading = Future()
    asyncio.get_running_loop().call_later(0.05, flag.set)
    with pytest.raises(Cancelled):
        async with asyncio.timeout(5):
            await planner.plan(PlanRequest(text="open x"), flag)
    assert not loading.cancelled()  # the next request will need it


async def test_a_request_ends_with_the_program_and_says_so() -> None:
    class Working:
        """An assistant with one running request, or with none."""

        def __init__(self, running: bool) -> None:
            self.running, self.stopped = running, asyncio.Event()

        def stop(self, by: str) -> bool:
            self.stopped.set()
            return self.running

        async def work(self) -> Report:
            await self.stopped.wait()
            await asyncio.sleep(0)
            return Report.model_construct(said="Stopped.")

    for running in (True, False):
        assistant, ended = Working(running), asyncio.Event()
        asyncio.get_running_loop().call_later(0.05, ended.set)
        ending = _unless_ended(assistant.work(), cast(Assistant, assistant), ended)
        async with asyncio.timeout(5):
            if running:
                assert (await ending).said == "Stopped."
            else:
                with pytest.raises(Cancelled):
                    await ending


async def test_a_missing_loudspeaker_is_told_once_until_it_is_there_again() -> None:
    class Unplugged:
        plugged = False

        def say(self, text: str, cancel: CancelFlag) -> str:
            if not self.plugged:
                raise AudioError("There is no loudspeaker", "plug one in")
            return text

    speaker, core = Unplugged(), object.__new__(_Core)
    core.bus, core.silent = Bus(), ""
    with ThreadPoolExecutor(1) as core.pool, core.bus.subscribe() as events:
        told = []
        for speaker.plugged in (False, False, True, False):
            await core._speak(cast(Speaker, speaker), "Done.", CancelFlag())
            told.append(len(list(iter(lambda: events.get(0), None))))
    assert told == [1, 0, 0, 1]
