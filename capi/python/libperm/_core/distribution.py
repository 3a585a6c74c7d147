"""Probabilities of where photons leave, of all ways or of some, each with a bound of its error.

With u = 2^-53, a sum of p complex products, in any order, is within sqrt(2) 2 p u < 3 p u of the sum of
their absolute values, and a complex product within sqrt(5) u < 3 u. So a coefficient whose terms take q
roundings on their way is within 1.05 q u of its mass, the sum of their absolute values; the mass is itself
computed, within as many, and q u is below 2^-30.

Where interference leaves little of the mass, and of many photons, the bound misses the tolerance. These
outcomes are computed again: of photons that cannot be told apart each as a permanent, in as many digits as it
takes; others as they were, in long doubles and then in numbers that do not round."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Callable

from libperm._core import fock
from libperm._core.dense import Dense, batch_of
from libperm._core.errors import PrecisionWarning, UnsupportedError, warn_caller
from libperm._core.fock import permanent_of_forms, product_of_forms
from libperm._core.functions import compute
from libperm._core.lazy import np
from libperm._core.options import Limits as Limits
from libperm._core.photons import Experiment

_U = 2.0**-53
_LEAST = 2.0**-500  # covers what underflows in a square, which at most 98! multiplies
_MOST_SQUARED = 98  # photons: the squares of their factorials are doubles
_MOST_OF_FORMS = 200  # photons: masses, which no factorial multiplies, are
_TOLERANCE = 1e-9  # of an outcome's probability, or of the mean of all outcomes
_AGAIN_SECONDS = 60.0  # that more digits may be predicted to take, as for permanents
_QUICK = 0.02  # seconds
_EXACT_FACTORIALS = 18  # 18! < 2^53


@dataclass(frozen=True, eq=False)
class Distribution:
    """Ways that photons leave, their probabilities, and for each a certain bound of its absolute error."""

    outcomes: Any  # (count, modes), the photons in each mode
    probabilities: Any  # floats, or Fractions, which are exact
    error_bounds: Any

    def __len__(self) -> int:
        return len(self.probabilities)

    def as_dict(self) -> dict[tuple[int, ...], Any]:
        return dict(zip(map(tuple, self.outcomes.tolist()), self.probabilities.tolist()))


def of_all(e: Experiment, limits: Limits) -> Distribution:
    """Of all ways; with losses those of fewer photons follow those of more."""
    caps = (e.photons,) * _variables(e)
    if _are_in_doubles(e):
        found = _within(e, caps, limits, is_all=True)
    else:
        count = fock.sizes(caps, e.photons)[-1]
        limits.require(count * (500.0 + 16 * e.modes), 0, f"{count} outcomes")
        found = _none_yet(count)
    outcomes = fock.last(caps, e.photons)
    found = _with_more_digits(e, outcomes, found, limits)
    return Distribution(outcomes[:, : e.modes].astype(np.int64), *found)


def of_given(e: Experiment, outcomes: Any, limits: Limits) -> Distribution:
    """Of these, (count, modes), in any order. What cannot be has 0."""
    left = outcomes.sum(axis=1)
    is_possible = left <= e.photons if _variables(e) > e.modes else left == e.photons
    probabilities = np.full(len(outcomes), Fraction(0)) if e.is_exact else np.zeros(len(outcomes))
    bounds = np.zeros(len(outcomes))
    possible = outcomes[is_possible]
    if _variables(e) > e.modes:
        possible = np.concatenate([possible, e.photons - possible.sum(axis=1, keepdims=True)], axis=1)
    if len(possible) > 0:
        found = _quickest(e, possible, limits)[1]() if _are_in_doubles(e) else _none_yet(len(possible))
        probabilities[is_possible], bounds[is_possible] = _with_more_digits(e, possible, found, limits)
    return Distribution(outcomes, probabilities, bounds)


def _are_in_doubles(e: Experiment) -> bool:
    """Or as exact as they were given: at first."""
    return e.is_exact or e.photons <= (_MOST_SQUARED if _is_plain(e) else _MOST_OF_FORMS)


def _none_yet(count: int) -> tuple[Any, Any]:
    return np.zeros(count), np.full(count, math.inf)


def _with_more_digits(
    e: Experiment, outcomes: Any, found: tuple[Any, Any], limits: Limits
) -> tuple[Any, Any]:
    """What was found, and in its place what is found in more digits where those were too few."""
    probabilities, bounds = found
    mean = 1 / math.comb(e.photons + _variables(e) - 1, e.photons)
    if e.is_exact or bounds.max() <= _TOLERANCE * mean:
        return found

    def missed() -> Any:
        return np.flatnonzero(~(bounds <= _TOLERANCE * np.clip(probabilities, mean, 1)))

    ways: list[Callable[[Any, Limits], tuple[float, Callable[[], tuple[Any, Any]]]]]
    if not _is_plain(e):
        longer = [e.in_long_doubles(), e.exactly()] if _are_in_doubles(e) else [e.exactly()]
        ways = [partial(_quickest, each) for each in longer]
    elif _are_in_doubles(e):
        ways = [partial(_by_permanents, e), partial(_one_by_one, e)]
    else:
        ways = [partial(_one_by_one, e)]
    for way in ways:
        places = missed()
        if len(places) == 0:
            return found
        seconds, run = way(outcomes[places].astype(np.int64), limits)
        if _are_in_doubles(e) and seconds > min(_AGAIN_SECONDS, limits.seconds):
            continue
        again, errors = run()
        if again.dtype == object:
            again, errors = _rounded(again)
        is_better = errors < bounds[places]
        places, again, errors = places[is_better], again[is_better], errors[is_better]
        probabilities[places], bounds[places] = again, errors
    places = missed()
    if len(places) > 0:
        warn_caller(
            f"the probabilities of {len(places)} outcomes are certain within error_bounds of up to "
            f"{bounds[places].max():.2g}, more than the tolerance: fewer outcomes may take more digits",
            PrecisionWarning,
        )
    return found


def _rounded(exact: Any) -> tuple[Any, Any]:
    """Fractions to doubles, none below 0."""
    numbers = exact.astype(float)
    return np.maximum(numbers, 0), abs(numbers) * _U + np.maximum(-numbers, 0) + _LEAST


def _quickest(e: Experiment, outcomes: Any, limits: Limits) -> tuple[float, Callable[[], tuple[Any, Any]]]:
    """All that is within the most of each mode, at once, or one by one: the seconds of the quicker way, and
    that."""
    most = tuple(outcomes.max(axis=0).tolist())
    at_once = _seconds(e, most) if _bytes(e, most) <= limits.memory else math.inf

    def within() -> tuple[Any, Any]:
        probabilities, bounds = _within(e, most, limits)
        where = fock.places(most, outcomes)
        return probabilities[where], bounds[where]

    if _is_plain(e) and not e.is_exact:
        way = _by_permanents(e, outcomes, limits)
        return way if way[0] < at_once else (at_once, within)
    if at_once <= _QUICK:
        return at_once, within
    alone, index = np.unique(outcomes, axis=0, return_inverse=True)
    one_by_one = sum(_seconds(e, tuple(caps)) for caps in alone.tolist())
    if one_by_one >= at_once:
        return at_once, within

    def each() -> tuple[Any, Any]:
        limits.require(0, one_by_one, f"outcomes, {len(alone)} of them,")
        parts = zip(*(_within(e, tuple(one), limits) for one in alone.tolist()))  # the only way within itself
        probabilities, bounds = (np.concatenate(part)[index.reshape(-1)] for part in parts)
        return probabilities, bounds

    return one_by_one, each


def _terms(e: Experiment) -> float:
    came = Counter(e.came.tolist()).values()
    return min(2.0 ** min(e.photons - 1, 1000), float(min(math.prod(t + 1 for t in came), 1 << 1000)))


def _by_permanents(
    e: Experiment, outcomes: Any, limits: Limits
) -> tuple[float, Callable[[], tuple[Any, Any]]]:
    """In doubles. Those whose modes hold the same numbers of photons, in any order, are one batch."""
    seconds = len(outcomes) * (1e-6 + e.photons * _terms(e) * 1e-9)

    def run() -> tuple[Any, Any]:
        limits.require(0, seconds, f"{len(outcomes)} permanents")
        modes, copies = np.unique(e.came, return_counts=True)
        first = [int(np.argmax(e.came == mode)) for mode in modes]
        order = np.argsort(-outcomes, axis=1, kind="stable")
        groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for i, held in enumerate(np.take_along_axis(outcomes, order, 1).tolist()):
            groups[tuple(q for q in held if q > 0)].append(i)
        probabilities, bounds = np.empty(len(outcomes)), np.empty(len(outcomes))
        for held, members in groups.items():
            batch = e.amplitudes[order[members, : len(held)]][:, :, first]
            found = batch_of(Dense(batch, held, copies.tolist()), {})
            weight = 1 / math.prod(map(math.factorial, [*held, *copies.tolist()]))
            probabilities[members], bounds[members] = _squared(
                found.values, found.abs_error_bounds, weight, 4
            )
        return probabilities, bounds

    return seconds, run


def _one_by_one(e: Experiment, outcomes: Any, limits: Limits) -> tuple[float, Callable[[], tuple[Any, Any]]]:
    """Each as a permanent of as many digits as it takes, and of any size."""
    modes, first, copies = np.unique(e.came, return_index=True, return_counts=True)
    terms = _terms(e) / (copies.max(initial=0) + 1)  # one kind's are summed at once
    seconds = len(outcomes) * (2e-4 + e.photons * terms * 5e-8)

    def run() -> tuple[Any, Any]:
        limits.require(0, seconds, f"{len(outcomes)} permanents")
        probabilities, bounds = np.empty(len(outcomes)), np.empty(len(outcomes))
        for i, outcome in enumerate(outcomes):
            held, came = outcome[outcome > 0].tolist(), copies.tolist()
            columns = e.amplitudes[outcome > 0][:, first]
            found = compute(columns, row_multiplicity=held, col_multiplicity=came, tolerance=_TOLERANCE / 4)
            p = fock.over_factorials(abs(found.mantissa) ** 2, 2 * found.exp2, [*held, *came])
            error = found.rel_error_bound
            probabilities[i], bounds[i] = p, p * (2 * error + error**2 + 16 * _U) + _LEAST
        return probabilities, bounds

    return seconds, run


def _variables(e: Experiment) -> int:
    return e.modes + int(e.absorbs or e.transmission != 1)


def _is_plain(e: Experiment) -> bool:
    return e.overlaps is None and not e.absorbs and bool(e.transmission == 1)


def _within(e: Experiment, caps: tuple[int, ...], limits: Limits, is_all: bool = False) -> tuple[Any, Any]:
    """Of all ways within caps that no photon is missing from, with their bounds; a mode behind the others
    counts the lost ones."""
    count = fock.sizes(caps, e.photons)[-1]
    what = f"{count} outcome{'s' * (count > 1)} of {e.photons} photons in {e.modes} modes"
    listed = 8 * e.modes * count if is_all else 0
    limits.require(_bytes(e, caps) + listed, _seconds(e, caps), what)
    if e.photons == 0:
        return np.ones(1, e.amplitudes.dtype if e.is_exact else float), np.zeros(1)
    active = [j for j, cap in enumerate(caps) if cap > 0]
    held = tuple(caps[j] for j in active)
    return _of_products(e, active, held) if _is_plain(e) else _of_forms(e, active, held)


def _of_products(e: Experiment, active: list[int], caps: tuple[int, ...]) -> tuple[Any, Any]:
    forms, n = e.amplitudes[active], e.photons
    came = math.prod(map(math.factorial, Counter(e.came.tolist()).values()))
    ways = fock.layers(caps, n)
    outs = fock.last(caps, n)
    if e.is_exact:
        (found,) = product_of_forms((forms,), ways, np)
        probabilities = found * found * fock.factorials(outs, is_exact=True) / Fraction(came)
        return probabilities, np.zeros(len(found))
    found, mass = product_of_forms((forms, abs(forms)), ways, np)
    roundings = sum(3 * min(len(active), k) + 6 for k in range(1, n + 1))
    of_weights = 4 if n <= _EXACT_FACTORIALS else 4 * n + 4
    return _squared(found, 1.05 * _U * roundings * mass, fock.factorials(outs) / came, of_weights)


def _squared(found: Any, errors: Any, weights: Any, of_weights: int) -> tuple[Any, Any]:
    """Squares of absolute values, and their bounds; of_weights: roundings of the weights."""
    squares = found.real**2 + found.imag**2
    probabilities = squares * weights
    bounds = (2 * np.abs(found) + errors) * errors * weights + probabilities * (_U * (of_weights + 3))
    return probabilities, bounds * (1 + 2.0**-40) + _LEAST


def _of_forms(e: Experiment, active: list[int], caps: tuple[int, ...]) -> tuple[Any, Any]:
    first, copies = e.kinds()
    came = e.came[:, None] == e.came[first]
    overlaps = np.ones(came.shape, int) if e.overlaps is None else e.overlaps[:, first]
    together = (overlaps * came)[:, :, None]  # whose permanent is the square of the state that comes in
    kinds = e.amplitudes[:, first]
    forms = forms_of((e.amplitudes, kinds), overlaps, e.transmission, came, e.absorbs, np)[:, :, active]
    one_mode = (e.photons,)
    if e.is_exact:
        (norm,) = permanent_of_forms((together,), copies, one_mode, np)
        (found,) = permanent_of_forms((forms,), copies, caps, np)
        return found / norm[0], np.zeros(len(found))
    sizes = abs(forms)
    # What is left of 1 has the roundings of 1, and of what is taken off.
    if e.absorbs and active[-1] == e.modes:
        sizes[:, :, -1] = abs(overlaps) * (came + abs(e.amplitudes).T @ abs(kinds))
    found, mass = permanent_of_forms((forms, sizes), copies, caps, np)
    one = found.real.dtype.type(1)
    of_norm = together * one, abs(together) * one
    norm, norm_mass = (x[0] for x in permanent_of_forms(of_norm, copies, one_mode, np))
    roundings = e.photons * (3 * len(copies) + len(active) + 16 + 3 * e.modes * e.absorbs)
    share = 1.05 * (np.finfo(found.dtype).eps / 2) * roundings
    norm, error = norm.real, share * norm_mass
    if not norm > 2 * error:
        raise UnsupportedError(
            "so many photons come in by one mode that rounding hides their state: give Fractions"
        )
    relative = error / (norm - error)
    probabilities = found.real / norm
    bounds = share * mass / norm * (1 + relative) + (abs(probabilities) + _LEAST) * (relative + 2 * _U)
    bounds += np.where(probabilities < 0, -probabilities, 0)  # none is below 0
    return np.maximum(probabilities, 0).astype(float), (bounds * (1 + 2.0**-40) + _LEAST).astype(float)


def forms_of(columns: Any, overlaps: Any, transmission: Any, came: Any, absorbs: bool, of: Any) -> Any:
    """The matrix of forms, (photons, kinds, modes), with another mode for those that are lost. columns: the
    amplitudes of the photons, and of one of each kind; came: whether they come in alike."""
    amplitudes, kinds = columns
    conjugate = amplitudes.conj()
    products = conjugate.T[:, None, :] * kinds.T[None, :, :] * overlaps[:, :, None]
    if not absorbs and isinstance(transmission, (int, float, Fraction)) and transmission == 1:
        return products
    kept = conjugate.T @ kinds if absorbs else came
    lost = ((came - transmission * kept) * overlaps)[:, :, None]
    return of.concatenate([transmission * products, lost + products[:, :, :1] * 0], -1)


def _widths(e: Experiment, caps: tuple[int, ...]) -> list[int]:
    """How many polynomials each layer has."""
    return [1] * (e.photons + 1) if _is_plain(e) else fock.sizes(e.kinds()[1], e.photons)


def _bytes(e: Experiment, caps: tuple[int, ...]) -> float:
    ways, numbers = fock.sizes(caps, e.photons), 500 if e.is_exact else 100
    tables = sum(ways) * len(caps) * 2 + ways[-1] * len(caps) * 4
    return tables + numbers * max(x * y for x, y in zip(_widths(e, caps), ways))


def _seconds(e: Experiment, caps: tuple[int, ...]) -> float:
    ways, widths = fock.sizes(caps, e.photons), _widths(e, caps)
    kinds = 1 if _is_plain(e) else len(e.kinds()[1])
    places = sum(ways) * len(caps) * 1e-8 + e.photons * 3e-5
    steps = range(e.photons)
    work = sum(widths[k + 1] * len(caps) * (kinds * ways[k] + 5 * ways[k + 1]) for k in steps)
    each = {"O": 3e-7, "G": 3e-8, "g": 2e-8}
    return places + work * each.get(e.amplitudes.dtype.char, 2e-9)
