"""Stone Soup's tests of data association: its JPDA, by each of its names, is libperm.stonesoup's."""

from __future__ import annotations

import sys
from types import ModuleType

from fetching import OfPyPI
from suite import Suite, asks


def replace() -> None:
    from stonesoup.dataassociator import probability

    from libperm.stonesoup import ExactJPDA

    class Ours(ExactJPDA):
        associate = asks(ExactJPDA.associate)

    for name in ("JPDA", "JPDAwithEHM", "JPDAwithEHM2"):
        setattr(probability, name, Ours)
    plugin = sys.modules["stonesoup.plugins.pyehm"] = ModuleType("stonesoup.plugins.pyehm")
    vars(plugin).update(JPDAWithEHM=Ours, JPDAWithEHM2=Ours)


TESTS = "stonesoup/dataassociator/tests/"
SUITE = Suite(
    OfPyPI("stonesoup", "1.9.1", built=False),
    (TESTS + "test_probability.py", TESTS + "test_tree.py"),
    replace,
)
