"""Boson sampling: where photons leave an interferometer, drawn from the exact law."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from libperm import _abi
from libperm._call import run
from libperm._errors import InvalidMatrixError, InvalidOptionError
from libperm._library import check, library
from libperm._matrix import array_in
from libperm._options import Prepared
from libperm._quantities import whole
from libperm._seeds import chosen, seed_of
from libperm._sequences import items_of
from libperm._values import as_array, as_doubles

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from libperm._options import RunOptions

__all__ = ["sample"]


def sample(
    U: Any,
    photons: Any = None,
    shots: int = 1,
    rng: Any = None,
    *,
    occupation: Any = None,
    seed: int | None = None,
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
    None: others each time. seed: of before, a seed of the library's own.
    Options: threads, time_limit, progress.

    >>> import libperm.boson, numpy as np
    >>> splitter = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    >>> samples = libperm.boson.sample(splitter, [0, 1], shots=1000, rng=1)
    >>> (samples == 1).any()  # Hong, Ou and Mandel: both leave by the same mode
    np.False_
    """
    import numpy as np

    amplitudes = np.ascontiguousarray(as_doubles(array_in(U)), np.complex128)
    if amplitudes.ndim != 2:
        raise TypeError(f"an array of {amplitudes.ndim} dimensions is no matrix of amplitudes")
    modes, inputs = amplitudes.shape
    came = _modes(photons, occupation, inputs)
    count = whole("shots", shots, 2**40)
    drawn_from = seed_of(chosen(rng, seed))
    samples = np.zeros((count, modes), np.int64)
    prepared = Prepared(dict(options), None)
    struct = _abi.Boson(
        struct_size=ctypes.sizeof(_abi.Boson),
        modes=modes,
        inputs=inputs,
        amplitudes=amplitudes.ctypes.data,
        photons=len(came),
        photon_modes=came.ctypes.data,
    )
    draw = library.perm_sample_photons
    arguments = (
        ctypes.addressof(struct),
        prepared.address,
        count,
        drawn_from,
        samples.ctypes.data,
    )
    run(prepared, True, lambda: check(draw(*arguments)))
    return samples


def _modes(photons: Any, occupation: Any, inputs: int) -> Any:
    import numpy as np

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
    if (numbers < 0).any() or (numbers > 64).any():
        raise InvalidOptionError("occupation: 0 to 64 photons in a mode")
    return np.repeat(np.arange(inputs, dtype=np.int64), numbers)
