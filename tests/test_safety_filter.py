"""The filter's contract: who may approve, consent, the check before each effect, bounds, policy, failing closed."""

from __future__ import annotations

import ast
import copy
import json
from pathlib import Path

import pytest
from plan_steps import open_app as app
from plan_steps import press_keys as keys
from plan_steps import type_text as text

from anovax.config import SafetyConfig
from anovax.errors import SafetyError
from anovax.plan import MAX_AGENTS, Plan, World
from anovax.safety import ApprovedPlan, NeedsConsent, Refusal, Safety
from anovax.tool import Effect, WindowRef, discover

TOOLS = discover()
SAFETY = Safety(TOOLS, SafetyConfig())
TERMINAL = WindowRef(id=1, pid=10, app="XTerm", title="user@host: ~")
EDITOR = WindowRef(id=2, pid=20, app="Mousepad", title="notes.txt - Mousepad")
DIALOG = WindowRef(id=3, pid=30, app="Zenity", title="Update available")


def plan(*steps: dict[str, object]) -> Plan:
    return Plan.parse({"steps": list(steps)}, TOOLS)


def decision(*steps: dict[str, object], **world: object) -> str:
    return SAFETY.judge(plan(*steps), World(**world)).verdict.decision.value  # type: ignore[arg-type]


# --- only safety approves --------------------------------------------------------------------------------------------


def test_nobody_else_can_build_an_approved_plan() -> None:
    approved = SAFETY.judge(plan(app("calculator")))
    assert isinstance(approved, ApprovedPlan)
    for kind in (ApprovedPlan, NeedsConsent):
        with pytest.raises(SafetyError):
            kind(approved.plan, approved.verdict, approved.verdicts, approved.world)
        with pytest.raises(SafetyError):
            kind(approved.plan, approved.verdict, approved.verdicts, approved.world, seal=object())
    with pytest.raises(AttributeError):
        approved.plan = plan(text("x"))  # type: ignore[misc]
    assert copy.copy(approved).plan == approved.plan


def test_the_code_builds_approved_plans_nowhere_else() -> None:
    root = Path(__file__).parent.parent / "anovax"
    for path in root.rglob("*.py"):
        inside = path.is_relative_to(root / "safety")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            assert name != "_SEAL" or inside, f"{path} reaches for the seal"
            if isinstance(node, ast.Call):
                called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                allowed = path in (root / "safety" / "filter.py",)
                assert called not in ("ApprovedPlan", "NeedsConsent") or allowed, f"{path} builds {called}"
            if isinstance(node, ast.ImportFrom) and not inside:
                assert "_SEAL" not in [alias.name for alias in node.names]


def test_every_step_has_a_verdict() -> None:
    judged = SAFETY.judge(plan(app("terminal"), text("rm -rf ~"), keys("enter")))
    assert isinstance(judged, Refusal)
    assert [verdict.step for verdict in judged.verdicts] == [0, 1, 2]
    assert judged.verdict.step == 2
    assert "rm -rf ~" in judged.verdict.exact
    assert judged.verdict.reason


# --- consent ---------------------------------------------------------------------------------------------------------


def test_consent_covers_one_step_once() -> None:
    asked = SAFETY.judge(plan(app("terminal"), text("sudo ls"), keys("enter"), text("sudo id"), keys("enter")))
    assert isinstance(asked, NeedsConsent)
    assert asked.waiting == (2, 4)
    half = SAFETY.grant(asked, 2)
    assert isinstance(half, NeedsConsent)
    assert half.waiting == (4,)
    with pytest.raises(SafetyError):
        SAFETY.grant(asked, 4)
    with pytest.raises(SafetyError):
        SAFETY.grant(half, 2)
    whole = SAFETY.grant(half, 4)
    assert isinstance(whole, ApprovedPlan)
    assert whole.consented == {2, 4}
    with pytest.raises(SafetyError):
        SAFETY.grant(half, 4)


def test_consent_does_not_carry_over_to_another_judgement() -> None:
    steps = plan(app("terminal"), text("sudo ls\n"))
    first = SAFETY.judge(steps)
    assert isinstance(first, NeedsConsent)
    SAFETY.grant(first, 1)
    assert isinstance(SAFETY.judge(steps), NeedsConsent)


