"""How photons lie in modes, in layers: all ways for 0, 1, 2, ... photons, and which way of one photon less
each comes from.

The ways of k photons in modes 0 .. m - 1 are in the order of the last mode's number, those with the same one
in the order of the modes before it. With r_j the photons in modes 0 .. j, and N_j(q) how many ways q photons
lie in modes 0 .. j - 1, a way stands at

    sum over j of [T_j(r_j) - T_j(r_(j-1))],   T_j(q) = N_j(0) + ... + N_j(q),

behind all those that have fewer in a mode j and the same in all modes after it. One photon less in mode j
takes one from r_j and from all behind it, so the place comes down by

    N_j(r_j) + sum over i > j of [N_i(r_i) - N_i(r_(i-1))]."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from libperm._core.lazy import np


@dataclass(frozen=True)
class Layer:
    """The ways that k photons lie in the modes."""

    occupations: Any  # (count, modes), int8, or of many photons int32
    sources: Any  # (modes, count), int32: the place without one photon of this mode; if none, past all


def counts(caps: tuple[int, ...], photons: int) -> list[list[int]]:
    """N: for each number of modes, 0 to all, how many ways 0, 1, ... photons lie in so many of the first,
    at most caps[j] in mode j."""
    ways = [[1] + [0] * photons]
    for cap in caps:
        before, row, window = ways[-1], [], 0
        for q in range(photons + 1):
            window += before[q] - (before[q - cap - 1] if q > cap else 0)
            row.append(window)
        ways.append(row)
    return ways


def sizes(caps: tuple[int, ...], photons: int) -> list[int]:
    """How many ways each layer has, for 0 to all photons."""
    return counts(caps, photons)[-1]


_KEPT_PLACES = 1 << 22  # 16 MiB of them


def layers(caps: tuple[int, ...], photons: int) -> Iterator[Layer]:
    """Those of 1 to all photons, at most caps[j] in mode j. Small ones are kept for the next call."""
    return iter(_kept(caps, photons)) if _are_kept(caps, photons) else _made(caps, photons)


def _are_kept(caps: tuple[int, ...], photons: int) -> bool:
    return len(caps) * sum(sizes(caps, photons)) <= _KEPT_PLACES


@functools.lru_cache(maxsize=16)
def _kept(caps: tuple[int, ...], photons: int) -> tuple[Layer, ...]:
    return tuple(_made(caps, photons))


def _made(caps: tuple[int, ...], photons: int) -> Iterator[Layer]:
    ways = np.array(counts(caps, photons), np.int32)
    for k, occupations in enumerate(_listed(caps, photons)):
        if k > 0:
            yield Layer(occupations.T, _sources(occupations, ways, k))


def _sources(occupations: Any, ways: Any, photons: int) -> Any:
    sources = np.empty(occupations.shape, np.int32)
    places = np.arange(
        occupations.shape[1], dtype=np.int32
    )  # less N_i(r_i) - N_i(r_(i-1)) of the modes behind
    up_to = np.full(len(places), photons)  # r_j
    for j in reversed(range(len(occupations))):
        here = occupations[j]
        of_all = np.take(ways[j], up_to)
        np.subtract(places, of_all, out=sources[j])
        sources[j][here == 0] = ways[-1][photons - 1]
        up_to = up_to - here
        places += np.take(ways[j], up_to) - of_all
    return sources


def listed(caps: tuple[int, ...], photons: int) -> Any:
    """All ways that so many photons lie in the modes, (count, modes), in their order."""
    *_, occupations = _listed(caps, photons)
    return occupations.T


def _listed(caps: tuple[int, ...], photons: int) -> Iterator[Any]:
    """The ways of 0 to all photons, (modes, count). Those whose last photon is in mode i are, in their order,
    the first of one photon less with one more there: of modes up to i, and in i below its cap."""
    ways = np.array(counts(caps, photons), np.int64)
    occupations = np.zeros((len(caps), 1), np.int8 if photons < 128 else np.int32)
    yield occupations
    for k in range(1, photons + 1):
        lengths = np.diff(ways[:, k])
        places = np.arange(ways[-1, k])
        before = places - np.repeat(np.cumsum(lengths) - lengths, lengths)
        occupations = np.take(occupations, before, axis=1)
        occupations[np.repeat(np.arange(len(caps)), lengths), places] += 1
        yield occupations


def last(caps: tuple[int, ...], photons: int) -> Any:
    """The same, of the layers that are kept where they are."""
    if photons > 0 and _are_kept(caps, photons):
        return _kept(caps, photons)[-1].occupations
    return listed(caps, photons)


def places(caps: tuple[int, ...], occupations: Any) -> Any:
    """Where ways stand among all that are within caps, of their number of photons, the same of each."""
    up_to = np.cumsum(occupations, axis=1, dtype=np.int64)
    before = up_to - occupations
    photons = int(up_to[0, -1]) if up_to.size else 0
    totals = np.cumsum(np.array(counts(caps, photons), np.int64), axis=1)
    found = np.zeros(len(occupations), np.int64)
    for j in range(len(caps)):
        found += totals[j][up_to[:, j]] - totals[j][before[:, j]]
    return found


def factorials(occupations: Any, is_exact: bool = False) -> Any:
    """The products of the factorials of each way's numbers: floats, or integers as objects."""
    most = int(occupations.max(initial=0))
    table = np.array([math.factorial(q) for q in range(most + 1)], object)
    if not is_exact:
        table = table.astype(float)
    product = table[np.zeros(len(occupations), int)]
    for here in occupations.T:
        product *= table[here]
    return product


