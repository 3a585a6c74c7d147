"""libperm.networkx against enumeration, where NetworkX is."""

import random
from fractions import Fraction
from itertools import combinations, permutations

import pytest
from support import SEED

nx = pytest.importorskip("networkx")
pytest.importorskip("scipy")

import libperm  # noqa: E402
from libperm.networkx import biadjacency, edge_marginals, matchings, perfect_matchings  # noqa: E402


def random_bipartite(source, n, density):
    """With nodes of both sides in any order; connected or not."""
    G = nx.Graph()
    nodes = list(range(2 * n))
    source.shuffle(nodes)
    G.add_nodes_from(nodes)
    for u in range(n):
        for v in range(n, 2 * n):
            if source.random() < density or v == u + n:
                G.add_edge(u, v, weight=source.randint(1, 9))
    return G


def by_enumeration(G, n, weight):
    """All perfect matchings, each with the product of its weights."""
    for s in permutations(range(n)):
        edges = [(u, n + v) for u, v in enumerate(s)]
        if all(G.has_edge(*edge) for edge in edges):
            product = 1
            for edge in edges:
                product *= G.edges[edge]["weight"] if weight else 1
            yield edges, product


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("n", range(1, 7))
def test_counts_and_marginals(n, weight):
    G = random_bipartite(random.Random(SEED + n), n, 0.4)
    enumerated = list(by_enumeration(G, n, weight))
    total = sum(product for _, product in enumerated)
    assert perfect_matchings(G, weight=weight) == total
    assert perfect_matchings(G, top_nodes=range(n), weight=weight) == total
    found = edge_marginals(G, weight=weight)
    assert set(found) == set(G.edges())
    for (u, v), probability in found.items():
        edge = min(u, v), max(u, v)
        expected = sum(product for edges, product in enumerated if edge in edges) / total
        assert probability == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("large", [10**30, Fraction(1, 3)])
@pytest.mark.parametrize("n", range(1, 6))
def test_exact_weights(n, large):
    G = random_bipartite(random.Random(SEED + n), n, 0.5)
    for _, _, data in G.edges(data=True):
        data["weight"] *= large
    enumerated = list(by_enumeration(G, n, "weight"))
    total = sum(product for _, product in enumerated)
    found = perfect_matchings(G, weight="weight")
    assert found == total
    assert type(found) is type(large)
    assert matchings(G, weight="weight")[-1] == total
    matrix, rows, columns = biadjacency(G, weight="weight")
    assert libperm.permanent(matrix) == total
    assert all(matrix[rows.index(u) if u in rows else rows.index(v),
                      columns.index(v) if u in rows else columns.index(u)] == data["weight"]
               for u, v, data in G.edges(data=True))  # fmt: skip
    for (u, v), probability in edge_marginals(G, weight="weight").items():
        edge = min(u, v), max(u, v)
        expected = sum(product for edges, product in enumerated if edge in edges) / Fraction(total)
        assert probability == pytest.approx(float(expected), rel=1e-12, abs=1e-15)


def test_parallel_edges_of_exact_weights_add_up():
    G = nx.MultiGraph()
    G.add_edge(0, 1, weight=Fraction(1, 3))
    G.add_edge(1, 0, weight=Fraction(1, 6))
    assert perfect_matchings(G, weight="weight") == Fraction(1, 2)
    G.add_edge(0, 1, weight=0.25)
    assert perfect_matchings(G, weight="weight") == 0.75
    G = nx.Graph()
    G.add_edge(0, 1, weight=10**400)
    assert perfect_matchings(G, weight="weight") == 10**400
    with pytest.raises(ValueError, match="beyond a double"):
        edge_marginals(G, weight="weight")
    G = nx.Graph()
    G.add_edge(0, 1, weight=2**63 + 1)  # which numpy holds beside no negative number
    G.add_edge(2, 3, weight=-1)
    assert perfect_matchings(G, weight="weight") == -(2**63) - 1


def test_known():
    assert perfect_matchings(nx.grid_2d_graph(8, 8)) == 12988816
    assert perfect_matchings(nx.complete_bipartite_graph(25, 25)) == 15511210043330985984000000
    assert perfect_matchings(nx.path_graph(3)) == 0
    assert perfect_matchings(nx.hexagonal_lattice_graph(2, 2)) == 6
    assert perfect_matchings(nx.empty_graph(0)) == 1
    assert perfect_matchings(nx.empty_graph(2)) == 0
    G = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 3)])
    assert perfect_matchings(G) == 2


def test_biadjacency():
    G = nx.Graph([("a", 1), ("a", 2), ("b", 3)])
    matrix, rows, columns = biadjacency(G, top_nodes=[1, 2, 3])
    assert (rows, columns) == (["a", "b"], [1, 2, 3])
    assert matrix.toarray().tolist() == [[1, 1, 0], [0, 0, 1]]
    assert libperm.permanent(matrix) == 2  # ways to match both letters


def test_graphs_of_any_kind_have_perfect_matchings():
    source = random.Random(SEED)
    assert perfect_matchings(nx.cycle_graph(3)) == 0
    assert perfect_matchings(nx.complete_graph(12)) == 10395
    assert perfect_matchings(nx.Graph()) == 1
    for _ in range(20):
        G = nx.gnp_random_graph(8, 0.5, seed=source.randrange(2**32))
        for u, v in G.edges():
            G[u][v]["weight"] = Fraction(source.randint(-5, 5), source.randint(1, 5))
        G.add_edge(3, 3, weight=Fraction(7))  # in none
        truth = Fraction(0)
        pairs = [(u, v) for u, v in G.edges() if u != v]
        for chosen in combinations(pairs, 4):
            if len({node for edge in chosen for node in edge}) == 8:
                product = Fraction(1)
                for u, v in chosen:
                    product *= G[u][v]["weight"]
                truth += product
        assert perfect_matchings(G, weight="weight") == truth, SEED


def test_refuses():
    with pytest.raises(ValueError, match="not bipartite"):
        biadjacency(nx.cycle_graph(3))
    with pytest.raises(ValueError, match="directed"):
        perfect_matchings(nx.DiGraph([(0, 1)]))
    with pytest.raises(ValueError, match="no side"):
        perfect_matchings(nx.path_graph(4), top_nodes=[0, 1])
    with pytest.raises(ValueError, match="no side"):
        perfect_matchings(nx.path_graph(2), top_nodes=[0, 7])
    with pytest.raises(ValueError, match="no perfect matching"):
        edge_marginals(nx.path_graph(3))
    with pytest.raises(ValueError, match="no matching"):
        edge_marginals(nx.Graph([(0, 2), (1, 2), (4, 5), (4, 6)]), top_nodes=[0, 1, 4])
    G = nx.Graph()
    G.add_edge(0, 1, weight=-1)
    with pytest.raises(ValueError, match="negative"):
        edge_marginals(G, weight="weight")
