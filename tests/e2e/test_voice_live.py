"""The voice loop on sound hardware: a private PulseAudio, PortAudio, real models, and all that happens to devices."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import voice_rig as rig

from anovax.bus import Bus, Subscription
from anovax.config import AudioConfig, EndpointConfig, TtsConfig
from anovax.errors import AudioError, Cancelled
from anovax.events import Event
from anovax.tool import CancelFlag
from anovax.voice import SAMPLE_RATE, Samples, level_db
from anovax.voice.devices import SoundDevices
from anovax.voice.echo import OwnVoice
from anovax.voice.endpoint import Endpointer
from anovax.voice.loop import VoiceLoop
from anovax.voice.microphone import Microphone
from anovax.voice.playback import Playback, tone
from anovax.voice.soundcheck import check_sound
from anovax.voice.speak import Speaker
from anovax.voice.speakable import sentences
from anovax.voice.transcribe import Transcriber
from anovax.voice.vad import SileroVad
from anovax.voice.virtual_sound import NEEDED, VirtualSound

pytestmark = [pytest.mark.e2e, pytest.mark.models, pytest.mark.timeout(90)]
Weight = Callable[[str], Path]


@pytest.fixture(scope="module")
def sound() -> Iterator[VirtualSound]:
    import shutil

    if any(shutil.which(tool) is None for tool in NEEDED):
        pytest.skip("PulseAudio and its tools are needed for virtual sound hardware")
    with VirtualSound() as virtual, virtual.use():
        SoundDevices().refresh()
        yield virtual


@pytest.fixture
def devices(sound: VirtualSound) -> SoundDevices:
    return SoundDevices()


def until(condition: Callable[[], object], seconds: float = 15.0) -> bool:
    """Wait for ``condition`` to hold; False after ``seconds``."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def words(text: str) -> str:
    return " ".join("".join(c for c in text.lower() if c.isalnum() or c == " ").split())


class Listening:
    """A microphone that is read on a thread, and what it said about itself."""

    def __init__(self, devices: SoundDevices, bus: Bus | None = None, **options: object) -> None:
        self.bus = bus or Bus()
        self.events = self.bus.subscribe()
        self.microphone = Microphone(AudioConfig(), devices, self.bus, **options)  # type: ignore[arg-type]

    def hear(self, seconds: float) -> Samples:
        """What the microphone gives within so much time."""
        frames, end = [rig.silence(0)], time.monotonic() + seconds
        while time.monotonic() < end:
            if (frame := self.microphone.read(0.2)) is not None:
                frames.append(frame)
        return np.concatenate(frames)

    def kinds(self) -> list[str]:
        return [event.kind for event in drain(self.events)]


def drain(events: Subscription) -> list[Event]:
    found = []
    while event := events.get(0):
        found.append(event)
    return found


@pytest.fixture
def ears(devices: SoundDevices) -> Iterator[Listening]:
    listening = Listening(devices)
    assert until(lambda: listening.microphone.read(0.5) is not None)
    yield listening
    listening.microphone.close()
    listening.microphone.close()


# --- the microphone ---


def test_a_tone_played_in_comes_out_of_the_microphone(sound: VirtualSound, ears: Listening) -> None:
    sound.play_into_microphone(tone(1000, 1.0), wait=False)
    heard = ears.hear(2.0)
    spectrum = np.abs(np.fft.rfft(heard))
    assert abs(np.argmax(spectrum) * SAMPLE_RATE / len(heard) - 1000) < 5
    assert level_db(heard) > -40
    assert ears.microphone.lost == 0


@pytest.mark.parametrize("rate", [44_100, 48_000])
def test_a_microphone_that_refuses_16_khz_is_resampled(sound: VirtualSound, devices: SoundDevices, rate: int) -> None:
    class Picky(SoundDevices):
        """Hardware with one rate, in stereo."""

        def open(self, direction, device, rates, callback, block_s):  # type: ignore[no-untyped-def]
            return super().open(direction, device, (rate,), callback, block_s)

    listening = Listening(Picky())
    try:
        assert until(lambda: listening.microphone.read(0.5) is not None)
        assert listening.microphone.rate == rate
        sound.play_into_microphone(tone(1000, 1.0), wait=False)
        heard = listening.hear(2.0)
        assert abs(np.argmax(np.abs(np.fft.rfft(heard))) * SAMPLE_RATE / len(heard) - 1000) < 5
    finally:
        listening.microphone.close()


