"""MemoryAgent: remembers, recalls and forgets facts."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from anovax.tool import Agent, Done, Risk, StepContext, ToolArgs, Undo, tool


class RememberArgs(ToolArgs):
    fact: str = Field(description="the fact in the user's words", min_length=1, max_length=1000)


class RecallArgs(ToolArgs):
    query: str = Field(description="what the user wants to know about themselves or what they asked to remember", min_length=1, max_length=300)


class MemoryAgent(Agent):
    ttl_s: ClassVar[float] = 5.0
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset({"facts"})

    @tool(risk=Risk.STORE, description="keep a fact for later", label="Remember {fact}", undo=Undo.REVERSIBLE, args=RememberArgs)
    def remember(self, args: RememberArgs, step: StepContext) -> Done:
        raise NotImplementedError

    @tool(
        risk=Risk.READ,
        description="look up what the user told you earlier",
        label="Recall {query}",
        undo=Undo.NOTHING_TO_UNDO,
        args=RecallArgs,
        locks=frozenset(),
        retries=1,
        core=False,
    )
    def recall(self, args: RecallArgs, step: StepContext) -> Done:
        raise NotImplementedError

    @tool(risk=Risk.STORE, description="forget a remembered fact", label="Forget {query}", undo=Undo.REVERSIBLE, args=RecallArgs)
    def forget(self, args: RecallArgs, step: StepContext) -> Done:
        raise NotImplementedError
