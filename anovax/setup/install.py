"""From a clone to an environment in which the assistant runs: .venv, the locked requirements, the project itself.

Used by ``scripts/start.py`` and ``scripts/test.py``. Standard library only. What has been installed is remembered in
``.venv/anovax.json``, so that a second start only looks.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterable, Iterator
from pathlib import Path

from anovax.files import write_atomically
from anovax.setup import bundle
from anovax.setup.manifest import Reporter, sha256_of
from anovax.setup.sources import reachable
from anovax.setup.wheel_parts import pip_indexes
from anovax.setup.wheelhouse import (
    LLAMA,
    RUNTIME_LOCK,
    TEST_LOCK,
    InstallError,
    llama_wheel,
    lock_entries,
    run_pip,
    write_requirements,
)

STAMP = "anovax.json"
# Compiled when first imported, which is a tenth of them. Some packages forbid a newer Python that they run on well: the
# lock is what was tested.
INSTALL = ("--no-compile", "--no-deps", "--ignore-requires-python")


class Steps:
    """Announces each step, and how long it took."""

    def __init__(self, report: Reporter) -> None:
        self._report = report
        self._number = 0

    @contextlib.contextmanager
    def step(self, title: str) -> Iterator[None]:
        """One step of the set-up."""
        self._number += 1
        self._report.note(f"[{self._number}] {title}")
        started = time.monotonic()
        yield
        self._report.note(f"    done in {time.monotonic() - started:.1f} s")


class Environment:
    """``.venv`` of the clone at ``root``. ``given`` is a bundle to install from instead of the network."""

    def __init__(self, root: Path, report: Reporter, given: Path | None = None) -> None:
        self.root, self._report, self._given = root, report, given
        self.folder = root / ".venv"
        windows = sys.platform == "win32"
        self.bin = self.folder / ("Scripts" if windows else "bin")
        self.python = self.bin / ("python.exe" if windows else "python")

    def ready(self, lock: str) -> bool:
        """Whether ``lock``, as it is now, is installed together with this version of the project."""
        try:
            stamp = json.loads((self.folder / STAMP).read_text("utf-8"))
        except (OSError, ValueError):
            return False
        return self.facts(lock).items() <= stamp.items() and self.python.exists()

    def make(self, lock: str, steps: Steps) -> None:
        """Bring the environment up to ``lock``. Raises InstallError in one sentence."""
        if self._given:
            with steps.step(f"Checking the bundle {self._given}"):
                self._check_bundle(self._given, lock)
        with steps.step(f"Making the environment {self.folder}"):
            self._venv()
        with steps.step(f"Installing {len(lock_entries(self.root / lock))} locked packages"):
            self._from_bundle(self._given) if self._given else self._from_index(lock)
        with steps.step("Installing the project"):
            self._pip("install", "--no-deps", "--no-index", "--no-build-isolation", "--editable", str(self.root))
        stamp = self.facts(lock)
        if lock == TEST_LOCK:  # it holds the other one
            stamp |= self.facts(RUNTIME_LOCK)
        write_atomically(self.folder / STAMP, json.dumps(stamp, indent=1))

    def facts(self, lock: str) -> dict[str, str]:
        return {
            lock: sha256_of(self.root / lock),
            "python": ".".join(map(str, sys.version_info[:2])),
            "project": sha256_of(self.root / "pyproject.toml"),
            "root": str(self.root),
        }

    def _venv(self) -> None:
        here = list(sys.version_info[:2])
        ask = "import pip, sys; print(list(sys.version_info[:2]))"
        usable = self.python.exists() and _output([str(self.python), "-c", ask]) == str(here)
        if not usable:
            try:
                venv.EnvBuilder(with_pip=True, clear=True, symlinks=os.name != "nt").create(self.folder)
            except (OSError, subprocess.CalledProcessError) as error:
                raise InstallError(
                    f"The environment {self.folder} could not be made ({error})",
                    "check that you may write there and that Python's venv module is complete (python3-venv on Debian)",
                ) from error

    def _from_index(self, lock: str) -> None:
        indexes = pip_indexes(self._pip_command())
        if indexes and not any(map(reachable, indexes)):
            raise InstallError(
                "The Python package index cannot be reached",
                "connect this machine, or make a bundle elsewhere with 'python3 scripts/fetch_models.py --bundle FILE' "
                "and start with --from FILE",
            )
        entries = lock_entries(self.root / lock)
        entries.pop(LLAMA)
        wanted = write_requirements(entries.values(), self.folder / "wanted.txt")
        self._pip("install", *INSTALL, "--use-pep517", "--require-hashes", "--requirement", str(wanted))
        wanted.unlink()
        self._install_wheels([llama_wheel(self._pip_command(), self._report)])

    def _check_bundle(self, given: Path, lock: str) -> None:
        bundle.check(given)
        info = bundle.read_info(given)
        info.refuse_unfit()
        if info.locks.get(lock) != sha256_of(self.root / lock):
            raise InstallError(
                f"The bundle {given} does not hold the wheels of this clone's {lock}",
                "make it again from the same version of the project" + (" with --tests" if lock == TEST_LOCK else ""),
            )

    def _from_bundle(self, given: Path) -> None:
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            self._install_wheels(bundle.extract_wheels(given, bundle.read_info(given), Path(folder)))

    def _install_wheels(self, wheels: Iterable[Path]) -> None:
        self._pip("install", *INSTALL, "--no-index", *map(str, wheels))

    def _pip_command(self) -> list[str]:
        return [str(self.python), "-m", "pip"]

    def _pip(self, *arguments: str) -> None:
        command = [*self._pip_command(), "--disable-pip-version-check", "--no-input", "--quiet", *arguments]
        log = self.folder / "pip.log"
        if problem := run_pip(command, log, self._report):
            raise InstallError(f"pip could not install ({problem})", f"see {log}, mend it and start again")


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""
