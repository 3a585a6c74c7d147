"""Permanents and hafnians of long integers, which have many numbers as their digits."""

from __future__ import annotations

import time
from array import array
from collections.abc import Mapping
from fractions import Fraction
from itertools import accumulate
from typing import Any

from libperm._core import abi
from libperm._core.call import run
from libperm._core.errors import RefusedError, TimeRefusedError
from libperm._core.handle import Handle
from libperm._core.matrix import Matrix, input_of
from libperm._core.options import Prepared
from libperm._core.scalars import Kind, int_of
from libperm._core.values import encode

MOST_BITS = 1 << 16  # of a number that is put together; the entries of longer rows take several


def fraction_of(x: Any) -> Fraction:
    return Fraction(*x.as_integer_ratio()) if hasattr(x, "as_integer_ratio") else Fraction(int(x))


def digits_of(value: int, bits: int, count: int) -> list[int]:
    """Takes a sum apart, of numbers x_k below 2^(bits - 1) in absolute value, each times 2^(k bits)."""
    half, digits = 1 << bits - 1, []
    for _ in range(count):
        low = (value + half) % (2 * half) - half
        digits.append(low)
        value = (value - low) >> bits
    return digits


PLANNED_ANEW = 0.1  # seconds of one permanent, where a plan of its own is worth the search


class ExactPlans:
    """Keeps the last plan, for rows of the same pattern; what takes long has one of its own."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = Prepared({**options, "precision": "exact"}, None)
        self._begun = time.monotonic()
        self._last: tuple[Matrix, list[int], Handle] | None = None

    def permanent(self, rows: list[dict[int, int]], times: list[int], column_count: list[int]) -> int:
        limit = self._options.struct.time_limit_seconds  # of all rows together
        if 0 < limit < time.monotonic() - self._begun:
            raise TimeRefusedError(f"stopped at the time limit of {limit:g} s; allow more with time_limit")
        try:
            return self._permanent(rows, times, column_count)
        except RefusedError as error:  # whose bounds are not of the caller's matrix
            lines = str(error).split("\n")
            error.args = ("\n".join(x for x in lines if "perm(A)" not in x and "bounds" not in x),)
            raise

    def _permanent(self, rows: list[dict[int, int]], times: list[int], column_count: list[int]) -> int:
        matrix = Matrix(
            (len(rows), len(column_count)),
            array("q", accumulate(map(len, rows), initial=0)),
            array("q", [j for row in rows for j in sorted(row)]),
            [row[j] for row in rows for j in sorted(row)],
            Kind.INTEGER,
        )
        if self._last is None or self._last[1] != times or not matrix.has_pattern_of(self._last[0]):
            self._last = matrix, times, self._plan(matrix, times, column_count, is_told=False)
        plan = self._last[2]
        if plan.seconds() > PLANNED_ANEW:
            plan = self._plan(matrix, times, column_count, is_told=True)
        values = encode(matrix.entries, abi.VALUE_TEXT)
        return int_of(plan.execute(values, self._options).text())

    def _plan(self, matrix: Matrix, times: list[int], column_count: list[int], *, is_told: bool) -> Handle:
        counts = {"row_multiplicity": times, "col_multiplicity": column_count}
        are_counted = any(c != 1 for c in (*times, *column_count))
        given = input_of(matrix, counts if are_counted else {}, abi.VALUE_TEXT)
        handle = Handle()
        run(self._options, given.is_long, lambda: handle.make(given, self._options, is_told=is_told))
        return handle
