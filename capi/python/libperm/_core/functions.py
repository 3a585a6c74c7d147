"""libperm.permanent and its kin: one matrix, or its factors, in one call; hafnians, of many matrices too."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable
from typing import Any, Literal, cast, overload

from libperm._core import abi, dense, minors, quick
from libperm._core.batch import chosen
from libperm._core.batches import permanents
from libperm._core.call import call
from libperm._core.errors import (
    Error,
    InvalidMatrixError,
    InvalidOptionError,
    MemoryRefusedError,
    UnsupportedError,
    renamed,
)
from libperm._core.inputs import LONG_ORDER, input_of, weighted_input
from libperm._core.library import library
from libperm._core.matrix import Matrix, array_in, read
from libperm._core.options import (
    MULTIPLICITIES,
    Options,
    Prepared,
    Unpack,
    is_flag,
    is_of_graph,
    readable_again,
)
from libperm._core.plan import Plan
from libperm._core.result import Answer, Gradient, Result, result_of
from libperm._core.scalars import Kind, Number
from libperm._core.values import as_doubles, encode, is_numpy, value_type_of

_small = quick.small


@overload
def permanent(
    A: Any,
    *,
    full: Literal[False] = ...,
    row_unmatched: Any = ...,
    col_unmatched: Any = ...,
    **options: Unpack[Options],
) -> Number: ...
@overload
def permanent(
    A: Any,
    *,
    full: Literal[True],
    row_unmatched: Any = ...,
    col_unmatched: Any = ...,
    **options: Unpack[Options],
) -> Result: ...
def permanent(
    A: Any,
    *,
    full: bool = False,
    row_unmatched: Any = None,
    col_unmatched: Any = None,
    **options: Unpack[Options],
) -> Number | Result:
    """perm(A): the sum over all permutations s of the products of the A[i, s(i)].

    A: rows in a list, a numpy array (or what converts to one), any scipy.sparse matrix. With more columns
    than rows: the sum over all ways to choose a column for each row.

    An int for integers (bool is one), exact however long; a Fraction for Fraction and Decimal; else a float
    or a complex, numpy's where A is an array or scipy.sparse, and a PrecisionWarning where the certain digits
    are fewer than the tolerance asks for.
    precision="exact" makes floats exact too: a Fraction. Complex numbers are exact only in compute(A).text.
    Beyond a double's range: OverflowError; compute() returns those.
    row_unmatched, col_unmatched: weights of leaving lines unmatched, as in marginals(); then the sum over all
    matchings of the products of their entries and of the weights of the lines that are left.
    Options: libperm.Options. full=True: a libperm.Result, as from compute().

    >>> import libperm
    >>> libperm.permanent([[1, 2], [3, 4]])
    10
    >>> libperm.permanent([[0.5, 2], [3, 4]])
    8.0
    >>> libperm.permanent([[1j, 2], [3, 4]])
    (6+4j)
    >>> libperm.permanent([[0.5, 0.25], [3.0, 4.0]], precision="exact")
    Fraction(11, 4)
    >>> libperm.permanent([[1, 2, 3]])
    6
    """
    if row_unmatched is None and col_unmatched is None:
        number = None if full or options else _small(A)
        if number is not None:
            return number
    return answered(A, row_unmatched, col_unmatched, full, dict(options))


def answered(
    a: Any, row_unmatched: Any, col_unmatched: Any, full: bool, options: dict[str, Any]
) -> Number | Result:
    """The number, or the Result, of what the options say."""
    if options and not full and row_unmatched is None and col_unmatched is None:
        number: Number | None = quick.permanent(a, options)
        if number is not None:
            return number
    found = _computed(a, options, row_unmatched, col_unmatched)
    return result_of(*found) if full else found[0].number(*found[1:])


def compute(
    A: Any, *, row_unmatched: Any = None, col_unmatched: Any = None, **options: Unpack[Options]
) -> Result:
    """perm(A) with its error bounds and how it was computed; weights of unmatched lines as in permanent().

    >>> import libperm
    >>> r = libperm.compute([[1] * 30] * 30)
    >>> int(r), r.exact
    (265252859812191058636308480000000, True)
    """
    return result_of(*_computed(A, dict(options), row_unmatched, col_unmatched))


def _computed(
    a: Any, options: dict[str, Any], row_unmatched: Any = None, col_unmatched: Any = None
) -> tuple[Answer, Kind, bool, bool]:
    answer, has_weights = Answer(), row_unmatched is not None or col_unmatched is not None
    computed = None if has_weights else quick.compute(a, options, answer.address)
    if computed is not None:
        return answer, *computed, True
    matrix = read(a)
    if has_weights:
        options = readable_again(options)
        given, kind = weighted_input(matrix, row_unmatched, col_unmatched, options)
    else:
        given, kind = input_of(matrix, options), matrix.kind
    prepared = Prepared(options, "exact" if kind.is_exact else None)
    call(prepared, has_weights or given.is_long, library.perm_compute, given, prepared, answer)
    return answer, *prepared.form(kind, is_numpy(matrix.row_ptr))


@overload
def gradient(
    A: Any, *, full: Literal[False] = ..., with_permanent: bool = ..., **options: Unpack[Options]
) -> Any: ...
@overload
def gradient(
    A: Any, *, full: Literal[True], with_permanent: bool = ..., **options: Unpack[Options]
) -> Gradient: ...
def gradient(A: Any, *, full: bool = False, with_permanent: bool = False, **options: Unpack[Options]) -> Any:
    """The derivatives of perm(A) by its entries: an array for an array, scipy.sparse of the same format for
    such, lists for lists, of floats or complex numbers. Of arrays and lists by all entries, zeros too: what
    the permanent would gain; where that is too much at once, row by row. Of scipy.sparse by the entries that
    it has, which alone is possible where it is large. with_permanent=True: a pair, the permanent and they;
    full=True: a libperm.Gradient, with bounds of their errors.
    Of integers int, of Fraction and Decimal Fraction, exactly (an array of objects; scipy.sparse has int64),
    by an exact permanent for each row. precision="double" has doubles, "exact" takes floats as fractions.
    function="hafnian" or "loop_hafnian": of a symmetric matrix, by each pair of mirrored entries, which move
    together: both places have that number.

    >>> import libperm
    >>> libperm.gradient([[1.0, 2.0], [3.0, 4.0]])
    [[4.0, 3.0], [2.0, 1.0]]
    >>> libperm.gradient([[1, 2], [3, 4]])
    [[4, 3], [2, 1]]
    >>> libperm.gradient([[1, 2], [3, 4]], with_permanent=True)
    (10, [[4, 3], [2, 1]])
    >>> g = libperm.gradient([[0.1, 0.2], [0.3, 0.4]], full=True)
    >>> g.derivatives[0][0], g.error_bounds[0][0] < 1e-15, g.permanent.text[:5]
    (0.4, True, '1.000')
    >>> libperm.gradient([[0, 2, 3, 1], [2, 0, 1, 5], [3, 1, 0, 4], [1, 5, 4, 0]], function="hafnian")
    [[0, 4, 5, 1], [4, 0, 1, 3], [5, 1, 0, 2], [1, 3, 2, 0]]
    """
    if not (full or with_permanent) and quick.are_of_run(options) and dense.is_full(A):
        small = quick.of_run(quick.gradient, options, A) if options else quick.gradient(A)
        return dense.gradients(as_doubles(A)[None], options, False).derivatives[0] if small is None else small
    matrix, options = read(A, with_zeros=True), cast("Options", readable_again(options))
    if minors.are_exact(matrix.kind, options, hasattr(A, "tocsr")):
        permanent = result_of(*_computed(matrix, {**options, "precision": "exact"}))
        found = minors.exact_gradient(matrix, permanent, options, Plan._of)
    else:
        if matrix.kind.is_exact:
            matrix.kind = Kind.REAL
        try:
            plan = Plan._of(matrix, dict(options), value_type_of(matrix.entries, matrix.kind), True)
            found = plan.gradient(full=True)
        except (MemoryRefusedError, UnsupportedError) as refused:
            if hasattr(A, "tocsr") or options.get("checkpoint") is not None or is_of_graph(options):
                raise  # a file keeps one matrix's
            found = minors.gradient_by_rows(matrix, options, Plan._of, refused)
    bounds = matrix.like(A, found.error_bounds) if full else None
    return chosen(Gradient(matrix.like(A, found.derivatives), bounds, found.permanent), full, with_permanent)


# ----------------------------------------------------------------
# Matrices that are given by their factors.


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


# ----------------------------------------------------------------
# Hafnians of symmetric matrices: their lines matched to each other.

_NAMES = {"row_unmatched": "loops", "row_multiplicity": "multiplicity"}


@overload
def hafnian(
    A: Any,
    *,
    loops: Any = ...,
    multiplicity: Iterable[int] | None = ...,
    full: Literal[False] = ...,
    **options: Unpack[Options],
) -> Number: ...
@overload
def hafnian(
    A: Any,
    *,
    loops: Any = ...,
    multiplicity: Iterable[int] | None = ...,
    full: Literal[True],
    **options: Unpack[Options],
) -> Result: ...
def hafnian(
    A: Any,
    *,
    loops: Any = None,
    multiplicity: Iterable[int] | None = None,
    full: bool = False,
    **options: Unpack[Options],
) -> Number | Result:
    """haf(A): the sum, over all ways to put the lines of a symmetric matrix into pairs {i, j}, of the
    products of the A[i, j]; of a graph's adjacency matrix the number of its perfect matchings.

    loops: True: a line may also stay single, at the price of its entry on the diagonal, which else does not
    count: the loop hafnian. Numbers, one for each line or one for all: at these prices.
    multiplicity: how often each line counts, as photons in modes do; two copies of line i have the entry
    A[i, i].
    A, kinds of numbers, options, full: as in permanent(). Both halves of A are given, and are equal, but for
    rounding: InvalidMatrixError.

    >>> import libperm
    >>> libperm.hafnian([[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]])
    3
    >>> libperm.hafnian([[2, 7], [7, 3]]), libperm.hafnian([[2, 7], [7, 3]], loops=True)
    (7, 13)
    >>> libperm.hafnian([[0.5]], multiplicity=[4])
    0.75
    """
    if not options and not full and multiplicity is None and isinstance(loops, (bool, type(None))):
        number: Number | None = quick.hafnian(A, bool(loops))
        if number is not None:
            return number
    return _answered(A, loops, multiplicity, full, options)


def _answered(A: Any, loops: Any, multiplicity: Any, full: bool, options: Any) -> Number | Result:
    weights = _weights(loops, options, multiplicity)
    try:
        return answered(A, weights, None, full, options)
    except (Error, TypeError) as error:
        raise renamed(error, _NAMES) from None


def _weights(loops: Any, options: dict[str, Any], multiplicity: Any) -> Any:
    """The prices of single lines, where they are given; the rest of what is asked goes into the options."""
    for name in ("function", "row_multiplicity", "col_multiplicity"):
        if options.get(name) is not None:
            raise InvalidOptionError(f"{name}: of a hafnian multiplicity and loops say it")
    are_own = loops is None or is_flag(loops)
    options["function"] = "hafnian" if are_own and not loops else "loop_hafnian"
    if multiplicity is not None:
        options["row_multiplicity"] = multiplicity
    return None if are_own else loops


def loop_hafnian(A: Any, **options: Any) -> Any:
    """hafnian(A, loops=True): a line may stay single, at the price of its entry on the diagonal.

    >>> import libperm
    >>> libperm.loop_hafnian([[1, 1, 1], [1, 1, 1], [1, 1, 1]])
    4
    """
    if not options:
        number = quick.hafnian(A, True)
        if number is not None:
            return number
    loops = options.pop("loops", None)
    if loops is False:
        raise InvalidOptionError("loops=False: that is hafnian()")
    return hafnian(A, loops=True if loops is None else loops, **options)


def hafnians(
    batch: Any, *, loops: Any = None, multiplicity: Any = None, full: bool = False, **options: Unpack[Options]
) -> Any:
    """Of many symmetric matrices of one shape, an array (count, n, n) or a list, planned once: as
    permanents() returns them. loops, multiplicity: as in hafnian(), the same for all matrices, or a row for
    each.

    >>> import libperm
    >>> libperm.hafnians([[[0, 2], [2, 0]], [[1, 5], [5, 1]]])
    [2, 5]
    """
    given: Any = options
    weights = _weights(loops, given, multiplicity)
    try:
        return permanents(batch, full=full, row_unmatched=weights, **options)
    except (Error, TypeError) as error:
        raise renamed(error, _NAMES) from None
