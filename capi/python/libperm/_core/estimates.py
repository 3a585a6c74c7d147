"""What is told of a permanent that is too large to be computed: numbers that it lies between, estimates,
samples of its matchings."""

from __future__ import annotations

import ctypes
import decimal
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from libperm._core import abi
from libperm._core.call import call
from libperm._core.errors import InvalidOptionError
from libperm._core.handle import Task
from libperm._core.inputs import input_of, weighted_input
from libperm._core.lazy import np
from libperm._core.library import library
from libperm._core.matrix import read
from libperm._core.options import Options, Prepared, RunOptions, Unpack, real, seed_of, whole
from libperm._core.values import as_array

# ----------------------------------------------------------------
# Numbers that a permanent lies between for certain.


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


# ----------------------------------------------------------------
# Estimates from samples, with a guarantee.


@dataclass(frozen=True, repr=False)
class Estimate:
    """The permanent of a nonnegative matrix within a factor 1 +- epsilon with probability 1 - delta; of any
    other `value` is within `error` of it with that probability. Where `exact`, for certain."""

    value: Scaled
    lower: Scaled  # the permanent, or its real part, lies between both with probability 1 - delta
    upper: Scaled
    error: Scaled  # of additive estimates
    epsilon: float  # what is guaranteed; 0 where exact, inf where additive
    delta: float
    exact: bool
    additive: bool  # signs of rows and columns do not make all entries nonnegative
    samples: int
    accepted: int  # of these
    method: str
    blocks: int  # that the reductions left
    blocks_exact: int
    seconds: float

    def __float__(self) -> float:
        return float(self.value)

    def __complex__(self) -> complex:
        return complex(self.value)

    def __str__(self) -> str:
        if self.exact:
            return str(self.value)
        if self.additive:
            return f"{self.value} within {self.error}, probability {1 - self.delta:g}"
        return f"{self.value} within a factor 1 +- {self.epsilon:.3g}, probability {1 - self.delta:g}"

    def __repr__(self) -> str:
        return f"<libperm.Estimate {self}>"


def estimate(
    A: Any,
    epsilon: float = 0.01,
    delta: float = 0.05,
    method: str | None = None,
    samples: int = 0,
    **options: Unpack[Options],
) -> Estimate:
    """The permanent of a matrix that may be far too large to be computed (docs/estimates.md). What falls
    apart is computed exactly, the rest estimated from samples: of a matrix that is nonnegative,
    but for signs of rows and columns, within a factor 1 +- epsilon, with probability 1 - delta; of others
    with an additive error. The same numbers follow from the same option rng, and without it.

    method: "auto", "nesting", "rejection", "glynn".
    samples: at most so many; 0: as many as it takes.

    >>> import libperm
    >>> print(libperm.estimate([[1.0, 2.0], [3.0, 4.0]]))
    1.00000e+01
    >>> large = libperm.estimate([[1.0] * 50 for _ in range(50)], epsilon=0.1, without="merge")
    >>> abs(large.value.log10 - 64.483) < 0.05
    True
    """
    return Estimation(A, epsilon, delta, method, samples, **options).run()


