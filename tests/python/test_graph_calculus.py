"""Derivatives, probabilities, numbers and samples of a graph's matchings, against all that there are."""

import itertools
import math
import os
import random
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import libperm
from libperm.networkx import edge_marginals, matchings

SEED = int(os.environ.get("PERM_SEED", "3911"))

NUMBERS = {
    "int": lambda rng: rng.randint(-4, 9),
    "long": lambda rng: rng.randint(-(10**30), 10**30),
    "Fraction": lambda rng: Fraction(rng.randint(-9, 9), rng.randint(1, 9)),
    "float": lambda rng: rng.gauss(0, 1),
    "complex": lambda rng: complex(rng.gauss(0, 1), rng.gauss(0, 1)),
}


def matchings_of(n, has_singles):
    """All, as lists of pairs and of single lines."""

    def of(left):
        if not left:
            yield [], []
            return
        first, *rest = left
        if has_singles:
            for pairs, singles in of(rest):
                yield pairs, [first, *singles]
        for k in rest:
            for pairs, singles in of([x for x in rest if x != k]):
                yield [(first, k), *pairs], singles

    return list(of(list(range(n))))


def weight_of(a, matching, loops=None, without=None):
    pairs, singles = matching
    factors = [a[i][j] for i, j in pairs if (i, j) != without]
    factors += [loops[i] for i in singles if (i, i) != without]
    return math.prod(factors, start=1)


def draw(rng, n, number):
    a = [[0] * n for _ in range(n)]
    for i, j in itertools.combinations_with_replacement(range(n), 2):
        if rng.random() < 0.7:
            a[i][j] = a[j][i] = number(rng)
    return a


def derivatives_of(a, has_loops):
    n = len(a)
    found = [[0] * n for _ in range(n)]
    loops = [a[i][i] for i in range(n)]
    for matching in matchings_of(n, has_loops):
        pairs, singles = matching
        for i, j in pairs:
            found[i][j] += weight_of(a, matching, loops, (i, j))
            found[j][i] = found[i][j]
        for i in singles:
            found[i][i] += weight_of(a, matching, loops, (i, i))
    return found


@pytest.mark.parametrize("kind", NUMBERS)
def test_gradients(kind):
    rng = random.Random(SEED)
    compared = 0
    for _ in range(25):
        n = rng.randint(1, 7)
        a = draw(rng, n, NUMBERS[kind])
        has_loops = rng.random() < 0.5
        function = "loop_hafnian" if has_loops else "hafnian"
        truth = derivatives_of(a, has_loops)
        found = libperm.gradient(a, function=function)
        full = libperm.gradient(a, function=function, full=True)
        by_plan = libperm.Plan(a, function=function).gradient(with_permanent=False)
        places = [(i, j) for i in range(n) for j in range(n) if a[i][j] != 0]
        for i, j in itertools.product(range(n), repeat=2):
            if kind in ("int", "long", "Fraction"):
                assert found[i][j] == truth[i][j], SEED
                assert isinstance(found[i][j], (int, Fraction))
            else:
                assert abs(found[i][j] - truth[i][j]) <= full.error_bounds[i][j] + 1e-13 * abs(truth[i][j]), (
                    SEED
                )
            compared += truth[i][j] != 0
        for x, (i, j) in zip(by_plan, places):
            assert x == pytest.approx(truth[i][j], rel=1e-9, abs=1e-9), SEED
    assert compared > 100


def test_copies_of_lines():
    rng = random.Random(SEED)
    compared = 0
    for _ in range(20):
        n = rng.randint(1, 4)
        a = draw(rng, n, NUMBERS["Fraction"])
        times = [rng.randint(0, 3) for _ in range(n)]
        lines = [i for i in range(n) for _ in range(times[i])]
        whole = [[a[i][j] for j in lines] for i in lines]
        of_copies = derivatives_of(whole, False)
        truth = [[0] * n for _ in range(n)]
        for p, q in itertools.combinations(range(len(lines)), 2):
            i, j = lines[p], lines[q]
            truth[i][j] += of_copies[p][q]
            truth[j][i] = truth[i][j]
        found = libperm.gradient(a, function="hafnian", row_multiplicity=times)
        assert found == truth, SEED
        doubles = libperm.gradient(np.array(a, float), function="hafnian", row_multiplicity=times, full=True)
        assert np.allclose(doubles.derivatives, np.array(truth, float)), SEED
        compared += any(map(any, truth))
    assert compared > 0
    with pytest.raises(libperm.UnsupportedError, match="row_unmatched"):
        libperm.gradient(np.ones((2, 2)), function="loop_hafnian", row_multiplicity=[2, 1])
    with pytest.raises(libperm.UnsupportedError, match="copies"):
        libperm.gradient([[1, 1], [1, 1]], function="loop_hafnian", row_multiplicity=[2, 1])


def test_arrays_sparse_matrices_and_batches():
    rng = np.random.default_rng(SEED)
    a = rng.random((10, 10))
    a = a + a.T
    dense = libperm.gradient(a, function="hafnian")
    assert dense.shape == (10, 10)
    assert (dense == dense.T).all()
    assert (dense.diagonal() == 0).all()
    assert (dense * a).sum() == pytest.approx(10 * libperm.hafnian(a))
    of_sparse = libperm.gradient(sparse.csr_array(a), function="hafnian")
    assert np.allclose(of_sparse.toarray(), dense)
    both = libperm.gradients(np.array([a, 2 * a]), function="hafnian")
    assert np.allclose(both[0], dense)
    assert np.allclose(both[1], 16 * dense)
    band = np.triu(np.tril(np.ones((40, 40)), 2), -2)  # and its zeros
    found = libperm.gradient(band, function="hafnian")
    assert found[0, 1] == libperm.hafnian(band[2:, 2:])
    keep = [k for k in range(40) if k not in (3, 10)]
    assert found[3, 10] == found[10, 3] == libperm.hafnian(band[np.ix_(keep, keep)])


