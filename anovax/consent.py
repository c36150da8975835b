"""Questions that only the user may answer: shown with their exact effect, single use, expiring. Silence is no."""

from __future__ import annotations

import asyncio
import re
import secrets
import threading
from dataclasses import dataclass

from anovax.bus import Bus
from anovax.events import ConsentAnswered, ConsentAsked
from anovax.plan import Verdict
from anovax.tool import CancelFlag
from anovax.visible import visible

_AGREE = r"(please )?(do it|go ahead|allow( it)?|confirm(ed)?)"
YES = re.compile(rf"(yes|yeah|yep|ok|okay|sure)(,? ({_AGREE}|please))?|{_AGREE}", re.I)
_DECLINE = r"no|nope|don'?t|do not|deny|cancel|stop|never ?mind"
NO = re.compile(rf"({_DECLINE})(,? (thanks|thank you|do it|do that|please|it|{_DECLINE}))*", re.I)


@dataclass
class _Open:
    """A question that waits. ``allowed`` is None until it is answered."""

    turn: str
    answered: asyncio.Event
    loop: asyncio.AbstractEventLoop
    allowed: bool | None = None
    by: str = "nobody"


class ConsentDesk:
    """Holds the open questions. Answers come from voice, keyboard or phone, in any thread; nothing that an agent does
    reaches ``answer``."""

    def __init__(self, bus: Bus, expires_s: float) -> None:
        self._bus = bus
        self._expires_s = expires_s
        self._open: dict[str, _Open] = {}
        self._lock = threading.Lock()
        self._answerable = True

    def nobody_answers(self) -> None:
        """There is nobody to ask (a script): every question is published and answered no at once."""
        self._answerable = False

    async def ask(self, turn: str, verdict: Verdict, cancel: CancelFlag) -> bool:
        """Put the question and wait. False when denied, expired or stopped."""
        consent = secrets.token_urlsafe(9)
        question = _Open(turn, asyncio.Event(), asyncio.get_running_loop())
        with self._lock:
            self._open[consent] = question
        unhook = cancel.on_set(lambda: self._stopped(consent))
        try:
            self._bus.publish(
                ConsentAsked(
                    turn=turn,
                    consent=consent,
                    step=verdict.step or 0,
                    exact=visible(verdict.exact),
                    reason=visible(verdict.reason),
                    expires_s=self._expires_s,
                )
            )
            if self._answerable:
                await asyncio.wait_for(question.answered.wait(), self._expires_s)
        except TimeoutError:
            pass
        finally:
            unhook()
            with self._lock:
                self._open.pop(consent, None)
        answer = {True: "allowed", False: "denied", None: "expired"}[question.allowed]
        self._bus.publish(ConsentAnswered(turn=turn, consent=consent, answer=answer, by=question.by))
        return question.allowed is True

    def answer(self, consent: str, allow: bool, by: str) -> bool:
        """Answer one question, once. False when it is not open (unknown, answered, expired)."""
        return self._settle(consent, allow, by)

    def answer_spoken(self, text: str, by: str) -> bool:
        """Take a whole sentence as the answer to the only open question. False when it is no answer."""
        said = text.strip().rstrip(".!").strip()
        with self._lock:
            waiting = [key for key, question in self._open.items() if question.allowed is None]
        if len(waiting) != 1:
            return False
        if YES.fullmatch(said):
            return self._settle(waiting[0], True, by)
        return bool(NO.fullmatch(said)) and self._settle(waiting[0], False, by)

    @property
    def waiting(self) -> bool:
        return bool(self._open)

    def _stopped(self, consent: str) -> None:
        self._settle(consent, False, "stop")

    def _settle(self, consent: str, allow: bool, by: str) -> bool:
        with self._lock:
            question = self._open.get(consent)
            if question is None or question.allowed is not None:
                return False
            question.allowed, question.by = allow, by
        question.loop.call_soon_threadsafe(question.answered.set)
        return True
