"""Long-term memory, measured: loading 100,000 facts, recall among them, one more, one fewer."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from anovax.bench.table import percentile
from anovax.facts import Fact, Facts

_SYLLABLES = (
    "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no nu ra re ri ro ru".split()
)
_THINGS = "name birthday car phone meeting friend number address book city key bill flight doctor dinner bike".split()


class MemoryFigures(BaseModel):
    """Milliseconds, but ``load_s`` in seconds and ``file_mb`` in megabytes."""

    model_config = ConfigDict(frozen=True)

    facts: int
    file_mb: float
    load_s: float
    recall_p50_ms: float
    recall_p99_ms: float
    remember_ms: float
    forget_ms: float


def measure(
    count: int = 100_000, queries: int = 300, progress: Callable[[int, int], None] = lambda done, of: None
) -> MemoryFigures:
    """Write ``count`` made-up facts to a temporary file and work with them."""
    chance = random.Random(7)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.choice((2, 3, 3, 4)))) for _ in range(20_000)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "facts.jsonl"
        with path.open("w", encoding="utf-8") as out:
            out.writelines(_fact(number, chance, words) for number in range(count))
        facts = Facts(path)
        load = _seconds(lambda: len(facts))
        recalls = []
        for number in range(queries):
            query = f"what is the {chance.choice(_THINGS)} of my {chance.choice(words)}"
            recalls.append(1000 * _seconds(lambda query=query: facts.recall(query)))  # type: ignore[misc]
            progress(number + 1, queries)
        return MemoryFigures(
            facts=count,
            file_mb=round(path.stat().st_size / 1e6, 1),
            load_s=round(load, 2),
            recall_p50_ms=round(percentile(recalls, 0.5), 2),
            recall_p99_ms=round(percentile(recalls, 0.99), 2),
            remember_ms=round(1000 * _seconds(lambda: facts.remember("the safe is behind the picture")), 2),
            forget_ms=round(1000 * _seconds(lambda: facts.forget("the safe is behind the picture")), 2),
        )


def _fact(number: int, chance: random.Random, words: list[str]) -> str:
    what = (
        f"my {chance.choice(words)} {chance.choice(_THINGS)} is {chance.choice(words)} {chance.choice(words)} {number}"
    )
    return Fact(id=f"{number:012x}", at=float(number), text=what).model_dump_json() + "\n"


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
