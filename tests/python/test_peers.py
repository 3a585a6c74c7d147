"""What the tests of other packages for permanents ask, asked of this one.

thewalrus (XanaduAI/thewalrus, bdffe32) and matrix-permanent (theochem/matrix-permanent, 31327a1), both in
their tests/test_permanent.py: the matrices and the values they expect. Where they refuse what we compute, the
test's name says so.
"""

from itertools import chain, product
from math import factorial, prod, sqrt

import pytest
from support import SEED, by_definition

import libperm

np = pytest.importorskip("numpy")


@pytest.fixture
def g():
    return np.random.default_rng(SEED)


# ---------------------------------------------------------------- matrix-permanent


def counting(m, n, dtype):
    return np.arange(1, m * n + 1).reshape(m, n).astype(dtype)


@pytest.mark.parametrize("engine", ["auto", "ryser", "frontier", "tree"])
@pytest.mark.parametrize("dtype", [int, float, complex])
@pytest.mark.parametrize(
    ("m", "n", "value"),
    [
        (1, 1, 1),
        (2, 2, 10),
        (3, 3, 450),
        (4, 4, 55456),
        (7, 7, 5373548250000),
        (1, 2, 3),
        (1, 3, 6),
        (2, 3, 58),
        (2, 4, 190),
        (2, 7, 1820),
        (5, 7, 1521238320),
        (6, 7, 117681979920),
    ],
)
def test_counting_matrices(m, n, value, dtype, engine):
    found = libperm.permanent(counting(m, n, dtype), engine=engine)
    assert found == pytest.approx(value, rel=1e-12)
    assert isinstance(found, dtype)


@pytest.mark.parametrize(
    ("a", "value"),
    [
        (np.ones((10, 10)), factorial(10)),
        (np.ones((12, 12)), factorial(12)),
        (np.identity(10), 1),
        (np.identity(5), 1),
        (np.diag(np.diag(np.ones((3, 7)))), 1),
    ],
)
def test_special_matrices(a, value):
    assert libperm.permanent(a) == value


def test_more_than_64_lines_are_no_limit_here():
    assert libperm.permanent(np.ones((65, 65))) == pytest.approx(factorial(65), rel=1e-12)
    assert libperm.permanent(np.ones((2, 65))) == 65 * 64


def test_many_more_columns_than_rows_are_no_limit_here():
    assert libperm.permanent(np.ones((2, 23), int)) == 23 * 22
    assert libperm.permanent(np.ones((43, 64), int)) == factorial(64) // factorial(21)


@pytest.mark.parametrize("shape", [(65, 2), (23, 2), (64, 43)])
def test_more_rows_than_columns(shape):
    expected = factorial(max(shape)) // factorial(abs(shape[0] - shape[1]))
    assert libperm.permanent(np.ones(shape, int)) == libperm.permanent(np.ones(shape, int).T) == expected


@pytest.mark.parametrize("entry", [object(), {"hi": 1}, "A"])
def test_no_numbers(entry):
    for a in (np.array([[entry] * 4] * 4), [[entry] * 4] * 4):
        with pytest.raises(TypeError):
            libperm.permanent(a)


def test_bools_are_counted_here():
    assert libperm.permanent(np.ones((4, 4), bool)) == 24


# ---------------------------------------------------------------- thewalrus: perm


def test_no_matrix():
    with pytest.raises(TypeError):
        libperm.permanent(1)


def test_not_square_is_a_sum_over_columns_here():
    assert libperm.permanent(np.zeros((2, 3))) == 0


def test_nan():
    with pytest.raises(ValueError, match="NaN"):
        libperm.permanent(np.array([[2, 1], [1, np.nan]]))


def test_order_0():
    assert libperm.permanent(np.zeros((0, 0))) == 1


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_random(n, dtype, g):
    a = g.random((n, n)).astype(dtype) * (1 if dtype is float else np.exp(2j * np.pi * g.random((n, n))))
    expected = by_definition(a.tolist())
    value = libperm.permanent(a)
    assert value == pytest.approx(complex(*expected) if dtype is complex else float(expected), rel=1e-12)
    assert libperm.permanent(a, engine="ryser") == pytest.approx(value, rel=1e-9)


def test_complex_with_no_imaginary_parts(g):
    a = g.random((6, 6))
    assert libperm.permanent(a.astype(complex)) == pytest.approx(libperm.permanent(a), rel=1e-12)


# ---------------------------------------------------------------- thewalrus: permanent_repeated


def repeated(a, counts):
    return libperm.permanent(a, row_multiplicity=counts, col_multiplicity=counts)


def test_repeated_0_times():
    assert repeated(np.array([[2, 1], [1, 3]]), [0, 0]) == 1


@pytest.mark.parametrize("n", [2, 3])
def test_repeated_once(n, g):
    a = g.random((n, n))
    assert repeated(a, [1] * n) == pytest.approx(float(by_definition(a.tolist())), rel=1e-12)


