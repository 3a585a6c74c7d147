"""Small arrays, which go straight to the library, against the same numbers in lists."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from support import SEED

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
    assert found.tolist() == [libperm.permanent(np.delete(a, i, 0)) for i in range(3)]
    assert (bounds == 0).all()
    g = libperm.gradients(a[None, :2], full=True)
    assert abs(Fraction(g.derivatives[0, 0, 0]) - (2**53 + 1)) <= Fraction(g.error_bounds[0, 0, 0])
    assert libperm.sub_permanents(np.array([[10**30], [1]], object)).tolist() == [1, 10**30]


def by_definition(a, rows, columns):
    """Of the lines listed, copies listed again: each of the shorter side is matched."""
    if len(rows) > len(columns):
        return by_definition(a.T, columns, rows)
    return sum(
        math.prod(a[i, j] for i, j in zip(rows, chosen))
        for chosen in itertools.permutations(columns, len(rows))
    )


def copies(counts):
    return [line for line, count in enumerate(counts) for _ in range(count)]


def without(lines, k):
    return lines[:k] + lines[k + 1 :]


@pytest.mark.parametrize("entries", [[0, 1, -2, 10**12], [0, 1, -5, 2**70], [0, 1, Fraction(-1, 3), 7]])
def test_minors_of_exact_numbers_are_exact(entries):
    random, compared = np.random.default_rng(SEED), 0
    for counted in [False, True] * 12:
        m, n = random.integers(1, 4, 2)
        a = np.array(random.choice(np.array(entries, object), (m, n)), object)
        counts = [random.integers(0, 3, k).tolist() if counted else [1] * k for k in (m, n)]
        rows, columns = map(copies, counts)
        if not rows or not columns or len(rows) + len(columns) > 10:
            continue
        options = dict(zip(("row_multiplicity", "col_multiplicity"), counts)) if counted else {}
        expected = np.zeros((m, n), object)
        for r, i in enumerate(rows):
            for c, j in enumerate(columns):
                expected[i, j] += by_definition(a, without(rows, r), without(columns, c))
        found = libperm.gradient(a, **options)
        assert found.dtype == object
        assert found.tolist() == expected.tolist()
        assert libperm.gradient(a.tolist(), **options) == expected.tolist()
        if len(rows) == len(columns) + 1:
            alone = [
                by_definition(a, without(rows, rows.index(i)), columns) if i in rows else 0 for i in range(m)
            ]
            assert libperm.sub_permanents(a, **options).tolist() == alone
        compared += 1
    assert compared > 5


def test_exact_derivatives_of_zeros_and_ones_sum_to_the_permanent_in_every_line():
    random, n = np.random.default_rng(SEED), 26
    a = np.zeros((n, n), np.int64)
    for _ in range(8):
        a[range(n), random.permutation(n)] = 1
    a = sparse.csr_array(a)
    permanent = libperm.permanent(a)
    terms = libperm.gradient(a).multiply(a)
    assert permanent > 0
    for axis in (0, 1):
        assert terms.sum(axis=axis).tolist() == [permanent] * n


def test_what_is_in_a_matrix_says_what_its_derivatives_are():
    random = np.random.default_rng(SEED)
    a = random.integers(2**40, 2**41, (9, 9))
    minor = libperm.permanent(a[1:, 1:])
    g = libperm.gradient(a, full=True)
    assert type(g.derivatives[0, 0]) is int
    assert g.derivatives[0, 0] == minor
    assert (g.error_bounds == 0).all()
    assert int(g.permanent) == libperm.permanent(a)
    assert libperm.gradient(a, precision="double").dtype == np.float64
    exact = libperm.gradient(a * 0.5, precision="exact")
    assert exact[0, 0] == Fraction(minor, 2**8)
    small = sparse.csc_array(random.integers(0, 3, (8, 8)))
    found = libperm.gradient(small)
    assert found.dtype == np.int64
    assert found.format == "csc"
    for i, j in zip(*small.nonzero()):
        assert found[i, j] == libperm.permanent(np.delete(np.delete(small.toarray(), i, 0), j, 1))
    wide = np.stack([a[:, 1:], a[:, :-1]])
    subs = libperm.sub_permanents(wide)
    assert [subs[k][3] for k in (0, 1)] == [libperm.permanent(np.delete(w, 3, 0)) for w in wide]
    with pytest.raises(OverflowError, match="int64"):
        libperm.gradient(sparse.csr_array(a))
    with pytest.raises(TypeError, match="complex"):
        libperm.gradient(a * 1j, precision="exact")
    with pytest.raises(TypeError, match="fractions"):
        libperm.gradient(sparse.csr_array(a * 0.5), precision="exact")
    with pytest.raises(ValueError, match="exact ones are gradient"):
        libperm.gradients(a[None], precision="exact")
    with pytest.raises(ValueError, match="mod:7"):
        libperm.gradient(a, precision="mod:7")


def test_where_the_entries_own_rounding_is_all_there_is_the_text_says_so():
    turns = np.outer(range(12), range(12)) % 12
    fourier = libperm.compute(np.exp(2j * np.pi * turns / 12))
    assert fourier.entry_rounding >= 1
    assert "the entries' own rounding may change all digits" in repr(fourier)
    certain = libperm.compute(np.random.default_rng(SEED).uniform(size=(8, 8)))
    assert certain.entry_rounding == 8 * 2**-53
    assert "own rounding" not in repr(certain)
    assert libperm.compute(turns).entry_rounding == 0


def test_what_is_asked_of_minors_counts():
    whole = [[1, 2], [3, 4], [5, 6]]
    halves = [[0.5, 2.0], [3.0, 4.0], [5.0, 6.0]]
    for given in (whole, np.array(whole), np.array(whole, object)):
        for precision in (None, "auto", "exact"):
            found = libperm.sub_permanents(given, precision=precision)
            assert found.dtype == object
            assert found.tolist() == [38, 16, 10]
        assert libperm.sub_permanents(given, precision="double").dtype == float
        with pytest.raises(libperm.InvalidOptionError, match="precision dd"):
            libperm.sub_permanents(given, precision="dd")
        with pytest.raises(ValueError, match="mod:7"):
            libperm.sub_permanents(given, precision="mod:7")
    for given in (halves, np.array(halves), np.array(halves, object), np.array(halves, "f4")):
        assert libperm.sub_permanents(given).dtype == float
        found, bounds = libperm.sub_permanents(given, precision="exact", full=True)
        assert [type(x) for x in found] == [Fraction] * 3
        assert found.tolist() == [38, 13, 8]
        assert not bounds.any()
    for bad in (math.nan, math.inf):
        with pytest.raises(libperm.InvalidMatrixError):
            libperm.sub_permanents([[bad, 1.0], [1.0, 1.0], [1.0, 1.0]], precision="exact")
    with pytest.raises(TypeError, match="complex"):
        libperm.sub_permanents(np.array(halves, complex), precision="exact")


def test_exact_minors_keep_no_checkpoint(tmp_path):
    kept = tmp_path / "kept"
    for call in (
        lambda: libperm.sub_permanents([[1, 2], [3, 4], [5, 6]], checkpoint=kept),
        lambda: libperm.gradient([[1, 2], [3, 4]], checkpoint=kept),
        lambda: libperm.gradient([[1.0, 2], [3, 4]], checkpoint=kept, precision="exact"),
        lambda: libperm.Plan([[1, 2], [3, 4]], checkpoint=kept).gradient(with_permanent=False),
    ):
        with pytest.raises(libperm.InvalidOptionError, match="checkpoint"):
            call()
    assert not kept.exists()
