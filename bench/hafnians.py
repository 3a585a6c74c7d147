"""Hafnians by default calls, from numpy arrays to answers, beside The Walrus where it is installed.

    python bench/hafnians.py [SECONDS]

with the package as it stands here (PYTHONPATH=capi/python, PERM_LIBRARY), on two threads. Each line: seconds,
the median of five turns (of one, where that takes a second), those of The Walrus, the bound and the engine.
The Walrus' calls that are expected to take more than SECONDS, 10 if not given, are left out."""

import importlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import networkx as nx
import numpy as np

import libperm

thewalrus: Any = None
with suppress(ImportError):
    thewalrus = importlib.import_module("thewalrus")

TURNS = 5


def median(call: Callable[[], Any]) -> tuple[float, Any]:
    times: list[float] = []
    answer = None
    while len(times) < TURNS and sum(times) < 1:
        start = time.perf_counter()
        answer = call()
        times.append(time.perf_counter() - start)
    return statistics.median(times), answer


def symmetric(n: int, of_complex: bool) -> Any:
    g = np.random.default_rng(n)
    a = g.normal(size=(n, n)) + (1j * g.normal(size=(n, n)) if of_complex else 0)
    return a + a.T


def board(n: int, both_diagonals: bool) -> nx.Graph:
    graph = nx.grid_2d_graph(n, n)
    for x in range(n - 1):
        for y in range(n - 1):
            graph.add_edge((x, y), (x + 1, y + 1))
            if both_diagonals:
                graph.add_edge((x + 1, y), (x, y + 1))
    return graph


def fullerene(frequency: int) -> nx.Graph:
    """The dual of an icosahedron whose triangles are divided in three, so often: 20, 60, 180 vertices."""
    graph = nx.icosahedral_graph()
    for _ in range(frequency):
        graph = leapfrog(graph)
    return corners(graph)


def triangles_around(triangulation: nx.Graph) -> Iterator[tuple[Any, list[tuple[Any, Any]]]]:
    """Of each corner the triangles that meet there, each with the one that follows it."""
    _, drawing = nx.check_planarity(triangulation)
    for u in triangulation:
        around = list(drawing.neighbors_cw_order(u))
        triangles = [frozenset((u, v, w)) for v, w in zip(around, around[1:] + around[:1])]
        yield u, list(zip(triangles, triangles[1:] + triangles[:1]))


def leapfrog(triangulation: nx.Graph) -> nx.Graph:
    """A point in each triangle, joined to its corners and to the points of the triangles beside it."""
    graph = corners(triangulation)
    for u, pairs in triangles_around(triangulation):
        graph.add_edges_from((u, triangle) for triangle, _ in pairs)
    return nx.convert_node_labels_to_integers(graph)


def corners(triangulation: nx.Graph) -> nx.Graph:
    """The dual: a vertex for each triangle."""
    return nx.Graph([pair for _, pairs in triangles_around(triangulation) for pair in pairs])


def adjacency(graph: nx.Graph) -> Any:
    return nx.to_scipy_sparse_array(graph, dtype=int)


def banded(n: int, half: int) -> Any:
    a = np.random.default_rng(4).uniform(0, 1, (n, n))
    a += a.T
    return np.where(abs(np.subtract.outer(np.arange(n), np.arange(n))) <= half, a, 0)


def walrus_seconds(n: int) -> float:
    return 4e-3 * 2 ** (max(0, n - 16) / 2) * (n / 16) ** 3


def main() -> None:
    longest = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    options: Any = {"threads": 2, "cache_dir": ""}

    def line(name: str, matrix: Any, other: Callable[[], Any] | None) -> None:
        seconds, found = median(lambda: libperm.hafnian(matrix, full=True, **options))
        theirs, ratio = "", ""
        if other is not None and thewalrus is not None:
            other()  # it is compiled
            of_other, value = median(other)
            theirs, ratio = f"{of_other:.2e}", f"{of_other / seconds:.0f}"
            assert abs(complex(value) - complex(found.value)) <= 1e-6 * abs(complex(value)), name
        print(
            f"| {name} | {seconds:.2e} | {theirs} | {ratio} | {found.rel_error_bound:.0e} | {found.engine} |",
            flush=True,
        )

    print("| matrix | s | The Walrus, s | ratio | bound | engine |\n|---|---|---|---|---|---|")
    for of_complex in (True, False):
        for n in (4, 6, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44):
            a = symmetric(n, of_complex)
            in_time = thewalrus is not None and walrus_seconds(n) < longest
            other = (lambda a=a: thewalrus.hafnian(a)) if in_time else None
            line(f"{'complex' if of_complex else 'real'}, full, n = {n}", a, other)
    for n, half in ((200, 4), (50, 2)):
        a = banded(n, half)
        in_time = n < 100
        other = (lambda a=a: thewalrus.hafnian_banded(a)) if in_time else None
        line(f"band of half-width {half}, n = {n}", a, other)
    for name, graph in (
        ("fullerene C60", fullerene(1)),
        ("fullerene C180", fullerene(2)),
        ("fullerene C540", fullerene(3)),
        ("triangles, 10 x 10", board(10, False)),
        ("triangles, 50 x 50", board(50, False)),
        ("kings, 8 x 8", board(8, True)),
        ("kings, 12 x 12", board(12, True)),
        ("cubic at random, n = 200", nx.random_regular_graph(3, 200, seed=1)),
    ):
        line(name, adjacency(graph), None)


if __name__ == "__main__":
    main()
