"""Exact joint probabilistic data association (JPDA) for Stone Soup, of gates of any shape.

    from libperm.stonesoup import ExactJPDA
    associator = ExactJPDA(hypothesiser=PDAHypothesiser(...))

It takes the place of Stone Soup's JPDA, JPDAwithEHM and JPDAwithEHM2, whose probabilities these are: a joint
hypothesis is a matching of tracks with detections, and no two tracks share one. Stone Soup's JPDA writes them
all out; here the probabilities are libperm.marginals(), with 20 tracks and 60 detections that are all in each
other's gates within seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from stonesoup.base import Property
from stonesoup.dataassociator.base import DataAssociator
from stonesoup.hypothesiser.probability import PDAHypothesiser
from stonesoup.types.detection import MissedDetection
from stonesoup.types.hypothesis import SingleProbabilityHypothesis
from stonesoup.types.multihypothesis import MultipleHypothesis
from stonesoup.types.numeric import Probability

from libperm._core.matchings import marginals


class ExactJPDA(DataAssociator):
    """Joint probabilistic data association, exact: as stonesoup.dataassociator.probability.JPDA, by sums over
    sets of tracks or along the gates' frontier instead of over all joint hypotheses."""

    hypothesiser: PDAHypothesiser = Property(
        doc="Generate a set of hypotheses for each prediction-detection pair"
    )
    options: dict[str, Any] = Property(
        default=None, doc="Options of libperm.marginals(): threads, memory_limit, time_limit, ..."
    )

    def associate(
        self, tracks: Iterable[Any], detections: Any, timestamp: Any, **kwargs: Any
    ) -> dict[Any, Any]:
        """A MultipleHypothesis for each track: the missed detection, then what the hypothesiser gave, each
        with the probability that it is the track's part of the joint hypothesis."""
        # Mixins that find tracks in a tree take a set alone.
        hypotheses = self.generate_hypotheses(tracks, detections, timestamp, **kwargs)
        tracks = list(tracks)
        columns: dict[int, int] = {}  # of detections that are in a gate
        for track in tracks:
            for hypothesis in hypotheses[track]:
                if hypothesis:
                    columns.setdefault(id(hypothesis.measurement), len(columns))
        weights, missed = np.zeros((len(tracks), len(columns))), np.zeros(len(tracks))
        for i, track in enumerate(tracks):
            logs = [_log(hypothesis.probability) for hypothesis in hypotheses[track]]
            most = max((x for x in logs if x > -math.inf), default=0.0)  # a track's scale changes nothing
            for hypothesis, log in zip(hypotheses[track], logs):
                if hypothesis:
                    weights[i, columns[id(hypothesis.measurement)]] += math.exp(log - most)
                else:
                    missed[i] += math.exp(log - most)
        if columns:
            found = marginals(weights, missed, 1.0, **(self.options or {}))
            entries, left = found.entries, found.rows
        else:
            entries, left = weights, np.ones(len(tracks))
        return {
            track: self._updated(hypotheses[track], [columns, entries[i], left[i]], timestamp)
            for i, track in enumerate(tracks)
        }

    @staticmethod
    def _updated(given: Any, found: Any, timestamp: Any) -> Any:
        columns, entries, left = found
        missed = given[0], MissedDetection(timestamp=timestamp), left
        detected = [(h, h.measurement, entries[columns[id(h.measurement)]]) for h in given if h]
        updated = [
            SingleProbabilityHypothesis(
                hypothesis.prediction,
                measurement,
                measurement_prediction=hypothesis.measurement_prediction,
                probability=Probability(float(probability)),
            )
            for hypothesis, measurement, probability in [missed, *detected]
        ]
        return MultipleHypothesis(updated, True, 1)


def _log(probability: Any) -> float:
    if isinstance(probability, Probability):
        return float(probability.log_value)
    return math.log(probability) if probability > 0 else -math.inf
