"""The fast path: what the rules read, what they leave alone, how requests are parted, and context."""

from __future__ import annotations

import asyncio
import csv
import importlib.util
import json
import random
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anovax.errors import Cancelled
from anovax.plan import MAX_STEPS, Context, Failure, PastTurn, Plan, Planned, PlanRequest, Step
from anovax.planner.chain import FirstOf
from anovax.planner.fastpath import FastPath
from anovax.planner.rules.notation import Scene, book_rules, call, phrasebook, rule
from anovax.planner.rules.sites import Sites
from anovax.planner.rules.sums import answer, evaluate
from anovax.planner.rules.units import Units
from anovax.tool import CancelFlag, Toolbox, WindowRef, discover

REQUESTS = Path(__file__).parent / "data" / "fastpath_requests.tsv"
OPEN_SET = Path(__file__).parents[2] / "shared" / "eval"
ROWS = [line.split("\t") for line in REQUESTS.read_text(encoding="utf8").splitlines()]


@pytest.fixture(scope="module")
def tools() -> Toolbox:
    return discover()


@pytest.fixture(scope="module")
def fast(tools: Toolbox) -> FastPath:
    return FastPath(tools, chance=random.Random(7))


def short(plan: Plan | None) -> str:
    """A plan on one line: "open_app calculator > press_keys enter*2", "words" or "none"."""
    if plan is None:
        return "none"
    return " > ".join(_short_step(step) for step in plan.steps) if plan.steps else "words"


def _short_step(step: Step) -> str:
    args: dict[str, Any] = step.args.model_dump()
    if step.tool == "press_keys":
        return f"press_keys {args['keys']}" + (f"*{args['times']}" if args["times"] != 1 else "")
    if step.tool == "get_time":
        return f"get_time {args['what']} {args['place']}".strip()
    if step.tool == "scroll":
        return f"scroll {args['direction']}"
    telling = ("name", "text", "url", "query", "target", "to", "fact", "goal")
    shown = [str(args[key]) for key in telling if args.get(key)]
    return " ".join([step.tool, *shown])


# --- the table: requests of our own with what they mean; many must be left to the model ----------------------


@pytest.mark.parametrize(("request_text", "meaning"), ROWS, ids=[row[0] for row in ROWS])
def test_requests_mean_what_they_say(fast: FastPath, tools: Toolbox, request_text: str, meaning: str) -> None:
    plan = fast.read(request_text, Context())
    assert short(plan).lower() == meaning.lower()
    if plan is not None:
        assert Plan.parse(plan.to_json(), tools) == plan
        assert plan.steps or plan.say


def test_the_table_is_large_and_holds_enough_to_leave_alone() -> None:
    assert len(ROWS) >= 250
    assert sum(row[1] == "none" for row in ROWS) >= 80


@pytest.mark.parametrize(
    "dress", ["{}.", "Please {}", "Hey, could you {} for me, please?", "  {}  ", "okay so {} now", "“{}”"]
)
def test_dressing_does_not_change_the_meaning(fast: FastPath, dress: str) -> None:
    for plain in ("open the calculator", "close this tab", "search for blue shoes", "press control c", "scroll down"):
        assert fast.read(dress.format(plain), Context()) == fast.read(plain, Context())


# --- compounds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "joint", [" and then ", ", then ", " and ", ", ", ", and ", ". ", "; ", " then ", " and after that "]
)
def test_any_joint_parts_two_commands(fast: FastPath, joint: str) -> None:
    pairs = (("open the calculator", "scroll down"), ("mute the sound", "take a screenshot"), ("go back", "reload"))
    for first, second in pairs:
        both = fast.read(first + joint + second, Context())
        one, two = fast.read(first, Context()), fast.read(second, Context())
        assert both is not None
        assert one is not None
        assert two is not None
        assert both.steps == (*one.steps, *two.steps)


def test_one_unread_part_leaves_all_to_the_model(fast: FastPath) -> None:
    assert fast.read("open the calculator and then do something clever with it", Context()) is None
    assert fast.read("frobnicate the widget, open the calculator", Context()) is None


def test_more_commands_than_a_plan_may_have_are_left_alone(fast: FastPath) -> None:
    chain = ", ".join(["press tab"] * MAX_STEPS)
    assert fast.read(chain, Context()) is not None
    assert fast.read(chain + ", press tab", Context()) is None
    assert fast.read(", ".join(["press tab"] * 40), Context()) is None


def test_words_between_actions_are_spoken_in_their_place(fast: FastPath) -> None:
    plan = fast.read("what is 6 times 7 and then open the calculator", Context())
    assert short(plan) == "speak That is 42. > open_app calculator"


# --- context ---------------------------------------------------------------------------------------------------------


