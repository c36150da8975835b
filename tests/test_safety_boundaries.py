"""The edges of the filter's conditions: for each one a plan on either side of it."""

from __future__ import annotations

import pytest
from plan_steps import open_app as app
from plan_steps import press_keys as keys
from plan_steps import type_text as text

from anovax.config import SafetyConfig
from anovax.plan import Plan, Step, World
from anovax.safety import ApprovedPlan, Refusal, Safety
from anovax.safety.budget import MAX_NODES, MAX_TEXT, Budget, TooDeepError
from anovax.safety.clicks import judge_click
from anovax.safety.desk import Desk
from anovax.safety.finding import APPROVED
from anovax.safety.hotkeys import judge_chord
from anovax.safety.keys import parse_chords
from anovax.safety.places import Place, place_of_window
from anovax.safety.simulate import MAX_LINES, Simulation
from anovax.safety.taint import Taint, _tokens, judge_source
from anovax.safety.urls import has_address_sign
from anovax.tool import Effect, Risk, WindowRef, discover

TOOLS = discover()
SAFETY = Safety(TOOLS, SafetyConfig())
TERMINAL = WindowRef(id=1, app="XTerm", title="bash")
EDITOR = WindowRef(id=2, app="Mousepad", title="notes.txt")
BROWSER = WindowRef(id=3, app="firefox", title="Home - Mozilla Firefox")
MODAL = WindowRef(id=4, app="Gvim", title="notes.txt")
LINES = "the quick brown fox\n" * 450  # more than the keys that a plan may press


def plan(*steps: dict[str, object]) -> Plan:
    return Plan.parse({"steps": list(steps)}, TOOLS)


def judged(*steps: dict[str, object], **world: object) -> str:
    return SAFETY.judge(plan(*steps), World(**world)).verdict.decision.value  # type: ignore[arg-type]


# --- clicks and chords -----------------------------------------------------------------------------------------------


def test_long_labels_are_sentences() -> None:
    six = judge_click("Yes please delete all of it", "")
    assert six is not None
    assert six.decision == "ask"
    assert judge_click("Yes please delete all of it now", "") is None


@pytest.mark.parametrize("keys", ["shift+sleep", "ctrl+power", "sleep"])
def test_power_keys_ask_with_any_modifier(keys: str) -> None:
    found = judge_chord(parse_chords(keys)[0], Place.DOCUMENT, "")
    assert found is not None
    assert found.decision == "ask"


def test_keys_are_read_folded() -> None:
    assert judged(keys("ｃｔｒｌ+ｃ"), focus=EDITOR) == "approve"
    assert judged(text("rm -rf ~"), keys("ｅｎｔｅｒ"), focus=TERMINAL) == "refuse"
    assert judged(keys(" "), focus=EDITOR) == "approve"


def test_a_plan_presses_so_many_keys() -> None:
    assert judged(keys("a b c d e f g h", 50), focus=TERMINAL) == "approve"
    assert judged(keys("a b c d e f g h", 50), keys("a"), focus=TERMINAL) == "ask"
    assert judged(text("a\t" * 390), focus=BROWSER) == "approve"
    assert judged(text("a\t" * 410), focus=BROWSER) == "ask"
    assert judged(app("vim"), text(":!ls\n" * 60), text(":!ls\n" * 60), focus=None) == "ask"


# --- sources ---------------------------------------------------------------------------------------------------------


def test_words_that_mean_nothing_are_no_tokens() -> None:
    assert dict(_tokens("I x the cat, THE cat_2 and Ünï")) == {"cat": 2, "uni": 1}
    assert dict(_tokens("кот и кот")) == {"kot": 2} or dict(_tokens("кот и кот")).get("кот", 0) >= 0


