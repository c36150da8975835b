"""What a tool declares, and how tools are found.

A tool is one method of an Agent subclass in ``anovax/agents/``, marked with ``@tool(...)``. Prompt, grammar, schema,
safety tier and companion label all derive from that declaration. The orchestrator calls the method with its parsed
arguments and a StepContext; the method returns Done, or raises ToolError / Cancelled.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from anovax.errors import AnovaxError, PlanFormatError
from anovax.step_context import CancelFlag, Done, Effect, StepContext, UndoAction, WindowRef

__all__ = [  # with what a running step deals in, so that the author of a tool needs one import
    "KB_MOUSE", "TTS", "Agent", "AgentParts", "CancelFlag", "Done", "Effect", "FactStore", "NoArgs", "Risk",
    "StepContext", "ToolArgs", "ToolSpec", "Toolbox", "Undo", "UndoAction", "Voice", "WindowRef", "discover", "tool",
]  # fmt: skip

KB_MOUSE = "kb_mouse"
TTS = "tts"


class Risk(StrEnum):
    """The tier that safety starts from. READ observes; SPEAK makes sound; STORE writes our own memory;
    OPEN starts or raises something; INPUT sends keys or clicks to whatever has the focus; META plans again."""

    READ = "read"
    SPEAK = "speak"
    STORE = "store"
    OPEN = "open"
    INPUT = "input"
    META = "meta"


class Undo(StrEnum):
    """What a tool says about taking it back, before it acts."""

    NOTHING_TO_UNDO = "nothing to undo"
    REVERSIBLE = "reversible"
    IRREVERSIBLE = "irreversible"


class ToolArgs(BaseModel):
    """Base of every tool's arguments; the field descriptions go into schema and prompt."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_max_length=10_000)


class NoArgs(ToolArgs):
    """For tools that take nothing."""


class FactStore(Protocol):
    """Long-term memory as the memory agent sees it."""

    def remember(self, fact: str, private: bool = False) -> str: ...
    def recall(self, query: str, limit: int = 5) -> tuple[str, ...]: ...
    def forget(self, query: str) -> tuple[str, ...]: ...


class Voice(Protocol):
    """Says text aloud, sentence by sentence; returns what was really spoken. Raises Cancelled when stopped."""

    def say(self, text: str, cancel: CancelFlag) -> str: ...


@dataclass(frozen=True)
class AgentParts:
    """Everything an agent may be built from; an agent takes what it needs. ``desktop`` is the anovax.desktop facade.

    ``delegate`` plans and runs a sub-goal and returns the reply text, ``undo`` takes back the last reversible step
    (None where these are off); ``config`` is the whole Config.
    """

    desktop: Any
    facts: FactStore | None = None
    voice: Voice | None = None
    delegate: Callable[[str, StepContext], Done] | None = None
    undo: Callable[[StepContext], Done] | None = None
    config: Any = None


@dataclass(frozen=True)
class ToolSpec:
    """One tool's declaration.

    ``core``: its failure sends the turn into recovery. ``idempotent`` tools alone are retried. ``read_only`` tools may
    run in parallel and speculatively. ``label`` is a format string over the arguments for the companion's card.
    ``examples``: (request, arguments) pairs for the prompt. ``looks``: the result depends on what the desktop shows at
    that moment, so a speculative run cannot stand for the real one. ``offered``: models are told of it; what is not
    comes from the fast path's rules alone, and their prompt stays as it is.
    """

    name: str
    agent: str
    description: str
    args: type[ToolArgs]
    risk: Risk
    locks: frozenset[str]
    ttl_s: float
    retries: int
    core: bool
    undo: Undo
    label: str
    method: str
    examples: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    looks: bool = False
    offered: bool = True

    @property
    def read_only(self) -> bool:
        return self.risk is Risk.READ

    @property
    def idempotent(self) -> bool:
        return self.retries > 0

    def parse(self, raw: Mapping[str, Any]) -> ToolArgs:
        """Typed arguments from plain JSON values; PlanFormatError names the first fault."""
        try:
            return self.args.model_validate(dict(raw))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "arguments"
            raise PlanFormatError(f"{self.name}: {where}: {first['msg']}", "correct the plan") from None

    def card(self, args: ToolArgs) -> str:
        """The companion's and console's one-line label for these arguments."""
        values = {key: "" if value is None else value for key, value in args}
        return " ".join(self.label.format(**values).split())


