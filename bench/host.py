"""Where something was measured: the machine, the commit, the command."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def perm_command() -> str:
    """The one built here, else the one in PATH."""
    built = ROOT / "build/release/capi/command/perm"
    found = str(built) if built.exists() else shutil.which("perm")
    if found is None:
        sys.exit("there is no perm to measure: ./dev build, or --perm COMMAND")
    return found


def commit() -> str:
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=7", "--exclude=*"]
    found = subprocess.run(git, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def about(info: dict[str, Any]) -> str:
    """Of perm info --json."""
    gpus = ", ".join(gpu["name"] for gpu in info["gpus"])
    return f"{info['processor']}, {info['cores']} cores, {info['simd']}{gpus and '; ' + gpus}"


def this_machine(perm: str) -> dict[str, Any]:
    info: dict[str, Any] = json.loads(subprocess.check_output([perm, "info", "--json"], text=True))
    return info


def print_foot(machine: str) -> None:
    print(f"\n{machine}; commit {commit()}; {shlex.join(['python3', *sys.argv])}")