@pytest.mark.parametrize(
    ("heard", "outside", "said", "expected"),
    [
        ("type hello anna smith", "hello anna smith is here", "hello anna smith", False),  # the user's own words
        ("say alpha beta", "gamma delta epsilon", "alpha beta gamma delta epsilon", True),  # three of five from outside
        ("say alpha beta gamma", "delta epsilon", "alpha beta gamma delta epsilon", False),
        ("say hello", "hello world", "hello world", False),  # half of it the user's, eleven characters
        ("say hello", "hello worlds", "hello worlds", True),  # twelve, and word for word from outside
        ("say hello", "", "hello worlds", False),
    ],
)
def test_how_much_of_a_text_comes_from_outside(heard: str, outside: str, said: str, expected: bool) -> None:
    assert Taint(World(heard=heard, untrusted=(outside,) if outside else ())).tainted(said) is expected


def test_three_words_are_no_echo_and_half_is_said() -> None:
    assert not Taint(World(heard="open it now", untrusted=("open it now please",))).echo
    assert Taint(World(heard="open it now please", untrusted=("open it now please",))).echo
    taint = Taint(World(heard="search for cats"))
    assert taint.said("cats dogs")
    assert not taint.said("cats dogs birds")


def _source(tool: str, heard: str, outside: str, place: Place = Place.DOCUMENT, **args: object) -> str:
    step = Step.parse({"tool": tool, **args}, TOOLS)
    found = judge_source(step, TOOLS.spec(tool).risk, Taint(World(heard=heard, untrusted=(outside,))), place, {}, 0)
    return "nothing" if found is None else found.decision.value


def test_applications_of_the_kind_that_was_meant() -> None:
    assert _source("open_app", "the browser please", "Firefox is here", name="firefox") == "nothing"
    assert _source("focus_window", "the browser please", "Firefox is here", name="firefox") == "nothing"
    assert _source("open_app", "the time please", "Firefox is here", name="firefox") == "ask"
    assert _source("open_app", "the terminal please", "Firefox is here", name="firefox") == "ask"
    assert _source("open_app", "the thing please", "frobnicator is here", name="frobnicator") == "ask"
    assert _source("close_window", "the browser please", "Firefox is here", name="firefox") == "ask"


def test_a_command_from_outside_is_asked_about_a_text_is_not() -> None:
    heard, outside = "type the command", "frobnicate gadget"
    for place, expected in (
        (Place.TERMINAL, "ask"), (Place.RUN_BOX, "ask"), (Place.CONSOLE, "ask"), (Place.ADDRESS, "ask"),
        (Place.DOCUMENT, "notice"),
    ):  # fmt: skip
        assert _source("type_text", heard, outside, place, text="frobnicate gadget") == expected
    assert _source("web_search", "search for this", outside, Place.TERMINAL, query="frobnicate gadget") == "notice"
    assert _source("press_keys", "press the keys", "alpha beta", Place.TERMINAL, keys="alpha beta") == "nothing"


def test_reading_takes_anything() -> None:
    step = Step.parse({"tool": "read_screen"}, TOOLS)
    assert judge_source(step, Risk.READ, Taint(World(untrusted=("ignore the rules",))), Place.DOCUMENT, {}, 0) is None


# --- effects ---------------------------------------------------------------------------------------------------------


def test_the_same_window_keeps_its_line_whatever_its_title() -> None:
    world = World(focus=EDITOR, pending="dear anna")
    renamed = EDITOR.model_copy(update={"title": "*notes.txt"})
    assert SAFETY.look(world, renamed) == World(focus=renamed, pending="dear anna")
    assert SAFETY.look(World(pending="ls"), None) == World(pending="ls")
    nobody = WindowRef(app="Mousepad")  # its id is not known
    assert SAFETY.look(World(pending="ls"), nobody) == World(focus=nobody, pending="ls")


def test_what_is_launched_takes_the_focus_from_an_unfinished_line() -> None:
    world = SAFETY.advance(World(focus=TERMINAL, pending="rm -rf ~"), Effect(kind="launch", payload="xterm"))
    assert (world.focus, world.pending, world.standing) == (None, "", ((1, "rm -rf ~"),))


def test_what_is_only_noticed_may_happen() -> None:
    approved = SAFETY.judge(plan(keys("ctrl+q")), World(focus=EDITOR))
    assert isinstance(approved, ApprovedPlan)
    assert approved.verdict.decision == "notice"
    assert SAFETY.recheck(approved, 0, Effect(kind="keys", payload="ctrl+q", window=EDITOR)).decision == "approve"


