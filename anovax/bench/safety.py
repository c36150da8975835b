"""How the safety filter does: dangerous rows and 10,000 disguises of them, harmless look-alikes, and its own time."""

from __future__ import annotations

import gc
import random
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anovax.bench.mutations import mutate
from anovax.bench.shapes import Step, shapes
from anovax.bench.table import read_table
from anovax.config import SafetyConfig
from anovax.errors import UsageError
from anovax.plan import Plan
from anovax.safety import Safety
from anovax.tool import Toolbox, discover

KINDS = ("shell", "shell_obfuscated", "powershell", "url", "hotkey")
_COMMAND_LIKE = re.compile(
    r"(format|grep|egrep|echo|which|man|rm|git|curl|wget|rmdir|cat|ls|find|docker|kubectl|sudo|chmod|npm|"
    r"pip|python3?|perl|ruby|make|terraform|aws|kill|dd|tar|rsync|sed|awk|ssh|psql|mysql)\s+([-'\"./~]|"
    r"\S+ (-|['\"/])|\S+$|\S+ \S+$)"
)


@dataclass(frozen=True)
class Row:
    """One line of the table: how many of ``total`` were let through (or, for harmless ones, stopped)."""

    what: str
    total: int
    missed: int
    misses: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "total": self.total,
            "missed": self.missed,
            "share": self.missed / self.total if self.total else 0.0,
            "misses": list(self.misses),
        }


@dataclass(frozen=True)
class Report:
    """``p50_ms``, ``p99_ms``, ``max_ms``: one judgement of one plan; ``largest_p99_ms``: of the largest plans.
    ``cpu_…``: the same in processor time, which other work on the machine does not lengthen."""

    rows: tuple[Row, ...]
    p50_ms: float
    p99_ms: float
    max_ms: float
    largest_p99_ms: float
    cpu_p99_ms: float
    cpu_largest_p99_ms: float

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": [row.to_json() for row in self.rows],
            "p50_ms": self.p50_ms,
            "p99_ms": self.p99_ms,
            "max_ms": self.max_ms,
            "largest_p99_ms": self.largest_p99_ms,
            "cpu_p99_ms": self.cpu_p99_ms,
            "cpu_largest_p99_ms": self.cpu_largest_p99_ms,
        }

    def table(self, misses: int = 50) -> str:
        lines = [f"{'':44}{'plans':>8}{'wrong':>8}{'share':>9}"]
        lines.extend(
            f"{row.what:44}{row.total:>8}{row.missed:>8}{row.missed / max(1, row.total):>9.2%}" for row in self.rows
        )
        lines.append(
            f"one judgement: median {self.p50_ms:.2f} ms, p99 {self.p99_ms:.2f} ms, max {self.max_ms:.2f} ms; "
            f"largest plans: p99 {self.largest_p99_ms:.2f} ms; "
            f"processor time: p99 {self.cpu_p99_ms:.2f} ms, largest plans {self.cpu_largest_p99_ms:.2f} ms"
        )
        for row in self.rows:
            lines.extend(f"  {row.what}: {miss}" for miss in row.misses[:misses])
        return "\n".join(lines)


def read_rows(path: Path) -> list[Mapping[str, str]]:
    """A TSV of the evaluation data; ``\\n`` and ``\\t`` in its text are two characters each."""
    return [
        {**row, "text": row["text"].replace("\\n", "\n") if row.get("kind", "").startswith("shell") else row["text"]}
        for row in read_table(path, ("text",))
    ]


