"""libperm.sample: arrays of matchings, as often as their shares say."""

import math

import pytest
from support import rng

import libperm

np = pytest.importorskip("numpy")


def test_law_of_a_small_matrix():
    a = [[1.0, 2.0, 0.5], [0.25, 3.0, 1.0], [1.0, 0.0, 1.0]]
    shots = 40000
    found = libperm.sample(a, shots, rng=rng(2601).randrange(2**63))
    assert found.shape == (shots, 3)
    assert found.dtype == np.int64
    law = {(0, 1, 2): 3.0, (1, 0, 2): 0.5, (1, 2, 0): 2.0, (2, 1, 0): 1.5}
    assert libperm.permanent(a) == sum(law.values())
    drawn, counts = np.unique(found, axis=0, return_counts=True)
    assert {tuple(one) for one in drawn.tolist()} == law.keys()
    for one, count in zip(drawn.tolist(), counts.tolist()):
        p = law[tuple(one)] / sum(law.values())
        assert abs(count - shots * p) < 5.5 * math.sqrt(shots * p * (1 - p))


def test_seeds_and_threads():
    a = np.random.default_rng(3).random((12, 12))
    first = libperm.sample(a, 2000, rng=5, threads=1)
    assert (first == libperm.sample(a, 2000, rng=5, threads=2)).all()
    assert (first[:7] == libperm.sample(a, 7, rng=5)).all()
    assert (first != libperm.sample(a, 2000, rng=6)).any()


def test_unmatched_lines_are_minus_one():
    found = libperm.sample([[1.0], [1.0]], 1000)
    assert set(map(tuple, found.tolist())) == {(0, -1), (-1, 0)}
    found = libperm.sample([[1.0]], 1000, row_unmatched=3.0, col_unmatched=1.0)
    assert 600 < (found == -1).sum() < 900


def test_bad_input():
    with pytest.raises(libperm.InvalidMatrixError):
        libperm.sample([[1, -1], [1, 1]], 5)
    with pytest.raises(libperm.InvalidMatrixError, match="no matching"):
        libperm.sample([[0]], 5)
    with pytest.raises((TypeError, ValueError, libperm.Error)):
        libperm.sample([[1]], -1)
    assert libperm.sample([[1]], 0).shape == (0, 1)
