"""Distributions of photons: against permanents one by one, against enumeration, against Piquasso."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from support import SEED, by_definition
from test_boson import unitary

import libperm
from libperm import boson

CAME = [[0, 1, 2], [1, 1, 3], [2, 2], [3], [], [0, 0, 1, 1]]


def random_states(photons, dimension, salt=0):
    """Columns: the photons' states."""
    g = np.random.default_rng(SEED + salt)
    states = g.normal(size=(dimension, photons)) + 1j * g.normal(size=(dimension, photons))
    return states / np.linalg.norm(states, axis=0)


def orthogonal(modes):
    """Exact: a product of rotations by 3-4-5 triangles."""
    u = np.array([[Fraction(int(i == j)) for j in range(modes)] for i in range(modes)])
    for layer in range(modes):
        for z in range(layer % 2, modes - 1, 2):
            u[z : z + 2] = (
                np.array([[Fraction(3, 5), Fraction(-4, 5)], [Fraction(4, 5), Fraction(3, 5)]]) @ u[z : z + 2]
            )
    return u


def repeated(u, outcome, came):
    return [[u[j][k] for k in came] for j, q in enumerate(outcome) for _ in range(q)]


def weight(outcome, came):
    copies = [came.count(mode) for mode in set(came)]
    return math.prod(map(math.factorial, [*outcome, *copies]))


@pytest.mark.parametrize("came", CAME)
def test_every_bound_holds(came):
    u = unitary(4)
    law = boson.distribution(u, came)
    assert len(law) == math.comb(len(came) + 3, len(came))
    assert abs(law.probabilities.sum() - 1) < 1e-13
    given = boson.distribution(u, came, law.outcomes[::-1])
    for outcome, *told in zip(
        law.outcomes.tolist(),
        law.probabilities,
        given.probabilities[::-1],
        law.error_bounds,
        given.error_bounds[::-1],
    ):
        re, im = (
            by_definition([list(map(complex, row)) for row in repeated(u, outcome, came)]) if came else (1, 0)
        )
        exact = Fraction(re * re + im * im) / weight(outcome, came)
        for probability, bound in (told[::2], told[1::2]):
            assert abs(Fraction(float(probability)) - exact) <= Fraction(float(bound))
            assert bound < 1e-13


def test_larger_ones_against_exact_permanents():
    u = unitary(9).real / 2  # where modes absorb
    law = boson.distribution(u, [0, 0, 2, 5, 5, 5])
    g = np.random.default_rng(SEED)
    for k in g.choice(len(law), 40):
        outcome = law.outcomes[k].tolist()
        permanent = libperm.permanent(
            u, row_multiplicity=outcome, col_multiplicity=[2, 0, 1, 0, 0, 3, 0, 0, 0], precision="exact"
        )
        exact = Fraction(permanent) ** 2 / weight(outcome, [0, 0, 2, 5, 5, 5])
        assert abs(Fraction(float(law.probabilities[k])) - exact) <= Fraction(float(law.error_bounds[k]))
        assert boson.probability(u, [0, 0, 2, 5, 5, 5], outcome) == pytest.approx(float(exact), rel=1e-9)


def test_all_are_there_in_order():
    law = boson.distribution(np.eye(3), 2)
    assert (law.outcomes == boson.outcomes(3, 2)).all()
    everything = [out for out in itertools.product(range(3), repeat=3) if sum(out) == 2]
    assert sorted(everything, key=lambda out: out[::-1]) == [tuple(out) for out in law.outcomes.tolist()]
    assert law.as_dict()[1, 1, 0] == pytest.approx(1, abs=1e-14)
    lossy = boson.distribution(np.eye(3), 2, transmission=0.5)
    assert (lossy.outcomes == boson.outcomes(3, 2, lost=True)).all()
    assert [sum(out) for out in lossy.outcomes.tolist()] == [2] * 6 + [1] * 3 + [0]


def test_hong_ou_and_mandel():
    splitter = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    for overlap in (0, 0.3, 1):
        law = boson.distribution(splitter, 2, overlaps=overlap).as_dict()
        assert law[1, 1] == pytest.approx((1 - overlap**2) / 2, abs=1e-15)
    assert boson.probability(splitter, 2, [1, 1]) < 1e-30
    quarter = boson.probability(splitter, 2, [1, 0], transmission=0.5)
    assert quarter == pytest.approx(0.25)  # one of both arrives: 1/2, by this mode: 1/2


