"""matrix-permanent's tests (qc-permanent in PyPI): for each of its algorithms one of our engines stands."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from fetching import OfRepository
from suite import Suite, asks

import libperm

ENGINES = {"opt": "auto", "combinatoric": "frontier", "glynn": "tree", "ryser": "ryser"}


def replace() -> None:
    module = sys.modules["permanent"] = ModuleType("permanent")
    for name, engine in ENGINES.items():
        setattr(module, name, asks(_by(engine)))


def _by(engine: str) -> Any:
    def permanent(A: Any) -> Any:
        return libperm.permanent(A, engine=engine)

    permanent.__name__ = engine  # which pytest shows
    return permanent


LIMIT = "no limit here, but for an engine that tells of its own as another error"
TESTS = "tests/test_permanent.py"
SUITE = Suite(
    OfRepository("matrix-permanent", "0.0.2", "theochem", (TESTS,)),
    (TESTS,),
    replace,
    {
        "::test_dim_gt_64_raises": f"more than 64 lines are {LIMIT}",
        "::test_int_dim_diff_gt_20_raises": f"integers in many more columns than rows are {LIMIT}",
        "::test_invalid_type_raises.*-arg0": "bools are numbers here, 0 and 1",
    },
)
