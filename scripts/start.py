#!/usr/bin/env python3
"""From a clone to the running assistant, in one command. Needs nothing but Python 3.11; runs from any folder.

python3 scripts/start.py                     set up what is missing, then run (a demo where there is no screen or sound)
python3 scripts/start.py --profile small     with the smaller planner, for 4 GB machines
python3 scripts/start.py --from bundle.tar   with no network at all (see scripts/fetch_models.py --bundle)
python3 scripts/start.py --setup-only        set up and stop there
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLANNERS = {"small": "qwen2.5-coder-0.5b"}  # what a profile needs to be told; the default's is the default


def need_python() -> None:
    """Go on in a newer Python when this one is too old and another is on the path."""
    if tuple(sys.version_info) >= (3, 11):
        return
    for name in ("python3.13", "python3.12", "python3.11"):
        path = shutil.which(name)
        if path and subprocess.run([path, "-c", "pass"], capture_output=True, check=False).returncode == 0:
            os.execv(path, [path, *sys.argv])
    sys.exit(
        f"AnovaX needs Python 3.11 or newer; this is {sys.version.split()[0]}. Install one and start it with that."
    )


need_python()
sys.path.insert(0, str(ROOT))

from anovax import weights  # noqa: E402
from anovax.errors import AnovaxError  # noqa: E402
from anovax.setup import system_packages as system  # noqa: E402
from anovax.setup.bars import Bars  # noqa: E402
from anovax.setup.install import Environment, Steps  # noqa: E402
from anovax.setup.wheelhouse import RUNTIME_LOCK, llama_is_kept  # noqa: E402

Needs = tuple[system.Need, ...]


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="given", type=Path, help="a bundle to install from, instead of the network")
    parser.add_argument("--profile", default="default", choices=("default", "small"), help="which models")
    parser.add_argument("--setup-only", "--no-run", action="store_true", help="do not start the assistant")
    parser.add_argument("rest", nargs="*", help="arguments for anovax, after --")
    return parser.parse_args(argv)


def can_listen() -> bool:
    """Whether this machine has a screen and a microphone, so that the assistant itself can run."""
    return system.has_screen() and system.has_microphone()


def set_up(report: Bars, given: Path | None, lock: str, needs: Needs, profiles: tuple[str, ...]) -> Environment:
    """Bring system packages, environment and weights up to date, announcing each step that does something.

    ``given`` is a bundle or None, ``lock`` the name of the requirements to install.
    """
    steps, environment = Steps(report), Environment(ROOT, report, given)
    ready = environment.ready(lock)
    if not ready:
        needs += system.VENV + (() if given or llama_is_kept() else system.COMPILER)
    if any(not need.met() for need in needs):
        with steps.step("Installing system packages"):
            system.ensure(needs, report)
    if not ready:
        environment.make(lock, steps)
    if any(state != "ok" for _, state in weights.states(profiles)):
        with steps.step("Fetching the weights"):
            weights.fetch(profiles, given=given, offline=given is not None, report=report)
    return environment


def run(environment: Environment, args: argparse.Namespace) -> int:
    """Become ``anovax run``, or ``anovax demo`` where nobody could be heard or see anything."""
    command = [str(environment.python), "-m", "anovax", *(args.rest or ["run" if can_listen() else "demo"])]
    if args.profile in PLANNERS:
        os.environ["ANOVAX_PLANNER__MODEL"] = PLANNERS[args.profile]
    print("Starting: anovax " + " ".join(command[3:]), file=sys.stderr, flush=True)
    if os.name == "posix":
        os.execv(command[0], command)
    return subprocess.call(command)


def prepared(done: str, steps: Callable[[Bars], Environment]) -> Environment | int:
    """What ``steps`` sets up, said to be ``done`` after so many seconds; or the exit code, its reason told."""
    started, report = time.monotonic(), Bars()
    try:
        environment = steps(report)
        report.note(f"{done} after {time.monotonic() - started:.1f} s.")
    except AnovaxError as error:
        report.note(str(error))
        return error.exit_code
    except OSError as error:
        what, why = error.filename or "The disk", error.strerror or error
        report.note(f"{what} cannot be used ({why}); mend that and start again.")
        return 1
    except KeyboardInterrupt:
        report.note("Stopped; start it again to go on where it was.")
        return 130
    finally:
        report.close()
    return environment


def main(argv: list[str] | None = None) -> int:
    args = parse(argv)

    def steps(report: Bars) -> Environment:
        needs = system.ALWAYS if can_listen() else system.ALWAYS + system.HEADLESS
        return set_up(report, args.given, RUNTIME_LOCK, needs, (args.profile,))

    ready = prepared("Ready", steps)
    if isinstance(ready, int):
        return ready
    return 0 if args.setup_only else run(ready, args)


if __name__ == "__main__":
    sys.exit(main())
