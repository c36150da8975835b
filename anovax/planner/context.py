"""What of memory and desktop the model sees with a request: only what the request refers to, bounded, as JSON data."""

from __future__ import annotations

import json
import re
from typing import Any

from anovax.plan import Context, PastTurn
from anovax.planner.schema import write_compact
from anovax.tool import Toolbox

MAX_TURN = 120  # characters of an earlier request and its plan
# What points at something outside the request. Reading it costs about 40 ms a token, so it is only read when needed.
_THING = re.compile(r"\b(?:it|its|that|this|these|those|them|there|here|current|active|open one)\b", re.IGNORECASE)
_BEFORE = re.compile(
    r"\b(?:again|repeat|same|once more|another time|what did i|did i just|i (?:just )?(?:said|asked|meant)|instead"
    r"|no,?)\b",
    re.IGNORECASE,
)
_OTHER = re.compile(r"\b(?:other|previous|last|back|former|earlier|second one|first one)\b", re.IGNORECASE)


def entries(text: str, context: Context, tools: Toolbox) -> str:
    """Entries of the prompt's JSON object to stand before the request ``text``; "" when it stands for itself."""
    thing, before, other = (bool(pattern.search(text)) for pattern in (_THING, _BEFORE, _OTHER))
    turns = (
        "".join(_turn(turn, tools) for turn in context.turns[-2 if before else -1 :])
        if thing or before or other
        else ""
    )
    seen: dict[str, Any] = {}
    if (thing or other) and context.focus:
        seen["focus"] = context.focus.name[:40]
    if thing or other:
        seen["apps"] = [name[:24] for name in context.recent_apps[:3]]
    if other:
        seen["windows"] = [window.name[:32] for window in context.windows[:4]]
    seen["notes"] = [fact[:100] for fact in context.facts[:2]]
    seen = {key: value for key, value in seen.items() if value}
    return turns + (f'"#":{_dump(seen)},\n' if seen else "")


def _turn(turn: PastTurn, tools: Toolbox) -> str:
    entry = f"{_dump(turn.heard[:80])}:{write_compact(turn.plan, tools)}"
    return entry + ",\n" if len(entry) <= MAX_TURN else ""


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
