"""libperm.piquasso in Piquasso's simulators, against Piquasso's own connector."""

import numpy as np
import pytest
from support import SEED

pq = pytest.importorskip("piquasso")

from piquasso._math.permanent import permanent, permanent_laplace  # noqa: E402

from libperm.piquasso import LibpermConnector  # noqa: E402

COUNTS = [([1, 1, 1], [1, 1, 1]), ([2, 1, 0], [1, 1, 1]), ([3, 0, 1], [0, 2, 2]), ([0, 0, 0], [0, 0, 0])]


def some(n, seed=0):
    g = np.random.default_rng(SEED + seed)
    return g.normal(size=(n, n)) + 1j * g.normal(size=(n, n))


@pytest.mark.parametrize(("rows", "cols"), COUNTS)
def test_permanent(rows, cols):
    a, connector = some(3), LibpermConnector(threads=1)
    found = connector.permanent(a, rows=np.array(rows), cols=np.array(cols))
    assert found == pytest.approx(complex(permanent(a, np.array(rows), np.array(cols))), rel=1e-10)
    assert connector.permanent(a.real, tuple(rows), tuple(cols)) == pytest.approx(
        complex(permanent(a.real, np.array(rows), np.array(cols))), rel=1e-10
    )


@pytest.mark.parametrize(
    ("rows", "cols"), [([1, 1, 0], [1, 1, 1]), ([2, 1, 1], [3, 1, 1]), ([0, 0, 0], [1, 0, 0])]
)
def test_permanent_laplace(rows, cols):
    a = some(3)
    found = LibpermConnector().permanent_laplace(a, np.array(rows), np.array(cols))
    theirs = permanent_laplace(a, np.array(rows), np.array(cols))
    assert np.allclose(found[: len(theirs)], theirs, rtol=1e-10)  # theirs may leave out columns of no copies
    assert (found[len(theirs) :] == 0).all()


def test_refuses_shapes_that_do_not_fit():
    connector = LibpermConnector()
    with pytest.raises(ValueError, match="a square"):
        connector.permanent(some(2), [1, 1], [1, 0])
    with pytest.raises(ValueError, match="one more"):
        connector.permanent_laplace(some(2), [1, 1], [1, 1])


def program(interferometer, photons):
    with pq.Program() as made:
        pq.Q() | pq.NumberState(photons)
        pq.Q() | pq.Interferometer(interferometer)
    return made


def test_simulator():
    unitary = np.linalg.qr(some(4, 1))[0]
    made = program(unitary, [1, 1, 1, 0])
    states = [
        pq.PassiveSimulator(d=4, connector=connector).execute(made).state
        for connector in (LibpermConnector(), pq.NumpyConnector())
    ]
    for outcome in [(1, 1, 1, 0), (3, 0, 0, 0), (0, 2, 0, 1), (0, 0, 1, 2)]:
        ours, theirs = (state.get_particle_detection_probability(outcome) for state in states)
        assert ours == pytest.approx(theirs, rel=1e-10)


def test_sampling():
    """The same random numbers and probabilities, so the same samples."""
    unitary = np.linalg.qr(some(5, 2))[0]
    with pq.Program() as made:
        pq.Q() | pq.NumberState([1, 1, 1, 0, 0])
        pq.Q() | pq.Interferometer(unitary)
        pq.Q() | pq.ParticleNumberMeasurement()
    found = [
        pq.PassiveSimulator(d=5, config=pq.Config(seed_sequence=SEED), connector=connector)
        .execute(made, shots=50)
        .samples
        for connector in (LibpermConnector(), pq.NumpyConnector())
    ]
    assert found[0] == found[1]
