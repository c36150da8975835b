"""One request to one backend, stage by stage: speech to text, plan, safety, dispatch with agents that do nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from anovax.bench.accuracy import Case, key_right, match
from anovax.bench.latency_stt import Recogniser, word_errors
from anovax.bench.study.energy import Energy
from anovax.bench.study.requests import Asked
from anovax.bench.study.rows import Row
from anovax.bus import Bus
from anovax.config import Config
from anovax.errors import AnovaxError
from anovax.orchestrator import Budget, Orchestrator, Run
from anovax.plan import Plan, PlanRequest, World
from anovax.planner.protocol import Planner
from anovax.safety import ApprovedPlan, Safety
from anovax.tool import CancelFlag, Done, StepContext, ToolArgs, Toolbox
from anovax.voice.audio import load_audio


class Nothing:
    """Stands for every agent: whatever tool is called, nothing is done."""

    def __getattr__(self, method: str) -> Callable[[ToolArgs, StepContext], Done]:
        return lambda args, step: Done(verified=True)


class Measuring:
    """Holds what all backends of a study share. ``recogniser`` may be None when no recording is asked."""

    def __init__(self, config: Config, tools: Toolbox, recogniser: Recogniser | None, energy: Energy) -> None:
        self._recogniser, self._energy = recogniser, energy
        self._safety = Safety(tools, config.safety, config.desktop.search_url)
        idle: Any = Nothing()
        self._orchestrator = Orchestrator(tools, dict.fromkeys(tools.specs, idle), config.orchestrator, Bus())

    def close(self) -> None:
        """Safe twice."""
        self._orchestrator.close()

    async def one(self, asked: Asked, planner: Planner, base: Row) -> Row:
        """``base`` with everything that was measured; what goes wrong stands in its ``error``."""
        energy, started = self._energy.read(), time.perf_counter()
        found: dict[str, Any] = {"at": round(time.time(), 3), "text": asked.text}
        try:
            text = await self._heard(asked, found)
            await self._planned(text, asked.case, planner, found)
        except AnovaxError as error:
            found["error"] = str(error)
            if asked.case is not None:
                found["tools_right"] = False  # no answer is none, even where words were expected
        found["total"] = _ms(started) + (base.load or 0.0)
        found["energy_j"] = self._energy.joules(energy)
        return base.model_copy(update=found)

    async def _heard(self, asked: Asked, found: dict[str, Any]) -> str:
        """The request's text; from its recording when it has one."""
        if asked.audio is None or self._recogniser is None:
            return asked.text
        sound = load_audio(asked.audio)
        started = time.perf_counter()
        heard = await asyncio.get_running_loop().run_in_executor(None, self._recogniser.transcribe, sound)
        found |= {"stt": _ms(started), "heard": heard.text, **words(asked.said, heard.text)}
        return heard.text

    async def _planned(self, text: str, case: Case | None, planner: Planner, found: dict[str, Any]) -> None:
        started = time.perf_counter()
        planned = await planner.plan(PlanRequest(text=text), CancelFlag())
        found |= {"plan": _ms(started), "answered_by": planned.backend}
        found |= {"sampled_tokens": planned.sampled_tokens, "forced_tokens": planned.forced_tokens}
        started = time.perf_counter()
        judged = self._safety.judge(planned.plan, World(heard=text))
        decision = judged.verdict.decision.value
        found |= {"safety": _ms(started), "decision": decision, **outline(planned.plan)}
        if case is not None:
            found |= quality(case, [] if decision == "refuse" else planned.plan.to_json()["steps"])
        if isinstance(judged, ApprovedPlan):
            started = time.perf_counter()
            await self._orchestrator.run(judged, Run("study", CancelFlag(), Budget(), lambda *effect: None))
            found["dispatch"] = _ms(started)


def outline(plan: Plan) -> dict[str, Any]:
    return {"tools": ">".join(step.tool for step in plan.steps) or "words"}


def quality(case: Case, steps: list[dict[str, Any]]) -> dict[str, bool | None]:
    """Whether tools and argument are right, as ``anovax bench accuracy`` judges them."""
    matched = match(case, steps)
    argument = key_right(case.key, matched) if matched and case.key else None
    return {"tools_right": matched is not None, "argument_right": argument}


def words(said: str, heard: str) -> dict[str, int]:
    """Word errors; nothing without the library that normalises them (the bench extra) or without a transcript."""
    if not said:
        return {}
    try:
        errors, total = word_errors(said, heard)
    except ImportError:
        return {}
    return {"word_errors": errors, "words": total}


def _ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
