"""Which libperm.so.1 is loaded: $PERM_LIBRARY, the package's, the system's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import libperm
from libperm._core.library import library

SHOW = "from libperm._core.library import library; print(library._name)"


@pytest.fixture
def bare(tmp_path):
    """A copy of the package that carries no library."""
    shutil.copytree(
        Path(libperm.__file__).parent,
        tmp_path / "libperm",
        ignore=shutil.ignore_patterns("lib", "__pycache__"),
    )
    of_a_wheel = Path(libperm.__file__).parents[1] / "libperm.libs"  # what its library needs
    if of_a_wheel.exists():
        (tmp_path / of_a_wheel.name).symlink_to(of_a_wheel)
    return tmp_path


def imported(folder, **environment):
    kept = {
        name: text for name, text in os.environ.items() if name not in ("PERM_LIBRARY", "LD_LIBRARY_PATH")
    }
    return subprocess.run(
        [sys.executable, "-c", SHOW],
        cwd=folder,
        env={**kept, **environment, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )


def test_named(bare):
    named = str(Path(library._name).resolve())
    assert imported(bare, PERM_LIBRARY=named).stdout == named + "\n"


def test_named_and_missing(bare):
    ran = imported(bare, PERM_LIBRARY="/nowhere/libperm.so.1")
    assert "ImportError: PERM_LIBRARY is /nowhere/libperm.so.1" in ran.stderr


def test_carried(bare):
    carried = bare / "libperm" / "_core" / "lib" / "libperm.so.1"
    carried.parent.mkdir()
    carried.symlink_to(Path(library._name).resolve())
    assert imported(bare).stdout == f"{carried}\n"


def test_older(bare, tmp_path):
    """A library that lacks a function of the package's header is told as such."""
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("no C compiler")
    older = tmp_path / "libperm.so.1"
    source = 'const char *perm_status_text(int s) { return s ? "" : 0; }'
    command = [cc, "-shared", "-fPIC", "-xc", "-", "-o", str(older)]
    subprocess.run(command, input=source, check=True, text=True)
    ran = imported(bare, PERM_LIBRARY=str(older))
    assert f"ImportError: {older} is older than this package: it has no perm_last_error" in ran.stderr


def test_of_the_system(bare):
    folder = bare / "usr" / "lib" / "some-linux-gnu"  # as deep as a wheel has it, which finds libperm.libs so
    folder.mkdir(parents=True)
    (folder / "libperm.so.1").symlink_to(Path(library._name).resolve())
    assert imported(bare, LD_LIBRARY_PATH=str(folder)).stdout == "libperm.so.1\n"


def test_none(bare):
    ran = imported(bare)
    if ran.returncode == 0:
        pytest.skip("the system has a libperm.so.1")
    assert "ImportError: no libperm.so.1" in ran.stderr
