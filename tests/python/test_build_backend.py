"""Building the package where that is not possible."""

import subprocess
import sys

import pytest
from support import ROOT

pytest.importorskip("scikit_build_core")

BUILD = "import build_backend; build_backend.build_wheel({!r})"


def test_says_last_what_to_install(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", BUILD.format(str(tmp_path))],
        cwd=ROOT,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": "capi/python",
            "CC": "/nowhere/cc",
            "CXX": "/nowhere/c++",
        },
        capture_output=True,
        text=True,
    )
    assert ran.returncode != 0
    assert "wheel.cmake=false" in ran.stderr
    assert "apt-get install g++ cmake" in ran.stderr.splitlines()[-1], ran.stderr
    assert not list(tmp_path.iterdir())
