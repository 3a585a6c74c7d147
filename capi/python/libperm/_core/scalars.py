"""Python's numbers as the library's, and back; exact ones as text, of any length, and their sums."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, localcontext
from enum import IntEnum
from fractions import Fraction
from typing import Any, Union

Number = Union[int, Fraction, float, complex]


class Kind(IntEnum):
    """What a matrix's entries are, and so its permanent. A plan takes values of its kind or a smaller one."""

    INTEGER = 0
    RATIONAL = 1
    REAL = 2
    COMPLEX = 3

    @property
    def is_exact(self) -> bool:
        return self <= Kind.RATIONAL


def kind_of(entry: Any) -> Kind:
    name = type(entry).__name__ if type(entry).__module__ == "numpy" else ""
    if name in ("timedelta64", "float16"):  # numbers to Python: a time, and one of three digits
        raise TypeError(f"{entry!r} is of numpy's type {name}: say what number it is, e.g. by float()")
    if isinstance(entry, numbers.Integral):  # bool and numpy's integers among them
        return Kind.INTEGER
    if isinstance(entry, (numbers.Rational, Decimal)):
        return Kind.RATIONAL
    if isinstance(entry, numbers.Real):
        return Kind.REAL
    if isinstance(entry, numbers.Complex):
        return Kind.COMPLEX
    if name.startswith("bool"):
        return Kind.INTEGER
    raise TypeError(f"{entry!r} is no number: entries are int, float, complex, Fraction or Decimal")


_OWN = {int, float, complex, bool, Fraction}


def numbers_of(entries: list[Any]) -> list[Any]:
    """Converts integers and fractions of sympy, flint and others to Python's; all else stays as it is."""
    if all(type(x) in _OWN for x in entries):
        return entries
    return [x if type(x) in _OWN else _number_of(x) for x in entries]


def _number_of(entry: Any) -> Any:
    if isinstance(entry, Decimal):
        return Decimal("nan") if entry.is_snan() else entry  # which cannot even be compared
    if isinstance(entry, numbers.Integral) and type(entry).__name__ != "timedelta64":
        return int(entry)  # numpy's are equal to a double that they round to
    if isinstance(entry, numbers.Integral) or hasattr(entry, "as_integer_ratio"):
        return entry
    if hasattr(entry, "__index__") and not getattr(entry, "ndim", 0):
        return operator.index(entry)
    if hasattr(entry, "numerator") and hasattr(entry, "denominator"):
        return Fraction(int(entry.numerator), int(entry.denominator))
    return entry


def kind_of_all(entries: Iterable[Any]) -> Kind:
    return max(map(kind_of, entries), default=Kind.INTEGER)


def is_double(entry: Any) -> bool:
    """Whether it can be passed as a double, or as two, and stays what it is."""
    if isinstance(entry, (float, complex)):
        return True
    if isinstance(entry, numbers.Complex) and not isinstance(entry, numbers.Real):
        return is_double(entry.real) and is_double(entry.imag)
    try:
        return bool(float(entry) == entry)
    except OverflowError:
        return False


_MOST_DIGITS = 10**7  # of a decimal that is written out; the library says what it takes of larger exponents


def text_of(entry: Any) -> bytes:
    """Writes a number as PERM_VALUE_TEXT takes it, without loss."""
    if isinstance(entry, numbers.Complex) and not isinstance(entry, numbers.Real):
        return text_of(entry.real) + b" " + text_of(entry.imag)
    if isinstance(entry, Decimal):
        is_short = entry.is_finite() and abs(entry.adjusted()) <= _MOST_DIGITS
        return format(entry, "f" if is_short else "").encode()
    try:
        return text_of_int(int(entry)) if entry == int(entry) else _text_of_ratio(entry)
    except (ValueError, OverflowError):  # NaN and infinities: the library says what is wrong with them
        return str(entry).encode()


def _text_of_ratio(entry: Any) -> bytes:
    if not hasattr(entry, "as_integer_ratio"):  # sympy's Float, mpmath's mpf
        raise TypeError(
            f"{entry!r} has no exact value that can be told: float({entry!r}) is the nearest double"
        )
    return b"/".join(map(text_of_int, entry.as_integer_ratio()))


# Of n digits Decimal(int) and int(text) take n^2 steps: long ones are put together from pieces.
_PIECE = 600  # digits that int(text) takes whatever its limit
_BYTES = 1024
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def text_of_int(x: int) -> bytes:
    if x.bit_length() <= 8 * _BYTES:
        return str(Decimal(x)).encode()  # str(x) refuses long ones
    whole = abs(x).to_bytes(x.bit_length() // 8 + 1, "little")
    parts = (whole[at : at + _BYTES] for at in range(0, len(whole), _BYTES))
    with localcontext(_EXACT):
        pieces = [Decimal(int.from_bytes(part, "little")) for part in parts]
        digits = str(_joined(pieces, Decimal(1 << 8 * _BYTES)))
    return (digits if x > 0 else f"-{digits}").encode()


def int_of(text: str) -> int:
    digits = text.lstrip("-")
    pieces = [int(digits[max(0, end - _PIECE) : end]) for end in range(len(digits), 0, -_PIECE)]
    value: int = _joined(pieces, 10**_PIECE)
    return -value if text.startswith("-") else value


def _joined(pieces: list[Any], power: Any) -> Any:
    """The sum of the k-th times power**k: neighbours are joined, then neighbours of these."""
    while len(pieces) > 1:
        highest = pieces[2 * (len(pieces) // 2) :]
        pieces = [low + high * power for low, high in zip(pieces[::2], pieces[1::2])] + highest
        power *= power
    return pieces[0]


def exact_of(text: str) -> int | Fraction | None:
    """Reads a result's text, if it is an integer or a fraction; None otherwise."""
    numerator, slash, denominator = text.partition("/")
    if not (numerator.lstrip("-").isdigit() and denominator.isdigit() == bool(slash)):
        return None
    return Fraction(int_of(numerator), int_of(denominator)) if slash else int_of(numerator)


# ----------------------------------------------------------------
# Sums of a sparse matrix' duplicates, without a rounding or an overflow.


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
