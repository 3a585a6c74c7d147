"""Derivatives and sub-permanents of integers and fractions, exactly.

A permanent is linear in each row. With the powers of a large number B in one row's place it is the sum of B^j
times the derivative by the row's entry j (Kronecker's substitution): one exact permanent has those of a whole
row as its digits. So has a hafnian those of a line, of which one copy stands apart, with these powers as its
entries.
"""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from libperm._core import abi
from libperm._core.errors import (
    InvalidMatrixError,
    InvalidOptionError,
    MemoryRefusedError,
    RefusedError,
    UnsupportedError,
)
from libperm._core.inputs import counts_in
from libperm._core.matrix import Matrix, of_rows
from libperm._core.options import MULTIPLICITIES, is_of_graph, with_time_left
from libperm._core.result import Gradient, Result
from libperm._core.scalars import Kind, exact_of
from libperm._core.values import encode, value_type_of

_MOST_BITS = 1 << 16  # of a number that is put together; the entries of longer rows take several
_PLANNED_ANEW = 0.1  # seconds of one permanent, where a plan of its own is worth the search

MakePlan = Callable[[Matrix, "dict[str, Any]", int, bool], Any]  # Plan._of


def are_exact(kind: Kind, options: Mapping[str, Any], in_sparse: bool) -> bool:
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


def refuse_exact_batch(options: Mapping[str, Any]) -> None:
    if options.get("precision") == "exact":
        raise ValueError("a batch's derivatives are doubles: exact ones are gradient()'s, of each matrix")


def exact_gradient(
    matrix: Matrix, permanent: Result, options: Mapping[str, Any], make_plan: MakePlan
) -> Gradient:
    """Computes the derivatives by each of its entries."""
    found = _derivatives(matrix, matrix.positions(), options, make_plan)
    return Gradient(found, [0.0] * len(found), permanent)


def exact_sub_permanents(a: Any, kind: Kind, options: Mapping[str, Any], make_plan: MakePlan) -> list[Any]:
    """Of an array of integers or fractions, numbers of this kind, with one line more one way than the other,
    without each of these: the derivatives by one more line."""
    counts = counts_in(a.shape, options)
    if sum(counts[0]) > sum(counts[1]):
        a, counts = a.T, counts[::-1]
    if sum(counts[1]) != sum(counts[0]) + 1:
        raise InvalidMatrixError("sub-permanents are of a matrix with one line more one way than the other")
    rows, columns = a.shape
    row_ptr, col_idx = range(0, (rows + 2) * columns, columns), [*range(columns)] * (rows + 1)
    entries = [*a.reshape(-1).tolist(), *[0] * columns]
    bordered = Matrix((rows + 1, columns), array("q", row_ptr), array("q", col_idx), entries, kind)
    others = {**options, **dict(zip(MULTIPLICITIES, ([*counts[0], 1], counts[1])))}
    found = _derivatives(bordered, [(rows, j) for j in range(columns)], others, make_plan)
    return [type(x)(Fraction(x) / max(c, 1)) for x, c in zip(found, counts[1])]


def _derivatives(
    matrix: Matrix, wanted: Sequence[tuple[int, int]], options: Mapping[str, Any], make_plan: MakePlan
) -> list[Any]:
    """Those by the entries at these places: int of integers, else Fraction."""
    minors = _Minors(matrix, options, make_plan)
    places = [minors.place_of(*at) for at in wanted]
    by_row: dict[int, set[int]] = {}
    for i, j in places:
        by_row.setdefault(i, set()).add(j)
    found = {
        (i, j): x
        for i, columns in by_row.items()
        for j, x in zip(sorted(columns), minors.of_row(i, sorted(columns)))
    }
    number = int if matrix.kind is Kind.INTEGER else Fraction
    return [number(found[at]) for at in places]


