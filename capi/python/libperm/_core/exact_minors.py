"""Derivatives and sub-permanents of integers and fractions, exactly.

A permanent is linear in each row. With the powers of a large number B in one row's place it is the sum of B^j
times the derivative by the row's entry j (Kronecker's substitution): one exact permanent has those of a whole
row as its digits. So is a hafnian in each line.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from libperm._core import exact_graph_minors
from libperm._core.errors import InvalidMatrixError, InvalidOptionError
from libperm._core.exact_plans import MOST_BITS, ExactPlans, digits_of, fraction_of
from libperm._core.matrix import Matrix, read_counts
from libperm._core.options import MULTIPLICITIES, is_of_graph
from libperm._core.result import Gradient, Result
from libperm._core.scalars import Kind


class _Lines(NamedTuple):
    """Rows as columns and entries, of integers, no fewer columns than rows, counted: each row is matched."""

    rows: list[dict[int, int]]
    row_count: list[int]
    column_count: list[int]
    scale: list[int]  # that each row has been multiplied by

    @property
    def width(self) -> int:
        return len(self.column_count)


def are_asked(kind: Kind, options: Mapping[str, Any], in_sparse: bool) -> bool:
    """Whether derivatives are to be exact: as permanents are of integers and fractions, unless told."""
    precision = options.get("precision")
    if precision is not None and str(precision).startswith("mod:"):
        raise ValueError(f'no derivatives by precision="{precision}": of integers they are exact by "exact"')
    if precision not in (None, "auto", "exact") or not (kind.is_exact or precision == "exact"):
        return False
    if kind is Kind.COMPLEX:
        raise TypeError('derivatives of complex numbers are computed in doubles: leave out precision="exact"')
    if in_sparse and kind is not Kind.INTEGER:
        raise TypeError(
            "derivatives that are fractions, which scipy.sparse cannot hold: pass an array or lists"
        )
    if options.get("checkpoint") is not None:
        raise InvalidOptionError(
            "checkpoint: one permanent is kept in it, and exact derivatives take many: leave it out"
        )
    return True


def refuse_batch(options: Mapping[str, Any]) -> None:
    if options.get("precision") == "exact":
        raise ValueError("a batch's derivatives are doubles: exact ones are gradient()'s, of each matrix")


def gradient(matrix: Matrix, permanent: Result, options: Mapping[str, Any]) -> Gradient:
    """Computes the derivatives by each of its entries."""
    find = exact_graph_minors.derivatives if is_of_graph(options) else derivatives
    found = find(matrix, matrix.positions(), options)
    return Gradient(found, [0.0] * len(found), permanent)


def derivatives(matrix: Matrix, wanted: Sequence[tuple[int, int]], options: Mapping[str, Any]) -> list[Any]:
    """The derivatives by the entries at these places: int of integers, else Fraction."""
    others = {name: value for name, value in options.items() if name not in MULTIPLICITIES}
    counts = [
        list(read_counts(name, lines, options.get(f"{name}_multiplicity")) or [1] * lines)
        for name, lines in zip(("row", "col"), matrix.shape)
    ]
    flipped = sum(counts[0]) > sum(counts[1])
    entries = zip(matrix.positions(), matrix.entries)
    lines = _lines(
        [((j, i) if flipped else (i, j), x) for (i, j), x in entries], *counts[:: -1 if flipped else 1]
    )
    places: dict[int, list[int]] = {}
    for i, j in wanted:
        row, column = (j, i) if flipped else (i, j)
        places.setdefault(row, []).append(column)
    asked = ExactPlans(others)
    found = {
        (row, column): x
        for row, columns in places.items()
        for column, x in zip(columns, _of_row(lines, row, columns, asked))
    }
    number = int if matrix.kind is Kind.INTEGER else Fraction
    return [number(found[(j, i) if flipped else (i, j)]) for i, j in wanted]


def sub_permanents(
    a: Any, kind: Kind, counts: Sequence[Sequence[int] | None], options: Mapping[str, Any]
) -> list[Any]:
    """Of an array of integers or fractions with one line more one way than the other, without each of these:
    the derivatives by one more line."""
    rows, columns = a.shape
    row_count, column_count = (list(c or [1] * lines) for c, lines in zip(counts, a.shape))
    if sum(row_count) > sum(column_count):
        a, row_count, column_count = a.T, column_count, row_count
        rows, columns = columns, rows
    if sum(column_count) != sum(row_count) + 1:
        raise InvalidMatrixError("sub-permanents are of a matrix with one line more one way than the other")
    entries = [x for x in a.reshape(-1).tolist()] + [0] * columns
    row_ptr = array("q", range(0, (rows + 2) * columns if columns else rows + 2, columns or 1))
    bordered = Matrix((rows + 1, columns), row_ptr, array("q", [*range(columns)] * (rows + 1)), entries, kind)
    others = {**options, "row_multiplicity": [*row_count, 1], "col_multiplicity": column_count}
    found = derivatives(bordered, [(rows, j) for j in range(columns)], others)
    number = int if kind is Kind.INTEGER else Fraction
    return [number(Fraction(x) / max(c, 1)) for x, c in zip(found, column_count)]


def _lines(
    entries: Iterable[tuple[tuple[int, int], Any]], row_count: list[int], column_count: list[int]
) -> _Lines:
    exact: list[dict[int, Fraction]] = [{} for _ in row_count]
    for (i, j), x in entries:
        if x != 0:
            exact[i][j] = fraction_of(x)
    scale = [math.lcm(*(x.denominator for x in row.values())) for row in exact]
    rows = [{j: int(x * d) for j, x in row.items()} for row, d in zip(exact, scale)]
    return _Lines(rows, row_count, column_count, scale)


def _of_row(lines: _Lines, i: int, columns: Sequence[int], plans: ExactPlans) -> list[Fraction]:
    """The derivatives by these entries of row i: each of its copies alike."""
    count = [*lines.row_count]
    copies = count[i]
    if copies == 0:
        return [Fraction(0)] * len(columns)
    count[i] -= 1
    kept = [k for k, times in enumerate(count) if times > 0]
    sums = [sum(c * abs(lines.rows[k][j]) for j, c in _counted(lines, k)) for k in kept]
    largest = math.prod(s ** count[k] for s, k in zip(sums, kept)) * max(lines.column_count, default=1)
    bits = largest.bit_length() + 2
    factor = Fraction(copies, math.prod(lines.scale[k] ** count[k] for k in kept))
    step, found = max(1, MOST_BITS // bits), []
    for first in range(0, len(columns), step):
        digits = {j: 1 << bits * k for k, j in enumerate(columns[first : first + step])}
        at = {k: lines.rows[k] for k in kept if k != i}
        rows = [at.get(k, digits) for k in range(len(count)) if k in at or k == i]
        rows += [lines.rows[i]] if count[i] else []
        times = [count[k] if k in at else 1 for k in range(len(count)) if k in at or k == i]
        times += [count[i]] if count[i] else []
        value = plans.permanent(rows, times, lines.column_count)
        found += [factor * x for x in digits_of(value, bits, len(digits))]
    return found


def _counted(lines: _Lines, row: int) -> list[tuple[int, int]]:
    return [(j, lines.column_count[j]) for j in lines.rows[row]]
