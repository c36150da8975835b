"""The voice on virtual sound hardware: first audio, interruptions, final text, and devices that come back.

Everything is measured where it counts: sound at the loudspeaker's monitor, words at the microphone. The microphone does
not hear the loudspeaker here.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from anovax.bench.table import percentile
from anovax.bus import Bus, Subscription
from anovax.config import Config
from anovax.errors import AudioError
from anovax.events import DeviceRecovered, Event, Transcribed, WakeHeard
from anovax.sound import build_speaker, build_transcriber, build_wake, wake_phrase
from anovax.tool import CancelFlag
from anovax.voice import SAMPLE_RATE, Samples, Utterance, resampled
from anovax.voice.devices import SoundDevices
from anovax.voice.echo import OwnVoice
from anovax.voice.endpoint import Endpointer
from anovax.voice.loop import VoiceLoop
from anovax.voice.microphone import Microphone
from anovax.voice.playback import Playback
from anovax.voice.speak import Speaker
from anovax.voice.vad import SileroVad
from anovax.voice.virtual_sound import VirtualSound

ANSWERS = (
    "I opened the calculator.", "It is ten past four.", "The screenshot is in your pictures folder.", "Done.",
    "There are three windows open: the editor, the browser and a terminal.", "I could not find that.",
)  # fmt: skip
COMMANDS = (
    "open the calculator", "what time is it", "take a screenshot", "scroll down please", "remember the milk",
    "search for the weather in paris",
)  # fmt: skip
LONG = "One two three four five six seven. " * 12
LOUD = 300
PATIENCE_S = 12.0


class Figure(BaseModel):
    """Milliseconds over ``trials``; ``missed``: trials in which nothing happened; ``goal``: for the median."""

    model_config = ConfigDict(frozen=True)

    name: str
    trials: int
    missed: int
    p50: float
    p95: float
    longest: float
    goal: float | None


def run(config: Config, trials: int = 10, tell: Callable[[str], None] = lambda line: None) -> list[Figure]:
    """All figures, in order; ``tell`` hears of each."""
    with ExitStack() as stack:
        rig = _Rig(config, stack)
        figures = []
        for measure in (_first_audio, _final_text, _interrupt, _stop_words, _recovery):
            for figure in measure(rig, trials):
                tell(f"{figure.name}: {figure.p50:.0f} ms")
                figures.append(figure)
        return figures


class _Rig:
    """The voice part, wired as in the assistant, on virtual hardware."""

    def __init__(self, config: Config, stack: ExitStack) -> None:
        self.sound = stack.enter_context(VirtualSound())
        stack.enter_context(self.sound.use())
        self.devices = SoundDevices()
        self.devices.refresh()
        self.bus, self.stopped, self.ended = Bus(), threading.Event(), 0.0
        self.playback = Playback(config.audio, self.devices)
        stack.callback(self.playback.close)
        self.speaker: Speaker = build_speaker(config, self.playback, self.bus)
        stack.callback(self.speaker.close)
        self.transcriber = build_transcriber(config)
        stack.callback(self.transcriber.close)
        self.phrase = wake_phrase(config)
        self._config, self._spoken = config, dict[str, Samples]()
        self._mouth = stack.enter_context(ThreadPoolExecutor(1))

    def say(self, text: str) -> Any:
        """Let the assistant speak, on another thread; the future of what was said."""
        return self._mouth.submit(self.speaker.say, text, CancelFlag())

    def spoken(self, text: str) -> Samples:
        """``text`` as a person says it into the microphone: int16[n], 16 kHz, nothing after the last sound."""
        if text not in self._spoken:
            made, rate = self.speaker.synthesise(text)
            sound = resampled(made, rate)
            self._spoken[text] = sound[: _last_loud(sound) + 1]
        return self._spoken[text]

    @contextlib.contextmanager
    def loop(self) -> Iterator[VoiceLoop]:
        """A running voice loop."""
        config = self._config
        own = OwnVoice(self.playback, build_wake(config, gate=False), self.speaker.interrupt, None)
        loop = VoiceLoop(
            Microphone(config.audio, self.devices, self.bus),
            build_wake(config),
            _Watched(config, self),
            Endpointer.for_interjections(SileroVad()),
            self.transcriber,
            self.bus,
            on_text=lambda text, samples: None,
            on_stop=self.stopped.set,
            own_voice=own,
            phrase=self.phrase,
        )
        loop.start()
        try:
            time.sleep(2.0)  # the microphone is open and the room is known
            yield loop
        finally:
            loop.close()


class _Watched(Endpointer):
    """An endpointer that notes when it has found the end."""

    def __init__(self, config: Config, rig: _Rig) -> None:
        super().__init__(config.endpoint, SileroVad())
        self._rig = rig

    def feed(self, frame: Samples) -> Utterance | None:
        ended = super().feed(frame)
        if ended is not None:
            self._rig.ended = time.time()
        return ended


def _first_audio(rig: _Rig, trials: int) -> Iterator[Figure]:
    """From the moment a text stands to its first sound at the loudspeaker, the driver's latency included."""
    rig.say("Ready.").result()
    for closed in (False, True):
        found = []
        for trial in range(trials):
            if closed:
                rig.playback.close()
            found.append(_answer(rig, ANSWERS[trial % len(ANSWERS)]))
        yield _figure(f"text to first audio, loudspeaker {'closed' if closed else 'open'}", found, 150)


