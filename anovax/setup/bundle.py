"""One archive for a machine without a network: weights, wheels, and what they were made for. Standard library only.

A bundle is a plain tar file: ``bundle.json`` (a ``BundleInfo``), ``models/…`` and ``wheels/…``. Beside it lies
``NAME.sha256`` in the form that ``sha256sum --check`` reads.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Literal

from anovax import __version__, weights
from anovax.errors import UsageError, WeightsError
from anovax.files import write_atomically
from anovax.setup import system_packages as system
from anovax.setup.manifest import CHUNK, Manifest, Reporter, fetch_command, sha256_of
from anovax.setup.wheel_parts import pip_command
from anovax.setup.wheelhouse import RUNTIME_LOCK, TEST_LOCK, InstallError, collect, cpu_flags, lock_path
from anovax.weights import Shelf

INFO = "bundle.json"
Extent = Literal["weights", "run", "tests"]
LOCKS: dict[Extent, tuple[str, ...]] = {"weights": (), "run": (RUNTIME_LOCK,), "tests": (RUNTIME_LOCK, TEST_LOCK)}


@dataclass(frozen=True)
class BundleInfo:
    """What a bundle holds and which machines it fits. ``wheels``: SHA-256 by file name; ``locks``: by lock name."""

    version: str
    models: tuple[str, ...]
    wheels: dict[str, str]
    locks: dict[str, str]
    python: str
    machine: str
    system: str
    libc: str
    cpu: tuple[str, ...]
    system_packages: tuple[dict[str, str], ...]

    def refuse_unfit(self) -> None:
        """Raise InstallError when the wheels cannot run here: another Python, machine, or a lesser processor."""
        here = (_python(), platform.machine(), platform.system())
        if (self.python, self.machine, self.system) != here:
            made, mine = (
                f"Python {self.python} on {self.system} {self.machine}",
                f"Python {here[0]} on {here[2]} {here[1]}",
            )
            raise InstallError(f"The bundle was made for {made} and this is {mine}", "make one on a machine like this")
        if lacking := sorted(set(self.cpu) - set(cpu_flags())):
            raise InstallError(
                f"The bundle's llama.cpp was built for a processor that has {', '.join(lacking)}; this one has not",
                "make the bundle with CMAKE_ARGS=-DGGML_NATIVE=OFF",
            )


def _python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


class _Hashing:
    """A write-only stream that hashes what goes through it and tells how much that was."""

    def __init__(self, sink: IO[bytes], name: str, total: int, report: Reporter) -> None:
        self._sink, self._name, self._total, self._report = sink, name, total, report
        self._done = 0
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        self._done += len(data)
        self._report.progress(self._name, min(self._done, self._total - 1), self._total)
        return self._sink.write(data)


def make(
    path: Path,
    names: Iterable[str],
    report: Reporter,
    *,
    wheels: Iterable[Path] = (),
    locks: Iterable[Path] = (),
    system_packages: Iterable[dict[str, str]] = (),
    folder: Path | None = None,
) -> Path:
    """Write a bundle of the models ``names`` and of ``wheels``; returns its checksum file.

    Raises WeightsError when a weight is not here or not right. The archive gets its name when it is whole.
    """
    shelf, models, wheels = Shelf(folder), Manifest.load().select(names), tuple(wheels)
    members = {f"models/{file.path}": shelf.path(file) for model in models for file in model.files}
    for model in models:
        if any(shelf.check(file) != "ok" for file in model.files):
            raise WeightsError(f"{model.id} is not here", f"run: {fetch_command([model.id])}")
    members |= {f"wheels/{wheel.name}": wheel for wheel in wheels}
    info = BundleInfo(
        version=__version__,
        models=tuple(model.id for model in models),
        wheels={wheel.name: sha256_of(wheel) for wheel in wheels},
        locks={lock.name: sha256_of(lock) for lock in locks},
        python=_python(),
        machine=platform.machine(),
        system=platform.system(),
        libc=" ".join(platform.libc_ver()),
        cpu=cpu_flags(),
        system_packages=tuple(system_packages),
    )
    digest = _write(path, info, members, report)
    checksum = path.with_name(path.name + ".sha256")
    write_atomically(checksum, f"{digest}  {path.name}\n")
    return checksum


def make_whole(
    path: Path, names: Iterable[str], report: Reporter, extent: Extent, *, given: Path | None, offline: bool
) -> Path:
    """Fetch the weights of ``names``, collect the wheels that ``extent`` calls for, and ``make`` a bundle of both."""
    if path.is_dir() or not path.name:
        raise UsageError(f"{path} is a folder", "name the archive to write in it")
    names = [*names, "small"] if extent == "tests" else list(names)
    weights.fetch(names, given=given, offline=offline, report=report)
    locks = [lock_path(name) for name in LOCKS[extent]]
    needs = system.ALWAYS + system.HEADLESS + (system.TESTS if extent == "tests" else ())
    path.absolute().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.absolute().parent) as folder:
        wheels = collect(pip_command(), locks, Path(folder), report) if locks else []
        facts = system.described(needs)
        return make(path, names, report, wheels=wheels, locks=locks, system_packages=facts)


def _write(path: Path, info: BundleInfo, members: dict[str, Path], report: Reporter) -> str:
    partial = path.with_name(f".{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with partial.open("wb") as raw:
            sink = _Hashing(raw, path.name, sum(source.stat().st_size for source in members.values()) + 1, report)
            with tarfile.open(fileobj=sink, mode="w|", format=tarfile.PAX_FORMAT) as archive:  # type: ignore[call-overload]
                text = json.dumps(asdict(info), indent=1, sort_keys=True).encode()
                _add(archive, INFO, io.BytesIO(text), len(text))
                for name, source in sorted(members.items()):
                    with source.open("rb") as stream:
                        _add(archive, name, stream, source.stat().st_size)
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(partial, path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise WeightsError(f"The bundle {path} could not be written ({reason})", "choose a place with room") from error
    finally:
        partial.unlink(missing_ok=True)
    return sink.digest.hexdigest()


def _add(archive: tarfile.TarFile, name: str, stream: IO[bytes], size: int) -> None:
    member = tarfile.TarInfo(name)  # owner, rights and time are left out: the same content gives the same archive
    member.size = size
    archive.addfile(member, stream)


def check(path: Path) -> None:
    """Compare a bundle with its checksum file. Raises UsageError when that is absent, WeightsError when it differs."""
    checksum = path.with_name(path.name + ".sha256")
    if not path.is_file():
        raise UsageError(f"There is no bundle {path}", "check the path")
    if not checksum.is_file():
        raise UsageError(f"The bundle's checksum file {checksum} is missing", "bring it over too; it was made with it")
    if checksum.read_bytes().lower().split()[:1] != [sha256_of(path).encode()]:
        raise WeightsError(f"The bundle {path} does not match its checksum", "copy it again")


def read_info(path: Path) -> BundleInfo:
    """What the bundle says of itself. Raises UsageError when it is no bundle."""
    try:
        with tarfile.open(path) as archive:
            stream = archive.extractfile(INFO)
            if stream is None:
                raise KeyError(INFO)
            raw: dict[str, Any] = json.load(stream)
        tuples = {key: tuple(map(str, raw[key])) for key in ("models", "cpu")}
        tables = {key: dict(raw[key]) for key in ("wheels", "locks")}
        return BundleInfo(**{**raw, **tuples, **tables, "system_packages": tuple(raw["system_packages"])})
    except (OSError, EOFError, tarfile.TarError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{path} is not a bundle ({error})", f"make one with: {fetch_command()} --bundle FILE"
        ) from error


def extract_wheels(path: Path, info: BundleInfo, folder: Path) -> list[Path]:
    """Copy the bundle's wheels to ``folder``, each checked against the bundle's list."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path) as archive:
        for name, digest in info.wheels.items():
            target = folder / Path(name).name
            if target.exists() and sha256_of(target) == digest:
                continue
            try:
                stream = archive.extractfile(f"wheels/{name}")
            except KeyError:
                stream = None
            if stream is None:
                raise WeightsError(f"The bundle {path} lacks {name}", "make it again")
            with stream, target.open("wb") as sink:
                shutil.copyfileobj(stream, sink, CHUNK)
            if sha256_of(target) != digest:
                target.unlink()
                raise WeightsError(f"{name} in {path} does not match its hash", "copy the bundle again")
    return sorted(folder / Path(name).name for name in info.wheels)
