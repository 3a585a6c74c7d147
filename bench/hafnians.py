"""Hafnians by default calls, from numpy arrays to answers, beside The Walrus and Piquasso where they are
installed: a table, ready to be pasted.

    python bench/hafnians.py [SECONDS]

with the package as it stands here (PYTHONPATH=capi/python, PERM_LIBRARY), all in one process. Of each call
the median of five turns, taken in turns, each of as many calls as fill some milliseconds; of what takes a
second one turn. A call of theirs that is expected to take more than SECONDS, 10 if not given, by the row
before, is left out. An answer of theirs further than 1e-6 from ours, relatively, is marked; ours has a bound.
Piquasso has multiplicities, and no bands."""

from __future__ import annotations

import importlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import networkx as nx
import numpy as np

import libperm

TURNS, SLICE, LONG = 5, 0.005, 1.0
PEERS = {"The Walrus": "thewalrus", "Piquasso": "piquasso._math.hafnian"}
packages: dict[str, Any] = {}
for _peer, _module in PEERS.items():
    with suppress(ImportError):
        packages[_peer] = importlib.import_module(_module)


@dataclass
class Row:
    name: str
    ours: Callable[..., Any]
    theirs: dict[str, Callable[[], Any]] = field(default_factory=dict)
    growth: float = 1  # times what the row before took them, about

    def of_peers(self) -> dict[str, Callable[[], Any]]:
        return {peer: call for peer, call in self.theirs.items() if peer in packages}


Timed = tuple[float, Any]  # seconds of a call, and its answer


def turn(call: Callable[[], Any]) -> Timed:
    calls, start, answer = 0, time.perf_counter(), None
    while calls == 0 or time.perf_counter() - start < SLICE:
        answer = call()
        calls += 1
    return (time.perf_counter() - start) / calls, answer


def medians(row: Row, peers: dict[str, Callable[[], Any]]) -> tuple[libperm.Result, dict[str, Timed]]:
    start = time.perf_counter()
    result = row.ours(full=True)
    seconds = time.perf_counter() - start
    if seconds > LONG and not peers:
        return result, {"libperm": (seconds, result.value)}
    calls = {"libperm": row.ours, **peers}
    found: dict[str, Timed] = {}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in peers.values():
        call()  # it is compiled
    for _ in range(TURNS):
        for name, call in calls.items():
            if sum(times[name]) < LONG:
                of_turn, answer = turn(call)
                times[name].append(of_turn)
                found[name] = (statistics.median(times[name]), answer)
    return result, found


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


def of_full(a: Any, loops: bool, name: str, growth: float) -> Row:
    once = np.ones(len(a), int)

    def walrus() -> Any:
        return packages["The Walrus"].hafnian(a, loop=loops)

    def piquasso() -> Any:
        if loops:
            return packages["Piquasso"].loop_hafnian_with_reduction(a, a.diagonal(), once)
        return packages["Piquasso"].hafnian_with_reduction(a, once)

    def ours(**options: Any) -> Any:
        return libperm.hafnian(a, loops=loops, **options)

    return Row(name, ours, {"The Walrus": walrus, "Piquasso": piquasso}, growth)


def of_repeated(a: Any, counts: list[int], name: str) -> Row:
    def walrus() -> Any:
        return packages["The Walrus"].hafnian_repeated(a, counts)

    def piquasso() -> Any:
        return packages["Piquasso"].hafnian_with_reduction(a, np.array(counts))

    def ours(**options: Any) -> Any:
        return libperm.hafnian(a, multiplicity=counts, **options)

    return Row(name, ours, {"The Walrus": walrus, "Piquasso": piquasso})


def of_band(n: int, half: int, loops: bool, growth: float) -> Row:
    a = banded(n, half)

    def walrus() -> Any:
        return packages["The Walrus"].hafnian_banded(a, loop=loops)

    def ours(**options: Any) -> Any:
        return libperm.hafnian(a, loops=loops, **options)

    with_loops = ", loops" if loops else ""
    return Row(f"band of half-width {half}, n = {n}{with_loops}", ours, {"The Walrus": walrus}, growth)


def of_graph(name: str, graph: nx.Graph) -> Row:
    a = adjacency(graph)
    return Row(name, lambda **options: libperm.hafnian(a, **options))


def rows() -> Iterator[Row]:
    for kind, loops in (("complex", False), ("complex", True), ("real", False), ("real", True)):
        before = 2
        for n in (2, 4, 6, 8, 12, 16, 20, 24, 28, 32, 36, 40):
            name = f"{kind}, {'loops, ' if loops else ''}n = {n}"
            growth = 1 if n <= 8 else 2 ** ((n - before) / 2) * (n / before) ** 3
            yield of_full(symmetric(n, kind == "complex"), loops, name, growth)
            before = n
    for modes, each in ((4, 2), (4, 5), (4, 11), (8, 2), (8, 4)):
        name = f"{modes} modes of {each} photons, complex"
        yield of_repeated(symmetric(modes, True), [each] * modes, name)
    for half, loops in ((2, False), (2, True), (4, False)):
        for n in (20, 50, 200):
            yield of_band(n, half, loops, 1 if n == 20 else 20)
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
        yield of_graph(name, graph)


def shown(row: Row, result: libperm.Result, times: dict[str, Timed]) -> str:
    seconds, ours = times["libperm"]
    cells, right = [], []
    for peer in PEERS:
        if peer not in times:
            cells.append("")
            continue
        theirs, answer = times[peer]
        is_right = abs(complex(answer) - complex(ours)) <= 1e-6 * abs(complex(ours))
        cells.append(f"{theirs:.2e}" + ("" if is_right else " (wrong)"))
        right += [theirs] if is_right else []
    ratio = f"{min(right) / seconds:.1f}" if right else ""
    bound = "exact" if result.exact else f"{result.rel_error_bound:.0e}"
    return "| " + " | ".join([row.name, f"{seconds:.2e}", *cells, ratio, bound, result.engine]) + " |"


def main() -> None:
    longest = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    print(f"| hafnian of | libperm, s | {', s | '.join(PEERS)}, s | quickest / ours | bound | engine |")
    print("|---" * 7 + "|")
    expected: dict[str, float] = {}
    for row in rows():
        calls = {}
        for peer, call in row.of_peers().items():
            expected[peer] = 0 if row.growth == 1 else expected.get(peer, 0) * row.growth
            if expected[peer] <= longest:
                calls[peer] = call
        result, times = medians(row, calls)
        expected.update({peer: times[peer][0] for peer in calls})
        print(shown(row, result, times), flush=True)


if __name__ == "__main__":
    main()