def _answer(rig: _Rig, text: str) -> float | None:
    """Seconds from the call to the first sound."""
    rig.playback.heard()
    started = time.monotonic()
    rig.say(text).result()
    for played in rig.playback.heard():
        loud = np.flatnonzero(np.abs(played.samples.astype(np.int32)) > LOUD)
        if len(loud):
            return played.at + int(loud[0]) / SAMPLE_RATE - started
    return None


def _final_text(rig: _Rig, trials: int) -> Iterator[Figure]:
    """From the decision that the utterance is over to its final text, and from the end of speech to that text."""
    after_end, after_speech = [], []
    with rig.loop() as loop:
        for trial in range(trials):
            with rig.bus.subscribe() as events:
                loop.listen()
                time.sleep(0.3)
                rig.sound.play_into_microphone(rig.spoken(COMMANDS[trial % len(COMMANDS)]))
                spoken = time.time()
                text = _await(events, Transcribed)
            after_end.append(None if text is None else text.at - rig.ended)
            after_speech.append(None if text is None else text.at - spoken)
    yield _figure("endpoint to final text", after_end, 250)
    yield _figure("end of speech to final text", after_speech, None)


def _interrupt(rig: _Rig, trials: int) -> Iterator[Figure]:
    """From ``interrupt`` to silence at the loudspeaker."""
    found = []
    for _ in range(trials):
        recorder = rig.sound.record_loudspeaker()
        saying = rig.say(LONG)
        _until(lambda: _last_loud(recorder.samples()) > SAMPLE_RATE // 2)  # noqa: B023
        at = len(recorder.samples())
        rig.speaker.interrupt()
        saying.result()
        time.sleep(0.5)
        found.append((_last_loud(recorder.stop()) - at) / SAMPLE_RATE)
    yield _figure("interrupt to silence", found, 150)


def _stop_words(rig: _Rig, trials: int) -> Iterator[Figure]:
    """While it speaks: from the end of the wake phrase, or of "stop", at the microphone to silence; from the moment at
    which the wake phrase was recognised; and from the beginning of "stop". It pauses for any voice: silence may come
    before the words are over."""
    with rig.loop():
        woken, since = [], []
        for _ in range(trials):
            silence, heard = _spoken_over(rig, rig.phrase)
            woken.append(silence)
            since.append(heard)
            time.sleep(6.0)  # it listens for a command, and gives up
        stopped = [_spoken_over(rig, "stop")[0] for _ in range(trials)]
    yield _figure("wake phrase recognised to silence", since, 150)
    yield _figure("wake phrase's end to silence", woken, 150)
    length = len(rig.spoken("stop")) / SAMPLE_RATE
    yield _figure('"stop" begun to silence', [None if s is None else s + length for s in stopped], None)
    yield _figure('"stop" over to silence', stopped, 150)


def _spoken_over(rig: _Rig, words: str) -> tuple[float | None, float | None]:
    """Seconds from the end of ``words`` to silence, and from the event of the wake word to silence."""
    mouth, ear = rig.sound.record_loudspeaker(), rig.sound.record_microphone()
    saying = rig.say(LONG)
    _until(lambda: _last_loud(mouth.samples()) > SAMPLE_RATE)
    with rig.bus.subscribe() as events:
        rig.sound.play_into_microphone(rig.spoken(words))
        wake = _await(events, WakeHeard, 1.5)
    _until(saying.done, 4.0)
    cut = saying.done()
    rig.speaker.interrupt()
    saying.result()
    time.sleep(0.4)
    now, offset = time.time(), len(mouth.samples()) - len(ear.samples())
    count = len(mouth.samples())
    silent, end = _last_loud(mouth.stop()), _last_loud(ear.stop(), 1500) + offset
    if not cut or silent >= count - SAMPLE_RATE // 10:
        return None, None
    return (silent - end) / SAMPLE_RATE, None if wake is None else now - (count - silent) / SAMPLE_RATE - wake.at


def _recovery(rig: _Rig, trials: int) -> Iterator[Figure]:
    """From the moment the sound server is back, after it was killed, to sound from the microphone."""
    found = []
    with rig.loop():
        for _ in range(max(2, trials // 3)):
            rig.sound.stop(kill=True)
            time.sleep(1.0)
            with rig.bus.subscribe() as events:
                rig.sound.start()
                started = time.time()
                back = _await(events, DeviceRecovered, PATIENCE_S)
            found.append(None if back is None else back.at - started)
            time.sleep(1.0)
    yield _figure("sound server back to microphone back", found, 2000)


def _await(events: Subscription, kind: type[Event], patience_s: float = PATIENCE_S) -> Event | None:
    end = time.monotonic() + patience_s
    while (event := events.get(max(0.0, end - time.monotonic()))) is not None:
        if isinstance(event, kind):
            return event
    return None


def _until(condition: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
    end = time.monotonic() + patience_s
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


def _last_loud(sound: Samples, level: int = LOUD) -> int:
    """Index of the last sample above ``level``; 0 where there is none."""
    loud = np.flatnonzero(np.abs(sound.astype(np.int32)) > level)
    return int(loud[-1]) if len(loud) else 0


def _figure(name: str, seconds: Sequence[float | None], goal: float | None) -> Figure:
    found = [1000 * s for s in seconds if s is not None]
    if not found:
        raise AudioError(f"{name}: nothing was heard in {len(seconds)} trials", "see that nothing else fills the cores")
    return Figure(
        name=name,
        trials=len(seconds),
        missed=len(seconds) - len(found),
        p50=round(percentile(found, 0.5), 1),
        p95=round(percentile(found, 0.95), 1),
        longest=round(max(found), 1),
        goal=goal,
    )
