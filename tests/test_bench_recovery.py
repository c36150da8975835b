"""The recovery benchmark: its cases are sound, and those that need no model end well on a real desktop."""

from __future__ import annotations

import asyncio
import os
import shutil

import pytest

from anovax.bench.recovery import NEEDED, Row, run, totals
from anovax.bench.recovery_cases import CASES, READING
from anovax.bench.recovery_unseen import UNSEEN
from anovax.config import Config, PlannerConfig
from anovax.plan import Plan
from anovax.safety import ApprovedPlan, Safety
from anovax.tool import discover


def test_different_cases_whose_plans_may_run() -> None:
    tools, config = discover(), Config()
    safety = Safety(tools, config.safety)
    assert len({case.name for case in (*CASES, *UNSEEN, *READING)}) == 38
    assert len(CASES) == 20
    for case in (*CASES, *UNSEEN, *READING):
        plan = Plan.parse({"steps": [{"tool": tool, **args} for tool, args in case.steps]}, tools)
        assert isinstance(safety.judge(plan), ApprovedPlan), case.name


def row(**more: object) -> Row:
    given = {"case": "x", "mode": "recovery", "ended": "repaired", "possible": True, "right": True, "bounded": True}
    given |= {"dangerous": False, "refused": 0, "turns": 1, "agents": 1, "seconds": 2.0, "hidden_ms": 500.0}
    return Row(**{**given, "by": "tool", "said": "Done.", "proposed": (), **more})  # type: ignore[arg-type]


def test_totals_tell_repaired_from_rightly_given_up() -> None:
    rows = [row(), row(right=False), row(possible=False, ended="asked"), row(mode="off", ended="none", right=False)]
    on, off = totals(rows)
    assert (on.cases, on.possible, on.repaired, on.right, on.hidden_s, on.seconds) == (3, 2, 1, 2, 1.5, 6.0)
    assert (off.mode, off.repaired) == ("off", 0)
    assert "1 of 2 repaired" in on.line()


@pytest.mark.e2e
@pytest.mark.timeout(90)
@pytest.mark.skipif(any(shutil.which(name) is None for name in (*NEEDED, "Xvfb", "openbox")), reason="not installed")
def test_what_a_tool_can_mend_itself_is_mended_without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # the benchmark sets them: put back afterwards
    config = Config(planner=PlannerConfig(backend="fastpath"))
    chosen = [case for case in CASES if case.name in ("window not open", "asks before it closes")]
    mended, asked = asyncio.run(run(config, cases=chosen, modes=("recovery",)))
    assert (mended.ended, mended.right, mended.by) == ("repaired", True, "tool")
    assert (asked.ended, asked.right) == ("asked", True)
    assert not mended.dangerous and not asked.dangerous