# --- before each effect ----------------------------------------------------------------------------------------------


def test_text_for_an_editor_is_refused_when_a_terminal_has_taken_the_focus() -> None:
    approved = SAFETY.judge(plan(app("mousepad"), text("Dear Anna\nrm -rf ~\n")))
    assert isinstance(approved, ApprovedPlan)
    payload = "Dear Anna\nrm -rf ~\n"
    assert SAFETY.recheck(approved, 1, Effect(kind="type", payload=payload, window=EDITOR)).decision == "approve"
    assert SAFETY.recheck(approved, 1, Effect(kind="type", payload=payload, window=TERMINAL)).decision == "refuse"


def test_even_harmless_text_must_not_land_in_a_command_line() -> None:
    approved = SAFETY.judge(plan(app("mousepad"), text("Dear Anna\n"), keys("enter")))
    assert isinstance(approved, ApprovedPlan)
    for index, kind, payload in ((1, "type", "Dear Anna\n"), (1, "paste", "Dear Anna\n"), (2, "keys", "enter")):
        lost = SAFETY.recheck(approved, index, Effect(kind=kind, payload=payload, window=TERMINAL))
        assert (lost.decision, lost.rule) == ("refuse", "focus")
        assert SAFETY.recheck(approved, index, Effect(kind=kind, payload=payload, window=EDITOR)).decision == "approve"
        assert SAFETY.recheck(approved, index, Effect(kind=kind, payload=payload)).decision == "approve"
    launch = Effect(kind="launch", payload="mousepad", window=TERMINAL)
    assert SAFETY.recheck(approved, 0, launch).decision == "approve"
    browser = SAFETY.judge(plan({"tool": "click", "target": "Home"}), World(focus=EDITOR))
    assert isinstance(browser, ApprovedPlan)
    assert SAFETY.recheck(browser, 0, Effect(kind="click", payload="1,1", window=TERMINAL)).decision == "approve"


def test_what_is_started_is_judged_too() -> None:
    approved = SAFETY.judge(plan(app("xterm")))
    assert isinstance(approved, ApprovedPlan)
    fine = ("", "xterm", "/usr/bin/xterm", "/tmp/mount_x/app")
    assert [SAFETY.recheck(approved, 0, Effect(kind="launch", payload=payload)).decision for payload in fine] == [
        "approve"
    ] * 4
    assert SAFETY.recheck(approved, 0, Effect(kind="launch", payload="xterm -e rm -rf ~")).decision == "refuse"


def test_a_question_shows_the_exact_effect() -> None:
    for steps, shown in (
        ([keys("alt+f4")], "Press alt+f4"),
        ([{"tool": "open_url", "url": "http://192.168.1.1"}], "Go to http://192.168.1.1"),
        ([app("terminal"), text("sudo ls\n")], "run in a terminal: sudo ls"),
    ):
        judged = SAFETY.judge(plan(*steps), World(focus=EDITOR))
        assert judged.verdict.decision == "ask"
        assert judged.verdict.exact.startswith(shown)
    assert (
        SAFETY.judge(plan(keys("alt+f4")), World(focus=EDITOR)).verdict.exact == "Press alt+f4 (notes.txt - Mousepad)"
    )


def test_only_the_approved_text_and_keys_may_happen() -> None:
    approved = SAFETY.judge(plan(text("hello there"), keys("ctrl+s")), World(focus=EDITOR))
    assert isinstance(approved, ApprovedPlan)
    good = [
        (0, "type", "hello"),
        (0, "type", " there"),
        (0, "paste", "hello there"),
        (0, "keys", "ctrl+v"),
        (1, "keys", "Ctrl+S"),
    ]
    bad = [
        (0, "type", "bye"),
        (0, "keys", "enter"),
        (0, "open_url", "x.org"),
        (1, "keys", "ctrl+q"),
        (1, "type", "s"),
        (2, "type", "x"),
    ]
    for index, kind, payload in good:
        assert (
            SAFETY.recheck(approved, index, Effect(kind=kind, payload=payload, window=EDITOR)).decision == "approve"
        ), payload
    for index, kind, payload in bad:
        assert (
            SAFETY.recheck(approved, index, Effect(kind=kind, payload=payload, window=EDITOR)).decision == "refuse"
        ), payload


