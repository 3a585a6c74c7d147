"""A matrix as a perm_csr, how often its lines count, and the weights of those that may stay unmatched."""

from __future__ import annotations

import ctypes
import math
import operator
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from libperm._core import abi
from libperm._core.errors import InvalidMatrixError, UnmatchedWarning, warn_caller
from libperm._core.lazy import np
from libperm._core.matrix import Matrix
from libperm._core.options import MULTIPLICITIES, is_of_graph, readable_again
from libperm._core.scalars import Kind, numbers_of
from libperm._core.values import (
    Buffer,
    as_array,
    encode,
    is_array,
    items_of,
    kind_of_entries,
    plain,
    value_type_of,
)

LONG_ORDER = 16  # bits of the number of terms: what sums more of them may take too long not to be stopped
LONG_LINES = 100  # the same of repeated lines, counted


class Input:
    """A perm_csr and all that it points to."""

    def __init__(
        self,
        matrix: Matrix,
        value_type: int,
        row_multiplicity: Iterable[int] | None = None,
        col_multiplicity: Iterable[int] | None = None,
        values: Buffer | None = None,
    ) -> None:
        self.value_type, self.width = value_type, matrix.nnz  # of the values that are read of a matrix
        self.values = encode(matrix.entries, value_type) if values is None else values
        lines = zip(("row", "col"), matrix.shape, (row_multiplicity, col_multiplicity))
        counts = self.counts = [read_counts(*line) for line in lines]
        self._kept = [
            Buffer(x) for x in (matrix.row_ptr, matrix.col_idx, *(c for c in counts if c is not None))
        ]
        self.is_long = matrix.shape[1] > LONG_ORDER
        if any(c is not None for c in counts):
            self.is_long = _may_take_long([c or [1] * n for c, n in zip(counts, matrix.shape)])
        self.struct = abi.Csr(
            ctypes.sizeof(abi.Csr),
            *matrix.shape,
            matrix.nnz,
            self._kept[0].address,
            self._kept[1].address,
            self.values.address,
            abi.INDEX_I64,
            self.value_type,
            *(None if c is None else Buffer(c).address for c in counts),
        )
        self.address = self._as_parameter_ = ctypes.addressof(self.struct)


def input_of(
    matrix: Matrix, options: Mapping[str, Any], value_type: int | None = None, values: Buffer | None = None
) -> Input:
    """Takes the multiplicities from the options, and the simplest type of the values, or the one given, and
    what is given of that type in their place."""
    if value_type is None:
        value_type = value_type_of(matrix.entries, matrix.kind)
    rows, columns = (options.get(name) for name in MULTIPLICITIES)
    return Input(matrix, value_type, rows, columns, values)


def _may_take_long(sides: Sequence[Sequence[int]]) -> bool:
    """Whether a sum over how many of each kind are taken, on the side where these are fewer, takes long."""
    bits = min(math.fsum(math.log2(max(c, 0) + 1) for c in side) for side in sides)
    return bits > LONG_ORDER or sum(sides[1]) > LONG_LINES


def counts_in(shape: Sequence[int], options: Mapping[str, Any]) -> list[list[int]]:
    """How often each row and each column counts."""
    sides = zip(("row", "col"), shape, (options.get(name) for name in MULTIPLICITIES))
    return [
        [1] * lines if given is None else list(read_counts(what, lines, given) or ())
        for what, lines, given in sides
    ]


def read_counts(what: str, lines: int, counts: Iterable[int] | None) -> array[int] | None:
    if counts is None:
        return None
    items = items_of(counts, f"integers ({what}_multiplicity)")
    try:
        read_counts = array("q", map(operator.index, items))
    except TypeError:
        raise TypeError(
            f"{what}_multiplicity says how often each {what} counts: integers, one for each"
        ) from None
    except OverflowError:
        raise InvalidMatrixError(f"{what}_multiplicity has a number beyond 64 bits") from None
    if len(read_counts) != lines:
        raise InvalidMatrixError(
            f"{what}_multiplicity has {len(read_counts)} numbers, the matrix {lines} {what}s"
        )
    return read_counts


# ----------------------------------------------------------------
# Lines that may stay unmatched: their weights, of one matrix or of many, behind its values.


