"""The loop on real models: frames in, commands out; nothing lost, nothing invented, stop always heard."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import voice_rig as rig

from anovax.bus import Bus
from anovax.config import EndpointConfig
from anovax.events import Event
from anovax.voice import Samples
from anovax.voice.endpoint import Endpointer
from anovax.voice.loop import VoiceLoop
from anovax.voice.phrases import NEVER_MIND, STOP, without_phrase
from anovax.voice.transcribe import Transcriber
from anovax.voice.vad import SileroVad

pytestmark = [pytest.mark.models, pytest.mark.timeout(60)]  # loading models on a busy machine takes its time
Weight = Callable[[str], Path]


class NoMicrophone:
    """The tests feed frames themselves."""

    at = 0.0

    def read(self, timeout: float = 0.5) -> Samples | None:
        return None

    def close(self) -> None: ...


class Heard:
    """A loop and everything that came out of it. ``hear`` plays a sound into it, with a second of room after it."""

    def __init__(self, weight: Weight, stt: Transcriber, complete: Callable[[str], bool] = lambda text: False) -> None:
        self.texts: list[str] = []
        self.stops = 0
        self.busy = False
        bus = Bus()
        self._events = bus.subscribe()
        self.loop = VoiceLoop(
            NoMicrophone(),
            rig.wake_detector(weight),
            Endpointer(EndpointConfig(), SileroVad(), complete),
            Endpointer.for_interjections(SileroVad()),
            stt,
            bus,
            on_text=lambda text, samples: self.texts.append(text),
            on_stop=self._stopped,
            busy=lambda: self.busy,
        )
        self.hear(rig.silence(1.0))

    def _stopped(self) -> None:
        self.stops += 1

    def hear(self, *parts: Samples, after_s: float = 0.0) -> None:
        sound = rig.join(*parts, rig.silence(after_s))
        for frame in rig.frames(rig.mixed(sound, rig.room_noise(len(sound) / 16_000))):
            self.loop.feed(frame)
            self._let_the_recogniser_work()

    def _let_the_recogniser_work(self) -> None:
        """Frames come faster here than in life: the next one waits for the text, however busy the machine is."""
        end = time.monotonic() + 10
        while self.loop.waiting_for_text and time.monotonic() < end:
            time.sleep(0.005)

    def events(self) -> list[Event]:
        found = []
        while event := self._events.get(0):
            found.append(event)
        return found

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events()]


@pytest.fixture
def heard(weight: Weight, stt: Transcriber) -> Heard:
    return Heard(weight, stt)


def words(text: str) -> str:
    return " ".join("".join(c for c in text.lower() if c.isalnum() or c == " ").split())


@pytest.mark.parametrize("gap_s", [0.0, 0.2, 0.6, 1.5, 3.0])
def test_a_command_after_the_wake_word_at_any_distance(heard: Heard, say: rig.Piper, gap_s: float) -> None:
    heard.hear(say("hey jarvis"), rig.silence(gap_s), say("open the calculator please"), after_s=3.0)
    assert [words(text) for text in heard.texts] == ["open the calculator please"]
    kinds = heard.kinds()
    assert [k for k in kinds if k != "PartialTranscribed"] == [
        "WakeHeard", "ListeningStarted", "UtteranceEnded", "Transcribed",
    ]  # fmt: skip


def test_one_breath_loses_no_word(heard: Heard, say: rig.Piper) -> None:
    heard.hear(say("hey jarvis open firefox"), after_s=2.0)
    assert [words(text) for text in heard.texts] == ["open firefox"]


def test_only_the_wake_word_is_no_command(heard: Heard, say: rig.Piper) -> None:
    heard.hear(say("hey jarvis"), after_s=8.0)
    assert heard.texts == []
    assert heard.kinds()[-1] == "UtteranceEnded"
    assert not heard.loop.listening


def test_without_the_wake_word_nothing_happens(heard: Heard, say: rig.Piper) -> None:
    heard.hear(say("open the calculator please"), after_s=2.0)
    assert heard.texts == []
    assert heard.events() == []


@pytest.mark.parametrize("noise", ["cough", "music", "fan", "silence"])
def test_noise_after_the_wake_word_is_no_command(heard: Heard, say: rig.Piper, noise: str) -> None:
    sounds = {
        "cough": rig.join(rig.silence(1.2), rig.cough(), rig.silence(0.5), rig.cough(8)),
        "music": rig.join(rig.silence(1.2), rig.music(4.0)),
        "fan": rig.room_noise(4.0, level=1500),
        "silence": rig.silence(4.0),
    }
    heard.hear(say("hey jarvis"), sounds[noise], after_s=7.0)
    assert heard.texts == []
    assert heard.stops == 0


@pytest.mark.parametrize("text", ["never mind", "forget it"])
def test_never_mind_cancels(heard: Heard, say: rig.Piper, text: str) -> None:
    heard.hear(say("hey jarvis"), rig.silence(0.8), say(text), after_s=2.0)
    assert heard.texts == []
    ended = [event for event in heard.events() if event.kind == "UtteranceEnded"]
    assert [event.to_json()["reason"] for event in ended] == ["cancelled"]


def test_a_complete_command_is_text_soon_after_it_was_said(weight: Weight, stt: Transcriber, say: rig.Piper) -> None:
    heard = Heard(weight, stt, complete=lambda text: "calculator" in text.lower())
    heard.hear(say("hey jarvis"), rig.silence(0.8), say("open the calculator"), after_s=2.0)
    reasons = [e.to_json()["reason"] for e in heard.events() if e.kind == "UtteranceEnded"]
    assert reasons == ["complete"]
    assert [words(text) for text in heard.texts] == ["open the calculator"]


def test_stop_is_heard_while_it_works_without_the_wake_word(heard: Heard, say: rig.Piper) -> None:
    heard.busy = True
    heard.hear(rig.silence(0.5), say("stop"), after_s=1.5)
    assert heard.stops == 1
    assert heard.texts == []


def test_other_words_while_it_works_are_nobodys_command(heard: Heard, say: rig.Piper) -> None:
    heard.busy = True
    heard.hear(say("please stop by the shop on your way"), rig.silence(1.0), say("hello"), after_s=1.5)
    assert heard.stops == 0
    assert heard.texts == []


def test_stop_when_nothing_runs_is_nothing(heard: Heard, say: rig.Piper) -> None:
    heard.hear(rig.silence(0.5), say("stop"), after_s=1.5)
    assert heard.stops == 0


def test_stop_after_the_wake_word_is_a_stop(heard: Heard, say: rig.Piper) -> None:
    heard.hear(say("hey jarvis"), rig.silence(0.5), say("stop"), after_s=2.0)
    assert (heard.stops, heard.texts) == (1, [])


def test_push_to_talk_needs_no_wake_word_and_ends_when_let_go(heard: Heard, say: rig.Piper) -> None:
    heard.loop.listen()
    heard.hear(say("open the calculator"))
    heard.loop.release()
    heard.hear(rig.silence(0.2))
    assert [words(text) for text in heard.texts] == ["open the calculator"]
    assert "WakeHeard" not in heard.kinds()


def test_muted_it_hears_nothing_and_says_so(heard: Heard, say: rig.Piper) -> None:
    heard.loop.mute(True)
    heard.loop.mute(True)
    heard.hear(say("hey jarvis"), say("open the calculator"), after_s=1.5)
    heard.loop.listen()
    heard.hear(say("open the calculator"), after_s=1.5)
    heard.loop.mute(False)
    assert heard.texts == []
    assert heard.kinds() == ["Muted", "Muted"]


def test_two_commands_one_after_the_other(heard: Heard, say: rig.Piper) -> None:
    for text in ("take a screenshot", "close the window"):
        heard.hear(say("hey jarvis"), rig.silence(0.5), say(text), after_s=2.0)
    assert [words(text) for text in heard.texts] == ["take a screenshot", "close the window"]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Hey Jarvis, open Firefox.", "Open Firefox."),
        ("Hey, Jarvis. Open Firefox.", "Open Firefox."),
        ("Hey Travis, open Firefox", "Open Firefox"),
        ("A Jarvis open Firefox", "Open Firefox"),
        ("Jarvis, stop!", "Stop!"),
        ("hey jarvis", ""),
        ("Open Firefox.", "Open Firefox."),
        ("hello world", "hello world"),
        ("Hey, how are you?", "Hey, how are you?"),
        ("", ""),
    ],
)
def test_the_wake_phrase_is_not_in_the_text(text: str, rest: str) -> None:
    assert without_phrase(text, "hey jarvis") == rest


@pytest.mark.parametrize(
    "text", ["Stop.", "stop it", "Okay, stop!", "Cancel", "be quiet", "please stop", "that's enough"]
)
def test_ways_to_say_stop(text: str) -> None:
    assert STOP.match(text)


@pytest.mark.parametrize("text", ["stop the music", "don't stop", "the bus stop", "cancel my meeting", "quiet place"])
def test_not_ways_to_say_stop(text: str) -> None:
    assert not STOP.match(text)
    assert not NEVER_MIND.match(text)


def test_close_is_safe_twice(heard: Heard) -> None:
    heard.loop.start()
    heard.loop.close()
    heard.loop.close()


def test_a_frame_of_any_content_is_taken(heard: Heard) -> None:
    for value in (-32768, 32767, 0):
        heard.loop.feed(np.full(1280, value, np.int16))