class _Minors:
    """Of a matrix with no fewer columns than rows, counted, so that each row is matched; of a graph, whose
    lines are rows and columns."""

    def __init__(self, matrix: Matrix, options: Mapping[str, Any], make_plan: MakePlan) -> None:
        self._options, self._make_plan, self._begun = dict(options), make_plan, time.monotonic()
        self._is_graph = is_of_graph(options)
        self._has_loops = options.get("function") == "loop_hafnian"
        counts = counts_in(matrix.shape, options)
        if self._is_graph and options.get("col_multiplicity") is None:
            counts[1] = counts[0]
        if self._has_loops and any(c > 1 for c in counts[0]):
            raise UnsupportedError(
                "an entry on the diagonal stands for the loops of a line that counts several times, and for "
                "the pairs of its copies: write the copies out"
            )
        self._is_flipped = sum(counts[0]) > sum(counts[1])
        self._counts, self._column_counts = counts[:: -1 if self._is_flipped else 1]
        self._rows: list[dict[int, Any]] = [{} for _ in self._counts]
        for (i, j), x in zip(matrix.positions(), matrix.entries):
            row, column = (j, i) if self._is_flipped else (i, j)
            if x != 0:
                self._rows[row][column] = _exactly(x)
        # Of each row: times the product of these for all that are matched a minor is an integer.
        self._scale = [math.lcm(*(x.denominator for x in row.values())) for row in self._rows]
        self._last: tuple[Matrix, list[int], Any] | None = None  # a plan, for rows of the same pattern

    def place_of(self, i: int, j: int) -> tuple[int, int]:
        """In which row, and at which of its entries, the derivative by an entry is found."""
        return (min(i, j), max(i, j)) if self._is_graph else (j, i) if self._is_flipped else (i, j)

    def of_row(self, i: int, columns: Sequence[int]) -> list[Fraction]:
        """The derivatives by these entries of row i, each of its copies alike."""
        count = [*self._counts]
        copies = count[i]
        if copies == 0:
            return [Fraction(0)] * len(columns)
        count[i] -= 1
        kept = [k for k, times in enumerate(count) if times > 0]
        scale = math.prod(self._scale[k] ** count[k] for k in kept)
        bits = int(scale * self._largest(kept, count)).bit_length() + 2
        step, found = max(1, _MOST_BITS // bits), []
        for first in range(0, len(columns), step):
            powers = {j: 1 << bits * k for k, j in enumerate(columns[first : first + step])}
            put_together = (self._line_apart if self._is_graph else self._in_place)(i, kept, count, powers)
            try:
                value = self._permanent(*put_together)
            except RefusedError as error:  # whose bounds and engines are of no matrix of the caller's
                told = str(error).partition("\n")[0]
                raise type(error)(
                    f"exact derivatives by line {i}: {told}; raise a limit: memory_limit or time_limit"
                ) from None
            for j, x in zip(powers, _digits_of(int(value * scale), bits, len(powers))):
                is_own_pair = self._is_graph and j == i and not self._has_loops  # which both copies count
                found.append(Fraction(copies * x, scale * (2 if is_own_pair else 1)))
        return found

    def _largest(self, kept: list[int], count: list[int]) -> Any:
        """No minor's absolute value, as often as its column counts, is larger. Of a graph's terms the lower
        line of a pair says which."""
        bound = max(self._column_counts, default=1)
        for k in kept:
            terms = ((j, x) for j, x in self._rows[k].items() if j >= k or not self._is_graph)
            most = sum(abs(x) * self._column_counts[j] for j, x in terms)
            bound *= (max(most, 1) if self._is_graph else most) ** count[k]
        return bound

    def _in_place(self, i: int, kept: list[int], count: list[int], powers: dict[int, int]) -> Any:
        """The rows, and how often they and the columns count. One copy of row i has the powers."""
        lines = [(powers, 1) if k == i else (self._rows[k], count[k]) for k in sorted({*kept, i})]
        if count[i] > 0:
            lines.append((self._rows[i], count[i]))
        rows, times = map(list, zip(*lines))
        return rows, times, self._column_counts

    def _line_apart(self, i: int, kept: list[int], count: list[int], powers: dict[int, int]) -> Any:
        """The same of a graph, the copy of line i that has the powers as the last line."""
        place = {k: at for at, k in enumerate(kept)}
        rows = [{place[j]: x for j, x in self._rows[k].items() if j in place} for k in kept]
        apart = {place[j]: power for j, power in powers.items() if j in place}
        for at, power in apart.items():
            rows[at][len(kept)] = power
        if self._has_loops and i in powers:
            apart[len(kept)] = powers[i]
        times = [*(count[k] for k in kept), 1]
        return [*rows, apart], times, times

    def _permanent(self, rows: list[dict[int, Any]], times: list[int], column_times: list[int]) -> Any:
        options = with_time_left(self._options, self._begun, "other exact derivatives")
        matrix = of_rows([sorted(row.items()) for row in rows], len(column_times), Kind.RATIONAL)
        are_counted = any(c != 1 for c in (*times, *column_times))
        counts = (times, column_times) if are_counted else (None, None)
        given = {**options, "precision": "exact", **dict(zip(MULTIPLICITIES, counts))}
        if self._last is None or self._last[1] != times or not matrix.has_pattern_of(self._last[0]):
            self._last = matrix, times, self._make_plan(matrix, given, abi.VALUE_TEXT, False)
        plan = self._last[2]
        if plan._open().seconds() > _PLANNED_ANEW:
            plan = self._make_plan(matrix, given, abi.VALUE_TEXT, True)
        return exact_of(plan._open().execute(encode(matrix.entries, abi.VALUE_TEXT), plan._options).text())


def _exactly(x: Any) -> int | Fraction:
    numerator, denominator = x.as_integer_ratio() if hasattr(x, "as_integer_ratio") else (int(x), 1)
    return int(numerator) if denominator == 1 else Fraction(numerator, denominator)


def _digits_of(value: int, bits: int, count: int) -> list[int]:
    """Takes a sum apart, of numbers x_k below 2^(bits - 1) in absolute value, each times 2^(k bits)."""
    half, digits = 1 << bits - 1, []
    for _ in range(count):
        low = (value + half) % (2 * half) - half
        digits.append(low)
        value = (value - low) >> bits
    return digits


# ----------------------------------------------------------------
# Derivatives by all entries of a matrix that is sparse, zeros too: each row's by a plan of its own, in which
# it alone is full. A frontier that is narrow grows little by that.


def gradient_by_rows(
    full: Matrix,
    options: Mapping[str, Any],
    make_plan: MakePlan,
    refused: MemoryRefusedError | UnsupportedError,
) -> Gradient:
    """Computes that of a matrix that has an entry everywhere, whose own plan was refused."""
    rows, cols = full.shape
    entries = list(full.entries)
    written = [entries[i * cols : (i + 1) * cols] for i in range(rows)]
    kept = [[j for j in range(cols) if row[j] != 0] for row in written]
    if all(len(row) == cols for row in kept):
        raise refused
    begun = time.monotonic()
    derivatives: list[Any] = []
    bounds: list[float] = []
    for i in range(rows):
        columns = [range(cols) if k == i else row for k, row in enumerate(kept)]
        one = of_rows([[(j, x[j]) for j in row] for x, row in zip(written, columns)], cols, full.kind)
        left = with_time_left(options, begun, f"the derivatives of {rows - i} rows")
        try:
            plan = make_plan(one, left, value_type_of(one.entries, one.kind), True)
            found = plan.gradient(full=True)
        except (MemoryRefusedError, UnsupportedError) as too_large:
            raise type(too_large)(
                f"{too_large}\n  these are the derivatives by zeros too: "
                "pass scipy.sparse for those by its entries alone"
            ) from None
        first = one.row_ptr[i]
        derivatives += list(found.derivatives)[first : first + cols]
        bounds += list(found.error_bounds)[first : first + cols]
    return Gradient(derivatives, bounds, found.permanent)
