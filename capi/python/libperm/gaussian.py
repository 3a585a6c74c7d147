"""Gaussian boson sampling: how likely an outcome of photon-number detectors is, by hafnians.

Hamilton, Kruse, Sansoni, Barkhofen, Silberhorn and Jex, Phys. Rev. Lett. 119 (2017), 170501, equation 4; with
displacements Quesada, J. Chem. Phys. 150 (2019), 164113. Threshold detectors (torontonians) are not here.

>>> import numpy as np
>>> from libperm import gaussian
>>> splitter = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
>>> p = gaussian.pure_probability([0.5, -0.5], splitter, [1, 1])
>>> round(float(p), 12)
0.167947696279
>>> two_modes = gaussian.covariance([0.5, -0.5], splitter)
>>> bool(abs(gaussian.probability(two_modes, [1, 1]) - p) < 1e-14)
True
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from libperm._core.errors import InvalidMatrixError
from libperm._core.fock import over_factorials
from libperm._core.functions import hafnian
from libperm._core.matrix import array_in
from libperm._core.options import Options, Unpack, real, whole
from libperm._core.values import as_doubles, items_of

__all__ = ["covariance", "probability", "pure_probability"]

_U = 2.0**-50


def pure_probability(
    squeezing: Any, interferometer: Any, outcome: Iterable[int], **options: Unpack[Options]
) -> float:
    """That outcome[k] photons leave by mode k, where mode j comes in squeezed by r_j = squeezing[j], real or
    r e^(i phi), through the unitary U = interferometer:

        p = |haf(B_outcome)|^2 / (prod outcome! prod cosh |r|),   B = U diag(tanh r) U^T,

    a hafnian of half the order of probability()'s. Options: libperm.Options."""
    r, U = _squeezed(squeezing, interferometer)
    counts = _counts(outcome, len(r))
    phases = np.exp(1j * np.angle(r)) if np.iscomplexobj(r) else np.sign(r)
    B = U @ np.diag(phases * np.tanh(np.abs(r))) @ U.T
    amplitude, exponent = _amplitude(B, None, counts, options)
    log_coshs = np.logaddexp(np.abs(r), -np.abs(r)) - math.log(2)
    vacuum, shift = _exponential(-log_coshs.sum())
    return over_factorials(abs(amplitude) ** 2 * vacuum, 2 * exponent + shift, counts)


def probability(
    covariance: Any, outcome: Iterable[int], mean: Any = None, hbar: float = 2.0, **options: Unpack[Options]
) -> float:
    """That outcome[k] photons are found in mode k of the Gaussian state with this covariance matrix of
    (x_1, ..., x_n, p_1, ..., p_n), and these means of them, 0 if not given. hbar: the vacuum's covariance is
    hbar / 2 times the identity. Of mixed states, after losses, too. Options: libperm.Options."""
    V = np.atleast_2d(_numbers(covariance))
    modes = len(V) // 2
    if V.shape != (2 * modes, 2 * modes):
        raise InvalidMatrixError(f"a covariance matrix of shape {V.shape}, where an even order is expected")
    _require_physical(V, modes, hbar)
    counts = _counts(outcome, modes)
    Q = _husimi(np.asarray(V, float) * 2 / hbar, modes)
    inverse = np.linalg.inv(Q)
    A = np.roll(np.identity(2 * modes) - inverse.conj(), modes, axis=0)
    log_vacuum, loops = -np.linalg.slogdet(Q)[1] / 2, None
    if mean is not None:
        x = _numbers(mean)
        if np.iscomplexobj(x):
            raise InvalidMatrixError("means of x and p are real, and these are complex")
        if x.shape != (2 * modes,) or not np.isfinite(x).all():
            raise InvalidMatrixError(
                f"means of shape {x.shape}, where {2 * modes} finite numbers are expected"
            )
        half = (x[:modes] + 1j * x[modes:]) / math.sqrt(2 * hbar)
        beta = np.concatenate([half, half.conj()])
        log_vacuum -= (beta @ inverse @ beta.conj()).real / 2
        loops = inverse @ beta.conj()
    A = (A + A.T) / 2  # both halves of the order come out of one inverse, equal but for its rounding
    vacuum, shift = _exponential(log_vacuum)
    if modes and (abs(A[:modes, modes:]) <= _U * np.linalg.cond(Q)).all():
        # A pure state, but for the inverse's rounding: two halves, each the other's conjugate.
        loops = None if loops is None else loops[:modes]
        amplitude, exponent = _amplitude(A[:modes, :modes], loops, counts, options)
        return over_factorials(abs(amplitude) ** 2 * vacuum, 2 * exponent + shift, counts)
    value, exponent = _amplitude(A, loops, [*counts, *counts], options)
    return over_factorials(value.real * vacuum, exponent + shift, counts)


