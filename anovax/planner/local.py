"""Planning and repairing with one loaded model. Synchronous: everything runs on the worker thread that owns the
model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from anovax.errors import PlanFormatError, PlannerError
from anovax.plan import Failure, Plan, PlanRequest
from anovax.planner import context, prompt
from anovax.planner.copying import Copying
from anovax.planner.counting import Counting
from anovax.planner.decode import Writer, Written
from anovax.planner.engine import Engine
from anovax.planner.grammar import Grammar
from anovax.planner.grounding import UNCLEAR, answering, grounded
from anovax.planner.prefix_cache import PrefixCache
from anovax.planner.schema import compact_schema, read_compact
from anovax.planner.threads import threads_now
from anovax.tool import CancelFlag, Toolbox

WORDS_BUDGET = 40  # tokens of an answer in words: two short sentences
NOTHING_HEARD = "I did not hear anything."


class Local:
    """The model with its grammar and its two prompts. ``budget``: tokens of one plan at most."""

    def __init__(self, engine: Engine, tools: Toolbox, cache_dir: Path, budget: int) -> None:
        self.engine, self.tools, self.budget = engine, tools, budget
        self.grammar = Grammar(engine, compact_schema(tools))
        self.counting = Counting(engine, tools.offered)
        self.prefixes = PrefixCache(engine, cache_dir)
        self.prefixes.use("plan", prompt.prefix(tools))
        if not self.prefixes.on_disk("think"):  # read now: a repair should not have to wait for it
            self.prefixes.use("think", prompt.think_prefix(tools))
            self.prefixes.use("plan", prompt.prefix(tools))

    def guarded(self, work: Callable[[Local], tuple[Plan, Written]], cancel: CancelFlag) -> tuple[Plan, Written]:
        """Run ``work``; a set ``cancel`` ends it within one operation of llama.cpp, with Cancelled."""
        self.engine.ready()
        unhook = cancel.on_set(self.engine.stop)
        try:
            cancel.check()
            self.engine.use_threads(threads_now(self.engine.threads))
            return work(self)
        finally:
            unhook()

    def plan(self, request: PlanRequest) -> tuple[Plan, Written]:
        line, cut = prompt.one_line(request.text)
        if not line:
            return Plan(say=NOTHING_HEARD), Written()
        self.prefixes.use("plan", prompt.prefix(self.tools))
        before = context.entries(line, request.context, self.tools)
        written = self._write(before + prompt.entry(line), line)
        written.truncated = written.truncated or cut
        plan = self._read(written)
        return grounded(plan, line, request.context, self.tools), written

    def think(self, failure: Failure) -> tuple[Plan, Written]:
        self.prefixes.use("think", prompt.think_prefix(self.tools))
        written = self._write(prompt.failure_entry(failure, self.tools), prompt.one_line(failure.text)[0], repair=True)
        plan = self._read(written)
        seen = " ".join((failure.text, *(ended for _, ended in failure.tried), *failure.observations))
        plan = grounded(plan, seen, failure.context, self.tools)
        if plan.steps and set(plan.steps) <= {
            step for step, ended in failure.tried if not ended.startswith("verified")
        }:
            return Plan(say="I tried that already, and it did not work."), written
        return plan, written

    def _write(self, entry: str, line: str, repair: bool = False) -> Written:
        """Read ``entry`` and write what follows. The count is decided first; the pass that gives it also reads what
        would follow a count of one, the commonest."""
        writer = Writer(self.engine, self.grammar.matcher(), self.budget, Copying(prompt.quoted(line)))
        writer.write(self.engine.tokenize("["))
        ahead = self.counting.ahead
        logits = writer.feed(self.engine.tokenize(entry) + ahead, want=1 + len(ahead))
        count, lean = self.counting.decide(logits[0], logits[-1], probed=not repair)
        writer.out.sampled += 1
        tokens = [self.counting.token(count), *writer.write([self.counting.token(count)])]
        if count != 1:
            self.engine.truncate(self.engine.past - len(ahead))
            logits = writer.feed(tokens)
        first = logits[-1].copy()
        if count == 0:
            writer.budget = WORDS_BUDGET
        else:
            first[self.counting.firsts] += lean
        return self._whole(writer.finish(first), count)

    def _read(self, written: Written) -> Plan:
        """The plan that was written. The grammar knows each argument, not how two depend on one another (a click
        needs a target or a place): such a plan is not understood."""
        try:
            return answering(read_compact(written.text, self.tools))
        except PlanFormatError:
            return Plan(say=UNCLEAR)

    @staticmethod
    def _whole(written: Written, count: int) -> Written:
        """Words may end with "…" when the budget does; half a plan is no plan."""
        if written.truncated and count > 0:
            raise PlannerError("The plan became too long", "ask for less at once")
        if written.truncated:
            written.text = written.text.rstrip('\\"\ufffd') + '…"]'
        return written

    def close(self) -> None:
        self.engine.close()
