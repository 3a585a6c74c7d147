"""Permanents of many matrices, each with multiplicities of its own: those with the same ones in one call."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Callable, Union

from libperm._core.batch import Batch
from libperm._core.dense import Dense, batch_of
from libperm._core.errors import InvalidMatrixError
from libperm._core.options import MULTIPLICITIES, counting
from libperm._core.sequences import items_of
from libperm._core.values import as_array, is_array

Counts = list[tuple[int, ...]]
Sides = list[Union[Counts, None]]


def counts_of_each(options: Mapping[str, Any], count: int, shape: tuple[int, ...]) -> Sides | None:
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


def _counts(name: str, side: Any, count: int, lines: int) -> Counts:
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


def permanents(
    batch: Any, counts: Sides, full: bool, options: Mapping[str, Any], of_same: Callable[..., Any]
) -> Any:
    """of_same: libperm.permanents(), of matrices that have the same ones."""
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
            found = batch_of(Dense(part, *pair), others)
        else:
            found = of_same(part, full=full, **others, **dict(zip(MULTIPLICITIES, pair)))
        columns = [getattr(found, name) for name in names] if isinstance(found, Batch) else [found]
        for k, number in zip(members, zip(*columns)):
            numbers[k] = number
    lists: list[Any] = [list(column) for column in zip(*numbers)] or [[] for _ in names]
    if all(hasattr(x, "dtype") for x in lists[0]) if lists[0] else is_array(batch):
        import numpy as np

        lists = list(map(np.array, lists))
    return Batch(*lists) if full else lists[0]
