"""Tilings of boards, tori, boxes and hexagons, against closed forms, known numbers and enumeration."""

import itertools
import types
from fractions import Fraction
from math import cos, pi, prod

import pytest
from support import rng

import libperm

np = pytest.importorskip("numpy")
sparse = pytest.importorskip("scipy.sparse")

from libperm import lattices  # noqa: E402
from libperm._core import minors, options  # noqa: E402
from libperm.lattices import aztec, board, brick, hexagon, torus  # noqa: E402


def count(lattice):
    return libperm.permanent(lattice.matrix)


def tilings(cells, neighbours, weight=lambda a, b: 1):
    """The sum over all tilings of the cells by pairs of neighbours, the first cell that is left being covered
    in each way."""
    if not cells:
        return 1
    first, *others = cells
    return sum(
        weight(first, to) * tilings([cell for cell in others if cell != to], neighbours, weight)
        for to in neighbours(first)
        if to in others
    )


def beside(shape, joined=False):
    """Of a cell its neighbours; around a side of 2 one of them twice."""

    def of(cell):
        for axis, side in enumerate(shape):
            for step in (-1, 1):
                k = cell[axis] + step
                if joined or 0 <= k < side:
                    yield (*cell[:axis], k % side, *cell[axis + 1 :])

    return of