def weighted_input(
    matrix: Matrix,
    row_unmatched: Any,
    col_unmatched: Any,
    options: Mapping[str, Any],
    beside: Any = (),
    warns: bool = True,
    many: tuple[int, Any] | None = None,
) -> tuple[Input, Kind]:
    """The matrix, with the weights of lines that stay unmatched behind its values, and their kind, which
    holds the numbers beside as well. warns: where that makes the answer 0. many: of so many matrices of its
    pattern, whose entries stand one after the other; each then has its weights behind it."""
    options = readable_again(options)
    count, entries = (1, matrix.entries) if many is None else many
    weights = required(matrix.shape, row_unmatched, col_unmatched, options, warns)
    of_lines = zip(("row", "col"), matrix.shape, weights)
    sides = [None if x is None else _weights(what, n, x, many and count) for what, n, x in of_lines]
    numbers = _side_by_side(count, [entries, *(side for side in sides if side is not None)])
    kind = max(matrix.kind, kind_of_entries(numbers))
    types = {value_type_of(x, kind) for x in (numbers, beside) if len(x) > 0 or x is numbers}
    value_type = types.pop() if len(types) == 1 else abi.VALUE_TEXT
    buffer = encode(numbers if len(numbers) > 0 else [0], value_type)  # which has an address
    given = input_of(matrix, options, value_type, buffer)
    each = 16 if value_type == abi.VALUE_C128 else 8
    for field, lines, side in zip(("row_unmatched", "col_unmatched"), matrix.shape, sides):
        if side is not None:
            setattr(given.struct, field, buffer.address + each * given.width)
            given.width += lines
    return given, kind


def required(
    shape: tuple[int, int],
    row_unmatched: Any,
    col_unmatched: Any,
    options: Mapping[str, Any],
    warns: bool = True,
) -> tuple[Any, Any]:
    """The weights. Where lines that have none cannot all be matched they get 0, which says the same: of that
    Python warns, and the library logs nothing."""
    has_rows, has_columns = row_unmatched is not None, col_unmatched is not None
    if has_rows == has_columns or is_of_graph(options):
        return row_unmatched, col_unmatched
    rows, columns = map(sum, counts_in(shape, options))
    if columns <= rows if has_rows else rows <= columns:
        return row_unmatched, col_unmatched
    if warns:
        longer, weights = ("columns", "col_unmatched") if has_rows else ("rows", "row_unmatched")
        warn_caller(
            f"the permanent is 0: of {max(rows, columns)} {longer} at most {min(rows, columns)} can be "
            f"matched, and each has to be, having no weight: pass {weights} too",
            UnmatchedWarning,
        )
    return (row_unmatched, 0) if has_rows else (0, col_unmatched)


def _weights(what: str, lines: int, given: Any, count: int | None) -> Any:
    """Reads a number for all or one for each line; with a count also such of each matrix: all of them."""
    name, copies = f"{what}_unmatched", 1 if count is None else count
    of_each = "" if count is None else f", or as many for each of {count} matrices"
    given = as_array(given)
    if is_array(given):
        if given.shape not in ((), (lines,)) and given.shape != (count, lines):
            raise InvalidMatrixError(
                f"{name} has the shape {given.shape}, where {lines} are expected{of_each}"
            )
        return plain(np.broadcast_to(given, (copies, lines)).reshape(-1))
    if isinstance(given, str):
        raise InvalidMatrixError(f"{name} is {given!r}: a number, or one for each {what}")
    if not isinstance(given, Iterable):
        return numbers_of([given] * (copies * lines))
    items = items_of(given, f"weights, one for each {what}")
    rows = [] if count is None else [list(item) for item in items if isinstance(item, Iterable)]
    rows = rows or [items] * copies
    if len(rows) != copies or any(len(row) != lines for row in rows):
        raise InvalidMatrixError(f"{name} has {len(items)} weights, where {lines} are expected{of_each}")
    return numbers_of(list(chain.from_iterable(rows)))


def _side_by_side(count: int, parts: Sequence[Any]) -> Any:
    """Joins the numbers of each matrix, of which every part has its share."""
    if len(parts) == 1:
        return parts[0]
    widths = [len(part) // max(count, 1) for part in parts]
    if all(is_array(part) for part in parts) and len({part.dtype.kind for part in parts}) == 1:
        rows = [part.reshape(count, width) for part, width in zip(parts, widths)]
        return np.concatenate(rows, axis=1).reshape(-1)
    lists = [part.tolist() if is_array(part) else part for part in parts]
    shares = ((part, k * n, (k + 1) * n) for k in range(count) for part, n in zip(lists, widths))
    return [x for part, begin, end in shares for x in part[begin:end]]
