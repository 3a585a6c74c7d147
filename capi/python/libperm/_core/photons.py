"""What comes into an interferometer, and how much photons have in common, read from what a caller gives."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Callable

from libperm._core.errors import InvalidMatrixError, InvalidOptionError
from libperm._core.lazy import np
from libperm._core.matrix import array_in
from libperm._core.values import array_of, as_array, as_doubles, is_array, items_of, kind_of_entries, plain

# ----------------------------------------------------------------
# Complex numbers that are doubles, sums and products of such, exactly: in arrays of objects.


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
    numbers = np.empty(array.size, object)
    numbers[:] = [Dyadic.of(x) for x in array.reshape(-1).tolist()]
    return numbers.reshape(array.shape)


# ----------------------------------------------------------------
# Photons and their states.

MOST_PHOTONS = 1 << 20
_UNITARY = 1e-6  # as samples have it
_OF_STATES = 1e-9


@dataclass(frozen=True)
class Experiment:
    """Photons that come in, (modes, photons) amplitudes to leave by each mode, doubles or Fractions."""

    amplitudes: Any
    came: Any  # the mode of each
    transmission: Any
    overlaps: Any  # None: no two can be told apart
    absorbs: bool  # what the amplitudes leave to be lost is asked for too

    @property
    def modes(self) -> int:
        return int(self.amplitudes.shape[0])

    @property
    def photons(self) -> int:
        return len(self.came)

    @property
    def is_exact(self) -> bool:
        return bool(self.amplitudes.dtype == object)

    def in_long_doubles(self) -> Experiment:
        return self._of_numbers(lambda x: x.astype("G" if x.dtype.kind == "c" else "g"))

    def exactly(self) -> Experiment:
        """In numbers that do not round."""
        return self._of_numbers(dyadic)

    def _of_numbers(self, converted: Callable[[Any], Any]) -> Experiment:
        eta = 1 if self.transmission == 1 else converted(np.array([self.transmission]))[0]
        overlaps = None if self.overlaps is None else converted(self.overlaps)
        return replace(self, amplitudes=converted(self.amplitudes), transmission=eta, overlaps=overlaps)

    def kinds(self) -> tuple[list[int], tuple[int, ...]]:
        """The first photon of each kind, those that come in alike and overlap alike with all; how many are of
        each."""
        return kinds_of(self.came, self.overlaps)


def kinds_of(came: Any, overlaps: Any) -> tuple[list[int], tuple[int, ...]]:
    keys = [
        (mode, *(() if overlaps is None else overlaps[k].tolist())) for k, mode in enumerate(came.tolist())
    ]
    copies = Counter(keys)
    return [keys.index(key) for key in copies], tuple(copies.values())


def modes_in(photons: Any, occupation: Any, inputs: int) -> Any:
    """The mode of each photon."""
    if (photons is None) == (occupation is None):
        raise InvalidOptionError("either photons, the mode of each, or occupation, their number in each mode")
    if isinstance(photons, (int, np.integer)):
        if not 0 <= photons <= inputs:
            raise InvalidOptionError(
                f"{photons} photons do not come in by the first of {inputs} modes, one in each"
            )
        return np.arange(photons, dtype=np.int64)
    name, given = ("photons", photons) if occupation is None else ("occupation", occupation)
    numbers = np.asarray(items_of(as_array(given), f"{name}: whole numbers"))
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise InvalidOptionError(f"{name} is a list of whole numbers")
    if occupation is None:
        outside = numbers[(numbers < 0) | (numbers >= inputs)]
        if len(outside) > 0:
            raise InvalidOptionError(f"a photon comes in by mode {outside[0]}: 0 to {inputs - 1} are there")
        return np.ascontiguousarray(numbers, np.int64)
    if len(numbers) != inputs:
        raise InvalidMatrixError(f"occupation has {len(numbers)} numbers, and there are {inputs} modes in")
    if (numbers < 0).any() or (numbers > MOST_PHOTONS).any():
        raise InvalidOptionError(f"occupation: 0 to {MOST_PHOTONS} photons in a mode")
    return np.repeat(np.arange(inputs, dtype=np.int64), numbers)


def outcomes_in(given: Any, modes: int) -> Any:
    """How many photons leave by each mode, (count, modes), int64."""
    try:
        rows = np.asarray(as_array(given))
    except ValueError:  # lists of different lengths
        rows = np.asarray(None)
    if rows.ndim == 2 and rows.shape[1] == modes and rows.dtype.kind in "iu":
        if rows.size and (rows.min() < 0 or rows.max() > 2**31):
            raise InvalidOptionError("outcomes: a number of photons is negative, or too large")
        return rows.astype(np.int64)
    if rows.size == 0 and rows.ndim <= 2:
        return np.zeros((0, modes), np.int64)
    raise InvalidOptionError(
        f"outcomes are lists of whole numbers, how many photons leave by each of {modes} modes: these are "
        f"of the shape {rows.shape}; a list of modes becomes numpy.bincount(list, minlength={modes})"
    )


def experiment(
    U: Any, photons: Any, occupation: Any, transmission: Any, overlaps: Any, absorbs: bool
) -> Experiment:
    """Reads it; of integers and Fractions it is exact, where all that is given is."""
    matrix = _numbers(array_in(U), "U")
    if matrix.ndim != 2:
        raise TypeError(f"an array of {matrix.ndim} dimensions is no matrix of amplitudes")
    came = modes_in(photons, occupation, matrix.shape[1])
    if len(matrix) == 0 and len(came) > 0:
        raise InvalidMatrixError("amplitudes of no mode out, and photons that come in")
    eta = _transmission(transmission)
    shared = _shared(overlaps, len(came))
    parts = [part for part in (matrix, eta, shared) if part is not None]
    if not all(part.dtype == object for part in parts):
        try:
            matrix, eta, shared = (
                part if part is None else as_doubles(part) for part in (matrix, eta, shared)
            )
        except TypeError:
            raise TypeError(
                "U, transmission and overlaps: Fractions all, or none; np.array(U, float) rounds them"
            ) from None
    amplitudes = np.ascontiguousarray(matrix[:, came])
    _require_contraction(matrix, came)
    return Experiment(amplitudes, came, eta[()], shared, absorbs)


def _numbers(given: Any, name: str) -> Any:
    """Finite numbers: an array of Fractions, or of doubles."""
    array = array_of(given)
    flat = plain(array.reshape(-1))
    if len(flat) and kind_of_entries(flat).is_exact:
        exact = [Fraction(x) for x in (flat.tolist() if is_array(flat) else flat)]
        return np.array([*exact, None], object)[:-1].reshape(array.shape)
    doubles = as_doubles(array)
    if not np.isfinite(doubles).all():
        raise InvalidMatrixError(f"{name} holds a number that is NaN or infinite")
    return doubles


def _rounded(numbers: Any) -> Any:
    return numbers.astype(float) if numbers.dtype == object else numbers


def _transmission(given: Any) -> Any:
    eta = _numbers(given, "transmission")
    if eta.ndim != 0 or eta.dtype.kind == "c" or not 0 <= eta[()] <= 1:
        raise InvalidOptionError(
            f"transmission is {given!r}: a number from 0 to 1, each photon's to arrive; where modes "
            "out differ, give numpy.diag(numpy.sqrt(eta)) @ U instead, with absorbed=True"
        )
    return eta


def _require_contraction(matrix: Any, came: Any) -> None:
    used = _rounded(matrix[:, np.unique(came)])
    largest = float(np.linalg.norm(used, 2)) if used.size else 0.0
    if not largest <= 1 + _UNITARY:
        raise InvalidMatrixError(
            f"the amplitudes amplify, by {largest:.6g}: a unitary matrix is expected, or columns of one, or "
            "what is left of it where modes absorb"
        )


def _shared(overlaps: Any, photons: int) -> Any:
    """The Gram matrix of the photons' states, Hermitian; None where all are 1."""
    if overlaps is None:
        return None
    gram = _numbers(array_in(overlaps) if hasattr(overlaps, "__len__") else overlaps, "overlaps")
    if gram.ndim == 0:
        same, one = gram[()], gram[()] * 0 + 1
        gram = np.array(
            [[one if i == k else same for i in range(photons)] for k in range(photons)], gram.dtype
        )
        gram = gram.reshape(photons, photons)
    if gram.shape != (photons, photons):
        raise InvalidMatrixError(
            f"overlaps have the shape {gram.shape}: {photons} x {photons} are expected, of each two photons"
        )
    doubles = _rounded(gram)
    if not (np.abs(doubles - doubles.conj().T) <= _OF_STATES).all():
        raise InvalidMatrixError("overlaps[k, l] is not the conjugate of overlaps[l, k]")
    if not (np.abs(np.diag(doubles) - 1) <= _OF_STATES).all():
        raise InvalidMatrixError("overlaps[k, k] is not 1: a state's overlap with itself is")
    gram = gram if gram.dtype == object else (gram + gram.conj().T) / 2
    if photons and np.linalg.eigvalsh(_rounded(gram))[0] < -_OF_STATES * photons:
        raise InvalidMatrixError("overlaps have a negative eigenvalue: no states overlap like that")
    return None if (gram == 1).all() else gram
