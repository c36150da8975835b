"""Text to speech with Piper, piece by piece: the next one is made while the last one plays, and stop means now."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from anovax.bus import Bus
from anovax.config import TtsConfig
from anovax.errors import WeightsError
from anovax.events import SpeechEnded, SpeechStarted
from anovax.tool import CancelFlag
from anovax.voice import Samples

AHEAD_S = 0.8
QUIET = 300  # int16 level below which a synthesised sound has not begun
PAUSE_S = 0.12


class Loudspeaker(Protocol):
    """What the speaker needs of anovax.voice.playback.Playback."""

    rate: int

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
        self._voice = _load(Path(voice_path))
        self.rate: int = self._voice.config.sample_rate
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tts")
        self._talking = threading.Lock()
        self._interrupted = threading.Event()
        self.speaking = ""  # the text that is being said
        self._worker.submit(self._synthesise, "Ready.")  # the first run of a network is twice as slow

    def synthesise(self, text: str) -> tuple[Samples, int]:
        """``text`` as int16[n] and its sample rate; empty when there is nothing to say."""
        pieces = [self._worker.submit(self._synthesise, piece).result() for piece in self._sentences(text)]
        pause = np.zeros(round(PAUSE_S * self.rate), np.int16)
        return np.concatenate([x for piece in pieces for x in (piece, pause)] or [np.zeros(0, np.int16)]), self.rate

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
        first = self._worker.submit(self._synthesise, pieces[0])  # while the loudspeaker opens
        self._publish(SpeechStarted(text=text))
        try:
            with closing(self._ahead(pieces, first)) as sounds:
                player.prepare()
                for piece, sound in sounds:
                    start = player.position() if not spans else spans[-1].end
                    spans.append(Spoken(piece, start, player.queue(sound, self.rate)))
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

    def _ahead(self, pieces: list[str], job: Future[Samples]) -> Generator[tuple[str, Samples], None, None]:
        """Pieces and their sounds, one made ahead on the worker; ``job`` makes the first."""
        for index, piece in enumerate(pieces):
            sound = job.result()
            if self._interrupted.is_set():
                return
            if index + 1 < len(pieces):
                job = self._worker.submit(self._synthesise, pieces[index + 1])
            yield piece, trimmed(sound, self.rate, first=index == 0)

    def _synthesise(self, piece: str) -> Samples:
        from piper import SynthesisConfig

        config = SynthesisConfig(volume=self._config.volume)
        chunks = [chunk.audio_int16_array for chunk in self._voice.synthesize(piece, config)]
        return np.concatenate(chunks) if chunks else np.zeros(0, np.int16)

    def _publish(self, event: SpeechStarted | SpeechEnded) -> None:
        if self._bus is not None:
            self._bus.publish(event)


def trimmed(sound: Samples, rate: int, first: bool) -> Samples:
    """Without the silence before the first sound (Piper leaves 40 to 290 ms), with a short pause after the last."""
    loud = np.flatnonzero(np.abs(sound.astype(np.int32)) > QUIET)
    if not len(loud):
        return sound[:0]
    lead = round((0.01 if first else 0.04) * rate)
    end = min(len(sound), int(loud[-1]) + round(PAUSE_S * rate))
    return sound[max(0, int(loud[0]) - lead) : end]


def heard(spans: list[Spoken], reached: int) -> str:
    """The words that were out when the sound stopped at ``reached``; a piece cut in the middle counts by its share."""
    words: list[str] = []
    for span in spans:
        share = (reached - span.start) / max(1, span.end - span.start)
        parts = span.text.split()
        words += parts[: int(len(parts) * min(1.0, max(0.0, share)))]
    return " ".join(words)


def _load(path: Path) -> Any:
    """The Piper voice, on threads that sleep when they wait: spinning ones starve whatever shares the cores."""
    import onnxruntime
    from piper import PiperVoice
    from piper.config import PiperConfig

    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4
    try:
        config = PiperConfig.from_dict(json.loads(path.with_name(f"{path.name}.json").read_text("utf-8")))
        session = onnxruntime.InferenceSession(str(path), sess_options=options, providers=["CPUExecutionProvider"])
        return PiperVoice(config=config, session=session)
    except Exception as error:  # onnxruntime's exceptions share no base class
        reason = str(error).splitlines()[0]
        raise WeightsError(f"The voice {path} cannot be loaded ({reason})", "run: anovax models verify") from error
