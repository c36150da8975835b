"""Where an utterance begins and ends, with the real voice activity detector."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import voice_rig as rig

from anovax.config import EndpointConfig
from anovax.voice import FRAME_S, SAMPLE_RATE, Samples, Utterance
from anovax.voice.endpoint import COMPLETE_S, UNFINISHED, Endpointer
from anovax.voice.vad import SileroVad

pytestmark = [pytest.mark.models, pytest.mark.timeout(60)]  # loading models on a busy machine takes its time
Weight = Callable[[str], Path]


def endpointer(complete: Callable[[str], bool] = lambda text: False, **changes: float) -> Endpointer:
    return Endpointer(EndpointConfig(**changes), SileroVad(), complete)  # type: ignore[arg-type]


def run(point: Endpointer, sound: Samples, at_pause: str | None = None) -> tuple[Utterance | None, float]:
    """Feed ``sound``; ``at_pause`` is what is told to be heard at each pause. The utterance, and when it ended."""
    for index, frame in enumerate(rig.frames(sound), 1):
        if ended := point.feed(frame):
            return ended, index * FRAME_S
        if at_pause is not None and point.started and point.pause_s >= 2 * FRAME_S:
            point.hear(at_pause)
    return None, len(sound) / SAMPLE_RATE


def room(sound: Samples, level: float = 12.0) -> Samples:
    return rig.mixed(sound, rig.room_noise(len(sound) / SAMPLE_RATE, level))


def test_ends_on_silence_with_every_sample_of_speech(say: rig.Piper) -> None:
    phrase = say("open the calculator")
    ended, at = run(endpointer(), room(rig.join(rig.silence(1.5), phrase, rig.silence(3.0))))
    assert ended is not None
    assert ended.reason == "silence"
    spoken_until = 1.5 + len(phrase) / SAMPLE_RATE
    assert spoken_until + 0.2 < at < spoken_until + 1.1
    assert ended.seconds > len(phrase) / SAMPLE_RATE  # the phrase and the pre-roll
    start = at - ended.seconds
    assert 0.8 < start < 1.5


def test_a_complete_command_ends_early_and_an_unfinished_one_late(say: rig.Piper) -> None:
    sound = room(rig.join(rig.silence(0.5), say("open the calculator"), rig.silence(4.0)))
    early, soon = run(endpointer(lambda text: True), sound, "open the calculator")
    _, normal = run(endpointer(), sound, "open the calculator")
    _, late = run(endpointer(), sound, "open the")
    assert early is not None
    assert early.reason == "complete"
    assert soon <= normal - 0.3
    assert late >= normal + 0.6


def test_a_pause_in_mid_sentence_does_not_cut(say: rig.Piper) -> None:
    sound = room(rig.join(rig.silence(0.3), say("open"), rig.silence(1.1), say("the calculator"), rig.silence(3.0)))
    ended, _ = run(endpointer(), sound, "open")
    assert ended is not None
    assert ended.speech_s > 0.8


@pytest.mark.parametrize("text", ["open", "Open the", "type hello and", "search for,", "and then...", "uh"])
def test_unfinished_texts(text: str) -> None:
    assert UNFINISHED.search(text)


@pytest.mark.parametrize("text", ["open the calculator", "take a screenshot.", "stop", "what time is it?"])
def test_finished_texts(text: str) -> None:
    assert not UNFINISHED.search(text)


def test_nobody_speaks(say: rig.Piper) -> None:
    ended, at = run(endpointer(start_s=2.0), room(rig.silence(5.0)))
    assert ended is not None
    assert ended.reason == "empty"
    assert at == pytest.approx(2.0, abs=0.2)


def test_a_television_does_not_keep_it_listening(say: rig.Piper) -> None:
    talk = rig.join(*[say(f"and now the news of the day number {n}") for n in ("one", "two", "three", "four", "five")])
    television = np.tile(talk, 3)
    ended, at = run(endpointer(max_s=6.0), television)
    assert ended is not None
    assert ended.reason == "cap"
    assert at <= 6.1


def test_silence_is_relative_to_the_speaker(say: rig.Piper) -> None:
    """A television far behind the user's own level counts as the room."""
    phrase = rig.louder(say("open the calculator"), 1.5)
    talk = np.tile(say("and now the weather for tomorrow in the north"), 4)
    sound = rig.mixed(rig.join(rig.silence(0.5), phrase, rig.silence(5.0)), rig.louder(talk, 0.04))
    ended, at = run(endpointer(), sound)
    assert ended is not None
    assert ended.reason == "silence"
    assert at < 0.5 + len(phrase) / SAMPLE_RATE + 1.3


def test_a_click_is_no_beginning(say: rig.Piper) -> None:
    click = np.full(60, 15_000, np.int16)
    ended, _ = run(endpointer(start_s=4.0), room(rig.join(rig.silence(1.0), click, rig.silence(5.0))))
    assert ended is not None
    assert ended.reason == "empty"


def test_what_came_before_belongs_to_it_and_can_be_forgotten(say: rig.Piper) -> None:
    point = endpointer()
    point.begin(before=np.full(16_000, 5, np.int16), woken=True)
    point.feed(rig.silence(FRAME_S))
    assert point.seconds == pytest.approx(1.0 + FRAME_S)
    point.forget()
    assert point.seconds <= 0.5
    assert not point.started


def test_the_wait_after_a_complete_command_is_short() -> None:
    assert EndpointConfig().silence_s > COMPLETE_S
