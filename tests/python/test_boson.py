"""Samples of boson sampling, from Python."""

import itertools
import math

import numpy as np
import pytest
from scipy import sparse
from support import SEED

import libperm
import libperm.boson


def unitary(modes):
    rng = np.random.default_rng(SEED + 1)
    q, r = np.linalg.qr(rng.normal(size=(modes, modes)) + 1j * rng.normal(size=(modes, modes)))
    return q * (np.diag(r) / abs(np.diag(r)))


@pytest.mark.parametrize("came", [[0, 1, 2], [1, 1, 3], [2, 2]])
def test_samples_follow_the_law(came):
    u, shots = unitary(4), 20000
    samples = libperm.boson.sample(u, came, shots, rng=SEED)
    assert samples.shape == (shots, 4)
    assert (samples.sum(axis=1) == len(came)).all()
    seen = {}
    for sample in samples:
        seen[tuple(sample)] = seen.get(tuple(sample), 0) + 1
    copies = math.prod(math.factorial(came.count(j)) for j in range(4))
    square, cells, total = 0.0, 0, 0.0
    for out in itertools.combinations_with_replacement(range(4), len(came)):
        occupation = tuple(out.count(z) for z in range(4))
        weight = abs(libperm.permanent(u[np.ix_(out, came)])) ** 2
        probability = weight / (copies * math.prod(map(math.factorial, occupation)))
        total += probability
        expected = probability * shots
        if expected > 5:
            square += (seen.get(occupation, 0) - expected) ** 2 / expected
            cells += 1
    assert total == pytest.approx(1)
    assert cells > 3
    assert square < cells + 5.5 * math.sqrt(2 * cells) + 12


def test_ways_to_say_which_photons():
    u = unitary(5)
    first = libperm.boson.sample(u, 3, 20, rng=4)
    assert (first == libperm.boson.sample(u, [0, 1, 2], 20, rng=4)).all()
    assert (first == libperm.boson.sample(u, occupation=[1, 1, 1, 0, 0], shots=20, rng=4)).all()
    assert (first == libperm.boson.sample(u, 3, 20, rng=np.random.default_rng(4), threads=1)).all()
    assert libperm.boson.sample(u, [2, 2], 3, rng=1).sum() == 6
    assert libperm.boson.sample(u[:, :3], 3, 2, rng=1).shape == (2, 5)
    assert (first == libperm.boson.sample(u.tolist(), 3, 20, rng=4)).all()
    assert (first == libperm.boson.sample(sparse.csr_array(u), 3, 20, rng=4)).all()


def test_the_same_seed_gives_the_same_samples():
    u = unitary(5)
    first = libperm.boson.sample(u, 3, 20, rng=SEED)
    assert (first == libperm.boson.sample(u, 3, 20, rng=SEED, threads=1)).all()
    assert (first != libperm.boson.sample(u, 3, 20, rng=SEED + 1)).any()


def test_experiments_at_fault():
    u = unitary(4)
    with pytest.raises(TypeError, match="masked"):
        libperm.boson.sample(np.ma.masked_array(u), 2)
    with pytest.raises(TypeError, match="float16"):
        libperm.boson.sample(np.eye(3, dtype="f2"), 2)
    with pytest.raises(libperm.InvalidMatrixError, match="unitary"):
        libperm.boson.sample(2 * u / 3, 2)
    with pytest.raises(libperm.InvalidMatrixError, match=r"column 1 has squared norm 0\.81,"):
        libperm.boson.sample(0.9 * np.eye(2), [1, 1])
    with pytest.raises(libperm.InvalidMatrixError, match="columns 0 and 1 .* off by 1"):
        libperm.boson.sample(np.full((2, 2), 0.5**0.5), 2)
    with pytest.raises(libperm.InvalidOptionError, match="rng is -1"):
        libperm.boson.sample(u, 2, rng=-1)
    with pytest.raises(libperm.InvalidOptionError, match="comes in by mode -1"):
        libperm.boson.sample(u, [0, -1])
    with pytest.raises(libperm.InvalidOptionError, match="comes in by mode 4"):
        libperm.boson.sample(u, [0, 4])
    with pytest.raises(libperm.InvalidOptionError, match="either photons"):
        libperm.boson.sample(u)
    with pytest.raises(libperm.InvalidMatrixError, match="4 modes in"):
        libperm.boson.sample(u, occupation=[1, 1])
    with pytest.raises(libperm.InvalidOptionError, match="whole numbers"):
        libperm.boson.sample(u, [0.5])
    with pytest.raises(libperm.InvalidOptionError, match="shots"):
        libperm.boson.sample(u, 2, -1)


def test_sixty_photons_in_a_shallow_circuit():
    u, g = np.eye(120, dtype=complex), np.random.default_rng(SEED + 2)
    for layer in range(4):
        for z in range(layer % 2, 119, 2):
            c, s = math.cos(t := g.uniform(0.5, 1)), math.sin(t)
            u[z : z + 2] = np.array([[c, -s], [s, c]]) @ u[z : z + 2]
    samples = libperm.boson.sample(u, range(0, 120, 2), 50, rng=1)
    assert (samples.sum(axis=1) == 60).all()
    assert (samples[:, 60:].sum(axis=1) >= 28).all()  # none comes far
    assert (samples == libperm.boson.sample(u, occupation=[1, 0] * 60, shots=50, rng=1, threads=1)).all()
    full = np.linalg.qr(g.normal(size=(60, 60)))[0]
    with pytest.raises(libperm.UnsupportedError, match="shallow circuit"):
        libperm.boson.sample(full, 50)
