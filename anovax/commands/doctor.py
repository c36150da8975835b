"""doctor: what works on this machine, what does not, and the fix. And the versions of all engines."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Literal

import typer
from pydantic import BaseModel, ConfigDict

from anovax import weights
from anovax.commands.output import JSON_OPTION, emit
from anovax.commands.settings import what_leaves
from anovax.config import Config, load_config
from anovax.errors import AnovaxError, AudioError, DesktopError, WeightsError

ENGINES = ("faster-whisper", "ctranslate2", "openwakeword", "llama-cpp-python", "outlines", "llguidance", "piper-tts")
MEMORY_NEEDED = {"qwen2.5-coder-1.5b": 2.3, "qwen2.5-coder-0.5b": 1.3}


class Finding(BaseModel):
    """One line of the report."""

    model_config = ConfigDict(frozen=True)

    part: str
    state: Literal["ok", "warning", "missing"]
    detail: str
    fix: str = ""


def register(app: typer.Typer) -> None:
    app.command()(doctor)


def doctor(
    record: bool = typer.Option(True, "--record/--no-record", help="Record two seconds and play a beep."),
    json_only: bool = JSON_OPTION,
) -> None:
    """What works on this machine, what does not, and the fix. Example: anovax doctor"""
    bad = 0
    for finding in examine(load_config(), record):
        bad += finding.state == "missing"
        if json_only:
            emit(finding.model_dump())
            continue
        mark = {"ok": "✓", "warning": "!", "missing": "✗"}[finding.state]
        fix = f"\n    → {finding.fix}" if finding.fix else ""
        typer.echo(f"{mark} {finding.part}: {finding.detail}{fix}")
    raise typer.Exit(1 if bad else 0)


def versions(own: str) -> Iterator[str]:
    """AnovaX, Python and every engine with its version."""
    yield f"anovax {own}"
    yield f"python {platform.python_version()} on {platform.platform()}"
    for engine in ENGINES:
        try:
            yield f"{engine} {importlib.metadata.version(engine)}"
        except importlib.metadata.PackageNotFoundError:
            yield f"{engine} is not installed"


def examine(config: Config, record: bool) -> Iterator[Finding]:
    """Every check, one after the other; a check that cannot be made says why."""
    yield from _weights(config)
    yield _memory(config)
    yield _checked("display", lambda: _display(config))
    yield from _sound(config, record)
    yield _checked("folder for our files", lambda: _folder(config))
    leaves = what_leaves(config)
    yield Finding(part="leaves this machine", state="ok" if leaves == "nothing" else "warning", detail=leaves)


def _checked(part: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(part=part, state="ok", detail=check())
    except AnovaxError as error:
        return Finding(part=part, state="missing", detail=error.problem, fix=error.fix)


def _weights(config: Config) -> Iterator[Finding]:
    wanted = [f"stt/{config.stt.model}", f"tts/{config.tts.voice}", f"wake/{config.wake.word}", "wake/features"]
    if config.planner.backend == "llamacpp":
        wanted.append(f"planner/{config.planner.model}")
    for model in wanted:
        yield _checked(model, lambda name=model: str(weights.find(name)))  # type: ignore[misc]


def _memory(config: Config) -> Finding:
    import psutil

    needed = MEMORY_NEEDED.get(config.planner.model, 1.0) if config.planner.backend == "llamacpp" else 0.5
    free = psutil.virtual_memory().available / 1e9
    if free < needed:
        fix = "close other programs, or use the small planner: ANOVAX_PLANNER__MODEL=qwen2.5-coder-0.5b"
        detail = f"{free:.1f} GB are free, {needed} GB are needed"
        return Finding(part="memory", state="warning", detail=detail, fix=fix)
    return Finding(part="memory", state="ok", detail=f"{free:.1f} GB are free")


def _display(config: Config) -> str:
    from anovax.desktop import build

    with build(config.desktop) as desktop:
        if desktop.notice:
            raise DesktopError(desktop.notice)
        focus = desktop.focused()
        return f"{desktop.platform}, {len(desktop.windows())} windows, focus on {focus.name if focus else 'none'}"


def _folder(config: Config) -> str:
    try:
        config.data_dir.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(config.data_dir).free / 1e9
    except OSError as error:
        problem = f"{config.data_dir} cannot be used: {error.strerror}"
        raise WeightsError(problem, "set data_dir, or ANOVAX_DATA_DIR") from None
    return f"{config.data_dir}, {free:.1f} GB free"


def _sound(config: Config, record: bool) -> Iterator[Finding]:
    if sys.platform == "linux" and not shutil.which("pactl"):
        fix = "install pulseaudio-utils"
        yield Finding(part="sound server", state="warning", detail="pactl was not found", fix=fix)
    try:
        from anovax.sound import check_sound_hardware
        from anovax.voice.soundcheck import described

        if record:
            for part, detail, fix in described(check_sound_hardware(config)):
                yield Finding(part=part, state="warning" if fix else "ok", detail=detail, fix=fix)
    except AudioError as error:
        yield Finding(part="sound", state="missing", detail=error.problem, fix=error.fix)