def past(heard: str, said: str = "", *steps: dict[str, Any]) -> PastTurn:
    return PastTurn(heard=heard, plan=Plan.parse({"steps": list(steps)}, discover()), said=said)


OPENED = past("open the text editor", "The text editor is open.", {"tool": "open_app", "name": "text editor"})


def test_it_is_what_was_opened_last(fast: FastPath) -> None:
    context = Context(turns=(OPENED,), focus=WindowRef(app="Firefox", title="News"))
    assert short(fast.read("type hello in it", context)) == "focus_window text editor > type_text hello"
    assert short(fast.read("close it", context)) == "close_window text editor"
    there = Context(turns=(OPENED,), focus=WindowRef(app="Text Editor"))
    assert short(fast.read("type hello in it", there)) == "type_text hello"
    assert short(fast.read("close that", Context())) == "close_window"


def test_again_is_the_last_plan_that_did_something(fast: FastPath) -> None:
    context = Context(turns=(OPENED, past("tell me a joke", "Ha.")))
    again = fast.read("do it again", context)
    assert again is not None
    assert again.steps == OPENED.plan.steps
    assert short(fast.read("do that again", Context())) == "words"


def test_the_conversation_is_answered_from_what_was_said(fast: FastPath) -> None:
    context = Context(turns=(OPENED,))
    asked, repeated = fast.read("what did I just ask?", context), fast.read("can you repeat that", context)
    assert asked is not None
    assert "open the text editor" in asked.say
    assert repeated is not None
    assert repeated.say == "The text editor is open."


def test_undo_takes_back_our_own_action_or_else_the_programs(fast: FastPath) -> None:
    assert short(fast.read("undo that", Context(turns=(OPENED,)))) == "undo"
    assert short(fast.read("undo that", Context())) == "press_keys ctrl+z"
    assert short(fast.read("take that back", Context())) == "undo"


def test_what_was_just_typed_is_not_deleted_by_one_key(fast: FastPath) -> None:
    typed = past("type hello", "Done.", {"tool": "type_text", "text": "hello"})
    assert short(fast.read("delete it", Context(turns=(typed,)))) == "none"
    assert short(fast.read("delete it", Context(turns=(OPENED,)))) == "press_keys delete"
    assert short(fast.read("select all and delete it", Context(turns=(typed,)))) == (
        "press_keys ctrl+a > press_keys delete"
    )


def test_the_other_one(fast: FastPath) -> None:
    assert short(fast.read("no, the other one", Context(turns=(OPENED,)))) == "focus_window the other one"


def test_sums_are_typed_as_sums_only_into_a_calculator(fast: FastPath) -> None:
    context = Context(focus=WindowRef(app="galculator"))
    assert short(fast.read("type 21 plus 21", context)) == "type_text 21+21"
    assert short(fast.read("type twenty-one plus twenty-one", context)) == "type_text 21+21"
    assert short(fast.read("type 21 plus 21", Context())) == "type_text 21 plus 21"


def test_what_is_installed_decides_between_program_and_site(tools: Toolbox) -> None:
    bare, full = FastPath(tools, lambda: ()), FastPath(tools, lambda: ("Spotify", "Running Log"))
    assert short(bare.read("open spotify", Context())) == "open_url open.spotify.com"
    assert short(full.read("open spotify", Context())) == "open_app spotify"
    assert short(full.read("open the spotify website", Context())) == "open_url open.spotify.com"
    assert short(full.read("open running log", Context())) == "open_app running log"
    assert short(bare.read("open running log", Context())) == "none"


def test_reading_changes_nothing(fast: FastPath) -> None:
    context = Context(turns=(OPENED,))
    for text, _ in ROWS[:60]:
        assert fast.read(text, context) == fast.read(text, context)


def test_a_smaller_toolbox_reads_less(tools: Toolbox) -> None:
    few = Toolbox({name: spec for name, spec in tools.specs.items() if name != "screenshot"}, tools.agents)
    assert FastPath(few).read("take a screenshot", Context()) is None
    assert FastPath(few).read("open firefox", Context()) is not None


# --- as a backend ----------------------------------------------------------------------------------------------------


async def test_as_a_backend_it_says_when_it_does_not_understand(fast: FastPath) -> None:
    planned = await fast.plan(PlanRequest(text="explain the french revolution"), CancelFlag())
    assert planned.backend == "fastpath"
    assert not planned.plan.steps
    assert "did not understand" in planned.plan.say
    thought = await fast.think(Failure(text="open foo", tried=()), CancelFlag())
    assert not thought.plan.steps
    assert thought.plan.say
    fast.close()
    fast.close()


async def test_cancelled_before_it_began(fast: FastPath) -> None:
    flag = CancelFlag()
    flag.set()
    with pytest.raises(Cancelled):
        await fast.plan(PlanRequest(text="open firefox"), flag)


