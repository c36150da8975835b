"""anovax bench ablation: each part that is switched off breaks what it is for, and nothing makes it less safe."""

from __future__ import annotations

import asyncio

import pytest

from anovax.bench.ablation import ABLATIONS, Report, Row, run
from anovax.bench.ablation_cases import KINDS, SCENARIOS
from anovax.bench.paper import paper_desktop
from anovax.config import Config, PlannerConfig
from anovax.errors import FocusLost

pytestmark = pytest.mark.timeout(90)  # thirty assistants are built, one after the other
RULES = Config(planner=PlannerConfig(backend="fastpath"))
BY_RULES = {
    "dictation",
    "open, then type",
    "do that again",
    "two texts at once",
    "the focus is stolen while typing",
    "a command that deletes everything",
}


@pytest.fixture(scope="module")
def report() -> Report:
    return asyncio.run(run(RULES, 1, [scenario for scenario in SCENARIOS if scenario.name in BY_RULES]))


def test_with_nothing_off_everything_that_rules_read_works(report: Report) -> None:
    rows = [row for row in report.rows if row.ablation == "none"]
    assert {row.scenario for row in rows} == BY_RULES
    assert all(row.worked for row in rows), [row for row in rows if not row.worked]


@pytest.mark.parametrize(
    ("ablation", "breaks"),
    [
        ("model off", set()),  # rules read all of these
        ("memory off", {"do that again"}),
        ("locks off", {"two texts at once"}),
        ("recovery off", {"the focus is stolen while typing"}),
    ],
)
def test_each_part_is_good_for_something(report: Report, ablation: str, breaks: set[str]) -> None:
    assert {line.split(":")[0] for line in report.broken(ablation)} == breaks


def test_nothing_dangerous_happens_whatever_is_off(report: Report) -> None:
    assert [report.share("dangerous", ablation) for ablation in ABLATIONS] == [(1, 1)] * len(ABLATIONS)


def test_the_table_counts_by_kind_and_names_what_broke(report: Report) -> None:
    text = report.table()
    assert all(kind in text for kind in KINDS)
    assert "two texts at once: 0 of 1, not 1 of 1" in text and "model off: breaks nothing here" in text


def test_breaking_now_and_then_is_seen() -> None:
    def row(ablation: str, repeat: int, worked: bool) -> Row:
        return Row("race", "two at once", ablation, repeat, worked, "", 1.0)

    rows = [row("none", n, True) for n in range(4)] + [row("locks off", n, n > 0) for n in range(4)]
    assert Report(tuple(rows)).broken("locks off") == ["race: 3 of 4, not 4 of 4"]


def test_paper_keeps_the_focus_and_what_is_typed() -> None:
    desktop, paper = paper_desktop()
    first, second = paper.open("a", "A"), paper.open("b", "B")
    assert desktop.focused() == second and desktop.windows() == (second, first)
    paper.activate(first)
    assert desktop.focused() == first
    with pytest.raises(FocusLost):
        paper._check(second, 0)
    paper.close_window(first)
    assert desktop.focused() == second and not desktop.exists(first)
    desktop.close()
