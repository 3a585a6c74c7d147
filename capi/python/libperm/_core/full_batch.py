"""Batches of small full matrices. Their plans know of no values, and are kept for the next batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from libperm._core import quick
from libperm._core.matrix import read
from libperm._core.plan import Plan
from libperm._core.values import value_type_of

_LARGEST_ORDER = 20
_MOST_IDLE = 16
_MOST_TERMS = 1 << 28  # half a second, which nobody interrupts
_idle: dict[Any, Plan] = {}  # whoever takes one out has it alone: Ctrl-C stops no other's call


def permanents(batch: Any, full: bool, options: Mapping[str, Any]) -> Any:
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
    import numpy as np

    return bool(np.count_nonzero(a) - np.count_nonzero(a.diagonal()) == len(a) * (len(a) - 1))


def gradients(batch: Any, full: bool, options: Mapping[str, Any]) -> Any:
    """Computes those of an array (count, m, n) of float64 or complex128, by all entries, zeros too."""
    with _plan(batch, options) as plan:
        return plan._gradients(batch, full)


@contextmanager
def _plan(batch: Any, options: Mapping[str, Any]) -> Iterator[Plan]:
    """Makes the plan of full matrices of this shape and type, or takes one that is idle."""
    import numpy as np

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
