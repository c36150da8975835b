#!/usr/bin/env python3
"""Fetch, verify, list or bundle the model weights. Needs nothing but Python 3.11; runs from any folder.

python3 scripts/fetch_models.py                        the default profile
python3 scripts/fetch_models.py small wake/alexa       a profile and a single model
python3 scripts/fetch_models.py --from weights.tar     from a folder or a bundle, then from the network
python3 scripts/fetch_models.py --bundle weights.tar   make one archive for a machine without a network
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

if sys.version_info < (3, 11):  # noqa: UP036 - told in a sentence, not by a SyntaxError
    sys.exit("AnovaX needs Python 3.11 or newer; this is " + sys.version.split()[0] + ".")

from anovax import weights
from anovax.errors import AnovaxError
from anovax.setup import bundle
from anovax.setup.bars import Bars
from anovax.setup.manifest import Manifest, models_dir


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["default"], help="profiles (default, small, all) or model ids")
    parser.add_argument("--from", dest="given", type=Path, help="a folder or bundle to look in first")
    parser.add_argument("--offline", action="store_true", help="never ask the network")
    parser.add_argument("--list", action="store_true", help="show all models, their size and licence")
    parser.add_argument("--bundle", type=Path, metavar="FILE", help="make one archive of weights, wheels and facts")
    parser.add_argument("--weights-only", action="store_true", help="leave the wheels out of the bundle")
    parser.add_argument("--tests", action="store_true", help="put what the tests need into the bundle too")
    parser.add_argument("--verify", action="store_true", help="hash all weights that are here again")
    return parser.parse_args(argv)


def show() -> int:
    shelf = weights.Shelf()
    for model in Manifest.load().models:
        here = all(shelf.check(file) == "ok" for file in model.files)
        use = " (non-commercial use only)" if model.non_commercial else ""
        print(f"{'here' if here else '-':5} {model.id:28} {model.bytes / 1e6:8,.1f} MB  {model.licence}{use}")
    return 0


def verify(names: list[str]) -> int:
    bad = 0
    for file, state in weights.verify(names):
        bad += state != "ok"
        print(f"{state:8}{file.path}", flush=True)
    return 1 if bad else 0


def fetch(args: argparse.Namespace) -> int:
    started, bars = time.monotonic(), Bars()
    try:
        brought = weights.fetch(args.names, given=args.given, offline=args.offline, report=bars)
    finally:
        bars.close()
    files = "1 file" if len(brought) == 1 else f"{len(brought)} files"
    what = f"{files} fetched and verified" if brought else "All weights are here and verified"
    print(f"{what} in {models_dir()} ({time.monotonic() - started:.1f} s).")
    return 0


def make_bundle(args: argparse.Namespace) -> int:
    """Fetch what is missing, collect the wheels, and write the archive and its checksum file."""
    started, bars = time.monotonic(), Bars()
    extent: bundle.Extent = "weights" if args.weights_only else "tests" if args.tests else "run"
    try:
        checksum = bundle.make_whole(args.bundle, args.names, bars, extent, given=args.given, offline=args.offline)
    finally:
        bars.close()
    print(f"{args.bundle} ({args.bundle.stat().st_size / 1e6:,.0f} MB, {time.monotonic() - started:.0f} s).")
    print(f"Bring it over together with {checksum}, then: python3 scripts/start.py --from {args.bundle.name}")
    return 0


def main(argv: list[str] | None = None) -> int:
    args = parse(argv)
    try:
        if args.list:
            return show()
        if args.bundle:
            return make_bundle(args)
        return verify(args.names if args.names != ["default"] else []) if args.verify else fetch(args)
    except AnovaxError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("Stopped; run it again to go on where it was.", file=sys.stderr)
        return 130
    except OSError as error:
        print(f"{error.filename or 'The disk'} cannot be used ({error.strerror or error}).", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
