"""The three memory layers: facts that survive everything, recall by meaning, and what a planner gets to see."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import threading
import time
from pathlib import Path

import pytest

from anovax.agents.memory import MemoryAgent, RecallArgs, RememberArgs, second_person
from anovax.config import Config, MemoryConfig
from anovax.errors import ToolError
from anovax.facts import Facts, is_private, redacted, subject
from anovax.memory import Memory
from anovax.plan import PastTurn, Plan, Step
from anovax.recall import Index, stem
from anovax.tool import AgentParts, CancelFlag, Done, StepContext, ToolArgs, WindowRef

KNOWN = (
    "my name is Robin",
    "my wife's birthday is on the 3rd of March",
    "the car is parked on level 3",
    "I am allergic to peanuts",
    "my wifi password is tall-green-otter",
    "wash the dishes",
    "dinner on Thursday at the harbour restaurant",
    "my favourite colour is green",
    "my dentist is Dr Novak",
    "I work at the city library",
    "the spare key is under the flower pot",
    "my flight to Oslo leaves at 7 in the morning",
    "pay the electric bill on Friday",
    "my son's name is Timo",
    "I take two pills after breakfast",
    "the trash is collected on Tuesdays",
    "my landlord's phone number is 555 0134",
    "I speak Czech and French",
    "my bike lock is the one with the blue cable",
    "Ella likes dark chocolate",
)

# (what is asked, a word of the fact that answers it): asked in other words than it was told
ASKED = (
    ("what's my name", "Robin"),
    ("what do you call me", "Robin"),
    ("when was my spouse born", "March"),
    ("when is my wife's birthday", "March"),
    ("where did I leave my car", "level 3"),
    ("where is the vehicle", "level 3"),
    ("what am I allergic to", "peanuts"),
    ("do I have any allergies", "peanuts"),
    ("what is the wifi code", "otter"),
    ("what's the password for the internet", "otter"),
    ("did I tell you to remind me about the dishes", "dishes"),
    ("when is my dinner", "Thursday"),
    ("where am I eating on Thursday", "harbour"),
    ("what color do I like", "green"),
    ("what is my favorite color", "green"),
    ("who is my dentist", "Novak"),
    ("where do I work", "library"),
    ("what is my job", "library"),
    ("where is the spare key", "flower pot"),
    ("where are the keys", "flower pot"),
    ("when does my plane leave", "Oslo"),
    ("when do I fly to Oslo", "Oslo"),
    ("what bills do I have to pay", "electric"),
    ("what is my child called", "Timo"),
    ("how many pills do I take", "two pills"),
    ("which medicine do I take after breakfast", "two pills"),
    ("when is the garbage collected", "Tuesdays"),
    ("what is the landlord's number", "0134"),
    ("which languages do I speak", "Czech"),
    ("which bicycle lock is mine", "blue cable"),
    ("what does Ella like", "chocolate"),
    ("whats my wive's birthday", "March"),
    ("who is my dentest", "Novak"),
)
UNKNOWN = (
    "what is my shoe size",
    "who is the president",
    "how tall is the tower",
    "what is my blood type",
    "when does the shop open",
    "what is the meaning of life",
)


@pytest.fixture
def facts(tmp_path: Path) -> Facts:
    return Facts(tmp_path / "facts.jsonl")


@pytest.fixture
def known(facts: Facts) -> Facts:
    for fact in KNOWN:
        facts.remember(fact)
    return facts


# --- recall ----------------------------------------------------------------------------------------------------------


def test_recall_by_meaning(known: Facts) -> None:
    """Asked in other words, the right fact comes first in nine of ten cases."""
    first = {query: (known.recall(query) or ("",))[0] for query, _ in ASKED}
    missed = [query for query, word in ASKED if word not in first[query]]
    assert len(missed) <= len(ASKED) // 10, missed


def test_what_was_never_said_is_not_recalled(known: Facts) -> None:
    assert {query: known.recall(query) for query in UNKNOWN} == dict.fromkeys(UNKNOWN, ())


def test_a_question_about_nothing_in_particular_gets_the_newest(known: Facts) -> None:
    assert known.recall("what's on my list of things to remember", 3) == (KNOWN[-1], KNOWN[-2], KNOWN[-3])
    assert known.recall("what do you know about me", 1) == (KNOWN[-1],)


def test_of_two_about_the_same_the_newer_counts(known: Facts) -> None:
    known.remember("my name is Kim")
    known.remember("my favourite colour is blue")
    assert known.recall("what is my name")[0] == "my name is Kim"
    assert "my name is Robin" not in known.recall("what is my name")
    assert known.recall("which color do I like")[0] == "my favourite colour is blue"


def test_recall_of_an_empty_memory(facts: Facts) -> None:
    assert facts.recall("anything") == ()
    assert facts.recall("") == ()
    assert facts.forget("anything") == ()
    assert len(facts) == 0


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("parked", "park"),
        ("parking", "park"),
        ("birthdays", "birthday"),
        ("batteries", "battery"),
        ("colour", "color"),
        ("planned", "plan"),
    ],
)
def test_stems(one: str, two: str) -> None:
    assert stem(one) == stem(two)


def test_index_ranks_rare_words_above_common_ones() -> None:
    index = Index()
    for text in ("blue house", "blue door", "blue window", "blue dragon"):
        index.add(text)
    assert index.search("blue dragon", 1)[0][0] == 3
    assert index.search("nothing of it", 3) == ()


# --- remembering and forgetting --------------------------------------------------------------------------------------


def test_kept_over_a_restart_and_only_once(tmp_path: Path) -> None:
    path = tmp_path / "deep/er/facts.jsonl"
    first = Facts(path)
    assert first.remember("  my name   is Robin ")
    assert first.remember("My name is Robin") == ""
    again = Facts(path)
    assert again.recall("name") == ("my name is Robin",)
    assert len(again) == 1
    assert path.stat().st_mode & 0o077 == 0  # nobody else may read it


def test_what_is_forgotten_is_gone_from_the_disk(known: Facts, tmp_path: Path) -> None:
    assert known.forget("my wifi password") == ("my wifi password is tall-green-otter",)
    text = (tmp_path / "facts.jsonl").read_text()
    assert "otter" not in text
    assert len(text.splitlines()) == len(KNOWN) - 1
    assert known.recall("wifi password") == ()
    assert known.forget("the price of tea in other galaxies") == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["facts.jsonl", "facts.jsonl.lock"]


def test_forgetting_the_exact_fact_takes_no_other(known: Facts) -> None:
    assert known.forget("WASH the dishes") == ("wash the dishes",)


def test_a_line_that_a_crash_left_half_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    Facts(path).remember("my name is Robin")
    whole = path.read_bytes()
    for cut in range(1, len(whole)):
        path.write_bytes(whole + whole[:cut].replace(b"Robin", b"Roban"))
        after = Facts(path)
        after.remember("I live in Brno")
        assert set(Facts(path).recall("everything")) >= {"my name is Robin", "I live in Brno"}


def test_foreign_lines_are_passed_over_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    odd = '{"note": "not ours"}\n[1, 2]\n\x00\x00\nplain text\n\n'
    path.write_text(odd)
    facts = Facts(path)
    facts.remember("my name is Robin")
    facts.remember("I live in Brno")
    facts.forget("where do I live")
    assert facts.recall("name") == ("my name is Robin",)
    assert facts.damaged == 4
    assert path.read_text().startswith(odd)


def _write(path: Path, who: int, count: int) -> None:
    facts = Facts(path)
    for number in range(count):
        facts.remember(f"writer {who} wrote number {number} " + "x" * (number * 37 % 300))


def test_two_processes_and_two_threads_append_at_once(tmp_path: Path) -> None:
    path, count = tmp_path / "facts.jsonl", 40
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_write, args=(path, who, count)) for who in range(2)]
    threads = [threading.Thread(target=_write, args=(path, who, count)) for who in (2, 3)]
    for worker in (*workers, *threads):
        worker.start()
    for worker in (*workers, *threads):
        worker.join(60)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == len(Facts(path)) == 4 * count
    assert len({line["id"] for line in lines}) == 4 * count


def test_another_process_is_noticed(tmp_path: Path) -> None:
    one, two = Facts(tmp_path / "facts.jsonl"), Facts(tmp_path / "facts.jsonl")
    one.remember("my name is Robin")
    assert two.recall("name") == ("my name is Robin",)
    two.forget("name")
    assert one.recall("name") == ()
    (tmp_path / "facts.jsonl").unlink()
    assert len(one) == 0
    one.remember("my name is Kim")
    assert two.recall("name") == ("my name is Kim",)


def test_a_full_disk_loses_nothing(known: Facts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full after half a line: one sentence, the file as it was, and all goes on when there is room."""
    before = (tmp_path / "facts.jsonl").read_bytes()
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) > 20:
            return real(descriptor, data[:20])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def short(descriptor: int, data: bytes) -> int:
        monkeypatch.setattr(
            os, "write", lambda d, b: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device"))
        )
        return real(descriptor, data[:20])

    monkeypatch.setattr(os, "write", short)
    with pytest.raises(ToolError, match=r"Memory could not be written .No space left on device.; free some space"):
        known.remember("a new fact that does not fit")
    monkeypatch.setattr(os, "write", real)
    assert (tmp_path / "facts.jsonl").read_bytes() == before
    assert known.remember("a new fact that fits again")
    assert len(Facts(tmp_path / "facts.jsonl")) == len(KNOWN) + 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_really_full_device(tmp_path: Path) -> None:
    (tmp_path / "facts.jsonl").symlink_to("/dev/full")
    with pytest.raises(ToolError, match=r"Memory could not be written"):
        Facts(tmp_path / "facts.jsonl").remember("my name is Robin")


