"""The permanent of a matrix that is given by its factors."""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any, Literal, overload

from libperm._core import abi
from libperm._core.call import call
from libperm._core.errors import InvalidMatrixError, UnsupportedError
from libperm._core.library import library
from libperm._core.matrix import LONG_ORDER, Matrix, array_in, read
from libperm._core.options import MULTIPLICITIES, Prepared
from libperm._core.result import Answer, Result, result_of
from libperm._core.scalars import Number
from libperm._core.values import encode, is_numpy, value_type_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from libperm._core.options import Options


@overload
def permanent_of_product(
    U: Any, V: Any, *, full: Literal[False] = ..., **options: Unpack[Options]
) -> Number: ...
@overload
def permanent_of_product(U: Any, V: Any, *, full: Literal[True], **options: Unpack[Options]) -> Result: ...
def permanent_of_product(
    U: Any, V: Any, *, full: bool = False, **options: Unpack[Options]
) -> Number | Result:
    """perm(U V^T) of factors of n rows and r columns each, without the matrix: A[i, j] is the sum over t of
    U[i, t] V[j, t]. It takes polynomial time for each r: n = 1000 at r = 2 takes a moment, and
    binomial(n + r - 1, r - 1) monomials are multiplied in general: docs/structure.md.

    The factors are taken as permanent() takes a matrix, and exactly, floats too; the answer is of the kind
    that permanent() has for it. full=True: a libperm.Result.

    >>> import libperm
    >>> libperm.permanent_of_product([[1, 1], [2, 1], [3, 1]], [[1, 1], [1, 2], [1, 3]])  # i + j
    336
    >>> libperm.permanent_of_product([[0.5], [2.0]], [[1.0], [4.0]])
    8.0
    """
    for name in MULTIPLICITIES:
        if options.get(name) is not None:
            raise UnsupportedError(f"{name}: a product has no multiplicities; repeat the rows of a factor")
    u, v = _factor(U), _factor(V)
    if u.shape != v.shape:
        raise InvalidMatrixError(
            f"U has the shape {u.shape} and V {v.shape}: both have n rows, and a column for each t of "
            "A[i, j] = sum of U[i, t] V[j, t]"
        )
    kind, as_numpy = max(u.kind, v.kind), is_numpy(u.row_ptr) or is_numpy(v.row_ptr)
    prepared, answer = Prepared(dict(options), "exact" if kind.is_exact else None), Answer()
    types = {value_type_of(x.entries, kind) for x in (u, v)}
    value_type = types.pop() if len(types) == 1 else abi.VALUE_TEXT
    buffers = [encode(x.entries, value_type) for x in (u, v)]
    addresses = (buffer.address for buffer in buffers)
    struct = abi.Factors(ctypes.sizeof(abi.Factors), *u.shape, *addresses, value_type, 0)
    given, is_long = ctypes.byref(struct), u.shape[0] > LONG_ORDER
    call(prepared, is_long, library.perm_compute_product, given, prepared, answer)
    form = prepared.form(kind, as_numpy)
    return result_of(answer, *form) if full else answer.number(*form)


def _factor(given: Any) -> Matrix:
    """With all entries, row by row."""
    matrix = read(given, with_zeros=True)
    if matrix.nnz < math.prod(matrix.shape):
        full = read(array_in(given), with_zeros=True)  # of what is sparse
        return Matrix(full.shape, full.row_ptr, full.col_idx, full.entries, matrix.kind)
    return matrix
