"""Consent: exact, single use, expiring, never given by silence."""

from __future__ import annotations

import ast
import asyncio
import dataclasses
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import anovax
from anovax import turns
from anovax.assistant import Assistant
from anovax.bus import Bus
from anovax.commands.live import keyboard
from anovax.config import SafetyConfig
from anovax.consent import ConsentDesk
from anovax.console import line_for
from anovax.events import ConsentAnswered, ConsentAsked, DeviceAsked, Noticed, StopRequested
from anovax.plan import Decision, Plan, Verdict, World
from anovax.request import Request
from anovax.safety import ApprovedPlan, Safety
from anovax.tool import AgentParts, CancelFlag, Effect, WindowRef, discover
from anovax.turn import Carried, Turn
from anovax.visible import visible

QUESTION = Verdict(decision=Decision.ASK, rule="sudo", reason="It runs as root.", step=1, exact="sudo apt update")


async def asked(
    desk: ConsentDesk, bus: Bus, answer: Callable[[str], object] | None, cancel: CancelFlag | None = None
) -> bool:
    """Put the question, give ``answer`` (called with the consent id) once it stands, return what came of it."""
    with bus.subscribe() as events:
        asking = asyncio.ensure_future(desk.ask("t", QUESTION, cancel or CancelFlag()))
        async for event in events:
            if isinstance(event, ConsentAsked):
                assert event.exact == "sudo apt update"
                if answer is not None:
                    answering = threading.Thread(target=answer, args=(event.consent,))
                    answering.start()
                    await asyncio.to_thread(answering.join, 5)
                break
        return await asking


@pytest.mark.parametrize(("allow", "expected"), [(True, True), (False, False)])
def test_an_answer_from_another_thread_counts_once(allow: bool, expected: bool) -> None:
    bus = Bus()
    desk = ConsentDesk(bus, 5.0)
    again: list[bool] = []

    def answer(consent: str) -> None:
        assert desk.answer(consent, allow, "phone")
        again.append(desk.answer(consent, True, "phone"))

    assert asyncio.run(asked(desk, bus, answer)) is expected
    assert again == [False]


def test_silence_is_no() -> None:
    bus = Bus()
    with bus.subscribe() as events:
        assert asyncio.run(asked(ConsentDesk(bus, 0.05), bus, None)) is False
        answers = [e for e in iter(lambda: events.get(0), None) if isinstance(e, ConsentAnswered)]
    assert [(e.answer, e.by) for e in answers] == [("expired", "nobody")]


def test_a_stop_is_no_at_once() -> None:
    bus, cancel = Bus(), CancelFlag()
    assert asyncio.run(asked(ConsentDesk(bus, 60), bus, lambda consent: cancel.set(), cancel)) is False


def test_where_nobody_answers_nothing_waits() -> None:
    bus = Bus()
    desk = ConsentDesk(bus, 60)
    desk.nobody_answers()
    assert asyncio.run(asyncio.wait_for(desk.ask("t", QUESTION, CancelFlag()), 5)) is False


@pytest.mark.parametrize("text", ["yes", "Yes, do it.", "yes please", "go ahead", "okay, do it", "allow it", "confirm"])
def test_spoken_yes(text: str) -> None:
    bus = Bus()
    desk = ConsentDesk(bus, 5)
    assert asyncio.run(asked(desk, bus, lambda consent: desk.answer_spoken(text, "voice"))) is True


@pytest.mark.parametrize("text", ["no", "No.", "don't", "no, don't do it", "never mind", "cancel"])
def test_spoken_no(text: str) -> None:
    bus = Bus()
    desk = ConsentDesk(bus, 5)
    assert asyncio.run(asked(desk, bus, lambda consent: desk.answer_spoken(text, "voice"))) is False


@pytest.mark.parametrize("text", ["yesterday", "open yes", "is it okay to do it", "note: yes", "yes and delete it"])
def test_what_is_no_answer_is_left_alone(text: str) -> None:
    bus = Bus()
    desk = ConsentDesk(bus, 0.2)
    heard: list[bool] = []
    asyncio.run(asked(desk, bus, lambda consent: heard.append(desk.answer_spoken(text, "voice"))))
    assert heard == [False]


def test_a_yes_without_a_question_is_no_answer() -> None:
    assert ConsentDesk(Bus(), 5).answer_spoken("yes", "voice") is False


def test_an_answer_after_the_expiry_comes_too_late() -> None:
    bus, known = Bus(), list[str]()
    desk = ConsentDesk(bus, 0.05)
    with bus.subscribe() as events:
        assert asyncio.run(desk.ask("t", QUESTION, CancelFlag())) is False
        known.extend(e.consent for e in iter(lambda: events.get(0), None) if isinstance(e, ConsentAsked))
    assert not desk.waiting
    assert [desk.answer(consent, True, "phone") for consent in known] == [False]
    assert desk.answer_spoken("yes", "voice") is False


