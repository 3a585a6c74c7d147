#!/usr/bin/env python3
"""Other packages' own tests of permanents, run against this one: ./dev suites.

Their tests are fetched when asked for, at the versions that bench/peers.py measures. What they import is
theirs but for permanents, which are this package's: of_NAME.py says how, and lists the tests that are known
to differ, with why. Any other failure is one; so is a listed test that passes, one that is skipped, and a
file of which no test asked this package for anything. ARGS that are not told here are pytest's.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest
from judge import Judge

ROOT = Path(__file__).resolve().parents[2]
SUITES = ("thewalrus", "thewalrus_hafnians", "piquasso", "qc_permanent", "stonesoup")


def run(name: str, folder: Path, checkouts: Path | None, others: list[str]) -> tuple[str, bool]:
    """Runs one suite in a process of its own: what it replaces stays replaced."""
    suite = importlib.import_module(f"of_{name}").SUITE
    try:
        fetched = suite.source.fetched(folder, checkouts)
    except (OSError, subprocess.CalledProcessError) as error:
        told = f"{suite.source.name} {suite.source.version}: its tests could not be fetched: {error}"
        return f"{told}\n    without a network: --help tells of --checkouts and --folder", False
    packages = suite.source.packages(fetched)
    if packages is not None:
        sys.path.insert(0, str(packages))
    suite.replace()
    judge = Judge(suite)
    options = ["-q", "-p", "no:cacheprovider", "-rfEsx", "--rootdir", str(fetched)]
    status = pytest.main([*options, *others, *(str(fetched / file) for file in suite.files)], plugins=[judge])
    complaints = judge.complaints()
    told = ", ".join(f"{count} {what}" for what, count in sorted(judge.counts.items(), reverse=True))
    lines = [f"{suite.source.name} {suite.source.version}: {told or 'nothing ran'}", *complaints]
    return "\n    ".join(lines), status == 0 and not complaints


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    folder = ROOT / "build" / "suites"
    parser.add_argument("--folder", type=Path, default=folder, help="where the tests are kept")
    parser.add_argument("--only", choices=SUITES, action="append", help="this suite, and others so named")
    parser.add_argument(
        "--checkouts",
        type=Path,
        metavar="FOLDER",
        help="for want of GitHub: of checkouts of thewalrus and matrix-permanent, at these versions' tags",
    )
    args, others = parser.parse_known_args()
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        calls = [
            (name, args.folder.resolve(), args.checkouts, others)
            for name in SUITES
            if name in (args.only or SUITES)
        ]
        answers = pool.starmap(run, calls, chunksize=1)
    for text, _ in answers:
        print(text)
    return 0 if all(good for _, good in answers) else 1


if __name__ == "__main__":
    sys.exit(main())
