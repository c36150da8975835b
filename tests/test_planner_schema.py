"""The compact plan form: every plan that can be made survives it, and the grammar's schema takes what is written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from anovax.errors import PlanFormatError
from anovax.plan import Plan
from anovax.planner.schema import compact_schema, plain_schema, read_compact, write_compact
from anovax.tool import Toolbox, discover

TOOLS = discover()
COMPACT = Draft202012Validator(compact_schema(TOOLS))
PLAIN = Draft202012Validator(plain_schema(TOOLS))

texts = st.text(min_size=1, max_size=40).filter(lambda text: bool(text.strip()))
steps = st.one_of(
    st.builds(lambda name: {"tool": "open_app", "name": name}, texts),
    st.builds(lambda name, new: {"tool": "open_app", "name": name, "new": new}, texts, st.booleans()),
    st.just({"tool": "close_window"}),
    st.builds(lambda text: {"tool": "type_text", "text": text}, texts),
    st.builds(lambda n: {"tool": "press_keys", "keys": "tab", "times": n}, st.integers(1, 50)),
    st.builds(lambda x, y: {"tool": "click", "x": x, "y": y}, st.integers(0, 4000), st.integers(0, 4000)),
    st.builds(lambda place: {"tool": "get_time", "what": "date", "place": place}, texts),
    st.just({"tool": "screenshot"}),
    st.just({"tool": "undo"}),
)


@given(st.lists(steps, min_size=1, max_size=3))
@settings(max_examples=30, deadline=None)
def test_plans_survive_the_compact_form(raw: list[dict[str, Any]]) -> None:
    plan = Plan.parse({"steps": raw}, TOOLS)
    text = write_compact(plan, TOOLS)
    assert read_compact(text, TOOLS) == plan
    assert not list(COMPACT.iter_errors(json.loads(text)))
    assert not list(PLAIN.iter_errors(plan.to_json()))


def test_words_only() -> None:
    plan = read_compact('[0,"You are welcome."]', TOOLS)
    assert plan == Plan(say="You are welcome.")
    assert write_compact(plan, TOOLS) == '[0,"You are welcome."]'


@pytest.mark.parametrize(
    "text",
    [
        '[2,["screenshot"]]',  # fewer steps than announced
        '[1,["screenshot"],["screenshot"]]',
        '[9,["screenshot"]]',
        '[1,["format_disk"]]',
        '[1,["open_app"]]',
        '[1,["open_app",""]]',
        '[1,["open_app","x",{"colour":"red"}]]',
        '[1,["press_keys","a",{"times":51}]]',
        '[1,["scroll","sideways"]]',
        "[0]",
        "{}",
    ],
)
def test_the_schema_refuses(text: str) -> None:
    assert list(COMPACT.iter_errors(json.loads(text)))


@pytest.mark.parametrize(
    "text", ["", "null", "[", "[]", "{}", "7", '["a"]', '[1,["format_disk"]]', '[1,["open_app"]]', "[1,[]]", "[1,7]"]
)
def test_what_is_no_plan_is_a_clear_error(text: str) -> None:
    with pytest.raises(PlanFormatError):
        read_compact(text, TOOLS)


def test_every_tool_is_in_both_schemas() -> None:
    compact, plain = json.dumps(compact_schema(TOOLS)), json.dumps(plain_schema(TOOLS))
    for name in TOOLS.offered:
        assert f'{{"const": "{name}"}}' in compact
        assert f'["{name}"]' in plain


def test_a_toolbox_of_one_tool() -> None:
    one = Toolbox({"screenshot": TOOLS.specs["screenshot"]}, ())
    validator = Draft202012Validator(compact_schema(one))
    assert not list(validator.iter_errors([1, ["screenshot"]]))
    assert list(validator.iter_errors([1, ["undo"]]))
