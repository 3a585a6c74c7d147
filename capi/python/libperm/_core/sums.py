"""Sums of a sparse matrix' duplicates, without a rounding or an overflow."""

from __future__ import annotations

import math
import numbers
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from libperm._core.scalars import Kind, is_double


@dataclass(frozen=True)
class ExactComplex:
    """Sums parts that no doubles are equal to."""

    real: Fraction | float
    imag: Fraction | float

    def __complex__(self) -> complex:
        return complex(float(self.real), float(self.imag))


numbers.Complex.register(ExactComplex)


def sums(entries: Any, firsts: Any, kind: Kind) -> list[Any]:
    """Of the entries from each of `firsts` to the next; of others than integers as doubles where that is
    exact."""
    numbers_in, starts = entries.tolist(), [*firsts.tolist(), len(entries)]
    return [
        numbers_in[start] if end - start == 1 else _sum(numbers_in[start:end], kind)
        for start, end in zip(starts, starts[1:])
    ]


def _sum(terms: list[Any], kind: Kind) -> Any:
    if kind is Kind.INTEGER:
        return sum(map(int, terms))
    if kind is not Kind.COMPLEX:
        return _real(terms)
    re, im = _real([x.real for x in terms]), _real([x.imag for x in terms])
    return complex(re, im) if isinstance(re, float) and isinstance(im, float) else ExactComplex(re, im)


def _real(terms: list[Any]) -> Fraction | float:
    if not all(map(math.isfinite, terms)):  # the library says where
        return math.nan
    if all(type(x) is float for x in terms):
        with suppress(OverflowError):
            rounded = math.fsum(terms)  # once, so to 0 of nothing else
            if math.fsum([*terms, -rounded]) == 0:
                return rounded
    exact = sum(Fraction(*x.as_integer_ratio()) for x in terms)
    return float(exact) if is_double(exact) else Fraction(exact)
