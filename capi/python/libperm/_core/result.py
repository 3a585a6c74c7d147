"""perm_result as Python's numbers, and a Result as the number that it is."""

from __future__ import annotations

import ctypes
import math
import numbers
import operator
import re
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from html import escape
from typing import Any, Callable, Union

from libperm._core import abi
from libperm._core.errors import PrecisionWarning, warn_caller
from libperm._core.lazy import np
from libperm._core.library import library
from libperm._core.scalars import Kind, Number, exact_of

# ----------------------------------------------------------------
# Compared, and formatted as Python's numbers are.

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


# ----------------------------------------------------------------
# What a call tells.

SIZE = ctypes.sizeof(abi.Result)


class Answer:
    """A perm_result that frees its text."""

    __slots__ = ("_as_parameter_", "address", "struct")

    def __init__(self) -> None:
        self.struct = abi.Result(SIZE)
        self.address = self._as_parameter_ = ctypes.addressof(self.struct)

    def __del__(self, _clear: Any = library.perm_result_clear) -> None:
        _clear(self.address)

    def text(self) -> str:
        return text_of_result(self.struct)

    def number(self, kind: Kind, wants_exact: bool, as_numpy: bool) -> Number:
        """The number, with a warning where it misses the tolerance."""
        warn_if_missed(self.struct)
        return value_of(self.struct, kind, wants_exact, as_numpy)


def text_of_result(struct: abi.Result | Result) -> str:
    text = struct.text  # of a perm_result its address
    return text if isinstance(text, str) else ctypes.string_at(text).decode() if text else ""


def value_of(
    struct: abi.Result | Result,
    kind: Kind,
    wants_exact: bool,
    as_numpy: bool = False,
    or_infinity: bool = False,
) -> Number:
    """Returns the number of a matrix of that kind. The type follows from what was asked, not from the value.
    as_numpy: floats and complex numbers as numpy's. or_infinity: inf, or 0, where no double is near."""
    if struct.exact and (wants_exact or kind.is_exact):
        written = text_of_result(struct)  # a batch writes down what no double holds
        if written or kind is Kind.COMPLEX:
            value = exact_of(written)
        else:
            value = int(struct.re) if kind is Kind.INTEGER else Fraction(struct.re)
        if value is not None:
            return value if kind is Kind.INTEGER else Fraction(value)
    re: float = struct.re
    im: float = struct.im
    is_too_large = math.isinf(re) or math.isinf(im)
    if not or_infinity and (is_too_large or re == 0 == im and (struct.mantissa_re or struct.mantissa_im)):
        raise OverflowError(
            f"the number is too {'large for' if is_too_large else 'close to 0 for'} a double, about "
            f"2**{struct.exp2}: what compute(), or full=True, returns has its mantissa and exp2"
        )
    number = complex(re, im) if kind is Kind.COMPLEX else re
    return in_numpy(number) if as_numpy else number


def value_or_infinity(result: Result) -> Number:
    """Returns its value; inf, or 0, where no double is near, and what came with it may be in range."""
    return value_of(result, result._kind, result._wants_exact, result._as_numpy, or_infinity=True)


def in_numpy(value: float | complex) -> Any:
    return np.complex128(value) if isinstance(value, complex) else np.float64(value)


def warn_if_missed(struct: abi.Result | Result) -> None:
    if not struct.tolerance_met:
        warn_caller(
            f"the relative error bound is {struct.rel_error_bound:.2g}, more than the tolerance; "
            'precision="dd" or "exact" tells more digits, libperm.compute() what is certain',
            PrecisionWarning,
        )


def _comparison(of: Callable[[float, float], bool]) -> Callable[[Result, object], bool]:
    def compared(self: Result, other: object) -> bool:
        order = self._order(other)
        return NotImplemented if order is None else of(order, 0)

    return compared


