"""Small arrays, which go straight to the library, against the same numbers in lists."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import libperm


def arrays(n, random):
    real = random.uniform(-1, 1, (n, n))
    yield real
    yield np.where(random.uniform(size=(n, n)) < 0.3, 0, real)
    yield random.integers(-9, 10, (n, n))
    yield random.integers(-(2**62), 2**62, (n, n))
    yield real + 1j * random.uniform(-1, 1, (n, n))
    yield np.zeros((n, n))
    yield np.ones((n, n), np.int64)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 11, 20])
def test_an_array_is_what_its_list_is(n):
    random = np.random.default_rng(930 + n)
    for a in arrays(n, random):
        if n == 20 and a.dtype.kind != "f":
            continue  # a second
        expected, found = libperm.compute(a.tolist()), libperm.compute(a)
        of_numpy = {int: int, float: np.float64, complex: np.complex128}
        assert type(libperm.permanent(a)) is of_numpy[type(libperm.permanent(a.tolist()))]
        assert (found.text, found.exact) == (expected.text, expected.exact)
        assert (found.n, found.nnz) == (expected.n, expected.nnz)
        for view in (np.asfortranarray(a), a[::-1]):
            value, bound = complex(libperm.compute(view)), expected.rel_error_bound
            same = np.array_equal(view, a)
            if same and np.isfinite(bound):
                assert abs(value - complex(expected)) <= (bound + 1e-15) * abs(value)


def test_arrays_at_fault():
    with pytest.raises(libperm.InvalidMatrixError, match="row 1, column 0 is NaN"):
        libperm.permanent(np.array([[1.0, 2.0], [np.nan, 1.0]]))
    assert libperm.permanent(np.ones((3, 2))) == libperm.permanent(np.ones((2, 3))) == 6
    assert libperm.permanent(np.ones((0, 0))) == 1
    assert libperm.permanent(np.array([[True, True], [True, True]])) == 2


def test_straight_to_the_library():
    random = np.random.default_rng(931)
    for a in (random.uniform(size=(8, 8)), random.integers(1, 9, (8, 8))):
        assert libperm.compute(a).engine == "glynn"


def test_gradient_of_a_long_band_by_zeros_too():
    n = 50
    band = sum(np.diag(np.arange(1.0, n - abs(d) + 1) / n, d) for d in (-1, 0, 1))
    found = libperm.gradient(band, full=True)
    derivatives, bounds = found.derivatives, found.error_bounds
    assert derivatives.shape == bounds.shape == (n, n)
    of_entries = libperm.gradient(sparse.csr_array(band)).toarray()
    assert np.allclose(derivatives[band != 0], of_entries[band != 0], rtol=1e-12, atol=0)
    for i, j in ((0, 5), (17, 12), (30, 33)):
        without = np.delete(np.delete(band, i, 0), j, 1)
        expected = libperm.permanent(sparse.csr_array(without))
        assert expected > 0
        assert abs(derivatives[i, j] - expected) <= bounds[i, j] + 1e-13 * expected
    dense = (np.random.default_rng(3).random((60, 60)) < 0.4) * 1.0
    with pytest.raises(libperm.RefusedError, match=r"pass scipy\.sparse"):
        libperm.gradient(dense)


def test_minors_of_integers_that_no_double_holds():
    a = np.array([[2**62 + 1, 3], [-(2**63), 2**53 + 1], [5, 7]])
    found, bounds = libperm.sub_permanents(a, full=True)
    for i in range(3):
        exact = libperm.permanent(np.delete(a, i, 0))
        assert abs(Fraction(found[i]) - exact) <= Fraction(bounds[i])
        assert bounds[i] < 1e-12 * 2**117
    g = libperm.gradients(a[None, :2], full=True)
    assert abs(Fraction(g.derivatives[0, 0, 0]) - (2**53 + 1)) <= Fraction(g.error_bounds[0, 0, 0])
    with pytest.raises(TypeError, match="no double"):
        libperm.sub_permanents(np.array([[10**30], [1]], object))
