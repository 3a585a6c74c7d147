"""Permanents with closed forms, and those of published matrices."""

from decimal import Decimal
from fractions import Fraction
from math import factorial, sqrt

import pytest
from support import by_rows, shared_matrix

import libperm
from libperm._core.scalars import int_of


@pytest.mark.parametrize("n", [0, 1, 2, 5, 20, 30])
def test_all_ones(n):
    assert libperm.permanent([[1] * n for _ in range(n)]) == factorial(n)


def test_long_integers():
    assert libperm.permanent([[10**40] * 15] * 15) == 10**600 * factorial(15)
    long = 10**6000 + 7  # longer than int(text) takes
    value = libperm.permanent([[long, 1], [1, -long]])
    assert value == 1 - long**2
    assert isinstance(value, int)


@pytest.mark.parametrize("digits", [1, 599, 600, 601, 1199, 1200, 1201, 1801, 3001, 50000])
def test_texts_of_any_length(digits):
    text = "1".ljust(digits, "7")
    for sign in ("", "-"):
        assert int_of(sign + text) == int(Decimal(sign + text))
    zeros = "1" + "0" * digits
    assert int_of(zeros) == 10**digits


def test_derangements():
    ones_but_diagonal = [[int(i != j) for j in range(20)] for i in range(20)]
    assert libperm.permanent(ones_but_diagonal) == 895014631192902121


def test_rectangular():
    assert libperm.permanent([[1] * 12 for _ in range(8)]) == 19958400


def test_multiplicities():
    a = [[2, 1, 3], [1, 5, -1], [4, 2, 1]]
    assert libperm.permanent(a, row_multiplicity=(4, 3, 3), col_multiplicity=(2, 5, 3)) == 5627296800
    assert libperm.permanent([[1]], row_multiplicity=[20], col_multiplicity=[20]) == factorial(20)


def test_hong_ou_mandel():
    """Two photons never leave a balanced beam splitter on two sides."""
    h = sqrt(0.5)
    assert libperm.permanent([[h, h], [h, -h]]) == 0.0
    assert libperm.permanent([[h, 1j * h], [1j * h, h]]) == 0


def test_schur():
    np = pytest.importorskip("numpy")
    for n, value in ((3, -3), (5, -5), (7, -105), (9, 81), (11, 6765), (13, 175747)):
        w = np.exp(2j * np.pi / n * np.outer(range(n), range(n)))
        assert libperm.permanent(w) == pytest.approx(value, rel=1e-9)


def test_fractions():
    n = 6
    hilbert = [[Fraction(1, i + j + 1) for j in range(n)] for i in range(n)]
    value = libperm.permanent(hilbert)
    assert isinstance(value, Fraction)
    assert value == by_rows([dict(enumerate(row)) for row in hilbert], n)


@pytest.mark.parametrize(
    ("name", "value"),
    [("bcspwr02", 17339123388), ("mycielskian6", 1381724105482686970), ("curtis54", 8787902965855203136)],
)
def test_published_matrices(name, value):
    matrix = shared_matrix(name).astype(int)
    assert libperm.permanent(matrix) == value
    assert libperm.compute(matrix.astype(float)).re == pytest.approx(value, rel=1e-12)


def test_curtis54_by_an_oracle():
    matrix = shared_matrix("curtis54").tocsr()
    order = pytest.importorskip("scipy.sparse.csgraph").reverse_cuthill_mckee(matrix)
    rows = matrix[order][:, order]
    entries = [{int(j): 1 for j in rows.indices[rows.indptr[i] : rows.indptr[i + 1]]} for i in range(54)]
    assert libperm.permanent(matrix.astype(int)) == by_rows(entries, 54)
