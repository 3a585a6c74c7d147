"""libperm.permanent and its kin: one matrix, one call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from libperm._core import by_rows, counted_batch, dense, exact_minors, full_batch, quick, unmatched
from libperm._core.batch import batch_of
from libperm._core.call import call
from libperm._core.errors import InvalidOptionError, MemoryRefusedError, UnsupportedError
from libperm._core.library import library
from libperm._core.matrix import Matrix, input_of, read, union
from libperm._core.options import MULTIPLICITIES, Prepared, counting, is_of_graph, readable_again
from libperm._core.plan import Plan
from libperm._core.result import (
    Answer,
    Gradient,
    Result,
    result_of,
    value_or_infinity,
)
from libperm._core.scalars import Kind, Number, numbers_of
from libperm._core.sequences import items_of
from libperm._core.unmatched import weighted_input
from libperm._core.values import (
    any_negative,
    as_array,
    as_doubles,
    is_array,
    is_entry,
    is_numpy,
    kind_of_array,
    plain,
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


def permanents(
    batch: Any,
    *,
    full: bool = False,
    row_unmatched: Any = None,
    col_unmatched: Any = None,
    **options: Unpack[Options],
) -> Any:
    """Of many matrices of one shape: an array (count, m, n), or a list of matrices. Planned once, for all
    places where any of them has an entry; the result is as Plan.permanents() returns it.
    row_unmatched, col_unmatched: weights of lines that may stay unmatched, as in permanent(): the same for
    all matrices, or a row of them for each, (count, m) and (count, n). So the options row_multiplicity and
    col_multiplicity; matrices with the same ones are then one batch.

    >>> import libperm
    >>> libperm.permanents([[[1, 2], [3, 4]], [[1, 0], [0, 5]]])
    [10, 5]
    >>> libperm.permanents([[[1, 2], [3, 4]]] * 2, row_multiplicity=[[2, 0], [1, 1]])
    [4, 10]
    >>> libperm.permanents([[[1, 2], [3, 4]], [[1, 0], [0, 5]]], row_unmatched=1, col_unmatched=[1, 2])
    [26, 14]
    """
    batch = _stacked(batch) if isinstance(batch, (list, tuple)) else as_array(batch)
    if options:
        options = cast("Options", readable_again(options))
    has_weights = row_unmatched is not None or col_unmatched is not None
    if _counts_lines(options):
        batch = batch if is_array(batch) else _matrices(batch)
        shape = batch.shape[1:] if is_array(batch) else batch[0].shape if batch else (0, 0)
        counts = counted_batch.counts_of_each(options, len(batch), shape)
        if counts is not None:
            if has_weights:
                raise InvalidOptionError(
                    "weights of unmatched lines and multiplicities of each matrix: not both"
                )
            return counted_batch.permanents(batch, counts, full, options, permanents)
    if is_array(batch):
        if batch.ndim != 3:
            raise TypeError(f"an array of {batch.ndim} dimensions is no batch of matrices: 3 are expected")
        is_general = has_weights or _counts_lines(options)
        found = None if is_general else full_batch.permanents(batch, full, options)
        if found is not None:
            return found
        used = is_entry(batch).any(axis=0)
        pattern = read(used)
        (rows, cols), count = used.nonzero(), len(batch)
        flat = plain(batch[:, rows, cols].reshape(-1))
        kind, as_numpy = kind_of_array(batch), True  # of the zeros too
    else:
        matrices = _matrices(batch)
        if not matrices:
            return batch_of([]) if full else []
        pattern, count = union(matrices), len(matrices)
        flat = numbers_of([x for matrix in matrices for x in matrix.entries_in(pattern)])
        kind = max(matrix.kind for matrix in matrices)
        as_numpy = any(is_numpy(matrix.row_ptr) for matrix in matrices)
    typical = Matrix(pattern.shape, pattern.row_ptr, pattern.col_idx, flat[: pattern.nnz], kind)
    if has_weights:
        weights = row_unmatched, col_unmatched
        return unmatched.permanents(typical, (count, flat), weights, full, as_numpy, options)
    signless = kind is not Kind.COMPLEX and not any_negative(flat)
    plan = Plan._of(typical, dict(options), value_type_of(flat, kind), signless)
    return plan._permanents(count, flat, full, as_numpy)


def _stacked(batch: Any) -> Any:
    """Arrays of one shape and type in a list as one array."""
    first: Any = batch[0] if batch else None
    if not is_array(first):
        return batch
    kind = first.dtype, first.shape
    if first.dtype.char not in "dDl" or first.ndim != 2 or first.size == 0:
        return batch
    import numpy as np

    are_alike = all(type(a) is np.ndarray and (a.dtype, a.shape) == kind for a in batch)  # no masked ones
    return np.stack(batch) if are_alike else batch


def _matrices(batch: Any) -> list[Matrix]:
    if hasattr(batch, "tocsr"):
        raise TypeError("scipy.sparse is one matrix: pass a list of such")
    return [read(a) for a in items_of(batch, "matrices")]


def gradients(
    batch: Any, *, full: bool = False, with_permanents: bool = False, **options: Unpack[Options]
) -> Any:
    """Of many matrices, an array (count, m, n): the derivatives of each permanent by each of its entries, by
    zeros too, as an array of that shape, of float64 or complex128; gradient() has them exactly. Planned once
    for that shape.
    with_permanents=True: a pair, the permanents and they; full=True: a libperm.Gradient, with bounds of their
    errors, and a libperm.Batch of permanents.

    >>> import libperm, numpy as np
    >>> libperm.gradients(np.array([[[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, 5.0]]]))
    array([[[4., 3.],
            [2., 1.]],
    <BLANKLINE>
           [[5., 0.],
            [0., 1.]]])
    """
    if with_permanents and not full:
        both = gradients(batch, full=True, **options)
        return both.permanent.values, both.derivatives
    exact_minors.refuse_batch(options)
    batch = as_doubles(batch, or_int64=True)
    if batch.ndim != 3:
        raise TypeError(f"an array of {batch.ndim} dimensions is no batch of matrices: 3 are expected")
    if (
        not _counts_lines(options)
        and dense.are_served(batch)
        and counting("perm_gradients", options) == options
    ):
        return dense.gradients(batch, options) if full else dense.derivatives(batch, options)
    batch = as_doubles(batch)
    found: Any = full_batch.gradients(batch, full, readable_again(options))
    if not full:
        return found[1].reshape(batch.shape)
    return replace(
        found,
        derivatives=found.derivatives.reshape(batch.shape),
        error_bounds=found.error_bounds.reshape(batch.shape),
    )


def _counts_lines(options: Any) -> bool:
    return any(options.get(name) is not None for name in MULTIPLICITIES)


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
