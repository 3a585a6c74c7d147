"""A Result as the number that it is: compared, and formatted as Python's numbers are."""

from __future__ import annotations

import re
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Union

from libperm._core.scalars import exact_of

Parts = tuple[Union[int, Fraction], Union[int, Fraction]]

_WHOLE_TYPES = "bcdnoxX"
_DIGITS_OF_A_DOUBLE = 15


def parts_of(text: str | None, mantissa: complex, exp2: int) -> Parts:
    """Returns real and imaginary part: of the text where it is exact, else mantissa * 2**exp2."""
    value = None if text is None else exact_of(text)
    if value is not None:
        return value, 0
    scale = Fraction(2) ** exp2
    return Fraction(mantissa.real) * scale, Fraction(mantissa.imag) * scale


def parts_of_number(other: Any) -> Parts | None:
    """Of one of Python's or numpy's; None of what is no finite number."""
    try:
        if hasattr(other, "as_integer_ratio"):  # int, float, Fraction, Decimal
            return Fraction(*map(int, other.as_integer_ratio())), 0
        if hasattr(other, "numerator"):  # numpy's integers
            return Fraction(int(other)), 0
        if hasattr(other, "imag") and not hasattr(other, "shape"):
            return Fraction(other.real), Fraction(other.imag)
        if hasattr(other, "shape") and other.shape == ():
            return Fraction(float(other.real)), Fraction(float(other.imag))
    except (OverflowError, ValueError, TypeError):  # infinities and NaN
        pass
    return None


def formatted(value: int | Fraction | float | None, text: str, spec: str) -> str:
    """Formats a real number; value: what Python has of it, None where no double is near."""
    found = re.search(r"\.(\d+)", spec)
    digits = int(found[1]) if found else 6
    kind = spec[-1] if spec[-1].isalpha() or spec[-1] == "%" else ""
    if isinstance(value, Fraction) and not kind:
        return format(text, spec)
    if isinstance(value, int) and kind in _WHOLE_TYPES:  # or none
        return format(value, spec)
    if value is not None and digits <= _DIGITS_OF_A_DOUBLE:
        try:
            return format(float(value), spec)
        except OverflowError:
            pass
    return format(_decimal(text, digits), spec)


def _decimal(text: str, digits: int) -> Decimal:
    numerator, slash, denominator = text.partition("/")
    if not slash:
        return Decimal(text)
    longest = len(numerator) + digits + 10  # before the point and behind it
    return Context(prec=longest).divide(Decimal(numerator), Decimal(denominator))