def test_a_rewrite_that_fails_keeps_everything(known: Facts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ToolError, match="No space left"):
        known.forget("my name")
    monkeypatch.undo()
    assert known.recall("my name")[0] == "my name is Robin"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["facts.jsonl", "facts.jsonl.lock"]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolError, match="Memory could not be written"):
        Facts(tmp_path / "file/facts.jsonl").remember("my name is Robin")


def test_nothing_and_too_much(facts: Facts) -> None:
    with pytest.raises(ToolError, match="nothing to remember"):
        facts.remember("  \n ")
    facts.remember("long " * 1000)
    assert len(facts.recall("long")[0]) <= 1000


# --- private facts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["my wifi password is x", "the PIN of the card is 4711", "my account number is 12", "card 4111 1111 1111 1111"],
)
def test_secrets_are_recognised(text: str) -> None:
    assert is_private(text)
    assert not any(part in redacted(text) for part in ("4711", "1111", " x", " 12"))


@pytest.mark.parametrize(
    "text", ["my name is Robin", "I was born in 1990", "we are spinning", "the code review is at ten"]
)
def test_what_is_no_secret(text: str) -> None:
    assert not is_private(text)


# --- what a planner sees ---------------------------------------------------------------------------------------------


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    made = Memory(Config(data_dir=tmp_path))
    for fact in KNOWN:
        made.facts.remember(fact)
    return made


