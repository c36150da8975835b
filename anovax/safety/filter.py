"""The second stage: Plan -> ApprovedPlan | NeedsConsent | Refusal. Pure and deterministic; it fails closed."""

from __future__ import annotations

import json
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from anovax.config import SafetyConfig
from anovax.errors import AnovaxError, ConfigError, SafetyError
from anovax.plan import MAX_LEVELS, MAX_STEPS, Decision, Plan, Verdict, World
from anovax.safety.commands import CommandJudge
from anovax.safety.desk import Desk
from anovax.safety.effects import advanced, apply, fits, look
from anovax.safety.finding import APPROVED, Finding, refuse, severity, strictest, strictest_verdict
from anovax.safety.judgement import _SEAL, ApprovedPlan, NeedsConsent, Refusal
from anovax.safety.places import Place, place_of_window
from anovax.safety.simulate import Simulation
from anovax.safety.steps import StepJudge
from anovax.safety.taint import Taint
from anovax.safety.urls import judge_url
from anovax.tool import Effect, Risk, Toolbox, WindowRef

Judgement = ApprovedPlan | NeedsConsent | Refusal
_NO_WORLD = World()


def _no_command(text: str, place: Place) -> Finding:
    return APPROVED


def _no_url(text: str) -> Finding:
    return APPROVED


class Safety:
    """Judges plans. Holds no state but which consents were used."""

    def __init__(self, tools: Toolbox, config: SafetyConfig, search_url: str = "") -> None:
        """``search_url``: the user's own ``desktop.search_url``, which may lead into the local network. Raises
        ConfigError for a floor that would hold for nothing, such as that of a misspelt tool."""
        for key, floors, known in (("tools", config.tools, list(tools.specs)), ("tiers", config.tiers, list(Risk))):
            if unknown := sorted(set(floors) - set(known)):
                problem = f"The setting safety.{key} names {unknown[0]}, which does not exist"
                raise ConfigError(problem, f"use one of: {', '.join(sorted(known))}")
        self._tools, self._config, self._search = tools, config, search_url.partition("{")[0]
        self._commands, self._urls = CommandJudge(), judge_url
        self._spent: weakref.WeakSet[NeedsConsent] = weakref.WeakSet()
        self._lock = threading.Lock()

    def judge(self, plan: Plan, world: World = _NO_WORLD) -> Judgement:
        """The judgement of ``plan`` as it would run from ``world`` on. Never raises."""
        try:
            return self._judge(plan, world)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong in here must end in a refusal
            finding = refuse("fault", f"the plan could not be judged ({type(error).__name__})")
            return Refusal(plan, finding.verdict(None), (), world)

    def grant(self, needs: NeedsConsent, step: int) -> ApprovedPlan | NeedsConsent:
        """The user's yes to one step. SafetyError when that was not asked or has been used already."""
        with self._lock:
            if needs in self._spent:
                raise SafetyError("This consent has been used already", "ask again")
            if step not in needs.waiting:
                raise SafetyError(f"Step {step + 1} asks for nothing", "answer a step that asks")
            self._spent.add(needs)
        consented = needs.consented | {step}
        built = (needs.plan, needs.verdict, needs.verdicts, needs.world, needs.places, consented)
        waiting = set(needs.waiting) - {step}
        return NeedsConsent(*built, seal=_SEAL) if waiting else ApprovedPlan(*built, seal=_SEAL)

    def recheck(
        self, approved: ApprovedPlan, index: int, effect: Effect, done: World | Sequence[Effect] = ()
    ) -> Verdict:
        """Judge one effect of an approved plan's step against the world as it is now. Never raises."""
        try:
            return self._recheck(approved, index, effect, done)
        except Exception as error:  # noqa: BLE001 - fails closed
            return refuse("fault", f"the effect could not be judged ({type(error).__name__})").verdict(index)

    def advance(self, world: World, effect: Effect) -> World:
        """The world after ``effect`` has happened: where the focus is and what stands typed there."""
        world = world if effect.window is None else look(world, effect.window)
        simulation = Simulation(Desk.of(world), _no_command, _no_command, _no_url)
        try:
            apply(simulation, effect)
        except ValueError:  # keys that are none: whatever they did cannot be seen
            simulation.desk.line.blind = "unknown keys"
        return advanced(world, effect, simulation.desk)

    def look(self, world: World, focus: WindowRef | None) -> World:
        """The world when ``focus`` has the focus now, whoever moved it; what stands typed stays with its window."""
        return look(world, focus)

    def judge_json(self, raw: str | bytes | Mapping[str, Any]) -> dict[str, Any]:
        """One line of ``anovax check --stdin`` to one verdict; what is malformed is refused by the rule "format"."""
        try:
            given = json.loads(raw) if isinstance(raw, str | bytes) else raw
            if not isinstance(given, Mapping):
                raise SafetyError("A line must be a JSON object", 'write {"steps": [...]}')
            plan = Plan.parse(given.get("plan", given), self._tools)
            world = World.model_validate(given.get("world") or {})
        except json.JSONDecodeError as error:
            return refuse("format", f"This is not JSON: {error}").verdict(None).to_json()
        except (ValueError, RecursionError, AnovaxError, ValidationError) as error:
            return refuse("format", str(error)).verdict(None).to_json()
        return self.judge(plan, world).verdict.to_json()

    # --- a whole plan ------------------------------------------------------------------------------------------------

    def _judge(self, plan: Plan, world: World) -> Judgement:
        simulation = self._simulation(world)
        steps = StepJudge(self._tools, self._config, world, simulation, Taint(world))
        verdicts: list[Verdict] = []
        places: list[Place] = []
        for index, step in enumerate(plan.steps[:MAX_STEPS]):
            places.append(simulation.desk.place)
            verdicts.append(steps.judge(step, index).verdict(index))
        _add_standing(simulation.standing(), plan, verdicts)
        whole = strictest_verdict([_bounds(plan, world, steps.taint).verdict(None), *verdicts])
        return _built(plan, whole, tuple(verdicts), world, tuple(places))

    def _simulation(self, world: World) -> Simulation:
        return Simulation(Desk.of(world), self._commands, self._commands.session().submit, self._urls, world.heard)

    # --- one effect --------------------------------------------------------------------------------------------------

    def _recheck(self, approved: ApprovedPlan, index: int, effect: Effect, done: World | Sequence[Effect]) -> Verdict:
        if not isinstance(approved, ApprovedPlan) or not 0 <= index < len(approved.plan.steps):
            return refuse("plan", "this step belongs to no approved plan").verdict(index)
        world = done if isinstance(done, World) else approved.world
        for earlier in () if isinstance(done, World) else done:
            world = self.advance(world, earlier)
        world = world if effect.window is None else look(world, effect.window)
        world = world.model_copy(update={"heard": approved.world.heard})
        step = approved.plan.steps[index]
        found = strictest(
            [fits(step, effect), self._moved(approved, index, effect), self._effect(world, effect, step.tool)]
        )
        if severity(found.decision) <= severity(Decision.NOTICE) or _covers(approved.verdicts[index], found):
            return Verdict(decision=Decision.APPROVE, step=index)
        return found.verdict(index)

    @staticmethod
    def _moved(approved: ApprovedPlan, index: int, effect: Effect) -> Finding | None:
        """Text or keys that were meant for something else must not land in a command line."""
        if effect.window is None or effect.kind not in ("type", "paste", "keys"):
            return None
        now, meant = place_of_window(effect.window), approved.places[index]
        if now in (Place.TERMINAL, Place.RUN_BOX, Place.CONSOLE) and not meant.takes_commands:
            return refuse("focus", f"“{effect.window.name}” has the focus, not the {meant} that was meant")
        return None

    def _effect(self, world: World, effect: Effect, tool: str) -> Finding:
        if tool == "web_search" and effect.kind in ("open_url", "launch"):
            own = bool(self._search) and effect.payload.startswith(self._search) and effect.payload.isprintable()
            return APPROVED if own else self._urls(effect.payload.partition("?")[0])
        return apply(self._simulation(world), effect)


