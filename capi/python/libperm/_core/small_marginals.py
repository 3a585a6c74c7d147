"""Marginals of small arrays, which go over the sets of their lines: by plans of full matrices, which know
of no values and are kept for the next array of that shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from libperm._core import abi
from libperm._core.errors import Error
from libperm._core.handle import Handle
from libperm._core.library import check, library
from libperm._core.matrix import Input, read
from libperm._core.options import Prepared
from libperm._core.result import Answer, Result, result_of
from libperm._core.scalars import Kind, is_double
from libperm._core.values import are_doubles, as_array, is_array

# lib/marginals: lines of the shorter side; numbers of all their sets after all lines
_MOST_SHORT, _MOST_NUMBERS = 12, 1 << 16
_MOST_IDLE = 256
_idle: dict[Any, _Plan] = {}  # whoever takes one out has it alone


class _Plan:
    """A plan of full matrices of one shape, and of the weights that come with them."""

    def __init__(
        self, shape: tuple[int, int], with_rows: bool, with_cols: bool, options: Mapping[str, Any]
    ) -> None:
        import numpy as np

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


def are_served(m: int, n: int) -> bool:
    return min(m, n) <= _MOST_SHORT and (max(m, n) + 1) << min(m, n) <= _MOST_NUMBERS


def _is_plain(a: Any) -> bool:
    return a.dtype.char in "dlf" and are_doubles(a.reshape(-1))


def _weights(weights: Any) -> Any:
    import numpy as np

    weights = as_array(weights)
    if not is_array(weights):
        items = weights if isinstance(weights, (list, tuple)) else [weights]
        if not all(isinstance(x, (float, int)) and is_double(x) for x in items):
            return None
        weights = np.asarray(weights, float)
    return weights if _is_plain(weights) else None


def marginals(
    a: Any, row_unmatched: Any, col_unmatched: Any, options: Mapping[str, Any]
) -> tuple[Any, Any, Result] | None:
    """Of an array of two dimensions: probabilities and their bounds, of entries, then rows, then columns, and
    the result. None where the general way is to be taken. Options are those of a run."""
    import numpy as np

    a = np.asarray(a)
    if a.ndim != 2 or not _is_plain(a):
        return None
    m, n = a.shape
    if min(m, n) == 0 or not are_served(m, n):
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
