"""The record as a person reads it. Pure."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator

from anovax.record import Entry
from anovax.visible import visible

SHOWN = ("text", "decision", "rule", "tool", "status", "evidence", "error", "said", "spoken", "answer", "result", "by")


def readable(found: Iterable[Entry]) -> Iterator[str]:
    """The record as a person reads it: one line each, times in the local zone."""
    for entry in found:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.at))
        yield visible(f"{when}  {entry.turn or '-':12}  {entry.kind:16} {_summary(entry)}")


def _summary(entry: Entry) -> str:
    if entry.data is None:
        return "(redacted)"
    parts = [f"{key}: {entry.data[key]}" for key in SHOWN if entry.data.get(key)]
    if entry.kind == "PlanMade":
        parts.append(json.dumps(entry.data.get("plan", {}).get("steps", []), ensure_ascii=False))
    return "; ".join(parts)