def test_marginals():
    rng = random.Random(SEED)
    for _ in range(30):
        n = rng.randint(1, 7)
        a = draw(rng, n, lambda r: r.random())
        has_loops = rng.random() < 0.6
        prices = [rng.random() for _ in range(n)] if has_loops and rng.random() < 0.5 else None
        loops = prices or [a[i][i] for i in range(n)]
        function = "loop_hafnian" if has_loops else "hafnian"
        weights = [(m, weight_of(a, m, loops)) for m in matchings_of(n, has_loops)]
        whole = sum(w for _, w in weights)
        if whole == 0:
            with pytest.raises(libperm.InvalidMatrixError):
                libperm.marginals(a, prices, function=function)
            continue
        found = libperm.marginals(a, prices, function=function)
        by_plan = libperm.Plan(a, function=function).marginals(row_unmatched=prices)
        assert found.value == pytest.approx(whole)
        places = [(i, j) for i in range(n) for j in range(n) if a[i][j] != 0]
        for i, j in itertools.product(range(n), repeat=2):
            if i == j:
                truth = 0 if prices or not has_loops else sum(w for m, w in weights if i in m[1]) / whole
            else:
                truth = sum(w for m, w in weights if (min(i, j), max(i, j)) in m[0]) / whole
            assert abs(found.entries[i][j] - truth) <= found.entry_bounds[i][j] + 1e-12, SEED
            if (i, j) in places:
                assert by_plan.entries[places.index((i, j))] == pytest.approx(truth, abs=1e-12), SEED
        for i in range(n):
            truth = sum(w for m, w in weights if i in m[1]) / whole if prices else 0
            assert abs(found.rows[i] - truth) <= found.row_bounds[i] + 1e-12, SEED
            assert found.cols[i] == 0
    many = np.array([[[0, 1, 2], [1, 0, 1], [2, 1, 0]], [[0, 3, 1], [3, 0, 0], [1, 0, 0]]], float)
    of_many = libperm.marginals(many, 1.0, function="loop_hafnian")
    for k in range(2):
        alone = libperm.marginals(many[k], 1.0, function="loop_hafnian")
        assert np.allclose(of_many.entries[k], alone.entries)
        assert np.allclose(of_many.rows[k], alone.rows)


@pytest.mark.parametrize("kind", ["int", "Fraction", "float"])
def test_matchings_by_size(kind):
    rng = random.Random(SEED)
    for _ in range(20):
        n = rng.randint(0, 7)
        a = draw(rng, n, NUMBERS[kind])
        truth = [0] * (n // 2 + 1)
        for pairs, singles in matchings_of(n, True):
            truth[len(pairs)] += weight_of(a, (pairs, singles), [1] * n)
        found = libperm.matchings(a, function="hafnian")
        assert found == (truth if kind != "float" else pytest.approx(truth, rel=1e-9, abs=1e-12)), SEED
        of_loops = [[0 if i == j else x for j, x in enumerate(row)] for i, row in enumerate(a)]
        by_power = libperm.polynomial(of_loops, function="loop_hafnian")  # single lines count x
        wanted = [0 if k % 2 else truth[k // 2] for k in range(n + 1)][::-1]
        assert by_power == (wanted if kind != "float" else pytest.approx(wanted, rel=1e-9, abs=1e-9)), SEED
    with pytest.raises(libperm.UnsupportedError):
        libperm.matchings([[1]], function="loop_hafnian")


def test_samples():
    K4 = np.ones((4, 4)) - np.eye(4)
    found = libperm.sample(K4, 3000, rng=SEED, function="hafnian")
    assert (np.take_along_axis(found, found, axis=1) == np.arange(4)).all()
    assert all(900 < (found[:, 0] == k).sum() < 1100 for k in (1, 2, 3))
    loops = libperm.sample(np.ones((3, 3)), 4000, rng=SEED, function="loop_hafnian")
    assert 900 < (loops == [0, 1, 2]).all(axis=1).sum() < 1100  # one of four
    singles = libperm.sample(K4, 100, rng=SEED, row_unmatched=1.0, function="loop_hafnian")
    assert (singles == -1).any()
    again = libperm.sample(K4, 3000, rng=SEED, function="hafnian", threads=1)
    assert (again == found).all()


def test_networkx():
    petersen = nx.petersen_graph()
    assert matchings(petersen) == [1, 15, 75, 145, 90, 6]
    of_edges = edge_marginals(petersen)
    assert set(of_edges) == set(petersen.edges())
    assert all(p == pytest.approx(1 / 3) for p in of_edges.values())
    triangle = nx.cycle_graph(3)
    assert edge_marginals(triangle, unmatched=1)[0, 1] == pytest.approx(1 / 4)
    assert matchings(nx.path_graph(4)) == [1, 3, 1]
    with pytest.raises(libperm.InvalidMatrixError):
        edge_marginals(triangle)
