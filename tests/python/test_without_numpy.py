"""Lists need nothing but Python."""

import os
import subprocess
import sys
from pathlib import Path

import libperm

PROGRAM = """
import sys
for name in ("numpy", "scipy", "tqdm"):
    sys.modules[name] = None  # importing it fails

from fractions import Fraction
import libperm

assert libperm.permanent([[1, 2], [3, 4]]) == 10
assert libperm.permanent([[1.5, 2], [3, 4]]) == 12.0
assert libperm.permanent([[1j, 2], [3, 4]]) == 6 + 4j
assert libperm.permanent([[Fraction(1, 3), 2], [3, 4]]) == Fraction(22, 3)
plan = libperm.Plan([[1.0, 2.0], [3.0, 4.0]])
assert plan.permanents([[1, 2, 3, 4], [0.5, 1, 1, 1]]) == [10.0, 1.5]
assert libperm.permanents([[[1j, 2], [3, 4]]]) == [6 + 4j]
try:
    assert libperm.Periodic([[1, 1, 1]]).terms(5) == [1, 2, 3, 5, 8]
    assert libperm.gradient([[1, 2], [3, 4]]) == [[4, 3], [2, 1]]
except libperm.UnsupportedError:
    pass
assert libperm.permanent([[1, 2], [3, 4]], progress=True) == 10
print("fine")
"""


def test_without_numpy():
    folder = Path(libperm.__file__).parents[1]
    environment = dict(os.environ, PYTHONPATH=f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    ran = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "fine\n"), ran.stderr
