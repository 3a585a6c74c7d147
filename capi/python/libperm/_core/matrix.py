"""What a caller calls a matrix - lists, arrays, scipy.sparse - as compressed sparse rows."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from copy import copy
from fractions import Fraction
from itertools import accumulate
from typing import Any

from libperm._core.errors import InvalidMatrixError
from libperm._core.lazy import np
from libperm._core.scalars import Kind, numbers_of, sums
from libperm._core.values import as_array, is_array, is_entry, items_of, kind_of_array, kind_of_entries, plain


class Matrix:
    """Rows ascending, columns ascending in each. `entries`: as values.plain() has them."""

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

    def kept(self) -> Matrix:
        """The same, of arrays that no caller has."""
        found = copy(self)
        found.col_idx, found.entries = copy(self.col_idx), copy(self.entries)
        return found

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
        """Returns its entries in the other's order, 0 where this one has none."""
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
        return numbers_of(entries)

    def like(self, a: Any, entries: Any) -> Any:
        """Returns these entries in the form that this matrix was read from."""
        if hasattr(a, "tocsr"):
            empty = type(a.tocsr())
            entries = _in_sparse(entries)
            return empty((entries, self.col_idx, self.row_ptr), shape=self.shape).asformat(a.format)
        zero = type(entries[0])(0) if len(entries) > 0 else 0.0
        rows = [[zero] * self.shape[1] for _ in range(self.shape[0])]
        for (i, j), x in zip(self.positions(), entries):
            rows[i][j] = x
        if not hasattr(a, "__array__"):
            return rows
        exact = len(entries) > 0 and isinstance(entries[0], (int, Fraction))
        return np.array(rows, object if exact else None).reshape(self.shape)


def _in_sparse(entries: Any) -> Any:
    """Converts exact entries to int64."""
    if is_array(entries) or not all(isinstance(x, int) for x in entries):
        return entries
    if any(abs(x) >= 2**63 for x in entries):
        raise OverflowError(
            "derivatives beyond int64, which scipy.sparse cannot hold: pass an array, or precision='double'"
        )
    return np.array(entries, np.int64)


def read(a: Any, with_zeros: bool = False) -> Matrix:
    """Reads a matrix; with_zeros, zeros of what is not sparse are entries too."""
    if isinstance(a, Matrix):
        return a
    if hasattr(a, "tocsr"):
        return _read_sparse(a)
    a = as_array(a)
    if is_array(a):
        return _read_array(a, with_zeros)
    return _read_rows(a.tolist() if hasattr(a, "tolist") else a, with_zeros)  # flint's


_BAD_PLACES = (
    "a sparse matrix has an entry outside of it, or an indptr that does not ascend within its entries"
)


def _read_sparse(a: Any) -> Matrix:
    if len(a.shape) != 2:
        raise TypeError(f"{type(a).__name__} of {len(a.shape)} dimensions is no matrix")
    shape, (rows, cols, entries) = (int(a.shape[0]), int(a.shape[1])), _places(a)
    kind, down, right = kind_of_array(entries), np.diff(rows), np.diff(cols)
    if not ((down > 0) | (down == 0) & (right > 0)).all():
        order = np.lexsort((cols, rows))
        rows, cols, entries = rows[order], cols[order], entries[order]
        is_first = np.ones(len(rows), bool)
        is_first[1:] = (rows[1:] != rows[:-1]) | (cols[1:] != cols[:-1])
        if not is_first.all():
            entries = sums(entries, np.flatnonzero(is_first), kind)
            rows, cols = rows[is_first], cols[is_first]
    return of_places(shape, rows, cols, entries, kind)


def of_places(shape: tuple[int, int], rows: Any, cols: Any, entries: Any, kind: Kind) -> Matrix:
    """Makes a matrix of arrays of places, in order."""
    row_ptr = np.zeros(shape[0] + 1, np.int64)
    try:
        np.cumsum(np.bincount(rows, minlength=shape[0]), out=row_ptr[1:])
    except ValueError:
        raise InvalidMatrixError(_BAD_PLACES) from None
    return Matrix(shape, row_ptr, np.ascontiguousarray(cols, np.int64), entries, kind)


def _places(a: Any) -> tuple[Any, Any, Any]:
    """Returns rows, columns and entries, with each duplicate alone."""
    if hasattr(a, "row"):  # a coo, whose tocsr() would sum in its own type
        return a.row, a.col, a.data
    if getattr(a, "format", "") == "lil":  # whose tocsr() rounds long doubles
        rows = np.repeat(np.arange(len(a.rows)), [len(row) for row in a.rows])
        cols, entries = ([x for row in lists for x in row] for lists in (a.rows, a.data))
        return rows, np.array(cols, np.int64), np.array(entries, a.dtype)
    if getattr(a, "format", "") in ("csr", "csc", "bsr"):
        a = _checked(a)
    csr = a.tocsr()
    try:
        rows = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    except ValueError:
        raise InvalidMatrixError(_BAD_PLACES) from None
    return rows, csr.indices[: len(rows)], csr.data[: len(rows)]


