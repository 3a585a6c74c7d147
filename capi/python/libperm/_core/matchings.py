"""Lines that may stay unmatched: probabilities of entries and lines, and numbers of matchings."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from libperm._core import abi, quick
from libperm._core.batch import Batch, Results, numbers_in, of_doubles
from libperm._core.call import call, run
from libperm._core.errors import CancelledError, Error, InvalidMatrixError, TimeRefusedError
from libperm._core.handle import Handle
from libperm._core.inputs import LONG_LINES, LONG_ORDER, Input, counts_in, input_of, required, weighted_input
from libperm._core.lazy import np
from libperm._core.library import check, library
from libperm._core.matrix import Matrix, of_places, read
from libperm._core.options import Options, Prepared, Unpack, is_of_graph, readable_again
from libperm._core.result import SIZE, Answer, Result, result_of
from libperm._core.scalars import Kind, is_double
from libperm._core.values import are_doubles, as_array, as_doubles, is_array, is_numpy

# ----------------------------------------------------------------
# Marginals of small arrays, which go over the sets of their lines: by plans of full matrices, which know of
# no values and are kept for the next array of that shape.

# lib/marginals: lines of the shorter side; numbers of all their sets after all lines
_MOST_SHORT, _MOST_NUMBERS = 12, 1 << 16
_MOST_IDLE = 256
_idle: dict[Any, _Plan] = {}  # whoever takes one out has it alone


class _Plan:
    """A plan of full matrices of one shape, and of the weights that come with them."""

    def __init__(
        self, shape: tuple[int, int], with_rows: bool, with_cols: bool, options: Mapping[str, Any]
    ) -> None:
        full = read(np.ones(shape))
        given, one = Input(full, abi.VALUE_F64), np.ones(max(shape))
        given.struct.row_unmatched = one.ctypes.data if with_rows else None
        given.struct.col_unmatched = one.ctypes.data if with_cols else None
        self._prepared, self._handle = Prepared(options, None), Handle()
        self._handle.make(given, self._prepared)
        self._function, self._answer = library.perm_plan_marginals, Answer()

    def run(self, values: Any, found: Any, bounds: Any) -> Result:
        places = values.ctypes.data, found.ctypes.data, bounds.ctypes.data
        check(self._function(self._handle.address, *places, self._answer.address))
        return result_of(self._answer, Kind.REAL, False, as_numpy=True)


def _are_small(m: int, n: int) -> bool:
    return min(m, n) <= _MOST_SHORT and (max(m, n) + 1) << min(m, n) <= _MOST_NUMBERS


def _is_plain(a: Any) -> bool:
    return a.dtype.char in "dlf" and are_doubles(a.reshape(-1))


def _weights(weights: Any) -> Any:
    weights = as_array(weights)
    if not is_array(weights):
        items = weights if isinstance(weights, (list, tuple)) else [weights]
        if not all(isinstance(x, (float, int)) and is_double(x) for x in items):
            return None
        weights = np.asarray(weights, float)
    return weights if _is_plain(weights) else None


def _small_marginals(
    a: Any, row_unmatched: Any, col_unmatched: Any, options: Mapping[str, Any]
) -> tuple[Any, Any, Result] | None:
    """Of an array of two dimensions: probabilities and their bounds, of entries, then rows, then columns, and
    the result. None where the general way is to be taken. Options are those of a run."""
    a = np.asarray(a)
    if a.ndim != 2 or not _is_plain(a):
        return None
    m, n = a.shape
    if min(m, n) == 0 or not _are_small(m, n):
        return None
    values = np.empty(m * n + m + n)
    values[: m * n] = a.reshape(-1)
    at = m * n
    for lines, weights in ((m, row_unmatched), (n, col_unmatched)):
        if weights is None:
            continue
        weights = _weights(weights)
        if weights is None or weights.shape not in ((), (lines,)):
            return None
        values[at : at + lines] = weights
        at += lines
    if not (values[:at] >= 0).all():  # or not a number
        return None
    key = m, n, row_unmatched is None, col_unmatched is None, *options.items()
    try:
        plan = _idle.pop(key, None)
        plan = plan or _Plan((m, n), row_unmatched is not None, col_unmatched is not None, options)
    except (Error, TypeError):  # options that the general way tells of, or are no key
        return None
    found, bounds = np.empty(m * n + m + n), np.empty(m * n + m + n)
    result = replace(plan.run(values, found, bounds), nnz=int(np.count_nonzero(values[: m * n])))
    if len(_idle) < _MOST_IDLE:
        _idle[key] = plan
    return found, bounds, result


# ----------------------------------------------------------------
# Marginals and numbers of matchings.

_WORTH_A_PLAN = 32  # matrices: planning takes as long as some of them without


@dataclass(frozen=True, repr=False)
class Marginals:
    """Probabilities in a matching that is drawn with its share of the sum over all matchings, and certain
    bounds of their errors. Of many matrices each has one dimension more, and `result` is a libperm.Batch."""

    entries: Any  # that each is in the matching, in the form of A
    rows: Any  # that each stays unmatched
    cols: Any
    entry_bounds: Any
    row_bounds: Any
    col_bounds: Any
    result: Result | Batch  # the sum over all matchings

    @property
    def value(self) -> Any:
        """The sum over all matchings; OverflowError, of a batch inf, where it is beyond a double: a single
        matrix's `result` has it whole."""
        return self.result.values if isinstance(self.result, Batch) else self.result.value

    def __repr__(self) -> str:
        lines = f"{len(self.rows)} rows, {len(self.cols)} columns"
        if isinstance(self.result, Batch):
            return f"<libperm.Marginals of {len(self.entries)} matrices>"
        return f"<libperm.Marginals of {lines}, sum over all matchings {self.result.text}>"


