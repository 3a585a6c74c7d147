"""The permanent as a polynomial in marked entries, and its second derivatives."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from libperm._core.batch import Results
from libperm._core.call import run
from libperm._core.library import check, library
from libperm._core.matchings import weighted_input
from libperm._core.matrix import Matrix, read, union
from libperm._core.options import Prepared
from libperm._core.plan import Plan
from libperm._core.result import in_numpy
from libperm._core.scalars import Kind
from libperm._core.values import as_array, encode, is_array, is_numpy

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from libperm._core.options import Options


def polynomial(
    C: Any, L: Any, *, row_unmatched: Any = None, col_unmatched: Any = None, **options: Unpack[Options]
) -> list[Any]:
    """The coefficients of the polynomial perm(C + x L), a list from that of x^0 on: the terms of the permanent
    of C + L by how many entries of L they take. Ints for integers, Fractions for such; floats are of exact
    sums, rounded once, or within the tolerance. docs/polynomials.md.

    row_unmatched, col_unmatched: weights of lines that may stay unmatched, as permanent() has them.

    >>> import libperm
    >>> libperm.polynomial([[1, 1], [1, 1]], [[1, 0], [0, 1]])  # (1 + x)^2 + 1
    [2, 2, 1]
    >>> libperm.polynomial([[0.5, 1.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 2.0]])
    [1.0, 1.0, 0.0]
    """
    constant, linear = read(C), read(L)
    as_numpy = is_numpy(constant.row_ptr) or is_numpy(linear.row_ptr)
    pattern, kind = union([constant, linear]), max(constant.kind, linear.kind)
    matrix = Matrix(pattern.shape, pattern.row_ptr, pattern.col_idx, constant.entries_in(pattern), kind)
    beside = linear.entries_in(pattern)
    given_options = dict(options)
    given, buffer, kind = weighted_input(matrix, row_unmatched, col_unmatched, given_options, beside)
    prepared = Prepared(given_options, "exact" if kind.is_exact else None)
    other = encode(beside if len(beside) > 0 else [0], given.value_type)
    lines = [n if of_lines is None else sum(of_lines) for n, of_lines in zip(matrix.shape, given.counts)]
    count = min(lines) + 1
    results, function = Results(count), library.perm_polynomial
    arguments = given.address, other.address, prepared.address, count, results.address
    run(prepared, True, lambda: check(function(*arguments)))
    del buffer  # which had to live until here
    kind = prepared.kind_of_answer(kind)
    found: list[Any] = results.read(kind, prepared.wants_exact, False).values
    is_plain = kind.is_exact or prepared.wants_exact or not as_numpy
    return found if is_plain else list(map(in_numpy, found))


def principal_minors(A: Any, **options: Unpack[Options]) -> list[Any]:
    """The sums of the permanents of all principal submatrices of order 0, 1, ..., n: the coefficients of
    perm(A + x I), that of x^n first.

    >>> import libperm
    >>> libperm.principal_minors([[1, 2], [3, 4]])
    [1, 5, 10]
    """
    matrix = read(A)
    return polynomial(matrix, _identity(matrix), **options)[::-1]


def permanental_polynomial(A: Any, **options: Unpack[Options]) -> list[Any]:
    """The coefficients of perm(x I - A), a list from that of x^0 on (Merris, Rebman and Watkins, Linear
    Algebra Appl. 38, 1981).

    >>> import libperm
    >>> libperm.permanental_polynomial([[0, 1, 1], [1, 0, 1], [1, 1, 0]])  # of the triangle
    [-2, 3, 0, 1]
    """
    sums = principal_minors(A, **options)
    return [-x if k % 2 else x for k, x in enumerate(sums)][::-1]


def _identity(matrix: Matrix) -> Matrix:
    rows, columns = matrix.shape
    if rows != columns:
        raise ValueError(f"a matrix of shape {matrix.shape}: principal submatrices are of square ones")
    diagonal = read([[1] * columns]) if rows == 0 else None
    if diagonal is not None:
        return matrix
    from array import array

    places = array("q", range(rows))
    whole = Matrix(matrix.shape, array("q", range(rows + 1)), places, [1] * rows)
    if not is_numpy(matrix.row_ptr):
        return whole
    import numpy as np

    return Matrix(matrix.shape, np.arange(rows + 1), np.arange(rows), [1] * rows)


def hessian_product(A: Any, V: Any, *, full: bool = False, **options: Unpack[Options]) -> Any:
    """The Hessian of the permanent times V: how gradient(A + t V) changes with t, at 0. An array or matrix in
    the form of A, in doubles. full=True: a pair, it and certain bounds of its errors.

    V is a matrix that has no entries where A has none, or an array or lists of numbers.

    >>> import libperm
    >>> libperm.hessian_product([[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, 0.0]])
    [[0.0, 0.0], [0.0, 1.0]]
    """
    matrix = read(A, with_zeros=True)
    kind = max(matrix.kind, read(V).kind, Kind.REAL)
    doubles = Matrix(matrix.shape, matrix.row_ptr, matrix.col_idx, matrix.entries, kind)
    with Plan(doubles, **options) as plan:
        found = plan.hessian_product(V, full=True)
    number, bound = (matrix.like(as_array(A) if is_array(as_array(A)) else A, x) for x in found)
    return (number, bound) if full else number
