#!/usr/bin/env python3
"""Set up what start.py sets up and what the tests need, then check everything. Runs from any folder.

python3 scripts/test.py                  style, types, and the tests
python3 scripts/test.py --full           also the long matrices and soaks
python3 scripts/test.py -- -k weights    arguments for pytest after --
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import start  # first of all: it sees to the Python version

from anovax.setup import system_packages as system
from anovax.setup.install import Environment
from anovax.setup.wheelhouse import TEST_LOCK

NEEDS = system.ALWAYS + system.HEADLESS + system.TESTS
WEIGHTS = ("default", "small")


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="given", type=Path, help="a bundle (made with --tests) to install from")
    parser.add_argument("--full", action="store_true", help="also the tests marked full")
    parser.add_argument("--setup-only", action="store_true", help="set up and stop there")
    parser.add_argument("rest", nargs="*", help="arguments for pytest, after --")
    return parser.parse_args(argv)


def check(environment: Environment, args: argparse.Namespace) -> int:
    """Run every check, also after one has failed; pytest comes last. Returns the worst exit code."""
    chosen = ["-m", "not network"] if args.full else []
    checks = {
        "style": ["ruff", "check"],
        "types": ["mypy"],
        "tests": ["pytest", *chosen, *args.rest],
    }
    if args.full and not args.rest and not args.given:  # all other tests run without a network
        checks["tests with the package index"] = ["pytest", "-m", "network"]
    worst = 0
    for name, command in checks.items():
        print(f"--- {name}: {' '.join(command)}", flush=True)
        started = time.monotonic()
        code = subprocess.call([str(environment.python), "-m", *command], cwd=start.ROOT, env=quiet())
        print(
            f"--- {name}: {'passed' if code == 0 else f'FAILED ({code})'} in {time.monotonic() - started:.0f} s",
            flush=True,
        )
        worst = max(worst, abs(code))
    return worst


def quiet() -> dict[str, str]:
    """The environment of the checks: no library may ask the network for news of itself."""
    return {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}


def main(argv: list[str] | None = None) -> int:
    args = parse(argv)
    ready = start.prepared("Set up", lambda report: start.set_up(report, args.given, TEST_LOCK, NEEDS, WEIGHTS))
    if isinstance(ready, int):
        return ready
    return 0 if args.setup_only else check(ready, args)


if __name__ == "__main__":
    sys.exit(main())
