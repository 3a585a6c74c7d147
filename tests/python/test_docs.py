"""What the docstrings and the README show is so."""

import doctest
import importlib
import pkgutil

import pytest
from support import ROOT

import perm

MODULES = ["perm"] + [f"perm.{module.name}" for module in pkgutil.iter_modules(perm.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS).failed == 0


def test_readme():
    pytest.importorskip("scipy")
    path = ROOT / "capi" / "python" / "README.md"
    ran = doctest.testfile(str(path), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert ran.failed == 0
    assert ran.attempted > 10


def test_readme_names_every_option():
    text = (ROOT / "capi" / "python" / "README.md").read_text()
    assert [name for name in perm.Options.__annotations__ if f"`{name}`" not in text] == []
