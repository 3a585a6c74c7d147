"""Hafnians in Python: every kind of number and input against sums over all pairings."""

import functools
import itertools
import math
import os
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import libperm
from libperm import gaussian, thewalrus

SEED = int(os.environ.get("PERM_SEED", "3905"))


def over_pairs(a, loops=None):
    """By definition; loops: the prices of single lines."""

    @functools.cache
    def over(left):
        if not left:
            return 1
        first, *rest = left
        total = 0 if loops is None else loops[first] * over(tuple(rest))
        for k in rest:
            if a[first][k] != 0:
                total += a[first][k] * over(tuple(x for x in rest if x != k))
        return total

    return over(tuple(range(len(a))))


def draw(rng, n, number):
    a = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            if rng.random() < 0.7:
                a[i][j] = a[j][i] = number(rng)
    return a


KINDS = {
    "int": lambda rng: rng.randint(-4, 9),
    "long": lambda rng: rng.randint(-(10**30), 10**30),
    "Fraction": lambda rng: Fraction(rng.randint(-9, 9), rng.randint(1, 9)),
    "float": lambda rng: rng.gauss(0, 1),
    "complex": lambda rng: complex(rng.gauss(0, 1), rng.gauss(0, 1)),
}


def is_near(found, truth, scale):
    return found == truth or abs(complex(found) - complex(truth)) <= 1e-9 * scale


@pytest.mark.parametrize("kind", KINDS)
def test_lists_arrays_and_sparse_matrices(kind):
    rng = random.Random(f"{SEED} {kind}")
    compared = 0
    for _ in range(30):
        n = rng.randint(0, 8)
        a = draw(rng, n, KINDS[kind])
        loops = rng.choice([None, True, [KINDS[kind](rng) for _ in range(n)]])
        prices = [a[i][i] for i in range(n)] if loops is True else loops
        truth = over_pairs(a, prices)
        scale = abs(
            complex(over_pairs([[abs(x) for x in row] for row in a], prices and [abs(x) for x in prices]))
        )
        inputs = [a]
        if kind in ("int", "float", "complex") and n > 0:
            inputs += [np.array(a), sparse.csr_array(np.array(a))]
        for given in inputs:
            found = libperm.hafnian(given, loops=loops)
            assert found == truth if kind in ("int", "long", "Fraction") else is_near(found, truth, scale), (
                SEED
            )
            compared += 1
    assert compared > 0


def test_kinds_of_answers():
    assert type(libperm.hafnian([[0, 1], [1, 0]])) is int
    assert type(libperm.hafnian([[0, Fraction(1, 2)], [Fraction(1, 2), 0]])) is Fraction
    assert type(libperm.hafnian([[0.0, 1.5], [1.5, 0.0]])) is float
    assert isinstance(libperm.hafnian(np.array([[0, 1j], [1j, 0]])), np.complex128)
    result = libperm.hafnian([[0, 2], [2, 0]], full=True)
    assert result.exact
    assert int(result) == 2
    assert libperm.hafnian([[0.5, 0.25], [0.25, 0.5]], precision="exact") == Fraction(1, 4)


def test_multiplicities_are_copies():
    rng = random.Random(SEED)
    for _ in range(30):
        n = rng.randint(1, 4)
        a = draw(rng, n, KINDS["int"])
        counts = [rng.randint(0, 3) for _ in range(n)]
        lines = [i for i, count in enumerate(counts) for _ in range(count)]
        copies = [[a[i][j] for j in lines] for i in lines]
        assert libperm.hafnian(a, multiplicity=counts) == over_pairs(copies)
        prices = [rng.randint(-3, 3) for _ in range(n)]
        truth = over_pairs(copies, [prices[i] for i in lines])
        assert libperm.hafnian(a, loops=prices, multiplicity=counts) == truth


def test_batches_are_as_one_by_one():
    rng = np.random.default_rng(SEED)
    batch = rng.normal(size=(7, 8, 8))
    batch += batch.transpose(0, 2, 1)
    for loops in (False, True, 0.5):
        one_by_one = [libperm.hafnian(a, loops=loops) for a in batch]
        assert np.allclose(libperm.hafnians(batch, loops=loops), one_by_one, rtol=1e-11)
    assert libperm.hafnians([[[0, 2], [2, 0]], [[0, 3], [3, 0]]]) == [2, 3]
    assert libperm.hafnians([]) == []
    many = libperm.hafnians(batch, full=True)
    assert (many.rel_error_bounds < 1e-9).all()


