"""Many matrices of one pattern: their values in, an array of perm_result out."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from libperm._core import abi
from libperm._core.errors import InvalidMatrixError
from libperm._core.library import check, library
from libperm._core.matrix import Matrix
from libperm._core.result import SIZE, text_of_result, value_of
from libperm._core.scalars import Kind, numbers_of
from libperm._core.sequences import items_of
from libperm._core.values import as_array, is_array, is_entry, plain


@dataclass(frozen=True)
class Batch:
    """`values` as libperm.permanents() returns them, and of each what libperm.Result says."""

    values: Any
    rel_error_bounds: Any
    abs_error_bounds: Any
    exact: Any


def rows_in(values: Any, pattern: Matrix) -> tuple[int, Any]:
    """Returns how many matrices there are, and their entries in one row."""
    values, width = as_array(values), pattern.nnz
    if is_array(values):
        if values.ndim == 3:
            values = _entries_of(values, pattern)
        if values.ndim != 2 or values.shape[1] != width:
            raise InvalidMatrixError(f"values of shape {values.shape}, where the pattern has {width} entries")
        return len(values), plain(values.reshape(-1))
    rows = [_row(row) for row in items_of(values, "rows of values")]
    for i, row in enumerate(rows):
        if len(row) != width:
            raise InvalidMatrixError(f"row {i} has {len(row)} values, where the pattern has {width} entries")
    return len(rows), numbers_of([x for row in rows for x in row])


def _row(row: Any) -> list[Any]:
    row = as_array(row)
    if getattr(row, "ndim", 1) != 1:
        raise InvalidMatrixError(
            "a list of rows of values is expected, or an array (count, m, n) of matrices"
        )
    return items_of(row, "rows of values")


def _entries_of(matrices: Any, pattern: Matrix) -> Any:
    import numpy as np

    if matrices.shape[1:] != pattern.shape:
        raise InvalidMatrixError(
            f"matrices of shape {matrices.shape[1:]}, where the pattern has {pattern.shape}"
        )
    is_outside = np.ones(pattern.shape, bool)
    at = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.row_ptr)), np.asarray(pattern.col_idx)
    is_outside[at] = False
    for k, i, j in np.argwhere(is_entry(matrices) & is_outside)[:1]:
        raise InvalidMatrixError(f"matrix {k}: row {i}, column {j} is not in the plan's pattern")
    return matrices[:, at[0], at[1]]


class Results:
    """An array of perm_result that frees its texts."""

    def __init__(self, count: int) -> None:
        self._array = (abi.Result * count).from_buffer(bytearray(abi.Result(SIZE)) * count)
        self.address = ctypes.addressof(self._array)

    def __iter__(self) -> Iterator[abi.Result]:
        return iter(self._array)

    def __del__(self, _clear: Any = library.perm_result_clear) -> None:
        for i, struct in enumerate(getattr(self, "_array", ())):  # where there was no memory for it: none
            if struct.text:
                _clear(self.address + i * SIZE)

    def fill(self, plan: Any, values: int, width: int) -> None:
        check(library.perm_plan_execute_batch(plan, values, width, len(self._array), self.address))

    def read(self, kind: Kind, wants_exact: bool, as_numpy: bool) -> Batch:
        wants_exact = wants_exact or kind.is_exact
        if as_numpy and not (wants_exact and kind is not Kind.COMPLEX):
            return self.arrays(kind)
        values = [value_of(x, partial(text_of_result, x), kind, wants_exact) for x in self._array]
        return Batch(
            values,
            [struct.rel_error_bound for struct in self._array],
            [struct.abs_error_bound for struct in self._array],
            [bool(struct.exact) for struct in self._array],
        )

    def arrays(self, kind: Kind) -> Batch:
        import numpy as np

        names = ("re", "im", "rel_error_bound", "abs_error_bound", "exact")
        offsets = [getattr(abi.Result, name).offset for name in names]
        formats = ["f8"] * 4 + ["i4"]
        layout: Any = {"names": names, "formats": formats, "offsets": offsets, "itemsize": SIZE}
        table = np.frombuffer(bytes(self._array), np.dtype(layout))
        re, im, relative, absolute, exact = (np.ascontiguousarray(table[name]) for name in names)
        return Batch(_complex(re, im) if kind is Kind.COMPLEX else re, relative, absolute, exact.astype(bool))


def _complex(re: Any, im: Any) -> Any:
    """Joins the parts; re + 1j * im would be NaN where re is infinite."""
    import numpy as np

    whole = np.empty(len(re), np.complex128)
    whole.real, whole.imag = re, im
    return whole


def numbers_in(parts: ctypes.Array[ctypes.c_double], kind: Kind, as_numpy: bool) -> Any:
    """Reads doubles, or pairs of them as complex numbers."""
    if as_numpy:
        import numpy as np

        return np.array(parts).view(np.complex128 if kind is Kind.COMPLEX else np.float64)
    return list(map(complex, parts[::2], parts[1::2])) if kind is Kind.COMPLEX else list(parts)
