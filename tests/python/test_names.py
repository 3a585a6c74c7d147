"""The names of the package, those of before among them."""

import importlib
import os
import pickle
import pkgutil
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import libperm


def test_modules_of_before_still_serve():
    from libperm.periodic import Growth, Periodic, lattice_cell
    from libperm.plan import Plan

    assert (Plan, Periodic, Growth) == (libperm.Plan, libperm.Periodic, libperm.Growth)
    assert lattice_cell("grid:2").shape == (1, 3)
    assert importlib.import_module("libperm.plan").Plan is libperm.Plan
    for name in ("plan", "periodic"):
        with pytest.warns(DeprecationWarning, match=f"libperm.{name}") as warned:
            assert hasattr(getattr(libperm, name), name.capitalize())
        assert warned[0].filename == __file__
    # As a pickle of before names it.
    assert pickle.loads(b"clibperm.plan\nPlan\n.") is libperm.Plan


def test_no_module_stands_beside_a_class():
    assert not {"plan", "periodic"} & vars(libperm).keys()
    assert not {"plan", "periodic"} & {module.name for module in pkgutil.iter_modules(libperm.__path__)}
    assert set(libperm.__all__) < set(dir(libperm))
    assert [name for name in dir(libperm) if name.startswith("_") and not name.endswith("__")] == []
    with pytest.raises(AttributeError, match="no attribute 'plans'"):
        libperm.plans  # noqa: B018


def test_photons_come_with_the_package():
    program = "import libperm; print(libperm.boson.outcomes(2, 1).tolist(), 'boson' in dir(libperm))"
    environment = dict(os.environ, PYTHONPATH=str(Path(libperm.__file__).parents[1]))
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert ran.stdout == "[[1, 0], [0, 1]] True\n", ran.stderr


def test_the_guide_names_what_there_is():
    guide = libperm.__doc__
    functions = [name for name in libperm.__all__ if name[0].islower() and name != "set_log_level"]
    assert [name for name in functions if name not in guide] == []
    text = pydoc.plain(pydoc.render_doc(libperm))
    assert text.index("permanent(A)") < text.index("PACKAGE CONTENTS")
