"""The second stage: Plan -> ApprovedPlan | NeedsConsent | Refusal. Pure and deterministic; it fails closed."""

from __future__ import annotations

import json
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from anovax.config import SafetyConfig
from anovax.errors import AnovaxError, SafetyError
from anovax.plan import MAX_LEVELS, MAX_STEPS, Decision, Plan, Step, Verdict, World
from anovax.safety.commands import judge_command
from anovax.safety.finding import APPROVED, Finding, ask, refuse, severity, strictest, strictest_verdict
from anovax.safety.judgement import _SEAL, ApprovedPlan, NeedsConsent, Refusal
from anovax.safety.places import Place, place_of_window
from anovax.safety.simulate import Desk, Simulation
from anovax.safety.urls import judge_url
from anovax.tool import Effect, Toolbox, ToolSpec

Judgement = ApprovedPlan | NeedsConsent | Refusal
_NO_WORLD = World()


class Safety:
    """Judges plans. Holds no state but which consents were used."""

    def __init__(self, tools: Toolbox, config: SafetyConfig) -> None:
        self._tools, self._config = tools, config
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
        desk = Desk.of(world if effect.window is None else world.model_copy(update={"focus": effect.window}))
        self._effect(Simulation(desk, judge_command, judge_url), effect)
        return world.model_copy(update={"focus": effect.window or world.focus, "pending": desk.line.text})

    def judge_json(self, raw: str | bytes | Mapping[str, Any]) -> dict[str, Any]:
        """One line of ``anovax check --stdin`` to one verdict; what is malformed is refused by the rule "format"."""
        try:
            given = json.loads(raw) if isinstance(raw, str | bytes) else raw
            if not isinstance(given, Mapping):
                raise SafetyError("A line must be a JSON object", 'write {"steps": [...]}')
            plan = Plan.parse(given.get("plan", given), self._tools)
            world = World.model_validate(given.get("world") or {})
        except (ValueError, RecursionError, AnovaxError, ValidationError) as error:
            return refuse("format", str(error)).verdict(None).to_json()
        return self.judge(plan, world).verdict.to_json()

    # --- a whole plan ------------------------------------------------------------------------------------------------

    def _judge(self, plan: Plan, world: World) -> Judgement:
        simulation = Simulation(Desk.of(world), judge_command, judge_url)
        verdicts: list[Verdict] = []
        places: list[Place] = []
        for index, step in enumerate(plan.steps[:MAX_STEPS]):
            places.append(simulation.desk.place)
            found = strictest([self._step(simulation, step), self._floor(self._tools.spec(step.tool))])
            verdicts.append(found.verdict(index))
        whole = strictest_verdict([self._bounds(plan, world).verdict(None), *verdicts])
        return self._built(plan, whole, tuple(verdicts), world, tuple(places))

    def _built(
        self, plan: Plan, whole: Verdict, verdicts: tuple[Verdict, ...], world: World, places: tuple[Place, ...]
    ) -> Judgement:
        if whole.decision is Decision.REFUSE:
            return Refusal(plan, whole, verdicts, world, places)
        if whole.decision is Decision.ASK:
            return NeedsConsent(plan, whole, verdicts, world, places, seal=_SEAL)
        return ApprovedPlan(plan, whole, verdicts, world, places, seal=_SEAL)

    @staticmethod
    def _bounds(plan: Plan, world: World) -> Finding:
        if len(plan.steps) > MAX_STEPS:
            return refuse("bounds", f"a plan has at most {MAX_STEPS} steps, this one has {len(plan.steps)}")
        if len(plan.steps) > world.agents_left:
            return refuse("bounds", "the request has used up its agents")
        if world.level > MAX_LEVELS or (world.level == MAX_LEVELS and any(s.tool == "delegate" for s in plan.steps)):
            return refuse("bounds", f"sub-goals go at most {MAX_LEVELS} levels deep")
        return APPROVED

    def _floor(self, spec: ToolSpec) -> Finding:
        floors = [self._config.tools.get(spec.name), self._config.tiers.get(spec.risk.value)]
        return strictest(
            Finding(Decision(floor), "policy", f"your configuration says {floor} for {spec.name}")
            for floor in floors
            if floor is not None
        )

    def _step(self, simulation: Simulation, step: Step) -> Finding:
        args = step.args.model_dump()
        match step.tool:
            case "open_app":
                return simulation.launch(args["name"])
            case "focus_window":
                return simulation.focus(args["name"])
            case "type_text":
                return simulation.type(args["text"])
            case "press_keys":
                try:
                    return simulation.press(args["keys"], args["times"])
                except ValueError as error:
                    return refuse("keys", str(error))
            case "open_url":
                simulation.desk.go(Place.BROWSER)
                return judge_url(args["url"])
            case "click" | "close_window" | "delegate" | "undo":
                simulation.desk.go(Place.TERMINAL if simulation.desk.place is Place.TERMINAL else Place.UNKNOWN)
                return APPROVED
            case "web_search":
                simulation.desk.go(Place.BROWSER)
        return APPROVED

    # --- one effect --------------------------------------------------------------------------------------------------

    def _recheck(self, approved: ApprovedPlan, index: int, effect: Effect, done: World | Sequence[Effect]) -> Verdict:
        world = done if isinstance(done, World) else approved.world
        for earlier in () if isinstance(done, World) else done:
            world = self.advance(world, earlier)
        place = place_of_window(effect.window)
        if place in (Place.TERMINAL, Place.RUN_BOX) and not approved.places[index].takes_commands:
            return refuse("focus", f"a {place} has the focus, not what the plan meant").verdict(index)
        focused = world.model_copy(update={"focus": effect.window or world.focus})
        found = self._effect(Simulation(Desk.of(focused), judge_command, judge_url), effect)
        granted = approved.verdicts[index].decision
        if severity(found.decision) <= max(severity(granted), severity(Decision.NOTICE)):
            return Verdict(decision=Decision.APPROVE, step=index)
        return found.verdict(index)

    @staticmethod
    def _effect(simulation: Simulation, effect: Effect) -> Finding:
        match effect.kind:
            case "type" | "paste":
                return simulation.type(effect.payload)
            case "keys":
                return simulation.press(effect.payload)
            case "open_url":
                return judge_url(effect.payload)
            case "click" | "scroll" | "launch" | "focus" | "close":
                return APPROVED
        return ask("effect", f"{effect.kind} is no effect that is known")
