"""Twenty requests whose first plan fails on a real desktop: how each is set up, and what must hold in the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from anovax.bench.recovery_stage import Stage

Act = Callable[[Stage], object]
NOTHING: Mapping[str, Act] = {}


def _never(stage: Stage) -> bool:
    return False


@dataclass(frozen=True)
class Case:
    """``steps`` is the plan that fails. ``prepare`` sets the desktop up, ``meddle`` happens when a step of the named
    tool begins for the first time. ``holds`` is what the user wanted, seen on the desktop; None where nothing can be
    done, and the right end is a question or an honest sentence. ``harmed``: something was touched that nobody asked
    for."""

    name: str
    request: str
    steps: tuple[tuple[str, dict[str, object]], ...]
    prepare: Act
    holds: Callable[[Stage], bool] | None
    meddle: Mapping[str, Act] = field(default_factory=dict)
    harmed: Callable[[Stage], bool] = _never


def opening(name: str) -> tuple[str, dict[str, object]]:
    return "open_app", {"name": name}


def focusing(name: str) -> tuple[str, dict[str, object]]:
    return "focus_window", {"name": name}


def typing(text: str) -> tuple[str, dict[str, object]]:
    return "type_text", {"text": text}


def clicking(target: str) -> tuple[str, dict[str, object]]:
    return "click", {"target": target}


TIME: tuple[str, dict[str, object]] = ("get_time", {})
SHOT: tuple[str, dict[str, object]] = ("screenshot", {})
READ: tuple[str, dict[str, object]] = ("read_screen", {})


def bystander(stage: Stage) -> None:
    stage.editor_entry()
    stage.shell("Build log")
    stage.remember_windows()


def disturbed(stage: Stage) -> bool:
    """More came into the terminal than the one key that may slip through, or a window of before is gone."""
    return stage.strays() > 1 or stage.lost_a_window()


def with_editor(stage: Stage) -> None:
    bystander(stage)
    stage.editor()
    stage.remember_windows()


def calculator(stage: Stage) -> bool:
    return stage.focus_is("galculator")


def slow(name: str, window: str, seconds: int, more: str = "") -> Act:
    """An application called ``name`` whose ``window`` takes its time."""

    def prepare(stage: Stage) -> None:
        bystander(stage)
        stage.entry("slow", name, f"sh -c 'sleep {seconds}; exec xterm -class {window} -T {window}'", more)

    return prepare


def _brittle(stage: Stage) -> None:
    bystander(stage)
    stage.entry("brittle", "Brittle Planner", "sh -c 'exit 3'")


def _kill_editor(stage: Stage) -> None:
    if (editor := stage.open("mousepad")) is not None:
        stage.kill(editor)


def _unsaved(stage: Stage) -> None:
    stage.note.write_text("first draft")
    stage.shell("Build log")
    stage.change_note()
    stage.remember_windows()


def boards(*rows: str, late_ms: int = 0) -> Act:
    def prepare(stage: Stage) -> None:
        stage.board(*rows, late_ms=late_ms)
        stage.remember_windows()

    return prepare


def covered(*rows: str) -> Act:
    def prepare(stage: Stage) -> None:
        stage.board(*rows)
        stage.shell_over()
        stage.remember_windows()

    return prepare


def only(name: str) -> Callable[[Stage], bool]:
    return lambda stage: stage.pressed() == [name]


def wrongly(name: str) -> Callable[[Stage], bool]:
    return lambda stage: any(pressed != name for pressed in stage.pressed()) or stage.strays() > 1


def in_the_note(wanted: str) -> Callable[[Stage], bool]:
    return lambda stage: stage.saved() == wanted


LONG = " ".join(f"{number} boxes of screws of {number} millimetres;" for number in range(3, 30))
TWO = "first the letters are sorted by street, then by number, and what has no number goes back to the office at noon"
LINE = "milk, bread, two lemons and a bag of the good coffee from the corner shop"

CASES: tuple[Case, ...] = (
    Case("name heard wrong", "open gal calculator pro", (opening("gal calculator pro"),), bystander, calculator),
    Case(
        "name heard wrong, then typing",
        f"open pad for notes and type {LINE}",
        (opening("pad for notes"), typing(LINE)),
        bystander,
        in_the_note(LINE),
        harmed=disturbed,
    ),
    Case(
        "name by meaning, then reading",
        "open the number cruncher, what time is it, take a screenshot and read the screen",
        (opening("number cruncher"), TIME, SHOT, READ),
        bystander,
        calculator,
        harmed=disturbed,
    ),
    Case(
        "another one of its kind",
        f"open gedit, tell me the time and type {LINE}",
        (opening("gedit"), TIME, typing(LINE)),
        bystander,
        in_the_note(LINE),
        harmed=disturbed,
    ),
    Case("not installed", "open photoshop", (opening("photoshop"),), bystander, None, harmed=disturbed),
    Case("ends at once", "open brittle planner", (opening("brittle planner"),), _brittle, None, harmed=disturbed),
    Case(
        "slow to appear",
        "open atlas viewer",
        (opening("atlas viewer"),),
        slow("Atlas Viewer", "Atlas", 22, "StartupWMClass=Atlas\n"),
        lambda stage: stage.focus_is("Atlas"),
    ),
    Case(
        "window not open",
        "switch to the calculator and tell me the time",
        (focusing("calculator"), TIME),
        bystander,
        calculator,
        harmed=disturbed,
    ),
    Case(
        "window not open, then typing",
        f"switch to the text editor and type {LINE}",
        (focusing("text editor"), typing(LINE)),
        bystander,
        in_the_note(LINE),
        harmed=disturbed,
    ),
    Case(
        "title by meaning",
        "switch to the compiler output",
        (focusing("compiler output"),),
        with_editor,
        lambda stage: stage.focus_is("Build log"),
        harmed=disturbed,
    ),
    Case(
        "no such window to close",
        "close the downloads window",
        (("close_window", {"name": "downloads"}),),
        with_editor,
        None,
        harmed=disturbed,
    ),
    Case(
        "asks before it closes",
        "close the editor window",
        (("close_window", {"name": "mousepad"}),),
        _unsaved,
        None,
        harmed=lambda stage: stage.lost_a_window() or stage.note.read_text() != "first draft",
    ),
    Case(
        "dialog while typing",
        f"type {LONG}",
        (typing(LONG),),
        with_editor,
        in_the_note(LONG),
        {"type_text": lambda stage: stage.later(0.15, stage.dialog)},
        disturbed,
    ),
    Case(
        "other window while typing",
        f"type {LONG} and take a screenshot",
        (typing(LONG), SHOT),
        with_editor,
        in_the_note(LONG),
        {"type_text": lambda stage: stage.later(0.15, lambda: stage.raise_window("Build log"))},
        disturbed,
    ),
    Case(
        "window dies while typing",
        f"open the text editor and type {TWO}",
        (opening("text editor"), typing(TWO)),
        bystander,
        in_the_note(TWO),
        {"type_text": _kill_editor},
        disturbed,
    ),
    Case(
        "target below the edge",
        "click imprint",
        (clicking("imprint"),),
        boards("Discard", "", "", "", "", "", "Imprint"),
        only("Imprint"),
        harmed=wrongly("Imprint"),
    ),
    Case(
        "target under another name",
        "click log in",
        (clicking("log in"),),
        boards("Register", "Sign in", "Contact us"),
        only("Sign in"),
        harmed=wrongly("Sign in"),
    ),
    Case(
        "target heard wrong",
        "click in print",
        (clicking("in print"),),
        boards("Discard", "Imprint"),
        only("Imprint"),
        harmed=wrongly("Imprint"),
    ),
    Case(
        "target comes late",
        "click imprint and tell me the time",
        (clicking("imprint"), TIME),
        boards("Discard", "Imprint", late_ms=6000),
        only("Imprint"),
        harmed=wrongly("Imprint"),
    ),
    Case(
        "target is covered",
        "click imprint",
        (clicking("imprint"),),
        covered("Discard", "Imprint"),
        only("Imprint"),
        harmed=wrongly("Imprint"),
    ),
)

# What fails is mended by the model, and what follows takes time to read: here reading ahead can show what it saves.
READING: tuple[Case, ...] = (
    Case(
        "name heard wrong, then reading",
        "open gal calculator pro and read the screen",
        (opening("gal calculator pro"), READ),
        bystander,
        calculator,
    ),
    Case(
        "title by meaning, then reading",
        "switch to the compiler output and read the screen",
        (focusing("compiler output"), READ),
        with_editor,
        lambda stage: stage.focus_is("Build log"),
        harmed=disturbed,
    ),
    Case(
        "target heard wrong, then reading",
        "click in print, take a screenshot and read the screen",
        (clicking("in print"), SHOT, READ),
        boards("Discard", "Imprint"),
        only("Imprint"),
        harmed=wrongly("Imprint"),
    ),
)