def test_what_was_not_consented_to_is_not_done_because_something_else_was() -> None:
    asked = SAFETY.judge(plan(app("terminal"), text("sudo ls"), keys("enter")))
    assert isinstance(asked, NeedsConsent)
    assert SAFETY.recheck(asked, 2, Effect(kind="keys", payload="enter", window=TERMINAL)).decision == "refuse"  # type: ignore[arg-type]
    approved = SAFETY.grant(asked, 2)
    assert isinstance(approved, ApprovedPlan)
    done = [Effect(kind="type", payload="sudo ls", window=TERMINAL)]
    assert (
        SAFETY.recheck(approved, 2, Effect(kind="keys", payload="enter", window=TERMINAL), done).decision == "approve"
    )
    # the line holds something worse by now
    worse = World(focus=TERMINAL, pending="rm -rf ~; sudo ls")
    assert (
        SAFETY.recheck(approved, 2, Effect(kind="keys", payload="enter", window=TERMINAL), worse).decision == "refuse"
    )


def test_consent_to_one_command_is_none_to_another() -> None:
    asked = SAFETY.judge(plan(text("sudo ls"), keys("enter")), World(focus=TERMINAL))
    assert isinstance(asked, NeedsConsent)
    approved = SAFETY.grant(asked, 1)
    assert isinstance(approved, ApprovedPlan)
    enter = Effect(kind="keys", payload="enter", window=TERMINAL)
    assert SAFETY.recheck(approved, 1, enter, World(focus=TERMINAL, pending="sudo ls")).decision == "approve"
    assert SAFETY.recheck(approved, 1, enter, World(focus=TERMINAL, pending="sudo apt purge x")).decision == "ask"
    assert SAFETY.recheck(approved, 1, enter, World(focus=TERMINAL, pending="ls")).decision == "approve"


def test_the_search_page_may_be_in_the_own_network() -> None:
    own = Safety(TOOLS, SafetyConfig(), "http://192.168.1.5:8888/search?q={query}")
    steps = plan({"tool": "web_search", "query": "cats"}, {"tool": "open_url", "url": "wikipedia.org"})
    approved, other = own.judge(steps), SAFETY.judge(steps)
    assert isinstance(approved, ApprovedPlan)
    assert isinstance(other, ApprovedPlan)
    local = Effect(kind="open_url", payload="http://192.168.1.5:8888/search?q=cats")
    public = Effect(kind="open_url", payload="https://duckduckgo.com/?q=%3Cscript%3E")
    assert own.recheck(approved, 0, local).decision == "approve"
    assert own.recheck(approved, 1, local).decision == "ask"
    assert SAFETY.recheck(other, 0, local).decision == "ask"
    assert SAFETY.recheck(other, 0, public).decision == "approve"


def test_enter_is_judged_by_what_really_stands_there() -> None:
    approved = SAFETY.judge(plan(text("ls"), keys("enter")), World(focus=TERMINAL))
    assert isinstance(approved, ApprovedPlan)
    enter = Effect(kind="keys", payload="enter", window=TERMINAL)
    assert SAFETY.recheck(approved, 1, enter, World(focus=TERMINAL, pending="ls")).decision == "approve"
    assert SAFETY.recheck(approved, 1, enter, World(focus=TERMINAL, pending="sudo ls")).decision == "ask"
    assert SAFETY.recheck(approved, 1, enter, World(focus=TERMINAL, pending="rm -rf /")).decision == "refuse"


def test_an_unknown_effect_is_refused() -> None:
    approved = SAFETY.judge(plan(text("hello")), World(focus=EDITOR))
    assert isinstance(approved, ApprovedPlan)
    assert SAFETY.recheck(approved, 0, Effect(kind="teleport", window=EDITOR)).decision == "refuse"


# --- over several requests -------------------------------------------------------------------------------------------


