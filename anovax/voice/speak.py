"""Text to speech: the next chunk of sound is made while the last one plays, and stop means now."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from anovax.bus import Bus
from anovax.config import TtsConfig
from anovax.events import SpeechEnded, SpeechStarted
from anovax.tool import CancelFlag
from anovax.voice import Samples, resampler
from anovax.voice.synthesis import Synthesiser

AHEAD_S = 0.8
FIRST_LEAD_S = 0.01  # of silence before the first sound of an answer

Chunk = tuple[str, Samples]  # words and their sound, int16[n]


class Loudspeaker(Protocol):
    """What the speaker needs of anovax.voice.playback.Playback."""

    rate: int
    latency_s: float

    def prepare(self) -> None: ...

    def queue(self, samples: Samples, rate: int) -> int: ...

    def wait(self, until: int, stopped: Callable[[], bool] = ..., ahead_s: float = ...) -> bool: ...

    def flush(self) -> int: ...

    def position(self) -> int: ...


@dataclass(frozen=True)
class Spoken:
    """A piece of text and where its sound begins and ends in the loudspeaker's count of samples."""

    text: str
    start: int
    end: int


class Speaker:
    """One Piper voice on one loudspeaker. Implements anovax.tool.Voice; one ``say`` at a time, others wait.

    ``sentences`` turns a text into the pieces to be spoken (anovax.voice.speakable). ``playback`` may be None when only
    ``synthesise`` is used. Raises WeightsError when the voice cannot be loaded.
    """

    def __init__(
        self,
        config: TtsConfig,
        voice_path: Path,
        playback: Loudspeaker | None,
        sentences: Callable[[str], list[str]],
        bus: Bus | None = None,
    ) -> None:
        self._config, self._playback, self._sentences, self._bus = config, playback, sentences, bus
        self._synthesiser = Synthesiser(voice_path, config.volume)
        self.rate = self._synthesiser.rate
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tts")
        self._talking = threading.Lock()
        self._interrupted = threading.Event()
        self.speaking = ""  # the text that is being said
        self._worker.submit(list, self._chunks(["Ready."]))  # the first run of a network is twice as slow

    def synthesise(self, text: str) -> tuple[Samples, int]:
        """``text`` as int16[n] and its sample rate; empty when there is nothing to say."""
        chunks = self._worker.submit(list, self._chunks(self._sentences(text))).result()
        return np.concatenate([np.zeros(0, np.int16), *(sound for _, sound in chunks)]), self.rate

    def say(self, text: str, cancel: CancelFlag) -> str:
        """Say ``text``; returns what was really played: less than ``text`` after ``interrupt``.

        Publishes SpeechStarted and SpeechEnded. Says nothing and returns "" when the voice is turned off. Raises
        Cancelled, AudioError.
        """
        pieces = self._sentences(text)
        if not pieces or not self._config.enabled or self._playback is None:
            return ""
        with self._talking:
            cancel.check()
            self._interrupted.clear()
            unhook = cancel.on_set(self.interrupt)
            self.speaking = text
            try:
                return self._say(text, pieces, cancel)
            finally:
                self.speaking = ""
                unhook()

    def interrupt(self) -> None:
        """Silence at once; ``say`` returns what was heard until then. May be called from any thread."""
        self._interrupted.set()
        if self._playback is not None:
            self._playback.flush()

    def close(self) -> None:
        """Silence and stop. Safe twice."""
        self.interrupt()
        self._worker.shutdown(wait=True, cancel_futures=True)

    def _say(self, text: str, pieces: list[str], cancel: CancelFlag) -> str:
        player = self._playback
        assert player is not None
        spans: list[Spoken] = []
        chunks = self._chunks(pieces)
        first = self._worker.submit(next, chunks, None)  # while the loudspeaker opens
        try:
            player.prepare()
            rate = player.rate
            resampled = resampler(self.rate, rate)  # what it holds back at the end is silence
            for words, sound in self._ahead(chunks, first):
                start = player.position() if not spans else spans[-1].end
                spans.append(Spoken(words, start, player.queue(resampled(sound), rate)))
                if len(spans) == 1:
                    self._publish(SpeechStarted(text=text, latency_s=player.latency_s))
                if not player.wait(spans[-1].end, self._interrupted.is_set, AHEAD_S):
                    break
            else:
                if spans:  # none when it was stopped before the first sound
                    player.wait(spans[-1].end, self._interrupted.is_set)
        finally:
            cut = self._interrupted.is_set()
            reached = player.flush() if cut else player.position()
            said = text if spans and not cut and reached >= spans[-1].end else heard(spans, reached)
            self._publish(SpeechEnded(spoken=said, interrupted=said != text))
        cancel.check()
        return said

    def _ahead(self, chunks: Iterator[Chunk], job: Future[Chunk | None]) -> Iterator[Chunk]:
        """The chunks, one made ahead on the worker; ``job`` makes the first."""
        while (chunk := job.result()) is not None and not self._interrupted.is_set():
            job = self._worker.submit(next, chunks, None)
            yield chunk

    def _chunks(self, pieces: list[str]) -> Iterator[Chunk]:
        for index, piece in enumerate(pieces):
            words, told = piece.split(), 0
            for share, sound in self._synthesiser.chunks(piece, *((FIRST_LEAD_S,) if index == 0 else ())):
                until = round(share * len(words))
                yield " ".join(words[told:until]), sound
                told = until

    def _publish(self, event: SpeechStarted | SpeechEnded) -> None:
        if self._bus is not None:
            self._bus.publish(event)


def heard(spans: list[Spoken], reached: int) -> str:
    """The words that were out when the sound stopped at ``reached``; a piece cut in the middle counts by its share."""
    words: list[str] = []
    for span in spans:
        share = (reached - span.start) / max(1, span.end - span.start)
        parts = span.text.split()
        words += parts[: int(len(parts) * min(1.0, max(0.0, share)))]
    return " ".join(words)