def test_facts_only_where_they_bear_on_the_request(memory: Memory) -> None:
    assert memory.context("what time is it").facts == ()
    assert memory.context("open the calculator, type 21 plus 21 and press enter").facts == ()
    assert memory.context("search for cheap tires").facts == ()
    assert memory.context("type my name").facts[0] == "my name is Robin"
    assert memory.context("email my dentist").facts == ("my dentist is Dr Novak",)


def test_private_facts_reach_no_planner(memory: Memory) -> None:
    found = memory.context("type my wifi password").facts
    assert found == ("my wifi password is [private]",)
    assert memory.facts.recall("my wifi password") == ("my wifi password is tall-green-otter",)


def test_context_is_bounded(memory: Memory) -> None:
    windows = tuple(WindowRef(id=n, title=f"w{n}") for n in range(50))
    for number in range(60):
        memory.note_turn(PastTurn(heard=f"request {number}", plan=Plan(), said="yes"))
        memory.facts.remember(f"my project number {number} has the name {number}" + "y" * 500)
    context = memory.context("what is the name of my project", windows[0], windows)
    assert [turn.heard for turn in context.turns] == ["request 56", "request 57", "request 58", "request 59"]
    assert len(memory.conversation.last(99)) == 20
    assert len(context.windows) == 12
    assert len(context.facts) <= 3
    assert all(len(fact) <= 200 for fact in context.facts)


class _Name(ToolArgs):
    name: str