def test_an_answer_to_an_earlier_question_is_none_to_the_next() -> None:
    bus = Bus()
    desk = ConsentDesk(bus, 5)
    given: list[str] = []
    assert asyncio.run(asked(desk, bus, lambda consent: (given.append(consent), desk.answer(consent, True, "phone"))))
    desk = ConsentDesk(bus, 0.2)
    late: list[bool] = []
    again = asyncio.run(asked(desk, bus, lambda consent: late.append(desk.answer(given[0], True, "phone"))))
    assert (again, late) == (False, [False])


async def test_a_spoken_yes_to_two_questions_is_an_answer_to_none() -> None:
    bus = Bus()
    desk = ConsentDesk(bus, 5)
    with bus.subscribe() as events:
        asking = [asyncio.ensure_future(desk.ask(turn, QUESTION, CancelFlag())) for turn in "ab"]
        await asyncio.sleep(0)
        assert desk.answer_spoken("yes", "voice") is False
        for event in iter(lambda: events.get(0), None):
            if isinstance(event, ConsentAsked):
                assert desk.answer(event.consent, event.turn == "b", "keyboard")
        assert await asyncio.gather(*asking) == [False, True]


def test_no_agent_can_reach_an_answer() -> None:
    """Agents get their parts from ``AgentParts``, which holds no desk of consents, and import nothing that does."""
    root = Path(anovax.__file__).parent
    assert "consent" not in {field.name for field in dataclasses.fields(AgentParts)}
    for path in (root / "agents").rglob("*.py"):
        names = {node.attr for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Attribute)}
        assert not names & {"answer", "answer_spoken", "ConsentDesk", "grant"}, path


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
async def test_what_an_agent_types_into_the_assistants_own_terminal_answers_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The real filter, turns and keyboard reader over a real pseudo-terminal; a stop counts at any time."""
    bus, tools = Bus(), discover()
    safety, desk = Safety(tools, SafetyConfig()), ConsentDesk(bus, 60.0)
    parts, carried = cast(Any, SimpleNamespace(safety=safety)), Carried()
    running = turns.Turns(parts)
    monkeypatch.setattr(running, "_carried", carried)
    assistant = Assistant(bus, running, desk, cast(Any, None))
    paired: list[tuple[str, bool]] = []
    monkeypatch.setattr(assistant, "approve", lambda request, allow: paired.append((request, allow)))
    master, slave = os.openpty()
    terminal = os.fdopen(slave)
    monkeypatch.setattr(sys, "stdin", terminal)
    monkeypatch.setattr(turns, "OWN_KEYS_S", 3600.0)  # on a busy machine too
    window = WindowRef(id=1, pid=1, app="XTerm", title="anovax")
    steps = [{"tool": "type_text", "text": "y\ngo ahead\n"}]
    approved = safety.judge(Plan.parse({"steps": steps}, tools), World(focus=window))
    assert isinstance(approved, ApprovedPlan)
    carried.world = approved.world
    typing = Turn(parts, carried, Request(text=""), CancelFlag(), "turn")
    with bus.subscribe() as events:
        listening = asyncio.create_task(keyboard(assistant))
        asking = asyncio.ensure_future(desk.ask("t", QUESTION, CancelFlag()))
        await asyncio.sleep(0.05)
        bus.publish(DeviceAsked(request="r", name="phone", address="10.0.0.2"))
        typing._recheck(approved, 0, Effect(kind="type", payload="y\n", window=window))
        os.write(master, b"y\ngo ahead\n")
        seen = aiter(events)
        for kind in (Noticed, Noticed):
            while not isinstance(await anext(seen), kind):
                pass
        assert desk.waiting and not asking.done() and not paired
        os.write(master, b"stop\n")
        while not isinstance(await anext(seen), StopRequested):
            pass
        monkeypatch.setattr(turns, "OWN_KEYS_S", 0.0)  # the user's own line, a second later
        os.write(master, b"y\nyes\n")
        assert await asking is True
        assert paired == [("r", True)]
    os.write(master, b"\x04")  # the end of the input
    await listening
    await asyncio.sleep(0)
    terminal.close()
    os.close(master)


@pytest.mark.parametrize(
    "trick", ["\r", "\x1b[2K\x1b[1G", "\x08" * 8, "\u202e", "\u200b", "\x9b2K", "\U000e0041", "\u2066"]
)
def test_what_is_asked_about_cannot_hide_itself(trick: str) -> None:
    """Terminals and phones show the question as it is: nothing in it moves the cursor or turns the line around."""
    bus = Bus()
    desk = ConsentDesk(bus, 0.01)
    hidden = QUESTION.model_copy(update={"exact": f"rm -rf ~{trick}ls", "reason": f"It deletes{trick}."})
    with bus.subscribe() as events:
        assert asyncio.run(desk.ask("t", hidden, CancelFlag())) is False
        asked = next(event for event in iter(lambda: events.get(0), None) if isinstance(event, ConsentAsked))
    for shown in (asked.exact, asked.reason, line_for(Noticed(text=trick))):
        assert shown.isprintable()
        assert f"<U+{ord(trick[0]):04X}>" in shown
    assert visible("two\nlines\twith 👩\u200d💻 and é") == "two\nlines\twith 👩\u200d💻 and é"