def _after(world: World, *effects: Effect) -> World:
    for effect in effects:
        world = SAFETY.advance(world, effect)
    return world


def test_what_was_typed_in_one_request_is_judged_with_the_enter_of_the_next() -> None:
    world = _after(World(focus=TERMINAL), Effect(kind="type", payload="rm -rf ~", window=TERMINAL))
    assert world.pending == "rm -rf ~"
    assert SAFETY.judge(plan(keys("enter")), world).verdict.decision == "refuse"
    assert SAFETY.judge(plan(keys("ctrl+u"), text("ls"), keys("enter")), world).verdict.decision == "approve"
    world = _after(world, Effect(kind="keys", payload="enter", window=TERMINAL))
    assert world.pending == ""
    assert SAFETY.judge(plan(keys("enter")), world).verdict.decision == "approve"


@pytest.mark.parametrize(
    ("parts", "pending"), [(["rm -rf ", "~"], "rm -rf ~"), (["rmx", "\b -rf ~"], "rm -rf ~"), (["ls\n", "id"], "id")]
)
def test_pending_follows_the_keys(parts: list[str], pending: str) -> None:
    world = _after(World(focus=TERMINAL), *(Effect(kind="type", payload=part, window=TERMINAL) for part in parts))
    assert world.pending == pending


def test_an_unfinished_command_waits_for_its_end() -> None:
    world = _after(
        World(focus=TERMINAL),
        Effect(kind="type", payload="sh <<EOF\n", window=TERMINAL),
        Effect(kind="type", payload="rm -rf ~\n", window=TERMINAL),
    )
    assert SAFETY.judge(plan(text("EOF\n")), world).verdict.decision == "refuse"
    world = _after(World(focus=TERMINAL), Effect(kind="type", payload="rm -rf \\\n", window=TERMINAL))
    assert SAFETY.judge(plan(text("~\n")), world).verdict.decision == "refuse"


def test_history_is_remembered_as_unseen() -> None:
    world = _after(World(focus=TERMINAL), Effect(kind="keys", payload="up", window=TERMINAL))
    assert SAFETY.judge(plan(keys("enter")), world).verdict.decision == "ask"


def test_pending_text_stays_with_its_window() -> None:
    world = _after(
        World(focus=TERMINAL),
        Effect(kind="type", payload="rm -rf ~", window=TERMINAL),
        Effect(kind="focus", window=EDITOR),
    )
    assert SAFETY.judge(plan(keys("enter")), world).verdict.decision == "approve"


# --- the simulation --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "steps",
    [
        [app("terminal"), text("rm -rf"), text(" ~"), keys("enter")],
        [app("terminal"), text("rXm -rf ~"), keys("home right right backspace end enter")],
        [app("terminal"), text("m -rf ~"), keys("home"), text("r"), keys("enter")],
        [app("terminal"), text("mr -rf ~"), keys("home right ctrl+t enter")],
        [app("terminal"), text("rm -rf ~ x"), keys("ctrl+w enter")],
        [app("terminal"), text("~"), keys("ctrl+u"), text("rm -rf "), keys("ctrl+y enter")],
        [app("terminal"), text("echo hi; rm -rf ~"), keys("ctrl+j")],
        [app("terminal"), text("r\\\nm -rf ~\n")],
        [app("terminal"), text("x=rm\n"), text("$x -rf ~\n")],
        [
            app("terminal"),
            text("rm -rf "),
            {"tool": "focus_window", "name": "mousepad"},
            {"tool": "focus_window", "name": "terminal"},
            text("~\n"),
        ],
        [app("mousepad"), text("rm -rf ~"), keys("ctrl+a ctrl+c"), app("terminal"), keys("ctrl+shift+v enter")],
        [keys("super+r"), text("cmd /c rd /s /q c:\\"), keys("enter")],
        [keys("alt+f2"), text("rm -rf ~"), keys("enter")],
        [keys("super"), text("xterm -e rm -rf ~\n")],
        [keys("super"), text("terminal\n"), text("rm -rf ~\n")],
        [app("run"), text("rm -rf ~\n")],
        [app("rm -rf ~")],
        [text("rm -rf ~\n")],
        [app("visual studio code"), keys("ctrl+`"), text("rm -rf ~\n")],
        [app("firefox"), keys("ctrl+l"), text("javascript:alert(1)\n")],
        [keys("r"), keys("m"), keys("space"), text("-rf ~"), keys("enter")],
        [app("terminal"), text("rm -rf ~"), keys("shift+enter")],
        [app("terminal"), text("python3\n"), text("import os; os.system('rm -rf ~')\n")],
        [app("terminal"), text("\x15rm -rf ~\r")],
    ],
)
def test_commands_that_only_the_whole_plan_shows_are_refused(steps: list[dict[str, object]]) -> None:
    assert decision(*steps) in ("refuse", "ask")
    assert decision(*steps[:-1]) != "refuse" or len(steps) > 1


