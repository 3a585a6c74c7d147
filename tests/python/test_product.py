"""libperm.permanent_of_product against permanents by definition of the matrix that it does not form."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from support import by_definition, rng

import libperm


def formed(u, v):
    """Exactly, of real numbers."""
    return [[sum((Fraction(x) * Fraction(y) for x, y in zip(a, b)), Fraction(0)) for b in v] for a in u]


ENTRIES = {
    "int": lambda r: r.randint(-9, 9),
    "long": lambda r: r.randint(-(10**30), 10**30),
    "bool": lambda r: r.random() < 0.7,
    "Fraction": lambda r: Fraction(r.randint(-9, 9), r.randint(1, 9)),
    "Decimal": lambda r: Decimal(r.randint(-99, 99)) / 8,
    "float": lambda r: r.uniform(-1, 1),
    "wild": lambda r: math.ldexp(r.uniform(-1, 1), r.randint(-900, 900)),
}
EXACT = {"int": int, "long": int, "bool": int, "Fraction": Fraction, "Decimal": Fraction}


@pytest.mark.parametrize("kind", ENTRIES)
def test_against_the_definition(kind):
    source = rng(3601)
    for _ in range(40):
        n, rank = source.randint(1, 5), source.randint(1, 4)
        u, v = ([[ENTRIES[kind](source) for _ in range(rank)] for _ in range(n)] for _ in range(2))
        truth = by_definition(formed(u, v))
        found = libperm.permanent_of_product(u, v, precision="exact")
        assert found == truth
        result = libperm.permanent_of_product(u, v, full=True)
        if kind in EXACT:
            assert type(libperm.permanent_of_product(u, v)) is EXACT[kind]
            assert result.value == truth
        elif kind == "float":
            assert libperm.permanent_of_product(u, v) == float(truth)
            assert result.rel_error_bound <= 1.7e-16
        assert (result.n, result.tolerance_met) == (n, True)


def test_one_kind_of_numbers_for_both():
    half, one = Fraction(1, 2), [[1], [1]]
    assert libperm.permanent_of_product([[half], [1]], one) == 1
    assert type(libperm.permanent_of_product(one, [[half], [1]])) is Fraction
    assert type(libperm.permanent_of_product(one, [[0.5], [1]])) is float
    assert type(libperm.permanent_of_product(one, [[0.5], [1j]])) is complex
    assert libperm.permanent_of_product([[2**70], [1]], [[0.5], [1]]) == 2.0**70  # exactly as text
    assert libperm.permanent_of_product([[2**70 + 1], [1]], [[2], [1]]) == 4 * (2**70 + 1)
    assert libperm.permanent_of_product([[1j], [2]], [[1], [0.5]]) == 2j


def test_sums():
    """i + j: A204249."""
    known = [1, 2, 17, 336, 12052, 685080]
    for n, number in enumerate(known):
        u, v = [[i, 1] for i in range(1, n + 1)], [[1, j] for j in range(1, n + 1)]
        assert libperm.permanent_of_product(u, v) == number
    u, v = [[i, 1] for i in range(1, 151)], [[1, j] for j in range(1, 151)]
    matrix = [[i + j for j in range(1, 151)] for i in range(1, 151)]
    assert libperm.permanent_of_product(u, v) == libperm.permanent(matrix)
    assert (
        libperm.permanent_of_product(
            [[math.ldexp(x, 4) for x in row] for row in u[:100]], v[:100], full=True
        ).exp2
        > 1000
    )


def test_numpy():
    np = pytest.importorskip("numpy")
    sparse = pytest.importorskip("scipy.sparse")
    g = np.random.default_rng(3602)
    u, v = g.integers(-5, 6, (2, 12, 3))
    truth = libperm.permanent(u @ v.T)
    for form in (
        np.asarray,
        np.asfortranarray,
        sparse.csr_array,
        sparse.coo_array,
        lambda x: x.tolist(),
        lambda x: x.astype(object),
    ):
        assert libperm.permanent_of_product(form(u), form(v)) == truth
        assert libperm.permanent_of_product(form(u), v) == truth
    for dtype in ("i1", "i4", ">i8"):
        assert type(libperm.permanent_of_product(u.astype(dtype), v)) is int
        assert libperm.permanent_of_product(u.astype(dtype), v) == truth
    for dtype in ("f4", "f8", ">f8"):
        found = libperm.permanent_of_product(u.astype(dtype), v)
        assert type(found) is np.float64
        assert found == float(truth)
    found = libperm.permanent_of_product(u * 1j, v.astype(complex))
    assert type(found) is np.complex128
    assert found == complex(truth)  # 1j ** 12
    assert libperm.permanent_of_product(u[::-1], v[::-1]) == truth
    assert libperm.permanent_of_product(np.zeros((0, 3)), np.zeros((0, 3))) == 1
    assert libperm.permanent_of_product(np.zeros((3, 0)), np.zeros((3, 0))) == 0
    assert libperm.permanent_of_product([], []) == 1
    assert libperm.permanent_of_product([[], []], [[], []]) == 0
    wide = np.full((2, 1), np.longdouble(1) + np.finfo(np.longdouble).eps)  # taken exactly
    assert (
        libperm.permanent_of_product(wide, [[1], [1]], precision="exact") == 2 * (1 + Fraction(1, 2**63)) ** 2
    )


@pytest.mark.parametrize(
    ("u", "v"), [([[1, 2]], [[1]]), ([[1], [2]], [[1]]), ([[1, 2], [3, 4]], [[1, 2], [3, 4], [5, 6]])]
)
def test_shapes_that_differ(u, v):
    with pytest.raises(libperm.InvalidMatrixError, match="U has the shape"):
        libperm.permanent_of_product(u, v)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_named(bad):
    good = [[1.0, 2.0], [3.0, 4.0]]
    for bad_row in ([bad, 1.0], [Fraction(1, 3), bad]):
        with pytest.raises(libperm.InvalidMatrixError, match=r"u: the value at row 1, column \d is"):
            libperm.permanent_of_product([[1.0, 2.0], bad_row], good)
        with pytest.raises(libperm.InvalidMatrixError, match=r"v: the value at row 0, column \d is"):
            libperm.permanent_of_product(good, [bad_row, [1.0, 2.0]])


def test_what_is_no_matrix():
    good = [[1.0, 2.0], [3.0, 4.0]]
    for bad in (None, 1, "12", [1, 2], {(0, 0): 1}, {1, 2}, [[1, None], [1, 2]], [["1", 2], [1, 2]]):
        for factors in ((bad, good), (good, bad)):
            with pytest.raises((TypeError, libperm.InvalidMatrixError)):
                libperm.permanent_of_product(*factors)
    with pytest.raises(libperm.InvalidMatrixError, match="row 1 has 1"):
        libperm.permanent_of_product(good, [[1, 2], [3]])


def test_options():
    good = [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(libperm.UnsupportedError, match="row_multiplicity"):
        libperm.permanent_of_product(good, good, row_multiplicity=[1, 2])
    with pytest.raises(libperm.InvalidOptionError, match="auto or exact"):
        libperm.permanent_of_product(good, good, precision="dd")
    with pytest.raises(libperm.InvalidOptionError, match="engine ryser"):
        libperm.permanent_of_product(good, good, engine="ryser")
    with pytest.raises(TypeError, match="no option"):
        libperm.permanent_of_product(good, good, rank=2)
    assert libperm.permanent_of_product(good, good, engine="low_rank", full=True).engine == "low_rank"
    large = [[1.0] * 12 for _ in range(60)]
    for i, row in enumerate(large):
        row[i % 12] = 2.0 + i
    with pytest.raises(libperm.MemoryRefusedError, match="monomials"):
        libperm.permanent_of_product(large, large)


def test_beyond_doubles_and_progress():
    u = [[1e300, 1.0], [2e300, 1.0]]
    with pytest.raises(OverflowError):
        libperm.permanent_of_product(u, u)
    assert libperm.permanent_of_product(u, u, full=True).text.endswith("e+1200")
    seen = []
    n = 300
    rows = [[i, 1] for i in range(n)]
    libperm.permanent_of_product(rows, rows, progress=lambda fraction, left: seen.append(fraction))
    assert seen
    assert seen[-1] == 1


def test_an_interrupt_stops_it():
    class Stop(Exception):
        pass

    def stop(fraction, left):
        raise Stop

    rows = [[i % 97 + 1, i % 89, 1] for i in range(400)]
    with pytest.raises(Stop):
        libperm.permanent_of_product(rows, rows, progress=stop)