def test_a_plan_is_of_hafnians():
    a = np.triu(np.arange(1.0, 37.0).reshape(6, 6))
    a = a + a.T
    plan = libperm.Plan(a, function="hafnian")
    assert plan.permanent() == libperm.hafnian(a)
    again = libperm.Plan.from_bytes(plan.to_bytes())
    assert again.permanent(2 * a) == 8 * libperm.hafnian(a)
    for of in (a, a.astype(int), a.tolist()):
        with pytest.raises(libperm.UnsupportedError, match="hafnians are computed"):
            libperm.Plan(of, function="hafnian").hessian_product(of)
        for other in (libperm.sub_permanents, libperm.bounds, libperm.estimate):
            with pytest.raises(libperm.UnsupportedError, match="hafnians are computed"):
                other(of, function="hafnian")


@pytest.mark.parametrize(
    ("a", "options", "says"),
    [
        ([[0, 1], [2, 0]], {}, r"\(A \+ A\^T\)/2"),
        ([[0, 1], [0, 0]], {}, r"A \+ A\^T"),
        ([[0, 1, 2], [1, 0, 2]], {}, "2 rows and 3 columns"),
        ([[0.0, math.nan], [math.nan, 0.0]], {}, "finite"),
        ([[0, 1], [1, 0]], {"col_multiplicity": [1, 1]}, "multiplicity"),
        ([[0, 1], [1, 0]], {"function": "hafnian"}, "loops"),
        ([[0, 1], [1, 0]], {"multiplicity": [1, -1]}, ""),
        ([[0, 1], [1, 0]], {"loops": [1, 2, 3]}, ""),
    ],
)
def test_bad_input_is_refused(a, options, says):
    with pytest.raises((libperm.Error, ValueError, TypeError), match=says):
        libperm.hafnian(a, **options)


