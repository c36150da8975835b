"""What the documentation shows is true: code runs, commands exist, settings load, sentences come from the code."""

from __future__ import annotations

import ast
import asyncio
import configparser
import contextlib
import importlib.metadata
import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main

from anovax.bench.accuracy import Score, read_cases
from anovax.bus import Bus
from anovax.cli import app
from anovax.commands import bench
from anovax.commands.doctor import MEMORY_NEEDED
from anovax.commands.live import can_be_typed
from anovax.commands.settings import reference
from anovax.config import Config, OrchestratorConfig, SafetyConfig, load_config
from anovax.orchestrator import Budget, Orchestrator, Run
from anovax.plan import MAX_AGENTS, MAX_LEVELS, MAX_STEPS, Context, Failure, Plan, PlanRequest, Status, World
from anovax.planner.chain import FirstOf
from anovax.planner.fastpath import FastPath
from anovax.planner.prompt import prefix
from anovax.planner.protocol import Planner
from anovax.planner.schema import compact_schema
from anovax.reply import reply
from anovax.safety import ApprovedPlan, Safety
from anovax.setup.manifest import Manifest
from anovax.tool import AgentParts, CancelFlag, Risk, WindowRef, discover

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def text_of(page: Path) -> str:
    return page.read_text("utf-8")


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of one language ("" for those without)."""
    return re.findall(rf"^```{language}\n(.+?)^```", text_of(page), re.S | re.M)


def test_the_configuration_reference_is_what_the_command_prints() -> None:
    same = text_of(DOCS / "configuration.md") == reference()
    assert same, "write it anew: anovax config reference > docs/configuration.md"


@pages
def test_toml_blocks_load(page: Path, tmp_path: Path) -> None:
    for number, block in enumerate(blocks(page, "toml")):
        file = tmp_path / f"{number}.toml"
        file.write_text(block, "utf-8")
        load_config(file)


# --- command lines ----------------------------------------------------------------------------------------------------


def command_lines(page: Path) -> list[str]:
    """Every ``anovax …`` in a block of commands or in backticks, without comments, pipes and redirections."""
    text = text_of(page)
    shown = [line for block in re.findall(r"^```(?:sh)?\n(.+?)^```", text, re.S | re.M) for line in block.splitlines()]
    prose = re.sub(r"^```.+?^```", "", text, flags=re.S | re.M)
    shown += re.findall(r"`((?:[A-Z_]+=\S+ )*anovax(?: [^`\n]+)?)`", prose)
    found = []
    for line in shown:
        words = shlex.split(line, comments=True)
        if "anovax" in words:
            words = words[words.index("anovax") + 1 :]
            end = next((n for n, word in enumerate(words) if word in ("|", "<", ">", "&&", "·", "…")), len(words))
            found.append(shlex.join(words[:end]))
    return found


def parsed(line: str) -> None:
    """Parse a command line with the real commands, down to the last option, without running it."""
    command: Any = typer.main.get_command(app)
    context, words = None, shlex.split(line)
    while True:
        context = command.make_context(command.name, words, parent=context)
        rest = [*context._protected_args, *context.args]
        if not hasattr(command, "resolve_command") or not rest:
            return
        _, command, words = command.resolve_command(context, rest)


@pages
def test_command_lines_are_what_the_program_understands(page: Path) -> None:
    for line in command_lines(page):
        try:
            parsed(line)
        except typer.Exit:  # --version and --help end the parsing
            continue
        except Exception as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                continue
            raise AssertionError(f"{page.name}: anovax {line}: {error}") from error


def test_a_wrong_command_line_would_be_noticed() -> None:
    for line in ("listen", "plan --nonsense", "bench accuracy --modell x", "devices revoke x", "config tell"):
        with pytest.raises(Exception, match=r"(?i)no such|unexpected|missing"):
            parsed(line)


# --- what can I say ---------------------------------------------------------------------------------------------------


def sayings() -> list[tuple[str, tuple[str, ...]]]:
    """The rows of the tables of everyday-use.md: what is said, and the tools that the plan shall have."""
    rows = re.findall(r"^\| ([^|]+) \| (`.+?`|words) \|$", text_of(DOCS / "everyday-use.md"), re.M)
    return [(said.strip(), tuple(re.findall(r"`(\w+)`", plan))) for said, plan in rows]


def test_every_saying_is_read_by_the_fast_path_as_the_page_tells() -> None:
    fast, safety = FastPath(discover()), Safety(discover(), SafetyConfig())
    rows = sayings()
    assert len(rows) > 30
    for said, tools in rows:
        plan = fast.read(said, Context())
        assert plan is not None, f"{said!r} is not read"
        assert tuple(step.tool for step in plan.steps) == tools, said
        assert bool(plan.say) or tools, said
        judged = safety.judge(plan, World(heard=said))
        assert judged.verdict.decision in ("approve", "notice"), f"{said!r}: {judged.verdict.reason}"
    assert {tool for _, tools in rows for tool in tools} >= set(discover().specs) - {"delegate", "undo"}


# --- examples of code -------------------------------------------------------------------------------------------------


def module_of(page: str, name: str, folder: Path) -> Path:
    """The one Python block of a page, as a module of a package in ``folder``."""
    (code,) = blocks(DOCS / page, "python")
    package = folder / "docs_examples"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / f"{name}.py").write_text(code, "utf-8")
    return package


def test_the_example_of_a_tool_is_found_planned_judged_and_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module_of("adding-a-tool.md", "disk", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        tools = discover("docs_examples")
    finally:
        for name in ("docs_examples", "docs_examples.disk"):
            sys.modules.pop(name, None)
    assert "free_space" in str(compact_schema(tools))
    assert "how much room is left on my disk" in prefix(tools)
    safety = Safety(tools, SafetyConfig())
    plan = Plan.parse({"steps": [{"tool": "free_space", "folder": str(tmp_path)}]}, tools)
    judged = safety.judge(plan)
    assert isinstance(judged, ApprovedPlan), judged.verdict
    assert tools.spec("free_space").card(plan.steps[0].args) == f"Look at the disk of {tmp_path}"
    (cls,) = tools.agents
    orchestrator = Orchestrator(tools, {"free_space": cls(AgentParts(desktop=None))}, OrchestratorConfig(), Bus())
    try:
        (outcome,) = asyncio.run(orchestrator.run(judged, Run("t", CancelFlag(), Budget(), lambda *_: None)))
    finally:
        orchestrator.close()
    assert outcome.status is Status.VERIFIED
    assert outcome.result == str(shutil.disk_usage(tmp_path).free // 10**9)
    assert reply("", plan.steps, (outcome,), tools) == f"{outcome.result} gigabytes are free."


def test_the_example_of_a_backend_plans_behind_the_fast_path(tmp_path: Path) -> None:
    package = module_of("adding-a-backend.md", "parrot", tmp_path)
    names: dict[str, Any] = {"__name__": "parrot"}
    exec(compile((package / "parrot.py").read_text("utf-8"), "adding-a-backend.md", "exec", dont_inherit=True), names)
    tools, cancel = discover(), CancelFlag()
    planner: Planner = FirstOf(FastPath(tools), names["Parrot"](Config().planner, tools))
    planned = asyncio.run(planner.plan(PlanRequest(text="colourless green ideas"), cancel))
    assert planned.plan.to_json()["steps"] == [{"tool": "type_text", "text": "colourless green ideas"}]
    assert asyncio.run(planner.plan(PlanRequest(text="what time is it"), cancel)).backend == "fastpath"
    failure = Failure(text="x", tried=())
    assert asyncio.run(planner.think(failure, cancel)).plan.say == "I can only type."
    asyncio.run(planner.ready())
    planner.close()
    planner.close()


def test_the_pages_name_files_classes_and_settings_that_exist() -> None:
    for page in PAGES:
        for path in re.findall(r"`((?:anovax|scripts|tests|models|companion)/[\w/.-]+)`", text_of(page)):
            made = path in ("anovax/agents/disk.py", "anovax/planner/parrot.py", "anovax/models", "companion/tls/")
            assert made or (ROOT / path).exists(), f"{page.name}: {path}"
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text_of(page)):
            assert (DOCS / link).exists(), f"{page.name}: {link}"


# --- tables and sentences ---------------------------------------------------------------------------------------------

EDITOR = WindowRef(id=1, app="Mousepad", title="notes.txt")
TERMINAL = WindowRef(id=2, app="XTerm", title="xterm")


def test_the_filter_judges_as_the_page_tells() -> None:
    tools = discover()
    row = r"^\| ([^|]+) \| `(\{.+?\})` \| (\w+) \| (\w*) ?\|$"
    rows = re.findall(row, text_of(DOCS / "safety-and-privacy.md"), re.M)
    assert len(rows) > 8
    for heard, step, verdict, rule in rows:
        focus = EDITOR if "(editor)" in heard else TERMINAL if "(terminal)" in heard else None
        plan = Plan.parse({"steps": [json.loads(step)]}, tools)
        world = World(heard=re.sub(r" \(.+", "", heard), focus=focus)
        found = Safety(tools, SafetyConfig()).judge(plan, world).verdict
        assert (found.decision.value, found.rule) == (verdict, rule), f"{heard}: {found}"


def test_the_bounds_that_the_pages_name_are_those_of_the_code() -> None:
    page = text_of(DOCS / "safety-and-privacy.md")
    config = Config()
    bounds = (MAX_STEPS, MAX_LEVELS, MAX_AGENTS, config.orchestrator.workers, config.recovery.turns)
    steps, levels, agents, workers, turns = bounds
    for said in (f"{steps} steps", f"{levels} levels", f"{agents} agents", f"{workers} at once", f"{turns} turns"):
        assert said in page, said
    assert f"lapses after {config.safety.consent_s:g} seconds" in " ".join(page.split())
    assert f"for {config.journal.keep_days} days" in " ".join(page.split())
    assert all(tier.value in page for tier in Risk)


def test_the_licences_are_those_of_the_manifest_and_of_the_packages() -> None:
    page = text_of(DOCS / "licences.md")
    manifest = Manifest.load()
    for model in manifest.models:
        profiles = ", ".join(name for name in ("default", "small") if model.id in manifest.profiles[name])
        row = f"| `{model.id}` | {model.title} | {model.bytes / 1e6:,.1f} MB | {model.licence} | {profiles}"
        assert f"{row.rstrip()} |" in page, row
    rows = dict(re.findall(r"^\| ([\w-]+) \| [^|]+ \| ([^|]+) \|$", page, re.M))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["bench"], *extras["train"]]
    assert {re.split(r"[^\w-]", need)[0] for need in wanted} <= set(rows)
    for name, licence in rows.items():
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            known = importlib.metadata.metadata(name).get("License-Expression")
            assert known in (None, licence), f"{name}: {known}"


def test_every_benchmark_is_on_its_page() -> None:
    page = text_of(DOCS / "benchmarks.md")
    for command in bench.app.registered_commands:
        name = command.name or command.callback.__name__  # type: ignore[union-attr]
        assert f"| `anovax bench {name}" in page, name


def test_the_example_of_a_table_of_requests_is_one(tmp_path: Path) -> None:
    (block,) = [block for block in blocks(DOCS / "benchmarks.md", "") if block.startswith("text\t")]
    table = tmp_path / "requests.tsv"
    table.write_text(block, "utf-8")
    score, fast = Score(), FastPath(discover())
    for case in read_cases(table):
        plan = fast.read(case.text, Context())
        assert plan is not None
        score.add(case, {"text": case.text, "plan": plan.to_json(), "backend": "fastpath", "ms": {"plan": 0.0}})
    assert score.tools == [True] * 3
    assert score.arguments == [True] * 2


def sentences_of_the_code() -> set[str]:
    """Every text in the code, with "…" for what is filled in."""
    found = set()
    for file in (ROOT / "anovax").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = (str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
                found.add("".join(parts).rstrip(". "))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value.rstrip(". "))
    return found


def test_the_errors_that_are_explained_are_those_of_the_code() -> None:
    known = sentences_of_the_code()
    shown = re.findall(r"^\| `([^`]+)` \|", text_of(DOCS / "troubleshooting.md"), re.M)
    assert len(shown) > 25
    unknown = [sentence for sentence in shown if not _said(sentence.rstrip("."), known)]
    assert not unknown, "no part of AnovaX says: " + "\n".join(unknown)


def _said(sentence: str, known: set[str]) -> bool:
    problem, _, fix = sentence.partition("; ")
    return sentence in known or (problem in known and (not fix or fix in known))


def test_the_threads_that_are_named_are_those_of_the_code() -> None:
    named = set(re.findall(r"^\| `([\w.]+)` \| ", text_of(DOCS / "how-it-works.md"), re.M))
    made = set()
    for file in (ROOT / "anovax").rglob("*.py"):
        text = file.read_text("utf-8")
        made |= set(re.findall(r"Thread\(.*?\bname=\"([^\"]+)\"", text))
        made |= set(re.findall(r"ThreadPoolExecutor\([^)]*?(?:thread_name_prefix=|, )\"([^\"]+)\"", text))
    brief = {"audio-close", "reach", "wheel", "weights"}  # closing a device; the set-up
    assert named == made - brief, named ^ (made - brief)


def test_memory_that_is_named_is_what_doctor_wants() -> None:
    page = text_of(DOCS / "getting-started.md")
    assert all(f"{needed} GB" in page for needed in MEMORY_NEEDED.values())


def test_the_desktop_entry_and_the_service_start_a_command_that_exists() -> None:
    entry, unit = configparser.ConfigParser(interpolation=None), configparser.ConfigParser(interpolation=None)
    entry.read(ROOT / "scripts" / "anovax.desktop")
    unit.read(ROOT / "scripts" / "anovax.service")
    for line in (entry["Desktop Entry"]["Exec"], unit["Service"]["ExecStart"].removeprefix("%h/.local/bin/")):
        program, _, rest = line.partition(" ")
        assert program == "anovax"
        parsed(rest)


def test_a_service_has_no_keyboard_and_a_pipe_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with open(os.devnull) as nothing, open(reading) as pipe, open(__file__) as file:  # noqa: PTH123
        for given, expected in ((nothing, False), (file, False), (pipe, True), (None, False)):
            monkeypatch.setattr(sys, "stdin", given)
            assert can_be_typed() is expected
    os.close(writing)