def over_factorials(size: float, exponent: int, counts: list[int]) -> float:
    """size 2^exponent / prod counts!, of which each may be beyond doubles."""
    product = math.prod(map(math.factorial, counts))
    shift = max(product.bit_length() - 64, 0)  # of which 64 bits count
    mantissa, own = math.frexp(size / float(product >> shift))
    return math.ldexp(mantissa, own + exponent - shift)


# ----------------------------------------------------------------
# Products of linear forms in the modes, and permanents of matrices of such forms, photon by photon, with all
# coefficients. Arrays are numpy's, JAX's or torch's: `of` is the module that they are of.
#
# Photons that cannot be told apart: each that comes in is a form, sum over j of U[j, i] x_j; the coefficient
# of x^s in the product of all is perm(U of the modes out s and the photons in) / (prod s_j!)  (SLOS: Heurtel
# and others, Computer Physics Communications 291, 2023).
#
# Photons that can, with overlaps S: the sum over s of P(s) x^s is the permanent of the matrix of forms
#
#     K[k, l] = S[k, l] sum over j of conj(U[j, k]) U[j, l] x_j,
#
# row by row over the sets of columns that are taken, each with a polynomial. Columns that are equal need no
# sets: numbers of each kind.

_LEAST = 2.0**-1000  # added to masses: whatever underflows is less than a rounding of this
_CHUNK = 1 << 16  # numbers at once, which stay in the cache


def times_form(form: Any, old: Any, layer: Layer, of: Any) -> Any:
    """Multiplies a polynomial by the sum of form[j] x_j."""
    padded = of.concatenate([old, old[:1] * 0])
    modes, count = layer.sources.shape
    step = max(1, _CHUNK // modes)
    parts = [
        form @ _taken(padded, layer.sources[:, first : first + step], of) for first in range(0, count, step)
    ]
    return parts[0] if len(parts) == 1 else of.concatenate(parts)


def product_of_forms(forms: tuple[Any, ...], ways: Iterable[Layer], of: Any) -> list[Any]:
    """The coefficients of the product of the columns of forms, (modes, photons); with the absolute values of
    the forms behind them, also their mass, the sums of the absolute values of the terms, which errors are
    shares of."""
    found = [form[0, :1] * 0 + 1 for form in forms]
    for i, layer in enumerate(ways):
        found = [times_form(form[:, i], old, layer, of) for form, old in zip(forms, found)]
        found[1:] = [mass + _LEAST for mass in found[1:]]
    return found


def permanent_of_forms(
    forms: tuple[Any, ...], copies: tuple[int, ...], caps: tuple[int, ...], of: Any
) -> list[Any]:
    """The coefficients of the permanent of a matrix of forms, (rows, kinds of columns, modes), with so many
    copies of each kind, over prod copies!: those of x^s with s <= caps, in the order above; with numbers of
    at least the forms' absolute values behind them, also their mass."""
    rows = len(forms[0])
    found = [form[0, :1, :1] * 0 + 1 for form in forms]
    for row, taken, layer in zip(range(rows), layers(copies, rows), layers(caps, rows)):
        found = [_next_row(form[row], old, taken, layer, of) for form, old in zip(forms, found)]
        found[1:] = [mass + _LEAST for mass in found[1:]]
    return [polynomials[0] for polynomials in found]


def _next_row(form: Any, old: Any, taken: Layer, layer: Layer, of: Any) -> Any:
    """old: for each set of columns a polynomial; form: of each column the coefficients of its form."""
    padded = of.concatenate([old, old[:1] * 0], 0)
    padded = of.concatenate([padded, padded[:, :1] * 0], 1)
    columns, sets = taken.sources.shape
    step = max(1, _CHUNK // (max(columns, len(layer.sources)) * padded.shape[1]))
    parts = []
    for first in range(0, sets, step):
        without = taken.sources[:, first : first + step].T  # of each set those without one column
        before = _taken(padded, without, of, 0)
        by_mode = form.T @ before
        parts.append(sum(_taken(by_mode[:, j], layer.sources[j], of) for j in range(len(layer.sources))))
    return parts[0] if len(parts) == 1 else of.concatenate(parts, 0)


def _taken(array: Any, places: Any, of: Any, axis: int = -1) -> Any:
    if of.__name__ != "torch":
        return of.take(array, places, axis)
    flat = of.from_numpy(places.copy()).to(array.device).reshape(-1)
    shape = (*places.shape, *array.shape[1:]) if axis == 0 else (*array.shape[:-1], *places.shape)
    return array.index_select(axis, flat).reshape(shape)