def _covers(granted: Verdict, found: Finding) -> bool:
    """What the user has allowed is this very command, or the same kind of thing where it is no command."""
    if granted.decision is not Decision.ASK or found.decision is not Decision.ASK:
        return False
    command = found.exact.partition(": ")[2]
    return command in granted.exact if command else found.rule == granted.rule


def _add_standing(found: Finding, plan: Plan, verdicts: list[Verdict]) -> None:
    """Text that waits for Enter at the plan's end is the finding of the step that typed last."""
    typed = [index for index, step in enumerate(plan.steps[: len(verdicts)]) if step.tool == "type_text"]
    if found is not APPROVED and typed:
        verdicts[typed[-1]] = strictest_verdict([verdicts[typed[-1]], found.verdict(typed[-1])])


def _bounds(plan: Plan, world: World, taint: Taint) -> Finding:
    if len(plan.steps) > MAX_STEPS:
        return refuse("bounds", f"a plan has at most {MAX_STEPS} steps, this one has {len(plan.steps)}")
    if len(plan.steps) > world.agents_left:
        return refuse("bounds", "the request has used up its agents")
    if world.level > MAX_LEVELS or (world.level >= MAX_LEVELS and any(step.tool == "delegate" for step in plan.steps)):
        return refuse("bounds", f"sub-goals go at most {MAX_LEVELS} levels deep")
    if any(taint.tainted(fact) and not taint.asked("remember") for fact in plan.remember):
        return refuse("taint", "a text from outside would be remembered as a fact")
    return APPROVED


def _built(
    plan: Plan, whole: Verdict, verdicts: tuple[Verdict, ...], world: World, places: tuple[Place, ...]
) -> Judgement:
    if whole.decision is Decision.REFUSE:
        return Refusal(plan, whole, verdicts, world, places)
    if whole.decision is Decision.ASK:
        return NeedsConsent(plan, whole, verdicts, world, places, seal=_SEAL)
    return ApprovedPlan(plan, whole, verdicts, world, places, seal=_SEAL)
