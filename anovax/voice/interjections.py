"""What is said while the assistant speaks or works: only "stop" and its kin mean anything then.

Who speaks over the assistant's voice makes it pause at once, before a word is understood. If the words were no "stop",
it goes on where it paused, and for the rest of that answer it does not pause again: a television would make it stammer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import Future

from anovax.errors import AnovaxError
from anovax.voice import Endpoint, OwnVoice, Recogniser, Samples, Transcript
from anovax.voice.phrases import STOP, without_phrase

LONGEST_S = 2.0  # of speech; whoever says more says something else
PAUSE_S = 2.0  # the voice pauses no longer than this


class Interjections:
    """``feed`` takes frames; ``on_stop`` is called once for each "stop". ``busy()``: whether a request is worked on.

    ``endpoint`` cuts short utterances (Endpointer.for_interjections); ``phrase`` is the wake phrase as it is spoken.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        recogniser: Recogniser,
        own: OwnVoice,
        on_stop: Callable[[], None],
        busy: Callable[[], bool],
        phrase: str,
    ) -> None:
        self._endpoint, self._recogniser, self._own = endpoint, recogniser, own
        self._on_stop, self._busy, self._phrase = on_stop, busy, phrase
        self._watching = False
        self._paused, self._may_pause = False, True
        self._job: Future[Transcript] | None = None

    @property
    def waiting_for_text(self) -> bool:
        return self._job is not None and not self._job.done()

    def feed(self, frame: Samples) -> None:
        """Take one frame (int16[1280]) in which no wake word was heard."""
        if not self._watching:
            if not self._wanted():
                return
            self._watching = True
            self._endpoint.begin()
        self._take()
        ended = self._endpoint.feed(frame)
        self._pause_for_a_voice()
        if ended is None:
            return
        if ended.reason != "empty" and ended.speech_s <= LONGEST_S and self._job is None:
            self._job = self._recogniser.submit(ended.samples)
        elif self._job is None:
            self._go_on()
        self._endpoint.begin()
        if not self._wanted() and self._job is None:
            self.forget()

    def forget(self) -> None:
        """Nothing is awaited any more."""
        self._go_on()
        self._watching, self._may_pause = False, True
        self._job = None

    def _wanted(self) -> bool:
        return self._own.audible() or self._busy()

    def _pause_for_a_voice(self) -> None:
        if not self._own.audible():
            self._may_pause = True  # in the next answer
        elif self._may_pause and self._endpoint.speaking and self._own.talked_over():
            self._may_pause, self._paused = False, True
            self._own.pause(PAUSE_S)
        elif self._paused and not self._endpoint.speaking and not self._endpoint.started and self._job is None:
            self._go_on()  # it was a cough

    def _take(self) -> None:
        if self._job is None or not self._job.done():
            return
        job, self._job = self._job, None
        stop = False
        with contextlib.suppress(AnovaxError):
            stop = bool(STOP.match(without_phrase(job.result().text, self._phrase)))
        if stop:
            self._own.interrupt()
            self._on_stop()
        self._go_on()

    def _go_on(self) -> None:
        if self._paused:
            self._paused = False
            self._own.pause(0.0)
