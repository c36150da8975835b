"""On what and with what a study was measured: machine, versions, commit, hashes of the weights."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psutil

from anovax import __version__, weights
from anovax.bench.study.backends import Backend
from anovax.config import Config
from anovax.errors import WeightsError
from anovax.planner.llamacpp import model_path
from anovax.setup.manifest import sha256_of
from anovax.sound import stt_path, wake_path


def machine() -> dict[str, Any]:
    """What a figure depends on: two studies of different machines are not compared."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "memory_gb": round(psutil.virtual_memory().total / 1e9),
        "system": platform.platform(),
    }


def versions(engines: Iterable[str]) -> dict[str, Any]:
    """Versions of AnovaX and its engines (lines of "name version"), and the commit of a clone."""
    return {"anovax": __version__, "commit": _commit(), "engines": list(engines)}


def hashes(backends: Iterable[Backend], config: Config, heard: bool, live: bool) -> dict[str, str]:
    """SHA-256 of every weight file that takes part, by file name: the planners', the recogniser's where something is
    ``heard``, and where the study is ``live`` wake word and voice as well."""
    local = (backend.planner for backend in backends if backend.planner["backend"] == "llamacpp")
    files = [model_path(planner["model"]) for planner in local]
    if heard:
        files.append(stt_path(config) / "model.bin")
    if live:
        files += [wake_path(config), weights.find(f"tts/{config.tts.voice}")]
    return {path.name if path.name != "model.bin" else f"{path.parent.name}/{path.name}": _hash(path) for path in files}


def load() -> dict[str, Any]:
    """How busy the machine was just now, and when that was."""
    return {"started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "load_average": psutil.getloadavg()[0]}


def _hash(path: Path) -> str:
    try:
        return sha256_of(path)
    except OSError as error:
        raise WeightsError(f"{path} cannot be read ({error.strerror})", "run: anovax models verify") from None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _commit() -> str:
    """The clone's commit, with "+" when files differ from it; empty outside a clone."""
    folder = Path(__file__).parent
    try:
        said = [
            subprocess.run(["git", "-C", str(folder), *call], capture_output=True, text=True, check=True, timeout=10)
            for call in (("rev-parse", "--short", "HEAD"), ("status", "--porcelain", "--untracked-files=no"))
        ]
    except (OSError, subprocess.SubprocessError):
        return ""
    return said[0].stdout.strip() + ("+" if said[1].stdout.strip() else "")
