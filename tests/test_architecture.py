"""The rules of the house, read from the code: who may import whom, who approves plans, what importing may do."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import anovax

ROOT = Path(anovax.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

ANYBODY = {"config", "errors", "events", "files", "anovax"}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "events": set(),
    "files": set(),
    "config": {"errors"},
    "bus": {"events"},
    "step_context": {"errors"},
    "tool": {"errors", "step_context"},
    "plan": {"tool", "errors"},
    "private": set(),
    "calls": {"tool", "errors"},
    "jobs": {"plan", "tool"},
    "orchestrator": {"plan", "tool", "bus", "calls", "jobs"},
    "repair": {"plan", "tool"},
    "recovery": {"plan", "tool", "repair"},
    "reply": {"plan", "tool", "repair"},
    "consent": {"bus", "plan", "tool", "visible"},
    "memory": {"plan", "tool", "facts", "private", "recall"},
    "record": {"plan"},
    "journal": {"bus", "plan", "private", "record", "recordings"},
    "request": {"plan", "tool", "repair"},
    "turn": {
        "planner", "safety", "orchestrator", "recovery", "repair", "memory", "plan", "bus", "tool", "consent", "reply",
        "request",
    },
    "turns": {"turn", "tool", "request"},
    "safety": {"plan", "tool", "private", "safety"},
    "planner": {"plan", "tool", "planner", "weights"},
    "setup": {"setup", "weights"},
    "weights": {"setup"},
    "agents": {"tool", "desktop", "private", "places"},
    "desktop": {"tool", "desktop"},
    "voice": {"bus", "tool", "voice"},
    "training": {"voice", "bench", "training"},
    "companion": {"bus", "companion"},
}  # fmt: skip
HEAVY = {
    "llama_cpp", "faster_whisper", "ctranslate2", "piper", "openwakeword", "pyautogui", "onnxruntime", "sounddevice",
    "Xlib", "mss", "cv2", "rapidocr_onnxruntime", "matplotlib", "av", "onnx", "pyworld", "hibari",
}  # fmt: skip


def part_of(path: Path) -> str:
    """agents/app.py -> agents; turn.py -> turn."""
    relative = path.relative_to(ROOT)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            if node.module == "anovax":  # from anovax import weights
                yield from (f"anovax.{alias.name}" for alias in node.names if not alias.name.startswith("_"))


def top_level(tree: ast.Module) -> Iterator[str]:
    """Modules imported when this one is: not those inside functions or behind TYPE_CHECKING."""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from imports(node)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_forbidden_arrow(path: Path) -> None:
    part = part_of(path)
    allowed = MAY_IMPORT.get(part)
    if allowed is None:
        return  # the edges: cli, commands, app and what they wire
    used = {name.split(".")[1] for name in imports(ast.parse(path.read_text("utf-8"))) if name.startswith("anovax.")}
    assert used <= allowed | ANYBODY, f"{part} imports {sorted(used - allowed - ANYBODY)}"


@pytest.mark.parametrize("folder", ["agents"])
def test_siblings_do_not_import_each_other(folder: str) -> None:
    for path in (ROOT / folder).glob("*.py"):
        names = [name for name in imports(ast.parse(path.read_text("utf-8"))) if name.startswith(f"anovax.{folder}.")]
        assert not names, f"{path.name} imports {names}"


def test_only_safety_approves_plans() -> None:
    for path in FILES:
        if part_of(path) == "safety":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                assert called != "ApprovedPlan", f"{path} builds an ApprovedPlan"
            if isinstance(node, ast.ClassDef) and path.name != "plan.py":
                bases = {getattr(base, "id", getattr(base, "attr", "")) for base in node.bases}
                assert "ApprovedPlan" not in bases, f"{path} subclasses ApprovedPlan"
            assert not (isinstance(node, ast.alias) and node.name == "_SEAL"), f"{path} takes the seal"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_heavy_libraries_are_imported_where_a_part_is_built(path: Path) -> None:
    heavy = {name.split(".")[0] for name in top_level(ast.parse(path.read_text("utf-8")))} & HEAVY
    assert not heavy, f"{path} imports {heavy} at its top"


def test_importing_everything_does_nothing(tmp_path: Path) -> None:
    """No output, thread, file, heavy library or socket: in a fresh interpreter, with an audit of what it does."""
    modules = [".".join(("anovax", *path.relative_to(ROOT).with_suffix("").parts)) for path in FILES]
    modules = [name.removesuffix(".__init__") for name in modules if not name.endswith("__main__")]
    code = (
        "import sys, threading, importlib\n"
        "def watch(event, args):\n"
        "    if event in ('socket.connect', 'subprocess.Popen', 'os.mkdir', 'os.rename', 'os.remove'):\n"
        "        raise SystemExit(f'importing did {event} {args}')\n"
        "    if event == 'open' and isinstance(args[1], str) and set('wax+') & set(args[1]):\n"
        "        raise SystemExit(f'importing opened {args[0]} for writing')\n"
        "sys.dont_write_bytecode = True\n"
        "sys.addaudithook(watch)\n"
        f"for name in {modules!r}:\n"
        "    importlib.import_module(name)\n"
        "assert threading.active_count() == 1, threading.enumerate()\n"
        f"loaded = set(sys.modules) & {HEAVY!r}\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def test_no_file_is_a_drawer() -> None:
    forbidden = {"utils", "util", "helpers", "helper", "manager", "core", "common", "misc"}
    assert not [path for path in FILES if path.stem in forbidden]
