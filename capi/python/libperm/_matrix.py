"""What a caller calls a matrix - lists, arrays, scipy.sparse - as compressed sparse rows."""

from __future__ import annotations

import ctypes
import math
import operator
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from libperm import _abi
from libperm._errors import InvalidMatrixError
from libperm._numbers import Kind, numbers_of
from libperm._values import Buffer, as_array, encode, is_array, kind_of_entries, plain


class Matrix:
    """Rows ascending, columns ascending in each. `entries`: as _values.plain() has them."""

    def __init__(
        self, shape: tuple[int, int], row_ptr: Any, col_idx: Any, entries: Any, kind: Kind | None = None
    ) -> None:
        self.shape = shape
        self.row_ptr, self.col_idx = row_ptr, col_idx  # of int64: array.array or numpy's
        self.entries = plain(entries)
        self.kind = kind_of_entries(self.entries) if kind is None else kind

    @property
    def nnz(self) -> int:
        return len(self.col_idx)

    def positions(self) -> list[tuple[int, int]]:
        starts = list(self.row_ptr)
        rows = (i for i in range(self.shape[0]) for _ in range(starts[i], starts[i + 1]))
        return list(zip(rows, map(int, self.col_idx)))

    def has_pattern_of(self, other: Matrix) -> bool:
        return (
            self.shape == other.shape
            and bytes(self.row_ptr) == bytes(other.row_ptr)
            and bytes(self.col_idx) == bytes(other.col_idx)
        )

    def entries_in(self, pattern: Matrix) -> Any:
        """In the other's order, 0 where this one has none."""
        if self.shape != pattern.shape:
            raise InvalidMatrixError(f"a matrix of shape {self.shape}, where the pattern has {pattern.shape}")
        if self.has_pattern_of(pattern):
            return self.entries
        place = {at: k for k, at in enumerate(pattern.positions())}
        entries: list[Any] = [0] * pattern.nnz
        for at, entry in zip(self.positions(), self.entries):
            if at in place:
                entries[place[at]] = entry
            elif entry != 0:
                raise InvalidMatrixError(f"row {at[0]}, column {at[1]} is not in the plan's pattern")
        return entries

    def like(self, a: Any, entries: Any) -> Any:
        """These entries in what this matrix was read from."""
        if hasattr(a, "tocsr"):
            empty = type(a.tocsr())
            return empty((entries, self.col_idx, self.row_ptr), shape=self.shape).asformat(a.format)
        zero = type(entries[0])(0) if len(entries) > 0 else 0.0
        rows = [[zero] * self.shape[1] for _ in range(self.shape[0])]
        for (i, j), x in zip(self.positions(), entries):
            rows[i][j] = x
        if not hasattr(a, "__array__"):
            return rows
        import numpy as np

        return np.array(rows).reshape(self.shape)


def read(a: Any, with_zeros: bool = False) -> Matrix:
    """with_zeros: of what is not sparse, these are entries too."""
    if isinstance(a, Matrix):
        return a
    if hasattr(a, "tocsr"):
        return _read_sparse(a)
    if hasattr(a, "__array__"):
        return _read_array(as_array(a), with_zeros)
    return _read_rows(a.tolist() if hasattr(a, "tolist") else a, with_zeros)  # flint's


def _read_sparse(a: Any) -> Matrix:
    import numpy as np

    if a.dtype.kind in "bi":
        a = a.astype(np.int64)  # before duplicates are summed
    csr = a.tocsr()
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    row_ptr, col_idx = (np.ascontiguousarray(x, np.int64) for x in (csr.indptr, csr.indices))
    return Matrix((int(csr.shape[0]), int(csr.shape[1])), row_ptr, col_idx, csr.data)


def _read_array(a: Any, with_zeros: bool = False) -> Matrix:
    import numpy as np

    dense = np.asarray(a)
    if dense.ndim != 2:
        raise TypeError(f"an array of {dense.ndim} dimensions is no matrix")
    rows, cols = np.nonzero(np.ones(dense.shape) if with_zeros else dense)
    row_ptr = np.zeros(dense.shape[0] + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=dense.shape[0]), out=row_ptr[1:])
    shape = (int(dense.shape[0]), int(dense.shape[1]))
    return Matrix(shape, row_ptr, np.ascontiguousarray(cols, np.int64), dense[rows, cols])


