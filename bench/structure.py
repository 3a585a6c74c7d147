"""Matrices whose permanents take polynomial time, by default calls, from numpy arrays to answers.

    python bench/structure.py

with the package as it stands here (PYTHONPATH=capi/python, PERM_LIBRARY), on two threads. Each line: seconds,
the median of five turns, and the engine."""

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import libperm
from libperm.lattices import board, torus

TURNS = 5


def orders(n: int) -> tuple[Any, Any]:
    i = np.arange(n)
    return i[:, None], i[None, :]


def with_zeros(n: int, zeros: int) -> Any:
    """All ones but for zeros at random."""
    a = np.ones(n * n, dtype=int)
    a[np.random.default_rng(1).choice(n * n, zeros, replace=False)] = 0
    return a.reshape(n, n)


def of_rank(n: int, rank: int) -> Any:
    g = np.random.default_rng(2)
    return g.integers(-9, 10, (n, rank)) @ g.integers(-9, 10, (rank, n))


def groups(n: int, zeros: int) -> Any:
    """5 within two halves, 2 between them, but for zeros at random."""
    i, j = orders(n)
    a = np.where((i < n // 2) == (j < n // 2), 5, 2).reshape(-1)
    a[np.random.default_rng(6).choice(n * n, zeros, replace=False)] = 0
    return a.reshape(n, n)


def banded(n: int) -> Any:
    """|i - j| but for three diagonals."""
    i, j = orders(n)
    d = abs(i - j)
    return np.where(d <= 1, np.random.default_rng(7).integers(-9, 10, (n, n)), d)


def sums(n: int) -> Any:
    g = np.random.default_rng(3)
    return np.exp(g.uniform(0, 20, n)[:, None] + g.uniform(0, 20, n)[None, :])


def weighted(n: int) -> Any:
    g = np.random.default_rng(4)
    return board(n, n, weights=lambda *_: g.uniform(0.5, 2)).matrix


def holed(n: int, pairs: int) -> Any:
    """A board without some dominoes' cells."""
    g = np.random.default_rng(5)
    cells = {(i, j) for i in range(n) for j in range(n)}
    holes: list[tuple[int, int]] = []
    while len(holes) < 2 * pairs:
        i, j = (int(x) for x in g.integers(0, n - 1, 2))
        if {(i, j), (i, j + 1)} <= cells:
            cells -= {(i, j), (i, j + 1)}
            holes += [(i, j), (i, j + 1)]
    return board(n, n, holes=holes).matrix


def matrices() -> dict[str, Callable[[], Any]]:
    i, j = orders(1000)
    p, q = orders(300)
    s, t = orders(200)
    u, v = orders(100)
    return {
        "J - 2I, n = 200": lambda: 1 - 2 * np.eye(200, dtype=int),
        "ménage, n = 300": lambda: ((q != p) & (q != (p + 1) % 300)).astype(int),
        "60 x 60 with 120 zeros": lambda: with_zeros(60, 120),
        "60 x 60 with 200 zeros": lambda: with_zeros(60, 200),
        "two groups, n = 100, 60 zeros": lambda: groups(100, 60),
        "i + j, n = 1000": lambda: i + j + 2,
        "rank 3, n = 100": lambda: of_rank(100, 3),
        "exp(x_i + y_j), n = 50": lambda: sums(50),
        "|i - j|, n = 100": lambda: abs(u - v),
        "|i - j| but for 3 diagonals, n = 60": lambda: banded(60),
        "nested rows, n = 200": lambda: (t <= s + 5).astype(int),
        "board 32 x 32": lambda: board(32, 32).matrix,
        "board 100 x 100": lambda: board(100, 100).matrix,
        "board 60 x 60 without 120 dominoes": lambda: holed(60, 120),
        "board 100 x 100, weights": lambda: weighted(100),
        "torus 20 x 20": lambda: torus(20, 20).matrix,
    }


def show(name: str, call: Callable[[], Any], engine: str = "") -> None:
    seconds = []
    for _ in range(TURNS):
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
    engine = engine or result.engine
    print(f"{name:<36} {statistics.median(seconds):9.4f} {engine}", flush=True)


def main() -> None:
    for name, matrix in matrices().items():
        a = matrix()
        show(name, partial(libperm.compute, a, threads=2))
    u = np.stack([np.arange(1, 1001), np.ones(1000, dtype=int)], axis=1)
    show(
        "i + j, n = 1000, from its factors",
        lambda: libperm.permanent_of_product(u, u[:, ::-1], threads=2),
        "low_rank",
    )
    a = weighted(60)
    show("board 60 x 60, all marginals", lambda: libperm.marginals(a, threads=2), "planar")
    show("board 60 x 60, 100 samples", lambda: libperm.sample(a, 100, threads=2), "planar")


if __name__ == "__main__":
    main()
