"""Effects as they happen: do they belong to their step, what do they do to the desk, what stands typed afterwards."""

from __future__ import annotations

import re

from anovax.plan import RESULT_REFERENCE, Step, World
from anovax.safety.commands import goes_on
from anovax.safety.desk import UNSEEN, Desk
from anovax.safety.finding import APPROVED, Finding, ask, refuse
from anovax.safety.keys import parse_chords
from anovax.safety.normalise import fold
from anovax.safety.places import Place, place_of_window
from anovax.safety.simulate import Simulation
from anovax.tool import Effect, WindowRef

# Which effects a tool has. Typing may paste what the keyboard map lacks, and an application may need the keys for that.
_KINDS = {
    "type_text": {"type", "paste", "keys"}, "press_keys": {"keys"}, "click": {"click", "scroll", "focus"},
    "scroll": {"scroll", "keys"}, "drag": {"click", "drop"},
    "open_app": {"launch", "focus"}, "focus_window": {"focus"}, "close_window": {"close", "focus"},
    "open_url": {"open_url", "launch", "focus"}, "web_search": {"open_url", "launch", "focus"},
    "undo": {"keys", "type", "focus", "close", "paste"},
}  # fmt: skip
MAX_STANDING = 16
_READING = {"screenshot", "read_screen", "get_time", "speak", "remember", "recall", "forget", "delegate"}
_PASTE_KEYS = ("ctrl+v", "ctrl+shift+v", "shift+insert")


def fits(step: Step, effect: Effect) -> Finding | None:
    """An effect must be what its step says; tools that are not known here are left to the other rules."""
    if step.tool in _READING or effect.kind not in _KINDS.get(step.tool, {effect.kind}):
        return refuse("effect", f"{step.tool} does not {effect.kind}")
    args = step.args.model_dump()
    if step.tool == "type_text" and not RESULT_REFERENCE.search(args["text"]):
        if effect.kind in ("type", "paste") and effect.payload not in args["text"]:
            return refuse("effect", "the text is not the one that was approved")
        if effect.kind == "keys" and not _only_pastes(effect.payload):
            return refuse("effect", "typing presses no other keys")
    if step.tool == "press_keys" and not _same_keys(args["keys"], effect.payload):
        return refuse("effect", "these are not the keys that were approved")
    return None


def _only_pastes(payload: str) -> bool:
    return all(str(chord) in _PASTE_KEYS for chord in parse_chords(payload))


def _same_keys(planned: str, payload: str) -> bool:
    """The payload presses the planned chords, or some of them (they may come one by one), and no others."""
    return {str(chord) for chord in parse_chords(payload)} <= {str(chord) for chord in parse_chords(fold(planned))}


def apply(simulation: Simulation, effect: Effect) -> Finding:
    """What the effect would do from the simulation's desk on."""
    match effect.kind:
        case "type":
            return simulation.type(effect.payload)
        case "paste":
            simulation.desk.clipboard = effect.payload
            return simulation.paste()
        case "keys":
            return simulation.press(effect.payload)
        case "open_url":
            return simulation.open_url(effect.payload)
        case "launch":
            return _launched(simulation, effect.payload)
        case "click":
            return simulation.click(
                "middle"
                if re.search(r"\bmiddle\b", effect.payload)
                else "right"
                if re.search(r"\bright\b", effect.payload)
                else "left"
            )
        case "drop":
            return _dropped(simulation)
        case "focus" | "close" | "scroll":
            return APPROVED
    return ask("effect", f"“{effect.kind}” is no effect that is known")


def _dropped(simulation: Simulation) -> Finding:
    """What is dropped on another window goes in as if it were pasted, line breaks and all."""
    commands = simulation.desk.place in (Place.TERMINAL, Place.RUN_BOX)
    simulation.click("middle")
    return ask("effect", "what is dropped on a terminal runs as commands") if commands else APPROVED


def _launched(simulation: Simulation, payload: str) -> Finding:
    return simulation.launch(payload) if payload and "/" not in payload else APPROVED


def look(world: World, focus: WindowRef | None) -> World:
    """The world when ``focus`` has the focus: what stands typed stays with its window (the last 16 command lines)."""
    old, new = world.focus.id if world.focus else 0, focus.id if focus else 0
    if old == new and (world.focus is None) == (focus is None):
        return world.model_copy(update={"focus": focus})
    standing = dict(world.standing)
    standing.pop(old, None)
    if world.pending and place_of_window(world.focus).takes_commands:
        standing[old] = world.pending
    pending = standing.pop(new, "")
    kept = tuple(standing.items())[-MAX_STANDING:]
    return world.model_copy(update={"focus": focus, "pending": pending, "standing": kept})


def advanced(world: World, effect: Effect, desk: Desk) -> World:
    """The world after the effect, from the one that looked at its window. Text that waits for more lines stays."""
    if effect.kind == "close":
        return look(world.model_copy(update={"pending": ""}), None)
    if effect.kind in ("launch", "open_url"):
        return look(world, effect.window)
    pending = desk.line.text
    if desk.script and desk.place in (Place.TERMINAL, Place.UNKNOWN) and goes_on(desk.script):
        pending = desk.script + desk.line.text
    pending = pending[-4000:] + (UNSEEN if desk.line.blind else "")
    return world.model_copy(update={"pending": pending, "clipboard": desk.clipboard})