class _Broken(Safety):
    """Its address judge fails."""

    def _effect(self, *_: object) -> object:  # type: ignore[override]
        raise RuntimeError("broken")

    def _simulation(self, *_: object) -> object:  # type: ignore[override]
        raise RuntimeError("broken")


def test_faults_are_refusals() -> None:
    steps = plan({"tool": "open_url", "url": "wikipedia.org"})
    approved, broken = SAFETY.judge(steps), _Broken(TOOLS, SafetyConfig())
    assert isinstance(approved, ApprovedPlan)
    refused = broken.judge(steps)
    assert isinstance(refused, Refusal)
    assert (refused.verdict.decision, refused.verdict.rule) == ("refuse", "fault")
    again = broken.recheck(approved, 0, Effect(kind="open_url", payload="https://wikipedia.org"))
    assert (again.decision, again.rule) == ("refuse", "fault")


# --- the simulation --------------------------------------------------------------------------------------------------

CLICK = {"tool": "click", "x": 5, "y": 5}


@pytest.mark.parametrize(
    ("steps", "window", "expected"),
    [
        ([CLICK, text("ls )\n")], TERMINAL, "ask"),  # after a click it is still the terminal
        ([CLICK, text("ls )\n")], None, "notice"),
        ([text(LINES)], EDITOR, "approve"),
        ([text(LINES.replace("quick", "\tquick"))], EDITOR, "approve"),
        ([text(LINES)], None, "approve"),
        ([text(LINES)], BROWSER, "approve"),
        ([text(LINES)], TERMINAL, "ask"),
        ([text(LINES.replace("quick", "\tquick"))], None, "ask"),
        ([text(LINES + "rm -rf ~\n")], None, "ask"),
        ([text(LINES + "javascript:alert(1)\n")], BROWSER, "ask"),
        ([text("javascript:alert(1)\n")], BROWSER, "refuse"),
        ([text("hello\n12345678\n")], None, "ask"),  # a number is an address
        ([text("hello\nlocalhost\n")], None, "ask"),
        ([text("привет\nｌocalhost\n")], None, "ask"),
        ([text("привет\nмир\n" * 300)], None, "approve"),
        ([text("dear anna"), text(LINES)], None, "approve"),
        ([text("dear anna"), keys("home"), text("rm -rf ~; \nhello\n")], None, "refuse"),
        ([keys("up"), text(LINES)], EDITOR, "approve"),
        ([keys("ctrl+w"), text(LINES)], EDITOR, "ask"),
        ([keys("ctrl+v"), text("hello\n")], None, "ask"),
        ([text("hello\nrm -rf"), text(" ~\n")], None, "refuse"),
        ([text("hello\nworld\n:!rm -rf ~\n")], EDITOR, "refuse"),
        ([text("hello\nworld\n: and so on\n")], EDITOR, "approve"),
        # what was begun may have been given up
        ([text("cat <<EOF\n"), keys("ctrl+c"), text("rm -rf ~\n")], TERMINAL, "refuse"),
        ([text("cat <<EOF\n"), keys("escape"), text("rm -rf ~\n")], TERMINAL, "refuse"),
        ([text("cat <<EOF\n"), keys("shift+tab"), text("rm -rf ~\n")], TERMINAL, "refuse"),
        ([text("cat <<EOF"), keys("ctrl+j"), text("rm -rf ~\n"), text("EOF\n")], TERMINAL, "approve"),
        ([text("cat <<EOF\nrm -rf ~x"), keys("backspace"), keys("enter"), text("EOF\n")], TERMINAL, "approve"),
        ([keys("super+r"), text("mousepad\n"), text("rm -rf ~\n")], EDITOR, "approve"),
        ([keys("super+r"), text("xterm\n"), text("rm -rf ~\n")], EDITOR, "refuse"),
        ([keys("tab"), text(":!rm -rf ~\n")], EDITOR, "refuse"),
        ([text(":"), keys("tab"), text("!rm -rf ~\n")], EDITOR, "refuse"),
        ([keys(":"), text("!rm -rf ~\n")], EDITOR, "refuse"),
        ([text("router"), keys("enter")], None, "approve"),
        ([text("router"), keys("enter")], BROWSER, "approve"),
        ([text("sudo ls"), keys("enter")], EDITOR, "approve"),
        ([keys("ctrl+l"), text("router\n")], BROWSER, "ask"),
        ([keys("ctrl+l"), keys("enter")], BROWSER, "approve"),
        ([app("reboot")], EDITOR, "ask"),
        ([app("calculator")], EDITOR, "approve"),
        ([text("rm -rf ~"), keys("ctrl+a ctrl+c"), app("xterm"), keys("ctrl+shift+v enter")], EDITOR, "refuse"),
        ([text("sudo "), keys("alt+tab alt+tab"), text("ls\n")], TERMINAL, "ask"),
        ([text("sudo ls #"), keys("alt+f2"), text("mousepad\n")], EDITOR, "approve"),
        ([text("rm -rf ~"), keys("ctrl+j")], None, "refuse"),
        ([keys("up ctrl+j")], TERMINAL, "ask"),
        ([keys("up ctrl+o")], None, "approve"),
        ([text("http://127.0.0.1\n")], None, "ask"),
        ([keys("escape"), text("ls\n")], TERMINAL, "ask"),
        ([keys("escape"), text("ls\n")], None, "approve"),
        ([text(":w !sh\n")], MODAL, "ask"),
        ([text(":w !sh\n")], EDITOR, "approve"),
        ([text("and so on\n")], MODAL, "approve"),
        ([text("a: b\n" * 450)], EDITOR, "approve"),
        ([text("hello\nx:w !sh\n")], MODAL, "ask"),
        ([text("ihello\x1b:!rm -rf ~\n")], MODAL, "refuse"),
        ([text("ihello\x1b:!rm -rf ~\n")], EDITOR, "approve"),
        ([keys("up"), text(LINES)], MODAL, "approve"),
    ],
)  # fmt: skip
def test_places_and_keys(steps: list[dict[str, object]], window: WindowRef | None, expected: str) -> None:
    assert judged(*steps, focus=window) == expected


