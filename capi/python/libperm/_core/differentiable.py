"""What JAX and torch differentiate by their own operations: distributions of photons; the minors that a
hafnian's derivatives are. Which options leave the function that is differentiated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any, Callable

from libperm._core import fock
from libperm._core.distribution import Limits, forms_of
from libperm._core.errors import InvalidOptionError, UnsupportedError
from libperm._core.fock import permanent_of_forms, product_of_forms
from libperm._core.lazy import np
from libperm._core.options import is_of_graph
from libperm._core.photons import kinds_of, modes_in

_MOST_PHOTONS = 100  # in doubles


def distribution(
    U: Any, came: tuple[Any, Any], transmission: Any, overlaps: Any, of: Any, constant: Callable[[Any], Any]
) -> Any:
    """The probabilities in the order of boson.distribution(); came: photons and occupation. constant: makes
    an array of U's type of one of numpy's."""
    if len(U.shape) != 2 or U.shape[0] == 0:
        raise TypeError(f"an array of shape {tuple(U.shape)} is no matrix of amplitudes")
    modes = modes_in(*came, U.shape[1])
    photons = len(modes)
    if photons > _MOST_PHOTONS:
        raise UnsupportedError(f"{photons} photons: at most {_MOST_PHOTONS} are; libperm.boson takes more")
    is_lossless = isinstance(transmission, (int, float)) and transmission == 1
    caps = (photons,) * (U.shape[0] + (not is_lossless))
    first, copies = kinds_of(modes, None) if overlaps is None else (list(range(photons)), (1,) * photons)
    _require_memory(caps, copies if overlaps is not None or not is_lossless else None)
    if photons == 0:
        return constant(np.ones(1)).real
    columns = U[:, modes]
    if is_lossless and overlaps is None:
        (found,) = product_of_forms((columns,), fock.layers(caps, photons), of)
        came_together = math.prod(math.factorial(t) for t in copies)
        weights = constant(fock.factorials(fock.last(caps, photons)) / came_together)
        return (found * found.conj() * weights).real
    same = constant((modes[:, None] == modes[first]) * 1.0)
    shared = same * 0 + 1 if overlaps is None else _gram(overlaps, constant(np.eye(photons)))
    forms = forms_of((columns, columns[:, first]), shared, transmission, same, False, of)
    (norm,) = permanent_of_forms(((shared * same)[:, :, None],), copies, (photons,), of)
    (found,) = permanent_of_forms((forms,), copies, caps, of)
    return (found / norm[0]).real


def _gram(overlaps: Any, identity: Any) -> Any:
    """Of one number for all pairs, or the matrix itself."""
    if getattr(overlaps, "shape", ()) == ():
        return identity + overlaps * (1 - identity)
    return overlaps + identity * 0


def _require_memory(caps: tuple[int, ...], copies: tuple[int, ...] | None) -> None:
    photons = caps[0]
    ways = fock.sizes(caps, photons)
    widths = [1] * len(ways) if copies is None else fock.sizes(copies, photons)
    taken = sum(x * y for x, y in zip(ways, widths)) * 32.0 * len(caps)
    Limits.of(None, None).require(taken, 0, f"{ways[-1]} outcomes with what their derivatives are made of")


def require_differentiable(options: Mapping[str, Any], by: str = "permanent") -> None:
    """Refuses what makes another function of the entries, whose derivatives are not those at hand. by: the
    function that is called."""
    if is_of_graph(options):
        others = {"permanent": "hafnian(), beside permanent(), has its derivatives"}
        advice = others.get(by, "leave it out, for hafnian() takes loops")
        raise InvalidOptionError(f"function is {options['function']!r}: {advice}")
    precision = options.get("precision")
    if isinstance(precision, str) and precision.startswith("mod:"):
        raise InvalidOptionError(
            f"precision is {precision!r}: residues have no derivatives; libperm.{by}s() has residues"
        )


def kept_lines(n: int, left_out: int) -> tuple[Any, Any]:
    """Ways to leave out one line or two of n: arrays (ways, left_out) of these, and of those kept."""
    ways = list(combinations(range(n), left_out))
    kept = [[k for k in range(n) if k not in way] for way in ways]
    shape = len(ways), max(n - left_out, 0)
    return np.array(ways, int).reshape(-1, left_out), np.array(kept, int).reshape(shape)