class _Bench:
    def __init__(self, tools: Toolbox) -> None:
        self._tools, self._safety = tools, Safety(tools, SafetyConfig())
        self.times: list[float] = []
        self.cpu: list[float] = []

    def stops(self, steps: list[Step]) -> bool:
        """Whether a plan is refused or asked about. A plan that does not even parse is refused."""
        try:
            plan = Plan.parse({"steps": steps}, self._tools)
        except UsageError:
            return True
        return self.judged(plan) in ("ask", "refuse")

    def judged(self, plan: Plan) -> str:
        start, cpu = time.perf_counter(), time.thread_time()
        verdict = self._safety.judge(plan).verdict
        self.cpu.append(1000 * (time.thread_time() - cpu))
        self.times.append(1000 * (time.perf_counter() - start))
        return verdict.decision.value

    def dangerous(self, rows: Iterable[Mapping[str, str]], rng: random.Random) -> list[Row]:
        totals: Counter[str] = Counter()
        misses: dict[str, list[str]] = {}
        for row in rows:
            for shape, steps in shapes(row["text"], row["kind"], rng):
                totals[row["kind"]] += 1
                if not self.stops(steps):
                    misses.setdefault(row["kind"], []).append(f"[{shape}] {row['text']!r}")
        return [
            Row(f"dangerous {kind} let through", totals[kind], len(misses.get(kind, [])), tuple(misses.get(kind, [])))
            for kind in totals
        ]

    def mutations(self, rows: list[Mapping[str, str]], count: int, rng: random.Random) -> Row:
        misses = []
        for _ in range(count):
            row = rng.choice(rows)
            text, names = mutate(row["text"], row["kind"], rng)
            shape, steps = rng.choice(list(shapes(text, row["kind"], rng)))
            if not self.stops(steps):
                misses.append(f"[{names}; {shape}] {text!r}")
        return Row("disguised dangerous rows let through", count, len(misses), tuple(misses))

    def harmless(self, rows: Iterable[Mapping[str, str]]) -> Row:
        plans = [(row["text"], steps) for row in rows for steps in everyday(row["text"])]
        misses = [f"{text!r} in {[step['tool'] for step in steps]}" for text, steps in plans if self.stops(steps)]
        return Row("harmless look-alikes stopped", len(plans), len(misses), tuple(misses))

    def largest(self, rows: list[Mapping[str, str]], rng: random.Random, count: int = 200) -> tuple[float, float]:
        """p99 of plans of eight steps that are as long as plans get, in ms: by the clock, and processor time."""
        before, self.times, self.cpu = (self.times, self.cpu), [], []
        for _ in range(count):
            texts = [rng.choice(rows)["text"] for _ in range(7)]
            self.stops(
                [
                    {"tool": "open_app", "name": "terminal"},
                    *({"tool": "type_text", "text": text[:1000] + "\n"} for text in texts),
                ]
            )
            self.stops(
                [
                    {"tool": "type_text", "text": ("the quick brown fox jumps over the lazy dog\n" * 220)}
                    for _ in range(8)
                ]
            )
        found = percentile(self.times, 0.99), percentile(self.cpu, 0.99)
        self.times, self.cpu = before
        return found


def everyday(text: str) -> Iterable[list[Step]]:
    """The plans that a model would make of a harmless text."""
    if _COMMAND_LIKE.match(text):
        yield [
            {"tool": "open_app", "name": "terminal"},
            {"tool": "type_text", "text": text},
            {"tool": "press_keys", "keys": "enter"},
        ]
    else:
        yield [{"tool": "web_search", "query": text}]
        yield [{"tool": "type_text", "text": text}, {"tool": "press_keys", "keys": "enter"}]
    yield [{"tool": "open_app", "name": "text editor"}, {"tool": "type_text", "text": text + "\n"}]


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def run(eval_dir: Path, mutations: int = 10_000, seed: int = 2026, tools: Toolbox | None = None) -> Report:
    """Judge everything in ``eval_dir`` (dangerous.tsv, benign_lookalikes.tsv). UsageError when a file is missing."""
    rows = [row for row in read_rows(Path(eval_dir) / "dangerous.tsv") if row["kind"] in KINDS]
    harmless = read_rows(Path(eval_dir) / "benign_lookalikes.tsv")
    bench, rng = _Bench(tools or discover()), random.Random(seed)
    gc.collect()
    result = [*bench.dangerous(rows, rng), bench.mutations(rows, mutations, rng), bench.harmless(harmless)]
    shell = [row for row in rows if row["kind"].startswith("shell")]
    largest = bench.largest(shell, rng)
    times = bench.times
    return Report(
        tuple(result),
        percentile(times, 0.5),
        percentile(times, 0.99),
        max(times),
        largest[0],
        percentile(bench.cpu, 0.99),
        largest[1],
    )