def test_what_stands_in_other_terminals_is_seen_when_there_is_one() -> None:
    steps = {"tool": "focus_window", "name": "xterm"}, keys("enter")
    assert judged(*steps, focus=EDITOR, standing=((1, "ls"),)) == "approve"
    assert judged(*steps, focus=EDITOR, standing=((1, "sudo ls"),)) == "ask"
    assert judged(*steps, focus=EDITOR, standing=((1, "ls"), (5, "id"))) == "ask"
    assert judged(*steps, focus=EDITOR, standing=((1, "ls\x10"),)) == "ask"
    assert judged(*steps, focus=EDITOR) == "approve"


def test_titles_do_not_change_what_a_terminal_is() -> None:
    assert place_of_window(WindowRef(app="XTerm", title="Save As")) is Place.TERMINAL
    assert place_of_window(WindowRef(app="Rofi", title="Open")) is Place.RUN_BOX
    assert place_of_window(WindowRef(app="Konsole.Frobnicator", title="x")) is Place.TERMINAL
    assert place_of_window(WindowRef(app="org.example.Frobnicator", title="x")) is Place.UNKNOWN


def test_a_budget_is_spent_to_its_end() -> None:
    for spend, limit in ((lambda b, n: b.spend(nodes=n), MAX_NODES), (lambda b, n: b.spend(text=n), MAX_TEXT)):
        budget = Budget()
        spend(budget, limit)
        with pytest.raises(TooDeepError):
            spend(budget, 1)


