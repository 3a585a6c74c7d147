"""libperm.permanent and its kin: one matrix, one call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from libperm._core import by_rows, dense, exact_minors, quick
from libperm._core.call import call
from libperm._core.errors import MemoryRefusedError, UnsupportedError
from libperm._core.library import library
from libperm._core.matrix import Matrix, input_of, read
from libperm._core.options import Prepared, is_of_graph, readable_again
from libperm._core.plan import Plan
from libperm._core.result import (
    Answer,
    Gradient,
    Result,
    result_of,
    value_or_infinity,
)
from libperm._core.scalars import Kind, Number
from libperm._core.unmatched import weighted_input
from libperm._core.values import (
    as_array,
    as_doubles,
    is_numpy,
    value_type_of,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from libperm._core.options import Options


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
    if row_unmatched is None and col_unmatched is None:
        number = None if full else quick.permanent(a, options) if options else None
        if number is not None:
            return number
        found = _computed(a, options)
    else:
        found = _weighted(a, row_unmatched, col_unmatched, options)
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
    if row_unmatched is None and col_unmatched is None:
        return result_of(*_computed(A, dict(options)))
    return result_of(*_weighted(A, row_unmatched, col_unmatched, dict(options)))


def _weighted(
    a: Any, row_unmatched: Any, col_unmatched: Any, options: dict[str, Any]
) -> tuple[Answer, Kind, bool, bool]:
    answer, matrix = Answer(), read(as_array(a))
    given, kind = weighted_input(matrix, row_unmatched, col_unmatched, options)
    prepared = Prepared(options, "exact" if kind.is_exact else None)
    call(prepared, True, library.perm_compute, given, prepared, answer)
    return answer, *prepared.form(kind, is_numpy(matrix.row_ptr))


def _computed(a: Any, options: dict[str, Any]) -> tuple[Answer, Kind, bool, bool]:
    answer = Answer()
    computed = quick.compute(a, options, answer.address)
    if computed is not None:
        return answer, *computed, True
    matrix = read(a)
    prepared = Prepared(options, "exact" if matrix.kind.is_exact else None)
    given = input_of(matrix, options)
    call(prepared, given.is_long, library.perm_compute, given, prepared, answer)
    return answer, *prepared.form(matrix.kind, is_numpy(matrix.row_ptr))


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
    if with_permanent and not full:
        found = gradient(A, full=True, **options)
        return value_or_infinity(found.permanent), found.derivatives
    if not full and quick.are_of_run(options) and dense.is_full(A):
        small = quick.of_run(quick.gradient, options, A) if options else quick.gradient(A)
        return dense.derivatives(as_doubles(A)[None], options)[0] if small is None else small
    matrix, options = read(A, with_zeros=True), cast("Options", readable_again(options))
    if exact_minors.are_asked(matrix.kind, options, hasattr(A, "tocsr")):
        permanent = result_of(*_computed(matrix, {**options, "precision": "exact"}))
        found = exact_minors.gradient(matrix, permanent, options, Plan._of)
        return _like(matrix, A, found) if full else matrix.like(A, found.derivatives)
    if matrix.kind.is_exact:
        matrix.kind = Kind.REAL
    try:
        plan = Plan._of(matrix, dict(options), value_type_of(matrix.entries, matrix.kind), True)
        found = plan.gradient(full=True)
    except (MemoryRefusedError, UnsupportedError) as refused:
        if hasattr(A, "tocsr") or options.get("checkpoint") is not None or is_of_graph(options):
            raise  # a file keeps one matrix's
        found = by_rows.gradient(matrix, options, refused)
    return _like(matrix, A, found) if full else matrix.like(A, found.derivatives)


def _like(matrix: Matrix, a: Any, found: Gradient) -> Gradient:
    return replace(
        found, derivatives=matrix.like(a, found.derivatives), error_bounds=matrix.like(a, found.error_bounds)
    )
