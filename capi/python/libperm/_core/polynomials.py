"""The permanent as a polynomial in marked entries, and its second derivatives."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from libperm._core.batch import Batch, Results
from libperm._core.call import call
from libperm._core.errors import InvalidMatrixError, InvalidOptionError, PrecisionWarning, warn_caller
from libperm._core.inputs import counts_in, weighted_input
from libperm._core.lazy import np
from libperm._core.library import library
from libperm._core.matrix import Matrix, of_rows, read, union
from libperm._core.options import Options, Prepared, Unpack, is_of_graph, readable_again
from libperm._core.plan import Plan
from libperm._core.scalars import Kind
from libperm._core.values import as_array, encode, is_numpy


def polynomial(
    C: Any,
    L: Any = None,
    *,
    row_unmatched: Any = None,
    col_unmatched: Any = None,
    full: bool = False,
    **options: Unpack[Options],
) -> Any:
    """The coefficients of the polynomial perm(C + x L), a list from that of x^0 on: the terms of perm(C + L)
    by how many entries of L they take. L: the unit matrix if not given. Ints for integers, Fractions for
    such; floats are within the tolerance, or a libperm.PrecisionWarning says that some are not.
    docs/polynomials.md.

    row_unmatched, col_unmatched: weights of lines that may stay unmatched, as permanent() has them.
    full=True: a libperm.Batch, with the bounds of their errors, which has also what no double is near.
    function="hafnian", "loop_hafnian": of haf(C + x L), both symmetric.

    >>> import libperm
    >>> libperm.polynomial([[1, 1], [1, 1]], [[1, 0], [0, 1]])  # (1 + x)^2 + 1
    [2, 2, 1]
    >>> libperm.polynomial([[0.5, 1.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 2.0]])
    [1.0, 1.0, 0.0]
    >>> libperm.polynomial([[0, 1, 1], [1, 0, 1], [1, 1, 0]], function="loop_hafnian")  # single lines count x
    [0, 3, 0, 1]
    """
    constant = read(C)
    linear = _identity(constant) if L is None else read(L)
    if constant.shape != linear.shape:
        raise InvalidMatrixError(f"L has the shape {linear.shape}, C {constant.shape}: both have one")
    as_numpy = is_numpy(constant.row_ptr) or is_numpy(linear.row_ptr)
    pattern, kind = union([constant, linear]), max(constant.kind, linear.kind)
    matrix = Matrix(pattern.shape, pattern.row_ptr, pattern.col_idx, constant.entries_in(pattern), kind)
    beside = linear.entries_in(pattern)
    given_options = readable_again(options)
    given, kind = weighted_input(matrix, row_unmatched, col_unmatched, given_options, beside)
    prepared = Prepared(given_options, "exact" if kind.is_exact else None)
    other = encode(beside if len(beside) > 0 else [0], given.value_type)
    lines = list(map(sum, counts_in(matrix.shape, given_options)))
    if is_of_graph(options):
        lines[1] = lines[0]  # they are the same
    may_stay = row_unmatched is not None or options.get("function") != "hafnian"
    count = (min(lines) if may_stay else lines[0] // 2) + 1
    results = Results(count)
    call(prepared, True, library.perm_polynomial, given, other, prepared, count, results.address)
    form = prepared.form(kind, as_numpy)
    if full:
        return results.read(*form)
    _warn_of_missed(results)
    return results.values(*form, in_list=True)


def principal_sums(A: Any, *, full: bool = False, **options: Unpack[Options]) -> Any:
    """The sums of the permanents of all principal submatrices of order 0, 1, ..., n: the coefficients of
    perm(A + x I), that of x^n first. As polynomial() has them.

    >>> import libperm
    >>> libperm.principal_sums([[1, 2], [3, 4]])
    [1, 5, 10]
    """
    _require_permanent(options)
    return _reversed(polynomial(A, full=full, **options))


def permanental_polynomial(A: Any, *, full: bool = False, **options: Unpack[Options]) -> Any:
    """The coefficients of perm(x I - A), a list from that of x^0 on (Merris, Rebman and Watkins, Linear
    Algebra Appl. 38, 1981).

    >>> import libperm
    >>> libperm.permanental_polynomial([[0, 1, 1], [1, 0, 1], [1, 1, 0]])  # of the triangle
    [-2, 3, 0, 1]
    """
    _require_permanent(options)
    found = polynomial(A, full=full, **options)
    if isinstance(found, Batch):
        return replace(found, values=_alternating(found.values), mantissas=_alternating(found.mantissas))
    return _alternating(found)


def _require_permanent(options: Any) -> None:
    if is_of_graph(options):
        raise InvalidOptionError(
            "function: this is of permanents alone; libperm.polynomial() has lhaf(A + x I)"
        )


def _alternating(coefficients: Any) -> Any:
    """The last as it is."""
    last = len(coefficients) - 1
    numbers = [x if (last - k) % 2 == 0 else 0 - x for k, x in enumerate(coefficients)]
    if isinstance(coefficients, list):
        return numbers
    return np.array(numbers, coefficients.dtype)


def _reversed(found: Any) -> Any:
    """Lists, or a Batch of such, the last first."""
    if not isinstance(found, Batch):
        return found[::-1]
    return Batch(*(getattr(found, field.name)[::-1] for field in fields(found)))


def _warn_of_missed(results: Results) -> None:
    missed = [(k, x.rel_error_bound) for k, x in enumerate(results) if not x.tolerance_met]
    if not missed:
        return
    power, bound = missed[0]
    warn_caller(
        f"{len(missed)} coefficients miss the tolerance, that of x^{power} with a relative error bound of "
        f'{bound:.2g}; full=True tells all bounds, precision="exact" every digit',
        PrecisionWarning,
    )


def _identity(matrix: Matrix) -> Matrix:
    rows, columns = matrix.shape
    if rows != columns:
        raise InvalidMatrixError(
            f"a matrix of shape {matrix.shape}: of square ones there are principal submatrices"
        )
    return of_rows([[(i, 1)] for i in range(rows)], rows)


def hessian_product(A: Any, V: Any, *, full: bool = False, **options: Unpack[Options]) -> Any:
    """The Hessian of the permanent times V: how gradient(A + t V) changes with t, at 0. An array or matrix in
    the form of A, in doubles. full=True: a pair, it and certain bounds of its errors.

    V: where A is sparse it has no entries where A has none; of arrays and lists all entries are.

    >>> import libperm
    >>> product = libperm.hessian_product([[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, 0.0]])
    >>> [[round(abs(x), 12) for x in row] for row in product]
    [[0.0, 0.0], [0.0, 1.0]]
    """
    matrix = read(A, with_zeros=True)
    kind = max(matrix.kind, read(V).kind, Kind.REAL)
    entries = matrix.entries
    if kind is Kind.COMPLEX:  # which have no place beside Fractions
        entries = [complex(x) for x in entries]
    doubles = Matrix(matrix.shape, matrix.row_ptr, matrix.col_idx, entries, kind)
    with Plan(doubles, **options) as plan:
        numbers, bounds = plan.hessian_product(V, full=True)
    form = A if hasattr(A, "tocsr") else as_array(A)
    product = matrix.like(form, numbers)
    return (product, matrix.like(form, bounds)) if full else product


def hessian_products(matrices: Any, directions: Any, options: Any) -> Any:
    """The same of arrays (count, m, n), for those who differentiate: an array of doubles like them."""
    products = np.empty_like(matrices)
    if products.size == 0:
        return products
    m, n = matrices.shape[1:]
    whole = read(np.ones((m, n)), with_zeros=True)
    kind = Kind.COMPLEX if matrices.dtype.kind == "c" else Kind.REAL
    pattern = Matrix(whole.shape, whole.row_ptr, whole.col_idx, np.ones(m * n, matrices.dtype), kind)
    with Plan(pattern, **options) as plan:
        for product, matrix, direction in zip(products, matrices, directions):
            found = plan.hessian_product(direction.reshape(-1), matrix.reshape(-1))
            product[...] = np.reshape(found, (m, n))
    return products