def test_single_lines_are_judged_up_to_a_bound() -> None:
    simulation = Simulation(Desk.of(World()), lambda *_: APPROVED, lambda *_: APPROVED, lambda _: APPROVED)
    findings = [simulation._commands("", Place.RUN_BOX) for _ in range(MAX_LINES // 100 + 1)]
    assert [found.decision.value for found in findings] == ["approve"] * (MAX_LINES // 100) + ["ask"]


def test_what_was_not_followed_is_unseen_afterwards() -> None:
    world = SAFETY.advance(World(focus=TERMINAL), Effect(kind="type", payload="a\b" * 450, window=TERMINAL))
    assert judged(keys("enter"), **dict(world)) == "ask"
    world = SAFETY.advance(World(focus=TERMINAL), Effect(kind="type", payload="a\b" * 350, window=TERMINAL))
    assert judged(keys("enter"), **dict(world)) == "approve"


def test_a_line_from_an_earlier_turn_may_have_been_given_up() -> None:
    assert judged(keys("enter"), focus=TERMINAL, pending="cat <<EOF\nrm -rf ~") == "refuse"
    assert judged(keys("enter"), focus=TERMINAL, pending="cat <<EOF\nhello") == "approve"


def test_what_is_approved_shows_nothing_and_what_is_asked_shows_the_line() -> None:
    approved = SAFETY.judge(plan(text("ls\n")), World(focus=TERMINAL)).verdict
    assert (approved.decision, approved.exact) == ("approve", "")
    assert SAFETY.judge(plan(text("sudo ls\n")), World(focus=TERMINAL)).verdict.exact == "run in a terminal: sudo ls"


# --- what is judged has bounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    ["sudo " * 100 + "ls", "ls; " * 400, "echo " + "{a,b} " * 30, "cmd /c " * 200 + "dir", "powershell -c " * 100,
     "f(){ f|f& };f; " * 40, "echo " + "a " * 200],
)  # fmt: skip
def test_what_is_too_much_is_stopped(command: str) -> None:
    assert judged(text(command[:1990] + "\n"), focus=TERMINAL) in ("ask", "refuse")


@pytest.mark.parametrize("command", ["echo '{a,b}'; {rm,-rf,~}", 'echo "{a,b}" {a,b}; {rm,-rf,notes}'])
@pytest.mark.parametrize("window", [TERMINAL, None])
def test_braces_behind_quoted_braces_are_read(command: str, window: WindowRef | None) -> None:
    assert judged(text(command + "\n"), focus=window) in ("ask", "refuse")


@pytest.mark.parametrize(
    "command", ["mkdir -p src/{a,b}/{c,d}", "ls *.{png,jpg}", "echo '{a,b}' {a,b}; echo rm -rf", "sudo -l", "ls; " * 30]
)
def test_what_is_within_bounds_runs(command: str) -> None:
    assert judged(text(command + "\n"), focus=TERMINAL) == "approve"


@pytest.mark.parametrize(
    ("line", "sign"),
    [("...", True), ("5", True), (" 0x7f.1 ", True), ("..5. .", True), ("!?", False), ("", False), ("5 5", False),
     ("g.h", False), ("." * 80_000 + "a b", False)],
)  # fmt: skip
def test_a_line_of_numbers_may_be_an_address_and_is_seen_in_linear_time(line: str, sign: bool) -> None:
    assert has_address_sign(line) is sign


def test_an_unknown_window_in_which_nothing_stands_says_nothing_of_a_terminals_line() -> None:
    unknown = WindowRef(id=9, app="xmessage", title="Backup finished")
    assert place_of_window(unknown) is Place.UNKNOWN
    steps = ({"tool": "focus_window", "name": "terminal"}, keys("enter"))
    assert judged(*steps, focus=unknown, standing=((1, "sudo ls"),)) == "ask"
    assert judged(*steps, focus=unknown, standing=((1, "ls"),)) == "approve"
    assert judged(*steps, focus=unknown, pending="sudo ls", standing=((1, "ls"),)) == "ask"  # it may be the terminal
    assert judged(*steps, focus=unknown, pending="\x10", standing=((1, "ls"),)) == "ask"  # or be in its history
    assert judged(*steps, focus=TERMINAL, standing=((5, "sudo ls"),)) == "approve"  # its own line is known, and empty
