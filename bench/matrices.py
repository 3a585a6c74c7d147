"""Random matrices to measure with, in 5 shapes and 3 kinds of values, always the same for a seed.

Every matrix has a full diagonal, and so a permanent that is no zero by its pattern alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["signed", "positive", "complex"]
Cell = tuple[int, int]
Cells = Callable[[random.Random], Iterator[Cell]]


@dataclass(frozen=True)
class Matrix:
    name: str
    n: int
    kind: Kind
    shape: Cells

    def write(self, file: Path, seed: int) -> int:
        """As a Matrix Market file; returns the number of entries."""
        generator = random.Random(f"{seed} {self.name}")
        cells = sorted({(i, i) for i in range(self.n)} | set(self.shape(generator)))
        field = "complex" if self.kind == "complex" else "real"
        lines = [f"%%MatrixMarket matrix coordinate {field} general", f"{self.n} {self.n} {len(cells)}"]
        lines += [f"{i + 1} {j + 1} {_value(self.kind, generator)}" for i, j in cells]
        file.write_text("\n".join(lines) + "\n")
        return len(cells)


def _value(kind: Kind, generator: random.Random) -> str:
    """In (0, 1], or of the size of such and any sign, or with two parts of any sign."""

    def signed() -> float:
        return (1 - generator.random()) * (1 if generator.random() < 0.5 else -1)

    if kind == "complex":
        return f"{signed()!r} {signed()!r}"
    return repr(signed() if kind == "signed" else 1 - generator.random())


# ---------------------------------------------------------------- shapes


def random_cells(n: int, density: float) -> Cells:
    def cells(generator: random.Random) -> Iterator[Cell]:
        return ((i, j) for i in range(n) for j in range(n) if generator.random() < density)

    return cells


def banded(n: int, width: int) -> Cells:
    """Up to `width` entries beside the diagonal on either side."""
    return lambda _: ((i, j) for i in range(n) for j in range(n) if abs(i - j) <= width)


def mesh(rows: int, columns: int, neighbours: int) -> Cells:
    """The points of a grid and their neighbours: 4; 6, with one diagonal; or 8."""
    steps = [(0, 1), (1, 0), (1, 1), (1, -1)][: neighbours // 2]

    def cells(_: random.Random) -> Iterator[Cell]:
        for y in range(rows):
            for x in range(columns):
                for down, right in steps:
                    if y + down < rows and 0 <= x + right < columns:
                        here, there = y * columns + x, (y + down) * columns + x + right
                        yield here, there
                        yield there, here

    return cells


def power_law(n: int, mean: float, exponent: float = 0.6) -> Cells:
    """Some `mean` entries in a row, more in the first rows and columns: in cell i, j with a probability like
    (i j)^-exponent (Chung and Lu 2002), lines permuted."""

    def cells(generator: random.Random) -> Iterator[Cell]:
        weight = [(i + 1.0) ** -exponent for i in range(n)]
        factor = mean * n / sum(weight) ** 2
        place = sorted(range(n), key=lambda _: generator.random())
        for i in range(n):
            for j in range(n):
                if generator.random() < factor * weight[i] * weight[j]:
                    yield place[i], place[j]

    return cells


# ---------------------------------------------------------------- the 60 of the table of regret

KINDS: tuple[Kind, ...] = ("positive", "signed", "complex")

# Of each shape and kind four, of some milliseconds to some seconds on two cores.
RANDOM: dict[Kind, list[tuple[int, int]]] = {  # order, percent
    "positive": [(30, 30), (36, 25), (44, 13), (60, 6)],
    "signed": [(28, 40), (34, 30), (38, 17), (52, 7)],
    "complex": [(24, 50), (30, 30), (36, 18), (50, 9)],
}
BANDED: dict[Kind, list[tuple[int, int]]] = {  # order, width
    "positive": [(24, 12), (32, 8), (48, 7), (60, 6)],
    "signed": [(22, 10), (30, 8), (44, 6), (60, 6)],
    "complex": [(20, 9), (28, 7), (40, 6), (60, 5)],
}
MESH: dict[Kind, list[tuple[int, int, int]]] = {  # rows, columns, neighbours
    "positive": [(6, 6, 8), (6, 9, 6), (7, 8, 4), (7, 8, 8)],
    "signed": [(5, 5, 8), (6, 6, 8), (7, 7, 6), (6, 10, 4)],
    "complex": [(4, 6, 8), (6, 6, 6), (7, 8, 4), (7, 7, 8)],
}
POWER: dict[Kind, list[tuple[int, int]]] = {  # order, mean of entries in a row
    "positive": [(28, 9), (36, 7), (46, 5), (60, 3)],
    "signed": [(26, 9), (34, 7), (44, 5), (60, 3)],
    "complex": [(22, 9), (30, 6), (40, 5), (60, 3)],
}
DENSE: dict[Kind, list[int]] = {
    "positive": [20, 23, 26, 29],
    "signed": [20, 22, 25, 28],
    "complex": [20, 21, 22, 24],
}


def regret_matrices(every_other: bool) -> list[Matrix]:
    return list(_all_60())[1::2] if every_other else list(_all_60())


def _all_60() -> Iterator[Matrix]:
    for kind in KINDS:
        for n, percent in RANDOM[kind]:
            yield Matrix(f"random{n}_{percent}_{kind}", n, kind, random_cells(n, percent / 100))
        for n, width in BANDED[kind]:
            yield Matrix(f"banded{n}_{width}_{kind}", n, kind, banded(n, width))
        for rows, columns, neighbours in MESH[kind]:
            name = f"mesh{rows}x{columns}_{neighbours}_{kind}"
            yield Matrix(name, rows * columns, kind, mesh(rows, columns, neighbours))
        for n, mean in POWER[kind]:
            yield Matrix(f"power{n}_{mean}_{kind}", n, kind, power_law(n, mean))
        for n in DENSE[kind]:
            yield Matrix(f"dense{n}_{kind}", n, kind, random_cells(n, 1))