@pytest.mark.parametrize("came", [came for came in CAME if len(set(came)) == len(came)])
@pytest.mark.parametrize("transmission", [1, 0.6])
def test_overlaps_by_the_states_themselves(came, transmission):
    """An internal state is another mode, which detectors do not see."""
    u, photons, size = unitary(4), len(came), 2
    states = random_states(photons, size)
    law = boson.distribution(u, came, overlaps=states.conj().T @ states, transmission=transmission)
    both = np.einsum("jk,ak->jak", u[:, came], states).reshape(4 * size, photons)
    seen = dict.fromkeys(law.as_dict(), 0.0)
    whole = boson.distribution(both, photons, transmission=transmission)
    for out, probability in zip(
        whole.outcomes.reshape(-1, 4, size).sum(axis=2).tolist(), whole.probabilities
    ):
        seen[tuple(out)] += probability
    assert seen == pytest.approx(law.as_dict(), abs=1e-13)
    assert law.error_bounds.max() < 1e-12


@pytest.mark.parametrize("came", [[1, 1, 3], [2, 2], [1, 0, 1]])
@pytest.mark.parametrize("transmission", [1, 0.6])
def test_overlaps_in_one_mode_by_definition(came, transmission):
    """Over all pairs of permutations; of lossy ones the last are lost."""
    u, photons = unitary(4), len(came)
    states = random_states(photons, 2, 1)
    gram = states.conj().T @ states
    law = boson.distribution(u, came, overlaps=gram, transmission=transmission)
    orders = list(itertools.permutations(range(photons)))
    norm = sum(math.prod(gram[k, s[k]] * (came[k] == came[s[k]]) for k in range(photons)) for s in orders)
    assert law.probabilities.sum() == pytest.approx(1)
    for out, probability in law.as_dict().items():
        modes = [j for j, q in enumerate(out) for _ in range(q)]
        lost = photons - len(modes)
        total = 0
        for s, r in itertools.product(orders, orders):
            term = transmission ** len(modes) * (1 - transmission) ** lost
            for j, mode in enumerate(modes):
                term *= u[mode, came[s[j]]] * u[mode, came[r[j]]].conj() * gram[r[j], s[j]]
            for j in range(len(modes), photons):
                term *= (came[s[j]] == came[r[j]]) * gram[r[j], s[j]]
            total += term
        expected = total / norm / math.prod(map(math.factorial, out)) / math.factorial(lost)
        assert probability == pytest.approx(expected.real, abs=1e-12)


def test_equal_and_orthogonal_states():
    u = unitary(5)
    alike = boson.distribution(u, [0, 2, 4])
    same = boson.distribution(u, [0, 2, 4], overlaps=np.ones((3, 3)))
    assert same.as_dict() == alike.as_dict()
    phases = np.exp(1j * np.array([0.1, 1, 2]))  # of the states alone: nobody sees them
    seen = boson.distribution(u, [0, 2, 4], overlaps=np.outer(phases.conj(), phases))
    assert seen.as_dict() == pytest.approx(alike.as_dict(), abs=1e-14)
    apart = boson.distribution(u, [0, 2, 4], overlaps=0)
    for out, probability in apart.as_dict().items():
        classical = libperm.permanent(abs(np.array(repeated(u, out, [0, 2, 4]))) ** 2)
        assert probability == pytest.approx(classical / math.prod(map(math.factorial, out)), rel=1e-12)


def test_ten_photons_against_enumeration():
    """Of their internal states, two for each mode out."""
    u, states = unitary(10), random_states(10, 2)
    law = boson.distribution(u, 10, [[1] * 10, [0] * 9 + [10]], overlaps=states.conj().T @ states)
    found = np.array(list(itertools.product(range(2), repeat=10)))
    permanents = libperm.permanents(u[None] * states[found])
    assert law.probabilities[0] == pytest.approx(
        (abs(permanents) ** 2).sum(), abs=law.error_bounds[0] + 1e-16
    )
    apart = boson.distribution(u, 10, [[1] * 10], overlaps=0)
    assert apart.probabilities[0] == pytest.approx(libperm.permanent(abs(u) ** 2), rel=1e-9)
    assert law.probabilities[0] > 1e3 * law.error_bounds[0]