def _checked(a: Any) -> Any:
    """A csr, csc or bsr whose places tocsr() may trust, beginning at 0, which it takes for granted."""
    lines = a.shape[a.format == "csc"] // getattr(a, "blocksize", (1,))[0]
    pointers, least = a.indptr, min(len(a.indices), len(a.data))
    is_good = len(pointers) == lines + 1 and pointers[0] >= 0 and pointers[-1] <= least
    if is_good and a.format != "csr":  # which is left as it is
        indices = a.indices.view(f"u{a.indices.itemsize}")  # negative ones are large then
        is_good = not (pointers[1:] < pointers[:-1]).any() and (
            a.format == "bsr" or indices.max(initial=0) < max(a.shape[0], 1)
        )
    if not is_good:
        raise InvalidMatrixError(_BAD_PLACES)
    if pointers[0] == 0:
        return a
    first = int(pointers[0])
    return type(a)((a.data[first:], a.indices[first:], pointers - first), shape=a.shape)


def _read_array(a: Any, with_zeros: bool = False) -> Matrix:
    dense = np.asarray(a)
    if dense.ndim != 2:
        raise TypeError(f"an array of {dense.ndim} dimensions is no matrix")
    rows, cols = np.nonzero(np.ones(dense.shape) if with_zeros else is_entry(dense))
    kind = kind_of_array(dense)  # of the zeros too
    return of_places(dense.shape, rows, cols, dense[rows, cols], kind)


def _read_rows(a: Any, with_zeros: bool = False) -> Matrix:
    rows = [_row(i, row) for i, row in enumerate(items_of(a, "rows of numbers, an array or scipy.sparse"))]
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise InvalidMatrixError(f"row {i} has {len(row)} entries, row 0 has {len(rows[0])}")
    rows = [numbers_of(row) for row in rows]
    kind = kind_of_entries([x for row in rows for x in row])
    kept = [[(j, x) for j, x in enumerate(row) if with_zeros or x != 0] for row in rows]
    return of_rows(kept, len(rows[0]) if rows else 0, kind)  # of zeros too: 0.0 says that it is one of floats


def of_rows(rows: Sequence[Sequence[tuple[int, Any]]], columns: int, kind: Kind | None = None) -> Matrix:
    """Makes a matrix of the columns and entries of each row, in order."""
    return Matrix(
        (len(rows), columns),
        array("q", accumulate(map(len, rows), initial=0)),
        array("q", [j for row in rows for j, _ in row]),
        [x for row in rows for _, x in row],
        kind,
    )


def _row(i: int, row: Any) -> list[Any]:
    row = as_array(row)
    if getattr(row, "ndim", 1) != 1 or not isinstance(row, Iterable):
        raise TypeError(f"row {i} is {row!r}: a matrix is a list of rows")
    return items_of(row, f"rows of numbers (row {i})")


def array_in(a: Any) -> Any:
    """Makes an array of scipy.sparse, and leaves all else as it is."""
    if not hasattr(a, "tocsr"):
        return a
    matrix = read(a)
    dense = np.zeros(matrix.shape, object)
    for at, entry in zip(matrix.positions(), matrix.entries):
        dense[at] = entry
    return dense


def union(matrices: Sequence[Matrix]) -> Matrix:
    """Returns the pattern of all places where one of them has an entry."""
    first = matrices[0]
    if all(matrix.has_pattern_of(first) for matrix in matrices):
        return first
    for i, matrix in enumerate(matrices):
        if matrix.shape != first.shape:
            raise InvalidMatrixError(f"matrix {i} has shape {matrix.shape}, matrix 0 {first.shape}")
    rows: list[list[tuple[int, int]]] = [[] for _ in range(first.shape[0])]
    for i, j in sorted({at for matrix in matrices for at in matrix.positions()}):
        rows[i].append((j, 1))
    return of_rows(rows, first.shape[1])


def entries_for(pattern: Matrix, kind: Kind, values: Any) -> Any:
    """Reads the entries of a matrix of the pattern, or these themselves; they may be of a smaller kind."""
    values = as_array(values)
    is_matrix = hasattr(values, "tocsr") or getattr(values, "ndim", 1) == 2
    if not is_matrix and not is_array(values):
        values = items_of(values, "values or a matrix")
        is_matrix = len(values) > 0 and isinstance(values[0], Iterable)
    if is_matrix:
        matrix = read(values)
        require_kind(matrix.kind, kind)
        return matrix.entries_in(pattern)
    if getattr(values, "ndim", 1) != 1:
        raise TypeError(f"an array of {values.ndim} dimensions is neither values nor a matrix")
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
