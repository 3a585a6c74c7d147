"""Many matrices of one pattern: their values in, an array of perm_result out."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from libperm._core import abi
from libperm._core.errors import InvalidMatrixError
from libperm._core.lazy import np
from libperm._core.library import check, library
from libperm._core.matrix import Matrix
from libperm._core.result import SIZE, Gradient, value_of, value_or_infinity
from libperm._core.scalars import Kind, numbers_of
from libperm._core.values import as_array, is_array, is_entry, items_of, plain


@dataclass(frozen=True)
class Batch:
    """`values` as libperm.permanents() returns them, but inf, or 0, where no double is near, and of each what
    libperm.Result says: mantissas * 2**exp2 has also those, unless the call computes in doubles alone. Beside
    an inf, or a 0 in place of another number, `exact` is False and the relative bound inf."""

    values: Any
    rel_error_bounds: Any
    abs_error_bounds: Any
    exact: Any
    mantissas: Any
    exp2: Any


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

    def values(self, kind: Kind, wants_exact: bool, as_numpy: bool, in_list: bool = False) -> Any:
        """An array of numpy's numbers, or a list of them; raises OverflowError in a list where no double is
        near."""
        wants_exact = wants_exact or kind.is_exact
        if as_numpy and not in_list and not (wants_exact and kind is not Kind.COMPLEX):
            return self.arrays(kind).values
        form = kind, wants_exact, as_numpy and in_list and not wants_exact
        return [value_of(x, *form) for x in self._array]

    def read(self, kind: Kind, wants_exact: bool, as_numpy: bool) -> Batch:
        wants_exact = wants_exact or kind.is_exact
        if as_numpy and not (wants_exact and kind is not Kind.COMPLEX):
            return self.arrays(kind)
        return batch_of((value_of(x, kind, wants_exact, or_infinity=True), x) for x in self._array)

    def arrays(self, kind: Kind) -> Batch:
        table = np.frombuffer(bytes(self._array), _layout())
        re, im, mantissa_re, mantissa_im, relative, absolute = (np.array(table[x]) for x in _DOUBLES)
        exp2, exact = np.array(table["exp2"]), table["exact"].astype(bool)
        for k in np.flatnonzero(_are_beyond(re, im, mantissa_re, mantissa_im, exp2)):
            relative[k], absolute[k], exact[k] = of_doubles(self._array[k])
        if kind is not Kind.COMPLEX:
            return Batch(re, relative, absolute, exact, mantissa_re, exp2)
        return Batch(_complex(re, im), relative, absolute, exact, _complex(mantissa_re, mantissa_im), exp2)


def chosen(found: Gradient, full: bool, with_permanent: bool) -> Any:
    """What a caller asks for of derivatives."""
    if full:
        return found
    if not with_permanent:
        return found.derivatives
    permanent = found.permanent
    value = permanent.values if isinstance(permanent, Batch) else value_or_infinity(permanent)
    return value, found.derivatives


_DOUBLES = ("re", "im", "mantissa_re", "mantissa_im", "rel_error_bound", "abs_error_bound")


@functools.cache
def _layout() -> Any:
    names, formats = [*_DOUBLES, "exp2", "exact"], ["f8"] * 6 + ["i8", "i4"]
    offsets = [getattr(abi.Result, name).offset for name in names]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": SIZE})


def batch_of(numbers: Iterable[tuple[Any, Any]]) -> Batch:
    """Lists of values, each given beside its perm_result."""
    columns: list[Any] = [[], [], [], [], [], []]
    for value, of in numbers:
        is_exact = of.exact and isinstance(value, (int, Fraction))
        bounds = (0.0, 0.0, True) if is_exact else of_doubles(of)
        mantissa = complex(of.mantissa_re, of.mantissa_im) if isinstance(value, complex) else of.mantissa_re
        for column, x in zip(columns, (value, *bounds, mantissa, of.exp2)):
            column.append(x)
    return Batch(*columns)


def of_doubles(of: Any) -> tuple[float, float, bool]:
    """A perm_result's bounds, relative and absolute, and whether it is exact, where doubles have its number:
    beyond their range no digit is certain."""
    scaled = tuple(math.ldexp(x, -of.exp2) for x in (of.re, of.im))
    if scaled == (of.mantissa_re, of.mantissa_im):
        return of.rel_error_bound, of.abs_error_bound, bool(of.exact)
    if math.isinf(of.re) or math.isinf(of.im):
        return math.inf, math.inf, False
    return math.inf, math.nextafter(of.abs_error_bound + 2.0**-1074, math.inf), False


def _are_beyond(re: Any, im: Any, mantissa_re: Any, mantissa_im: Any, exp2: Any) -> Any:
    """Where doubles are not mantissas * 2**exp2."""
    shift = np.clip(-exp2, -4096, 4096).astype(np.int32)
    return (np.ldexp(re, shift) != mantissa_re) | (np.ldexp(im, shift) != mantissa_im)


def _complex(re: Any, im: Any) -> Any:
    """Joins the parts; re + 1j * im would be NaN where re is infinite."""
    whole = np.empty(len(re), np.complex128)
    whole.real, whole.imag = re, im
    return whole


def numbers_in(parts: ctypes.Array[ctypes.c_double], kind: Kind, as_numpy: bool) -> Any:
    """Reads doubles, or pairs of them as complex numbers."""
    if as_numpy:
        return np.array(parts).view(np.complex128 if kind is Kind.COMPLEX else np.float64)
    return list(map(complex, parts[::2], parts[1::2])) if kind is Kind.COMPLEX else list(parts)