def test_piquasso_has_the_same():
    pq = pytest.importorskip("piquasso")
    u, came = unitary(3), [0, 1, 2]
    states = random_states(3, 3)
    gram = states.conj().T @ states
    law = boson.distribution(u, came, overlaps=gram, transmission=0.8)
    with pq.Program() as program:
        pq.Q() | pq.DistinguishableNumberState([1, 1, 1], particle_overlap=gram.T)  # theirs is |l> to |k>
        pq.Q() | pq.Interferometer(u)
        for mode in range(3):
            pq.Q(mode) | pq.Loss(np.sqrt(0.8))
    state = pq.PassiveSimulator(d=3).execute(program).state
    for out, probability in law.as_dict().items():
        assert probability == pytest.approx(
            state.get_particle_detection_probability(np.array(out)), abs=1e-12
        )


def test_losses_are_a_mixture():
    u = unitary(4)
    lossy = boson.distribution(u, [0, 1, 1], transmission=0.3)
    expected = dict.fromkeys(lossy.as_dict(), 0.0)
    for arrived in itertools.product((0, 1), repeat=3):
        came = [mode for mode, is_there in zip([0, 1, 1], arrived) if is_there]
        for out, probability in boson.distribution(u, came).as_dict().items():
            expected[out] += 0.3 ** sum(arrived) * 0.7 ** (3 - sum(arrived)) * probability
    assert lossy.as_dict() == pytest.approx(expected, abs=1e-13)
    assert boson.distribution(u, 2, transmission=0).as_dict()[0, 0, 0, 0] == 1


@pytest.mark.parametrize("overlaps", [None, 0.4])
def test_what_modes_absorb(overlaps):
    """Of more modes some are not seen."""
    u, came = unitary(6), [0, 1, 1]
    law = boson.distribution(u[:4], came, overlaps=overlaps, absorbed=True)
    expected = dict.fromkeys(law.as_dict(), 0.0)
    whole = boson.distribution(u, came, overlaps=overlaps)
    for out, probability in whole.as_dict().items():
        expected[out[:4]] += probability
    assert law.as_dict() == pytest.approx(expected, abs=1e-13)
    assert law.error_bounds.max() < 1e-12
    some = boson.distribution(u[:4], came, law.outcomes[::7], overlaps=overlaps, absorbed=True)
    assert some.probabilities == pytest.approx(law.probabilities[::7], abs=1e-13)
    both = boson.distribution(u[:4], came, overlaps=overlaps, absorbed=True, transmission=0.7)
    dimmed = boson.distribution(u[:4] * np.sqrt(0.7), came, overlaps=overlaps, absorbed=True)
    assert both.probabilities == pytest.approx(dimmed.probabilities, abs=1e-13)
    exact = boson.distribution(orthogonal(5)[:3], [0, 1, 1], absorbed=True)
    assert exact.probabilities.sum() == 1


def test_each_mode_loses_its_share_as_the_error_says():
    u, eta = unitary(3), np.array([0.3, 1, 0.8])
    lossy = boson.distribution(np.diag(np.sqrt(eta)) @ u, 2, absorbed=True).as_dict()
    whole = boson.distribution(u, 2).as_dict()
    expected = dict.fromkeys(lossy, 0.0)
    for out, probability in whole.items():
        for kept in itertools.product(*(range(q + 1) for q in out)):
            shares = (math.comb(q, k) * x**k * (1 - x) ** (q - k) for q, k, x in zip(out, kept, eta))
            expected[kept] += probability * math.prod(shares)
    assert lossy == pytest.approx(expected, abs=1e-13)


def test_fractions_are_exact():
    u = orthogonal(4)
    law = boson.distribution(u, [0, 0, 3])
    assert law.probabilities.sum() == 1
    assert not law.error_bounds.any()
    for out, probability in law.as_dict().items():
        permanent = libperm.permanent(u.tolist(), row_multiplicity=out, col_multiplicity=[2, 0, 0, 1])
        assert probability == Fraction(permanent) ** 2 / weight(out, [0, 0, 3])
        assert boson.probability(u, [0, 0, 3], out) == probability
    apart = boson.distribution(u, [0, 1, 3], overlaps=Fraction(1, 3), transmission=Fraction(1, 7))
    assert apart.probabilities.sum() == 1
    assert boson.probability(np.eye(3, dtype=bool), 2, [1, 1, 0]) == 1
    rounded = boson.distribution(u.astype(float), [0, 1, 3], overlaps=1 / 3, transmission=1 / 7)
    assert apart.probabilities.astype(float) == pytest.approx(rounded.probabilities, abs=1e-13)