def kasteleyn(rows, columns, x=1.0, y=1.0):
    """x: of horizontal dominoes, y: of vertical ones. Of an even number of columns."""
    return prod(
        4 * x**2 * cos(pi * j / (columns + 1)) ** 2 + 4 * y**2 * cos(pi * i / (rows + 1)) ** 2
        for i in range(1, (rows + 1) // 2 + 1)
        for j in range(1, columns // 2 + 1)
        if 2 * i <= rows
    ) * prod(2 * x * cos(pi * j / (columns + 1)) for j in range(1, columns // 2 + 1) if rows % 2)


def macmahon(a, b, c, q=None):
    """The number of plane partitions in a box, or the sum of q^volume."""
    top, bottom = 1, 1
    for i in range(1, a + 1):
        for j in range(1, b + 1):
            for k in range(1, c + 1):
                top *= i + j + k - 1 if q is None else q ** (i + j + k - 1) - 1
                bottom *= i + j + k - 2 if q is None else q ** (i + j + k - 2) - 1
    assert top % bottom == 0
    return top // bottom


# ---------------------------------------------------------------- boards


def test_boards():
    assert count(board(8, 8)) == 12988816
    assert [count(board(2, n)) for n in range(7)] == [1, 1, 2, 3, 5, 8, 13]
    assert count(board(0, 0)) == count(board(0, 5)) == 1
    assert count(board(1, 4)) == 1
    assert count(board(16, 16)) == 2444888770250892795802079170816  # A004003


@pytest.mark.parametrize(("rows", "columns"), [(1, 6), (3, 4), (5, 6), (6, 6), (7, 4), (8, 10), (9, 12)])
def test_kasteleyns_product(rows, columns):
    found = count(board(rows, columns))
    assert type(found) is int
    assert found == pytest.approx(kasteleyn(rows, columns), rel=1e-12)
    assert found == count(board(columns, rows))
    weighted = count(board(rows, columns, weights=(1.5, 0.25)))
    assert weighted == pytest.approx(kasteleyn(rows, columns, 1.5, 0.25), rel=1e-12)


def test_the_strip_is_the_same():
    for width in (3, 4, 7):
        strip = libperm.Periodic.lattice(f"grid:{width}")
        layers = 2 if width % 2 else 1
        assert strip.terms(4) == [count(board(width, layers * n)) for n in range(1, 5)]


def test_holes():
    source = rng(400)
    compared = 0
    while compared < 20:
        rows, columns = source.randint(2, 5), source.randint(2, 5)
        cells = [(i, j) for i in range(rows) for j in range(columns)]
        holes = source.sample(cells, source.randint(1, 5 if len(cells) > 5 else 2))
        left = [cell for cell in cells if cell not in holes]
        if 2 * sum((i + j) % 2 for i, j in left) != len(left):
            continue
        found = board(rows, columns, holes)
        assert sorted(found.black + found.white) == left
        assert count(found) == tilings(left, beside((rows, columns)))
        compared += 1
    corners = board(8, 8, holes=np.array([[0, 0], [0, 7]]))  # of two colours
    assert count(corners) > 0
    assert board(2, 2, holes=[(0, 0), (0, 1), (0, 0)]).matrix.toarray().tolist() == [[1]]


def test_positions():
    matrix, black, white = board(3, 4, holes=[(0, 1), (2, 2)])
    assert isinstance(matrix, sparse.csr_array)
    assert matrix.dtype == np.int64
    assert matrix.shape == (5, 5)
    assert black == [(0, 0), (0, 2), (1, 1), (1, 3), (2, 0)]
    assert white == [(0, 3), (1, 0), (1, 2), (2, 1), (2, 3)]
    assert {type(k) for cell in black + white for k in cell} == {int}
    for (i, j), value in np.ndenumerate(matrix.toarray()):
        distance = sum(abs(a - b) for a, b in zip(black[i], white[j]))
        assert value == (distance == 1)


def test_weights():
    source = rng(401)
    rows, columns = 4, 5
    horizontal = np.array([[source.randint(1, 9) for _ in range(columns - 1)] for _ in range(rows)])
    vertical = np.array([[source.randint(1, 9) for _ in range(columns)] for _ in range(rows - 1)])

    def weight(a, b):
        (i, j), (k, _) = sorted((a, b))
        return int(horizontal[i, j] if i == k else vertical[i, j])

    holes = [(1, 1), (2, 3), (0, 4), (3, 4)]
    left = [(i, j) for i in range(rows) for j in range(columns) if (i, j) not in holes]
    expected = tilings(left, beside((rows, columns)), weight)
    assert expected > 0
    for weights in ((horizontal, vertical), (horizontal.tolist(), vertical.tolist()), weight):
        found = board(rows, columns, holes, weights)
        assert found.matrix.dtype == np.int64
        assert count(found) == expected
    value = count(board(rows, columns, holes, (horizontal / 4, vertical / 4)))
    assert value == pytest.approx(expected / 4.0 ** (len(left) // 2), rel=1e-14)
    asked = []
    board(2, 2, weights=lambda black, white: asked.append((black, white)) or 1)
    assert sorted(asked) == [((i, i), cell) for i in (0, 1) for cell in ((0, 1), (1, 0))]


def test_kinds_of_weights():
    def with_weights(*weights):
        return board(2, 2, weights=weights).matrix

    assert libperm.permanent(with_weights(2, 3)) == 13
    assert type(libperm.permanent(with_weights(2, 3))) is int
    assert with_weights(True, np.uint8(200)).dtype == np.int64
    assert libperm.permanent(with_weights(True, np.uint8(200))) == 40001
    assert libperm.permanent(with_weights(2, 1.5)) == 6.25
    assert libperm.permanent(with_weights(2, 1j)) == 3
    assert libperm.permanent(with_weights(2**62, 2**62)) == 2**125
    assert with_weights(0, 1).nnz == 4  # the pattern does not depend on them
    for bad in (Fraction(1, 2), 2**70, 2**63, "2", None, np.float16(2)):
        with pytest.raises(TypeError, match="scipy.sparse holds"):
            with_weights(1, bad)
        with pytest.raises(TypeError, match="scipy.sparse holds"):
            board(2, 2, weights=lambda black, white, bad=bad: bad)
    for bad in ([[1, 1]], [1, 1], np.ones((2, 2))):
        with pytest.raises(ValueError, match=r"horizontal dominoes have shape .*: \(2, 1\) is expected"):
            with_weights(bad, 1)
    with pytest.raises(ValueError, match="1 arrays of weights, where 2 are expected"):
        with_weights(1)
    for bad in (3, "ab"):
        with pytest.raises(TypeError, match="a function"):
            board(2, 2, weights=bad)


def test_colours_of_different_numbers():
    with pytest.raises(ValueError, match=r"5 black and 4 white cells.* 1 more black ones .* even sum"):
        board(3, 3)
    with pytest.raises(ValueError, match=r"30 black and 32 white cells.* 2 more white ones .* odd sum"):
        board(8, 8, holes=[(0, 0), (7, 7)])
    assert count(board(3, 3, holes=[(0, 0)])) == 4


def test_bad_cells():
    for hole in ((0, 8), (-1, 0), (0,), (0, 0, 0)):
        with pytest.raises(ValueError, match="no cell of a board of 8 x 8"):
            board(8, 8, holes=[hole])
    for hole in (3, (0.5, 1), "a"):
        with pytest.raises(TypeError, match="is no cell"):
            board(8, 8, holes=[hole])
    for sides in ((-1, 2), (2, 0.5), ("2", 2)):
        with pytest.raises(ValueError, match=r"rows|columns"):
            board(*sides)


# ---------------------------------------------------------------- tori, diamonds, boxes, hexagons


@pytest.mark.parametrize(("n", "value"), [(2, 8), (4, 272), (6, 90176), (8, 311853312)])  # A335586
def test_tori(n, value):
    assert count(torus(n, n)) == value
    assert libperm.Periodic.lattice(f"ring:{n}", joined=True).permanent(n) == value


def test_tori_by_tilings():
    for shape in ((2, 2), (2, 4), (4, 2), (4, 4)):
        cells = [(i, j) for i in range(shape[0]) for j in range(shape[1])]
        assert count(torus(*shape)) == tilings(cells, beside(shape, joined=True))
        left = [cell for cell in cells if cell not in ((0, 0), (1, 0))]
        assert count(torus(*shape, holes=[(0, 0), (1, 0)])) == tilings(left, beside(shape, joined=True))
    assert count(torus(0, 4)) == 1
    around = np.zeros((4, 4), int)
    around[:, 3] = 5  # those that reach around, alone
    around[:, 1] = 1
    assert count(torus(4, 4, weights=(around, 0))) == 5**4
    for sides in ((3, 4), (4, 3), (1, 2)):
        with pytest.raises(ValueError, match="a ring of odd length"):
            torus(*sides)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 8])
def test_aztec_diamonds(n):
    diamond = aztec(n)
    assert len(diamond.black) == len(diamond.white) == n * (n + 1)
    assert count(diamond) == 2 ** (n * (n + 1) // 2)
    assert count(aztec(n, weights=(2, 3))) == 13 ** (n * (n + 1) // 2)
    rows = [sum(cell[0] == i for cell in diamond.black + diamond.white) for i in range(2 * n)]
    assert rows == [*range(2, 2 * n + 1, 2), *range(2 * n, 1, -2)]


def test_aztec_diamonds_in_arrays():
    source = rng(402)
    horizontal = np.array([[source.randint(1, 9) for _ in range(5)] for _ in range(6)])
    vertical = np.array([[source.randint(1, 9) for _ in range(6)] for _ in range(5)])

    def weight(black, white):
        (i, j), (k, _) = sorted((black, white))
        return horizontal[i, j] if i == k else vertical[i, j]

    assert (aztec(3, (horizontal, vertical)).matrix != aztec(3, weight).matrix).nnz == 0


def test_bricks():
    assert count(brick(2, 2, 2)) == 9
    assert [count(brick(3, 4, n)) for n in (1, 2, 3)] == [11, 1845, 117805]  # A028453
    assert count(brick(4, 4, 4)) == 5051532105  # A045310
    assert count(brick(1, 4, 5)) == count(board(4, 5))
    assert libperm.Periodic.lattice("grid:2x3").terms(3) == [count(brick(2, 3, n)) for n in (1, 2, 3)]
    hole, shape = (1, 1, 1), (3, 3, 3)
    with pytest.raises(ValueError, match="14 black and 13 white"):
        brick(*shape)
    with pytest.raises(ValueError, match="14 black and 12 white"):
        brick(*shape, holes=[hole])
    cells = [(i, j, k) for i in range(3) for j in range(3) for k in range(3) if (i, j, k) != (0, 0, 0)]
    assert count(brick(*shape, holes=[(0, 0, 0)])) == tilings(cells, beside(shape))
    assert count(brick(2, 2, 2, weights=(1, 10, 100))) == (  # all one way, or a pair each of two ways
        1 + 10**4 + 100**4 + 2 * (10**2 + 100**2 + 10**2 * 100**2)
    )
    with pytest.raises(ValueError, match=r"bricks along b have shape .*: \(2, 2, 4\) is expected"):
        brick(2, 3, 4, weights=(1, np.ones((2, 3, 4)), 1))


@pytest.mark.parametrize(
    "sides",
    [(0, 0, 0), (0, 2, 3), (1, 1, 1), (1, 2, 4), (2, 2, 2), (3, 3, 3), (2, 3, 5), (5, 3, 2), (4, 4, 4)],
)
def test_hexagons(sides):
    lattice = hexagon(*sides)
    a, b, c = sides
    assert len(lattice.black) == len(lattice.white) == a * b + b * c + c * a
    assert count(lattice) == macmahon(*sides)


@pytest.mark.parametrize(("a", "b", "c"), [(1, 1, 1), (1, 2, 4), (2, 2, 2), (3, 2, 4), (3, 3, 3)])
def test_volumes_of_plane_partitions(a, b, c):
    """Lozenges that share the edge along x are the tops of columns, whose heights count their volume."""
    q = 2

    def weight(black, white):
        return q ** black[0] if white == (black[0], black[1] - 1) else 1

    found = count(hexagon(a, b, c, weights=weight))
    while found % q == 0:  # where the columns stand
        found //= q
    assert found == macmahon(a, b, c, q)


def test_bad_hexagons():
    with pytest.raises(ValueError, match="b is -1"):
        hexagon(1, -1, 1)


# ---------------------------------------------------------------- cells, and what else the matrices are for


def test_cells():
    cell = lattices.cell("grid:4")
    assert isinstance(cell, sparse.csr_array)
    assert cell.shape == (2, 6)
    assert libperm.Periodic(cell).permanent(10) == 18061
    assert lattices.cell("circulant:3").toarray().tolist() == [[0, 0, 1, 1, 1]]
    assert libperm.Periodic(cell.astype(float) / 2).permanent(4) == 36 / 2.0**8
    with pytest.raises(libperm.InvalidOptionError, match="use grid:W"):
        lattices.cell("cube:3")


def test_marginals_and_samples():
    matrix, black, white = board(4, 4)
    marginals = libperm.marginals(matrix.astype(float)).entries
    corner = marginals[black.index((0, 0)), white.index((0, 1))]
    assert corner == pytest.approx(0.5, abs=1e-12)
    for sample in libperm.sample(matrix, shots=3, rng=1):
        assert sorted(sample) == list(range(8))
        assert all(matrix[i, j] == 1 for i, j in enumerate(sample))


def test_rows_of_a_gradient_share_the_time_limit(monkeypatch):
    clock = itertools.count(step=10)
    for module in (minors, options):
        monkeypatch.setattr(module, "time", types.SimpleNamespace(monotonic=lambda: next(clock)))
    full = board(16, 16).matrix.toarray().astype(float)  # with its zeros too wide for one frontier
    with pytest.raises(libperm.TimeRefusedError, match="of 127 rows are left"):
        libperm.gradient(full, time_limit=15)