@pytest.mark.parametrize("n", [6, 8, 10, 15, 20])
def test_repeated_ones(n):
    assert repeated(np.array([[1]]), [n]) == factorial(n)


# ---------------------------------------------------------------- thewalrus: probabilities of boson sampling
# fock_prob(n, m, U): photons n in, m out. Their threshold detectors (fock_threshold_prob) click for one or
# more: the sum over all m that click so.


def fock_probability(n, m, u):
    if sum(n) != sum(m):
        raise ValueError("photons are not conserved")
    amplitude = libperm.permanent(u, row_multiplicity=m, col_multiplicity=n)
    return abs(amplitude) ** 2 / prod(map(factorial, chain(n, m)))


def clicks_probability(n, clicks, u):
    """Of a unitary u."""
    outputs = product(*(range(1, sum(n) + 1) if click else [0] for click in clicks))
    return sum(fock_probability(n, m, u) for m in outputs if sum(m) == sum(n))


def dilated(t):
    """A unitary of twice the modes whose corner is t: what is lost goes to the other modes."""
    v, s, w = np.linalg.svd(t)
    c = np.diag(np.sqrt(np.maximum(0, 1 - s**2)))
    return np.block([[t, v @ c @ v.conj().T], [w.conj().T @ c @ w, -t.conj().T]])


def lossy_clicks_probability(n, clicks, t):
    modes, u = len(clicks), dilated(t)
    inputs, total = [*n, *[0] * modes], sum(n)
    seen = product(*(range(1, total + 1) if click else [0] for click in clicks))
    lost = list(product(range(total + 1), repeat=modes))
    outputs = ((*m, *x) for m in seen for x in lost if sum(m) + sum(x) == total)
    return sum(fock_probability(inputs, m, u) for m in outputs)


HOM = np.array([[1, 1], [1, -1]]) / sqrt(2)
ZTL = np.fft.fft(np.eye(3)) / sqrt(3)


def test_hong_ou_mandel():
    assert clicks_probability([1, 1], [1, 1], HOM) == pytest.approx(0, abs=1e-15)
    assert clicks_probability([1, 1], [1, 0], HOM) == pytest.approx(fock_probability([1, 1], [2, 0], HOM))
    assert fock_probability([1, 1], [2, 0], HOM) == pytest.approx(0.5)


@pytest.mark.parametrize("eta", [0.2, 0.5, 0.9, 1])
def test_hong_ou_mandel_with_losses(eta):
    t = sqrt(eta) * HOM
    assert fock_probability([1, 1], [1, 1], t) == pytest.approx(
        lossy_clicks_probability([1, 1], [1, 1], t), abs=1e-15
    )


def test_zero_transmission_law():
    p = fock_probability
    one_each = [1, 1, 1]
    assert clicks_probability(one_each, [1, 1, 0], ZTL) == pytest.approx(
        p(one_each, [1, 2, 0], ZTL) + p(one_each, [2, 1, 0], ZTL), abs=1e-15
    )
    assert p(one_each, [1, 2, 0], ZTL) == pytest.approx(0, abs=1e-15)
    assert p(one_each, one_each, ZTL) == pytest.approx(1 / 3)
    assert clicks_probability(one_each, [1, 0, 0], ZTL) == pytest.approx(p(one_each, [3, 0, 0], ZTL))
    assert clicks_probability([1, 2, 0], [0, 1, 1], ZTL) == pytest.approx(
        p([1, 2, 0], [0, 2, 1], ZTL) + p([1, 2, 0], [0, 1, 2], ZTL)
    )


@pytest.mark.parametrize("eta", [0.2, 0.5, 0.9, 1])
def test_zero_transmission_law_with_losses(eta):
    found = lossy_clicks_probability([1, 1, 1], [1, 1, 0], sqrt(eta) * ZTL)
    assert found == pytest.approx(eta**2 * (1 - eta) / 3, abs=1e-12)


@pytest.mark.parametrize("modes", [2, 3])
def test_probabilities_sum_to_1(modes, g):
    q, _ = np.linalg.qr(g.normal(size=(modes, modes)) + 1j * g.normal(size=(modes, modes)))
    t = np.diag(g.random(modes)) @ q @ np.diag(g.random(modes))
    n = np.bincount(g.integers(modes, size=modes + 1), minlength=modes)
    total = sum(lossy_clicks_probability(n.tolist(), clicks, t) for clicks in product([0, 1], repeat=modes))
    assert total == pytest.approx(1, abs=1e-10)


def test_a_wrong_number_of_modes():
    for n, m, modes in (([1, 1, 1], [1, 1, 1], 2), ([1, 1], [1, 1, 1], 2), ([1, 1], [1, 1], 3)):
        with pytest.raises(ValueError, match=r"multiplicity|conserved"):
            fock_probability(n, m, np.ones((modes, modes)))
    with pytest.raises(ValueError, match="conserved"):
        fock_probability([1, 1, 2, 1], [1, 1, 1, 3], np.eye(4))
