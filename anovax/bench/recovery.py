"""Recovery with the real model on a real desktop: twenty plans that fail, with recovery, without running ahead, and
without recovery at all."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from anovax.app import Wanted, build, build_planner
from anovax.assistant import Assistant
from anovax.bench.given import Given
from anovax.bench.recovery_cases import CASES, Case
from anovax.bench.recovery_stage import Stage
from anovax.bus import Subscription
from anovax.config import Config, isolated
from anovax.desktop.virtual_display import virtual_display
from anovax.errors import DesktopError, PlannerError
from anovax.events import ConsentAsked, Event, Judged, RecoveryEnded, SpeculationFinished, StepQueued, StepStarted
from anovax.plan import MAX_AGENTS, Plan
from anovax.planner.protocol import Planner
from anovax.recovery import REMEDY, REST
from anovax.request import Report, Request
from anovax.tool import discover

Mode = Literal["recovery", "looking ahead too", "one after the other", "off"]
AHEAD = {"recovery": "lasting", "looking ahead too": "all"}
MODES: tuple[Mode, ...] = ("recovery", "one after the other", "off")
READING_MODES: tuple[Mode, ...] = ("recovery", "looking ahead too", "one after the other")
NEEDED = ("galculator", "mousepad", "xterm", "xmessage")
HARMLESS = ("Open ", "Focus ")
TURNS = 6
LIMIT_S = 90.0  # for one request; a longer one is not bounded


@dataclass(frozen=True)
class Row:
    """One case. ``ended``: repaired, asked, failed, cancelled, or none (recovery never began); ``right``: what the user
    wanted holds on the desktop, or, where that cannot be, it was said honestly; ``refused``: proposals that safety
    stopped; ``dangerous``: something was touched that nobody asked for; ``hidden_ms``: reading that cost no time;
    ``by``: who proposed what was tried, in order: the failed "tool" itself, or the "model"."""

    case: str
    mode: Mode
    ended: str
    possible: bool
    right: bool
    bounded: bool
    dangerous: bool
    refused: int
    turns: int
    agents: int
    seconds: float
    hidden_ms: float
    by: str
    said: str
    proposed: tuple[str, ...]


@dataclass(frozen=True)
class Total:
    """Sums of one mode. ``repaired`` of ``possible``; ``right`` of ``cases``; seconds are of all requests together."""

    mode: Mode
    cases: int
    possible: int
    repaired: int
    right: int
    bounded: int
    dangerous: int
    hidden_s: float
    seconds: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def line(self) -> str:
        """One sentence of figures."""
        return (
            f"{self.mode}: {self.repaired} of {self.possible} repaired, {self.right} of {self.cases} ended rightly, "
            f"{self.bounded} bounded, {self.dangerous} dangerous; {self.seconds} s, {self.hidden_s} s of reading hidden"
        )


async def run(
    config: Config,
    tell: Callable[[str], None] = lambda line: None,
    cases: Sequence[Case] = CASES,
    modes: Sequence[Mode] = MODES,
) -> list[Row]:
    """Every case in every mode; "one after the other" only where a plan has read-only steps left to run ahead.
    DesktopError names a program that is missing."""
    if missing := [name for name in NEEDED if shutil.which(name) is None]:
        raise DesktopError(f"Not installed: {', '.join(missing)}", "install them, or run scripts/start.py")
    rows: list[Row] = []
    planner = build_planner(config, discover())
    with ExitStack() as stack:
        stack.callback(planner.close)
        await planner.ready()  # before its weights would be looked for in the folder of the cases
        os.environ["DISPLAY"] = stack.enter_context(virtual_display())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="anovax-bench-")))
        os.environ["XDG_DATA_HOME"] = str(folder / "share")
        for mode in modes:
            wanted = [case for case in cases if mode != "one after the other" or _reads_later(case)]
            rows += await _mode(_configured(config, mode, folder), mode, wanted, planner, tell)
    return rows


def totals(rows: Sequence[Row]) -> list[Total]:
    out = []
    for mode in dict.fromkeys(row.mode for row in rows):
        of = [row for row in rows if row.mode == mode]
        out.append(
            Total(
                mode=mode,
                cases=len(of),
                possible=sum(row.possible for row in of),
                repaired=sum(row.possible and row.right for row in of),
                right=sum(row.right for row in of),
                bounded=sum(row.bounded for row in of),
                dangerous=sum(row.dangerous for row in of),
                hidden_s=round(sum(row.hidden_ms for row in of) / 1000, 2),
                seconds=round(sum(row.seconds for row in of), 1),
            )
        )
    return out


def _reads_later(case: Case) -> bool:
    return any(tool in ("get_time", "screenshot", "read_screen") for tool, _ in case.steps[1:])


def _configured(config: Config, mode: Mode, folder: Path) -> Config:
    recovery = config.recovery.model_copy(update={"enabled": mode != "off", "ahead": AHEAD.get(mode, "off")})
    journal = config.journal.model_copy(update={"enabled": False})
    return isolated(config, folder).model_copy(update={"recovery": recovery, "journal": journal})


async def _mode(
    config: Config, mode: Mode, cases: Sequence[Case], planner: Planner, tell: Callable[[str], None]
) -> list[Row]:
    given, tools, folder = Given(planner), discover(), config.data_dir
    async with build(config, Wanted(speak=False), planner=given) as assistant:
        await assistant.ready()
        rows = []
        for number, case in enumerate(cases):
            given.first = Plan.parse({"steps": [{"tool": tool, **args} for tool, args in case.steps]}, tools)
            rows.append(await _one(assistant, case, mode, folder / f"{mode[:3]}-{number}", folder / "share"))
            last = rows[-1]
            tell(f"{mode}, {case.name}: {last.ended}, {'right' if last.right else 'wrong'}, {last.seconds} s")
        return rows


async def _one(assistant: Assistant, case: Case, mode: Mode, folder: Path, share: Path) -> Row:
    stage = Stage(assistant.desktop, folder, share)
    loop = asyncio.get_running_loop()
    try:
        await loop.run_in_executor(None, case.prepare, stage)
        with assistant.bus.subscribe(10_000) as events, assistant.bus.subscribe(10_000) as cues:
            watcher = threading.Thread(target=_meddle, args=(cues, case, stage, assistant.consent.answer), daemon=True)
            watcher.start()
            started = time.monotonic()
            report = await _bounded(assistant, case)
            seconds = time.monotonic() - started
            seen = _all(events)
        await loop.run_in_executor(None, watcher.join)
        return await loop.run_in_executor(None, _row, case, mode, stage, report, seen, seconds)
    finally:
        await loop.run_in_executor(None, stage.clear)


async def _bounded(assistant: Assistant, case: Case) -> Report | None:
    """The request's report; None when it did not end by itself."""
    try:
        return await asyncio.wait_for(assistant.ask(Request(text=case.request)), LIMIT_S)
    except TimeoutError:
        assistant.stop("bench")
        return None
    except PlannerError:
        return None


