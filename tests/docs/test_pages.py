"""What the pages show is so: `console` blocks print what they show, where "..." is anything; `python` blocks
are doctests; code of other languages stands, as it is shown, in a file of docs/examples, and tests/package
runs these. `perm` is the command on the PATH; the package libperm is found as for tests/python."""

import doctest
import shutil
import subprocess
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.myst import CodeBlockParser, PythonCodeBlockParser

ROOT = Path(__file__).parents[2]
EXAMPLES = [path for path in (ROOT / "docs" / "examples").iterdir() if path.is_file()]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run_console(example):
    for session in ("\n" + example.parsed).split("\n$ ")[1:]:
        command, _, expected = session.partition("\n")
        while command.endswith("\\"):
            line, _, expected = expected.partition("\n")
            command = f"{command}\n{line}"
        ran = subprocess.run(
            ["bash", "-c", command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if not doctest.OutputChecker().check_output(expected.rstrip() + "\n", ran.stdout, FLAGS):
            raise AssertionError(f"$ {command}\nexpected:\n{expected}\ngot:\n{ran.stdout}")


def without_margins(text):
    return "\n".join(line.strip() for line in text.strip().splitlines())


def find_in_examples(example):
    shown = without_margins(example.parsed)
    if not any(shown in without_margins(path.read_text()) for path in EXAMPLES):
        raise AssertionError(f"not in any file of docs/examples:\n{example.parsed}")


LANGUAGES = ("c", "cpp", "cmake", "make", "lua", "r")
SYBIL = Sybil(
    [PythonCodeBlockParser(doctest_optionflags=FLAGS), CodeBlockParser("console", run_console)]
    + [CodeBlockParser(language, find_in_examples) for language in LANGUAGES]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page):
    if "```console" in page.read_text() and not shutil.which("perm"):
        pytest.skip("no command perm on the PATH")
    for example in SYBIL.parse(page):
        example.evaluate()


def test_something_is_checked():
    examples = [example for page in PAGES for example in SYBIL.parse(page)]
    assert len(examples) >= 10
