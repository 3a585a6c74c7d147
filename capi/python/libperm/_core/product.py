"""The permanent of a matrix that is given by its factors."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from libperm._core import abi
from libperm._core.call import call
from libperm._core.errors import InvalidMatrixError, UnsupportedError
from libperm._core.library import library
from libperm._core.matrix import LONG_ORDER, read
from libperm._core.options import MULTIPLICITIES, Prepared
from libperm._core.result import Answer, Result, result_of, value_of, warn_if_missed
from libperm._core.scalars import Kind, Number
from libperm._core.values import encode, is_numpy, value_type_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from libperm._core.options import Options


class _Factor(NamedTuple):
    shape: tuple[int, int]
    entries: Any  # all of them, row by row
    kind: Kind
    as_numpy: bool


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
    kind, as_numpy = max(u.kind, v.kind), u.as_numpy or v.as_numpy
    prepared, answer = Prepared(dict(options), "exact" if kind.is_exact else None), Answer()
    types = {value_type_of(x.entries, kind) for x in (u, v)}
    value_type = types.pop() if len(types) == 1 else abi.VALUE_TEXT
    buffers = [encode(x.entries, value_type) for x in (u, v)]
    addresses = (buffer.address for buffer in buffers)
    struct = abi.Factors(ctypes.sizeof(abi.Factors), *u.shape, *addresses, value_type, 0)
    given, is_long = ctypes.byref(struct), u.shape[0] > LONG_ORDER
    call(prepared, is_long, library.perm_compute_product, given, prepared, answer)
    if full:
        return result_of(answer, kind, prepared.wants_exact, as_numpy)
    warn_if_missed(answer.struct)
    return value_of(answer.struct, answer.text, kind, prepared.wants_exact, as_numpy)


def _factor(given: Any) -> _Factor:
    matrix = read(given, with_zeros=True)
    as_numpy = is_numpy(matrix.row_ptr)
    rows, columns = matrix.shape
    if matrix.nnz == rows * columns:
        return _Factor(matrix.shape, matrix.entries, matrix.kind, as_numpy)
    entries: list[Any] = [0] * (rows * columns)  # of what is sparse
    for (i, j), x in zip(matrix.positions(), matrix.entries):
        entries[i * columns + j] = x
    return _Factor(matrix.shape, entries, matrix.kind, as_numpy)