def test_bounds_with_overlaps_hold():
    u, gram = unitary(4).real / 1.5, np.array([[1, 0.3, 0.4], [0.3, 1, -0.2], [0.4, -0.2, 1]])
    for options in (
        {"overlaps": gram},
        {"overlaps": gram, "transmission": 0.7},
        {"transmission": 0.7},
        {"overlaps": gram, "absorbed": 1},
    ):
        found = boson.distribution(u, [0, 1, 1], **options)
        exact = boson.distribution(
            np.array([list(map(Fraction, row)) for row in u.tolist()]),
            [0, 1, 1],
            **{name: np.vectorize(Fraction, otypes=[object])(x)[()] for name, x in options.items()},
        )
        off = [abs(Fraction(p) - q) for p, q in zip(found.probabilities.tolist(), exact.probabilities)]
        assert all(x <= Fraction(b) for x, b in zip(off, found.error_bounds.tolist()))
        assert any(off)
        assert found.error_bounds.max() < 1e-12


def test_given_outcomes_go_every_way():
    u = unitary(6)
    law, g = boson.distribution(u, [0, 1, 1, 4, 5]), np.random.default_rng(SEED)
    for some in (g.choice(len(law), 3), g.choice(len(law), 90), [0, 0, 7]):
        for options in ({}, {"overlaps": 0.5}, {"transmission": 0.5}):
            whole = boson.distribution(u, [0, 1, 1, 4, 5], **options)
            part = boson.distribution(u, [0, 1, 1, 4, 5], whole.outcomes[some], **options)
            assert part.probabilities == pytest.approx(whole.probabilities[some], abs=1e-13)
    impossible = boson.distribution(u, 2, [[1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0], [2, 0, 0, 0, 0, 0]])
    assert impossible.probabilities[:2].tolist() == [0, 0]
    assert impossible.probabilities[2] > 0
    many = boson.distribution(unitary(30), 12, [[1] * 12 + [0] * 18, [0] * 18 + [1, 2, 0] * 4])
    assert many.error_bounds.max() < 1e-12
    assert len(boson.distribution(u, 2, [])) == 0
    assert len(boson.distribution(u, 2, np.zeros((0, 6), int))) == 0


def test_many_photons_in_few_modes():
    splitter = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    law = boson.distribution(splitter, occupation=[100, 0])
    assert law.probabilities[50] == pytest.approx(math.comb(100, 50) / 2**100, rel=1e-11)
    assert law.error_bounds[50] < 1e-10
    lossy = boson.distribution(splitter, occupation=[30, 0], transmission=0.5)
    assert lossy.probabilities.sum() == pytest.approx(1, abs=1e-10)


def both_ports(k):
    """Of k photons in both ports of a beam splitter: how likely 2 j leave by the first."""
    even = {
        2 * j: Fraction(math.comb(2 * j, j) * math.comb(2 * k - 2 * j, k - j), 4**k) for j in range(k + 1)
    }
    return [even.get(q, Fraction(0)) for q in range(2 * k, -1, -1)]


