"""What the whole assistant should reach, beside what a live study measured: one table with target, figure, verdict."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from anovax.bench.study.figures import Group, number
from anovax.bench.study.rows import Folder, Row

RULES = "fastpath"
FILE = "resources.json"


class Resources(BaseModel):
    """Of one live assistant: seconds until it is ready, CPU while nobody speaks (percent of one core), and the peak of
    the process's resident memory in MB (10^6 bytes) while it was there."""

    model_config = ConfigDict(frozen=True)

    backend: str
    ready_s: float
    idle_percent: float
    peak_mb: float


@dataclass(frozen=True)
class Target:
    """``limit`` is the highest value that holds."""

    figure: str
    limit: float
    value: float
    shown: str

    def cells(self) -> list[str]:
        verdict = "not measured" if self.value != self.value else "holds" if self.value <= self.limit else "missed"
        return [self.figure, f"<= {number(self.limit)}", self.shown, verdict]


def keep(folder: Folder, one: Resources) -> None:
    """Add to resources.json; a later measurement of the same backend replaces an earlier one."""
    kept = [*(other for other in resources(folder) if other.backend != one.backend), one]
    folder.write(FILE, json.dumps([each.model_dump() for each in kept], indent=1))


def resources(folder: Folder) -> list[Resources]:
    """What is there; nothing when the study was not live."""
    try:
        found = json.loads((folder.path / FILE).read_text("utf-8"))
        return [Resources.model_validate(each) for each in found]
    except (OSError, ValueError, ValidationError):
        return []


def targets(groups: Sequence[Group], kept: Sequence[Resources]) -> list[Target]:
    """For each live backend: first effect by rules and by the model, first sound, start, idle CPU, memory."""
    found = []
    for group in (group for group in groups if group.mode == "live"):
        by_rules = Group(group.backend, group.mode, tuple(row for row in group.rows if _by_rules(row)))
        by_model = Group(group.backend, group.mode, tuple(row for row in group.rows if not _by_rules(row)))
        found.append(_time(f"{group.backend}: first effect, read by rules, p50 ms", 700, by_rules, "effect"))
        found.append(_time(f"{group.backend}: first effect, by the model, p50 ms", 2500, by_model, "effect"))
        found.append(_time(f"{group.backend}: first sound after the outcome, p50 ms", 150, group, "audio"))
    for one in kept:
        memory = 1300 if "0.5b" in one.backend.casefold() else 2300
        for figure, limit, value in (
            ("ready, s", 5.0, one.ready_s),
            ("idle, % of a core", 5.0, one.idle_percent),
            ("peak memory, MB", memory, one.peak_mb),
        ):
            found.append(Target(f"{one.backend}: {figure}", limit, value, number(value)))
    return found


def _by_rules(row: Row) -> bool:
    return row.answered_by == RULES


def _time(figure: str, limit: float, group: Group, stage: str) -> Target:
    p50 = group.quantile(stage, 0.5)
    return Target(figure, limit, p50.value, p50.shown())