def test_pulled_out_in_mid_sentence_it_says_so_and_comes_back(sound: VirtualSound, ears: Listening) -> None:
    sound.stop(kill=True)
    assert until(lambda: ears.microphone.read(0.1) is None and "DeviceTroubled" in ears.kinds(), 4.0)
    ears.hear(1.0)
    assert ears.kinds() == []  # said once
    sound.start()
    started = time.monotonic()
    assert until(lambda: ears.microphone.read(0.1) is not None, 8.0)
    assert until(lambda: ears.microphone.read(0.1) is not None and "DeviceRecovered" in ears.kinds(), 3.0)
    assert time.monotonic() - started < 8.0


def test_a_busy_reader_is_no_dead_microphone(ears: Listening) -> None:
    time.sleep(7.0)  # as long as a slow machine may think about one utterance
    heard = ears.hear(0.5)
    assert len(heard) > 6.0 * SAMPLE_RATE
    assert ears.kinds() == []
    assert ears.microphone.lost == 0


def test_the_default_microphone_may_change(sound: VirtualSound, ears: Listening) -> None:
    module = sound.pactl("load-module", "module-null-sink", "sink_name=other", "rate=48000", "channels=1")
    try:
        sound.pactl("set-default-source", "other.monitor")
        assert until(lambda: len(ears.hear(0.5)) > 0.3 * SAMPLE_RATE)
        sound.pactl("set-default-source", "microphone")
        assert until(lambda: len(ears.hear(0.5)) > 0.3 * SAMPLE_RATE)
    finally:
        sound.pactl("unload-module", module)


def test_a_source_that_vanishes_is_replaced(sound: VirtualSound, devices: SoundDevices) -> None:
    module = sound.pactl("load-module", "module-remap-source", "source_name=usb", "master=room.monitor")
    sound.pactl("set-default-source", "usb")
    listening = Listening(devices)
    try:
        assert until(lambda: listening.microphone.read(0.5) is not None)
        sound.pactl("unload-module", module)
        sound.pactl("set-default-source", "microphone")
        assert until(lambda: len(listening.hear(0.5)) > 0.3 * SAMPLE_RATE, 6.0)
    finally:
        listening.microphone.close()
        sound.pactl("set-default-source", "microphone")


def test_digital_silence_from_a_monitor_is_named(sound: VirtualSound, devices: SoundDevices) -> None:
    sound.pactl("set-default-source", "loudspeaker.monitor")
    listening = Listening(devices)
    try:
        listening.hear(7.5)
        troubles = [e.to_json() for e in drain(listening.events) if e.kind == "DeviceTroubled"]
        assert len(troubles) == 1
        assert "digital silence" in troubles[0]["problem"]
        assert "monitor" in troubles[0]["fix"]
    finally:
        listening.microphone.close()
        sound.pactl("set-default-source", "microphone")


def test_after_a_suspend_the_device_is_opened_again(sound: VirtualSound, devices: SoundDevices) -> None:
    slept = [0.0]
    listening = Listening(devices, suspended=lambda: slept[0])
    try:
        assert until(lambda: listening.microphone.read(0.5) is not None)
        slept[0] += 3600.0
        listening.hear(0.3)
        assert until(lambda: len(listening.hear(0.5)) > 0.3 * SAMPLE_RATE, 5.0)
        assert listening.kinds() == ["DeviceTroubled", "DeviceRecovered"]
    finally:
        listening.microphone.close()


def test_a_name_that_does_not_exist_lists_what_there_is(devices: SoundDevices) -> None:
    with pytest.raises(AudioError, match="no microphone called nonsense"):
        devices.choose("input", "nonsense")


# --- the loudspeaker ---


@pytest.fixture
def playback(devices: SoundDevices) -> Iterator[Playback]:
    player = Playback(AudioConfig(), devices)
    yield player
    player.close()
    player.close()


