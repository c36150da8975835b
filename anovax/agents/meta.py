"""MetaAgent: hands a sub-goal back to the planner, and takes back what was done."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from anovax.errors import ToolError
from anovax.tool import KB_MOUSE, Agent, Done, NoArgs, Risk, StepContext, ToolArgs, Undo, tool


class DelegateArgs(ToolArgs):
    goal: str = Field(description="a sub-goal that needs a plan of its own", min_length=1, max_length=500)


class MetaAgent(Agent):
    ttl_s: ClassVar[float] = 90.0
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset()

    @tool(
        risk=Risk.META,
        description="plan and do a larger sub-goal",
        label="Work on: {goal}",
        undo=Undo.IRREVERSIBLE,
        args=DelegateArgs,
    )
    def delegate(self, args: DelegateArgs, step: StepContext) -> Done:
        if self.parts.delegate is None:
            raise ToolError("Sub-goals are switched off here", "ask for the single steps")
        return self.parts.delegate(args.goal, step)

    @tool(
        risk=Risk.INPUT,
        description="take back the last thing that was done",
        label="Undo",
        undo=Undo.IRREVERSIBLE,
        args=NoArgs,
        locks=frozenset({KB_MOUSE}),
        ttl_s=10.0,
    )
    def undo(self, args: NoArgs, step: StepContext) -> Done:
        if self.parts.undo is None:
            raise ToolError("There is nothing to take back")
        return self.parts.undo(step)
