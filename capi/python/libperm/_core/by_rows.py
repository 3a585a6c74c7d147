"""Derivatives by all entries of a matrix that is sparse, zeros too: each row's by a plan of its own, in which
it alone is full. A frontier that is narrow grows little by that."""

from __future__ import annotations

import time
from array import array
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from libperm._core.errors import MemoryRefusedError, UnsupportedError
from libperm._core.matrix import Matrix
from libperm._core.options import with_time_left
from libperm._core.plan import Plan
from libperm._core.result import Gradient
from libperm._core.values import value_type_of


def gradient(
    full: Matrix, options: Mapping[str, Any], refused: MemoryRefusedError | UnsupportedError
) -> Gradient:
    """Computes that of a matrix that has an entry everywhere, whose own plan was refused."""
    rows, cols = full.shape
    entries = list(full.entries)
    written = [entries[i * cols : (i + 1) * cols] for i in range(rows)]
    kept = [[j for j in range(cols) if row[j] != 0] for row in written]
    if all(len(row) == cols for row in kept):
        raise refused
    begun = time.monotonic()
    derivatives: list[Any] = []
    bounds: list[float] = []
    for i in range(rows):
        columns = [range(cols) if k == i else row for k, row in enumerate(kept)]
        one = Matrix(
            full.shape,
            array("q", accumulate(map(len, columns), initial=0)),
            array("q", [j for row in columns for j in row]),
            [written[k][j] for k, row in enumerate(columns) for j in row],
            full.kind,
        )
        try:
            plan = Plan._of(
                one,
                with_time_left(options, begun, f"the derivatives of {rows - i} rows"),
                value_type_of(one.entries, one.kind),
                True,
            )
            found = plan.gradient(full=True)
        except (MemoryRefusedError, UnsupportedError) as too_large:
            raise type(too_large)(
                f"{too_large}\n  these are the derivatives by zeros too: "
                "pass scipy.sparse for those by its entries alone"
            ) from None
        first = one.row_ptr[i]
        derivatives += list(found.derivatives)[first : first + cols]
        bounds += list(found.error_bounds)[first : first + cols]
    return Gradient(derivatives, bounds, found.permanent)
