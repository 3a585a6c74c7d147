"""Samples a second of boson sampling in circuits of few layers of beam splitters between neighbours, twice as
many modes as photons, which come in by every other mode or by the first ones.

    python bench/boson_circuits.py

with the package as it stands here (PYTHONPATH=capi/python, PERM_LIBRARY), on two threads."""

import time
from typing import Any

import numpy as np

import libperm.boson

SECONDS = 1.0  # at least, of a turn that counts


def circuit(modes: int, layers: int) -> Any:
    g = np.random.default_rng(1)
    u = np.eye(modes, dtype=complex)
    for layer in range(layers):
        for z in range(layer % 2, modes - 1, 2):
            angle, a, b = g.uniform(0, 2 * np.pi, 3)
            c, s = np.cos(angle) * np.exp(1j * a), np.sin(angle) * np.exp(1j * b)
            u[z : z + 2] = np.array([[c, -s], [s.conjugate(), c.conjugate()]]) @ u[z : z + 2]
    return u


def rate(u: Any, photons: list[int]) -> float:
    shots, taken = 1, 0.0
    while taken < SECONDS:
        shots *= 4
        start = time.perf_counter()
        libperm.boson.sample(u, photons, shots, rng=1, threads=2, time_limit="inf")
        taken = time.perf_counter() - start
    return shots / taken


def main() -> None:
    for layers in (4, 6, 8):
        for count in (20, 40, 60):
            u = circuit(2 * count, layers)
            for name, photons in (("every other", range(0, 2 * count, 2)), ("first", range(count))):
                print(f"{layers} layers, {count} photons, {name}: {rate(u, list(photons)):.4g} a second")


if __name__ == "__main__":
    main()