@dataclass(frozen=True)
class _Declared:
    risk: Risk
    description: str
    args: type[ToolArgs]
    label: str
    undo: Undo
    core: bool
    locks: frozenset[str] | None
    ttl_s: float | None
    retries: int | None
    name: str | None
    examples: tuple[tuple[str, Mapping[str, Any]], ...]
    looks: bool
    offered: bool


def tool(
    *,
    risk: Risk,
    description: str,
    label: str,
    undo: Undo,
    args: type[ToolArgs] = NoArgs,
    core: bool = True,
    locks: frozenset[str] | None = None,
    ttl_s: float | None = None,
    retries: int | None = None,
    name: str | None = None,
    examples: tuple[tuple[str, Mapping[str, Any]], ...] = (),
    looks: bool = False,
    offered: bool = True,
) -> Callable[[Callable[..., Done]], Callable[..., Done]]:
    """Mark a method of an Agent as a tool. What is None comes from the agent class."""

    def mark(function: Callable[..., Done]) -> Callable[..., Done]:
        function.__anovax_tool__ = _Declared(  # type: ignore[attr-defined]
            risk, description, args, label, undo, core, locks, ttl_s, retries, name, examples, looks, offered
        )
        return function

    return mark


class Agent:
    """Base of the agent classes. A subclass declares ``ttl_s``, ``retries`` and ``locks`` and has at least one tool;
    a missing declaration is an error at import."""

    ttl_s: ClassVar[float]
    retries: ClassVar[int]
    locks: ClassVar[frozenset[str]]
    specs: ClassVar[tuple[ToolSpec, ...]] = ()

    def __init__(self, parts: AgentParts) -> None:
        self.parts = parts

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for needed in ("ttl_s", "retries", "locks"):
            if not hasattr(cls, needed):
                raise TypeError(f"{cls.__name__} must declare {needed}")
        found = [(key, value.__anovax_tool__) for key, value in vars(cls).items() if hasattr(value, "__anovax_tool__")]
        if not found:
            raise TypeError(f"{cls.__name__} declares no @tool")
        cls.specs = tuple(cls._spec(method, declared) for method, declared in found)

    @classmethod
    def _spec(cls, method: str, d: _Declared) -> ToolSpec:
        return ToolSpec(
            name=d.name or method,
            agent=cls.__name__,
            description=d.description,
            args=d.args,
            risk=d.risk,
            locks=cls.locks if d.locks is None else d.locks,
            ttl_s=cls.ttl_s if d.ttl_s is None else d.ttl_s,
            retries=cls.retries if d.retries is None else d.retries,
            core=d.core,
            undo=d.undo,
            label=d.label,
            method=method,
            examples=d.examples,
            looks=d.looks,
            offered=d.offered,
        )

    def close(self) -> None:
        """Give back what the agent holds. Safe twice."""


@dataclass(frozen=True)
class Toolbox:
    """All tools that exist, by name, and the agent classes they belong to."""

    specs: Mapping[str, ToolSpec]
    agents: tuple[type[Agent], ...]

    @property
    def offered(self) -> Mapping[str, ToolSpec]:
        """Those that a model may plan."""
        return {name: spec for name, spec in self.specs.items() if spec.offered}

    def spec(self, name: str) -> ToolSpec:
        try:
            return self.specs[name]
        except KeyError:
            raise PlanFormatError(f"There is no tool {name!r}", f"use one of {', '.join(sorted(self.specs))}") from None


def discover(package: str = "anovax.agents") -> Toolbox:
    """Import every module of ``package`` and collect its agents. Two tools of one name are an error."""
    root = importlib.import_module(package)
    specs: dict[str, ToolSpec] = {}
    agents: list[type[Agent]] = []
    for info in sorted(pkgutil.iter_modules(root.__path__), key=lambda m: m.name):
        module = importlib.import_module(f"{package}.{info.name}")
        for _, cls in inspect.getmembers(module, inspect.isclass):
            if issubclass(cls, Agent) and cls.__module__ == module.__name__:
                agents.append(cls)
                for spec in cls.specs:
                    if spec.name in specs:
                        raise AnovaxError(f"Two tools are called {spec.name}", "rename one of them")
                    specs[spec.name] = spec
    return Toolbox(specs, tuple(agents))