def _read_rows(a: Any, with_zeros: bool = False) -> Matrix:
    if isinstance(a, (str, bytes)) or not isinstance(a, Iterable):
        raise TypeError(f"{type(a).__name__} is no matrix: pass rows of numbers, an array or scipy.sparse")
    rows = [list(row) if isinstance(row, Iterable) and not isinstance(row, str) else row for row in a]
    for i, row in enumerate(rows):
        if not isinstance(row, list):
            raise TypeError(f"row {i} is {row!r}: a matrix is a list of rows")
        if len(row) != len(rows[0]):
            raise InvalidMatrixError(f"row {i} has {len(row)} entries, row 0 has {len(rows[0])}")
    rows = [numbers_of(row) for row in rows]
    kind = kind_of_entries([x for row in rows for x in row])
    kept = [[(j, x) for j, x in enumerate(row) if with_zeros or x != 0] for row in rows]
    return Matrix(
        (len(rows), len(rows[0]) if rows else 0),
        array("q", accumulate(map(len, kept), initial=0)),
        array("q", [j for row in kept for j, _ in row]),
        [x for row in kept for _, x in row],
        kind,  # of the zeros too: 0.0 says that the matrix is one of floats
    )


def union(matrices: Sequence[Matrix]) -> Matrix:
    """The pattern of all places where one has an entry."""
    first = matrices[0]
    if all(matrix.has_pattern_of(first) for matrix in matrices):
        return first
    for i, matrix in enumerate(matrices):
        if matrix.shape != first.shape:
            raise InvalidMatrixError(f"matrix {i} has shape {matrix.shape}, matrix 0 {first.shape}")
    places = sorted({at for matrix in matrices for at in matrix.positions()})
    counts = [0] * first.shape[0]
    for i, _ in places:
        counts[i] += 1
    row_ptr = array("q", accumulate(counts, initial=0))
    return Matrix(first.shape, row_ptr, array("q", [j for _, j in places]), [1] * len(places))


LONG_ORDER = (
    16  # bits of the number of terms: what sums more of them may take so long that it is to be stopped
)
LONG_LINES = 100  # the same of repeated lines, counted


class Input:
    """A perm_csr and all that it points to."""

    def __init__(
        self,
        matrix: Matrix,
        value_type: int,
        row_multiplicity: Iterable[int] | None = None,
        col_multiplicity: Iterable[int] | None = None,
    ) -> None:
        self.value_type = value_type
        self.values = encode(matrix.entries, value_type)
        lines = zip(("row", "col"), matrix.shape, (row_multiplicity, col_multiplicity))
        counts = [read_counts(*line) for line in lines]
        self._kept = [
            Buffer(x) for x in (matrix.row_ptr, matrix.col_idx, *(c for c in counts if c is not None))
        ]
        self.is_long = matrix.shape[1] > LONG_ORDER
        if any(c is not None for c in counts):
            self.is_long = _may_take_long(
                [c or array("q", [1] * lines) for c, lines in zip(counts, matrix.shape)]
            )
        address = [None if c is None else Buffer(c).address for c in counts]
        self.struct = _abi.Csr(
            ctypes.sizeof(_abi.Csr),
            *matrix.shape,
            matrix.nnz,
            self._kept[0].address,
            self._kept[1].address,
            self.values.address,
            _abi.INDEX_I64,
            self.value_type,
            *address,
        )


def _may_take_long(sides: Sequence[Sequence[int]]) -> bool:
    """Of a sum over how many of each kind are taken, on the side where these are fewer."""
    bits = min(math.fsum(math.log2(max(c, 0) + 1) for c in side) for side in sides)
    return bits > LONG_ORDER or sum(sides[1]) > LONG_LINES


def read_counts(what: str, lines: int, counts: Iterable[int] | None) -> array[int] | None:
    if counts is None:
        return None
    try:
        read_counts = array("q", [operator.index(x) for x in counts])
    except TypeError:
        raise TypeError(
            f"{what}_multiplicity says how often each {what} counts: integers, one for each"
        ) from None
    if len(read_counts) != lines:
        raise InvalidMatrixError(
            f"{what}_multiplicity has {len(read_counts)} numbers, the matrix {lines} {what}s"
        )
    return read_counts


def entries_for(pattern: Matrix, kind: Kind, values: Any) -> Any:
    """Of a matrix of the pattern, or the entries themselves; they may be of a smaller kind."""
    values = as_array(values)
    if hasattr(values, "tocsr") or getattr(values, "ndim", 1) == 2:
        entries = read(values).entries_in(pattern)
    elif not is_array(values) and _is_of_rows(values):
        entries = _read_rows(values).entries_in(pattern)
    else:
        entries = plain(values)
        if len(entries) != pattern.nnz:
            raise InvalidMatrixError(f"{len(entries)} values, where the pattern has {pattern.nnz} entries")
    require_kind(kind_of_entries(entries), kind)
    return entries


def require_kind(own: Kind, kind: Kind) -> None:
    if own > kind:
        raise TypeError(
            f"{own.name.lower()} values, and the plan is of a matrix of {kind.name.lower()} numbers; "
            "plan one of the larger kind, e.g. A.astype(float) or A.astype(complex)"
        )


def _is_of_rows(values: Any) -> bool:
    return isinstance(values, Sequence) and len(values) > 0 and isinstance(values[0], Iterable)