def test_the_shims_are_of_the_walrus():
    rng = np.random.default_rng(SEED)
    a = rng.normal(size=(6, 6)) + 1j * rng.normal(size=(6, 6))
    a += a.T
    loops = list(np.diag(a))
    assert np.isclose(thewalrus.hafnian(a), over_pairs(a.tolist()))
    assert np.isclose(thewalrus.hafnian(a, loop=True), over_pairs(a.tolist(), loops))
    assert np.isclose(thewalrus.loop_hafnian(a), over_pairs(a.tolist(), loops))
    assert np.isclose(thewalrus.hafnian_banded(a), over_pairs(a.tolist()))
    assert np.isclose(
        thewalrus.hafnian_sparse(a, D={0, 2, 3, 5}), over_pairs(a[[0, 2, 3, 5]][:, [0, 2, 3, 5]].tolist())
    )
    lines = [0, 0, 1, 2, 2, 2]
    assert np.isclose(
        thewalrus.hafnian_repeated(a, [2, 1, 3, 0, 0, 0]), over_pairs(a[lines][:, lines].tolist())
    )
    with pytest.raises(TypeError):
        thewalrus.hafnian([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="symmetric"):
        thewalrus.hafnian(np.array([[0, 1], [2, 0]]))


def test_outcomes_of_gaussian_states_are_certain_together():
    rng = np.random.default_rng(SEED)
    for modes in (1, 2):
        unitary = np.linalg.qr(rng.normal(size=(modes, modes)) + 1j * rng.normal(size=(modes, modes)))[0]
        squeezing = rng.uniform(-0.4, 0.4, modes)
        state = gaussian.covariance(squeezing, unitary)
        lossy, mean = 0.6 * state + 0.4 * np.eye(2 * modes), 0.3 * rng.normal(size=2 * modes)
        pure = mixed = displaced = 0.0
        for outcome in itertools.product(range(12), repeat=modes):
            probability = gaussian.pure_probability(squeezing, unitary, outcome)
            assert abs(gaussian.probability(state, outcome) - probability) < 1e-13
            pure += probability
            mixed += gaussian.probability(lossy, outcome)
            displaced += gaussian.probability(lossy, outcome, mean)
        for total in (pure, mixed, displaced):
            assert abs(total - 1) < 1e-4, SEED
    with pytest.raises(libperm.InvalidMatrixError, match="modes"):
        gaussian.probability(np.eye(2), [1, 1])


@pytest.mark.parametrize("loop", [0, 3, 1.5 - 2j])
def test_many_copies_of_a_line(loop):
    """Hermite's polynomials, of pairs of -1/2 and loops; exactly."""
    before, here = (0, 0), (1, 0)
    twice = Fraction(2 * complex(loop).real), Fraction(2 * complex(loop).imag)
    for k in range(1250):  # of 2^k times each
        next_re = twice[0] * here[0] - twice[1] * here[1] - 2 * k * before[0]
        next_im = twice[0] * here[1] + twice[1] * here[0] - 2 * k * before[1]
        before, here = here, (next_re, next_im)
    found = libperm.hafnian(np.array([[-0.5]]), loops=np.array([loop]), multiplicity=[1250], full=True)
    assert found.engine == "hermite"
    assert found.tolerance_met
    parts = complex(found.mantissa)
    off = [Fraction(x) * 2 ** (found.exp2 + 1250) - y for x, y in zip((parts.real, parts.imag), here)]
    allowed = Fraction(found.rel_error_bound + 2.0**-50) ** 2 * (here[0] ** 2 + here[1] ** 2)
    assert off[0] ** 2 + off[1] ** 2 <= allowed
    assert found.entry_rounding >= 0


def poisson(mean, n):
    return math.exp(n * math.log(mean) - mean - math.lgamma(n + 1))


@pytest.mark.parametrize("n", [0, 3, 800, 1250])
def test_coherent_states_of_many_photons_have_poissons_law(n):
    for alpha in (25 + 25j, 0.5 - 1j):
        for hbar in (1, 2):
            mean = np.sqrt(2 * hbar) * np.array([alpha.real, alpha.imag])
            found = gaussian.probability(hbar / 2 * np.eye(2), [n], mean, hbar)
            assert found == pytest.approx(poisson(abs(alpha) ** 2, n), rel=1e-9, abs=1e-300)
    at_once = gaussian.probability(np.eye(4), [n, 2], [50, 1, 50, 0])
    assert at_once == pytest.approx(poisson(1250, n) * poisson(0.25, 2), rel=1e-9, abs=1e-300)


def displaced_and_squeezed(r, alpha, n):
    """The law of D(alpha) S |0>, which (a - alpha) cosh r - (a - alpha)^dagger sinh r annihilates: a
    recurrence of <k|psi> sqrt(k!), here in numbers of 2000 bits behind the point."""
    bits = 2000
    t, loop = math.tanh(r), alpha - alpha.conjugate() * math.tanh(r)
    t, re, im = (int(Fraction(x) * 2**bits) for x in (t, loop.real, loop.imag))
    before, here = (0, 0), (1 << bits, 0)
    for k in range(n):
        there = (
            re * here[0] - im * here[1] + k * t * before[0],
            re * here[1] + im * here[0] + k * t * before[1],
        )
        before, here = here, (there[0] >> bits, there[1] >> bits)
    size, weight = here[0] ** 2 + here[1] ** 2, math.factorial(n) << 2 * bits
    log_vacuum = (alpha.conjugate() ** 2).real * math.tanh(r) - abs(alpha) ** 2 - math.log(math.cosh(r))
    return math.exp(math.log(size) - math.log(weight) + log_vacuum)


@pytest.mark.parametrize("alpha", [25 + 25j, 20 + 0j, 1 - 0.5j])
def test_displaced_and_squeezed_states_of_many_photons(alpha):
    state, mean = gaussian.covariance([0.3], np.eye(1)), 2 * np.array([alpha.real, alpha.imag])
    for n in (0, 7, round(abs(alpha) ** 2), 1250):
        expected = displaced_and_squeezed(0.3, alpha, n)
        assert gaussian.probability(state, [n], mean) == pytest.approx(expected, rel=1e-9, abs=1e-300)
        if n < 10:  # hardly mixed
            near = gaussian.probability(state * (1 + 1e-9), [n], mean)
            assert near == pytest.approx(expected, rel=1e-5, abs=1e-300)


def test_strong_squeezing_of_many_modes_has_a_probability():
    for r in (3.0, 400.0, 900.0):
        none = gaussian.pure_probability([r] * 4, np.eye(4), [0] * 4)
        assert none == pytest.approx(
            math.exp(-4 * (r + math.log1p(math.exp(-2 * r)) - math.log(2))), rel=1e-9
        )
    pairs = gaussian.pure_probability([5.0], np.eye(1), [1250])
    central = math.lgamma(1251) - 2 * math.lgamma(626) - 1250 * math.log(2)
    assert pairs == pytest.approx(math.exp(central) * math.tanh(5) ** 1250 / math.cosh(5), rel=1e-9)


@pytest.mark.parametrize(
    "call",
    [
        lambda: gaussian.probability(0.1 * np.eye(2), [1]),
        lambda: gaussian.probability(np.eye(2), [1], hbar=-1),
        lambda: gaussian.probability(np.eye(2) * 1j, [1]),
        lambda: gaussian.probability(np.full((2, 2), math.nan), [1]),
        lambda: gaussian.probability(np.eye(2), [1], mean=[math.nan, 0]),
        lambda: gaussian.pure_probability([0.5], [[2.0]], [1]),
        lambda: gaussian.pure_probability([math.nan], [[1.0]], [0]),
    ],
)
def test_what_is_no_state_has_no_probability(call):
    with pytest.raises(libperm.InvalidMatrixError):
        call()


def test_flags_of_numpy_are_flags():
    a = np.array([[2.0, 7.0], [7.0, 3.0]])
    assert libperm.hafnian(a, loops=np.True_) == libperm.hafnian(a, loops=True) == 13
    assert libperm.hafnian(a, loops=np.False_) == 7
    assert thewalrus.hafnian(a, loop=1) == 13
    assert list(libperm.hafnians(np.array([a]), loops=np.True_)) == [13]
    for wrong in ({"row_multiplicity": [1, 1]}, {"function": "permanent"}):
        with pytest.raises(libperm.InvalidOptionError):
            libperm.hafnians(np.array([a]), **wrong)


def test_fractions_are_not_cut_to_whole_numbers():
    half = Fraction(5, 2)
    for precision in ("auto", "double", "exact"):
        assert libperm.hafnians([[[Fraction(0), half], [half, Fraction(0)]]], precision=precision) == [half]
        assert libperm.permanents([[[half, half], [half, half]]], precision=precision) == [half * half * 2]


def test_what_underflows_is_not_exactly_nothing():
    big, small = 1e300, 1e-300
    edges = [(0, 2, big), (0, 5, small), (1, 2, big), (3, 4, big), (3, 5, big), (4, 7, big), (4, 8, big)]
    edges += [(6, 8, big), (6, 10, small), (7, 10, small), (9, 10, big), (9, 11, big), (10, 11, big)]
    a = [[0.0] * 12 for _ in range(12)]
    for i, j, x in edges:
        a[i][j] = a[j][i] = x
    found = libperm.hafnian(a, full=True, engine="frontier", without="all,scaling")
    assert abs(found.log10 - 600) < 1e-9


def test_batches_of_full_matrices_are_as_each_alone():
    rng = np.random.default_rng(SEED + 7)
    for n in (1, 2, 5, 8, 12):
        for number in (float, complex, int):
            a = rng.integers(1, 9, (20, n, n)).astype(number)
            if number is not int:
                a += rng.normal(size=a.shape) * (1j if number is complex else 1)
            a = a + a.transpose(0, 2, 1)
            a[:, np.arange(n), np.arange(n)] *= rng.integers(0, 2, n)
            for loops in (False, True):
                batch = libperm.hafnians(a, loops=loops)
                alone = [libperm.hafnian(x, loops=loops) for x in a]
                assert list(batch) == alone, (SEED, n, number, loops)
                assert np.allclose(
                    alone[0], complex(over_pairs(a[0].tolist(), a[0].diagonal() if loops else None))
                )
    with pytest.raises(libperm.InvalidMatrixError, match="symmetric"):
        libperm.hafnians(np.arange(1.0, 33).reshape(2, 4, 4))


def test_the_walrus_is_followed_in_what_it_refuses_and_warns_of():
    ones = np.ones((4, 4))
    with pytest.raises(ValueError, match="must be real"):
        thewalrus.hafnian(1j * ones, approx=True)
    with pytest.raises(ValueError, match="negative"):
        thewalrus.hafnian(-ones, approx=True)
    with pytest.warns(UserWarning, match="Recursive"):
        assert thewalrus.hafnian(ones, loop=True, method="recursive") == 10
    for call in (thewalrus.hafnian_banded, lambda a: thewalrus.hafnian_repeated(a, [1, 1])):
        with pytest.raises(TypeError):
            call([[0, 1], [1, 0]])


def test_a_warning_tells_of_the_caller():
    a = np.array([[0.0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, -2], [1, 1, -2, 0]])
    a[2, 3] = a[3, 2] = -2 * (1 + 2**-52)
    for call in (libperm.hafnian, lambda a, **options: libperm.loop_hafnian(a, loops=[0] * 4, **options)):
        with pytest.warns(libperm.PrecisionWarning) as told:
            call(a, precision="double", engine="bjorklund", tolerance=1e-300)
        assert os.path.basename(told[0].filename) == "test_hafnians.py"
