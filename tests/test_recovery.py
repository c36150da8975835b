"""The recovery loop with scripted thinking and running: repaired, asked, failed; always bounded."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import pytest

from anovax.config import RecoveryConfig
from anovax.plan import Context, Failure, Outcome, Plan, Planned, Status
from anovax.recovery import REMEDY, REST, Ports, Recovery
from anovax.repair import Refused, Repair
from anovax.tool import CancelFlag, discover

TOOLS = discover()
OPEN = {"tool": "open_app", "name": "calculater"}
RIGHT = {"tool": "open_app", "name": "calculator"}
TYPE = {"tool": "type_text", "text": "21+21"}
TIME = {"tool": "get_time"}
SHOT = {"tool": "screenshot"}


def plan_of(*steps: dict[str, Any], say: str = "") -> Plan:
    return Plan.parse({"steps": list(steps), "say": say}, TOOLS)


class World:
    """A scripted neighbour: proposes the given batches in order, and knows which applications exist."""

    def __init__(self, *batches: Plan, refuse: str = "", watch: bool = False):
        self.batches, self.refuse = list(batches), refuse
        self.observed = asyncio.Event() if watch else None  # thinking ends only after somebody has observed
        self.ran: list[dict[str, Any]] = []
        self.failures: list[Failure] = []
        self.hidden: list[tuple[tuple[str, ...], float]] = []
        self.left = 20

    async def think(self, failure: Failure, cancel: CancelFlag) -> Planned:
        self.failures.append(failure)
        if self.observed is not None and len(self.failures) == 1:
            await asyncio.wait_for(self.observed.wait(), 5)
        return Planned(plan=self.batches.pop(0) if self.batches else plan_of(OPEN), backend="script")

    async def run(self, planned: Planned) -> tuple[Outcome, ...] | Refused:
        if self.refuse:
            return Refused(reason=self.refuse)
        return tuple(self.outcome(step.to_json()) for step in planned.plan.steps)

    async def observe(self, plan: Plan) -> tuple[Outcome, ...]:
        if self.observed is not None:
            self.observed.set()
        return tuple(self.outcome(step.to_json()) for step in plan.steps)

    def outcome(self, step: dict[str, Any]) -> Outcome:
        self.ran.append(step)
        self.left -= 1
        if step["tool"] == "open_app" and step["name"] != "calculator":
            error = f"no application is called {step['name']}"
            return Outcome(tool="open_app", status=Status.FAILED, error=error, candidates=("calculator",))
        return Outcome(tool=step["tool"], status=Status.VERIFIED, evidence="seen", result="ten past four")

    def ports(self) -> Ports:
        note = self.hidden.append
        return Ports(self.think, self.run, self.observe, lambda: self.left, Context, lambda t, ms: note((t, ms)))


def failed(error: str = "no application", **more: Any) -> Outcome:
    return Outcome(tool="open_app", status=Status.FAILED, error=error, candidates=("calculator",), **more)


def skipped(tool: str) -> Outcome:
    return Outcome(tool=tool, status=Status.SKIPPED)


def repair(world: World, plan: Plan, *outcomes: Outcome, cancel: CancelFlag | None = None) -> Repair:
    loop = Recovery(RecoveryConfig(), TOOLS)
    return asyncio.run(loop.repair("open the calculater", plan, outcomes, world.ports(), cancel or CancelFlag()))


def test_a_right_name_repairs_and_the_rest_of_the_plan_follows() -> None:
    world = World(plan_of(RIGHT))
    ended = repair(world, plan_of(OPEN, TYPE), failed(), skipped("type_text"))
    assert ended.result == "repaired"
    assert world.ran == [RIGHT, TYPE]
    assert "closest: calculator" in world.failures[0].tried[0][1]


def test_the_rest_is_not_done_twice_when_the_model_repeats_it() -> None:
    world = World(plan_of(RIGHT, TYPE))
    assert repair(world, plan_of(OPEN, TYPE), failed(), skipped("type_text")).result == "repaired"
    assert world.ran == [RIGHT, TYPE]


def test_a_name_that_the_failed_tool_offered_is_meant_for_that_tool() -> None:
    click = {"tool": "click", "target": "pictures"}
    seen = Outcome(tool="click", status=Status.FAILED, error="not to be seen", candidates=("Sounds", "Images"))
    world = World(plan_of({"tool": "focus_window", "name": "Images"}))
    assert repair(world, plan_of(click), seen).result == "repaired"
    assert world.ran == [{"tool": "click", "target": "Images"}]
    world = World(plan_of({"tool": "focus_window", "name": "Mail"}))  # not one of those: a window
    repair(world, plan_of(click), seen)
    assert world.ran[0] == {"tool": "focus_window", "name": "Mail"}


def test_repeating_what_failed_ends_the_loop() -> None:
    world = World(*(plan_of(OPEN) for _ in range(6)))
    ended = repair(world, plan_of(OPEN), failed())
    assert ended.result == "failed"
    assert world.ran == []
    assert len(world.failures) == 2


def test_the_loop_is_bounded_when_every_proposal_fails() -> None:
    names = [plan_of({"tool": "open_app", "name": f"wrong {n}"}) for n in range(20)]
    world = World(*names)
    assert repair(world, plan_of(OPEN), failed()).result == "failed"
    assert len(world.failures) == 6


def test_giving_up_with_a_question_asks() -> None:
    ended = repair(World(plan_of(say="Which calculator do you mean?")), plan_of(OPEN), failed())
    assert (ended.result, ended.say) == ("asked", "Which calculator do you mean?")


def test_an_ambiguous_target_is_asked_about_without_thinking() -> None:
    world = World()
    outcome = failed("two fit", ambiguous=True).model_copy(update={"candidates": ("GNOME Calculator", "Galculator")})
    ended = repair(world, plan_of(OPEN), outcome)
    assert (ended.result, ended.say) == ("asked", "Did you mean GNOME Calculator or Galculator?")
    assert world.failures == []


def test_a_refused_batch_ends_the_loop() -> None:
    ended = repair(World(plan_of(RIGHT), refuse="that is dangerous"), plan_of(OPEN), failed())
    assert (ended.result, ended.say) == ("failed", "that is dangerous")


@pytest.mark.parametrize(
    ("which", "ran", "hidden"),
    [
        ("lasting", ["get_time", "open_app", "screenshot"], [("get_time",)]),
        ("all", ["get_time", "screenshot", "open_app", "screenshot"], [("get_time", "screenshot")]),  # taken again
        ("off", ["open_app", "get_time", "screenshot"], []),
    ],
)
def test_read_only_steps_run_while_the_model_thinks(
    which: Literal["lasting", "all", "off"], ran: list[str], hidden: list[tuple[str, ...]]
) -> None:
    world = World(plan_of(RIGHT), watch=which != "off")
    loop = Recovery(RecoveryConfig(ahead=which), TOOLS)
    outcomes = (failed(), skipped("get_time"), skipped("screenshot"))
    ended = asyncio.run(loop.repair("open it", plan_of(OPEN, TIME, SHOT), outcomes, world.ports(), CancelFlag()))
    assert ended.result == "repaired"
    assert [step["tool"] for step in world.ran] == ran
    assert {outcome.tool for outcome in ended.outcomes} == {"open_app", "get_time", "screenshot"}
    assert [tools for tools, _ in world.hidden] == hidden


def test_the_failed_tools_own_remedy_comes_before_any_thinking() -> None:
    world = World()
    ended = repair(world, plan_of(OPEN, TYPE), failed(remedy=(RIGHT,)), skipped("type_text"))
    assert ended.result == "repaired"
    assert world.ran == [RIGHT, TYPE]
    assert world.failures == []
    assert [turn.note for turn in ended.turns] == [REMEDY, REST]


def test_a_remedy_that_fails_is_tried_once_and_the_model_hears_of_it() -> None:
    class Stubborn(World):
        def outcome(self, step: dict[str, Any]) -> Outcome:
            return super().outcome(step).model_copy(update={"remedy": (OPEN,)})

    world = Stubborn(plan_of(RIGHT))
    ended = repair(world, plan_of(OPEN), failed(remedy=(OPEN,)))
    assert ended.result == "repaired"
    assert world.ran == [OPEN, RIGHT]
    assert len(world.failures[0].tried) == 2


def test_a_repair_that_only_prepares_leaves_the_failed_input_to_be_done() -> None:
    focus = {"tool": "focus_window", "name": "notes"}
    world = World(plan_of(focus))
    lost = Outcome(tool="type_text", status=Status.FAILED, error="the focus went elsewhere")
    ended = repair(world, plan_of(TYPE, TIME), lost, skipped("get_time"))
    assert ended.result == "repaired"
    assert [step["tool"] for step in world.ran if step != TIME] == ["focus_window", "type_text"]


def test_what_was_done_of_a_step_is_not_done_again_and_the_reply_names_the_whole_step() -> None:
    back, left = {"tool": "focus_window", "name": "notes"}, {"tool": "type_text", "text": "+21"}
    lost = Outcome(tool="type_text", status=Status.FAILED, error="the focus went elsewhere", remedy=(back, left))
    world = World()
    ended = repair(world, plan_of(TYPE), lost)
    assert world.ran == [back, left]
    assert [step.to_json() for step in ended.steps] == [back, TYPE]


def test_steps_that_went_well_before_a_second_failure_are_not_repeated() -> None:
    class Fickle(World):
        def outcome(self, step: dict[str, Any]) -> Outcome:
            if step["tool"] == "click" and step not in self.ran:
                self.ran.append(step)
                return Outcome(tool="click", status=Status.FAILED, error="'go' is not to be seen")
            return super().outcome(step)

    click, scroll = {"tool": "click", "target": "go"}, {"tool": "scroll", "direction": "bottom"}
    world = Fickle(plan_of(RIGHT), plan_of(scroll))
    ended = repair(world, plan_of(OPEN, TYPE, click), failed(), skipped("type_text"), skipped("click"))
    assert ended.result == "repaired"
    assert world.ran == [RIGHT, TYPE, click, scroll, click]
    assert [step.tool for step in ended.steps] == ["open_app", "type_text", "scroll", "click"]


def test_a_repair_enters_nothing_that_the_plan_did_not() -> None:
    world = World(plan_of(RIGHT, TYPE, {"tool": "press_keys", "keys": "enter"}))
    ended = repair(world, plan_of(OPEN), failed())
    assert ended.result == "repaired"
    assert world.ran == [RIGHT]


def test_a_proposal_of_nothing_but_such_input_is_none() -> None:
    world = World(plan_of(TYPE), plan_of(TYPE))
    assert repair(world, plan_of(OPEN), failed()).result == "failed"
    assert world.ran == []


def test_looking_repairs_nothing_but_is_told_to_the_next_thought() -> None:
    world = World(plan_of(SHOT, TIME), plan_of(RIGHT))
    ended = repair(world, plan_of(OPEN), failed())
    assert ended.result == "repaired"
    assert world.ran == [SHOT, TIME, RIGHT]
    assert any("ten past four" in seen for seen in world.failures[1].observations)


def test_what_a_tool_advises_the_user_is_not_told_to_the_model() -> None:
    world = World(plan_of(RIGHT))
    repair(world, plan_of(OPEN), failed("No application is called so; install one."))
    assert world.failures[0].tried[0][1] == "failed: No application is called so; closest: calculator"


def test_a_stop_ends_it() -> None:
    cancel = CancelFlag()
    cancel.set("stop")
    assert repair(World(plan_of(RIGHT)), plan_of(OPEN), failed(), cancel=cancel).result == "cancelled"


def test_a_plan_that_did_not_fail_is_no_business_of_recovery() -> None:
    with pytest.raises(ValueError, match="nothing failed"):
        repair(World(), plan_of(TIME), Outcome(tool="get_time", status=Status.VERIFIED))
