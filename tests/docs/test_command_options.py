"""The lists of options in the manual and in perm.h are those of the library's table."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "command.md"
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


OF_PYTHON = {
    "memory_limit_bytes": "memory_limit",
    "time_limit_seconds": "time_limit",
    "cache_limit_bytes": "cache_limit",
    "seed": "rng",
}
NO_OPTION_OF_PYTHON = {"cancel", "chunks", "gpus"}


def run(*words):
    if not shutil.which("perm"):
        pytest.skip("no command perm on the PATH")
    return subprocess.run(["perm", *words], capture_output=True, text=True, check=True).stdout


def table():
    return json.loads(run("info", "--options", "--json"))


def paragraph_of_the_command(field):
    text = PAGE.read_text().partition("## Options")[2]
    name = NAMES.get(field, f"--{field}")
    return next(part for part in text.split("\n\n") if part.startswith(f"`{name} "))


def row_of_python(field):
    text = (ROOT / "capi" / "python" / "README.md").read_text()
    name = OF_PYTHON.get(field, field)
    return next(line for line in text.splitlines() if re.match(rf"\| [^|]*`{name}`", line))


def comment_of_the_header(field):
    """What stands beside the field, up to the end of the comment."""
    options = (ROOT / "include" / "perm.h").read_text().partition("typedef struct perm_opts")[2]
    return re.search(rf"\b{field};( */\*.*?\*/)?", options, re.S)[0]


def test_each_option_is_in_each_list_with_all_of_its_words():
    words = 0
    for field, facts in table()["facts"].items():
        places = [comment_of_the_header(field)]
        if field not in NONE:
            places.append(paragraph_of_the_command(field))
        if field not in NO_OPTION_OF_PYTHON:
            places.append(row_of_python(field))
        for word in filter(None, facts["values"].split(", ")):
            stem = word.replace("LIST", "")  # numbers stand there
            words += 1
            for place in places:
                assert re.search(rf"(?<![\w+]){re.escape(stem)}", place), (field, word, place)
    assert words > 30


@pytest.mark.parametrize("command", ["compute", "plan"])
def test_the_help_has_the_words_and_units(command):
    units = {"bytes": "BYTES", "seconds": "TIME", "": "N"}
    text = run(command, "--help")
    numbers = 0
    for field, facts in table()["facts"].items():
        found = re.search(rf"^  {NAMES.get(field, '--' + field)} (\w+)(.*)$", text, re.M)
        if not found:
            continue
        for word in filter(None, facts["values"].split(", ")):
            assert word.replace("LIST", "") in found[2], (field, word)
        if "int" in facts["type"] or facts["unit"]:
            assert found[1] == units[facts["unit"]], field
            numbers += 1
    assert numbers >= 4


def test_each_option_has_its_subcommands():
    options, _, _ = PAGE.read_text().partition("## Options")[2].partition("Of periodic, ")
    common = set(re.findall(r"\w+", options.partition("Of ")[2].partition(", unless")[0])) - {"and"}
    helps = {command: run(command, "--help") for command in COMMANDS}
    fields = table()["options"]
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
