"""Matrices of equal cells, against the same written out, against known numbers, and what is refused."""

import gc
import sys
from fractions import Fraction
from math import factorial
from pathlib import Path

import pytest
from support import rng

import libperm
from libperm._core.batch import Results

np = pytest.importorskip("numpy")
sparse = pytest.importorskip("scipy.sparse")


# ---------------------------------------------------------------- written out


def unrolled(cell, length, joined=False, head=None, tail=None):
    """Rows of the head, the cells, the tail; columns the head's own, the cells', the tail's own."""
    cell = np.array(cell, object)
    r, d = cell.shape[0], cell.shape[1] // cell.shape[0] // 2
    head = np.zeros((0, d * r), object) if head is None else np.array(head, object).reshape(len(head), -1)
    tail = np.zeros((0, d * r), object) if tail is None else np.array(tail, object).reshape(len(tail), -1)
    p, q = head.shape[1] - d * r, tail.shape[1] - d * r
    above, n = len(head), length * r
    a = np.zeros((above + n + len(tail), p + n + q), object)
    for i in range(n):
        for j in range(r * (2 * d + 1)):
            column = (i // r - d) * r + j
            if joined:
                a[i, column % n] += cell[i % r, j]
            elif -p <= column < n + q:
                a[above + i, p + column] += cell[i % r, j]
    width = min(n + p + q, p + d * r)
    a[:above, :width] = head[:, :width]
    for j in range(d * r + q):
        if p + n - d * r + j >= 0:
            a[above + n :, p + n - d * r + j] = tail[:, j]
    return a


def any_cell(source, r, d, entry, density=0.6):
    return [[entry() if source.random() < density else 0 for _ in range(r * (2 * d + 1))] for _ in range(r)]


def an_integer(source):
    return source.randint(-3, 4)


def a_fraction(source):
    return Fraction(source.randint(-3, 4), source.randint(1, 4))


def a_double(source):
    return source.uniform(-1, 1)


def a_complex_one(source):
    return complex(source.uniform(-1, 1), source.uniform(-1, 1))


@pytest.mark.parametrize("entry", [an_integer, a_fraction, a_double, a_complex_one])
@pytest.mark.parametrize("joined", [False, True])
def test_against_the_matrix_written_out(entry, joined):
    source = rng(230)
    for _ in range(12):
        r, d = source.choice([(1, 0), (1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (2, 2)])
        cell = any_cell(source, r, d, lambda: entry(source))
        cell[0][0] = entry(source)  # says what kind of numbers they are
        plan = libperm.Periodic(cell, joined=joined)
        first = 1 if joined else 0
        terms = plan.terms(7, first=first)
        for m, term in enumerate(terms, first):
            expected = libperm.permanent(unrolled(cell, m, joined).tolist()) if m else 1
            assert term == pytest.approx(expected, rel=1e-9, abs=1e-12), (cell, m)
            assert plan.permanent(m) == pytest.approx(expected, rel=1e-9, abs=1e-12)
            if entry in (an_integer, a_fraction):
                assert term == plan.permanent(m) == expected


def test_against_ends_written_out():
    source = rng(231)
    compared = 0
    for _ in range(30):
        r, d = source.choice([(1, 1), (1, 2), (2, 1)])
        p, q = source.randint(0, d * r), source.randint(0, d * r)
        above = source.randint(0, p + q)
        cell, head, tail = (
            [[an_integer(source) for _ in range(columns)] for _ in range(rows)]
            for rows, columns in ((r, r * (2 * d + 1)), (above, p + d * r), (p + q - above, d * r + q))
        )
        if not head or not tail:
            continue
        plan = libperm.Periodic(cell, head=np.array(head), tail=sparse.csr_array(tail))
        for m in range(2 * d, 2 * d + 4):
            assert plan.permanent(m) == libperm.permanent(unrolled(cell, m, False, head, tail).tolist())
            compared += 1
    assert compared > 20


def test_one_end():
    cell = [[1, 2, 3]]
    plan = libperm.Periodic(cell, head=[[4, 5]])  # a column and a row of its own
    for m in range(2, 8):
        assert plan.permanent(m) == libperm.permanent(unrolled(cell, m, False, [[4, 5]]).tolist())


# ---------------------------------------------------------------- numbers and forms


def test_forms_of_a_cell():
    cell = [[0, 1, 1, 0, 0, 1], [1, 0, 1, 1, 1, 0]]
    a = np.array(cell)
    for given in (cell, a, a.astype(bool), sparse.csr_array(a), sparse.coo_matrix(a)):
        value = libperm.Periodic(given).permanent(10)
        assert value == 18061
        assert isinstance(value, int)
    value = libperm.Periodic(np.array(cell, float)).permanent(10)
    assert value == 18061.0
    assert isinstance(value, float)
    value = libperm.Periodic(np.array(cell, complex)).permanent(10)
    assert value == 18061
    assert isinstance(value, complex)


def test_numbers():
    third = libperm.Periodic([[Fraction(1, 3), Fraction(1), 2]])
    assert third.permanent(2) == Fraction(5, 3)
    assert third.terms(2) == [1, Fraction(5, 3)]
    assert isinstance(third.permanent(1), Fraction)
    assert libperm.Periodic([[0.5, 1.0, 2.0]], precision="exact").permanent(3) == 3
    assert libperm.Periodic([[10**30]]).permanent(3) == 10**90
    decimal = libperm.Periodic([[0.1, 1.0, 0.1]])
    result = decimal.compute(50)
    assert 0 < result.rel_error_bound < 1e-12
    assert float(result) == decimal.permanent(50)
    assert result.n == 50
    assert result.nnz == 148


def test_beyond_doubles():
    plan = libperm.Periodic([[1.0, 1.0, 1.0]], precision="double")
    with pytest.raises(OverflowError):
        plan.permanent(10**4)
    result = plan.compute(10**15)
    assert result.exp2 == pytest.approx(10**15 * np.log2((1 + 5**0.5) / 2), rel=1e-12)
    exact = libperm.Periodic([[1, 1, 1]]).permanent(20000)
    a, b = 1, 1
    for _ in range(20000):
        a, b = b, a + b
    assert exact == a


def test_residues():
    plan = libperm.Periodic([[1, 1, 1]])
    for p in (3, 1000003, 4611686018427387847):
        modulo = libperm.Periodic([[1, 1, 1]], precision=f"mod:{p}")
        assert modulo.permanent(300) == plan.permanent(300) % p
        assert modulo.terms(5, first=100) == [x % p for x in plan.terms(5, first=100)]
        assert type(modulo.permanent(300)) is int
    halves = libperm.Periodic([[0.5, 1.0, 0.5]], precision="mod:1000003")
    assert halves.permanent(2) == 5 * pow(4, -1, 1000003) % 1000003
    assert type(halves.permanent(2)) is int


def test_residue_of_a_power():
    """Of the matrix whose permanents are the numbers of Fibonacci, at lengths that no walk would reach."""
    p, m = 1000003, 10**18 + 7

    def times(x, y):
        return [[sum(x[i][k] * y[k][j] for k in range(2)) % p for j in range(2)] for i in range(2)]

    power, square, left = [[1, 0], [0, 1]], [[1, 1], [1, 0]], m
    while left:
        if left & 1:
            power = times(power, square)
        square, left = times(square, square), left >> 1
    assert libperm.Periodic([[1, 1, 1]], precision=f"mod:{p}").permanent(m) == (power[0][0]) % p


def test_options():
    value = libperm.Periodic(
        [[1.0, 1.0, 1.0]], precision="dd", tolerance=1e-20, threads=2, memory_limit="1G", time_limit="1m"
    ).compute(100)
    assert value.text.startswith("5.73147844013817084101")
    told = []
    libperm.Periodic([[1, 1, 1]], progress=lambda fraction, left: told.append(fraction)).permanent(10)
    assert told[-1] == 1
    with pytest.warns(libperm.PrecisionWarning):
        libperm.Periodic([[0.1, 1.0, -0.3]], precision="double", tolerance=1e-30).permanent(30)
    with pytest.warns(libperm.PrecisionWarning):
        libperm.Periodic([[0.1, 1.0, -0.3]], precision="double", tolerance=1e-30).terms(30)


# ---------------------------------------------------------------- known numbers


def layers(a, b=1, ring=False):
    """The lattice of cross-section a x b, black by white; every other layer is seen in a mirror."""
    assert a % 2 == 0
    sites = [(x, y) for x in range(a) for y in range(b)]
    number, count = {}, [0, 0]
    for x, y in sites:
        number[x, y] = count[(x + y) % 2]
        count[(x + y) % 2] += 1
    r = count[0]
    cell = np.zeros((r, 3 * r), int)
    for x, y in sites:
        if (x + y) % 2:
            continue
        for i, j in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
            to = (i % a, j) if ring else (i, j)
            if to in number:
                cell[number[x, y], r + number[to]] += 1
        for shift in (0, 2 * r):
            cell[number[x, y], shift + number[a - 1 - x, y]] += 1
    return cell


@pytest.mark.parametrize(
    ("cell", "first", "terms"),
    [
        pytest.param(layers(4, ring=True), 1, [2, 9, 32, 121, 450, 1681], id="A006253"),
        pytest.param(layers(2, 3), 1, [3, 32, 229, 1845, 14320, 112485], id="A028447"),
        pytest.param(layers(4, 3), 1, [11, 1845, 117805, 10885344, 858626465, 72926048233], id="A028453"),
        pytest.param([[1] * 9], 4, [24, 120, 504, 1902, 6902, 25231, 95401], id="A072856"),
    ],
)
def test_open_ends(cell, first, terms):
    assert libperm.Periodic(cell).terms(len(terms), first=first) == terms


def test_circulants():
    circulant = libperm.Periodic([[0] * 4 + [1] * 5], joined=True)
    assert circulant.terms(6, first=5) == [120, 265, 579, 1265, 2783, 6208]


@pytest.mark.parametrize(("n", "value"), [(2, 8), (4, 272), (6, 90176), (8, 311853312)])
def test_tori(n, value):
    assert libperm.Periodic(layers(n, ring=True), joined=True).permanent(n) == value


@pytest.mark.parametrize(
    ("name", "joined", "first", "terms"),
    [
        ("grid:4", False, 1, [1, 5, 11, 36, 95, 281]),  # A005178
        ("grid:3", False, 1, [3, 11, 41, 153]),  # A001835, two layers a cell
        ("grid:2x3", False, 1, [3, 32, 229, 1845]),  # A028447
        ("ring:4", False, 1, [2, 9, 32, 121, 450, 1681]),  # A006253
        ("ring:4", True, 4, [272]),  # A335586
        ("hexagonal:3", False, 1, [2]),  # benzene
        ("circulant:5", True, 5, [120, 265, 579, 1265, 2783, 6208]),  # A000804
        ("toeplitz:4,4", False, 4, [24, 120, 504, 1902, 6902, 25231]),  # A072856
    ],
)
def test_lattices_by_name(name, joined, first, terms):
    found = libperm.Periodic.lattice(name, joined=joined).terms(len(terms), first=first)
    assert found == terms
    assert all(type(x) is int for x in found)


def test_a_lattice_by_name_is_the_cell():
    for name, cell in (
        ("grid:4", layers(4)),
        ("grid:4x3", layers(4, 3)),
        ("ring:6x2", layers(6, 2, True)),
        ("ring:2", [[1, 2, 1]]),
    ):
        plan = libperm.Periodic.lattice(name, precision="mod:1000003", threads=1)
        assert plan.terms(5) == [x % 1000003 for x in libperm.Periodic(cell).terms(5)]
        assert repr(plan).startswith("<libperm.Periodic of cells of")
    head = libperm.Periodic.lattice("toeplitz:1,1", head=[[3, 1]])  # the numbers of Lucas
    assert head.terms(6) == [4, 7, 11, 18, 29, 47]


def test_bad_lattices():
    for name in (
        "",
        "grid",
        "grid:0",
        "grid:1025",
        "grid:3x4x5",
        "cube:3",
        "toeplitz:3",
        "grid:4é",
        4,
        None,
        b"grid:4",
    ):
        with pytest.raises(libperm.InvalidOptionError, match="grid:"):
            libperm.Periodic.lattice(name)
    with pytest.raises(libperm.InvalidOptionError, match="no two colours"):
        libperm.Periodic.lattice("ring:3")
    with pytest.raises(libperm.InvalidOptionError, match="precision"):
        libperm.Periodic.lattice("grid:4", precision="any")
    with pytest.raises(libperm.InvalidMatrixError, match="joined ends have neither"):
        libperm.Periodic.lattice("toeplitz:1,1", joined=True, head=[[3, 1]])


def series(f, count):
    """The power series of the quotient."""
    terms = []
    for n in range(count):
        value = f.numerator[n] if n < len(f.numerator) else 0
        pairs = zip(f.denominator[1:], reversed(terms))
        terms.append(value - sum(c * x for c, x in pairs))
    return terms


@pytest.mark.parametrize("joined", [False, True])
def test_generating_functions(joined):
    source = rng(232)
    for entry in (an_integer, a_fraction):
        for r, d in ((1, 1), (1, 2), (2, 1)):
            plan = libperm.Periodic(any_cell(source, r, d, lambda e=entry: e(source)), joined=joined)
            f = plan.generating_function()
            assert f.denominator[0] == 1
            assert f.proven
            first = 1 if joined else 0
            count = 2 * f.order + 10
            assert series(f, first + count)[first:] == plan.terms(count, first=first)


def test_the_generating_function_of_bricks():
    f = libperm.Periodic(layers(2, 3)).generating_function()
    assert f.proven
    assert 2 <= f.order <= f.states
    assert f.checked > 0
    assert series(f, 7) == [1, 3, 32, 229, 1845, 14320, 112485]
    assert all(type(c) is int for c in f.numerator + f.denominator)
    assert str(f).startswith("(1")
    assert f"order {f.order}" in str(f)


def test_growth():
    growth = libperm.Periodic(layers(4, 4)).growth()
    assert growth.value == pytest.approx(433.942987070936, rel=1e-14)
    assert growth.lower <= growth.value <= growth.upper
    assert growth.upper - growth.lower < 1e-10
    assert libperm.Periodic([[0, 0, 0]]).growth() == (0, 0, 0)
    assert libperm.Periodic([[2.5]], joined=True).growth().value == pytest.approx(2.5, rel=1e-14)


def test_explain():
    plan = libperm.Periodic(layers(4))
    assert "6 states" in plan.explain()
    explained = plan.explain_json()
    assert (explained["states"], explained["open_columns"], explained["joined"]) == (6, 4, False)
    assert repr(plan) == "<libperm.Periodic of cells of 2 rows, coupled to 1 on either side, open ends>"
    del plan
    gc.collect()


# ---------------------------------------------------------------- what is refused


def test_bad_cells():
    for cell in ([[1, 1]], [[1, 1, 1], [1, 1, 1]], [[1], [1]], np.zeros((0, 0))):
        with pytest.raises(libperm.InvalidMatrixError, match="the cell"):
            libperm.Periodic(cell)
    with pytest.raises(libperm.InvalidMatrixError, match="cell"):
        libperm.Periodic([[1.0, float("nan"), 1.0]])
    for cell in (None, 3, "1 1 1", [1, 1, 1]):
        with pytest.raises(TypeError):
            libperm.Periodic(cell)


def test_bad_ends():
    with pytest.raises(libperm.InvalidMatrixError, match="joined ends have neither"):
        libperm.Periodic([[1, 1, 1]], joined=True, head=[[1, 1]])
    with pytest.raises(libperm.InvalidMatrixError):
        libperm.Periodic([[1, 1, 1]], head=[[1]])  # a row, and no column of its own
    with pytest.raises(libperm.InvalidMatrixError):
        libperm.Periodic([[1, 1, 1]], head=[[1, 1, 1, 1]])


def test_bad_lengths():
    plan, ring = libperm.Periodic([[1, 1, 1]]), libperm.Periodic([[1, 1, 1]], joined=True)
    for length in (-1, 0.5, "7", 2**63, None):
        with pytest.raises(libperm.InvalidOptionError, match="length"):
            plan.permanent(length)
    with pytest.raises(libperm.InvalidOptionError, match="count"):
        plan.terms(-1)
    with pytest.raises(libperm.Error, match="at most 2\\^62"):
        plan.permanent(2**62 + 1)
    with pytest.raises(libperm.Error, match="of joined ends it must be 1 or more"):
        ring.permanent(0)
    with pytest.raises(libperm.Error, match="1 or more"):
        ring.terms(3, first=0)
    assert plan.terms(0) == []
    assert plan.permanent(0) == 1


def test_more_results_than_memory_holds(monkeypatch):
    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    with pytest.raises(MemoryError):
        Results(2**45)
    assert not unraisable


def test_what_is_not_to_be_had():
    with pytest.raises(libperm.UnsupportedError, match="complex"):
        libperm.Periodic([[1j, 1, 1]]).generating_function()
    with pytest.raises(libperm.UnsupportedError, match="negative"):
        libperm.Periodic([[1, -1, 1]]).growth()
    with pytest.raises(libperm.UnsupportedError, match="use engine auto or frontier"):
        libperm.Periodic([[1, 1, 1]], engine="ryser")
    with pytest.raises(libperm.UnsupportedError, match="multiplicities"):
        libperm.Periodic([[1, 1, 1]], row_multiplicity=[2])
    with pytest.raises(libperm.TimeRefusedError, match="modulo a prime"):
        libperm.Periodic([[1, 1, 1]]).permanent(10**15)
    with pytest.raises(libperm.MemoryRefusedError, match="joined ends"):
        libperm.Periodic(layers(28), joined=True).permanent(4)


@pytest.mark.parametrize("precision", ["mod:10", "mod:1", "mod:", "mod:4611686018427387905", "half"])
def test_bad_precisions(precision):
    with pytest.raises(libperm.InvalidOptionError):
        libperm.Periodic([[1, 1, 1]], precision=precision)


def test_residues_that_there_are_not():
    with pytest.raises(libperm.InvalidOptionError, match="denominator"):
        libperm.Periodic([[Fraction(1, 7), 1, 1]], precision="mod:7").permanent(3)
    with pytest.raises(libperm.InvalidOptionError, match="complex"):
        libperm.Periodic([[1j, 1, 1]], precision="mod:7").permanent(3)


def test_toeplitz_of_ones_is_a_factorial_when_it_is_full():
    assert libperm.Periodic([[1] * 21]).terms(10) == [factorial(n) for n in range(1, 11)]


def test_checkpoint(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    ladder = libperm.Periodic([[1, 1, 1]], checkpoint=kept)
    assert ladder.permanent(100) == 573147844013817084101
    assert ladder.terms(1, first=100) == [573147844013817084101]
    with pytest.raises(libperm.InvalidOptionError, match="other lengths"):
        ladder.permanent(101)
    with pytest.raises(libperm.UnsupportedError, match="checkpoint"):
        ladder.growth()
