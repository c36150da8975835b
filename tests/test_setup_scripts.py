"""The way from a clone to a running assistant: the locks, the scripts, system packages, wheels, bundles."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Callable
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from weights_rig import ROOT, make_wheel

from anovax.errors import AnovaxError, UsageError, WeightsError
from anovax.setup import bundle, install, system_packages, wheelhouse
from anovax.setup.manifest import Silent
from anovax.setup.system_packages import Need

LOCKS = ("requirements.lock", "requirements-dev.lock")
SCRIPTS = ("start.py", "test.py", "fetch_models.py")


class Notes(Silent):
    """A reporter that remembers."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str) -> None:
        self.texts.append(text)


def entries(lock: str) -> dict[str, str]:
    return wheelhouse.lock_entries(ROOT / lock)


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


# --- the locks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_has_hashes_and_no_addresses(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert not re.search(
        r"https?:|file:|ftp:|--(?:extra-)?index-url|--find-links|--trusted-host|^\s*-[fir] ", text, re.M
    )
    assert len(entries(lock)) > 50
    for name, entry in entries(lock).items():
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), name


def test_locks_agree_with_each_other() -> None:
    run, test = (entries(lock) for lock in LOCKS)
    assert {name: entry.split()[0] for name, entry in run.items()}.items() <= {
        name: entry.split()[0] for name, entry in test.items()
    }.items()


def test_locks_hold_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for lock, wanted in (
        (LOCKS[0], project["dependencies"] + extras["bench"] + extras["source"]),
        (LOCKS[1], extras["test"] + extras["train"]),
    ):
        pinned = {canonical(name): entry for name, entry in entries(lock).items()}
        for requirement in map(Requirement, wanted):
            version = pinned[canonical(requirement.name)].split("==")[1].split()[0]
            assert requirement.specifier.contains(version, prereleases=True), requirement


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_leaves_out_what_does_not_install(lock: str) -> None:
    """No tflite runtime (none for Python 3.12 and newer), one Xlib, and no condition on what runs everywhere."""
    pinned = {canonical(name): entry for name, entry in entries(lock).items()}
    assert not {"tflite-runtime", "ai-edge-litert", "python3-xlib"} & set(pinned)
    assert all(";" not in pinned[name].splitlines()[0] for name in ("openwakeword", "rapidocr-onnxruntime"))


# --- the scripts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("script", SCRIPTS)
def test_script_helps_from_any_folder_before_anything_is_installed(script: str, tmp_path: Path) -> None:
    command = [sys.executable, "-E", "-S", str(ROOT / "scripts" / script), "--help"]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert answer.returncode == 0 and "--from" in answer.stdout, answer.stderr


def test_readme_names_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    for script in ("scripts/start.py", "scripts/test.py"):
        assert f"python3 {script}" in text and (ROOT / script).is_file()


