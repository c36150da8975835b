"""The locked requirements as wheels: what the lock says, the one package that is built here, all of them in a folder.

llama-cpp-python has no wheel on the index; it is compiled once for this processor and kept in the cache, keyed by
version, processor, C library and compiler flags. Standard library only.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from anovax.errors import AnovaxError
from anovax.setup.manifest import PACKAGE, Reporter, cache_dir, checkout

RUNTIME_LOCK, TEST_LOCK = "requirements.lock", "requirements-dev.lock"
LLAMA = "llama-cpp-python"
BUILD_FLAGS = ""  # llama.cpp's own default: code for the processor that it is built on
SAY_EVERY_S, STILL_S = 30.0, 20.0
# The processor features that native code uses; what else the system lists (of virtual machines, say) is no matter.
SIMD = """
    avx avx2 avx_vnni avx512f avx512bw avx512cd avx512dq avx512vl avx512_vbmi avx512_vnni avx512_bf16 avx512_fp16
    amx_tile amx_int8 amx_bf16 bmi1 bmi2 f16c fma sse4_1 sse4_2 ssse3 asimddp asimdhp i8mm sve sve2
"""


class InstallError(AnovaxError):
    """The environment could not be made: no network, no compiler, no rights, a package that does not install."""


def lock_path(name: str = RUNTIME_LOCK) -> Path:
    """The lock of the clone, or the copy inside the wheel. Raises InstallError when there is none."""
    path = (checkout() or PACKAGE) / name
    if not path.is_file():
        raise InstallError(f"There is no {name} at {path.parent}", "run this from a clone of the project")
    return path


def lock_entries(lock: Path) -> dict[str, str]:
    """The lock's requirements by package name, each with its marker and hashes as pip reads them."""
    blocks = re.split(r"\n(?=\S)", lock.read_text("utf-8"))
    return {re.split(r"[=\[; ]", block, maxsplit=1)[0]: block for block in blocks if "==" in block}


def write_requirements(entries: Iterable[str], path: Path) -> Path:
    """A requirements file of these lock entries."""
    path.write_text("\n".join(entry.rstrip("\n") for entry in entries) + "\n", "utf-8")
    return path


def cpu_flags() -> tuple[str, ...]:
    """The processor's features that native code makes use of, as Linux names them, sorted; empty elsewhere."""
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return ()
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
    return tuple(sorted(set(found[1].split()) & set(SIMD.split()))) if found else ()


def build_flags() -> str:
    """Compiler flags for llama.cpp: ``CMAKE_ARGS`` when set, else ours."""
    return os.environ.get("CMAKE_ARGS", BUILD_FLAGS)


def _llama_key(version: str) -> str:
    facts = [version, platform.machine(), platform.system(), *platform.libc_ver(), build_flags(), *cpu_flags()]
    return f"{version}-{hashlib.sha256(chr(10).join(facts).encode()).hexdigest()[:12]}"


def kept_llama() -> tuple[str, Path]:
    """The lock entry of llama-cpp-python, and the folder of the cache that is for its wheel."""
    entry = lock_entries(lock_path())[LLAMA]
    return entry, cache_dir() / "wheels" / _llama_key(entry.split("==")[1].split()[0])


def llama_is_kept() -> bool:
    """Whether the wheel lies in the cache already, so that no compiler is needed."""
    return any(kept_llama()[1].glob("*.whl"))


def llama_wheel(pip: list[str], report: Reporter) -> Path:
    """The llama-cpp-python wheel for this machine, from the cache or built now (about ten minutes on two cores)."""
    entry, kept = kept_llama()
    if found := next(iter(kept.glob("*.whl")), None):
        return found
    report.note(
        f"Building {entry.split()[0]} for this processor. This takes about 10 minutes on two cores and happens once: "
        f"the result is kept in {kept}."
    )
    with tempfile.TemporaryDirectory(prefix="anovax-build-") as folder:
        wheel = _build(pip, entry, Path(folder), report)
        kept.mkdir(parents=True, exist_ok=True)
        partial = shutil.copyfile(wheel, kept / f".{wheel.name}.part")
        os.replace(partial, kept / wheel.name)
    return kept / wheel.name


