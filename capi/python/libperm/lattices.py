"""Matrices whose permanents count tilings: boards by dominoes, hexagons by lozenges, boxes by bricks.

The cells of a lattice have two colours, black and white, and each piece covers one of both: a black cell is a
row, a white one a column, and an entry is the weight of the piece that covers the two.

>>> import libperm
>>> from libperm.lattices import aztec, board, hexagon
>>> libperm.permanent(board(8, 8).matrix)  # of a chessboard with dominoes
12988816
>>> libperm.permanent(board(3, 3, holes=[(1, 1)]).matrix)  # and around a hole
2
>>> libperm.permanent(aztec(4).matrix) == 2 ** (4 * 5 // 2)
True
>>> libperm.permanent(hexagon(3, 3, 3).matrix)
980
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from libperm._core.errors import InvalidMatrixError
from libperm._core.options import whole
from libperm._core.periodic import lattice_cell

__all__ = ["Lattice", "aztec", "board", "brick", "cell", "hexagon", "torus"]

Cell = tuple[int, ...]

# Pieces in the order that their weights are given in, and the axis that they lie along.
DOMINOES = (("horizontal dominoes", 1), ("vertical dominoes", 0))
BRICKS = (("bricks along a", 0), ("bricks along b", 1), ("bricks along c", 2))


class Lattice(NamedTuple):
    """The matrix of a lattice, black cells by white cells, and where the cells are."""

    matrix: Any  # scipy.sparse.csr_array, of int64 where the weights are whole numbers
    black: list[Cell]  # of each row
    white: list[Cell]  # of each column


def board(
    rows: int,
    columns: int,
    holes: Iterable[Sequence[int]] = (),
    weights: Callable[[Cell, Cell], Any] | Sequence[Any] | None = None,
) -> Lattice:
    """Dominoes on a board. Cells are pairs (i, j), row and column from 0 on; those with i + j even are black.

    holes: cells that are left out. As many black as white ones must be left, or it is a ValueError.
    weights: of each domino, a tiling's being their product; not given: 1. A function of the black and the
    white cell; or two arrays, horizontal and vertical: that of the domino on (i, j) and (i, j + 1) is
    horizontal[i, j], of rows x (columns - 1), that on (i, j) and (i + 1, j) vertical[i, j], of
    (rows - 1) x columns. A number in place of an array counts for all of that direction.

    Their number is Kasteleyn's product (Physica 27, 1961; Temperley and Fisher, Phil. Mag. 6, 1961).

    >>> import libperm
    >>> matrix, black, white = board(2, 3)
    >>> matrix.toarray().tolist(), black, white
    ([[1, 1, 0], [1, 0, 1], [1, 1, 1]], [(0, 0), (0, 2), (1, 1)], [(0, 1), (1, 0), (1, 2)])
    >>> libperm.permanent(board(2, 3, weights=(10, 1)).matrix)  # 1 + 2 * 10**2: by horizontal dominoes
    201
    """
    shape = _sides(rows=rows, columns=columns)
    return _squares(_without(holes, shape), weights, DOMINOES)


def torus(
    rows: int,
    columns: int,
    holes: Iterable[Sequence[int]] = (),
    weights: Callable[[Cell, Cell], Any] | Sequence[Any] | None = None,
) -> Lattice:
    """Dominoes on a board whose opposite sides are joined, each of even length. Around a side of 2 two
    dominoes cover the same cells, and their weights add up. All else is as in board(), but arrays of weights
    are of rows x columns: of the last column, and the last row, those that reach around.

    >>> import libperm
    >>> [libperm.permanent(torus(n, n).matrix) for n in (2, 4, 6)]  # A335586
    [8, 272, 90176]
    """
    shape = _sides(rows=rows, columns=columns)
    for name, side in zip(("rows", "columns"), shape):
        if side % 2:
            raise InvalidMatrixError(
                f"{name} is {side}: a ring of odd length has no two colours, and its matchings no matrix; "
                "the sides of a torus are even"
            )
    return _squares(_without(holes, shape), weights, DOMINOES, joined=True)


def aztec(n: int, weights: Callable[[Cell, Cell], Any] | Sequence[Any] | None = None) -> Lattice:
    """Dominoes on the Aztec diamond of order n: of a board of 2n x 2n, rows of 2, 4, ..., 2n, 2n, ..., 4, 2
    cells in its middle. Cells and weights are those of that board (what stands outside is not read).

    There are 2^(n(n+1)/2) (Elkies, Kuperberg, Larsen and Propp, J. Algebraic Combin. 1, 1992); with weights x
    and y of all horizontal and all vertical ones their sum is (x^2 + y^2)^(n(n+1)/2).

    >>> import libperm
    >>> libperm.permanent(aztec(3).matrix), libperm.permanent(aztec(3, weights=(2, 3)).matrix) == 13**6
    (64, True)
    """
    (order,) = _sides(n=n)
    away = np.abs(2 * np.arange(2 * order) - 2 * order + 1)  # twice, from the middle
    return _squares(away[:, None] + away <= 2 * order, weights, DOMINOES)


def brick(
    a: int,
    b: int,
    c: int,
    holes: Iterable[Sequence[int]] = (),
    weights: Callable[[Cell, Cell], Any] | Sequence[Any] | None = None,
) -> Lattice:
    """Bricks of 2 x 1 x 1 in a box of a x b x c. Cells are triples (i, j, k) from 0 on; those with an even
    sum are black. holes, weights: as in board(), but of three arrays: for bricks along a, (a - 1) x b x c of
    them, along b, and along c.

    >>> import libperm
    >>> [libperm.permanent(brick(2, 3, n).matrix) for n in range(1, 5)]  # A028447
    [3, 32, 229, 1845]
    """
    shape = _sides(a=a, b=b, c=c)
    return _squares(_without(holes, shape), weights, BRICKS)


def hexagon(a: int, b: int, c: int, weights: Callable[[Cell, Cell], Any] | None = None) -> Lattice:
    """Lozenges in a hexagon of the triangular lattice with sides a, b, c, a, b, c: plane partitions in a box.

    Cells are pairs (x, y) in the lattice's two directions, the triangles with the corners (x, y), (x + 1, y),
    (x, y + 1), which are black, and with the corners (x + 1, y), (x, y + 1), (x + 1, y + 1), which are white.
    The side at y = 0 goes from x = c to x = a + c.
    weights: of each lozenge, a function of the black and the white triangle; not given: 1.

    There are prod (i + j + k - 1) / (i + j + k - 2) over 1 <= i <= a, 1 <= j <= b, 1 <= k <= c (MacMahon,
    Combinatory Analysis, 1916; as lozenges: David and Tomei, Amer. Math. Monthly 96, 1989).

    >>> import libperm
    >>> libperm.permanent(hexagon(2, 2, 2).matrix), libperm.permanent(hexagon(1, 2, 4).matrix)
    (20, 15)
    """
    a, b, c = _sides(a=a, b=b, c=c)
    x, y = np.indices((a + c, b + c))
    inside = [(c - d <= x + y) & (x + y + 1 + d <= a + b + c) for d in (0, 1)]  # black; white
    number = [np.cumsum(there).reshape(there.shape) - 1 for there in inside]
    edges = []
    for dx, dy in ((0, 0), (1, 0), (0, 1)):  # to the white triangle at (x - dx, y - dy)
        black, white = ((slice(dx, None), slice(dy, None)), (slice(a + c - dx), slice(b + c - dy)))
        both = inside[0][black] & inside[1][white]
        edges.append((number[0][black][both], number[1][white][both], None))
    return _lattice(inside[0], inside[1], edges, weights)


def cell(name: str) -> Any:
    """The cell that libperm.Periodic.lattice() takes by its name, as scipy.sparse: to be weighted, or to be
    looked at.

    >>> import libperm
    >>> libperm.lattices.cell("ring:2").toarray().tolist()
    [[1, 2, 1]]
    >>> heavy = libperm.lattices.cell("toeplitz:1,1") * 3
    >>> libperm.Periodic(heavy).terms(3)
    [3, 18, 81]
    """
    found = lattice_cell(name)
    parts = (np.array(part, np.int64) for part in (found.entries, found.col_idx, found.row_ptr))
    return sparse.csr_array(tuple(parts), shape=found.shape)


def _sides(**sides: Any) -> tuple[int, ...]:
    return tuple(whole(name, side, 2**31 - 1) for name, side in sides.items())


def _given(weights: Any, pieces: Sequence[tuple[str, int]]) -> dict[int, tuple[str, Any]] | None:
    """Where arrays are given: of each axis the name of its pieces and their weights."""
    if weights is None or callable(weights):
        return None
    if not isinstance(weights, Iterable) or isinstance(weights, str):
        raise TypeError(f"weights are {weights!r}: a function of two cells is expected, or arrays")
    found = list(weights)
    if len(found) != len(pieces):
        names = ", ".join(name for name, _ in pieces)
        raise InvalidMatrixError(f"{len(found)} arrays of weights, where {len(pieces)} are expected: {names}")
    return {axis: (name, _numbers(array)) for (name, axis), array in zip(pieces, found)}


def _without(holes: Iterable[Sequence[int]], shape: tuple[int, ...]) -> Any:
    """Where the cells of a full board are left."""
    free = np.ones(shape, bool)
    for hole in holes:
        try:
            at = tuple(map(operator.index, hole))
        except TypeError:
            raise TypeError(f"hole {hole!r} is no cell: {len(shape)} whole numbers are expected") from None
        if len(at) != len(shape) or not all(0 <= k < side for k, side in zip(at, shape)):
            raise InvalidMatrixError(f"hole {hole!r} is no cell of a board of {' x '.join(map(str, shape))}")
        free[at] = False
    return free


def _squares(free: Any, weights: Any, pieces: Sequence[tuple[str, int]], joined: bool = False) -> Lattice:
    """Of squares, or cubes, where they are left."""
    is_black = free & (np.indices(free.shape).sum(axis=0) % 2 == 0)
    is_white = free & ~is_black
    given = _given(weights, pieces)
    number = np.where(is_black.ravel(), np.cumsum(is_black), np.cumsum(is_white)) - 1
    at = np.arange(free.size).reshape(free.shape)
    edges = []
    for axis in range(free.ndim):
        cut = (slice(None),) * axis
        first, second = at[(*cut, slice(None, -1))], at[(*cut, slice(1, None))]
        if joined:
            first, second = at, np.roll(at, -1, axis)
        both = free.ravel()[first] & free.ravel()[second]
        values = _spread(given[axis], first.shape)[both] if given else None
        first, second = first[both], second[both]
        begins_black = is_black.ravel()[first]
        rows, columns = np.where(begins_black, first, second), np.where(begins_black, second, first)
        edges.append((number[rows], number[columns], values))
    return _lattice(is_black, is_white, edges, weights)


def _lattice(is_black: Any, is_white: Any, edges: Sequence[tuple[Any, Any, Any]], weights: Any) -> Lattice:
    """edges: rows, columns and, unless weights is None or a function, values."""
    black, white = (list(map(tuple, np.argwhere(there).tolist())) for there in (is_black, is_white))
    if len(black) != len(white):
        colour, sums = ("black", "even") if len(black) > len(white) else ("white", "odd")
        raise InvalidMatrixError(
            f"{len(black)} black and {len(white)} white cells: no tiling covers them all. Leave out "
            f"{abs(len(black) - len(white))} more {colour} ones (holes), whose coordinates have an {sums} sum"
        )
    rows, columns = (np.concatenate([edge[side] for edge in edges]) for side in (0, 1))
    if weights is None:
        values = np.ones(len(rows), np.int64)
    elif callable(weights):
        values = _numbers([weights(black[i], white[j]) for i, j in zip(rows.tolist(), columns.tolist())])
    else:
        values = np.concatenate([edge[2] for edge in edges])
    matrix = sparse.coo_array((values, (rows, columns)), shape=(len(black), len(white)))
    return Lattice(matrix.tocsr(), black, white)


def _spread(given: tuple[str, Any], shape: tuple[int, ...]) -> Any:
    pieces, numbers = given
    if numbers.ndim and numbers.shape != shape:
        raise InvalidMatrixError(
            f"the weights of {pieces} have shape {numbers.shape}: {shape} is expected, or one number for all"
        )
    return np.broadcast_to(numbers, shape)


def _numbers(weights: Any) -> Any:
    """As scipy.sparse holds them, whole numbers as int64."""
    numbers = np.asarray(weights)
    kind = numbers.dtype.kind
    if kind in "biu" and int(numbers.max(initial=0)) < 2**63:
        return numbers.astype(np.int64)
    if kind not in "fc" or numbers.dtype.itemsize == 2:
        raise TypeError(
            f"weights of dtype {numbers.dtype}: scipy.sparse holds int64, float64, complex128, and neither "
            "fractions nor longer integers: multiply fractions by a denominator"
        )
    return numbers