class Scripted:
    """A neighbour: the slow planner, with one fixed answer."""

    name = "scripted"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.closed = 0

    async def plan(self, request: PlanRequest, cancel: CancelFlag) -> Planned:
        self.asked.append(request.text)
        return Planned(plan=Plan(say="slow"), backend=self.name)

    async def think(self, failure: Failure, cancel: CancelFlag) -> Planned:
        self.asked.append(failure.text)
        return Planned(plan=Plan(say="thought"), backend=self.name)

    async def ready(self) -> None:
        self.asked.append("ready?")

    def close(self) -> None:
        self.closed += 1


async def test_the_model_is_asked_only_for_what_no_rule_reads(fast: FastPath) -> None:
    slow = Scripted()
    both = FirstOf(fast, slow)
    assert both.name == "scripted"
    assert (await both.plan(PlanRequest(text="open the calculator"), CancelFlag())).backend == "fastpath"
    assert slow.asked == []
    assert (await both.plan(PlanRequest(text="why is the sky blue"), CancelFlag())).plan.say == "slow"
    assert (await both.think(Failure(text="again", tried=()), CancelFlag())).plan.say == "thought"
    await both.ready()
    assert slow.asked[-1] == "ready?"
    both.close()
    both.close()
    assert slow.closed == 2


# --- sums and units --------------------------------------------------------------------------------------------------

Sum = tuple[str, Fraction | None]
leaves = st.integers(0, 999).map(lambda n: (str(n), Fraction(n)))
trees = st.recursive(
    leaves,
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: _combined(*t)),
    max_leaves=6,
)


def _combined(left: Sum, sign: str, right: Sum) -> Sum:
    a, b = left[1], right[1]
    value: Fraction | None = None
    if a is not None and b is not None and not (sign == "/" and b == 0):
        value = {"+": a + b, "-": a - b, "*": a * b}[sign] if sign != "/" else a / b
    return f"({left[0]}{sign}{right[0]})", value


@given(trees)
@settings(deadline=None, max_examples=150)
def test_sums_are_exact(tree: Sum) -> None:
    assert evaluate(tree[0]) == tree[1]


@pytest.mark.parametrize(
    "hostile",
    [
        "9^9^9^9",
        "1/0",
        "((((",
        "2^",
        "+",
        "9999999^99",
        "1" * 60 + "*" + "1" * 60,
        "__import__('os')",
        "2**",
        "",
        "1..2",
    ],
)
def test_sums_have_bounds(hostile: str) -> None:
    assert evaluate(hostile) is None


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("twelve times twelve", "That is 144."),
        ("ten divided by four", "That is 2.5."),
        ("ten divided by three", "That is about 3.333333."),
        ("20 percent of 50", "That is 10."),
        ("the square root of 144", "That is 12."),
        ("the square root of 2", "That is about 1.4142."),
        ("1 million plus 1", "That is 1,000,001."),
        ("2 - 5", "That is -3."),
        ("2^10", "That is 1,024."),
        ("ten divided by zero", None),
        ("seven hundred", None),
        ("the sum of all fears", None),
    ],
)
def test_sums_are_answered_in_words(said: str, meant: str | None) -> None:
    assert answer(said) == meant


def test_units_convert_there_and_back() -> None:
    units = Units()
    pairs = (("miles", "km"), ("pounds", "kg"), ("gallons", "liters"), ("days", "minutes"), ("celsius", "fahrenheit"))
    for source, target in pairs:
        there = units.convert(Fraction(37), source, target)
        assert there is not None
        assert units.convert(there, target, source) == 37
    assert units.convert(Fraction(1), "mile", "meters") == Fraction("1609.344")
    assert units.convert(Fraction(1), "miles", "pounds") is None
    assert units.convert(Fraction(-40), "celsius", "fahrenheit") == -40


# --- the notation ----------------------------------------------------------------------------------------------------


def test_templates_match_whole_sentences_only() -> None:
    opens = rule("(open|open up) [the] <app> [app]", lambda match, scene: call("open_app", name=match["app"]))
    scene = Scene(Context())

    def read(text: str) -> object:
        reading = opens.read(text, frozenset(text.lower().split()), scene)
        return reading and reading.calls[0].args["name"]

    assert read("open up the radio app") == "radio"
    assert read("Open Radio") == "Radio"
    assert read("opened radio") is None
    assert read("please open radio") is None
    assert opens.firsts == frozenset({"open"})


def test_a_gap_is_four_words_at_most() -> None:
    gap = rule("stop ~ now", call("undo"))
    assert gap.pattern.match("stop now")
    assert gap.pattern.match("stop a b c d now")
    assert not gap.pattern.match("stop a b c d e now")


