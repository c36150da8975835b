"""What the README shows is true: its example runs, its commands exist."""

from __future__ import annotations

import asyncio
import re
import secrets
import sys
import types
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from anovax import tool as tools
from anovax.bus import Bus
from anovax.cli import app
from anovax.config import OrchestratorConfig, SafetyConfig
from anovax.orchestrator import Budget, Orchestrator, Run
from anovax.plan import Plan, Status
from anovax.planner.schema import compact_schema
from anovax.safety import ApprovedPlan, Safety
from anovax.tool import Agent, AgentParts, CancelFlag, Done, Risk, StepContext, ToolArgs, Toolbox, Undo

README = Path(__file__).resolve().parents[1] / "README.md"


def example() -> type[Agent]:
    """The class of the README's "Add a tool", executed as a module of its own."""
    (code,) = re.findall(r"```python\n(.+?)```", README.read_text("utf-8"), re.S)
    module = types.ModuleType("readme_example")
    names = (Agent, ClassVar, Done, Field, Risk, StepContext, ToolArgs, Undo)
    module.__dict__.update({name.__name__: name for name in names if hasattr(name, "__name__")})
    module.__dict__.update({"ClassVar": ClassVar, "tool": tools.tool, "secrets": secrets})
    sys.modules[module.__name__] = module
    exec(compile(code, "README.md", "exec", dont_inherit=True), module.__dict__)
    agent = module.__dict__["DiceAgent"]
    assert isinstance(agent, type)
    assert issubclass(agent, Agent)
    return agent


def test_the_tool_of_the_readme_is_planned_judged_and_run() -> None:
    cls = example()
    box = Toolbox({spec.name: spec for spec in cls.specs}, (cls,))
    assert "roll_dice" in str(compact_schema(box))
    judged = Safety(box, SafetyConfig()).judge(Plan.parse({"steps": [{"tool": "roll_dice", "sides": 20}]}, box))
    assert isinstance(judged, ApprovedPlan), judged.verdict
    orchestrator = Orchestrator(box, {"roll_dice": cls(AgentParts(desktop=None))}, OrchestratorConfig(), Bus())
    run = Run("t", CancelFlag(), Budget(), lambda approved, index, effect: None)
    try:
        (outcome,) = asyncio.run(orchestrator.run(judged, run))
    finally:
        orchestrator.close()
    assert outcome.status is Status.VERIFIED
    assert 1 <= int(re.sub(r"\D", "", outcome.say)) <= 20


def test_every_command_that_the_readme_names_exists() -> None:
    known = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    known |= {group.name for group in app.registered_groups}
    named = set(re.findall(r"\banovax (\w+)", README.read_text("utf-8")))
    assert named <= known, named - known


def test_every_picture_and_file_that_the_readme_links_exists() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", README.read_text("utf-8")):
        assert (README.parent / link).exists(), link