_PARTS = tuple(field.name for field in fields(Marginals) if field.name != "result")


def marginals(
    A: Any, row_unmatched: Any = None, col_unmatched: Any = None, **options: Unpack[Options]
) -> Marginals:
    """How likely each entry is to be in a matching of A, and each row and column to stay unmatched: what a
    tracker asks of its associations (JPDA). The probability of a matching is proportional to the product of
    its entries and of the weights of the lines that are not in it; none may be negative.

    row_unmatched, col_unmatched: these weights, one for each row or column, or one number for all. None: each
    must be matched; if both are None, lines of the longer side of a rectangle may stay unmatched, with
    weight 1.
    A: as for permanent(); an array (count, m, n) is many matrices, with weights (count, m) and (count, n), or
    the same for all.
    No matching with a weight above 0: libperm.InvalidMatrixError.
    function="hafnian": of a graph, given by its symmetric matrix, whose lines are matched to each other: both
    places of a pair have its probability. "loop_hafnian": a line may also stay single, at the price of its
    entry on the diagonal, or of row_unmatched: `rows` has how likely that is, `cols` zeros.

    >>> import libperm
    >>> found = libperm.marginals([[2.0, 1.0], [0.0, 3.0]], row_unmatched=[1.0, 1.0], col_unmatched=1.0)
    >>> [[round(p, 4) for p in row] for row in found.entries], [round(p, 4) for p in found.rows]
    ([[0.6154, 0.0769], [0.0, 0.6923]], [0.3077, 0.3077])
    >>> found.value  # 1 + 2 + 1 + 3 + 2 * 3
    13.0
    """
    a = as_array(A)
    if is_array(a) and a.ndim == 3:
        return _of_many(a, row_unmatched, col_unmatched, readable_again(options))
    if is_array(a) and quick.are_of_run(options):
        small = _small_marginals(a, row_unmatched, col_unmatched, options)
        if small is not None:
            return _marginals(*small, a.shape, a.size, lambda entries: entries.reshape(a.shape))
    matrix, prepared = read(a), Prepared(options, None)
    given, _ = weighted_input(matrix, row_unmatched, col_unmatched, options, warns=False)
    is_long = max(matrix.shape, default=0) > LONG_ORDER
    form = is_numpy(matrix.row_ptr), partial(matrix.like, a)
    return told_marginals(prepared, is_long, matrix, form, library.perm_marginals, given, prepared)