def test_what_is_queued_is_played_without_gaps(sound: VirtualSound, playback: Playback) -> None:
    def span_s() -> float:
        recorder = sound.record_loudspeaker()
        until(lambda: len(recorder.samples()) > 0)
        end = [playback.queue(tone(500, 0.2), SAMPLE_RATE) for _ in range(5)][-1]
        assert playback.wait(end)
        time.sleep(0.3)
        loud = np.flatnonzero(np.abs(recorder.stop().astype(int)) > 500)
        return float(loud[-1] - loud[0]) / SAMPLE_RATE

    assert until(lambda: abs(span_s() - 1.0) < 0.06)  # a machine that does something else may keep sound waiting
    assert not playback.busy()


def test_flush_is_silence_at_once(sound: VirtualSound, playback: Playback) -> None:
    end = playback.queue(tone(500, 3.0), SAMPLE_RATE)
    assert until(lambda: playback.position() > 0.3 * playback.rate)
    reached = playback.flush()
    assert reached < 0.5 * end
    assert not playback.wait(end)
    assert not playback.busy()


def test_a_pause_is_silence_from_which_it_goes_on(sound: VirtualSound, playback: Playback) -> None:
    recorder = sound.record_loudspeaker()
    assert until(lambda: len(recorder.samples()) > 0)
    end = playback.queue(tone(500, 1.0), SAMPLE_RATE)
    assert until(lambda: playback.position() > 0.3 * playback.rate)
    playback.pause(30.0)
    time.sleep(0.5)
    assert playback.busy()
    playback.pause(0.0)
    assert playback.wait(end)
    time.sleep(0.3)
    loud = np.flatnonzero(np.abs(recorder.stop().astype(int)) > 500)
    assert (loud[-1] - loud[0]) / SAMPLE_RATE > 1.4
    assert len(loud) / SAMPLE_RATE == pytest.approx(0.97, abs=0.1)  # nothing is lost and nothing comes twice


def test_a_flush_ends_a_pause(playback: Playback) -> None:
    playback.queue(tone(500, 1.0), SAMPLE_RATE)
    playback.pause(30.0)
    playback.flush()
    assert playback.wait(playback.queue(tone(500, 0.1), SAMPLE_RATE))


@pytest.fixture
def speaker(weight: Weight, playback: Playback) -> Iterator[Speaker]:
    voice = Speaker(TtsConfig(), weight("tts/en_US-joe-medium"), playback, sentences)
    yield voice
    voice.close()
    voice.close()


def test_it_says_what_it_is_told(sound: VirtualSound, speaker: Speaker, stt: Transcriber) -> None:
    recorder = sound.record_loudspeaker()
    until(lambda: len(recorder.samples()) > 0)
    text = "I opened the calculator. The result is forty two."
    assert speaker.say(text, CancelFlag()) == text
    time.sleep(0.3)
    heard = words(stt.transcribe(recorder.stop()).text)
    assert "calculator" in heard
    assert "42" in heard or "forty two" in heard


def test_stop_silences_it_and_only_what_was_said_counts(speaker: Speaker, playback: Playback) -> None:
    flag = CancelFlag()
    text = "One two three four five. Six seven eight nine ten. Eleven twelve thirteen fourteen fifteen."
    bus_said: list[str] = []

    def stop_soon() -> None:
        until(lambda: playback.position() > 1.2 * playback.rate)
        flag.set()

    import threading

    helper = threading.Thread(target=stop_soon)
    helper.start()
    try:
        with pytest.raises(Cancelled):
            bus_said.append(speaker.say(text, flag))
    finally:
        helper.join()
    assert not playback.busy()


def test_an_interruption_returns_the_words_that_were_heard(speaker: Speaker, playback: Playback) -> None:
    import threading

    def interrupt_soon() -> None:
        until(lambda: playback.position() > 1.5 * playback.rate)
        speaker.interrupt()

    helper = threading.Thread(target=interrupt_soon)
    helper.start()
    said = speaker.say(
        "One two three four five. Six seven eight nine ten. Eleven twelve thirteen fourteen.", CancelFlag()
    )
    helper.join()
    assert said.startswith("One two")
    assert "fourteen" not in said


# --- the check that doctor makes ---


