#!/usr/bin/env python3
"""Other packages for permanents beside this one, in one run: medians of calls from Python.

They are installed from PyPI into a folder of their own. Each row is a call of ours and the same of theirs, in
turns; `theirs/ours` is of the quickest that is right. An answer further than 1e-6 from ours, relatively, is
told as wrong: ours comes with a bound below 1e-9. SUPerman is a program, timed by what it says of itself.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import host

# thewalrus 0.22 wants a numpy that numba knows.
PACKAGES = (
    "numpy==2.4.6",
    "scipy==1.17.1",
    "numba==0.68.1",
    "thewalrus==0.22.0",
    "exqalibur==1.4.2",
    "piquasso==8.0.2",
    "qc-permanent==0.0.2",
)


def install(folder: Path) -> str:
    python = str(folder / "bin/python")
    if not Path(python).exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES]
    subprocess.run(pip, check=True)
    return python


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--folder", type=Path, default=host.ROOT / "build/peers", help="where they are installed"
    )
    parser.add_argument("--superman", type=Path, metavar="PROGRAM", help="its executable, built without CUDA")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows with this in their name")
    parser.add_argument(
        "--limit", type=float, default=30.0, help="seconds that one call may take (default: 30)"
    )
    parser.add_argument("--rounds", type=int, default=5, help="to take the median of (default: 5)")
    parser.add_argument("--seed", type=int, default=1, help="of the matrices (default: 1)")
    return parser.parse_args()


def main() -> None:
    args = arguments()
    python = install(args.folder.absolute())
    if Path(sys.prefix) != args.folder.absolute():
        os.execv(python, [python, *sys.argv])
    from peer_rows import print_rows

    print_rows(args)
    versions = ", ".join(
        package for package in PACKAGES if not package.startswith(("numpy", "scipy", "numba"))
    )
    print(f"\n{versions}; seed {args.seed}")
    host.print_foot(host.about(host.this_machine(host.perm_command())))


if __name__ == "__main__":
    main()