def told_marginals(
    options: Prepared,
    is_long: bool,
    matrix: Matrix,
    form: tuple[bool, Callable[[Any], Any]],
    function: Any,
    *places: Any,
) -> Marginals:
    """What a function of the library tells of one matrix. form: whether in numpy, and that of entries."""
    as_numpy, in_form = form
    count, answer = matrix.nnz + sum(matrix.shape), Answer()
    found, bounds = (ctypes.c_double * max(1, count))(), (ctypes.c_double * max(1, count))()
    call(options, is_long, function, *places, found, bounds, answer)
    told, errors = (numbers_in(x, Kind.REAL, as_numpy) for x in (found, bounds))
    result = result_of(answer, Kind.REAL, False, as_numpy)
    return _marginals(told, errors, result, matrix.shape, matrix.nnz, in_form)


def _marginals(
    found: Any,
    bounds: Any,
    result: Result | Batch,
    shape: tuple[int, int],
    nnz: int,
    in_form: Callable[[Any], Any],
) -> Marginals:
    """Of the numbers of entries, behind them those of rows, then of columns; of many matrices each in a row
    of an array."""
    m, n = nnz + shape[0], nnz + sum(shape)

    def split(numbers: Any) -> tuple[Any, Any, Any]:
        if getattr(numbers, "ndim", 1) == 1:
            return in_form(numbers[:nnz]), numbers[nnz:m], numbers[m:n]
        return in_form(numbers[:, :nnz]), numbers[:, nnz:m], numbers[:, m:n]

    return Marginals(*split(found), *split(bounds), result)


