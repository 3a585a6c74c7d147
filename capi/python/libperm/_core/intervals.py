"""Numbers that a permanent lies between for certain."""

from __future__ import annotations

import ctypes
import decimal
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from libperm._core import abi
from libperm._core.call import run
from libperm._core.library import check, library
from libperm._core.matrix import input_of, read
from libperm._core.options import Prepared

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from libperm._core.options import Options


@dataclass(frozen=True)
class Bound:
    """mantissa * 2**exp2 is a number that perm(A) is not below, or not above."""

    mantissa: float
    exp2: int
    method: str

    def __float__(self) -> float:
        """Rounds to the nearest double; inf or 0 where it lies beyond all of them."""
        try:
            return math.ldexp(self.mantissa, self.exp2)
        except OverflowError:
            return math.inf

    @property
    def exactly(self) -> Fraction:
        shift = Fraction(2) ** abs(self.exp2)
        return Fraction(self.mantissa) * (shift if self.exp2 >= 0 else 1 / shift)

    @property
    def log10(self) -> float:
        """Returns its logarithm; -inf where it is 0."""
        if self.mantissa == 0:
            return -math.inf
        return math.log10(self.mantissa) + self.exp2 * math.log10(2)

    def rounded(self, rounding: str) -> str:
        """Writes six digits, rounded as the module decimal calls it."""
        if self.mantissa == 0:
            return "0"
        wide = decimal.Context(prec=40, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
        number = wide.multiply(decimal.Decimal(self.mantissa), wide.power(decimal.Decimal(2), self.exp2))
        wide.prec, wide.rounding = 6, rounding
        return f"{wide.plus(number):.5e}"


@dataclass(frozen=True, repr=False)
class Interval:
    """What perm(A), or ``|perm(A)|``, lies between: rigorous bounds, with all roundings."""

    lower: Bound
    upper: Bound
    exact: bool  # both are perm(A)
    of_magnitude: bool  # some entry is negative or complex: of ``|perm(A)|``
    blocks: int  # that the reductions left
    blocks_exact: int  # of these: computed, being quick
    seconds: float

    @property
    def lower_method(self) -> str:
        return self.lower.method

    @property
    def upper_method(self) -> str:
        return self.upper.method

    def __str__(self) -> str:
        what = "|perm|" if self.of_magnitude else "perm"
        lower, upper = self.lower.rounded(decimal.ROUND_FLOOR), self.upper.rounded(decimal.ROUND_CEILING)
        if not self.exact:
            return f"{lower} <= {what} <= {upper}"
        number = float(self.upper)
        has_room = math.isfinite(number) and (number != 0 or self.upper.mantissa == 0)
        return f"{what} = {f'{number:g}' if has_room else self.upper.rounded(decimal.ROUND_HALF_EVEN)}"

    def __repr__(self) -> str:
        return f"<libperm.Interval {self}>"


def bounds(A: Any, **options: Unpack[Options]) -> Interval:
    """Numbers that perm(A) lies between for certain, in milliseconds, whatever the size: docs/estimates.md.
    Of a matrix with negative or complex entries: of ``|perm(A)|``.

    >>> import libperm
    >>> float(libperm.bounds([[1.0, 2.0], [3.0, 4.0]]).lower)
    10.0
    >>> wide = libperm.bounds([[1.0 + (i * j) % 7 for j in range(50)] for i in range(50)])
    >>> wide.lower.log10 < wide.upper.log10 < wide.lower.log10 + 2
    True
    """
    matrix, prepared = read(A), Prepared(options, None)
    given = input_of(matrix, options)
    found, function = abi.Interval(ctypes.sizeof(abi.Interval)), library.perm_bounds
    places = given.address, prepared.address, ctypes.addressof(found)
    run(prepared, given.is_long, lambda: check(function(*places)))
    return Interval(
        Bound(found.lower_mantissa, found.lower_exp2, found.lower_method.decode()),
        Bound(found.upper_mantissa, found.upper_exp2, found.upper_method.decode()),
        bool(found.exact),
        bool(found.of_magnitude),
        found.blocks,
        found.blocks_exact,
        found.seconds_total,
    )
