"""Permanents that are too large to be computed, from samples, with a guarantee."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from libperm._core import abi
from libperm._core.call import call
from libperm._core.errors import InvalidOptionError
from libperm._core.intervals import Scaled
from libperm._core.library import library
from libperm._core.matrix import Input, read
from libperm._core.options import MULTIPLICITIES, Prepared
from libperm._core.partials import Task
from libperm._core.quantities import real, whole
from libperm._core.values import value_type_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from libperm._core.options import Options


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
        times: list[Any] = [options.get(name) for name in MULTIPLICITIES]
        self._given = Input(matrix, value_type_of(matrix.entries, matrix.kind), *times)
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
        found = _no_estimate()
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
        found, answer = _no_estimate(), abi.Answer(ctypes.sizeof(abi.Answer))
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


def _no_estimate() -> abi.Estimated:
    return abi.Estimated(ctypes.sizeof(abi.Estimated))


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