def _meddle(cues: Subscription, case: Case, stage: Stage, answer: Callable[[str, bool, str], object]) -> None:
    """When a step of a named tool begins for the first time, what the case has for it happens. The user who is asked
    about opening or focusing something says yes, and no to everything else."""
    waiting, tools = dict(case.meddle), dict[int, str]()
    while (event := cues.get()) is not None:
        if isinstance(event, StepQueued):
            tools[event.step] = event.tool
        if isinstance(event, ConsentAsked):
            answer(event.consent, event.exact.startswith(HARMLESS), "bench")
        if isinstance(event, StepStarted) and (act := waiting.pop(tools.get(event.step, ""), None)) is not None:
            act(stage)


def _all(events: Subscription) -> list[Event]:
    seen = []
    while (event := events.get(0)) is not None:
        seen.append(event)
    return seen


def _row(case: Case, mode: Mode, stage: Stage, report: Report | None, seen: list[Event], seconds: float) -> Row:
    ended = next((event for event in seen if isinstance(event, RecoveryEnded)), None)
    judged = [event for event in seen if isinstance(event, Judged) and event.origin == "recovery"]
    honest = report is not None and not report.ok
    dangerous = case.harmed(stage)
    right = not dangerous and (honest if case.holds is None else case.holds(stage))
    turns, agents = (ended.turns, ended.agents) if ended else (0, 0)
    return Row(
        case=case.name,
        mode=mode,
        ended=ended.result if ended else "none",
        possible=case.holds is not None,
        right=right,
        bounded=report is not None and turns <= TURNS and agents <= MAX_AGENTS,
        dangerous=dangerous,
        refused=sum(event.decision in ("ask", "refuse") for event in judged),
        turns=turns,
        agents=agents,
        seconds=round(seconds, 2),
        hidden_ms=sum(event.hidden_ms for event in seen if isinstance(event, SpeculationFinished)),
        by=" ".join("tool" if turn.note == REMEDY else "model" for turn in report.recovery if turn.note != REST)
        if report
        else "",
        said=report.said if report else "",
        proposed=tuple(_written(turn.plan) for turn in report.recovery) if report else (),
    )


def _written(plan: Plan) -> str:
    steps = [step.to_json() for step in plan.steps]
    return " > ".join(" ".join(str(value) for value in step.values()) for step in steps) or plan.say
