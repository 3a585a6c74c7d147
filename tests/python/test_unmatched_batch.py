"""libperm.permanents of matrices whose lines may stay unmatched, against those of each alone."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from support import SEED

import libperm

RNG = np.random.default_rng(SEED)
COUNT, M, N = 7, 4, 5
REALS = np.where(RNG.random((COUNT, M, N)) < 0.7, RNG.normal(size=(COUNT, M, N)), 0)
INTEGERS = RNG.integers(-4, 5, (COUNT, M, N))
ROWS, COLS = RNG.random((COUNT, M)), RNG.random((COUNT, N))


def alone(batch, rows, cols):
    return [libperm.permanent(a, row_unmatched=r, col_unmatched=c) for a, r, c in zip(batch, rows, cols)]


BATCHES = [
    REALS,
    INTEGERS,
    REALS * (1 + 2j),
    list(REALS),
    REALS.tolist(),
    list(map(sparse.csr_array, INTEGERS)),
]


@pytest.mark.parametrize("batch", BATCHES)
def test_each_with_its_own(batch):
    found = libperm.permanents(batch, row_unmatched=ROWS, col_unmatched=COLS)
    assert len(found) == COUNT
    assert list(found) == pytest.approx(alone(batch, ROWS, COLS), rel=1e-10)
    lists = libperm.permanents(batch, row_unmatched=ROWS.tolist(), col_unmatched=COLS.tolist())
    assert list(lists) == pytest.approx(list(found), rel=1e-14)


def test_the_same_for_all():
    for rows, cols in ((ROWS[0], COLS[0]), (2, COLS[0]), (ROWS[0], 3.5)):
        found = libperm.permanents(REALS, row_unmatched=rows, col_unmatched=cols)
        assert list(found) == pytest.approx(alone(REALS, [rows] * COUNT, [cols] * COUNT), rel=1e-10)


def test_one_side_alone():
    found = libperm.permanents(REALS, col_unmatched=COLS)
    assert list(found) == pytest.approx(alone(REALS, [None] * COUNT, COLS), rel=1e-10)
    with pytest.warns(libperm.UnmatchedWarning):
        assert not libperm.permanents(REALS, row_unmatched=ROWS).any()


def test_exact_numbers():
    large, third = 10**30, Fraction(1, 3)
    batch = [[[1, large], [3, 4]], [[third, 0], [2, 1]]]
    found = libperm.permanents(batch, row_unmatched=[[1, 2], [third, 1]], col_unmatched=1)
    assert found == alone(batch, [[1, 2], [third, 1]], [1, 1])
    assert all(isinstance(x, Fraction) for x in found)
    whole = libperm.permanents(INTEGERS, row_unmatched=2**60, col_unmatched=3)
    assert whole == alone(INTEGERS, [2**60] * COUNT, [3] * COUNT)
    assert all(type(x) is int for x in whole)


def test_options_and_bounds():
    found = libperm.permanents(REALS, full=True, row_unmatched=ROWS, col_unmatched=COLS, precision="dd")
    assert isinstance(found, libperm.Batch)
    assert (found.rel_error_bounds < 1e-20).all()
    twice = libperm.permanents(INTEGERS, row_unmatched=1, col_unmatched=1, row_multiplicity=[2, 1, 1, 0])
    one = libperm.permanent(INTEGERS[3], row_unmatched=1, col_unmatched=1, row_multiplicity=[2, 1, 1, 0])
    assert twice[3] == one
    assert libperm.permanents(np.zeros((0, 2, 3)), row_unmatched=1, col_unmatched=1).shape == (0,)


@pytest.mark.parametrize(
    ("rows", "cols", "match"),
    [
        (np.ones(3), 1, "row_unmatched has the shape"),
        (np.ones((COUNT, M + 1)), 1, "row_unmatched has the shape"),
        ([1] * 3, 1, "row_unmatched has 3 weights"),
        (1, [[1] * N] * 3, "col_unmatched has 3 weights"),
        ("1", 1, "row_unmatched is '1'"),
    ],
)
def test_refuses(rows, cols, match):
    with pytest.raises(libperm.InvalidMatrixError, match=match):
        libperm.permanents(REALS, row_unmatched=rows, col_unmatched=cols)
