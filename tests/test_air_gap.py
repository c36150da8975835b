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

# Loopback is down in a new network namespace; this brings it up without any tool that might not be installed.
LOOPBACK_UP = (
    "import fcntl, os, socket, struct, sys; "
    "fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh', b'lo', 0x41)); "
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
ALONE = ["unshare", "--map-root-user", "--net", sys.executable, "-c", LOOPBACK_UP]
OUTSIDE = re.compile(r"connect\(.*sa_family=AF_INET6?.*(?:inet_addr\(\"(?!127\.)|inet_pton\(AF_INET6, \"(?!::1\"))")


def trace(log: Path) -> list[str]:
    """strace for the connections that a process and its children ask for, where it is allowed."""
    command = ["strace", "--follow-forks", "--quiet=all", "--trace=connect", f"--output={log}"]
    allowed = shutil.which("strace") and subprocess.run([*command, "true"], check=False).returncode == 0
    return command if allowed else []


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Path]:
    """A clone with nothing installed or fetched. The gigabytes that come are not kept."""
    kept_out = shutil.ignore_patterns(
        ".venv", ".git", "*.gguf", "*.onnx", "*.bin", ".*_cache", "*-output", "__pycache__"
    )
    yield Path(shutil.copytree(ROOT, tmp_path / "clone", ignore=kept_out))
    shutil.rmtree(tmp_path)


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_bundle_installs_and_runs_with_no_network(bare: Path, tmp_path: Path) -> None:
    if subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let a test make a network namespace")
    made = tmp_path / "bundle.tar"
    fetch = [sys.executable, str(ROOT / "scripts" / "fetch_models.py")]
    answer = subprocess.run([*fetch, "--bundle", str(made)], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    elsewhere = {
        name: str(tmp_path / name.lower()) for name in ("ANOVAX_CACHE", "PIP_CACHE_DIR", "HOME", "XDG_DATA_HOME")
    }
    Path(elsewhere["HOME"]).mkdir()
    environment = {**os.environ, **elsewhere}
    environment.pop("ANOVAX_MODELS", None)

    def alone(*command: str) -> subprocess.CompletedProcess[str]:
        log = tmp_path / "connections"
        done = subprocess.run(
            [*ALONE, *trace(log), *command], env=environment, cwd="/", capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        if log.exists():
            assert not [line for line in log.read_text().splitlines() if OUTSIDE.search(line)]
        return done

    start = [sys.executable, str(bare / "scripts" / "start.py")]
    set_up = alone(*start, "--from", str(made), "--setup-only")
    assert "Installing the project" in set_up.stderr and "Ready after" in set_up.stderr
    assert "Making" not in alone(*start, "--setup-only").stderr  # the second start finds everything in place
    demo = alone(*start)
    assert "42" in demo.stdout + demo.stderr
