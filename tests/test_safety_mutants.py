"""Mutation testing of the filter's decisions: every change of a condition or a verdict must make some test fail."""

from __future__ import annotations

import ast
import copy
import importlib
import importlib.abc
import importlib.util
import inspect
import itertools
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
MODULES = (
    "finding", "judgement", "filter", "steps", "effects", "clicks", "hotkeys", "taint", "simulate", "budget", "desk",
    "places", "editors", "posix.outputs", "posix.desktop", "posix.narrow",
)  # fmt: skip
TESTS = ("test_safety_boundaries", "test_safety_decisions", "test_safety_filter", "test_safety_injection")
# The tests of modules that have their own
OWN_TESTS = dict.fromkeys(("posix.outputs", "posix.desktop", "posix.narrow"), ("test_safety_hostile",))
WEAKER = {"refuse": "ask", "ask": "notice", "notice": "ask"}
SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
# Changes that cannot change a verdict: (module, line as written) -> why
EQUIVALENT: dict[tuple[str, str], str] = {("posix.narrow", "if not text.isascii():"): "it only saves time"}
Change = Callable[[Any], None]


def mutants(tree: ast.Module) -> Iterator[tuple[int, str, ast.Module]]:
    """(line, what was changed, the changed module), one change each."""
    for index, node in enumerate(ast.walk(tree)):
        for label, change in _changes(node):
            changed = copy.deepcopy(tree)
            change(next(itertools.islice(ast.walk(changed), index, None)))
            yield getattr(node, "lineno", 0), label, ast.fix_missing_locations(changed)


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        swapped = SWAPPED[type(node.ops[0])]
        yield f"{type(node.ops[0]).__name__} -> {swapped.__name__}", lambda n: n.ops.__setitem__(0, swapped())
    if isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield f"{type(node.op).__name__} -> {other.__name__}", lambda n: setattr(n, "op", other())
    if isinstance(node, ast.If) and ast.unparse(node.test) != "TYPE_CHECKING":
        yield "if -> never", lambda n: setattr(n, "test", ast.Constant(False))
        yield "if -> always", lambda n: setattr(n, "test", ast.Constant(True))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WEAKER:
        yield f"{node.func.id} -> {WEAKER[node.func.id]}", lambda n: setattr(n.func, "id", WEAKER[n.func.id])


def path_of(module: str) -> Path:
    return ROOT / "anovax" / "safety" / f"{module.replace('.', '/')}.py"


def survivors(module: str, folder: Path) -> Iterator[str]:
    source = path_of(module).read_text(encoding="utf-8")
    lines = source.splitlines()
    # names that a changed verdict needs may not be imported where it stands
    names = "" if module == "finding" else "\nfrom anovax.safety.finding import ask, notice, refuse\n"
    for line, label, tree in mutants(ast.parse(source)):
        text = ast.unparse(tree).replace("from __future__ import annotations", "", 1)
        mutant = folder / f"{module}.py"
        mutant.write_text(f"from __future__ import annotations{names}{text}", encoding="utf-8")
        if (module, lines[line - 1].strip()) not in EQUIVALENT and survives(module, mutant):
            yield f"{module}.py:{line} {label}: {lines[line - 1].strip()}"


def survives(module: str, mutant: Path) -> bool:
    """Whether all tests pass with the mutant in the module's place; in a child process, so that nothing is left."""
    child = os.fork()
    if not child:
        signal.alarm(60)
        code = 1
        try:
            _run_all(f"anovax.safety.{module}", mutant, OWN_TESTS.get(module, TESTS))
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _run_all(name: str, path: Path, tests: tuple[str, ...]) -> None:
    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, fullname: str, *_: Any) -> Any:
            return importlib.util.spec_from_file_location(fullname, path) if fullname == name else None

    for loaded in [key for key in sys.modules if key.startswith(("anovax.safety", "test_safety_"))]:
        del sys.modules[loaded]
    sys.meta_path.insert(0, Finder())
    sys.path.insert(0, str(ROOT / "tests"))
    for test in tests:
        for call in _calls(importlib.import_module(test)):
            call()


def _calls(module: ModuleType) -> Iterator[Callable[[], None]]:
    """The test functions of a module with all their parameters; those that need fixtures are left out."""
    for name, function in inspect.getmembers(module, inspect.isfunction):
        marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]
        sets = [[_named(mark.args[0], values) for values in mark.args[1]] for mark in marks]
        for combined in itertools.product(*sets):
            given = {key: value for part in combined for key, value in part.items()}
            if name.startswith("test_") and set(inspect.signature(function).parameters) == set(given):
                yield lambda function=function, given=given: function(**given)


def _named(names: Any, values: Any) -> dict[str, Any]:
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    return dict(zip(names, values if len(names) > 1 else (values,), strict=True))


@pytest.mark.full
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("module", MODULES)
def test_no_mutant_survives(module: str, tmp_path: Path) -> None:
    assert survives(module, path_of(module)), "the tests must pass before anything is changed"
    assert list(survivors(module, tmp_path)) == []
