"""BrowserAgent: opens addresses and searches in the default browser."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from anovax.tool import KB_MOUSE, Agent, Done, Risk, StepContext, ToolArgs, Undo, tool


class WebSearchArgs(ToolArgs):
    query: str = Field(description="what to look for", min_length=1, max_length=500)


class OpenUrlArgs(ToolArgs):
    url: str = Field(description="web address, such as wikipedia.org", min_length=1, max_length=2000)


class BrowserAgent(Agent):
    ttl_s: ClassVar[float] = 25.0
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset({KB_MOUSE})

    @tool(risk=Risk.OPEN, description="search the web", label="Search for {query}", undo=Undo.REVERSIBLE, args=WebSearchArgs)
    def web_search(self, args: WebSearchArgs, step: StepContext) -> Done:
        raise NotImplementedError

    @tool(risk=Risk.OPEN, description="open a web address or a well-known site", label="Go to {url}", undo=Undo.REVERSIBLE, args=OpenUrlArgs)
    def open_url(self, args: OpenUrlArgs, step: StepContext) -> Done:
        raise NotImplementedError
