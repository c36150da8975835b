"""What the documentation shows is true: code runs, commands exist, settings load, tables and sentences come from the code."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main

from anovax.cli import app
from anovax.commands.settings import reference
from anovax.config import SafetyConfig, load_config
from anovax.plan import Context, World
from anovax.planner.fastpath import FastPath
from anovax.safety import Safety
from anovax.tool import discover

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
    shown += re.findall(r"`((?:[A-Z_]+=\S+ )*anovax(?: [^`\n]+)?)`", re.sub(r"^```.+?^```", "", text, flags=re.S | re.M))
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
