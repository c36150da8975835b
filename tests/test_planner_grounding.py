"""No argument holds a word that neither the user nor memory gave."""

from __future__ import annotations

from typing import Any

import pytest

from anovax.plan import Context, PastTurn, Plan
from anovax.planner.grounding import grounded
from anovax.tool import WindowRef, discover

TOOLS = discover()


def judge(request: str, *steps: dict[str, Any], context: Context = Context()) -> Plan:
    return grounded(Plan.parse({"steps": steps}, TOOLS), request, context, TOOLS)


def only(plan: Plan) -> dict[str, Any]:
    assert len(plan.steps) == 1
    return plan.steps[0].to_json()


@pytest.mark.parametrize(
    ("request_text", "step"),
    [
        ("open the calculator", {"tool": "open_app", "name": "calculator"}),
        ("open the calculater", {"tool": "open_app", "name": "calculator"}),  # spelling is repaired, not invented
        ("type twenty one plus four", {"tool": "type_text", "text": "21 plus 4"}),
        ("go to the new york times", {"tool": "open_url", "url": "nytimes.com"}),
        ("go to wikipedia dot org", {"tool": "open_url", "url": "https://www.wikipedia.org"}),
        ("what time is it in oslo", {"tool": "get_time", "place": "oslo"}),
        ("remember that i parked on level two", {"tool": "remember", "fact": "I parked on level 2"}),
        ("search for shoes", {"tool": "web_search", "query": "shoes"}),
        ("press enter", {"tool": "press_keys", "keys": "enter"}),
        ("say hello", {"tool": "speak", "text": "hello"}),
        ("spell cat", {"tool": "speak", "text": "c a t"}),
    ],
)
def test_what_was_said_stays(request_text: str, step: dict[str, Any]) -> None:
    assert only(judge(request_text, step)).items() >= step.items()


@pytest.mark.parametrize(
    ("request_text", "step"),
    [
        ("type my home address", {"tool": "type_text", "text": "12 Elm Street"}),
        ("write to the bank", {"tool": "type_text", "text": "service@bank.example"}),
        ("open that page", {"tool": "open_url", "url": "shadyexample.biz"}),
        ("open it", {"tool": "open_app", "name": "firefox"}),
        ("click there", {"tool": "click", "target": "download"}),
        ("keep this", {"tool": "remember", "fact": "password hunter"}),
    ],
)
def test_invention_becomes_a_question(request_text: str, step: dict[str, Any]) -> None:
    plan = judge(request_text, step)
    assert plan.steps == ()
    assert plan.say.endswith("?")


def test_one_invented_step_stops_the_whole_plan() -> None:
    plan = judge(
        "open mail and send it", {"tool": "open_app", "name": "mail"}, {"tool": "type_text", "text": "bob@example.org"}
    )
    assert plan.steps == ()


def test_invented_words_are_taken_out_where_the_rest_stands() -> None:
    assert only(judge("open chrome", {"tool": "open_app", "name": "google chrome"}))["name"] == "chrome"
    assert only(judge("look up shoes", {"tool": "web_search", "query": "shoes amazon"}))["query"] == "shoes"


def test_a_search_falls_back_to_the_request() -> None:
    plan = judge("who is that singer", {"tool": "web_search", "query": "adele"})
    assert only(plan)["query"] == "who is that singer"


def test_an_optional_argument_is_dropped() -> None:
    assert only(judge("close it", {"tool": "close_window", "name": "firefox"})) == {"tool": "close_window"}


def test_names_of_keys_and_windows_are_tidied() -> None:
    assert only(judge("next track", {"tool": "press_keys", "keys": "next track"}))["keys"] == "nexttrack"
    assert only(judge("press a then b", {"tool": "press_keys", "keys": "a b"}))["keys"] == "a b"
    assert only(judge("close this window", {"tool": "close_window", "name": "this window"})) == {"tool": "close_window"}


def test_a_composed_answer_is_said_as_words() -> None:
    plan = judge("tell me something nice", {"tool": "speak", "text": "You look great today"})
    assert plan == Plan(say="You look great today")


def test_memory_and_windows_give_words() -> None:
    context = Context(
        facts=("my address is 12 Elm Street",),
        focus=WindowRef(app="Mousepad", title="notes.txt"),
        turns=(PastTurn(heard="open firefox", plan=Plan()),),
    )
    assert judge("type my address", {"tool": "type_text", "text": "12 Elm Street"}, context=context).steps
    assert (
        judge("close it", {"tool": "close_window", "name": "mousepad"}, context=context).steps[0].to_json()["name"]
        == "mousepad"
    )
    assert judge("again", {"tool": "open_app", "name": "firefox"}, context=context).steps


def test_results_of_earlier_steps_are_not_inventions() -> None:
    steps = ({"tool": "get_time"}, {"tool": "type_text", "text": "{result:1}"})
    assert len(judge("type the time", *steps).steps) == 2