def covariance(squeezing: Any, interferometer: Any, hbar: float = 2.0) -> Any:
    """Of the pure state that pure_probability() is of: as probability() takes it."""
    _require_positive(hbar)
    r, U = _squeezed(squeezing, interferometer)
    size, angle = np.abs(r), np.angle(r)
    passive = np.block([[U.real, -U.imag], [U.imag, U.real]])
    c, s = np.cosh(size), np.sinh(size)
    along, across = np.diag(s * np.cos(angle)), np.diag(s * np.sin(angle))
    active = np.block([[np.diag(c) + along, across], [across, np.diag(c) - along]])
    S = passive @ active
    return hbar / 2 * S @ S.T


def _numbers(given: Any) -> Any:
    return as_doubles(array_in(given))


def _squeezed(squeezing: Any, interferometer: Any) -> tuple[Any, Any]:
    r, U = np.atleast_1d(_numbers(squeezing)), np.atleast_2d(_numbers(interferometer))
    if r.ndim != 1 or U.shape != (len(r), len(r)):
        raise InvalidMatrixError(
            f"{r.shape} of squeezing and an interferometer of {U.shape} do not go together"
        )
    if not (np.isfinite(r).all() and np.allclose(U @ U.conj().T, np.identity(len(r)))):
        raise InvalidMatrixError("squeezing is finite, and an interferometer unitary: one of them is not")
    return r, U


def _require_positive(hbar: float) -> None:
    if not (real("hbar", hbar) > 0 and math.isfinite(hbar)):
        raise InvalidMatrixError(f"hbar is {hbar}: a positive number is expected")


def _exponential(x: float) -> tuple[float, int]:
    """A number and the power of two that it is to be multiplied by."""
    exponent = round(x / math.log(2))
    return math.exp(x - exponent * math.log(2)), exponent


def _require_physical(V: Any, modes: int, hbar: float) -> None:
    """V + i hbar / 2 Omega is positive (Simon, Mukunda and Dutta, Phys. Rev. A 49 (1994))."""
    if np.iscomplexobj(V) or not np.isfinite(V).all() or not np.allclose(V, V.T):
        raise InvalidMatrixError("a covariance matrix is real, finite and symmetric, and this is not")
    _require_positive(hbar)
    unit = np.identity(modes)
    omega = np.block([[0 * unit, unit], [-unit, 0 * unit]])
    least = np.linalg.eigvalsh(V + 0.5j * hbar * omega).min() if modes else 0
    if least < -1e-6 * max(hbar, float(abs(V).max(initial=0))):
        raise InvalidMatrixError(
            f"no state has this covariance matrix: it is below the vacuum's, {hbar / 2:g} times the identity"
        )


def _husimi(V: Any, modes: int) -> Any:
    """The covariance matrix of (a, a^dagger), of the Husimi function; V in units of the vacuum's."""
    x, xp, p = V[:modes, :modes], V[:modes, modes:], V[modes:, modes:]
    number = (x + p + 1j * (xp - xp.T) - 2 * np.identity(modes)) / 4
    pairs = (x - p + 1j * (xp + xp.T)) / 4
    return np.block([[number, pairs.conj()], [pairs, number.conj()]]) + np.identity(2 * modes)


def _amplitude(A: Any, loops: Any, counts: list[int], options: Any) -> tuple[Any, int]:
    """A number and the power of two that it is to be multiplied by. Leaves out modes without a photon, so
    that what is left is small."""
    used = [k for k, count in enumerate(counts) if count > 0]
    if not used:
        return 1.0, 0
    B = A[np.ix_(used, used)]
    B = np.triu(B) + np.triu(B, 1).T
    weights = None if loops is None else np.asarray(loops, complex)[used]
    found = hafnian(B, loops=weights, multiplicity=[counts[k] for k in used], full=True, **options)
    return complex(found.mantissa), found.exp2


def _counts(outcome: Iterable[int], modes: int) -> list[int]:
    counts = [whole("outcome", k, 2**20) for k in items_of(outcome, "numbers of photons")]
    if len(counts) != modes:
        raise InvalidMatrixError(f"an outcome of {len(counts)} modes, where there are {modes}")
    return counts
