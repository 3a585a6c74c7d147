"""check_readme.py [LANGUAGE...] - the lines of the README, run with what is installed: "python", "console"
(the command perm), "c" (first.c, by cc and pkg-config). Not given: all."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
README = (ROOT / "README.md").read_text()


def blocks(language):
    found = re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)
    assert found, f"the README has no block of {language}"
    return found


def output_of(command):
    ran = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert ran.returncode == 0, f"$ {command}\n{ran.stdout}"
    return ran.stdout


def check(command, expected):
    printed = output_of(command)
    right = doctest.OutputChecker().check_output(expected.rstrip() + "\n", printed, FLAGS)
    assert right, f"$ {command}\nexpected:\n{expected}\ngot:\n{printed}"


def run_python():
    import numpy

    lines = "\n".join(blocks("python"))
    if numpy.__version__ < "2":  # which writes its numbers without their type
        lines = re.sub(r"np\.float64\((.*?)\)", r"\1", lines)
    test = doctest.DocTestParser().get_doctest(lines, {}, "README.md", "README.md", 0)
    failed, tried = doctest.DocTestRunner(optionflags=FLAGS).run(test)
    assert tried, "the README has no lines of Python"
    assert not failed
    return tried


def run_console():
    sessions = [session for block in blocks("console") for session in ("\n" + block).split("\n$ ")[1:]]
    for session in sessions:
        command, _, expected = session.partition("\n")
        check(command, expected)
    return len(sessions)


def run_c():
    line = re.search(r"^cc docs/examples/first\.c \$\(pkg-config --cflags --libs perm\)", README, re.M)
    assert line, "the README does not compile docs/examples/first.c"
    assert blocks("c")[0].strip() in (ROOT / "docs" / "examples" / "first.c").read_text()
    check(f"{line[0]} -o /tmp/first && /tmp/first", "10\n")
    return 1


for language in sys.argv[1:] or ["python", "console", "c"]:
    count = {"python": run_python, "console": run_console, "c": run_c}[language]()
    print(f"README: {count} examples of {language}")
