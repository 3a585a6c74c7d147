"""Numbers that a permanent lies between for certain."""

from __future__ import annotations

import ctypes
import decimal
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from libperm._core import abi
from libperm._core.call import call
from libperm._core.library import library
from libperm._core.matrix import input_of, read
from libperm._core.options import Prepared

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from libperm._core.options import Options


@dataclass(frozen=True)
class Scaled:
    """mantissa * 2**exp2."""

    mantissa: float | complex
    exp2: int

    def __float__(self) -> float:
        """To nearest; inf or 0 beyond a double."""
        if isinstance(self.mantissa, complex):
            raise TypeError("a complex number: complex() of it")
        return _shifted(self.mantissa, self.exp2)

    def __complex__(self) -> complex:
        mantissa = complex(self.mantissa)
        return complex(_shifted(mantissa.real, self.exp2), _shifted(mantissa.imag, self.exp2))

    @property
    def log10(self) -> float:
        """Of the absolute value; -inf of 0."""
        size = abs(self.mantissa)
        return math.log10(size) + self.exp2 * math.log10(2) if size > 0 else -math.inf

    def __str__(self) -> str:
        if isinstance(self.mantissa, complex):
            return str(complex(self))
        if self.mantissa == 0:
            return "0"
        whole = math.floor(self.log10)
        digits, exponent = f"{10 ** (self.log10 - whole):.5e}".split("e")
        return f"{'-' if self.mantissa < 0 else ''}{digits}e{whole + int(exponent):+03d}"


@dataclass(frozen=True)
class Bound(Scaled):
    """mantissa * 2**exp2 is a number that perm(A) is not below, or not above."""

    mantissa: float
    method: str

    __str__ = object.__str__  # six digits to nearest might lie on the other side

    @property
    def exactly(self) -> Fraction:
        return Fraction(self.mantissa) * Fraction(2) ** self.exp2

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
    found = abi.Interval(ctypes.sizeof(abi.Interval))
    call(prepared, given.is_long, library.perm_bounds, given, prepared, ctypes.byref(found))
    return Interval(
        Bound(found.lower_mantissa, found.lower_exp2, found.lower_method.decode()),
        Bound(found.upper_mantissa, found.upper_exp2, found.upper_method.decode()),
        bool(found.exact),
        bool(found.of_magnitude),
        found.blocks,
        found.blocks_exact,
        found.seconds_total,
    )


def _shifted(mantissa: float, exp2: int) -> float:
    try:
        return math.ldexp(mantissa, exp2)
    except OverflowError:
        return math.copysign(math.inf, mantissa)
