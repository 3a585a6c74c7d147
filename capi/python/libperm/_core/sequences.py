"""What comes in an order. Much else can be iterated over (keys, members, nodes, bytes) and is no numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any


def items_of(given: Any, expected: str) -> list[Any]:
    """Lists the items; raises TypeError, with what to pass instead, where there is no order."""
    name = type(given).__name__
    if hasattr(given, "nodes") and hasattr(given, "edges"):
        raise TypeError(
            f"a {name} is a graph: libperm.networkx.perfect_matchings(G) counts its perfect matchings, "
            "libperm.networkx.biadjacency(G)[0] is its matrix"
        )
    if isinstance(given, Mapping):
        raise TypeError(
            f"a {name} would be read by its keys: pass {expected}; "
            "of entries by their places scipy.sparse.coo_array((values, (rows, columns)), shape)"
        )
    if isinstance(given, Set):
        raise TypeError(f"a {name} has no order: pass {expected}")
    if isinstance(given, (bytes, bytearray)):
        raise TypeError(f"{name} are no numbers: pass {expected}, e.g. of numpy.frombuffer()")
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{name}, where {expected} are expected")
    return list(given)
