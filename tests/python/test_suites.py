"""./dev suites fails where it should: a suite of made-up tests for each way."""

import subprocess
import sys

import pytest
from support import ROOT

MADE_UP = '''
from dataclasses import dataclass
from pathlib import Path
from fetching import Source
from suite import Asked, Suite

@dataclass(frozen=True)
class Here(Source):
    def fetch(self, part, checkouts):
        (part / "made_up-1").mkdir()
        (part / "made_up-1/test_it.py").write_text(TESTS)

TESTS = """
import pytest
from suite import Asked
def test_passes():
    Asked.count += 1
{tests}
"""
SUITE = Suite(Here("made_up", "1"), {files}, lambda: None, {differences}, {left_out})
'''
FAILS = "def test_more():\n    Asked.count += 1\n    assert False"
PASSES = "def test_more():\n    Asked.count += 1"
SKIPS = "def test_more():\n    pytest.skip('because')"
SILENT = "def test_more():\n    pass"


def judged(folder, tests="", differences="{}", left_out="{}", files="('test_it.py',)"):
    made_up = MADE_UP.format(tests=tests, differences=differences, left_out=left_out, files=files)
    (folder / "of_made_up.py").write_text(made_up)
    program = (
        "import run, sys; from pathlib import Path; print(*run.run('made_up', Path(sys.argv[1]), None, []))"
    )
    paths = f"import sys; sys.path[:0] = [{str(ROOT / 'tests/suites')!r}, {str(folder)!r}]; "
    command = [sys.executable, "-c", paths + program, str(folder / "fetched")]
    output = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout
    return output[output.rindex("made_up 1: ") :]


@pytest.mark.parametrize(
    ("tests", "options", "told"),
    [
        ("", {}, "1 pass True"),
        (PASSES, {}, "2 pass True"),
        (SILENT, {}, "1 pass, 1 ask for nothing of ours True"),
        (FAILS, {"differences": "{'::test_more': 'why'}"}, "1 pass, 1 differ True"),
        (FAILS, {"left_out": "{'::test_more': 'why'}"}, "1 pass True"),
        (FAILS, {}, "1 failed False"),
        (PASSES, {"differences": "{'::test_more': 'why'}"}, "1 failed False"),
        (SKIPS, {}, "1 skipped False"),
        ("pytest.skip('because', allow_module_level=True)", {}, "test_it.py False"),
        ("import nothing_of_this_name", {}, "test_it.py False"),
        ("", {"differences": "{'::test_of_once': 'why'}"}, "no test has such a name: ::test_of_once False"),
        ("", {"left_out": "{'::test_passes': 'why'}"}, "no test of it has asked for ours: test_it.py False"),
    ],
)
def test_judgement(tests, options, told, tmp_path):
    assert judged(tmp_path, tests, **options).strip().endswith(told)
