"""The spoken reply, built from outcomes and never from the plan's promise. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from anovax.plan import Outcome, Status, Step
from anovax.repair import Repair
from anovax.tool import Toolbox

STOPPED = "Stopped."


def reply(say: str, steps: Sequence[Step], outcomes: Sequence[Outcome], tools: Toolbox) -> str:
    """What to say after ``steps`` ended as ``outcomes``; ``say`` is the plan's own words (the answer to a question)."""
    pairs = list(zip(steps, outcomes, strict=True))
    if any(outcome.status is Status.CANCELLED for _, outcome in pairs):
        return STOPPED
    trouble = [_trouble(step, outcome, tools) for step, outcome in pairs if not outcome.status.ok]
    if trouble:
        done = [_what(step, tools) for step, outcome in pairs if outcome.status.ok]
        before = f"I did {_joined(done)}. " if done else ""
        return before + " ".join(sentence for sentence in trouble if sentence)
    return _well(say, pairs, tools)


def after_recovery(say: str, repair: Repair, steps: Sequence[Step], outcomes: Sequence[Outcome], tools: Toolbox) -> str:
    """What to say when recovery had to step in; ``steps`` and ``outcomes`` are those of the first attempt."""
    if repair.result == "cancelled":
        return STOPPED
    if repair.result == "repaired":
        return reply(say, repair.steps, repair.outcomes, tools)
    first = reply("", steps, outcomes, tools)
    return repair.say if repair.result == "asked" else " ".join(part for part in (first, repair.say) if part)


def _well(say: str, pairs: list[tuple[Step, Outcome]], tools: Toolbox) -> str:
    spoken = [outcome.say for step, outcome in pairs if outcome.say and step.tool != "speak"]
    unchecked = [
        _what(step, tools) for step, outcome in pairs if outcome.status is Status.UNVERIFIED and not outcome.say
    ]
    if unchecked:
        spoken.append(f"I did {_joined(unchecked)}, but could not check that it worked.")
    elif not spoken and not say and any(step.tool != "speak" for step, _ in pairs):
        spoken.append("Done.")
    return " ".join(part for part in (*spoken, say) if part)


def _trouble(step: Step, outcome: Outcome, tools: Toolbox) -> str:
    if outcome.status is Status.SKIPPED:
        return ""
    if outcome.status is Status.TIMED_OUT:
        return f"I gave up on {_what(step, tools)}: it took too long."
    verb = "I may not" if outcome.status is Status.REFUSED else "I could not"
    return f"{verb} {_what(step, tools)}: {outcome.error}"


def _what(step: Step, tools: Toolbox) -> str:
    label = tools.spec(step.tool).card(step.args)
    short = label if len(label) <= 80 else label[:77] + "…"
    return short[:1].lower() + short[1:]


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