def test_the_check_hears_its_own_beep_through_the_air(
    sound: VirtualSound, devices: SoundDevices, playback: Playback
) -> None:
    air = sound.pactl("load-module", "module-loopback", "source=loudspeaker.monitor", "sink=room", "latency_msec=30")
    microphone = Microphone(AudioConfig(), devices, Bus())
    try:
        facts = check_sound(microphone, playback)
        assert facts.loudspeaker
        assert not facts.silent
        assert facts.problem == ""
        assert facts.beep_ms is not None
        assert 0 < facts.beep_ms < 1200
    finally:
        microphone.close()
        sound.pactl("unload-module", air)


def test_the_check_without_air_says_that_the_beep_did_not_come_back(devices: SoundDevices, playback: Playback) -> None:
    microphone = Microphone(AudioConfig(), devices, Bus())
    try:
        facts = check_sound(microphone, playback)
        assert facts.beep_ms is None
        assert facts.clipped == 0.0
    finally:
        microphone.close()


# --- all of it ---


class Assistant:
    """The whole voice part on the virtual hardware."""

    def __init__(
        self, weight: Weight, devices: SoundDevices, stt: Transcriber, speaker: Speaker, playback: Playback
    ) -> None:
        self.texts: list[str] = []
        self.stops = 0
        self.bus = Bus()
        self.events = self.bus.subscribe()
        own = OwnVoice(playback, rig.wake_detector(weight, gate=False), speaker.interrupt, tone(880, 0.12))
        self.loop = VoiceLoop(
            Microphone(AudioConfig(), devices, self.bus),
            rig.wake_detector(weight),
            Endpointer(EndpointConfig(), SileroVad()),
            Endpointer.for_interjections(SileroVad()),
            stt,
            self.bus,
            on_text=lambda text, samples: self.texts.append(text),
            on_stop=self._stopped,
            own_voice=own,
        )
        self.loop.start()

    def _stopped(self) -> None:
        self.stops += 1


@pytest.fixture
def assistant(
    weight: Weight, sound: VirtualSound, devices: SoundDevices, stt: Transcriber, speaker: Speaker, playback: Playback
) -> Iterator[Assistant]:
    whole = Assistant(weight, devices, stt, speaker, playback)
    time.sleep(1.5)
    yield whole
    whole.loop.close()


def test_a_spoken_command_becomes_its_text(sound: VirtualSound, assistant: Assistant, say: rig.Piper) -> None:
    command = "open the calculator, type 21 plus 21 and press enter"
    sound.play_into_microphone(rig.join(say("hey jarvis"), rig.silence(0.3), say(command)))
    assert until(lambda: assistant.texts)
    assert words(assistant.texts[0]) == words(command)
    kinds = [event.kind for event in drain(assistant.events)]
    order = ["WakeHeard", "ListeningStarted", "UtteranceEnded", "Transcribed"]
    assert [kind for kind in kinds if kind in order] == order


def test_the_earcon_is_heard_and_never_in_the_text(sound: VirtualSound, assistant: Assistant, say: rig.Piper) -> None:
    air = sound.pactl("load-module", "module-loopback", "source=loudspeaker.monitor", "sink=room", "latency_msec=30")
    recorder = sound.record_loudspeaker()
    try:
        sound.play_into_microphone(rig.join(say("hey jarvis"), rig.silence(1.2), say("take a screenshot")))
        assert until(lambda: assistant.texts)
        assert words(assistant.texts[0]) == "take a screenshot"
        heard = recorder.stop()
        assert np.abs(heard.astype(int)).max() > 1000  # the earcon was played
    finally:
        sound.pactl("unload-module", air)


def test_its_own_voice_does_not_wake_it(sound: VirtualSound, assistant: Assistant, speaker: Speaker) -> None:
    air = sound.pactl("load-module", "module-loopback", "source=loudspeaker.monitor", "sink=room", "latency_msec=30")
    try:
        speaker.say("Hey Jarvis. You can wake me with the words hey jarvis. Hey Jarvis!", CancelFlag())
        time.sleep(2.5)
        assert [e.kind for e in drain(assistant.events) if e.kind == "WakeHeard"] == []
        assert assistant.texts == []
    finally:
        sound.pactl("unload-module", air)


def test_silence_for_a_while_is_no_action(assistant: Assistant) -> None:
    time.sleep(3.0)
    assert drain(assistant.events) == []
    assert assistant.texts == []