def _build(pip: list[str], entry: str, folder: Path, report: Reporter) -> Path:
    if not any(shutil.which(name) for name in ("c++", "g++", "clang++")):
        raise InstallError("There is no C++ compiler", "install one (on Debian: apt-get install build-essential)")
    wanted = write_requirements([entry], folder / "llama.txt")
    log = cache_dir() / "wheels" / "llama-build.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [*pip, "wheel", "--verbose", "--no-deps", "--no-input", "--require-hashes"]
    command += ["--no-binary", LLAMA, "--wheel-dir", str(folder), "--requirement", str(wanted)]
    with log.open("w+", encoding="utf-8") as said:
        process = subprocess.Popen(
            command, stdout=said, stderr=subprocess.STDOUT, env={**os.environ, "CMAKE_ARGS": build_flags()}
        )
        try:
            _wait_and_tell(process, log, report)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
    if process.returncode:
        raise InstallError(f"Building {LLAMA} failed", f"see the end of {log}")
    return next(folder.glob("*.whl"))


def _wait_and_tell(process: subprocess.Popen[bytes], log: Path, report: Reporter) -> None:
    """Tell how far the compiler is: its own step count, and the time that has gone by."""
    started = told = time.monotonic()
    done, total = 0, 0
    while process.poll() is None:
        time.sleep(0.5)
        steps = re.findall(rb"\[(\d+)/(\d+)\]", _end_of(log))
        if steps:
            done, total = (int(number) for number in steps[-1])
            report.progress(f"compiling {LLAMA}", done, total)
        if time.monotonic() - told >= SAY_EVERY_S:
            told = time.monotonic()
            where = f", step {done} of {total}" if total else ""
            report.note(f"  still building after {told - started:.0f} s{where}")


def _end_of(path: Path, size: int = 8192) -> bytes:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - size))
        return stream.read()


def collect(pip: list[str], locks: Iterable[Path], folder: Path, report: Reporter) -> list[Path]:
    """Put a wheel for every requirement of ``locks`` into ``folder``, built where the index has none."""
    entries = {name: entry for lock in locks for name, entry in lock_entries(lock).items()}
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(llama_wheel(pip, report), folder)
    entries.pop(LLAMA, None)
    report.note(f"Collecting {len(entries)} wheels from the package index.")
    wanted = write_requirements(entries.values(), folder / "wanted.txt")
    command = [*pip, "wheel", "--quiet", "--no-deps", "--no-input", "--disable-pip-version-check"]
    command += [
        "--ignore-requires-python",
        "--use-pep517",
        "--require-hashes",
        "--wheel-dir",
        str(folder),
        "--requirement",
        str(wanted),
    ]
    if problem := run_pip(command, folder / "pip.log", report):
        raise InstallError(f"The wheels could not be collected ({problem})", "mend that and start again")
    return sorted(folder.glob("*.whl"))


def run_pip(command: list[str], log: Path, report: Reporter) -> str:
    """Run pip, saying now and then that it still runs, its words in ``log``; returns what went wrong, or ""."""
    started = time.monotonic()
    with log.open("w") as said, subprocess.Popen(command, stdout=said, stderr=said) as process:
        try:
            while (code := _waited(process)) is None:
                report.note(f"    still at it after {time.monotonic() - started:.0f} s")
        except BaseException:
            process.kill()
            raise
    words = log.read_text("utf-8", errors="replace").splitlines()
    problems = [line.strip() for line in words if re.search(r"(Error|ERROR)\b.*: \S", line)]
    return "" if not code else problems[-1].removeprefix("ERROR: ") if problems else f"exit code {code}"


def _waited(process: subprocess.Popen[bytes]) -> int | None:
    """The exit code, or None when it runs longer than ``STILL_S``."""
    try:
        return process.wait(STILL_S)
    except subprocess.TimeoutExpired:
        return None
