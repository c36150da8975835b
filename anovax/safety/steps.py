"""Judge one step of a plan within the simulation, tool by tool."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from anovax.config import SafetyConfig
from anovax.plan import RESULT_REFERENCE, Decision, Step, World
from anovax.private import is_password
from anovax.safety.clicks import judge_click
from anovax.safety.finding import APPROVED, Finding, ask, notice, refuse, strictest
from anovax.safety.normalise import fold, simple
from anovax.safety.places import Place
from anovax.safety.simulate import Simulation
from anovax.safety.taint import Taint, judge_source
from anovax.tool import Risk, Toolbox, ToolSpec

_CLOSE = re.compile(r"\b(close|quit|exit|shut|leave|kill|end|dismiss)\b")


# The tools that the simulation follows; every other tool leaves focus and text as they are.
MOVING = frozenset(
    "open_app focus_window close_window type_text press_keys click drag open_url web_search delegate undo".split()
)


@dataclass
class StepJudge:
    """Judges the steps of one plan in order; ``results`` are the tools of the steps so far, by number from 1."""

    tools: Toolbox
    config: SafetyConfig
    world: World
    simulation: Simulation
    taint: Taint
    results: dict[int, str] = field(default_factory=dict)

    def judge(self, step: Step, index: int) -> Finding:
        spec = self.tools.spec(step.tool)
        place = self.simulation.desk.place
        self.simulation.submitted = []
        source = judge_source(step, spec.risk, self.taint, place, self.results, index)
        found = strictest([self._act(step), source, self._floor(spec), self._repair(step, spec, place)])
        self.results[index + 1] = step.tool
        if found is APPROVED or found.exact:
            return found
        return replace(
            found,
            exact=f"{spec.card(step.args)} ({self.world.focus.name if self.world.focus and not index else place})",
        )

    def _act(self, step: Step) -> Finding:
        args = step.args.model_dump()
        act = self._other if step.tool not in MOVING else getattr(self, f"_{step.tool}")
        found: Finding = act(args)
        return found

    # --- tools -------------------------------------------------------------------------------------------------------

    def _open_app(self, args: Mapping[str, Any]) -> Finding:
        return self.simulation.launch(args["name"])

    def _focus_window(self, args: Mapping[str, Any]) -> Finding:
        return self.simulation.focus(args["name"])

    def _type_text(self, args: Mapping[str, Any]) -> Finding:
        found = self.simulation.type(args["text"])
        if found is APPROVED and is_password(args["text"]):
            return notice("password", "it looks like a password; it is kept out of the record")
        return found

    def _press_keys(self, args: Mapping[str, Any]) -> Finding:
        try:
            return self.simulation.press(fold(args["keys"]) or args["keys"], args["times"])
        except ValueError as error:
            return refuse("keys", str(error))

    def _click(self, args: Mapping[str, Any]) -> Finding:
        self.simulation.click(args["button"])
        return judge_click(args["target"], self.world.heard) or APPROVED if args["target"] else APPROVED

    def _drag(self, args: Mapping[str, Any]) -> Finding:
        self.simulation.click("left")
        return strictest(judge_click(args[end], self.world.heard) for end in ("target", "to") if args[end])

    def _open_url(self, args: Mapping[str, Any]) -> Finding:
        found = self.simulation.open_url(args["url"])
        return APPROVED if RESULT_REFERENCE.search(args["url"]) else found  # judged by its source, and again when known

    def _web_search(self, args: Mapping[str, Any]) -> Finding:
        self.simulation.leave(Place.BROWSER)
        return APPROVED

    def _close_window(self, args: Mapping[str, Any]) -> Finding:
        self.simulation.leave()
        self.simulation.desk.closing = True
        return APPROVED

    def _delegate(self, args: Mapping[str, Any]) -> Finding:
        self.simulation.leave()
        self.simulation.desk.line.blind = "a sub-plan"
        return APPROVED

    def _undo(self, args: Mapping[str, Any]) -> Finding:
        self.simulation.desk.line.blind = self.simulation.desk.line.blind or "undo"
        return APPROVED

    def _other(self, args: Mapping[str, Any]) -> Finding:
        """Tools that move neither focus nor text (get_time, speak, remember, scroll…), and tools added later."""
        return APPROVED

    # --- policy ------------------------------------------------------------------------------------------------------

    def _floor(self, spec: ToolSpec) -> Finding:
        floors = (self.config.tools.get(spec.name), self.config.tiers.get(spec.risk.value))
        return strictest(
            Finding(Decision(floor), "policy", f"your configuration says “{floor}” for {spec.name}")
            for floor in floors
            if floor
        )

    def _repair(self, step: Step, spec: ToolSpec, place: Place) -> Finding | None:
        """Recovery and sub-plans are further from the user's words: what cannot be taken back must be in them."""
        if self.world.origin not in ("recovery", "delegate") or spec.risk not in (Risk.INPUT, Risk.OPEN, Risk.STORE):
            return None
        heard = simple(self.world.heard)
        args = step.args.model_dump(exclude_defaults=True)
        text = " ".join(str(value) for value in args.values())
        run = " ".join(self.simulation.submitted)
        if run.strip() and place in (Place.TERMINAL, Place.RUN_BOX) and not self.taint.said(run):
            return ask("repair", "a repair would run a command that you have not asked for")
        if step.tool == "close_window" and not _CLOSE.search(heard):
            return ask("repair", "a repair would close a window")
        if {"click": {"target"}, "drag": {"target", "to"}}.get(step.tool, set()) - set(args):
            return ask("repair", "a repair would click at a place that you have not named")
        if step.tool == "open_url" and not self.taint.said(text):
            return ask("repair", "a repair would open an address that you have not named")
        return None
