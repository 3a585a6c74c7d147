"""libperm.thewalrus gives what thewalrus gives, where it is installed."""

import numpy as np
import pytest
from support import SEED

theirs = pytest.importorskip("thewalrus")

from libperm import thewalrus as ours  # noqa: E402


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_perm(n, dtype):
    a = np.random.default_rng(SEED + n).normal(size=(n, n)).astype(dtype)
    assert ours.perm(a) == pytest.approx(theirs.perm(a), rel=1e-10)
    assert ours.perm(a, method="ryser") == ours.perm(a, "bbfg")


def test_perm_refuses_what_they_refuse():
    for wrong in ([[1.0]], 1.0, np.ones((2, 3)), np.full((2, 2), np.nan)):
        with pytest.raises((TypeError, ValueError)) as of_theirs:
            theirs.perm(wrong)
        with pytest.raises(of_theirs.type):
            ours.perm(wrong)


@pytest.mark.parametrize("counts", [[1, 1, 1], [2, 0, 1], [3, 1, 2], [0, 0, 0]])
def test_permanent_repeated(counts):
    a = np.random.default_rng(SEED).normal(size=(3, 3))
    repeated = np.repeat(np.repeat(a, counts, axis=0), counts, axis=1)
    expected = theirs.perm(repeated) if sum(counts) > 0 else 1
    assert ours.permanent_repeated(a, counts) == pytest.approx(expected, rel=1e-9)