def test_session_knows_what_was_opened_and_focused(memory: Memory) -> None:
    for app in ("calculator", "editor", "calculator"):
        memory.note_step(Step(tool="open_app", args=_Name(name=app)), Done(result=app.title()))
    editor = WindowRef(id=7, app="Mousepad", title="Untitled 1")
    memory.context("hello", editor)
    context = memory.context("type in it")
    assert context.recent_apps == ("Calculator", "Editor")
    assert context.focus == editor
    memory.note_turn(PastTurn(heard="type in it", plan=Plan(say="ok")))
    assert memory.session.last_plan == Plan(say="ok")
    for number in range(20):
        memory.session.opened(f"app {number}")
    assert len(memory.session.recent_apps) == 8


def test_switched_off_it_gives_nothing(tmp_path: Path) -> None:
    memory = Memory(Config(data_dir=tmp_path, memory=MemoryConfig(enabled=False)))
    memory.facts.remember("my name is Robin")
    memory.note_turn(PastTurn(heard="a", plan=Plan()))
    focus = WindowRef(id=1, app="x")
    context = memory.context("what is my name", focus)
    assert (context.turns, context.facts, context.recent_apps, context.focus) == ((), (), (), focus)


# --- the agent -------------------------------------------------------------------------------------------------------


def step() -> StepContext:
    return StepContext("turn", 0, time.monotonic() + 5, CancelFlag(), threading.Event())


def test_remember_recall_forget_and_back(facts: Facts) -> None:
    agent = MemoryAgent(AgentParts(None, facts=facts))
    kept = agent.remember(RememberArgs(fact="my sister lives in Ghent"), step())
    assert kept.verified
    assert kept.undo is not None
    found = agent.recall(RecallArgs(query="where does my sister live"), step())
    assert found.say == "Your sister lives in Ghent."
    assert found.result == "my sister lives in Ghent"
    kept.undo.run(step())
    assert agent.recall(RecallArgs(query="my sister"), step()).say == "You have not told me that."
    agent.remember(RememberArgs(fact="my sister lives in Ghent"), step())
    gone = agent.forget(RecallArgs(query="what I said about my sister"), step())
    assert gone.verified
    assert gone.undo is not None
    gone.undo.run(step())
    assert facts.recall("sister") == ("my sister lives in Ghent",)
    with pytest.raises(ToolError, match="Nothing in memory fits"):
        agent.forget(RecallArgs(query="my yacht"), step())
    twice = agent.remember(RememberArgs(fact="my sister lives in Ghent"), step())
    assert twice.say == "I know that already."
    assert twice.undo is None  # taking it back must not delete what was known before


def test_secrets_stay_out_of_the_record(facts: Facts) -> None:
    agent = MemoryAgent(AgentParts(None, facts=facts))
    kept = agent.remember(RememberArgs(fact="my wifi password is tall-green-otter"), step())
    assert kept.secret
    assert "otter" not in kept.evidence + kept.say + kept.result
    found = agent.recall(RecallArgs(query="wifi password"), step())
    assert found.secret
    assert "tall-green-otter" in found.say  # the user asked for it


def test_a_list_is_read_out_when_a_list_is_asked_for(known: Facts) -> None:
    agent = MemoryAgent(AgentParts(None, facts=known))
    said = agent.recall(RecallArgs(query="everything on my list"), step()).say
    assert "Ella likes dark chocolate." in said
    assert said.count(".") >= 5


def test_without_a_store_it_says_so() -> None:
    with pytest.raises(ToolError, match="Memory is switched off"):
        MemoryAgent(AgentParts(None)).recall(RecallArgs(query="name"), step())


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("my name is Robin", "your name is Robin"),
        ("I am allergic to nuts", "you are allergic to nuts"),
        ("I'm your boss", "you are my boss"),
        ("I was born in Brno", "you were born in Brno"),
        ("call me Kim", "your name is Kim"),
        ("the car is on level 3", "the car is on level 3"),
        ("you are my friend", "I am your friend"),
        ("my wife's birthday is in May", "your wife's birthday is in May"),
    ],
)
def test_second_person(told: str, said: str) -> None:
    assert second_person(told) == said


def test_subjects() -> None:
    assert subject("my name is A") == subject("My name is B")
    assert subject("my son's name is A") != subject("my name is B")
    assert subject("wash the dishes") == ""
