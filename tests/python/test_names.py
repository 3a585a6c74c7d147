"""The names of the package."""

import os
import pickle
import pkgutil
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

import libperm


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


def test_help_lists_what_is_for_use():
    text = pydoc.plain(pydoc.render_doc(libperm))
    contents = re.search(r"^PACKAGE CONTENTS\n((?: .*\n)+)", text, re.M)[1].split("\n")
    modules = [line.split()[0] for line in contents if line.strip()]
    assert [name for name in modules if name.startswith("_")] == ["_core"]
    public = [
        "boson",
        "gaussian",
        "jax",
        "lattices",
        "networkx",
        "piquasso",
        "stonesoup",
        "thewalrus",
        "torch",
    ]
    assert [name for name in modules if not name.startswith("_")] == public
    assert re.findall(r"\b_core\.\w+", text) == []  # nor do classes name it
    classes = [kind for kind in map(vars(libperm).get, libperm.__all__) if isinstance(kind, type)]
    assert len(classes) > 20
    assert {kind.__module__ for kind in classes} == {"libperm"}
    assert libperm.boson.Distribution.__module__ == "libperm.boson"


def test_pickles_name_what_is_for_use():
    """So they are read wherever the core has a class."""
    pytest.importorskip("numpy")
    A = [[1.0, 2.0], [3.0, 4.0]]
    periodic = libperm.Periodic([[1, 1, 1]])
    for value in (
        libperm.compute(A),
        libperm.compute([[1j, 2], [3, 4]], precision="exact"),
        libperm.Plan(A),
        libperm.permanents([A, A], full=True),
        libperm.gradient(A, full=True),
        libperm.marginals(A),
        libperm.bounds(A),
        libperm.estimate(A),
        periodic.growth(),
        periodic.generating_function(),
        libperm.boson.distribution([[0.6, 0.8], [-0.8, 0.6]], 2),
        libperm.InvalidMatrixError("none", 102),
    ):
        saved = pickle.dumps(value)
        assert b"libperm._core" not in saved, value
        again = pickle.loads(saved)
        assert type(again) is type(value)
        assert repr(again) == repr(value) or isinstance(value, libperm.Plan)
    for name in libperm.__all__:
        kind = getattr(libperm, name)
        if isinstance(kind, type):
            assert pickle.loads(f"clibperm\n{name}\n.".encode()) is kind
