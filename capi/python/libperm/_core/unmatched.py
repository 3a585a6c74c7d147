"""Lines that may stay unmatched: their weights, of one matrix or of many, behind its values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from libperm._core import abi
from libperm._core.errors import InvalidMatrixError, UnmatchedWarning, warn_caller
from libperm._core.matrix import Input, Matrix, counts_in, input_of
from libperm._core.options import is_of_graph, readable_again
from libperm._core.scalars import Kind, numbers_of
from libperm._core.sequences import items_of
from libperm._core.values import as_array, encode, is_array, kind_of_entries, plain, value_type_of


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
        import numpy as np

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
        import numpy as np

        rows = [part.reshape(count, width) for part, width in zip(parts, widths)]
        return np.concatenate(rows, axis=1).reshape(-1)
    lists = [part.tolist() if is_array(part) else part for part in parts]
    shares = ((part, k * n, (k + 1) * n) for k in range(count) for part, n in zip(lists, widths))
    return [x for part, begin, end in shares for x in part[begin:end]]
