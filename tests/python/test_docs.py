"""What the docstrings and the README show is so."""

import doctest
import importlib
import pkgutil

import pytest
from support import ROOT

import libperm

MODULES = ["libperm"] + [module.name for module in pkgutil.walk_packages(libperm.__path__, "libperm.")]
CLASSES = [kind for kind in map(vars(libperm).get, libperm.__all__) if isinstance(kind, type)]

INTEGRATIONS = [
    f"libperm.{name}" for name in ("jax", "lattices", "networkx", "piquasso", "thewalrus", "torch")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        if name in INTEGRATIONS:  # with a package that is not here
            pytest.skip(str(error))
        raise
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


@pytest.mark.parametrize("kind", [*CLASSES, libperm.boson.Distribution])
def test_docstrings_of_classes(kind):
    """They say that they are of libperm, and their methods are not: testmod() passes these over."""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for found in doctest.DocTestFinder().find(kind, module=False, globs={}):
        assert runner.run(found).failed == 0


def test_readme():
    pytest.importorskip("scipy")
    path = ROOT / "capi" / "python" / "README.md"
    ran = doctest.testfile(str(path), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert ran.failed == 0
    assert ran.attempted > 10


def test_readme_names_every_option():
    text = (ROOT / "capi" / "python" / "README.md").read_text()
    assert [name for name in libperm.Options.__annotations__ if f"`{name}`" not in text] == []
