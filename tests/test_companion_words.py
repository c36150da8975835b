"""The page's words: what its first buttons ask for is understood, in whatever language they are labelled."""

from __future__ import annotations

import json
import re

import pytest

from anovax.companion.pages import page_folder
from anovax.plan import Context
from anovax.planner.fastpath import FastPath
from anovax.tool import discover


@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_the_first_quick_requests_are_read_by_rules(language: str) -> None:
    words = (page_folder() / f"words-{language}.js").read_text("utf-8")
    (found,) = re.findall(r"quick_first: (\[.*?\])", words, re.S)
    lines: list[str] = json.loads(re.sub(r",\s*\]", "]", found))
    fast, tools = FastPath(discover()), list[str]()
    for line in lines:
        label, _, request = line.partition(" = ")
        plan = fast.read(request or label, Context())
        assert plan is not None, line
        tools += [step.tool for step in plan.steps]
    assert tools == ["get_time", "screenshot", "open_app", "read_screen"]
