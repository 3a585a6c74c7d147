"""Boson sampling and sub-permanents beside other packages, in one run: samples a second of 20 photons in 60
modes by libperm, Perceval's Clifford2017 backend and Piquasso, and the n + 1 sub-permanents of a complex
(n+1) x n matrix by libperm and exqalibur.

    pip install perceval-quandela piquasso exqalibur
    python bench/peer_boson.py

with the package as it stands here (PYTHONPATH=capi/python, PERM_LIBRARY). Rates: medians of three turns."""

import statistics
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

import libperm.boson

PHOTONS, MODES = 20, 60


def seconds(call: Callable[[], Any], rounds: int) -> float:
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def samplers(u: Any) -> dict[str, tuple[int, Callable[[int], Any]]]:
    pcvl: Any = import_module("perceval")
    pq: Any = import_module("piquasso")
    state = [1] * PHOTONS + [0] * (MODES - PHOTONS)
    backend = pcvl.Clifford2017Backend()
    backend.set_circuit(pcvl.Unitary(pcvl.Matrix(u)))
    backend.set_input_state(pcvl.BasicState(state))
    with pq.Program() as program:
        pq.Q(all) | pq.StateVector(state)
        pq.Q(all) | pq.Interferometer(u)
        pq.Q(all) | pq.ParticleNumberMeasurement()
    simulator = pq.SamplingSimulator(d=MODES)
    return {
        "libperm": (100, lambda shots: libperm.boson.sample(u, PHOTONS, shots, rng=1)),
        "perceval": (5, lambda shots: [backend.sample() for _ in range(shots)]),
        "piquasso": (2, lambda shots: simulator.execute(program, shots=shots)),
    }


def main() -> None:
    g = np.random.default_rng(1)
    q, r = np.linalg.qr(g.normal(size=(MODES, MODES)) + 1j * g.normal(size=(MODES, MODES)))
    of = samplers(q * (np.diag(r) / abs(np.diag(r))))
    for _, sample in of.values():
        sample(1)
    times: dict[str, list[float]] = {name: [] for name in of}
    for _ in range(3):
        for name, (shots, sample) in of.items():
            start = time.perf_counter()
            sample(shots)
            times[name].append((time.perf_counter() - start) / shots)
    for name, taken in times.items():
        print(f"{name}: {1 / statistics.median(taken):.1f} samples a second")

    exqalibur: Any = import_module("exqalibur")
    for n in (4, 8, 12, 16):
        a = g.normal(size=(n + 1, n)) + 1j * g.normal(size=(n + 1, n))
        ours, theirs = libperm.sub_permanents(a), np.array(exqalibur.sub_permanents_cx(a))
        assert np.allclose(np.sort(abs(ours)), np.sort(abs(theirs)))
        rounds = 200 if n < 14 else 20
        mine = seconds(partial(libperm.sub_permanents, a), rounds)
        other = seconds(partial(exqalibur.sub_permanents_cx, a), rounds)
        print(f"{n + 1} sub-permanents, n = {n}: libperm {1e6 * mine:.0f} µs, exqalibur {1e6 * other:.0f} µs")


if __name__ == "__main__":
    main()
