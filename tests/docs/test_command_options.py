"""docs/command.md names, of each option of the library, the subcommands that offer it."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "command.md"
COMMANDS = (
    "compute",
    "bounds",
    "estimate",
    "sample",
    "matchings",
    "explain",
    "source",
    "plan",
    "shard",
    "combine",
)
NAMES = {
    "memory_limit_bytes": "--memory",
    "time_limit_seconds": "--time-limit",
    "cache_dir": "--cache",
    "checkpoint_seconds": "--checkpoint-every",
}
NONE = {"progress", "cancel", "cache_limit_bytes"}  # of the command


def run(*words):
    return subprocess.run(["perm", *words], capture_output=True, text=True, check=True).stdout


def test_each_option_has_its_subcommands():
    if not shutil.which("perm"):
        pytest.skip("no command perm on the PATH")
    options, _, _ = PAGE.read_text().partition("## Options")[2].partition("Of periodic, ")
    common = set(re.findall(r"\w+", options.partition("Of ")[2].partition(", unless")[0])) - {"and"}
    helps = {command: run(command, "--help") for command in COMMANDS}
    fields = json.loads(run("info", "--options", "--json"))["options"]
    assert len(fields) > len(NONE)
    for field in fields:
        if field in NONE:
            continue
        option = NAMES.get(field, f"--{field}")
        line = next(line for line in options.splitlines() if line.startswith(f"`{option} "))
        listed = re.search(r"\(([^)]*)\)$", line)
        words = set(re.findall(r"\w+", listed[1])) if listed else {"too"}
        told = words - {"too"} | (common if "too" in words else set())
        offered = {command for command, text in helps.items() if f"  {option} " in text}
        assert told & set(COMMANDS) == offered, option
