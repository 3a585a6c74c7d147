"""Derivatives of hafnians of integers and fractions, exactly.

One copy of a line stands apart, with the powers of a large number B as its entries: the hafnian is the sum of
B^j times that without this copy and one of line j, as often as that counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from libperm._core.errors import UnsupportedError
from libperm._core.exact_plans import MOST_BITS, ExactPlans, digits_of, fraction_of
from libperm._core.matrix import Matrix, read_counts
from libperm._core.options import MULTIPLICITIES
from libperm._core.scalars import Kind


def derivatives(matrix: Matrix, wanted: Sequence[tuple[int, int]], options: Mapping[str, Any]) -> list[Any]:
    """By the pairs of entries of a symmetric matrix, each as often as it is asked for."""
    graph = _Graph(matrix, options)
    by_line: dict[int, set[int]] = {}
    for i, j in wanted:
        by_line.setdefault(min(i, j), set()).add(max(i, j))
    found = {
        (i, j): x
        for i, others in by_line.items()
        for j, x in zip(sorted(others), graph.of_line(i, sorted(others)))
    }
    number = int if matrix.kind is Kind.INTEGER else Fraction
    return [number(found[min(i, j), max(i, j)]) for i, j in wanted]


class _Graph:
    """Times a common denominator D: loops by D, edges by D^2, so that every term is by D for each line."""

    def __init__(self, matrix: Matrix, options: Mapping[str, Any]) -> None:
        n = matrix.shape[0]
        self._count = list(read_counts("row", n, options.get("row_multiplicity")) or [1] * n)
        self._has_loops = options["function"] == "loop_hafnian"
        if self._has_loops and any(c > 1 for c in self._count):
            raise UnsupportedError(
                "an entry on the diagonal stands for the loops of a line that counts several times, and for "
                "the pairs of its copies: write the copies out"
            )
        exact = {at: fraction_of(x) for at, x in zip(matrix.positions(), matrix.entries) if x != 0}
        self._scale: int = math.lcm(*(x.denominator for x in exact.values()))
        self._rows: list[dict[int, int]] = [{} for _ in range(n)]
        for (i, j), x in exact.items():
            self._rows[i][j] = int(x * self._scale * (1 if i == j and self._has_loops else self._scale))
        others = {name: value for name, value in options.items() if name not in MULTIPLICITIES}
        self._plans = ExactPlans(others)

    def of_line(self, i: int, others: Sequence[int]) -> list[Fraction]:
        """By the entries of line i at these, none of them a line before it."""
        copies, count = self._count[i], [*self._count]
        if copies == 0:
            return [Fraction(0)] * len(others)
        count[i] -= 1
        kept = [k for k, times in enumerate(count) if times > 0]
        bits = self._bits(kept, count)
        step = max(1, MOST_BITS // bits)
        lines = sum(count) + 1
        found = []
        for first in range(0, len(others), step):
            some = others[first : first + step]
            value = self._hafnian(kept, count, {j: 1 << bits * k for k, j in enumerate(some)}, i)
            for j, x in zip(some, digits_of(value, bits, len(some))):
                is_loop = j == i and self._has_loops
                pairs = Fraction(copies, 2) if j == i and not is_loop else copies
                found.append(pairs * x / Fraction(self._scale) ** (lines - (1 if is_loop else 2)))
        return found

    def _bits(self, kept: list[int], count: list[int]) -> int:
        """Of each term the lower line of a pair says which."""
        sums = [sum(abs(x) * max(count[j], 1) for j, x in self._rows[k].items() if j >= k) for k in kept]
        largest = math.prod(max(s, 1) ** count[k] for s, k in zip(sums, kept)) * max(count, default=1)
        bits: int = max(largest, 1).bit_length() + 2
        return bits

    def _hafnian(self, kept: list[int], count: list[int], powers: dict[int, int], i: int) -> int:
        """With the copy of line i that stands apart as the last line."""
        place = {k: at for at, k in enumerate(kept)}
        rows = [{place[j]: x for j, x in self._rows[k].items() if j in place} for k in kept]
        apart: dict[int, int] = {}
        for j, power in powers.items():
            if j in place:
                apart[place[j]] = rows[place[j]][len(kept)] = power
            if j == i and self._has_loops:
                apart[len(kept)] = power
        times = [*(count[k] for k in kept), 1]
        return self._plans.permanent([*rows, apart], times, times)
