"""Complex numbers that are doubles, sums and products of such, exactly: in arrays of objects."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(unsafe_hash=True)
class Dyadic:
    """(re + i im) 2^-places; of equal numbers that are doubles all three are the same."""

    re: int
    im: int = 0
    places: int = 0

    @classmethod
    def of(cls, x: complex) -> Dyadic:
        (re, of_re), (im, of_im) = x.real.as_integer_ratio(), x.imag.as_integer_ratio()
        places = max(of_re, of_im).bit_length() - 1
        return cls(re * ((1 << places) // of_re), im * ((1 << places) // of_im), places)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, int):
            other = Dyadic(other)
        if not isinstance(other, Dyadic):
            return NotImplemented
        if self.places < other.places:
            self, other = other, self
        shift = self.places - other.places
        return Dyadic(self.re + (other.re << shift), self.im + (other.im << shift), self.places)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, int):
            return Dyadic(self.re * other, self.im * other, self.places)
        if not isinstance(other, Dyadic):
            return NotImplemented
        a, b, c, d = self.re, self.im, other.re, other.im
        return Dyadic(a * c - b * d, a * d + b * c, self.places + other.places)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Any:
        return self * -1 + other

    def __truediv__(self, other: Any) -> Fraction:
        """Of real ones."""
        other = other if isinstance(other, Dyadic) else Dyadic(int(other))
        return Fraction(self.re << other.places, other.re << self.places)

    def conjugate(self) -> Dyadic:
        return Dyadic(self.re, -self.im, self.places)


def dyadic(array: Any) -> Any:
    """Of an array of doubles, or complex ones."""
    import numpy as np

    numbers = np.empty(array.size, object)
    numbers[:] = [Dyadic.of(x) for x in array.reshape(-1).tolist()]
    return numbers.reshape(array.shape)
