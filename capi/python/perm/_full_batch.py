"""Batches of small full matrices. Their plans know of no values, and are kept for the next batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perm import _quick
from perm._matrix import read
from perm._values import value_type_of
from perm.plan import Plan

_LARGEST_ORDER = 20
_MOST_IDLE = 16
_idle: dict[Any, Plan] = {}  # whoever takes one out has it alone: Ctrl-C stops no other's call


def permanents(batch: Any, full: bool, options: Mapping[str, Any]) -> Any:
    """Of an array (count, n, n); None where the general way is to be taken."""
    count, rows, columns = batch.shape
    is_served = count > 0 and 0 < rows == columns <= _LARGEST_ORDER and batch.dtype.char in "dDl"
    if not is_served or not _quick.are_plain(options) or not batch[0].all():
        return None
    key = rows, batch.dtype.char, tuple(sorted(options.items()))
    try:
        plan = _idle.pop(key, None)
    except TypeError:  # options that are no key
        return None
    if plan is None:
        first = read(batch[0])
        plan = Plan._of(first, dict(options), value_type_of(first.entries, first.kind), False)
    found = plan.permanents(batch, full)
    if len(_idle) < _MOST_IDLE:
        _idle[key] = plan
    return found
