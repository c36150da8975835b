"""The reply is built from outcomes: never from what the plan promised."""

from __future__ import annotations

import pytest

from anovax.plan import Outcome, Plan, Status
from anovax.repair import Repair
from anovax.reply import after_recovery, reply
from anovax.tool import discover

TOOLS = discover()
OPEN = {"tool": "open_app", "name": "calculator"}
TYPE = {"tool": "type_text", "text": "21+21"}
TIME = {"tool": "get_time"}


def said(say: str, *pairs: tuple[dict[str, str], Outcome]) -> str:
    plan = Plan.parse({"steps": [step for step, _ in pairs]}, TOOLS)
    return reply(say, plan.steps, [outcome for _, outcome in pairs], TOOLS)


def ended(status: Status, **more: object) -> Outcome:
    return Outcome.model_validate({"tool": "x", "status": status, **more})


def test_words_alone_are_said_as_they_are() -> None:
    assert said("Gravity pulls.") == "Gravity pulls."


def test_done_is_said_only_for_what_was_verified() -> None:
    assert said("", (OPEN, ended(Status.VERIFIED))) == "Done."
    text = said("", (OPEN, ended(Status.VERIFIED)), (TYPE, ended(Status.UNVERIFIED)))
    assert "Done" not in text
    assert "could not check" in text


def test_what_a_tool_found_is_said() -> None:
    assert said("", (TIME, ended(Status.VERIFIED, say="It is ten past four."))) == "It is ten past four."


@pytest.mark.parametrize("promise", ["Done!", "I have opened it for you."])
def test_a_failure_is_said_whatever_the_plan_promised(promise: str) -> None:
    text = said(promise, (OPEN, ended(Status.FAILED, error="it is not installed")), (TYPE, ended(Status.SKIPPED)))
    assert promise not in text
    assert "I could not open calculator: it is not installed" in text


def test_what_was_done_before_a_failure_is_said() -> None:
    text = said("", (OPEN, ended(Status.VERIFIED)), (TYPE, ended(Status.FAILED, error="no window")))
    assert text.startswith("I did open calculator.")


@pytest.mark.parametrize(
    ("status", "word"), [(Status.REFUSED, "may not"), (Status.TIMED_OUT, "too long"), (Status.CANCELLED, "Stopped")]
)
def test_other_ends_are_named(status: Status, word: str) -> None:
    assert word in said("", (TYPE, ended(status, error="why")))


def test_after_recovery() -> None:
    plan = Plan.parse({"steps": [OPEN]}, TOOLS)
    first = [ended(Status.FAILED, error="no such application")]
    repaired = Repair(result="repaired", steps=plan.steps, outcomes=(ended(Status.VERIFIED),))
    assert after_recovery("", repaired, plan.steps, first, TOOLS) == "Done."
    asked = Repair(result="asked", say="Did you mean A or B?")
    assert after_recovery("", asked, plan.steps, first, TOOLS) == "Did you mean A or B?"
    failed = after_recovery("", Repair(result="failed", say="I gave up."), plan.steps, first, TOOLS)
    assert failed == "I could not open calculator: no such application I gave up."