@pytest.mark.parametrize("k", [15, 50, 130])
def test_what_interference_leaves_little_of_is_found_in_more_digits(k):
    splitter = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    law, exact = boson.distribution(splitter, occupation=[k, k]), both_ports(k)
    for probability, bound, truth in zip(law.probabilities, law.error_bounds, exact):
        assert bound <= 1e-9 * max(probability, 1 / len(law))
        assert abs(probability - float(truth)) <= bound + 1e-12 * float(truth)  # 1 / sqrt(2) is rounded
    found = boson.distribution(splitter, None, law.outcomes[::7], occupation=[k, k])
    assert found.probabilities == pytest.approx(law.probabilities[::7], rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("options", [{"transmission": 0.75}, {"absorbed": True}, {"overlaps": 0.875}])
@pytest.mark.parametrize("phase", [1, 0.6 + 0.8j])
def test_photons_that_are_lost_or_differ_are_found_in_more_digits(options, phase):
    """Against Fractions, where cosine and sine are doubles; phases behind the modes change nothing."""
    k = 6 if "overlaps" in options else 12
    u = np.array([[0.75, -0.625], [0.625, 0.75]])
    given = {name: Fraction(x) if isinstance(x, float) else x for name, x in options.items()}
    rational = np.array([[Fraction(x) for x in row] for row in u.tolist()])
    exact = boson.distribution(rational, occupation=[k, k], **given)
    law = boson.distribution(np.diag([1, phase]) @ u, occupation=[k, k], **options)
    assert len(law) == len(exact)
    for probability, bound, truth in zip(law.probabilities, law.error_bounds, exact.probabilities):
        assert bound <= 1e-9 * max(probability, 1 / len(law))
        assert abs(Fraction(probability) - truth) <= Fraction(bound) + truth * Fraction(1, 10**12)


@pytest.mark.filterwarnings("error")
def test_any_number_of_photons_in_few_modes():
    splitter = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    for n, q in ((100, 50), (101, 50), (175, 100), (3000, 1400)):
        truth = Fraction(math.comb(n, q), 2**n)
        assert boson.probability(splitter, [0] * n, [q, n - q]) == pytest.approx(float(truth), rel=1e-11)
    law = boson.distribution(splitter, occupation=[0, 175])
    truth = [math.comb(175, q) / 2**175 for q in range(176)]
    assert law.probabilities == pytest.approx(truth, rel=1e-11)
    assert (law.error_bounds <= 1e-9 * law.probabilities + 1e-100).all()
    for n in (99, 100, 101, 171):  # whose factorials, squared, leave doubles
        assert boson.probability(np.eye(2), [0] * n, [n, 0]) == pytest.approx(1, rel=1e-12)
        assert boson.distribution(np.eye(2), occupation=[0, n]).probabilities.tolist()[:2] == [0, 0]
    rotation = [[Fraction(3, 5), Fraction(-4, 5)], [Fraction(4, 5), Fraction(3, 5)]]
    assert boson.distribution(rotation, occupation=[80, 60]).probabilities.sum() == 1
    lossy = boson.distribution(splitter, occupation=[110, 0], outcomes=[[30, 20]], transmission=0.5)
    arrive = math.comb(110, 50) / 2**110
    assert lossy.probabilities[0] == pytest.approx(arrive * math.comb(50, 30) / 2**50, rel=1e-9)


def test_what_more_digits_would_take_too_long_for_is_told():
    splitter = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    with pytest.warns(libperm.PrecisionWarning, match="outcomes are certain within error_bounds"):
        law = boson.distribution(splitter, occupation=[50, 50], transmission=0.9, time_limit=5)
    assert law.error_bounds.max() > 1e-9


def test_numbers_far_apart():
    tiny = np.array([[1, 1e-200], [1e-200, 1]])
    law = boson.distribution(tiny, 2)
    assert law.probabilities == pytest.approx([0, 1, 0], abs=1e-14)
    assert (law.error_bounds > 0).all()


def test_experiments_at_fault():
    u = unitary(4)
    for amplify in (1.1 * u, np.ones((4, 4))):
        with pytest.raises(libperm.InvalidMatrixError, match="amplify"):
            boson.distribution(amplify, 2)
    for hole in (math.nan, math.inf):
        with pytest.raises(libperm.InvalidMatrixError, match="NaN or infinite"):
            boson.distribution(np.where(np.eye(4) > 0, hole, u), 2)
    with pytest.raises(TypeError, match="no matrix"):
        boson.distribution(u[0], 2)
    with pytest.raises(libperm.InvalidOptionError, match="transmission"):
        boson.distribution(u, 2, transmission=1.5)
    with pytest.raises(libperm.InvalidMatrixError, match="transmission"):
        boson.distribution(u, 2, transmission=math.nan)
    with pytest.raises(libperm.InvalidOptionError, match="whole numbers"):
        boson.probability(u, 2, [1, 1])
    with pytest.raises(libperm.InvalidOptionError, match=r"shape \(1, 2\).*bincount\(list, minlength=4\)"):
        boson.probability(u, 2, [0, 3])
    with pytest.raises(libperm.InvalidOptionError, match=r"diag\(numpy.sqrt\(eta\)\) @ U.*absorbed"):
        boson.distribution(u, 2, transmission=[0.5, 1, 1, 1])
    with pytest.raises(libperm.InvalidOptionError, match="negative"):
        boson.probability(u, 2, [1, -1, 1, 1])
    with pytest.raises(libperm.InvalidOptionError, match="either photons"):
        boson.distribution(u)
    with pytest.raises(libperm.InvalidOptionError, match="whole numbers"):
        boson.distribution(u, 2, [[1, 1], [1, 1, 0, 0]])
    with pytest.raises(libperm.InvalidOptionError, match="time_limit"):
        boson.distribution(u, 2, time_limit=-1)
    with pytest.raises(TypeError, match="Fractions all, or none"):
        boson.distribution(orthogonal(2), 2, transmission=0.1)
    for overlaps, text in (
        (np.eye(3), "2 x 2"),
        ([[1, 0.5], [0.4, 1]], "conjugate"),
        ([[2, 0.5], [0.5, 1]], "is not 1"),
        (1.5, "negative eigenvalue"),
        ([[1, math.nan], [math.nan, 1]], "NaN"),
    ):
        with pytest.raises(libperm.InvalidMatrixError, match=text):
            boson.distribution(u, 2, overlaps=overlaps)


def test_too_large_ones_are_refused():
    u = unitary(30)
    with pytest.raises(libperm.MemoryRefusedError, match="30 photons in 30 modes would take .* GiB"):
        boson.distribution(u, 30)
    with pytest.raises(libperm.MemoryRefusedError, match="memory_limit"):
        boson.distribution(u, 5, memory_limit="1M")
    with pytest.raises(libperm.TimeRefusedError, match="about .* s, and .* s are allowed"):
        boson.distribution(u, 5, overlaps=0.5, time_limit=1e-3)
    with pytest.raises(libperm.MemoryRefusedError, match="outcomes"):
        boson.outcomes(40, 40)
    with pytest.raises(libperm.TimeRefusedError, match="1000 permanents would take"):
        boson.distribution(u[:2], 101 * [0], [[101, 0]] * 1000, time_limit=1e-3)


def test_multiplicities_of_each_matrix():
    u, out = unitary(4)[:, :3], boson.outcomes(4, 3)
    batch = np.broadcast_to(u, (len(out), 4, 3))
    found = libperm.permanents(batch, row_multiplicity=out, full=True)
    for k, counts in enumerate(out.tolist()):
        re, im = by_definition([list(map(complex, row)) for row in repeated(u, counts, [0, 1, 2])])
        value = found.values[k]
        off = (Fraction(value.real) - re) ** 2 + (Fraction(value.imag) - im) ** 2
        assert off <= Fraction(found.abs_error_bounds[k]) ** 2
    whole = [[[1, 2], [3, 4]], [[5, 6], [7, Fraction(1, 2)]]]
    rows, cols = [[2, 0], [1, 2]], [[1, 1], [0, 3]]
    expected = [
        by_definition(
            [[a[i][j] for j in range(2) for _ in range(c[j])] for i in range(2) for _ in range(r[i])]
        )
        for a, r, c in zip(whole, rows, cols)
    ]
    assert libperm.permanents(whole, row_multiplicity=rows, col_multiplicity=cols) == expected
    assert libperm.permanents(whole[:1], row_multiplicity=[[2, 0]], col_multiplicity=[1, 1]) == expected[:1]
    assert libperm.permanents([], row_multiplicity=[]) == []
    with pytest.raises(libperm.InvalidMatrixError, match="2 numbers of each"):
        libperm.permanents(whole, row_multiplicity=[[1, 1]])
    with pytest.raises(libperm.InvalidMatrixError, match="-1"):
        libperm.permanents(whole, row_multiplicity=[[1, 1], [3, -1]])
    with pytest.raises(TypeError, match="integers"):
        libperm.permanents(whole, row_multiplicity=[[1, 1], [0.5, 1]])
    with pytest.raises(libperm.InvalidOptionError, match="not both"):
        libperm.permanents(whole, row_multiplicity=rows, row_unmatched=1)