@pytest.mark.parametrize(
    "steps",
    [
        [app("terminal"), keys("up"), keys("enter")],
        [app("terminal"), text("!!\n")],
        [app("terminal"), keys("ctrl+r"), text("rm"), keys("enter")],
        [app("terminal"), text("cat /et"), keys("tab"), keys("enter")],
        [app("terminal"), keys("ctrl+shift+v"), keys("enter")],
        [app("terminal"), {"tool": "click", "x": 1, "y": 1, "button": "middle"}, keys("enter")],
        [text("rm -rf x"), keys("ctrl+z"), keys("ctrl+v"), keys("enter")],
        [app("firefox"), keys("f12"), text("document.cookie\n")],
        [app("mousepad"), text("evil"), keys("ctrl+s"), text("/home/user/.bashrc\n")],
        [app("terminal"), text("sudo reboot")],
        [app("terminal"), text("sudo reboot"), app("mousepad")],
        [text("rm -rf ~")],
        [keys("alt+f4"), keys("enter")],
        [{"tool": "close_window", "name": "editor"}, keys("enter")],
        [{"tool": "click", "target": "Yes"}],
        [{"tool": "click", "target": "Delete account"}],
        [app("terminal"), {"tool": "read_screen"}, text("{result:2}\n")],
        [{"tool": "recall", "query": "x"}, {"tool": "open_url", "url": "{result:1}"}],
    ],
)
def test_what_cannot_be_seen_or_taken_back_is_asked(steps: list[dict[str, object]]) -> None:
    assert decision(*steps) == "ask"


@pytest.mark.parametrize(
    ("steps", "heard"),
    [
        ([keys("alt+f4")], "close this window"),
        ([{"tool": "close_window"}], "close this window"),
        ([{"tool": "click", "target": "OK"}], "click OK"),
        ([{"tool": "click", "target": "Send"}], "press send"),
        ([{"tool": "click", "target": "File"}], ""),
        ([{"tool": "get_time"}, text("It is {result:1}")], "type the time"),
        ([app("terminal"), text("rm -rf ~"), keys("ctrl+c enter")], ""),
        ([app("terminal"), text("ls"), keys("enter")], ""),
        ([app("calculator"), text("21+21"), keys("enter")], ""),
        ([app("mousepad"), text("format c: and then rm -rf /\n")], ""),
        ([app("terminal"), text("ls -la")], ""),
        ([keys("tab tab enter")], ""),
        ([app("firefox"), keys("ctrl+l"), text("wikipedia.org\n")], ""),
        ([app("firefox"), keys("ctrl+t"), text("what is javascript: a guide\n")], ""),
        ([keys("super"), text("calculator\n")], ""),
    ],
)
def test_everyday_plans_run(steps: list[dict[str, object]], heard: str) -> None:
    assert decision(*steps, heard=heard) in ("approve", "notice")


# --- bounds, policy, format ------------------------------------------------------------------------------------------


def test_bounds() -> None:
    step = {"tool": "get_time"}
    assert decision(*[step] * 8) == "approve"
    assert decision(*[step] * 9) == "refuse"
    assert decision(*[step] * 3, agents_left=2) == "refuse"
    assert decision(*[step] * 3, agents_left=3) == "approve"
    assert decision(step, agents_left=0) == "refuse"
    assert MAX_AGENTS == 20
    goal = {"tool": "delegate", "goal": "tidy up"}
    assert decision(goal, level=0) == decision(goal, level=1) == "approve"
    assert decision(goal, level=2) == "refuse"
    assert decision(step, level=2) == "approve"
    assert decision(step, level=3) == "refuse"
    assert decision() == "approve"


