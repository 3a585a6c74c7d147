"""Minors of dense matrices: sub-permanents and derivatives by sums over signs, without a plan."""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Iterable, Mapping
from numbers import Rational
from typing import Any

from libperm._core import abi, minors, quick
from libperm._core.batch import Batch
from libperm._core.call import call
from libperm._core.errors import InvalidMatrixError
from libperm._core.inputs import LONG_ORDER, read_counts
from libperm._core.lazy import np
from libperm._core.library import check, library
from libperm._core.matrix import array_in
from libperm._core.options import MULTIPLICITIES, Prepared, RunOptions, Unpack, is_of_graph, readable_again
from libperm._core.plan import Plan
from libperm._core.result import Gradient
from libperm._core.values import array_of, as_doubles, kind_of_entries, plain

MOST_LINES = 40
_VALUE_TYPES = {"f": abi.VALUE_F64, "c": abi.VALUE_C128, "i": abi.VALUE_I64}


class Dense:
    """A perm_dense, and all that it points to."""

    def __init__(
        self,
        matrices: Any,
        row_multiplicity: Iterable[int] | None = None,
        col_multiplicity: Iterable[int] | None = None,
    ) -> None:
        self._matrices = np.ascontiguousarray(matrices)
        count, rows, columns = self._matrices.shape
        self._counts = (
            read_counts("row", rows, row_multiplicity),
            read_counts("col", columns, col_multiplicity),
        )
        self.struct = abi.Dense(
            ctypes.sizeof(abi.Dense),
            rows,
            columns,
            count,
            self._matrices.ctypes.data,
            _VALUE_TYPES[self._matrices.dtype.kind],
            0,
            *(None if counts is None else counts.buffer_info()[0] for counts in self._counts),
        )
        self.lines = [n if c is None else sum(c) for c, n in zip(self._counts, (rows, columns))]
        self.is_long = max(self.lines) + count.bit_length() > LONG_ORDER

    def call(self, name: str, options: Mapping[str, Any], outputs: tuple[Any, ...]) -> None:
        function, given = getattr(library, name), ctypes.byref(self.struct)
        places = [None if x is None else x.ctypes.data for x in outputs]
        if not options and not self.is_long:
            check(function(given, None, *places))
            return
        prepared = Prepared(options, None)
        prepared.require(sum(x.nbytes for x in outputs if x is not None), "what is told of all matrices")
        call(prepared, self.is_long, function, given, prepared, *places)


def sub_permanents(
    A: Any,
    *,
    row_multiplicity: Iterable[int] | None = None,
    col_multiplicity: Iterable[int] | None = None,
    device: str | None = None,
    precision: str | None = None,
    full: bool = False,
    **options: Unpack[RunOptions],
) -> Any:
    """Of a matrix with one line more one way than the other, multiplicities counted: its permanents when a
    copy of each line of the longer way is left out, an array; 0 for a line that has no copy. All together
    take three times as long as one. Of an array (count, m, n) of matrices: an array (count, lines).
    Of integers and fractions exactly, an array of objects, int or Fraction: each matrix in the time of one
    exact permanent of long integers. precision="double" has doubles, "exact" takes floats as fractions.

    full=True: the array, and one of certain bounds of the errors. At most 40 lines either way, of doubles.
    device: "auto", "cpu" or "gpu", which takes matrices of 12 lines and more, with the same bits.

    >>> import libperm, numpy as np
    >>> libperm.sub_permanents(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    array([38., 16., 10.])
    >>> libperm.sub_permanents([[1, 2], [3, 4]], row_multiplicity=[2, 1])  # without a copy of each row
    array([10, 4], dtype=object)
    """
    others: Mapping[str, Any] = options
    if device is not None or precision is not None:
        others = {**options, "device": device, "precision": precision}
    if precision is not None or not _are_doubles(A):
        A = array_of(array_in(A))  # once: an iterator has no more afterwards
        found = _exact_sub_permanents(A, (row_multiplicity, col_multiplicity), others)
        if found is not None:
            return (found, np.zeros(found.shape)) if full else found
    if not full and row_multiplicity is None and col_multiplicity is None:
        function = quick.sub_permanents
        small = quick.of_run(function, others, A) if others else function(A)
        if small is not None:
            return small
    matrices = as_doubles(array_in(A), or_int64=True)
    if matrices.ndim not in (2, 3):
        raise TypeError(f"an array of {matrices.ndim} dimensions is no matrix, nor a batch of them")
    batch = matrices[None] if matrices.ndim == 2 else matrices
    dense = Dense(batch, row_multiplicity, col_multiplicity)
    shape = len(batch), batch.shape[1 if dense.lines[0] > dense.lines[1] else 2]
    found, bounds = np.empty(shape, _of_doubles(batch)), np.empty(shape) if full else None
    dense.call("perm_sub_permanents", others, (found, bounds))
    if matrices.ndim == 2:
        found, bounds = found[0], None if bounds is None else bounds[0]
    return (found, bounds) if full else found


