"""perm.permanent and its kin: one matrix, one call."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

from perm import _full_batch, _quick
from perm._call import run
from perm._library import check, library
from perm._matrix import Input, Matrix, read, union
from perm._numbers import Kind, Number
from perm._options import MULTIPLICITIES, Prepared
from perm._result import Answer, Gradient, Result, result_of, value_of, warn_if_missed
from perm._values import any_negative, as_array, is_array, is_numpy, kind_of_entries, plain, value_type_of
from perm.plan import Plan

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from perm._options import Options


_small = _quick.small


@overload
def permanent(A: Any, *, full: Literal[False] = ..., **options: Unpack[Options]) -> Number: ...
@overload
def permanent(A: Any, *, full: Literal[True], **options: Unpack[Options]) -> Result: ...
def permanent(A: Any, *, full: bool = False, **options: Unpack[Options]) -> Number | Result:
    """perm(A): the sum over all permutations s of the products of the A[i, s(i)].

    A: rows in a list, a numpy array (or what converts to one), any scipy.sparse matrix. With more columns
    than rows: the sum over all ways to choose a column for each row.

    An int for integers (bool is one), exact however long; a Fraction for Fraction and Decimal; else a float
    or a complex, and a PrecisionWarning where the certain digits are fewer than the tolerance asks for.
    precision="exact" makes floats exact too: a Fraction. Complex numbers are exact only in compute(A).text.
    Beyond a double's range: OverflowError; compute() returns those.
    Options: perm.Options. full=True: a perm.Result, as from compute().

    >>> import perm
    >>> perm.permanent([[1, 2], [3, 4]])
    10
    >>> perm.permanent([[0.5, 2], [3, 4]])
    8.0
    >>> perm.permanent([[1j, 2], [3, 4]])
    (6+4j)
    >>> perm.permanent([[0.5, 0.25], [3.0, 4.0]], precision="exact")
    Fraction(11, 4)
    >>> perm.permanent([[1, 2, 3]])
    6
    """
    number = None if full else _small(A) if not options else _quick.permanent(A, options)
    if number is not None:
        return number
    answer, kind, wants_exact = _computed(A, dict(options))
    if full:
        return result_of(answer, kind, wants_exact)
    warn_if_missed(answer.struct, 2)
    return value_of(answer.struct, answer.text, kind, wants_exact)


def compute(A: Any, **options: Unpack[Options]) -> Result:
    """perm(A) with its error bounds and how it was computed.

    >>> import perm
    >>> r = perm.compute([[1] * 30] * 30)
    >>> int(r), r.exact
    (265252859812191058636308480000000, True)
    """
    return result_of(*_computed(A, dict(options)))


def _computed(a: Any, options: dict[str, Any]) -> tuple[Answer, Kind, bool]:
    answer = Answer()
    computed = _quick.compute(a, options, answer.address)
    if computed is not None:
        return answer, *computed
    matrix = read(a)
    prepared = Prepared(options, "exact" if matrix.kind.is_exact else None)
    given = Input(
        matrix, value_type_of(matrix.entries, matrix.kind), *(options.get(name) for name in MULTIPLICITIES)
    )
    arguments = ctypes.addressof(given.struct), ctypes.addressof(prepared.struct), answer.address
    run(prepared, given.is_long, lambda: check(library.perm_compute(*arguments)))
    return answer, prepared.kind_of_answer(matrix.kind), prepared.wants_exact


def permanents(batch: Any, *, full: bool = False, **options: Unpack[Options]) -> Any:
    """Of many matrices of one shape: an array (count, n, n), or a list of matrices. Planned once, for all
    places where any of them has an entry; the result is as Plan.permanents() returns it.

    >>> import perm
    >>> perm.permanents([[[1, 2], [3, 4]], [[1, 0], [0, 5]]])
    [10, 5]
    """
    batch = as_array(batch)
    if is_array(batch):
        if batch.ndim != 3:
            raise TypeError(f"an array of {batch.ndim} dimensions is no batch of matrices: 3 are expected")
        found = _full_batch.permanents(batch, full, options)
        if found is not None:
            return found
        used = (batch != 0).any(axis=0)
        pattern = read(used)
        rows, cols = used.nonzero()
        flat = plain(batch[:, rows, cols].reshape(-1))
        kind, as_numpy = kind_of_entries(plain(batch.reshape(-1)[:1])), True
    else:
        matrices = [read(a) for a in batch]
        if not matrices:
            return []
        pattern = union(matrices)
        flat = [x for matrix in matrices for x in matrix.entries_in(pattern)]
        kind = max(matrix.kind for matrix in matrices)
        as_numpy = any(is_numpy(matrix.row_ptr) for matrix in matrices)
    typical = Matrix(pattern.shape, pattern.row_ptr, pattern.col_idx, flat[: pattern.nnz], kind)
    signless = kind is not Kind.COMPLEX and not any_negative(flat)
    plan = Plan._of(typical, dict(options), value_type_of(flat, kind), signless)
    return plan._permanents(len(batch), flat, full, as_numpy)


@overload
def gradient(A: Any, *, full: Literal[False] = ..., **options: Unpack[Options]) -> Any: ...
@overload
def gradient(A: Any, *, full: Literal[True], **options: Unpack[Options]) -> Gradient: ...
def gradient(A: Any, *, full: bool = False, **options: Unpack[Options]) -> Any:
    """The derivatives of perm(A) by its entries: an array for an array, scipy.sparse of the same format for
    such, lists for lists, of floats or complex numbers. By the entries that A has: where A is 0 there
    is no edge, and the gradient is 0 there too. full=True: a perm.Gradient, with the bounds of their errors.

    >>> import perm
    >>> perm.gradient([[1.0, 2.0], [3.0, 4.0]])
    [[4.0, 3.0], [2.0, 1.0]]
    >>> g = perm.gradient([[0.1, 0.2], [0.3, 0.4]], full=True)
    >>> g.derivatives[0][0], g.error_bounds[0][0] < 1e-15, g.permanent.text[:5]
    (0.4, True, '1.000')
    """
    matrix = read(A)
    if matrix.kind.is_exact:
        matrix.kind = Kind.REAL
    plan = Plan._of(matrix, dict(options), value_type_of(matrix.entries, matrix.kind), True)
    found = plan.gradient(full=True)
    derivatives = matrix.like(A, found.derivatives)
    return (
        replace(found, derivatives=derivatives, error_bounds=matrix.like(A, found.error_bounds))
        if full
        else derivatives
    )
