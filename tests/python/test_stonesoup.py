"""libperm.stonesoup against Stone Soup's own JPDA, where Stone Soup is installed (pip install stonesoup)."""

from __future__ import annotations

import datetime

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("stonesoup", reason="Stone Soup is not installed: pip install stonesoup")

from stonesoup.dataassociator.probability import JPDA, JPDAwithEHM2  # noqa: E402
from stonesoup.hypothesiser.probability import PDAHypothesiser  # noqa: E402
from stonesoup.models.measurement.linear import LinearGaussian  # noqa: E402
from stonesoup.models.transition.linear import CombinedLinearGaussianTransitionModel, ConstantVelocity  # noqa: E402
from stonesoup.predictor.kalman import KalmanPredictor  # noqa: E402
from stonesoup.types.detection import Detection  # noqa: E402
from stonesoup.types.state import GaussianState  # noqa: E402
from stonesoup.types.track import Track  # noqa: E402
from stonesoup.updater.kalman import KalmanUpdater  # noqa: E402

from libperm.stonesoup import ExactJPDA  # noqa: E402

START = datetime.datetime(2026, 1, 1)
NOW = START + datetime.timedelta(seconds=1)


def scene(seed, tracks, detections, spread):
    random = np.random.default_rng(seed)
    states = [
        Track([GaussianState(random.uniform(0, spread, 4) * [1, 0, 1, 0], np.eye(4), timestamp=START)])
        for _ in range(tracks)
    ]
    measured = {Detection(random.uniform(0, spread, (2, 1)), timestamp=NOW) for _ in range(detections)}
    return states, measured


def hypothesiser(**options):
    transition = CombinedLinearGaussianTransitionModel([ConstantVelocity(0.1), ConstantVelocity(0.1)])
    measurement = LinearGaussian(ndim_state=4, mapping=[0, 2], noise_covar=np.eye(2))
    return PDAHypothesiser(
        KalmanPredictor(transition),
        KalmanUpdater(measurement),
        **{"clutter_spatial_density": 0.05, "prob_detect": 0.9, **options},
    )


def compare(ours, theirs, tracks):
    compared = 0
    for track in tracks:
        mine, reference = ours[track], theirs[track]
        assert len(mine) == len(reference)
        for hypothesis in reference:
            same = [x for x in mine if (x.measurement is hypothesis.measurement if hypothesis else not x)]
            assert len(same) == 1
            assert float(same[0].probability) == pytest.approx(float(hypothesis.probability), abs=1e-9)
            assert same[0].prediction.mean == pytest.approx(hypothesis.prediction.mean)
            compared += 1
    return compared


@pytest.mark.parametrize("seed", range(12))
def test_probabilities_are_those_of_jpda(seed):
    states, measured = scene(seed, 1 + seed % 4, seed % 6, 8)
    options = {"include_all": True} if seed % 3 == 0 else {}
    of = hypothesiser(**options)
    tracks = set(states)
    ours = ExactJPDA(hypothesiser=of).associate(tracks, measured, NOW)
    theirs = JPDA(hypothesiser=of).associate(tracks, measured, NOW)
    assert set(ours) == tracks
    assert compare(ours, theirs, tracks) >= len(states)


def test_many_tracks_as_by_efficient_hypothesis_management():
    states, measured = scene(7, 16, 24, 20)
    of = hypothesiser()
    ours = ExactJPDA(hypothesiser=of, options={"threads": 1}).associate(set(states), measured, NOW)
    theirs = JPDAwithEHM2(hypothesiser=of).associate(set(states), measured, NOW)
    assert compare(ours, theirs, states) > 40


def test_likelihoods_beyond_doubles():
    states, measured = scene(3, 2, 3, 8)
    of = hypothesiser(include_all=True, normalise=False)
    far = {*measured, Detection(np.array([[200.0], [200.0]]), timestamp=NOW)}
    ours = ExactJPDA(hypothesiser=of).associate(set(states), far, NOW)
    theirs = JPDA(hypothesiser=of).associate(set(states), far, NOW)
    assert compare(ours, theirs, states) == 2 * 5


class GivenASet(ExactJPDA):
    """As Stone Soup's mixins that find tracks in a tree, before there is a hypothesis."""

    def generate_hypotheses(self, tracks, detections, timestamp, **kwargs):
        return super().generate_hypotheses(tracks.union(set()), detections, timestamp, **kwargs)


def test_tracks_reach_mixins_as_they_are():
    states, measured = scene(5, 3, 4, 8)
    of, tracks = hypothesiser(), set(states)
    ours = GivenASet(hypothesiser=of).associate(tracks, measured, NOW)
    assert compare(ours, JPDA(hypothesiser=of).associate(tracks, measured, NOW), states) >= 3


def test_no_tracks():
    assert ExactJPDA(hypothesiser=hypothesiser()).associate(set(), set(), NOW) == {}
