"""What is no graph, or no number, is refused by all that computes hafnians, never taken for another."""

from collections.abc import Callable
from typing import Any

import pytest

import libperm

np = pytest.importorskip("numpy")
nx = pytest.importorskip("networkx")

gaussian = pytest.importorskip("libperm.gaussian")
of_graphs = pytest.importorskip("libperm.networkx")
walrus = pytest.importorskip("libperm.thewalrus")

ASYMMETRIC = np.array([[0, 1.0], [2, 0]])
SPLITTER = np.array([[1, 1], [1, -1]]) / np.sqrt(2)


def plan() -> Any:
    return libperm.Plan(np.array([[0, 1.0], [1, 0]]), function="hafnian")


@pytest.mark.parametrize(
    "call",
    [
        lambda: libperm.gradients(ASYMMETRIC[None], function="hafnian", with_permanents=True),
        lambda: libperm.gradient(ASYMMETRIC, function="hafnian"),
        lambda: libperm.marginals(ASYMMETRIC[None], function="hafnian"),
        lambda: plan().gradient(ASYMMETRIC, with_permanent=True),
        lambda: plan().gradients(ASYMMETRIC[None], with_permanents=True),
        lambda: plan().marginals(ASYMMETRIC),
        lambda: libperm.gradients(np.array([[[np.nan, 1.0], [1, 0]]]), function="hafnian"),
        lambda: libperm.permanental_polynomial([[0, 2], [2, 0]], function="loop_hafnian"),
        lambda: libperm.principal_sums([[0, 2], [2, 0]], function="hafnian"),
        lambda: of_graphs.edge_marginals(nx.cycle_graph(4), function="hafnian"),
        lambda: of_graphs.matchings(nx.cycle_graph(4), function="hafnian"),
        lambda: of_graphs.perfect_matchings(nx.cycle_graph(4), [0, 2], function="hafnian"),
        lambda: walrus.loop_hafnian(np.ma.masked_array([[0, 1.0], [1.0, 0]], mask=[[0, 1], [1, 0]])),
        lambda: walrus.hafnian_sparse(np.ones((2, 3))),
        lambda: walrus.hafnian_sparse(np.ones((4, 4)), {-1, 0}),
        lambda: gaussian.probability(np.identity(4), [1, 1], mean=["1", "0", "0", "0"]),
        lambda: gaussian.probability(np.identity(4), [1, 1], mean=np.array([1j, 0, 0, 0])),
        lambda: gaussian.covariance([0.5], [[2]]),
        lambda: gaussian.covariance([0.5], [[1]], hbar=-1),
    ],
)
def test_refused(call: Callable[[], Any]) -> None:
    with pytest.raises((libperm.Error, TypeError, ValueError)):
        call()


def test_complex_weights_have_no_probabilities() -> None:
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=1 + 1j)
    with pytest.raises(libperm.InvalidMatrixError, match="complex"):
        of_graphs.edge_marginals(graph, weight="weight", unmatched=1)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64])
def test_parallel_edges_of_numpy_do_not_wrap(kind: Any) -> None:
    most = np.iinfo(kind).max
    graph = nx.MultiGraph()
    for _ in range(2):
        graph.add_edge(0, 1, weight=kind(most))
    assert of_graphs.perfect_matchings(graph, weight="weight") == 2 * int(most)


def test_integers_beyond_64_bits_go_through_the_shim() -> None:
    assert walrus.loop_hafnian([[0, 2**63], [2**63, -1]]) == 2**63


def test_outcomes_of_more_photons_than_doubles_have_factorials() -> None:
    def by_definition(k: int, r: float) -> float:  # of one squeezed mode: C(2k, k) (tanh r / 2)^2k / cosh r
        logarithm = 2 * k * np.log(np.tanh(r) / 2) - np.log(np.cosh(r))
        return float(np.exp(logarithm + sum(np.log((k + j) / j) for j in range(1, k + 1))))

    for photons in (2, 20, 172, 300):
        found = gaussian.pure_probability([1.5], [[1]], [photons])
        assert found == pytest.approx(by_definition(photons // 2, 1.5), rel=1e-9)
    assert gaussian.pure_probability([1.5], [[1]], [171]) == 0


def test_polynomials_take_multiplicities_of_lines_alone() -> None:
    # (1 + x) + (1 + x)^2
    assert libperm.polynomial([[1]], function="loop_hafnian", row_multiplicity=[2]) == [2, 3, 1]
