"""Where an utterance begins and ends: on silence relative to the room, patient in mid-sentence, quick at the end."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from anovax.config import EndpointConfig
from anovax.voice import FRAME, FRAME_S, SAMPLE_RATE, Samples, SpeechProbability, Utterance, level_db

ON, OFF = 0.5, 0.35  # hysteresis of the speech probability
BELOW_VOICE_DB = 22.0  # so far below the speaker's own level it is the room, whatever the VAD says
COMPLETE_S = 0.4
PATIENCE = 2.0
PRE_ROLL_S = 0.4
MIN_SPEECH_S = 2 * FRAME_S
# A text that ends so is not finished
UNFINISHED = re.compile(
    r"(\b(a|an|the|my|your|his|her|to|for|of|in|on|at|with|from|into|by|and|or|but|then|that|is|are|open|start|launch|"
    r"type|write|press|click|search|find|say|remind|go|set|turn|close|switch|play|called|named|about|um|uh|er)"
    r"|,|\.\.\.|…|-)\W*$",
    re.IGNORECASE,
)


class Endpointer:
    """Cuts one utterance out of a stream of frames.

    ``begin`` opens it, ``feed`` gives the Utterance when it is over, ``hear`` tells what the words so far are believed
    to be, which decides how long a pause may be: ``complete(text)`` says whether they are already a whole command.
    Pure but for the VAD's memory.
    """

    def __init__(
        self, config: EndpointConfig, vad: SpeechProbability, complete: Callable[[str], bool] = lambda text: False
    ) -> None:
        self._config, self._vad, self._complete = config, vad, complete
        self.begin()

    def begin(self, before: Samples | None = None, woken: bool = False) -> None:
        """Start to listen. ``before`` (int16[n]) is sound already heard that belongs to it, such as the wake word."""
        self._sound: list[Samples] = [] if before is None or not len(before) else [before]
        self._woken = woken
        self._loudest = -100.0
        self._waited_s = 0.0
        self._wait_s = self._config.silence_s
        self.speech_s = self.pause_s = 0.0
        self.speaking = False
        self._vad.reset()

    @classmethod
    def for_interjections(cls, vad: SpeechProbability) -> Endpointer:
        """One that is quick to cut out a short word, such as "stop", said while the assistant speaks or works."""
        return cls(EndpointConfig(silence_s=0.24, max_s=3.0, start_s=20.0), vad)

    @property
    def started(self) -> bool:
        """Whether enough speech was heard for an utterance."""
        return self.speech_s >= MIN_SPEECH_S

    @property
    def seconds(self) -> float:
        return sum(map(len, self._sound)) / SAMPLE_RATE

    def samples(self) -> Samples:
        """What was recorded so far: int16[n]."""
        return np.concatenate(self._sound) if self._sound else np.zeros(0, np.int16)

    def feed(self, frame: Samples) -> Utterance | None:
        """Take one frame (int16[1280]); the Utterance when it has ended."""
        self._sound.append(frame)
        self._judge(frame)
        self._forget_silence()
        if self.seconds >= self._config.max_s:
            return self._end("cap" if self.started else "empty")
        if self.started:
            return (
                self._end("complete" if self._wait_s < self._config.silence_s else "silence") if self._over() else None
            )
        return self._end("empty") if self._waited_s >= self._config.start_s else None

    def hear(self, text: str) -> None:
        """``text`` is what was said up to the pause: choose how long to wait for more."""
        if self._complete(text):
            self._wait_s = min(COMPLETE_S, self._config.silence_s)
        elif UNFINISHED.search(text):
            self._wait_s = self._config.silence_s * PATIENCE
        else:
            self._wait_s = self._config.silence_s

    def forget(self) -> None:
        """What was said so far was no command (only the wake word): drop it and go on listening."""
        waited = self._waited_s
        self._sound = [self.samples()[-round(PRE_ROLL_S * SAMPLE_RATE) :]]
        self._woken, self.speaking = False, False
        self.speech_s = self.pause_s = 0.0
        self._waited_s = waited
        self._wait_s = self._config.silence_s

    def _judge(self, frame: Samples) -> None:
        level = level_db(frame)
        probable = self._vad(frame) >= (OFF if self.speaking else ON)
        near = level > self._loudest - BELOW_VOICE_DB
        self.speaking = probable and near
        if self.speaking:
            self._loudest = max(level, self._loudest - 0.5)  # half a dB a frame: people grow quieter
            self.speech_s += FRAME_S
            self.pause_s = 0.0
            self._wait_s = self._config.silence_s
        else:
            self.pause_s += FRAME_S
            self._waited_s += FRAME_S

    def _forget_silence(self) -> None:
        """Before anybody speaks only the pre-roll is kept; a cough that led nowhere is forgotten."""
        if self._woken or self.started:
            return
        if self.pause_s > 1.0:
            self.speech_s = 0.0
        keep = round(PRE_ROLL_S * SAMPLE_RATE / FRAME) + round(self.speech_s / FRAME_S) + 3
        del self._sound[:-keep]

    def _over(self) -> bool:
        return self.pause_s >= self._wait_s - FRAME_S / 2

    def _end(self, reason: str) -> Utterance:
        return Utterance(self.samples(), reason, round(self.speech_s, 2), self._woken)
