"""Coefficients of perm(C + x L) and second derivatives, against permanents by definition."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, permutations

import pytest
from support import by_definition, rng

import libperm

ENTRIES = {
    "int": lambda r: r.randint(-9, 9),
    "long": lambda r: r.randint(-(10**30), 10**30),
    "bool": lambda r: r.random() < 0.7,
    "Fraction": lambda r: Fraction(r.randint(-9, 9), r.randint(1, 9)),
    "Decimal": lambda r: Decimal(r.randint(-99, 99)) / 8,
    "float": lambda r: r.uniform(-1, 1),
    "complex": lambda r: complex(r.uniform(-1, 1), r.uniform(-1, 1)),
}
EXACT = {"int": int, "long": int, "bool": int, "Fraction": Fraction, "Decimal": Fraction}


def by_expansion(c, ell):
    """Multiplies out the product of each permutation."""
    n = len(c)
    total = [0] * (n + 1)
    for sigma in permutations(range(n)):
        product = [1]
        for i, j in enumerate(sigma):
            longer = [0] * (len(product) + 1)
            for k, x in enumerate(product):
                longer[k] += x * c[i][j]
                longer[k + 1] += x * ell[i][j]
            product = longer
        total = [x + y for x, y in zip(total, product)]
    return total


def exactly(matrix):
    return [[x if isinstance(x, complex) else Fraction(x) for x in row] for row in matrix]


@pytest.mark.parametrize("kind", ENTRIES)
def test_against_the_definition(kind):
    source = rng(3721)
    for _ in range(30):
        n = source.randint(1, 5)
        c, ell = ([[ENTRIES[kind](source) for _ in range(n)] for _ in range(n)] for _ in range(2))
        truth = by_expansion(exactly(c), exactly(ell))
        found = libperm.polynomial(c, ell)
        assert len(found) == n + 1
        if kind in EXACT:
            assert found == truth
            assert all(type(x) is EXACT[kind] for x in found)
        else:
            scale = max(abs(x) for x in truth)
            assert all(abs(x - complex(y)) <= 1e-9 * scale for x, y in zip(found, truth))
        if kind == "float":
            assert libperm.polynomial(c, ell, precision="exact") == truth


def test_kinds_that_are_mixed_and_entries_that_one_lacks():
    half = Fraction(1, 2)
    assert libperm.polynomial([[1, 0], [0, 1]], [[0, half], [1, 0]]) == [1, 0, half]
    assert libperm.polynomial([[1, 2], [3, 4]], [[0.5, 0], [0, 0.0]]) == [10.0, 2.0, 0.0]
    assert libperm.polynomial([[2**70, 1], [1, 1]], [[0, 0], [0, 1]]) == [2**70 + 1, 2**70, 0]
    assert libperm.polynomial([[1, 2], [3, 4]], [[1, 0], [0, 1]], precision="mod:101") == [10, 5, 1]
    assert libperm.polynomial([], []) == [1]


def test_of_scipy_and_numpy():
    np, sp = pytest.importorskip("numpy"), pytest.importorskip("scipy.sparse")
    a = sp.diags([1.5, 2.0, 2.5], offsets=[-1, 0, 1], shape=(6, 6))
    dense = a.toarray()
    identity = np.eye(6)
    truth = by_expansion(dense.tolist(), identity.tolist())
    for c, ell in ((a, sp.eye(6)), (dense, identity), (a, identity), (dense, sp.eye(6))):
        found = libperm.polynomial(c, ell)
        assert found == pytest.approx(truth)
        assert all(isinstance(x, np.float64) for x in found)


def test_lines_that_may_stay_unmatched():
    ones = [[1] * 4] * 3
    zeros = [[0] * 4] * 3
    found = libperm.polynomial(zeros, ones, row_unmatched=1, col_unmatched=1)
    assert found == libperm.matchings(ones)
    assert libperm.polynomial([[2, 1]], [[1, 0]], col_unmatched=[3, 5]) == [2 * 5 + 1 * 3, 5]
    assert libperm.polynomial([[1, 1]], [[1, 0]], row_multiplicity=[2]) == [2, 2, 0]


def test_principal_sums():
    source = rng(3722)
    a = [[source.randint(-3, 5) for _ in range(5)] for _ in range(5)]
    sums = [
        sum(
            by_definition([[a[i][j] for j in chosen] for i in chosen]) for chosen in combinations(range(5), k)
        )
        for k in range(6)
    ]
    assert libperm.principal_sums(a) == sums
    assert libperm.permanental_polynomial(a) == [x if k % 2 == 0 else -x for k, x in enumerate(sums)][::-1]
    assert libperm.polynomial(a) == sums[::-1]
    floats = [[float(x) for x in row] for row in a]
    full = libperm.principal_sums(floats, full=True)
    assert full.values == pytest.approx(sums)
    assert len(full.rel_error_bounds) == 6
    full = libperm.permanental_polynomial(floats, full=True)
    assert full.values == pytest.approx([x if k % 2 == 0 else -x for k, x in enumerate(sums)][::-1])
    with pytest.raises(libperm.InvalidMatrixError):
        libperm.principal_sums([[1, 2]])


def test_a_missed_tolerance_is_told_to_the_caller():
    a = [[1.0, -1.0 + 2**-40], [1.0, 1.0]]
    with pytest.warns(libperm.PrecisionWarning, match="coefficients miss") as told:
        libperm.principal_sums(a, precision="double", tolerance=1e-30)
    assert told[0].filename == __file__


def test_alpha_permanents_where_cycles_can_be_marked():
    """Tridiagonal: cycles are fixed points and pairs of neighbours."""
    source = rng(3723)
    n = 5
    a = [[source.randint(1, 5) if abs(i - j) <= 1 else 0 for j in range(n)] for i in range(n)]
    marked = [[a[i][j] if i <= j else 0 for j in range(n)] for i in range(n)]
    rest = [[a[i][j] if i > j else 0 for j in range(n)] for i in range(n)]
    by_cycles = [0] * (n + 1)
    for sigma in permutations(range(n)):
        left, cycles = set(range(n)), 0
        while left:
            i = left.pop()
            cycles += 1
            while (i := sigma[i]) in left:
                left.remove(i)
        by_cycles[cycles] += math.prod(a[i][j] for i, j in enumerate(sigma))
    assert libperm.polynomial(rest, marked) == by_cycles


def test_what_is_refused():
    with pytest.raises(libperm.InvalidMatrixError, match="L has the shape"):
        libperm.polynomial([[1, 2], [3, 4]], [[1, 2, 3]])
    with pytest.raises(libperm.InvalidOptionError):
        libperm.polynomial([[1]], [[1]], precision="kahan")
    with pytest.raises((libperm.Error, ValueError)):
        libperm.polynomial([[1.0]], [[math.nan]])


def second_differences(a, v):
    """Exactly: the derivative by an entry is a permanent without its row and column, and linear in t."""
    n = len(a)
    out = [[Fraction(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            left = [[(a[r][s], v[r][s]) for s in range(n) if s != j] for r in range(n) if r != i]
            if left:
                c, ell = ([[pair[k] for pair in row] for row in left] for k in range(2))
                out[i][j] = by_expansion(exactly(c), exactly(ell))[1]
    return out


def test_hessian_product():
    source = rng(3724)
    for n in (1, 2, 3, 4):
        a, v = ([[source.uniform(-1, 1) for _ in range(n)] for _ in range(n)] for _ in range(2))
        truth = second_differences(a, v)
        product, bounds = libperm.hessian_product(a, v, full=True)
        for i in range(n):
            for j in range(n):
                assert abs(Fraction(product[i][j]) - truth[i][j]) <= Fraction(bounds[i][j])
                assert bounds[i][j] < 1e-9
        with libperm.Plan(a) as plan:
            again = plan.hessian_product(v)
            assert again == [x for row in product for x in row]
    with pytest.raises(libperm.InvalidMatrixError):
        libperm.hessian_product([[1.0, 2.0]], [[1.0]])


def test_hessian_product_of_scipy():
    np, sp = pytest.importorskip("numpy"), pytest.importorskip("scipy.sparse")
    a = sp.csr_matrix([[1.0, 2, 0], [3, 4, 5], [0, 6, 7]])
    found = libperm.hessian_product(a, a)
    assert sp.issparse(found)
    # Of a homogeneous polynomial of degree n the gradient along A is n - 1 times itself.
    assert np.allclose(found.toarray(), 2 * libperm.gradient(a).toarray(), rtol=1e-11)


@pytest.mark.parametrize("as_numpy", [False, True])
@pytest.mark.parametrize("phase", [1.0, 1j])
def test_coefficients_and_counts_beyond_doubles(as_numpy, phase):
    np = pytest.importorskip("numpy")
    x = 2.0**-400
    a = np.diag([1.0, x, x, x]) * phase
    expected = [phase**k * y for k, y in enumerate([1, 1, 3, 3, 1])]  # times these powers of x
    powers = [0, 0, 1, 2, 3]
    given = a if as_numpy else a.tolist()
    found = [
        libperm.matchings(given, full=True),
        libperm.principal_sums(given, full=True),  # perm(A + x I), the last coefficient first
    ]
    for batch in found:
        assert isinstance(batch, libperm.Batch)
        for k in range(5):
            scaled = complex(batch.mantissas[k]) * 2.0 ** float(batch.exp2[k] + 400 * powers[k])
            assert scaled == pytest.approx(expected[k], rel=1e-12)
            assert (batch.values[k] == 0) == (not math.isfinite(batch.rel_error_bounds[k])) == (k == 4)
            assert not (batch.exact[k] and k == 4)
    for call in (libperm.matchings, libperm.principal_sums):
        with pytest.raises(OverflowError, match="too close to 0 .*full=True"):
            call(given)
    signs = libperm.permanental_polynomial(given, full=True)
    assert list(signs.mantissas[::-1]) == [(-1) ** k * m for k, m in enumerate(found[1].mantissas)]
    if phase == 1:
        assert [float(c * 2**400) for c in libperm.matchings(given, precision="exact")][4] == 2.0**-800