@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """Everything that is known of a permanent: mantissa * 2**exp2, its bounds, and how it was computed.

    The fields are those of perm_result in perm.h. It compares and formats as the number that it is, also
    where no double is near: r == 10, r < other, f"{r:.3e}"; str(r) is the text.

    >>> import libperm
    >>> r = libperm.compute([[1e200, 1.0], [1.0, 1e200]])
    >>> r.text, r.exact, r.rel_error_bound < 1e-15
    ('9.9999999999999997e+399', False, True)
    >>> f"{r:.3e}", round(r.log10, 12), r > 1e308
    ('1.000e+400', 400.0, True)
    >>> float(libperm.compute([[1.0, 2.0], [3.0, 4.0]]))
    10.0
    """

    re: float  # inf or 0 when beyond a double
    im: float
    mantissa_re: float
    mantissa_im: float
    exp2: int
    text: str  # all digits that are known
    rel_error_bound: float  # for certain, of the text
    abs_error_bound: float
    exact: bool
    tolerance_met: bool
    engine: str
    device: str
    n: int
    nnz: int
    threads: int
    transposed: bool
    subsets: float
    states: float
    peak_states: float
    operations: float
    peak_bytes: int
    seconds_total: float
    seconds_check: float
    seconds_plan: float
    seconds_run: float
    blocks: int
    blocks_computed: int
    seconds_compile: float
    kernels_compiled: int
    slices: int
    entry_rounding: float  # what rounding the entries to doubles may have changed, relatively; 0 in batches
    _kind: Kind = field(repr=False)
    _wants_exact: bool = field(repr=False)
    _as_numpy: bool = field(repr=False)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        how = f"{self._certainty()}, by {self.engine} in {_duration(self.seconds)}"
        return f"<libperm.Result {_shortened(self.text)}, {how}>"

    def _repr_html_(self) -> str:
        """Shows it in notebooks."""
        size = f"n = {self.n}, {self.nnz} entries"
        rows = {
            "permanent": f"<code>{_shortened(self.text)}</code>",
            "certain": escape(self._certainty()),
            "computed by": f"{self.engine} on {self.device}, {self.threads} threads, of {size}",
            "time": _duration(self.seconds),
        }
        cells = (f"<tr><th>{name}</th><td>{what}</td></tr>" for name, what in rows.items())
        return f"<table>{''.join(cells)}</table>"

    def _certainty(self) -> str:
        certain = "exact" if self.exact else f"relative error at most {self.rel_error_bound:.1e}"
        return certain + (
            ", but the entries' own rounding may change all digits" if self.entry_rounding >= 1 else ""
        )

    @property
    def value(self) -> Number:
        """What libperm.permanent() returns; it raises OverflowError where no double is near."""
        return value_of(self, self._kind, self._wants_exact, self._as_numpy)

    @property
    def mantissa(self) -> float | complex:
        return complex(self.mantissa_re, self.mantissa_im) if self._kind is Kind.COMPLEX else self.mantissa_re

    @property
    def log10(self) -> float:
        """Of the absolute value, also of one beyond a double; -inf of 0."""
        size = abs(self.mantissa)
        return math.log10(size) + self.exp2 * math.log10(2) if size > 0 else -math.inf

    @property
    def seconds(self) -> float:
        return self.seconds_total

    def _parts(self) -> Parts:
        is_told = self.exact and (self._wants_exact or self._kind.is_exact)
        mantissa = complex(self.mantissa_re, self.mantissa_im)
        return parts_of(self.text if is_told else None, mantissa, self.exp2)

    def __eq__(self, other: object) -> bool:
        """Whether the numbers are the same; math.isclose() tells of those within their bounds."""
        theirs = other._parts() if isinstance(other, Result) else parts_of_number(other)
        return NotImplemented if theirs is None and not _is_number(other) else self._parts() == theirs

    def __hash__(self) -> int:
        re, im = self._parts()
        if im == 0:
            return hash(re)
        try:
            return hash(complex(self))
        except OverflowError:
            return hash((re, im))

    def _order(self, other: object) -> float | None:
        """Below 0 where it is less, above 0 where more, NaN beside NaN; None where they have no order."""
        re, im = self._parts()
        if isinstance(other, float) and not math.isfinite(other):
            return None if im != 0 else -other
        theirs = other._parts() if isinstance(other, Result) else parts_of_number(other)
        if theirs is None or im != 0 or theirs[1] != 0:
            return None
        return (re > theirs[0]) - (re < theirs[0])

    __lt__, __le__, __gt__, __ge__ = map(_comparison, (operator.lt, operator.le, operator.gt, operator.ge))

    def __format__(self, spec: str) -> str:
        """As Python's numbers: of integers all of theirs, of others e, f, g and %."""
        if not spec:
            return str(self)
        if self._kind is Kind.COMPLEX:
            return format(complex(self), spec)
        try:
            value: Any = self.value
        except OverflowError:
            value = None
        return formatted(value, self.text, spec)

    def __int__(self) -> int:
        """Every digit of an exact integer; of others the whole part of the text's value."""
        value: Number | None = exact_of(self.text) if self.exact else None
        if value is None:
            value = self.value
        if isinstance(value, complex):
            raise TypeError(f"{self.text} is not real")
        return int(value)

    def __float__(self) -> float:
        value = self.__complex__()
        if value.imag != 0:
            raise TypeError(f"{self.text} is not real")
        return value.real

    def __complex__(self) -> complex:
        return complex(value_of(self, Kind.COMPLEX, False))

    def __getstate__(self) -> dict[str, Any]:
        """For pickles, which name no module of the core."""
        return {**self.__dict__, "_kind": self._kind.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _kind=Kind[state["_kind"]])


def _is_number(other: object) -> bool:
    return isinstance(other, numbers.Number)


def _shortened(text: str) -> str:
    """Shortens a long text to both of its ends."""
    return text if len(text) <= 60 else f"{text[:24]}...{text[-24:]} ({len(text)} characters)"


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


@dataclass(frozen=True)
class Gradient:
    """A permanent's derivatives by the entries, and for each a certain bound of its absolute error; of a
    batch an array of them.

    The bound is 0 for what is exact, inf for what is beyond a double."""

    derivatives: Any
    error_bounds: Any  # floats, in the same form
    permanent: Any  # from the same run, in doubles: a Result, or of a batch a libperm.Batch


_GIVEN = {name for name, *_ in abi.Result._fields_} & Result.__dataclass_fields__.keys() - {"text"}
_FLAGS = {"exact", "tolerance_met", "transposed"}
_WORDS = {"engine", "device"}


def result_of(answer: Answer, kind: Kind, wants_exact: bool, as_numpy: bool = False) -> Result:
    fields: dict[str, Any] = {name: getattr(answer.struct, name) for name in _GIVEN}
    fields.update((name, bool(fields[name])) for name in _FLAGS)
    fields.update((name, fields[name].decode()) for name in _WORDS)
    fields.update(text=answer.text(), _kind=kind, _wants_exact=wants_exact, _as_numpy=as_numpy)
    result = Result.__new__(Result)
    result.__dict__.update(fields)  # a frozen one's __init__ takes three times as long
    return result