def test_policy_only_makes_it_stricter() -> None:
    strict = Safety(TOOLS, SafetyConfig(tools={"web_search": "ask"}, tiers={"input": "notice", "store": "refuse"}))
    lax = Safety(TOOLS, SafetyConfig(tools={"type_text": "approve", "open_app": "approve"}, tiers={"input": "approve"}))
    assert strict.judge(plan({"tool": "web_search", "query": "cats"})).verdict.decision == "ask"
    assert strict.judge(plan(text("hi"))).verdict.decision == "notice"
    assert strict.judge(plan({"tool": "remember", "fact": "x"})).verdict.decision == "refuse"
    assert lax.judge(plan(app("terminal"), text("rm -rf ~\n"))).verdict.decision == "refuse"


def test_it_fails_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Safety(TOOLS, SafetyConfig())

    def fail(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(broken, "_urls", fail)
    judged = broken.judge(plan({"tool": "open_url", "url": "wikipedia.org"}))
    assert isinstance(judged, Refusal)
    assert judged.verdict.rule == "fault"
    approved = SAFETY.judge(plan({"tool": "open_url", "url": "wikipedia.org"}))
    assert isinstance(approved, ApprovedPlan)
    assert broken.recheck(approved, 0, Effect(kind="open_url", payload="https://wikipedia.org")).decision == "refuse"


@pytest.mark.parametrize(
    "line",
    ["", "{", "[]", "null", "7", '"x"', '{"steps": 1}', '{"steps": [1]}', '{"steps": [{"tool": "explode"}]}',
    '{"steps": [{"tool": "type_text"}]}',
     '{"steps": [{"tool": "type_text", "text": "x", "sudo": true}]}', '{"steps": [], "world": {"nonsense": 1}}',
     '{"steps": [{"tool": "click"}]}', "[" * 100_000],
)  # fmt: skip
def test_malformed_lines_are_refused_by_format(line: str) -> None:
    verdict = SAFETY.judge_json(line)
    assert (verdict["decision"], verdict["rule"]) == ("refuse", "format")
    assert verdict["reason"]
    json.dumps(verdict)


def test_a_line_with_a_world() -> None:
    steps = [{"tool": "press_keys", "keys": "enter"}]
    assert SAFETY.judge_json(json.dumps({"steps": steps}))["decision"] == "approve"
    world = {"focus": {"app": "XTerm"}, "pending": "rm -rf ~"}
    verdict = SAFETY.judge_json(json.dumps({"steps": steps, "world": world}))
    assert (verdict["decision"], verdict["step"]) == ("refuse", 0)
    assert set(verdict) >= {"decision", "rule", "reason", "step"}


def test_passwords_are_noticed() -> None:
    assert decision(text("Tr0ub4dor&3")) == "notice"
    assert decision(text("hello")) == "approve"


@pytest.mark.parametrize("origin", ["recovery", "delegate"])
def test_repairs_are_stricter_than_requests(origin: str) -> None:
    assert decision({"tool": "close_window"}, origin=origin, heard="write a letter") == "ask"
    assert decision({"tool": "close_window"}, origin=origin, heard="close the window") in ("approve", "notice")
    assert decision({"tool": "click", "x": 5, "y": 5}, origin=origin, heard="write a letter") == "ask"
    assert decision({"tool": "open_url", "url": "example.org"}, origin=origin, heard="write a letter") == "ask"
    assert decision({"tool": "open_url", "url": "example.org"}, origin=origin, heard="open example.org") == "approve"
    assert decision(app("terminal"), text("ls\n"), origin=origin, heard="write a letter") == "ask"
    assert decision(app("libreoffice writer"), origin=origin, heard="write a letter") == "approve"
    assert decision(keys("alt+f4"), origin=origin, heard="write a letter") == "ask"
