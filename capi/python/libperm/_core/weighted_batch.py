"""Permanents of many matrices whose lines may stay unmatched, each with weights of its own."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

from libperm._core import abi
from libperm._core.batch import Results
from libperm._core.call import run
from libperm._core.errors import InvalidMatrixError
from libperm._core.handle import LONG_SECONDS, Handle
from libperm._core.matchings import required
from libperm._core.matrix import Matrix, input_of
from libperm._core.options import Prepared
from libperm._core.result import SIZE
from libperm._core.scalars import numbers_of
from libperm._core.sequences import items_of
from libperm._core.values import as_array, encode, is_array, kind_of_entries, plain, value_type_of


def permanents(
    pattern: Matrix,
    count: int,
    flat: Any,
    weights: tuple[Any, Any],
    full: bool,
    as_numpy: bool,
    options: dict[str, Any],
) -> Any:
    """Of `count` matrices of this pattern, whose entries `flat` has one after the other; weights: of rows and
    columns, as libperm.permanents() takes them."""
    weights = required(pattern.shape, *weights, options)
    lines = zip(("row", "col"), pattern.shape, weights)
    sides = [None if given is None else _weights(what, count, n, given) for what, n, given in lines]
    values = _side_by_side(count, [flat, *(side for side in sides if side is not None)])
    kind = max(pattern.kind, kind_of_entries(values))
    value_type = value_type_of(values, kind)
    buffer = encode(values if len(values) > 0 else [0], value_type)
    prepared = Prepared(options, "exact" if kind.is_exact else None)
    given = input_of(pattern, options, value_type)
    place = buffer.address + pattern.nnz * _bytes_of(value_type)
    given.struct.values = buffer.address
    if sides[0] is not None:
        given.struct.row_unmatched = place
        place += pattern.shape[0] * _bytes_of(value_type)
    if sides[1] is not None:
        given.struct.col_unmatched = place
    prepared.require(count * float(SIZE), f"what is told of {count} matrices")
    handle, results = Handle(), Results(count)
    if count > 0:
        width = len(values) // count
        run(prepared, given.is_long, lambda: handle.make(given, prepared, is_told=False))
        is_long = count * handle.seconds() > LONG_SECONDS
        run(prepared, is_long, lambda: results.fill(handle.address, buffer.address, width))
    how = prepared.kind_of_answer(kind), prepared.wants_exact, as_numpy
    return results.read(*how) if full else results.values(*how)


def _bytes_of(value_type: int) -> int:
    return 16 if value_type == abi.VALUE_C128 else ctypes.sizeof(ctypes.c_int64)


def _weights(what: str, count: int, lines: int, given: Any) -> Any:
    """Reads a number for all, one for each line, or such of each matrix: count * lines of them."""
    given = as_array(given)
    if is_array(given):
        import numpy as np

        if given.shape not in ((), (lines,), (count, lines)):
            raise InvalidMatrixError(
                f"{what}_unmatched has the shape {given.shape}, where ({lines},) or ({count}, {lines}) "
                "is expected"
            )
        return plain(np.broadcast_to(given, (count, lines)).reshape(-1))
    if isinstance(given, str):
        raise InvalidMatrixError(f"{what}_unmatched is {given!r}: a number, or one for each {what}")
    if not isinstance(given, Iterable):
        return numbers_of([given] * (count * lines))
    items = items_of(given, f"weights, one for each {what}")
    rows = [list(item) for item in items if isinstance(item, Iterable)]
    if not rows:
        rows = [items] * count
    if len(rows) != count or any(len(row) != lines for row in rows):
        raise InvalidMatrixError(
            f"{what}_unmatched has {len(items)} weights, where {lines} are expected, or as many for "
            f"each of {count} matrices"
        )
    return numbers_of([x for row in rows for x in row])


def _side_by_side(count: int, parts: list[Any]) -> Any:
    """Joins the numbers of each matrix, of which every part has its share."""
    widths = [len(part) // max(count, 1) for part in parts]
    if all(is_array(part) for part in parts) and len({part.dtype.kind for part in parts}) == 1:
        import numpy as np

        rows = [part.reshape(count, width) for part, width in zip(parts, widths)]
        return np.concatenate(rows, axis=1).reshape(-1)
    lists = [part.tolist() if is_array(part) else part for part in parts]
    return [
        x
        for k in range(count)
        for part, width in zip(lists, widths)
        for x in part[k * width : (k + 1) * width]
    ]
