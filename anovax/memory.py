"""The three memory layers, and what of them a planner gets to see.

1. Conversation: the last turns, in RAM only.
2. Session: recently opened applications, the window last focused, the last plan; in RAM only.
3. Facts: what the user asked to remember, in a JSONL file (``facts.py``).
"""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from pathlib import Path

from anovax.config import Config
from anovax.errors import ToolError
from anovax.facts import Facts
from anovax.plan import Context, PastTurn, Plan, Step
from anovax.private import redacted
from anovax.recall import content
from anovax.tool import Done, WindowRef

MAX_RECENT_APPS = 8
MAX_WINDOWS = 12  # what a planner needs of a crowded desktop
MAX_FACTS = 3
MAX_TEXT = 200  # characters of one fact, title or earlier request in a prompt

_PERSONAL = re.compile(r"\b(i|i'm|me|my|mine|myself|our|us|we)\b", re.I)
# Words of the command itself: what is done, not what it is about.
_DOING = re.compile(
    r"\b(type|write|enter|insert|say|open|start|launch|run|go|to|send|email|mail|message|text|call|search|google|look|up|find|play|show|"
    r"press|click|take|tell|read|close|focus|please|for)\b",
    re.I,
)
_FIT, _FIT_PERSONAL = 0.6, 0.4  # how much of a request a fact must have to be shown with it


class Conversation:
    """The last turns, newest last. Thread-safe, bounded."""

    def __init__(self, turns: int) -> None:
        self._turns: deque[PastTurn] = deque(maxlen=turns)

    def add(self, turn: PastTurn) -> None:
        self._turns.append(turn)

    def last(self, count: int) -> tuple[PastTurn, ...]:
        return tuple(self._turns)[-count:] if count else ()


class Session:
    """What has happened since the start. Thread-safe, bounded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._apps: deque[str] = deque(maxlen=MAX_RECENT_APPS)
        self._focus: WindowRef | None = None
        self._plan: Plan | None = None

    def opened(self, app: str) -> None:
        with self._lock:
            if app in self._apps:
                self._apps.remove(app)
            self._apps.appendleft(app)

    def focused(self, window: WindowRef) -> None:
        with self._lock:
            self._focus = window

    def planned(self, plan: Plan) -> None:
        with self._lock:
            self._plan = plan

    @property
    def recent_apps(self) -> tuple[str, ...]:
        """Applications opened in this session, the newest first."""
        with self._lock:
            return tuple(self._apps)

    @property
    def last_focus(self) -> WindowRef | None:
        with self._lock:
            return self._focus

    @property
    def last_plan(self) -> Plan | None:
        with self._lock:
            return self._plan


class Memory:
    """All three layers. Switched off (``memory.enabled``) it gives a planner nothing and keeps no turns."""

    def __init__(self, config: Config) -> None:
        self._on = config.memory.enabled
        self._shown_turns = config.planner.context_turns
        self.conversation = Conversation(config.memory.turns)
        self.session = Session()
        self.facts = Facts(facts_path(config), time.time)

    def context(self, request: str, focus: WindowRef | None = None, windows: tuple[WindowRef, ...] = ()) -> Context:
        """What a planner may know for this request. Bounded; facts only where they bear on it."""
        if focus is not None:
            self.session.focused(focus)
        if not self._on:
            return Context(focus=focus, windows=windows[:MAX_WINDOWS])
        return Context(
            turns=self.conversation.last(self._shown_turns),
            focus=focus or self.session.last_focus,
            windows=windows[:MAX_WINDOWS],
            recent_apps=self.session.recent_apps,
            facts=self.relevant(request),
        )

    def relevant(self, request: str) -> tuple[str, ...]:
        """Facts that bear on a request; a request about the user ("my …") needs less of a fit than another."""
        least = _FIT_PERSONAL if _PERSONAL.search(request) else _FIT
        try:
            about = _DOING.sub(" ", request)
            found = self.facts.search(about, MAX_FACTS) if content(about) else ()
        except ToolError:
            return ()  # an unreadable file must not keep a request from being planned; the memory tools report it
        fitting = (fact for fact, fit in found if fit >= least)
        return tuple((redacted(fact.text) if fact.private else fact.text)[:MAX_TEXT] for fact in fitting)

    def note_step(self, step: Step, done: Done | None = None) -> None:
        """A step ended well."""
        if step.tool == "open_app":
            self.session.opened((done.result if done else "") or str(getattr(step.args, "name", "")))

    def note_turn(self, turn: PastTurn) -> None:
        """A request was answered."""
        if not self._on:
            return
        self.session.planned(turn.plan)
        self.conversation.add(turn)


def facts_path(config: Config) -> Path:
    return Path(config.memory.facts_file).expanduser() if config.memory.facts_file else config.data_dir / "facts.jsonl"