def _are_doubles(a: Any) -> bool:
    return getattr(getattr(a, "dtype", None), "char", "") in ("d", "D")


def _exact_sub_permanents(given: Any, counts: Any, options: Mapping[str, Any]) -> Any:
    """Returns those of an array, or None where doubles are asked for or are what it holds."""
    if given.ndim not in (2, 3) or given.size == 0:
        return None
    numbers = plain(given.reshape(-1))
    kind = kind_of_entries(numbers)
    if is_of_graph(options) or not minors.are_exact(kind, options, False):
        return None  # of graphs the library says that there are none
    if not all(isinstance(x, Rational) or math.isfinite(x) for x in numbers):
        raise InvalidMatrixError("an entry is NaN or infinite: a fraction is neither")
    batch = np.array(numbers, object).reshape(-1, *given.shape[-2:])
    options = readable_again({**options, **dict(zip(MULTIPLICITIES, counts))})
    found = [minors.exact_sub_permanents(matrix, kind, options, Plan._of) for matrix in batch]
    found_all = np.array(found, object).reshape(len(batch), -1)
    return found_all[0] if given.ndim == 2 else found_all


def _of_doubles(batch: Any) -> str:
    return "complex128" if batch.dtype.kind == "c" else "float64"


def are_served(batch: Any) -> bool:
    """Whether these sums have the derivatives of such matrices."""
    return bool(batch.shape[1] == batch.shape[2] <= MOST_LINES)


_MOST_FULL = 32  # rows: from 16 on a plan goes by these sums too, with the same bits


def is_full(a: Any) -> bool:
    """Whether these sums have the derivatives sooner than a plan: of an array of floats without zeros."""
    return (
        sys.modules.get("numpy") is not None
        and type(a) is np.ndarray
        and a.dtype.char in "dD"
        and a.ndim == 2
        and 0 < len(a) <= _MOST_FULL
        and are_served(a[None])
        and bool(a.all())
    )


def gradients(batch: Any, options: Mapping[str, Any], with_others: bool) -> Gradient:
    """Computes those of an array (count, n, n) of doubles; with_others: with bounds and permanents."""
    of = _of_doubles(batch)
    derivatives = np.empty(batch.shape, of)
    others: tuple[Any, ...] = (None, None, None)
    if with_others:
        others = np.empty(batch.shape), np.empty(len(batch), of), np.empty(len(batch))
    Dense(batch).call("perm_gradients", options, (derivatives, *others))
    return Gradient(derivatives, others[0], _batch_of(*others[1:]) if with_others else None)


def batch_of(dense: Dense, options: Mapping[str, Any]) -> Batch:
    """Their permanents, in doubles."""
    count = dense.struct.count
    values = np.empty(count, "complex128" if dense.struct.value_type == abi.VALUE_C128 else "float64")
    bounds = np.empty(count)
    dense.call("perm_permanents", options, (values, bounds))
    return _batch_of(values, bounds)


def _batch_of(values: Any, bounds: Any) -> Batch:
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = np.minimum(np.abs(values), sys.float_info.max)  # beside an inf the bound is one
        relative = np.where(bounds == 0, 0, np.nextafter(bounds / sizes, np.inf))
    if values.dtype.kind != "c":
        mantissas, exp2 = np.frexp(values)
    else:
        parts = values.view(np.float64).reshape(-1, 2)
        exp2 = np.frexp(np.abs(parts).max(axis=1))[1]
        mantissas = np.ldexp(parts, -exp2[:, None]).view(values.dtype).reshape(-1)
    return Batch(values, relative, bounds, bounds == 0, mantissas, exp2.astype(np.int64))
