"""Many matrices in one call: permanents and derivatives."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, Union, cast

from libperm._core import dense, minors, quick
from libperm._core.batch import Batch, Results, batch_of, chosen
from libperm._core.call import run
from libperm._core.errors import InvalidMatrixError, InvalidOptionError
from libperm._core.handle import LONG_SECONDS, Handle
from libperm._core.inputs import weighted_input
from libperm._core.lazy import np
from libperm._core.matrix import Matrix, read, union
from libperm._core.options import MULTIPLICITIES, Options, Prepared, Unpack, counting, readable_again
from libperm._core.plan import Plan
from libperm._core.result import SIZE, Gradient
from libperm._core.scalars import Kind, numbers_of
from libperm._core.values import (
    any_negative,
    as_array,
    as_doubles,
    is_array,
    is_entry,
    is_numpy,
    items_of,
    kind_of_array,
    plain,
    value_type_of,
)

_LARGEST_ORDER = 20
_MOST_IDLE = 16
_MOST_TERMS = 1 << 28  # half a second, which nobody interrupts
_idle: dict[Any, Plan] = {}  # whoever takes one out has it alone: Ctrl-C stops no other's call

_Counts = list[tuple[int, ...]]
_Sides = list[Union[_Counts, None]]


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
        counts = _counts_of_each(options, len(batch), shape)
        if counts is not None:
            if has_weights:
                raise InvalidOptionError(
                    "weights of unmatched lines and multiplicities of each matrix: not both"
                )
            return _of_each_counted(batch, counts, full, options)
    if is_array(batch):
        if batch.ndim != 3:
            raise TypeError(f"an array of {batch.ndim} dimensions is no batch of matrices: 3 are expected")
        is_general = has_weights or _counts_lines(options)
        found = None if is_general else _of_full(batch, full, options)
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
        many = count, flat
        given, kind = weighted_input(typical, row_unmatched, col_unmatched, options, many=many)
        prepared = Prepared(options, "exact" if kind.is_exact else None)
        prepared.require(count * float(SIZE), f"what is told of {count} matrices")
        handle, results = Handle(), Results(count)
        if count > 0:
            run(prepared, given.is_long, lambda: handle.make(given, prepared, is_told=False))
            is_long = count * handle.seconds() > LONG_SECONDS
            values = given.values.address, given.width
            run(prepared, is_long, lambda: results.fill(handle.address, *values))
        form = prepared.form(kind, as_numpy)
        return results.read(*form) if full else results.values(*form)
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
    minors.refuse_exact_batch(options)
    batch = as_doubles(batch, or_int64=True)
    if batch.ndim != 3:
        raise TypeError(f"an array of {batch.ndim} dimensions is no batch of matrices: 3 are expected")
    if (
        not _counts_lines(options)
        and dense.are_served(batch)
        and counting("perm_gradients", options) == options
    ):
        return chosen(dense.gradients(batch, options, full or with_permanents), full, with_permanents)
    batch = as_doubles(batch)
    with _plan(batch, readable_again(options)) as plan:
        found = plan._gradients(batch, full)
    bounds = found.error_bounds.reshape(batch.shape) if full else None
    in_form = Gradient(found.derivatives.reshape(batch.shape), bounds, found.permanent)
    return chosen(in_form, full, with_permanents)


def _counts_lines(options: Any) -> bool:
    return any(options.get(name) is not None for name in MULTIPLICITIES)


# ---------------------------------------------------------------- multiplicities of each matrix


def _counts_of_each(options: Mapping[str, Any], count: int, shape: tuple[int, ...]) -> _Sides | None:
    """Those of rows and of columns, of each matrix; None of a side that has none. None where both are the
    same for all."""
    sides = [as_array(options.get(name)) for name in MULTIPLICITIES]
    if not any(map(_is_of_each, sides)):
        return None
    lines = zip(MULTIPLICITIES, sides, shape)
    return [None if side is None else _counts(name, side, count, n) for name, side, n in lines]


def _is_of_each(side: Any) -> bool:
    if is_array(side):
        return bool(side.ndim == 2)
    return isinstance(side, Sequence) and any(isinstance(row, Iterable) for row in side)


def _counts(name: str, side: Any, count: int, lines: int) -> _Counts:
    rows = items_of(side, f"integers ({name})")
    if not _is_of_each(side):
        rows = [rows] * count
    try:
        read = [tuple(map(operator.index, row)) for row in rows]
    except TypeError:
        raise TypeError(f"{name} of each matrix: rows of integers, one for each line") from None
    if len(read) != count or any(len(row) != lines for row in read):
        raise InvalidMatrixError(f"{name} is of {count} matrices: {lines} numbers of each are expected")
    return read


def _of_each_counted(batch: Any, counts: _Sides, full: bool, options: Mapping[str, Any]) -> Any:
    """Of matrices with multiplicities of their own: those that have the same ones in one call."""
    others = {name: x for name, x in options.items() if name not in MULTIPLICITIES}
    groups: dict[Any, list[int]] = defaultdict(list)
    for k in range(len(batch)):
        groups[tuple(None if side is None else side[k] for side in counts)].append(k)
    is_dense = (
        is_array(batch) and batch.dtype.char in "dD" and counting("perm_permanents", others) == others
    ) and others.get("precision") in (None, "auto")
    names = [field.name for field in fields(Batch)]
    numbers: list[Any] = [None] * len(batch)
    for pair, members in groups.items():
        part = batch[members] if is_array(batch) else [batch[k] for k in members]
        if is_dense:
            found = dense.batch_of(dense.Dense(part, *pair), others)
        else:
            found = permanents(part, full=full, **others, **dict(zip(MULTIPLICITIES, pair)))
        columns = [getattr(found, name) for name in names] if isinstance(found, Batch) else [found]
        for k, number in zip(members, zip(*columns)):
            numbers[k] = number
    lists: list[Any] = [list(column) for column in zip(*numbers)] or [[] for _ in names]
    if all(hasattr(x, "dtype") for x in lists[0]) if lists[0] else is_array(batch):
        lists = list(map(np.array, lists))
    return Batch(*lists) if full else lists[0]


# ---------------------------------------------------------------- full matrices


def _of_full(batch: Any, full: bool, options: Mapping[str, Any]) -> Any:
    """Computes those of an array (count, n, n), or returns None where the general way is to be taken."""
    count, rows, columns = batch.shape
    is_served = count > 0 and 0 < rows == columns <= _LARGEST_ORDER and batch.dtype.char in "dDl"
    if not is_served or not quick.are_plain(options):
        return None
    is_full = batch[0].all() if options.get("function") is None else _is_complete(batch[0])
    if not is_full:
        return None
    is_short = count << rows < _MOST_TERMS and batch.dtype.char in "dD"
    numbers = quick.dense_permanents(batch, options) if is_short and not full else None
    if numbers is not None:
        return numbers
    with _plan(batch, options) as plan:
        return plan.permanents(batch, full)


def _is_complete(a: Any) -> bool:
    """Whether each line has an edge to each other."""
    return bool(np.count_nonzero(a) - np.count_nonzero(a.diagonal()) == len(a) * (len(a) - 1))


@contextmanager
def _plan(batch: Any, options: Mapping[str, Any]) -> Iterator[Plan]:
    """Makes the plan of full matrices of this shape and type, or takes one that is idle."""
    key: Any = batch.shape[1:], batch.dtype.char, tuple(sorted(options.items()))
    try:
        plan = _idle.pop(key, None)
    except TypeError:  # options that are no key
        key, plan = None, None
    if plan is None:
        ones = read(np.ones(batch.shape[1:], batch.dtype))
        plan = Plan._of(ones, dict(options), value_type_of(ones.entries, ones.kind), False)
    yield plan
    if key is not None and len(_idle) < _MOST_IDLE and quick.are_plain(options):
        _idle[key] = plan