@pytest.mark.parametrize("script", SCRIPTS)
def test_old_python_gets_a_sentence(script: str) -> None:
    """The start of each script is read by Python 3.8 as well, and says what is needed."""
    source = (ROOT / "scripts" / script).read_text()
    ast.parse(source, feature_version=(3, 8))
    pretend = "import sys; sys.version_info = (3, 8, 10); sys.version = '3.8.10 (old)'; import runpy; "
    pretend += f"sys.path.insert(0, {str(ROOT / 'scripts')!r}); runpy.run_path({str(ROOT / 'scripts' / script)!r})"
    answer = subprocess.run(
        [sys.executable, "-c", pretend], env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 1 and "Traceback" not in answer.stderr, answer.stderr
    assert "needs Python 3.11 or newer; this is 3.8.10" in answer.stderr


def test_ci_runs_the_readme_test_command() -> None:
    path = ROOT / ".ci" / "run"
    assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0
    assert "scripts/test.py" in path.read_text()


# --- system packages -------------------------------------------------------------------------------------------------

MISSING = Need("libnothing9", "nothing at all", commands=("no-such-command",))


def test_needs_are_found_by_what_they_bring() -> None:
    assert Need("x", "", commands=("no-such-command", "sh")).met()
    assert Need("x", "", library="libc.so.6").met()
    assert Need("x", "", module="json").met()
    assert not MISSING.met()
    assert not Need("x", "", library="libnothing.so.9").met()
    assert not Need("x", "", library="lib/*/nothing/libnothing.so").met()


def test_nothing_missing_installs_nothing() -> None:
    assert system_packages.ensure([Need("x", "", commands=("sh",))], Silent()) == []


def commands_in(folder: Path, **scripts: str) -> str:
    """A PATH with these shell scripts and the few commands that they need."""
    folder.mkdir()
    for name, text in scripts.items():
        path = folder / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    for name in ("env", "sh"):
        (folder / name).symlink_to(shutil.which(name) or "")
    return str(folder)


def test_goes_ahead_when_nobody_is_there_and_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_folder = tmp_path / "bin"
    brings = f"echo $* >>{tmp_path}/said; case $* in *update*) ;; *) printf '#!/bin/sh' >{bin_folder}/no-such-command; "
    brings += f"/bin/chmod 755 {bin_folder}/no-such-command;; esac"
    monkeypatch.setenv("PATH", commands_in(bin_folder, apt_get=brings))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    notes = Notes()
    assert system_packages.ensure([MISSING, MISSING], notes) == ["libnothing9"]
    assert (tmp_path / "said").read_text() == "-qq install --yes --no-install-recommends libnothing9\n"
    assert "libnothing9 (nothing at all)" in notes.texts[0]


def test_old_package_list_is_renewed_and_trouble_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fails = f"echo $* >>{tmp_path}/said; echo 'E: Unable to locate package libnothing9' >&2; exit 100"
    monkeypatch.setenv("PATH", commands_in(tmp_path / "bin", apt_get=fails))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(wheelhouse.InstallError, match=r"Unable to locate package libnothing9.*run: apt-get install"):
        system_packages.ensure([MISSING], Silent())
    assert [line.split()[1] for line in (tmp_path / "said").read_text().splitlines()] == [
        "install",
        "update",
        "install",
    ]


def test_says_the_command_when_it_may_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", commands_in(tmp_path / "bin", apt_get="exit 1", sudo="exit 1"))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(wheelhouse.InstallError, match=r"run: sudo apt-get install --yes .* libnothing9"):
        system_packages.ensure([MISSING], Silent())


def test_other_systems_get_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", commands_in(tmp_path / "bin"))
    with pytest.raises(wheelhouse.InstallError, match=r"in Debian's names: libnothing9 \(nothing at all\)"):
        system_packages.ensure([MISSING], Silent())


@pytest.mark.parametrize(("answer", "installs"), [("n", False), ("y", True), ("", True)])
def test_asks_once_when_a_person_is_there(tmp_path: Path, answer: str, installs: bool) -> None:
    path = commands_in(tmp_path / "bin", apt_get=f"echo $* >>{tmp_path}/said")
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from anovax.setup import system_packages as s; "
    code += "from anovax.setup.manifest import Silent; from anovax.errors import AnovaxError\n"
    code += "try: s.ensure([s.Need('libnothing9', 'nothing', commands=('no-such-command',))], Silent())\n"
    code += "except AnovaxError as error: print('SAID', error)"
    ours, theirs = pty.openpty()
    environment = {"PATH": path, "HOME": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        os.write(ours, answer.encode() + b"\n")
        process.wait(15)
    said = os.read(ours, 65536).decode()
    os.close(ours)
    assert said.count("[Y/n]") == 1
    assert (tmp_path / "said").exists() == installs
    assert "SAID" in said  # declined, or: the fake brought nothing, which is noticed too


def test_every_need_is_named_and_can_be_looked_for() -> None:
    everything = system_packages.ALWAYS + system_packages.HEADLESS + system_packages.TESTS + system_packages.COMPILER
    for need in everything:
        assert need.package and need.why and (need.commands or need.library or need.module)
    assert len({need.package for need in everything}) == len(everything)


# --- the wheel that is built here ------------------------------------------------------------------------------------


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANOVAX_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CMAKE_ARGS", raising=False)
    return tmp_path / "cache"


def test_built_wheel_is_kept_by_version_processor_and_flags(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not wheelhouse.llama_is_kept()
    entry, folder = wheelhouse.kept_llama()
    assert entry.startswith("llama-cpp-python==") and folder.is_relative_to(own_cache)
    wheel = make_wheel(folder, "llama-cpp-python", {"x.py": b""})
    assert wheelhouse.llama_is_kept()
    assert wheelhouse.llama_wheel(["false"], Silent()) == wheel
    monkeypatch.setenv("CMAKE_ARGS", "-DGGML_NATIVE=OFF")
    assert not wheelhouse.llama_is_kept()


def test_build_tells_how_far_it_is_and_failure_is_a_sentence(own_cache: Path) -> None:
    class Progress(Notes):
        def progress(self, name: str, done: int, total: int) -> None:
            self.texts.append(f"{done}/{total}")

    code = "import time, sys; print('[7/42] Building CXX object', flush=True); time.sleep(0.8); sys.exit(3)"
    report = Progress()
    with pytest.raises(wheelhouse.InstallError, match=r"see the end of .*llama-build\.log"):
        wheelhouse.llama_wheel([sys.executable, "-c", code], report)
    assert "about 10 minutes" in report.texts[0] and "7/42" in report.texts
    assert not wheelhouse.llama_is_kept()


def test_collecting_tells_that_it_still_runs_and_what_went_wrong(
    own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_wheel(wheelhouse.kept_llama()[1], "llama-cpp-python", {"x.py": b""})
    monkeypatch.setattr(wheelhouse, "STILL_S", 0.02)
    told = tmp_path / "told"

    class Report(Silent):
        def note(self, text: str) -> None:
            if "still at it" in text:
                told.touch()

    code = f"import pathlib, time\nwhile not pathlib.Path({str(told)!r}).exists(): time.sleep(0.01)\n"
    code += "raise SystemExit('ERROR: No matching distribution')"
    with pytest.raises(wheelhouse.InstallError, match=r"collected \(No matching distribution\)"):
        wheelhouse.collect([sys.executable, "-c", code], [ROOT / wheelhouse.RUNTIME_LOCK], tmp_path / "w", Report())
    assert told.exists()


def test_build_without_a_compiler_is_a_sentence(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(wheelhouse.InstallError, match="build-essential"):
        wheelhouse.llama_wheel(["false"], Silent())


# --- bundles ---------------------------------------------------------------------------------------------------------


def make_bundle(folder: Path, **changes: Any) -> Path:
    """A bundle without models, with one wheel."""
    wheel = make_wheel(folder / "wheels", "some-package", {"some_package.py": b"here = True\n"})
    path = folder / "bundle.tar"
    bundle.make(path, [], Silent(), wheels=[wheel], locks=[ROOT / LOCKS[0]], **changes)
    return path


def test_bundle_carries_wheels_and_facts(tmp_path: Path) -> None:
    path = make_bundle(tmp_path, system_packages=[{"package": "xvfb", "version": "1", "sha256": "0"}])
    bundle.check(path)
    info = bundle.read_info(path)
    info.refuse_unfit()
    assert info.locks == {LOCKS[0]: hashlib.sha256((ROOT / LOCKS[0]).read_bytes()).hexdigest()}
    assert info.system_packages[0]["package"] == "xvfb"
    wheels = bundle.extract_wheels(path, info, tmp_path / "out")
    assert [wheel.read_bytes() for wheel in wheels] == [(tmp_path / "wheels" / wheels[0].name).read_bytes()]


def test_same_content_gives_the_same_bundle(tmp_path: Path) -> None:
    first = make_bundle(tmp_path).read_bytes()
    os.utime(next((tmp_path / "wheels").iterdir()), (1, 1))
    wheel = next((tmp_path / "wheels").iterdir())
    bundle.make(tmp_path / "again.tar", [], Silent(), wheels=[wheel], locks=[ROOT / LOCKS[0]])
    assert (tmp_path / "again.tar").read_bytes() == first


def rewritten(path: Path, change: Callable[[dict[str, Any]], Any], keep: bool = True) -> Path:
    """The bundle with another bundle.json, and without its wheels unless ``keep``; its checksum is right again."""
    with tarfile.open(path) as archive:
        held = {name: archive.extractfile(name).read() for name in archive.getnames()}  # type: ignore[union-attr]
    said = json.dumps(change(json.loads(held["bundle.json"]))).encode()
    with tarfile.open(path, "w") as archive:
        for name, data in ({**held, "bundle.json": said} if keep else {"bundle.json": said}).items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    path.with_name(f"{path.name}.sha256").write_text(hashlib.sha256(path.read_bytes()).hexdigest().upper())
    return path


@pytest.mark.parametrize("said", [[], {"wheels": []}, None, {}])
def test_a_bundle_that_describes_itself_wrongly_is_none(tmp_path: Path, said: Any) -> None:
    path = rewritten(make_bundle(tmp_path), lambda info: said)
    bundle.check(path)
    with pytest.raises(UsageError, match="is not a bundle"):
        bundle.read_info(path)


def test_a_bundle_that_lacks_a_wheel_it_names_is_told(tmp_path: Path) -> None:
    path = rewritten(make_bundle(tmp_path), lambda info: info, keep=False)
    with pytest.raises(WeightsError, match="lacks some_package"):
        bundle.extract_wheels(path, bundle.read_info(path), tmp_path / "out")


def test_a_checksum_file_of_any_bytes_is_compared(tmp_path: Path) -> None:
    path = make_bundle(tmp_path)
    (tmp_path / "bundle.tar.sha256").write_bytes(b"\xff\xfe\0")
    with pytest.raises(WeightsError, match="does not match its checksum"):
        bundle.check(path)


def test_a_folder_is_no_name_for_a_bundle(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name the archive"):
        bundle.make_whole(tmp_path, [], Silent(), "weights", given=None, offline=True)


def test_changed_bundle_is_refused(tmp_path: Path) -> None:
    path = make_bundle(tmp_path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(WeightsError, match="does not match its checksum"):
        bundle.check(path)
    (tmp_path / "bundle.tar.sha256").unlink()
    with pytest.raises(UsageError, match="checksum file"):
        bundle.check(path)


def test_bundle_for_another_machine_is_refused(tmp_path: Path) -> None:
    info = bundle.read_info(make_bundle(tmp_path))
    for change in ({"python": "3.7"}, {"machine": "vax"}, {"cpu": (*info.cpu, "avx1024")}):
        with pytest.raises(wheelhouse.InstallError, match="bundle"):
            bundle.BundleInfo(**{**vars(info), **change}).refuse_unfit()


def test_file_that_is_no_bundle_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar"
    path.write_text("hello")
    with pytest.raises(UsageError, match="is not a bundle"):
        bundle.read_info(path)


def test_bundle_without_the_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="run: "):
        bundle.make(tmp_path / "b.tar", ["default"], Silent(), folder=tmp_path)
    assert not list(tmp_path.glob("*tar*"))


# --- the environment -------------------------------------------------------------------------------------------------


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A project of one module, with an empty lock."""
    root = tmp_path / "clone"
    root.mkdir()
    for name in (*LOCKS, "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    return root


def test_second_start_only_looks(clone: Path) -> None:
    environment = install.Environment(clone, Silent())
    assert not environment.ready(LOCKS[0])
    environment.bin.mkdir(parents=True)
    environment.python.write_text("")
    (environment.folder / install.STAMP).write_text(json.dumps(environment.facts(LOCKS[0])))
    assert environment.ready(LOCKS[0]) and not environment.ready(LOCKS[1])
    (clone / LOCKS[0]).write_text("other==1.0\n")
    assert not environment.ready(LOCKS[0])


def test_environment_that_cannot_be_made_is_a_sentence(clone: Path) -> None:
    (clone / ".venv").write_text("a file in the way")
    with pytest.raises(AnovaxError, match="could not be made"):
        install.Environment(clone, Silent()).make(LOCKS[0], install.Steps(Silent()))


def test_bundle_of_another_version_is_refused(clone: Path, tmp_path: Path) -> None:
    path = make_bundle(tmp_path)
    (clone / LOCKS[0]).write_text("other==1.0\n")
    with pytest.raises(wheelhouse.InstallError, match="does not hold the wheels of this clone"):
        install.Environment(clone, Silent(), path).make(LOCKS[0], install.Steps(Silent()))


def test_steps_are_announced_with_their_time() -> None:
    notes = Notes()
    steps = install.Steps(notes)
    for title in ("First", "Second"):
        with steps.step(title):
            pass
    assert notes.texts[0] == "[1] First" and notes.texts[2] == "[2] Second"
    assert re.fullmatch(r" +done in \d+\.\d s", notes.texts[1])


# --- dependencies ----------------------------------------------------------------------------------------------------


OPTIONAL = {"turbojpeg"}  # a second JPEG encoder that the benchmark compares with where it is installed

ELSEWHERE = {  # not installed on Linux
    "AppKit": "pyobjc-framework-cocoa",
    "ApplicationServices": "pyobjc-framework-applicationservices",
    "Quartz": "pyobjc-framework-quartz",
}


def imported_modules(folder: Path) -> dict[str, Path]:
    """The first name of every module that the package imports, with one file that does."""
    found = {}
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0]: path for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found[node.module.split(".")[0]] = path
    return found


def test_every_import_is_a_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["bench"], *extras["train"]]
    declared = {canonical(Requirement(text).name) for text in wanted}
    providers = packages_distributions()
    for module, path in imported_modules(ROOT / "anovax").items():
        if module not in sys.stdlib_module_names | {"anovax"} | OPTIONAL:
            names = {canonical(name) for name in providers.get(module, [ELSEWHERE.get(module, module)])}
            assert names & declared, f"{path.name} imports {module}, which pyproject.toml does not ask for"
