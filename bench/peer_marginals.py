"""Association probabilities (JPDA) beside PyEHM, in one run: tracks that may be missed, detections that may
be clutter, full gates and those that leave out the pairs far from each other.

    pip install pyehm
    python bench/peer_marginals.py

with the package as it stands here (PYTHONPATH=capi/python, PERM_LIBRARY). Microseconds a call, medians."""

import statistics
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

import libperm

PLACES = 80  # of detections, of the largest; what the peer would take minutes for is left out


def microseconds(call: Callable[[], Any], rounds: int) -> float:
    call()
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return 1e6 * statistics.median(taken)


def random_gates(rng: np.random.Generator, tracks: int, detections: int, share: float) -> Any:
    return rng.random((tracks, detections)) * (rng.random((tracks, detections)) < share)


def gates_of_neighbours(rng: np.random.Generator, tracks: int, detections: int, share: float) -> Any:
    """At random in a square; the nearest pairs are gated."""
    from_to = rng.random((tracks, 1, 2)) - rng.random((1, detections, 2))
    distance = np.hypot(from_to[..., 0], from_to[..., 1])
    return rng.random(distance.shape) * (distance < np.quantile(distance, share))


def main() -> None:
    core: Any = import_module("pyehm.core")
    rng = np.random.default_rng(3)
    cases = {
        "5 x 6, full": random_gates(rng, 5, 6, 1),
        "9 x 8, 40 %": random_gates(rng, 9, 8, 0.4),
        "11 x 9, half": random_gates(rng, 11, 9, 0.5),
        "11 x 9, full": random_gates(rng, 11, 9, 1),
        "30 x 80, the nearest 15 %": gates_of_neighbours(rng, 30, PLACES, 0.15),
    }
    print(f"{'':28}{'libperm':>10}{'EHM2':>10}{'EHM':>10}")
    for name, gates in cases.items():
        whole = np.concatenate([np.full((len(gates), 1), 0.1), gates], axis=1)
        valid = (whole > 0).astype(np.int32)
        found = libperm.marginals(gates, 0.1, 1.0)
        times = [microseconds(partial(libperm.marginals, gates, 0.1, 1.0), 21)]
        for peer in () if gates.shape[1] == PLACES else (core.EHM2(), core.EHM()):
            told = peer.run(valid, whole)
            assert np.allclose(told[:, 1:], found.entries, rtol=0, atol=1e-9)
            times.append(microseconds(partial(peer.run, valid, whole), 5))
        print(f"{name:28}" + "".join(f"{t:10.0f}" for t in times))
    stack = rng.random((10000, 5, 6))
    each = microseconds(lambda: libperm.marginals(stack, 0.1, 1.0), 3) / len(stack)
    print(f"{'10000 of 5 x 6 at once, each':28}{each:10.2f}")


if __name__ == "__main__":
    main()
