"""The voice loop: frames in, commands out. One audio thread runs it; the rest is told through events and callbacks.

    waiting   -- wake word or push-to-talk -->  listening  -- endpoint -->  text (on_text)  -->  waiting

While the assistant speaks or works, "stop" and its kin are listened for as well (interjections.py). While listening,
drafts are transcribed ahead: in mid-speech for the eye, and at every pause, so that the final text mostly stands before
the pause has become an end.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np

from anovax.bus import Bus
from anovax.errors import AnovaxError
from anovax.events import (
    ListeningStarted,
    Muted,
    Noticed,
    PartialTranscribed,
    Transcribed,
    UtteranceEnded,
    WakeHeard,
)
from anovax.voice import FRAME_S, Ears, Endpoint, OwnVoice, Recogniser, Samples, Transcript, Utterance, Wake
from anovax.voice.echo import NoVoice
from anovax.voice.interjections import Interjections
from anovax.voice.phrases import NEVER_MIND, STOP, without_phrase

BEFORE_WAKE_S = 1.6  # how much sound before the detection belongs to the utterance: the wake phrase itself
DRAFT_EVERY_S = 1.2
DRAFT_PAUSE_S = 2 * FRAME_S
EARCON_PAUSE_S = 2 * FRAME_S
RESULT_S = 20.0


@dataclass(frozen=True)
class Draft:
    """A transcription on its way, of everything said until ``speech_s`` seconds of speech had been heard."""

    future: Future[Transcript]
    speech_s: float


class VoiceLoop:
    """Wires the parts together.

    ``on_text(text, samples)`` and ``on_stop()`` are called on the audio thread and must return at once; ``busy()`` says
    whether a request is being worked on. ``phrase`` is the wake phrase as it is spoken.

    ``feed`` takes one frame and may be called directly, without ``start``, by whoever has frames.
    """

    def __init__(
        self,
        microphone: Ears,
        wake: Wake,
        endpoint: Endpoint,
        interjection: Endpoint,
        recogniser: Recogniser,
        bus: Bus,
        on_text: Callable[[str, Samples], None],
        on_stop: Callable[[], None],
        busy: Callable[[], bool] = lambda: False,
        own_voice: OwnVoice | None = None,
        phrase: str = "hey jarvis",
    ) -> None:
        self._microphone, self._wake, self._endpoint = microphone, wake, endpoint
        self._recogniser, self._bus, self._on_text, self._on_stop = recogniser, bus, on_text, on_stop
        self._own, self._phrase = own_voice or NoVoice(), phrase
        self._interjections = Interjections(interjection, recogniser, self._own, on_stop, busy, phrase)
        self._recent: deque[Samples] = deque(maxlen=round(BEFORE_WAKE_S / FRAME_S))
        self._draft: Draft | None = None
        self._known: tuple[float, Transcript] | None = None
        self._partial = ""
        self._earcon_due = False
        self._listening = False
        self._asked = threading.Event()  # push-to-talk pressed
        self._released = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self.muted = False

    # --- from outside ---

    def start(self) -> None:
        """Listen, on a thread of its own, until ``close``."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="audio", daemon=True)
            self._thread.start()

    def listen(self) -> None:
        """Push-to-talk: listen for a command now, without the wake word."""
        self._asked.set()

    def release(self) -> None:
        """Push-to-talk let go: what was said so far is the command."""
        self._released.set()

    def mute(self, on: bool) -> None:
        """Hear nothing at all, or hear again. Publishes Muted."""
        if on != self.muted:
            self.muted = on
            self._bus.publish(Muted(on=on))

    @property
    def listening(self) -> bool:
        return self._listening

    @property
    def waiting_for_text(self) -> bool:
        """Whether the recogniser is at work for this loop."""
        drafting = self._draft is not None and not self._draft.future.done()
        return drafting or self._interjections.waiting_for_text

    def close(self) -> None:
        """Stop listening and let the microphone go. Safe twice."""
        self._closed.set()
        self._microphone.close()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(5)

    # --- the audio thread ---

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                frame = self._microphone.read(0.5)
                if frame is not None:
                    self.feed(frame, self._microphone.at)
            except AnovaxError as error:  # one bad utterance must not make it deaf
                self._bus.publish(Noticed(text=str(error), level="error"))
                self._to_waiting()

    def feed(self, frame: Samples, at: float | None = None) -> None:
        """Take one frame (int16[1280]) that ended ``at`` (monotonic seconds; None: now)."""
        frame = self._own.clean(frame, time.monotonic() if at is None else at)
        if self.muted:
            self._asked.clear()
            if self._listening:
                self._finish(Utterance(frame[:0], "cancelled", 0.0))
            return
        self._recent.append(frame)
        if self._asked.is_set() and not self._listening:
            self._to_listening(before=None, woken=False)
        if self._listening:
            self._listen(frame)
        else:
            self._await_wake(frame)

    def _await_wake(self, frame: Samples) -> None:
        found = self._wake.feed(frame)
        if found is not None and not self._own.said_wake_word():
            self._bus.publish(WakeHeard(word=found.word, score=found.score))
            self._own.interrupt()
            self._to_listening(np.concatenate(self._recent), woken=True)
        else:
            self._interjections.feed(frame)

    def _to_listening(self, before: Samples | None, woken: bool) -> None:
        self._asked.clear()
        self._released.clear()
        self._listening, self._earcon_due = True, True
        self._draft, self._known, self._partial = None, None, ""
        self._interjections.forget()
        self._endpoint.begin(before, woken)
        self._bus.publish(ListeningStarted())

    def _to_waiting(self) -> None:
        self._listening = False
        self._draft = self._known = None
        self._wake.reset()

    # --- listening ---

    def _listen(self, frame: Samples) -> None:
        ended = self._endpoint.feed(frame)
        self._give_earcon()
        if ended is None and self._released.is_set():
            ended = Utterance(self._endpoint.samples(), "complete", self._endpoint.speech_s)
        if ended is not None:
            self._finish(ended)
        else:
            self._take_draft()
            self._make_draft()

    def _give_earcon(self) -> None:
        """Only when the user waits for it: who goes on speaking needs no sign and would be talked over."""
        if self._earcon_due and self._endpoint.pause_s >= EARCON_PAUSE_S:
            self._earcon_due = False
            self._own.earcon()
        elif self._earcon_due and self._endpoint.speech_s > 0.6:
            self._earcon_due = False

    def _make_draft(self) -> None:
        said = self._endpoint.speech_s
        if self._draft is not None or not self._endpoint.started:
            return
        known, ms = (self._known[0], self._known[1].ms) if self._known else (0.0, 0.0)
        paused = self._endpoint.pause_s >= DRAFT_PAUSE_S and known != said
        every = max(DRAFT_EVERY_S, 5 * ms / 1000)  # a slow machine must have its worker free when the pause comes
        if paused or said - known >= every:
            self._draft = Draft(self._recogniser.submit(self._endpoint.samples()), said)

    def _take_draft(self) -> None:
        if self._draft is None or not self._draft.future.done():
            return
        draft, self._draft = self._draft, None
        transcript = draft.future.result()
        self._known = (draft.speech_s, transcript)
        text = without_phrase(transcript.text, self._phrase)
        if text and text != self._partial:
            self._partial = text
            self._bus.publish(PartialTranscribed(text=text))
        if draft.speech_s == self._endpoint.speech_s:
            self._endpoint.hear(text)
            if not text and self._endpoint.pause_s >= 3 * FRAME_S:
                self._endpoint.forget()  # only the wake phrase so far: the command is still to come
                self._known = None

    def _finish(self, ended: Utterance) -> None:
        transcript = self._final(ended)
        text = without_phrase(transcript.text, self._phrase) if transcript else ""
        reason = "cancelled" if NEVER_MIND.match(text) else ended.reason if text else "empty"
        self._bus.publish(UtteranceEnded(seconds=round(ended.seconds, 2), reason=reason))
        self._to_waiting()
        if transcript is None or reason in ("empty", "cancelled"):
            return
        self._bus.publish(
            Transcribed(
                text=text,
                seconds=transcript.seconds,
                ms=transcript.ms,
                window_s=transcript.window_s,
                fallback=transcript.fallback,
            )
        )
        if STOP.match(text):
            self._on_stop()
        else:
            self._on_text(text, ended.samples)

    def _final(self, ended: Utterance) -> Transcript | None:
        """The transcript of the whole utterance: the draft of its last pause if there is one, else made now."""
        if ended.reason in ("empty", "cancelled") or not len(ended.samples):
            return None
        said = self._endpoint.speech_s
        if self._known is not None and self._known[0] == said:
            return self._known[1]
        if self._draft is not None and self._draft.speech_s == said:
            return self._draft.future.result(RESULT_S)
        return self._recogniser.submit(ended.samples).result(RESULT_S)
