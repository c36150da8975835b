"""Its own voice: taken out of what it hears, never a wake word, and no hiding place for somebody who says stop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soxr
import voice_rig as rig

from anovax.bus import Bus
from anovax.config import EndpointConfig
from anovax.voice import FRAME_S, Played, Samples, level_db
from anovax.voice.echo import LEAD_S, SIZE, EchoCanceller, OwnVoice, Reference
from anovax.voice.endpoint import Endpointer
from anovax.voice.loop import VoiceLoop
from anovax.voice.transcribe import Transcriber
from anovax.voice.vad import SileroVad

pytestmark = [pytest.mark.models, pytest.mark.timeout(60)]  # loading models on a busy machine takes its time
Weight = Callable[[str], Path]


def cancelled(own: Samples, heard: Samples, canceller: EchoCanceller, clock_error_s: float = 0.0) -> Samples:
    """``heard`` without the echo of ``own``, frame by frame; the two clocks differ by ``clock_error_s``."""
    reference, out = Reference(), []
    reference.add(10.0 + clock_error_s, own)
    for index, frame in enumerate(rig.frames(heard), 1):
        out.append(canceller.clean(frame, reference.around(10.0 + index * FRAME_S + LEAD_S, SIZE)))
    return np.concatenate(out)


@pytest.mark.parametrize("clock_error_s", [-0.02, 0.0, 0.05])
@pytest.mark.parametrize("seed", [1, 2])
def test_an_echo_is_taken_away(say: rig.Piper, seed: int, clock_error_s: float) -> None:
    own = rig.join(say("I opened the calculator and typed the sum for you."), say("The result is forty two."))
    heard = rig.mixed(rig.through(own, rig.room(seed), 0.5), rig.room_noise(len(own) / 16_000, 6))
    clean = cancelled(own, heard, EchoCanceller(), clock_error_s)
    later = slice(24_000, len(own))
    assert level_db(clean[later]) < level_db(heard[later]) - 12


def test_another_voice_survives(say: rig.Piper) -> None:
    own = say("I opened the calculator and typed the sum for you, and it is all done now.")
    other = rig.join(rig.silence(2.0), soxr.resample(say("please wait a moment"), 16_000, 14_000))
    echo = rig.through(own, rig.room(3), 0.4)
    canceller = EchoCanceller()
    cancelled(own, echo, canceller)  # the room is known from what was said before
    clean = cancelled(own, rig.mixed(echo, other), canceller)
    span = slice(33_000, min(len(own), 33_000 + 16_000))
    assert abs(level_db(clean[span]) - level_db(other[span])) < 4


@pytest.mark.parametrize("gain", [0.0, 0.1, 0.4, 1.0])  # 0: headphones
def test_who_talks_over_it_is_noticed_every_time_and_nobody_else(say: rig.Piper, gain: float) -> None:
    own = rig.join(say("I opened the calculator and typed the sum for you, and it is all done now."), rig.silence(0.5))
    other = rig.louder(soxr.resample(say("stop"), 16_000, 14_000), 0.5)
    canceller, vad = EchoCanceller(), SileroVad()
    for turn in range(5):
        sound = rig.mixed(rig.through(own, rig.room(6), gain), rig.room_noise(len(own) / 16_000, 6))
        if turn > 1:
            sound = rig.mixed(sound, rig.join(rig.silence(2.0), other))
        reference, noticed = Reference(), []
        reference.add(10.0, own)
        for index, frame in enumerate(rig.frames(sound), 1):
            clean = canceller.clean(frame, reference.around(10.0 + index * FRAME_S + LEAD_S, SIZE))
            if vad(clean) > 0.5 and canceller.talked_over:
                noticed.append(index * FRAME_S)
        if turn > 1:
            assert 2.0 < noticed[0] < 2.0 + len(other) / 16_000
        else:
            assert noticed == []


def test_without_a_reference_nothing_is_changed() -> None:
    frame = rig.room_noise(FRAME_S)
    assert EchoCanceller().clean(frame, np.zeros(SIZE, np.float32)) is frame


def test_the_reference_remembers_what_was_played_when() -> None:
    reference = Reference()
    assert not reference.around(5.0, 100).any()
    reference.add(10.0, np.arange(1, 1601, dtype=np.int16))
    reference.add(10.11, np.full(1600, 7, np.int16))  # a jittering clock leaves no hole
    assert reference.around(10.1, 3).tolist() == [1598, 1599, 1600]
    assert reference.around(10.2, 1600).tolist() == [7.0] * 1600
    reference.add(30.0, np.full(160, 9, np.int16))
    assert not reference.around(25.0, 1600).any()
    assert reference.around(30.01, 160).tolist() == [9.0] * 160


class Loudspeaker:
    """A room in which what is played is heard; time is the number of frames."""

    def __init__(self) -> None:
        self.now = 10.0
        self._out: list[Played] = []
        self._until = 0.0
        self.pauses: list[tuple[float, float]] = []  # when, for how long at most; 0 is the end of one

    def play(self, sound: Samples) -> None:
        self._out.append(Played(self.now, sound))
        self._until = self.now + len(sound) / 16_000

    def heard(self) -> list[Played]:
        out, self._out = self._out, []
        return out

    def busy(self, tail_s: float = 0.0) -> bool:
        return self.now < self._until + tail_s

    def queue(self, samples: Samples, rate: int) -> int:
        return 0

    def pause(self, seconds: float) -> None:
        self.pauses.append((self.now, seconds))


class NoMicrophone:
    at = 0.0

    def read(self, timeout: float = 0.5) -> Samples | None:
        return None

    def close(self) -> None: ...


class Conversation:
    """The loop in a room with its own voice. ``during`` plays ``own`` while ``other`` is said at ``at`` seconds."""

    def __init__(self, weight: Weight, stt: Transcriber, seed: int) -> None:
        self.speaker, self.response = Loudspeaker(), rig.room(seed)
        self.stops, self.interrupted = 0, 0
        self.bus = Bus()
        self.events = self.bus.subscribe()
        self.loop = VoiceLoop(
            NoMicrophone(),
            rig.wake_detector(weight),
            Endpointer(EndpointConfig(), SileroVad()),
            Endpointer.for_interjections(SileroVad()),
            stt,
            self.bus,
            on_text=lambda text, samples: None,
            on_stop=self._stopped,
            own_voice=OwnVoice(self.speaker, rig.wake_detector(weight, gate=False), self._interrupt),
        )
        self.during(rig.silence(0.8))

    def _stopped(self) -> None:
        self.stops += 1

    def _interrupt(self) -> None:
        self.interrupted += 1

    def during(self, own: Samples, other: Samples | None = None, at: float = 0.0, gain: float = 0.4) -> None:
        sound = rig.through(rig.join(own, rig.silence(0.5)), self.response, gain)
        if other is not None:
            sound = rig.mixed(sound, rig.join(rig.silence(at), other))
        sound = rig.mixed(sound, rig.room_noise(len(sound) / 16_000, 6))
        self.speaker.play(own)
        for frame in rig.frames(sound):
            self.speaker.now += FRAME_S
            self.loop.feed(frame, self.speaker.now)
            while self.loop.waiting_for_text:
                pass

    def woken(self) -> int:
        count = 0
        while event := self.events.get(0):
            count += event.kind == "WakeHeard"
        return count


@pytest.fixture
def talk(weight: Weight, stt: Transcriber, say: rig.Piper) -> Conversation:
    conversation = Conversation(weight, stt, seed=4)
    conversation.during(say("I opened the calculator and typed the sum for you, and it is all done now."))
    return conversation


@pytest.mark.timeout(120)
def test_its_own_wake_phrase_never_wakes_it(talk: Conversation, say: rig.Piper) -> None:
    for gain in (0.2, 0.5, 1.0):
        for text in ("hey jarvis", "you can say hey jarvis to wake me", "hey jarvis, hey jarvis"):
            talk.during(say(text), gain=gain)
    assert talk.woken() == 0


@pytest.mark.full
@pytest.mark.timeout(900)
def test_a_hundred_times_its_own_wake_phrase_in_many_rooms(weight: Weight, stt: Transcriber, say: rig.Piper) -> None:
    woken, pauses = 0, []
    for seed in range(20):
        conversation = Conversation(weight, stt, seed)
        for gain in (0.1, 0.2, 0.4, 0.7, 1.0):
            conversation.during(say("hey jarvis"), gain=gain)
        woken += conversation.woken()
        pauses += conversation.speaker.pauses
    assert woken == 0
    assert pauses == []


@pytest.mark.timeout(120)
def test_a_person_who_says_stop_over_it_is_heard(talk: Conversation, say: rig.Piper) -> None:
    own = rig.join(
        say("If you want me to do something else please say so at any time."), say("I am all ears, as ever.")
    )
    person = soxr.resample(say("stop"), 16_000, 14_000)
    loud = rig.louder(person, 10_000 / np.abs(person).max())
    heard = 0
    for at in (1.0, 2.2, 3.4):
        before = talk.stops
        talk.during(own, loud, at)
        heard += talk.stops > before
    assert heard >= 2


@pytest.mark.timeout(120)
def test_who_speaks_over_it_makes_it_pause_before_the_word_is_over(talk: Conversation, say: rig.Piper) -> None:
    own = rig.join(say("If you want me to do something else please say so at any time."), say("I am all ears."))
    person = soxr.resample(say("stop"), 16_000, 14_000)
    loud = rig.louder(person, 10_000 / np.abs(person).max())
    begun = talk.speaker.now + 2.2
    talk.during(own, loud, 2.2)
    paused = [at for at, seconds in talk.speaker.pauses if seconds]
    assert len(paused) == 1
    assert begun < paused[0] < begun + len(loud) / 16_000


@pytest.mark.timeout(120)
def test_it_pauses_again_in_the_answer_to_who_woke_it(talk: Conversation, say: rig.Piper) -> None:
    own = rig.join(say("If you want me to do something else please say so at any time."), say("I am all ears."))
    person = soxr.resample(say("hey jarvis"), 16_000, 15_000)
    loud = rig.louder(person, 10_000 / np.abs(person).max())
    for turn in (1, 2):
        talk.during(own, loud, 2.0)
        while talk.loop.listening:
            talk.loop.feed(rig.room_noise(FRAME_S, 6), talk.speaker.now)
        assert sum(seconds > 0 for _, seconds in talk.speaker.pauses) == turn


@pytest.mark.timeout(120)
def test_after_other_words_it_goes_on_and_does_not_pause_again(talk: Conversation, say: rig.Piper) -> None:
    own = rig.join(say("If you want me to do something else please say so at any time."), say("I am all ears."))
    person = soxr.resample(rig.join(say("hello there"), rig.silence(0.6), say("how are you")), 16_000, 14_000)
    talk.during(own, rig.louder(person, 10_000 / np.abs(person).max()), 0.5)
    talk.during(rig.silence(1.0))
    assert [seconds > 0 for _, seconds in talk.speaker.pauses] == [True, False]
    assert talk.stops == 0


@pytest.mark.timeout(120)
def test_its_own_voice_alone_is_no_stop_and_no_reason_to_pause(talk: Conversation, say: rig.Piper) -> None:
    before = talk.stops
    talk.during(rig.join(say("The result is forty two."), say("A screenshot was saved in your pictures.")))
    assert talk.stops == before
    assert talk.speaker.pauses == []


@pytest.mark.timeout(120)
def test_a_person_who_says_the_wake_word_interrupts_it(talk: Conversation, say: rig.Piper) -> None:
    talk.woken()
    talk.during(rig.silence(3.0))
    person = soxr.resample(say("hey jarvis"), 16_000, 15_000)
    before = talk.interrupted
    own = rig.join(say("A screenshot was saved in your pictures, and the window was closed after that."))
    talk.during(own, rig.louder(person, 1.5), 1.0, gain=0.2)
    assert talk.woken() == 1
    assert talk.interrupted > before
