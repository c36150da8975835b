"""How long planning takes, as a ratio to two other ways with the same weights, requests and machine in one run.

- obvious: outlines' default call with its llguidance backend; the whole prompt each time, every token sampled;
- ready-made: llama-cpp-python's create_chat_completion with the schema as grammar and its own prefix cache;
- ours: the ``llamacpp`` backend, without the fast path.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from anovax.bench.table import percentile, read_table, table
from anovax.errors import AnovaxError, Cancelled
from anovax.plan import PlanRequest
from anovax.planner import prompt
from anovax.planner.engine import Engine, import_llama
from anovax.planner.local import Local
from anovax.planner.schema import plain_schema
from anovax.planner.threads import thread_count
from anovax.tool import CancelFlag, Toolbox

MAX_TOKENS = 220
CONTEXT = 2048
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Way:
    """Times of one way of planning, in milliseconds; ``sampled``, ``copied`` and ``forced`` tokens per plan (means)."""

    name: str
    plans: int
    p50: float
    p95: float
    sampled: float = 0.0
    copied: float = 0.0
    forced: float = 0.0


@dataclass(frozen=True)
class Report:
    """``start_s``: from mapped weights to ready with kept prompts; ``busy_ratio``: median beside one busy process to
    median alone; ``cancel_ms``: from stop to Cancelled, the worst of several."""

    ways: tuple[Way, ...]
    start_s: float
    busy_ratio: float
    cancel_ms: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def table(self) -> str:
        ours = self.ways[-1]
        rows = [
            (w.name, w.plans, w.p50, w.p95, w.p50 / ours.p50, w.p95 / ours.p95, w.sampled, w.copied, w.forced)
            for w in self.ways
        ]
        head = ("way", "plans", "p50 ms", "p95 ms", "p50 : ours", "p95 : ours", "sampled", "copied", "forced")
        rest = (
            f"ready {self.start_s:.2f} s after the weights are mapped",
            f"beside one busy process {self.busy_ratio:.2f} times as long",
            f"stopped within {self.cancel_ms:.0f} ms",
        )
        return f"{table(rows, head)}\n{'; '.join(rest)}"


def run(path: Path, tools: Toolbox, texts: Sequence[str], progress: Progress = lambda done, of: None) -> Report:
    """Measure all three ways on ``texts`` with the weights at ``path``, then start, load and stop."""
    import_llama()  # before the others: it sets how threads wait
    ready, obvious = _others(path, tools)
    local, start_s = _ours(path, tools)
    times: dict[str, list[float]] = {"obvious": [], "ready-made": [], "ours": []}
    counts: list[tuple[int, int, int]] = []
    for done, text in enumerate(texts):
        times["obvious"].append(_timed(partial(obvious, text)))
        times["ready-made"].append(_timed(partial(ready, text)))
        times["ours"].append(_timed(lambda: counts.append(_plan(local, text))))  # noqa: B023 - called at once
        progress(done + 1, len(texts))
    ways = tuple(_way(name, values, counts if name == "ours" else []) for name, values in times.items())
    report = Report(ways, start_s, busy_ratio(local, texts), max(cancel_ms(local) for _ in range(5)))
    local.close()
    return report


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def _way(name: str, values: list[float], counts: list[tuple[int, int, int]]) -> Way:
    mean = [sum(column) / len(counts) for column in zip(*counts, strict=True)] if counts else []
    return Way(name, len(values), percentile(values, 0.5), percentile(values, 0.95), *mean)


def _ours(path: Path, tools: Toolbox) -> tuple[Local, float]:
    """Loaded twice, so that the second start finds the prompts on disk."""
    with tempfile.TemporaryDirectory() as folder:
        Local(Engine(path, thread_count()), tools, Path(folder), MAX_TOKENS).close()
        engine = Engine(path, thread_count())
        started = time.perf_counter()
        local = Local(engine, tools, Path(folder), MAX_TOKENS)
        return local, time.perf_counter() - started


def _plan(local: Local, text: str) -> tuple[int, int, int]:
    _, written = local.guarded(lambda mine: mine.plan(PlanRequest(text=text)), CancelFlag())
    return written.sampled, written.copied, written.forced


def _others(path: Path, tools: Toolbox) -> tuple[Callable[[str], object], Callable[[str], object]]:
    import llama_cpp
    import outlines

    threads = thread_count()
    llama = llama_cpp.Llama(str(path), n_ctx=CONTEXT, n_threads=threads, n_threads_batch=threads, verbose=False)
    schema, system = plain_schema(tools), prompt.instructions(tools)
    generate = outlines.Generator(outlines.from_llamacpp(llama), outlines.json_schema(schema), backend="llguidance")

    def messages(text: str) -> Any:
        return [{"role": "system", "content": system}, {"role": "user", "content": text}]

    def ready(text: str) -> object:
        form: Any = {"type": "json_object", "schema": schema}
        return llama.create_chat_completion(messages(text), response_format=form, temperature=0, max_tokens=MAX_TOKENS)

    def obvious(text: str) -> object:
        llama.reset()  # type: ignore[no-untyped-call]
        return generate(outlines.inputs.Chat(messages(text)), max_tokens=MAX_TOKENS, temperature=0)

    return ready, obvious


# --- beside a busy process, and stopping -----------------------------------------------------------------------------


@contextmanager
def busy_process() -> Iterator[None]:
    """One process that never waits."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.5)  # until it is running
        yield
    finally:
        process.kill()
        process.wait()


def busy_ratio(local: Local, texts: Sequence[str]) -> float:
    alone = [_timed(partial(_plan, local, text)) for text in texts]
    with busy_process():
        beside = [_timed(partial(_plan, local, text)) for text in texts]
    return percentile(beside, 0.5) / percentile(alone, 0.5)


def cancel_ms(local: Local) -> float:
    """From stop, given while a long request is read, to the end of planning."""
    cancel, at = CancelFlag(), [0.0]

    def stop() -> None:
        at[0] = time.perf_counter()
        cancel.set()

    timer = threading.Timer(0.2, stop)
    timer.start()
    try:
        while True:
            local.guarded(lambda mine: mine.plan(PlanRequest(text="type " + "some more words " * 20)), cancel)
    except Cancelled:
        return (time.perf_counter() - at[0]) * 1000
    finally:
        timer.cancel()


def requests_of(file: Path, count: int) -> list[str]:
    """``count`` requests, evenly spread over a TSV of labelled ones."""
    lines = [row["text"] for row in read_table(file, ("text",)) if row["text"]]
    return lines[:: max(1, len(lines) // count)][:count]


def main() -> None:
    """``python -m anovax.bench.latency_plan MODEL.gguf FILE.tsv COUNT``"""
    from anovax.tool import discover

    try:
        report = run(Path(sys.argv[1]), discover(), requests_of(Path(sys.argv[2]), int(sys.argv[3])))
    except AnovaxError as error:
        sys.exit(str(error))
    print(json.dumps(report.to_json()))
    print(report.table(), file=sys.stderr)


if __name__ == "__main__":
    main()
