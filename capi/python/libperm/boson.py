"""Where photons leave an interferometer: drawn from the exact law, or the law itself."""

from __future__ import annotations

import ctypes
from typing import Any

from libperm._core import abi, fock
from libperm._core.call import call
from libperm._core.distribution import Distribution, Limits, of_all, of_given
from libperm._core.lazy import np
from libperm._core.library import library
from libperm._core.matrix import array_in
from libperm._core.options import Prepared, RunOptions, Unpack, seed_of, whole
from libperm._core.photons import MOST_PHOTONS, experiment, modes_in, outcomes_in
from libperm._core.values import as_doubles

__all__ = ["Distribution", "distribution", "outcomes", "probability", "sample"]

Distribution.__module__ = __name__  # where it is public


def sample(
    U: Any,
    photons: Any = None,
    shots: int = 1,
    rng: Any = None,
    *,
    occupation: Any = None,
    **options: Unpack[RunOptions],
) -> Any:
    """Samples of boson sampling (Clifford and Clifford), an int64 array (shots, modes): how many photons
    leave by each mode. A photon of mode j in leaves by mode z with amplitude U[z, j]; U is unitary, or has
    orthonormal columns; an array, lists or scipy.sparse.

    photons: the modes that they come in by, one for each photon, in any order and repeated where several
    come together; or an int k, one photon in each of the first k modes. Instead of it occupation: how many
    photons come in by each mode.
    At most 41 photons, and 64 where few of them reach the same modes, as in a shallow circuit.
    rng: a numpy Generator, or a seed for one, which gives the same samples again, for any number of threads.
    None: others each time, but with a checkpoint, which goes on with those it has.
    Options: threads, limits, progress, checkpoint.

    >>> import libperm.boson, numpy as np
    >>> splitter = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    >>> samples = libperm.boson.sample(splitter, [0, 1], shots=1000, rng=1)
    >>> (samples == 1).any()  # Hong, Ou and Mandel: both leave by the same mode
    np.False_
    """
    amplitudes = np.ascontiguousarray(as_doubles(array_in(U)), np.complex128)
    if amplitudes.ndim != 2:
        raise TypeError(f"an array of {amplitudes.ndim} dimensions is no matrix of amplitudes")
    modes, inputs = amplitudes.shape
    came = modes_in(photons, occupation, inputs)
    count = whole("shots", shots, 2**40)
    drawn_from = 0 if rng is None and options.get("checkpoint") is not None else seed_of(rng)
    prepared = Prepared(dict(options), None)
    prepared.require(8.0 * count * modes, f"{count} samples")
    samples = np.zeros((count, modes), np.int64)
    struct = abi.Boson(
        struct_size=ctypes.sizeof(abi.Boson),
        modes=modes,
        inputs=inputs,
        amplitudes=amplitudes.ctypes.data,
        photons=len(came),
        photon_modes=came.ctypes.data,
    )
    given, found = ctypes.byref(struct), samples.ctypes.data
    call(prepared, True, library.perm_sample_photons, given, prepared, count, drawn_from, found)
    return samples


def distribution(
    U: Any,
    photons: Any = None,
    outcomes: Any = None,
    *,
    occupation: Any = None,
    transmission: Any = 1,
    overlaps: Any = None,
    absorbed: bool = False,
    memory_limit: int | str | None = None,
    time_limit: float | str | None = None,
) -> Distribution:
    """How likely each way is that photons leave by, a libperm.boson.Distribution: outcomes, an array (count,
    modes) of how many leave by each mode; probabilities; and error_bounds, certain, of the amplitudes as they
    are given: within 1e-9 of the probability, or of the mean of all, where that takes no more than another
    minute; else a PrecisionWarning. Of integers and Fractions the probabilities are Fractions, exactly.

    U, photons, occupation: as for sample(), of any number. Where modes absorb, U is less than unitary: what
    is missing from 1 is lost; with absorbed=True outcomes of fewer photons follow those of all.
    transmission: of each photon to arrive; below 1 outcomes of fewer photons follow too.
    outcomes: those wanted; None is all, in the order of outcomes().
    overlaps: of the photons' states, overlaps[k, l] = <k|l>, in the order of photons (of occupation: mode by
    mode); or one number for all pairs. None: no two can be told apart, as all 1 says; 0: all can.
    memory_limit, time_limit: as in libperm.RunOptions.

    >>> import libperm, numpy as np
    >>> splitter = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    >>> law = libperm.boson.distribution(splitter, [0, 1], overlaps=0.5)
    >>> [(tuple(out), round(p, 12)) for out, p in zip(law.outcomes.tolist(), law.probabilities.tolist())]
    [((2, 0), 0.3125), ((1, 1), 0.375), ((0, 2), 0.3125)]
    """
    e = experiment(U, photons, occupation, transmission, overlaps, bool(absorbed))
    limits = Limits.of(memory_limit, time_limit)
    return of_all(e, limits) if outcomes is None else of_given(e, outcomes_in(outcomes, e.modes), limits)


def probability(U: Any, photons: Any, outcome: Any, *, full: bool = False, **options: Any) -> Any:
    """Of one way to leave, how many photons by each mode: a float, or a Fraction; full=True: a Distribution
    of it alone, with the bound. Options: those of distribution(), which has many at once.

    >>> import libperm, numpy as np
    >>> splitter = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    >>> round(libperm.boson.probability(splitter, [0, 1], [1, 1]), 12)  # Hong, Ou and Mandel
    0.0
    >>> libperm.boson.probability([[1, 0], [0, 1]], [0, 1, 1], [1, 2])
    Fraction(1, 1)
    """
    found = distribution(U, photons, [outcome], **options)
    return found if full else found.probabilities.tolist()[0]


def outcomes(modes: int, photons: int, *, lost: bool = False) -> Any:
    """All ways that so many photons leave by so many modes, in the order of distribution(): an int64 array
    (count, modes). By the last mode's number of photons, then by the one before it. lost=True: with those of
    fewer photons behind.

    >>> import libperm
    >>> libperm.boson.outcomes(2, 2).tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    modes = whole("modes", modes, 2**20)
    photons = whole("photons", photons, MOST_PHOTONS)
    caps = (photons,) * (modes + bool(lost))
    count = fock.sizes(caps, photons)[-1]
    Limits.of(None, None).require(float(count) * 10 * modes, 0, f"{count} outcomes")
    return fock.listed(caps, photons)[:, :modes].astype("int64")