class Estimation:
    """An estimate by any number of processes, each with the same arguments: the samples in numbered shards,
    and the bits of estimate() from what they came to.

    >>> import libperm
    >>> ones = [[1.0] * 50 for _ in range(50)]
    >>> one = libperm.Estimation(ones, epsilon=0.1, without="merge")
    >>> found = one.combine([one.run_shard(k) for k in range(one.shards())])
    >>> found.value == one.run().value
    True
    """

    def __init__(
        self,
        A: Any,
        epsilon: float = 0.01,
        delta: float = 0.05,
        method: str | None = None,
        samples: int = 0,
        **options: Unpack[Options],
    ) -> None:
        for name, number in (("epsilon", epsilon), ("delta", delta)):
            if not 0 < real(name, number) < 1:
                raise InvalidOptionError(f"{name} is {number}: it must be above 0 and below 1")
        samples = whole("samples", samples, 2**63 - 1)
        matrix, self._options = read(A).kept(), Prepared(options, None)
        self._given = input_of(matrix, options)
        self._wanted = abi.EstimateOpts(
            ctypes.sizeof(abi.EstimateOpts),
            epsilon,
            delta,
            self._options.struct.seed,
            None if method is None else method.encode(),
            samples,
        )
        self._task: Task | None = None

    def run(self) -> Estimate:
        """What estimate() returns."""
        found = abi.Estimated(ctypes.sizeof(abi.Estimated))
        wanted, place = ctypes.byref(self._wanted), ctypes.byref(found)
        call(self._options, True, library.perm_estimate, self._given, self._options, wanted, place)
        return _estimate_of(found)

    def shards(self) -> int:
        """How many are expected to be enough."""
        return self._planned().shards()

    def run_shard(self, number: int) -> bytes:
        """What one comes to, any number from 0 on, for combine() here or elsewhere."""
        return self._planned().run_shard(number)

    def combine(self, partials: Iterable[bytes]) -> Estimate:
        """From those of the shards 0 .. shards() - 1 at least, in any order; where their samples prove too
        few, more are drawn."""
        found, answer = abi.Estimated(ctypes.sizeof(abi.Estimated)), abi.Answer(ctypes.sizeof(abi.Answer))
        answer.estimate = ctypes.addressof(found)
        self._planned().combine(partials, answer)
        return _estimate_of(found)

    def _planned(self) -> Task:
        """The task, which is planned once, for all shards."""
        if self._task is None:
            make = library.perm_task_estimate
            places = self._given.address, self._options.address, ctypes.addressof(self._wanted)
            self._task = Task(self._options, lambda place: int(make(*places, place)))
        return self._task


def _estimate_of(found: abi.Estimated) -> Estimate:
    re, im = found.mantissa_re, found.mantissa_im
    return Estimate(
        Scaled(re if im == 0 else complex(re, im), found.exp2),
        Scaled(found.lower_mantissa, found.lower_exp2),
        Scaled(found.upper_mantissa, found.upper_exp2),
        Scaled(found.error_mantissa, found.error_exp2),
        found.epsilon,
        found.delta,
        bool(found.exact),
        bool(found.additive),
        found.samples,
        found.accepted,
        found.method.decode(),
        found.blocks,
        found.blocks_exact,
        found.seconds_total,
    )


# ----------------------------------------------------------------
# Matchings drawn with their exact probabilities.


def sample(
    A: Any,
    shots: int,
    rng: Any = None,
    row_unmatched: Any = None,
    col_unmatched: Any = None,
    *,
    function: str | None = None,
    **options: Unpack[RunOptions],
) -> Any:
    """Matchings of A, drawn independently, each with a probability proportional to the product of its
    entries (and of the weights of the lines that are not in it, which are as in marginals()): an int64 array
    (shots, rows) of each row's column, -1 for a row that stays unmatched; without numpy, lists.

    rng: a numpy Generator, or a seed for one, which gives the same samples again, for any number of threads.
    None: others each time, but with a checkpoint, which goes on with those it has.
    function="hafnian", "loop_hafnian": of a graph, given by its symmetric matrix: of each line the one that
    it is matched to, itself where it stays single by its loop.

    >>> import libperm
    >>> libperm.sample([[1, 2, 0], [0, 3, 1], [1, 0, 1]], 4, rng=1).tolist()
    [[0, 1, 2], [0, 1, 2], [1, 2, 0], [0, 1, 2]]
    """
    matrix, prepared = read(as_array(A)), Prepared({**options, "function": function}, None)
    given, _ = weighted_input(matrix, row_unmatched, col_unmatched, options, warns=False)
    drawn_from = 0 if rng is None and options.get("checkpoint") is not None else seed_of(rng)
    shots = whole("shots", shots, 2**40)
    rows = matrix.shape[0]
    prepared.require(8.0 * shots * rows, f"{shots} samples")
    flat = (ctypes.c_int64 * max(1, shots * rows))()
    call(prepared, True, library.perm_sample, given, prepared, shots, drawn_from, flat)
    try:
        return np.frombuffer(memoryview(flat), np.int64, shots * rows).reshape(shots, rows)
    except ImportError:
        return [list(flat[k * rows : (k + 1) * rows]) for k in range(shots)]
