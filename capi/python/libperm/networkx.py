"""Matchings of NetworkX's graphs: how many perfect ones there are, how many others, and how often an edge is
in one.

>>> import networkx as nx
>>> from libperm.networkx import edge_marginals, matchings, perfect_matchings
>>> perfect_matchings(nx.grid_2d_graph(8, 8))  # of a chessboard with dominoes
12988816
>>> perfect_matchings(nx.petersen_graph()), perfect_matchings(nx.complete_graph(10))
(6, 945)
>>> round(edge_marginals(nx.path_graph(4))[0, 1], 12)
1.0
>>> matchings(nx.path_graph(4)), matchings(nx.petersen_graph())  # with 0, 1, 2, ... edges
([1, 3, 1], [1, 15, 75, 145, 90, 6])
>>> from fractions import Fraction
>>> thirds = nx.Graph([(0, 1, {"weight": Fraction(1, 3)}), (1, 2, {"weight": 10**30}), (2, 3, {"weight": 6})])
>>> perfect_matchings(thirds, weight="weight")  # exactly
Fraction(2, 1)
>>> round(edge_marginals(nx.path_graph(4), unmatched=1)[0, 1], 12)  # in 2 of these 5
0.4
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from numbers import Integral
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms import bipartite
from scipy import sparse

import libperm
from libperm._core.errors import InvalidMatrixError
from libperm._core.functions import permanent
from libperm._core.matrix import Matrix, of_places
from libperm._core.options import Options, Unpack
from libperm._core.scalars import Kind, Number
from libperm._core.values import kind_of_array


def biadjacency(
    G: nx.Graph, top_nodes: Iterable[Hashable] | None = None, weight: str | None = None
) -> tuple[Any, list[Hashable], list[Hashable]]:
    """Of a bipartite graph: its matrix, as scipy.sparse of the smaller side by the larger, and the nodes of
    its rows and columns. top_nodes: one side; not given: found, and a ValueError where the graph has no two
    sides. weight: the edges' attribute (1 where an edge has none); not given: each counts 1.

    Weights that scipy.sparse does not hold, as Fractions and ints beyond 64 bits, make an array of objects.
    Parallel edges add up; an edge within a side is a ValueError.
    """
    rows, columns = _sides(G, top_nodes)
    return _matrix_of(*_places(G, rows, columns, weight), (len(rows), len(columns))), rows, columns


def adjacency(G: nx.Graph, weight: str | None = None) -> tuple[Any, list[Hashable]]:
    """The symmetric matrix of any graph, as scipy.sparse, and the nodes of its lines; weights as in
    biadjacency(). An edge from a node to itself stands on the diagonal."""
    nodes = list(G)
    return _matrix_of(*_places_of_lines(G, nodes, weight), (len(nodes), len(nodes))), nodes


def _matrix_of(i: Any, j: Any, weights: Any, shape: tuple[int, int]) -> Any:
    if weights.dtype != object:
        return sparse.csr_array((weights, (i, j)), shape=shape)
    dense = np.zeros(shape, object)
    dense[i, j] = weights
    return dense


def _require_no_function(options: Any) -> None:
    if options.get("function") is not None:
        raise TypeError(
            "function: the graph itself says whether a permanent or a hafnian counts: leave it out"
        )


def _require_undirected(G: nx.Graph) -> None:
    if G.is_directed():
        raise ValueError("a directed graph: matchings are of an undirected one, e.g. G.to_undirected()")


def _has_sides(G: nx.Graph, top_nodes: Iterable[Hashable] | None) -> bool:
    _require_undirected(G)
    return top_nodes is not None or bipartite.is_bipartite(G)


def _sides(G: nx.Graph, top_nodes: Iterable[Hashable] | None) -> tuple[list[Hashable], list[Hashable]]:
    """The nodes of both sides, the smaller one first."""
    _require_undirected(G)
    if top_nodes is None:
        if not bipartite.is_bipartite(G):
            raise ValueError("the graph is not bipartite: no matrix's permanent counts its matchings")
        sides = [[node for node, side in bipartite.color(G).items() if side == k] for k in (0, 1)]
    else:
        top = set(top_nodes)
        sides = [[node for node in G if (node in top) == is_top] for is_top in (True, False)]
        inside = [edge for edge in G.edges() if (edge[0] in top) == (edge[1] in top)]
        if inside or not top <= set(G):
            raise ValueError(f"top_nodes are no side of the graph: {inside[:1] or top - set(G)}")
    rows, columns = sorted(sides, key=len)
    return rows, columns


def _places(
    G: nx.Graph, rows: list[Hashable], columns: list[Hashable], weight: str | None
) -> tuple[Any, Any, Any]:
    """Row, column and weight of each pair of neighbours, in order; of Python's numbers where numpy has none
    that hold them."""
    row, column = ({node: k for k, node in enumerate(side)} for side in (rows, columns))
    found: dict[tuple[int, int], Any] = {}
    for u, v, data in G.edges(data=True):
        at = (row[u], column[v]) if u in row and v in column else (row[v], column[u])
        if rows is columns:
            at = min(at), max(at)
        one = 1 if weight is None else data.get(weight, 1)
        if at in found and isinstance(one, np.integer):
            one = int(one)  # sums of numpy's wrap
        if at in found and isinstance(found[at], np.integer):
            found[at] = int(found[at])
        found[at] = found[at] + one if at in found else one
    at_all = sorted(found)
    i, j = np.array(at_all, np.int64).reshape(-1, 2).T
    weights = np.array([found[at] for at in at_all]) if found else np.zeros(0, int)
    rounds = weights.dtype.kind == "f" and all(isinstance(x, Integral) for x in found.values())
    if rounds or weights.ndim != 1 or weights.dtype.kind not in "biufc":
        weights = np.empty(len(at_all), object)
        weights[:] = [found[at] for at in at_all]
    return i, j, weights


def _places_of_lines(G: nx.Graph, nodes: list[Hashable], weight: str | None) -> tuple[Any, Any, Any]:
    """Row, column and weight, of each pair of neighbours in both halves, in order."""
    i, j, weights = _places(G, nodes, nodes, weight)
    is_edge = i != j
    both = np.concatenate([i, j[is_edge]]), np.concatenate([j, i[is_edge]])
    order = np.lexsort(both[::-1])
    return both[0][order], both[1][order], np.concatenate([weights, weights[is_edge]])[order]


def perfect_matchings(
    G: nx.Graph,
    top_nodes: Iterable[Hashable] | None = None,
    weight: str | None = None,
    **options: Unpack[Options],
) -> Number:
    """How many perfect matchings a graph has, of any kind; with `weight` the sum over them of the products of
    their edges' weights. Exact where the weights are: an int of integers, a Fraction of Fractions. An edge
    from a node to itself is in none. top_nodes: one side of a bipartite graph; 0 where the sides have
    different sizes."""
    _require_no_function(options)
    if top_nodes is not None:
        matrix = _matrix(G, top_nodes, weight)
        return permanent(matrix, **options) if matrix.shape[0] == matrix.shape[1] else 0
    _require_undirected(G)
    return libperm.hafnian(_matrix(G, None, weight, of_lines=True), **options)


def _matrix(
    G: nx.Graph, top_nodes: Iterable[Hashable] | None, weight: str | None, of_lines: bool = False
) -> Matrix:
    """Of the smaller side by the larger, or of lines: as the library takes it, whatever the weights."""
    rows, columns = (list(G), list(G)) if of_lines else _sides(G, top_nodes)
    i, j, weights = _places_of_lines(G, rows, weight) if of_lines else _places(G, rows, columns, weight)
    return of_places((len(rows), len(columns)), i, j, weights, kind_of_array(weights))


def matchings(
    G: nx.Graph,
    top_nodes: Iterable[Hashable] | None = None,
    weight: str | None = None,
    *,
    full: bool = False,
    **options: Unpack[Options],
) -> Any:
    """How many matchings with k edges a graph has, of any kind, a list from k = 0 (the coefficients of its
    matching polynomial, but for signs); with `weight` the sums over them of the products of their edges'
    weights. As libperm.matchings()."""
    _require_no_function(options)
    if _has_sides(G, top_nodes):
        return libperm.matchings(_matrix(G, top_nodes, weight), full=full, **options)
    options["function"] = "hafnian"
    return libperm.matchings(_matrix(G, None, weight, of_lines=True), full=full, **options)


def edge_marginals(
    G: nx.Graph,
    top_nodes: Iterable[Hashable] | None = None,
    weight: str | None = None,
    unmatched: float | None = None,
    **options: Unpack[Options],
) -> dict[tuple[Hashable, Hashable], float]:
    """For each edge the probability that it is in a perfect matching drawn with a probability proportional to
    the product of its edges' weights; without `weight` all are alike. unmatched: the weight of each node that
    is in no edge of the matching, which then need not be perfect. Keys are pairs (u, v) as G.edges() has
    them.
    """
    _require_no_function(options)
    of_lines = not _has_sides(G, top_nodes)
    rows, columns = (list(G),) * 2 if of_lines else _sides(G, top_nodes)
    row, column = ({node: i for i, node in enumerate(side)} for side in (rows, columns))
    if unmatched is None and len(rows) != len(columns):
        raise InvalidMatrixError(
            f"sides of {len(rows)} and {len(columns)} nodes: there is no perfect matching"
        )
    i, j, weights = _places_of_lines(G, rows, weight) if of_lines else _places(G, rows, columns, weight)
    if of_lines:  # by no matching's edge is a node its own neighbour
        is_edge = i != j
        i, j, weights = i[is_edge], j[is_edge], weights[is_edge]
        options["function"] = "hafnian" if unmatched is None else "loop_hafnian"
    matrix = sparse.csr_array((_doubles(weights), (i, j)), shape=(len(rows), len(columns)))
    singles = unmatched, None if of_lines else unmatched
    entries = libperm.marginals(matrix, *singles, **options).entries
    found = {}
    for u, v in G.edges():
        at = (row[u], column[v]) if u in row and v in column else (row[v], column[u])
        found[u, v] = float(entries[at]) if u != v else 0.0
    return found


def _doubles(weights: Any) -> Any:
    try:
        if kind_of_array(weights) is Kind.COMPLEX:
            raise InvalidMatrixError(
                "a weight is complex: probabilities are of weights that are not negative"
            )
        return weights.astype(float)
    except OverflowError:
        raise InvalidMatrixError("a weight is beyond a double: divide all by the largest one") from None
