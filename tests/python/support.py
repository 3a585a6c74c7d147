"""Permanents by definition, random matrices, real matrices."""

import os
import random
from fractions import Fraction
from itertools import permutations
from math import prod
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SEED = int(os.environ.get("PERM_TEST_SEED", "20260101"), 0)
MULTIPLIER = int(os.environ.get("PERM_TEST_MULTIPLIER", "1"))


def rng(salt):
    return random.Random(SEED * 1000003 + salt)


def by_definition(rows):
    """Of m x n, m <= n, with entries that Fraction takes; a pair of them for complex ones."""
    n = len(rows[0]) if rows else 0
    if any(isinstance(x, complex) for row in rows for x in row):
        return _complex_by_definition(rows, n)
    exact = [[Fraction(x) for x in row] for row in rows]
    return sum(prod(exact[i][j] for i, j in enumerate(s)) for s in permutations(range(n), len(rows)))


def _complex_by_definition(rows, n):
    re = im = Fraction(0)
    for s in permutations(range(n), len(rows)):
        x, y = Fraction(1), Fraction(0)
        for i, j in enumerate(s):
            a, b = Fraction(complex(rows[i][j]).real), Fraction(complex(rows[i][j]).imag)
            x, y = x * a - y * b, x * b + y * a
        re, im = re + x, im + y
    return re, im


def by_rows(entries, n):
    """Exact, for sparse ones: the sums over all sets of columns that the rows so far can use, as bits.
    entries: of each row a dictionary {column: entry}."""
    last = {j: i for i, row in enumerate(entries) for j in row}
    states = {0: 1}
    for i, row in enumerate(entries):
        done = sum(1 << j for j in row if last[j] == i)
        following = {}
        for used, value in states.items():
            for j, x in row.items():
                after = used | 1 << j
                if after != used and done & ~after == 0:  # columns that none can use any more have been used
                    key = after & ~done
                    following[key] = following.get(key, 0) + value * x
        states = following
    return sum(states.values()) if len(last) == n else 0


def random_rows(random_source, m, n, density, entry):
    return [[entry() if random_source.random() < density else 0 for _ in range(n)] for _ in range(m)]


def shared_matrix(name):
    """One of the SuiteSparse Matrix Collection, as scipy.sparse."""
    io = pytest.importorskip("scipy.io")
    folder = Path(os.environ.get("PERM_MATRIX_DIR", ROOT.parent / "shared" / "matrices"))
    path = folder / f"{name}.mtx"
    if not path.exists():
        pytest.skip(f"no file {path} (PERM_MATRIX_DIR names the folder)")
    return io.mmread(path)
