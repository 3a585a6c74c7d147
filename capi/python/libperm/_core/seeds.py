"""Where random numbers come from: `rng`, as numpy's functions take it, as a seed of the library."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from libperm._core.errors import InvalidOptionError
from libperm._core.quantities import whole

_BITS = 64


class Seed(int):
    """One of the library's own, as perm.h and the command take it."""


def seed_of(rng: Any) -> Seed:
    """Draws one from numpy.random.default_rng(rng); None is another one each time."""
    if isinstance(rng, Seed):
        return rng
    if rng is None:
        return Seed.from_bytes(os.urandom(_BITS // 8), "little")
    if isinstance(rng, (int, float)):
        rng = whole("rng", rng, 2**_BITS - 1)
    try:
        import numpy as np
    except ImportError:
        return Seed(whole("rng", rng, 2**_BITS - 1))
    try:
        return Seed(np.random.default_rng(rng).integers(2**_BITS, dtype=np.uint64))
    except (TypeError, ValueError):
        raise InvalidOptionError(
            f"rng is {rng!r}: a seed, a whole number, is expected, or a numpy.random.Generator"
        ) from None


def settled(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with a Seed as rng, if there is any: whoever takes them from here on takes the same one."""
    found = dict(options)
    if found.get("rng") is not None:
        found["rng"] = seed_of(found["rng"])
    return found