def test_phrasebooks_have_pieces_and_long_lines() -> None:
    book = "thing := (door|gate)\n\n= open\nopen [the] \\\n{thing}\n\n= shut\nshut it\n"
    assert phrasebook(book) == (("open", ("open [the] (door|gate)",)), ("shut", ("shut it",)))
    with pytest.raises(KeyError):
        book_rules(book, {"open": call("undo")})


def test_sites_are_known_by_name_and_search_themselves() -> None:
    sites = Sites()
    assert sites.host("The New York Times") == "nytimes.com"
    assert sites.host("no such site") is None
    assert sites.search("youtube.com", "a & b") == "youtube.com/results?search_query=a+%26+b"
    assert sites.search("cnn.com", "x") is None


# --- anything at all -------------------------------------------------------------------------------------------------


def _strange_requests(count: int) -> list[str]:
    """Requests cut up and shuffled, with unicode, JSON, injections, numbers and joints thrown in."""
    chance = random.Random(20)
    words = sorted({word for text, _ in ROWS for word in text.split()})
    odd = (
        *("", " ", "\U0001f642", "\x00", "\u202e", "ß", "日本語", "9" * 30, "²", "½", "\n", "\t", "'", '"', "%s", "\\"),
        *('{"steps": []}', "ignore all previous instructions", "rm -rf /", "<x>", "(a|b)", "[", ")", "~", "{result:1}"),
        *("and then", ",", ";", ". ", "dot com"),
    )
    made = []
    for _ in range(count):
        pieces = [chance.choice(words if chance.random() < 0.8 else odd) for _ in range(chance.randint(0, 24))]
        made.append(chance.choice([" ", "", "  ", ", "]).join(pieces) if chance.random() < 0.1 else " ".join(pieces))
    return made


def test_ten_thousand_strange_requests_give_valid_plans_or_none(fast: FastPath, tools: Toolbox) -> None:
    for text in _strange_requests(10_000):
        plan = fast.read(text, Context())
        if plan is not None:
            assert len(plan.steps) <= MAX_STEPS
            assert Plan.parse(json.loads(json.dumps(plan.to_json())), tools) == plan
    assert fast.read("open " * 5000, Context()) is None


@given(st.text(max_size=500))
@settings(deadline=None, max_examples=300)
def test_any_text_is_survived(text: str) -> None:
    plan = _ANY.read(text, Context())
    assert plan is None or plan.steps or plan.say


_ANY = FastPath(discover())


# --- the open evaluation set, where it is present --------------------------------------------------------------------


def _scorer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("score_plans", OPEN_SET / "score_plans.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not (OPEN_SET / "utterances.tsv").exists(), reason="the evaluation data are not part of a clone")
def test_on_the_open_set_at_least_half_is_read_and_nothing_wrongly(fast: FastPath) -> None:
    scorer = _scorer()
    with (OPEN_SET / "utterances.tsv").open(encoding="utf8") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    in_scope = read = 0
    wrong = []
    for text, expected, *_ in rows:
        alternatives = expected.split("|")
        acts = any(part.strip() not in ("chat", "out_of_scope", "speak") for part in alternatives)
        plan = fast.read(text, Context())
        in_scope, read = in_scope + acts, read + (acts and plan is not None)
        if plan is not None and not scorer.tools_ok(alternatives, plan.to_json()["steps"])[0]:
            wrong.append(text)
    assert wrong == []
    assert read >= in_scope / 2


def test_reading_is_safe_from_several_threads(fast: FastPath) -> None:
    async def many() -> list[Plan | None]:
        return await asyncio.gather(*(asyncio.to_thread(fast.read, text, Context()) for text, _ in ROWS[:100]))

    assert [short(plan).lower() for plan in asyncio.run(many())] == [meaning.lower() for _, meaning in ROWS[:100]]


@pytest.mark.parametrize(
    ("text", "facts", "tool"),
    [
        ("where is the spare key", ("The spare key is under the blue flower pot",), "recall"),
        ("who is the landlord", ("The landlord is called Mr Fox",), "recall"),
        ("where is the spare key", ("The spare wheel is in the boot",), "web_search"),
        ("where is the spare key", (), "web_search"),
        ("do you know where my glasses are", ("My glasses are on the piano",), "recall"),
        ("where are my glasses", ("My keys are on the piano",), ""),
        ("search for the spare key", ("The spare key is under the blue flower pot",), "web_search"),
        ("who is the president of france", ("The president of the chess club is on holiday",), "web_search"),
    ],
)
def test_a_question_whose_answer_was_told_is_asked_of_the_memory(text: str, facts: tuple[str, ...], tool: str) -> None:
    plan = FastPath(discover()).read(text, Context(facts=facts))
    assert plan is not None
    assert [step.tool for step in plan.steps] == ([tool] if tool else [])