def matchings(A: Any, *, full: bool = False, **options: Unpack[Options]) -> Any:
    """The numbers of matchings with k entries, a list from k = 0: of how many sets of k entries no two share
    a row or a column. With numbers other than 1, the sums over these sets of the products of their entries.
    Ints for integers, Fractions for such; floats are of exact sums, rounded once. function="hafnian": of a
    graph, given by its symmetric matrix, those with k pairs of its lines. full=True: a libperm.Batch, with
    the bounds of their errors, which has also what no double is near.

    >>> import libperm
    >>> libperm.matchings([[1, 1, 1], [1, 1, 1], [1, 1, 1]])
    [1, 9, 18, 6]
    >>> libperm.matchings([[0.5, 2.0], [0.0, 3.0]])
    [1.0, 5.5, 1.5]
    >>> K4 = [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    >>> libperm.matchings(K4, function="hafnian")
    [1, 6, 3]
    """
    matrix, given_options = read(A), readable_again(options)
    prepared = Prepared(given_options, "exact" if matrix.kind.is_exact else None)
    given = input_of(matrix, given_options)
    lines = list(map(sum, counts_in(matrix.shape, given_options)))
    count = (lines[0] // 2 if is_of_graph(options) else min(lines)) + 1
    results = Results(count)
    call(prepared, True, library.perm_matchings, given, prepared, count, results.address)
    form = matrix.kind, prepared.wants_exact, is_numpy(matrix.row_ptr)
    return results.read(*form) if full else results.values(*form, in_list=True)


def _reals(numbers: Any) -> Any:
    numbers = as_doubles(numbers)
    if numbers.dtype.kind == "c" and not numbers.imag.any():
        return numbers.real
    if numbers.dtype.kind == "c":
        raise InvalidMatrixError("complex weights: probabilities are of real ones of 0 or more")
    return numbers


def _groups(is_entry: Any) -> list[Any]:
    """The numbers of the matrices that have each pattern. What small matrices' plans go over takes as long
    whatever the pattern: they are one group."""
    count, m, n = is_entry.shape
    if _are_small(m, n):
        return [np.arange(count)]
    groups: dict[bytes, list[int]] = {}
    for k, bits in enumerate(np.packbits(is_entry.reshape(count, -1), axis=1)):
        groups.setdefault(bits.tobytes(), []).append(k)
    return [np.array(group) for group in groups.values()]


def _of_many(batch: Any, row_unmatched: Any, col_unmatched: Any, options: dict[str, Any]) -> Marginals:
    batch = _reals(batch)
    count, m, n = batch.shape
    row_unmatched, col_unmatched = required((m, n), row_unmatched, col_unmatched, options, warns=False)
    weights: list[Any] = []
    for what, lines, given in (("row", m, row_unmatched), ("col", n, col_unmatched)):
        if given is None:
            weights.append(None)
            continue
        given = _reals(given)
        try:
            weights.append(np.broadcast_to(given, (count, lines)))
        except ValueError:
            raise InvalidMatrixError(
                f"{what}_unmatched has the shape {np.shape(given)}, where ({count}, {lines}) is expected"
            ) from None
    groups = _groups(batch != 0) if count > 0 else []
    if len(groups) <= 1:
        return _of_alike(batch, weights, options)
    # A plan of all their entries could cost far more than each matrix alone.
    found = []
    for group in groups:
        sides = [side if side is None else side[group] for side in weights]
        if len(group) >= _WORTH_A_PLAN:
            found.append(_of_alike(batch[group], sides, options, group))
        else:
            found += [_of_one(k, batch[group], sides, options, group) for k in range(len(group))]
    place = np.argsort(np.concatenate(groups))

    def joined(name: str, of: list[Any]) -> Any:
        return np.concatenate([getattr(each, name) for each in of])[place]

    batches = {field.name: joined(field.name, [each.result for each in found]) for field in fields(Batch)}
    return Marginals(**{name: joined(name, found) for name in _PARTS}, result=Batch(**batches))


def _of_one(k: int, batch: Any, weights: list[Any], options: dict[str, Any], names: Any) -> Marginals:
    """The k-th of these matrices as a batch of one."""
    try:
        found = marginals(batch[k], *(side if side is None else side[k] for side in weights), **options)
    except (CancelledError, TimeRefusedError):
        raise
    except Error as error:
        error.args = (f"matrix {names[k]} of the batch: {error}",)
        raise
    of: Any = found.result
    numbers = of.re, *of_doubles(of), of.mantissa_re, of.exp2
    parts = {name: np.array([getattr(found, name)]) for name in _PARTS}
    return Marginals(**parts, result=Batch(*(np.array([x]) for x in numbers)))


def _of_alike(batch: Any, weights: list[Any], options: dict[str, Any], names: Any = None) -> Marginals:
    """By one plan, of all their entries. names: their numbers among the caller's matrices."""
    count, m, n = batch.shape
    i, j = (batch != 0).any(axis=0).nonzero()
    pattern = of_places((m, n), i, j, np.ones(len(i)), Kind.REAL)
    many = count, batch[:, i, j].reshape(-1)
    given, _ = weighted_input(pattern, weights[0], weights[1], options, many=many)
    handle, prepared = Handle(), Prepared(options, None)
    prepared.require(count * (SIZE + 16.0 * (len(i) + m + n)), f"what is told of {count} matrices")
    results = Results(count)
    found, bounds = np.empty((count, len(i) + m + n)), np.empty((count, len(i) + m + n))
    function = library.perm_plan_marginals_batch

    def find() -> None:
        handle.make(given, prepared, is_told=False)
        places = found.ctypes.data, bounds.ctypes.data, results.address
        check(function(handle.address, given.values.address, given.width, count, *places))

    def in_form(numbers: Any) -> Any:
        entries = np.zeros(batch.shape)
        entries[:, i, j] = numbers
        return entries

    if count > 0:
        try:
            run(prepared, count > LONG_LINES or max(m, n) > LONG_ORDER, find)
        except Error as error:
            raise _renumbered(error, names) from None
    return _marginals(found, bounds, results.arrays(Kind.REAL), (m, n), len(i), in_form)


def _renumbered(error: Error, names: Any) -> Error:
    """A group's error that names a matrix, by its number among all."""
    if names is None:
        return error

    def number(at: re.Match[str]) -> str:
        return f"matrix {names[int(at[1])]} of the batch"

    error.args = tuple(
        re.sub(r"matrix (\d+) of the batch", number, x) if isinstance(x, str) else x for x in error.args
    )
    return error
