"""All coefficients of perm(C + x L), and the Hessian times a direction, beside a permanent and a gradient.

    python bench/polynomials.py

with the package as it stands here (PYTHONPATH=capi/python, PERM_LIBRARY), on two threads. Each line: seconds
of one permanent of C (of integers exactly), of the polynomial by a default call, how many permanents that is,
how many coefficients have the tolerance. Medians of five, in turns."""

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import libperm

TURNS = 5


def medians(*calls: Callable[[], Any]) -> list[float]:
    times: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call()
    for _ in range(TURNS):
        for one, call in zip(times, calls):
            begin = time.perf_counter()
            call()
            one.append(time.perf_counter() - begin)
    return [statistics.median(one) for one in times]


def cases() -> list[tuple[str, Any, Any]]:
    g = np.random.default_rng(11)
    found: list[tuple[str, Any, Any]] = []
    for n in (12, 16, 20):
        found.append((f"integers 1..9, full, n = {n}", g.integers(1, 10, (n, n)), g.integers(1, 10, (n, n))))
        found.append((f"positive, full, n = {n}", g.random((n, n)), g.random((n, n))))
        found.append((f"signed, full, n = {n}", g.normal(size=(n, n)), g.normal(size=(n, n))))
        found.append((f"principal minors of positive, n = {n}", g.random((n, n)), np.eye(n)))
    for n in (40, 80):
        near = abs(np.subtract.outer(range(n), range(n))) <= 2
        found.append(
            (f"five diagonals of integers, n = {n}", near * g.integers(1, 10, (n, n)), np.eye(n, dtype=int))
        )
        found.append((f"five diagonals, positive, n = {n}", near * g.random((n, n)), near * g.random((n, n))))
    return found


def main() -> None:
    for name, c, ell in cases():
        one, all_of_them = medians(
            partial(libperm.permanent, c, threads=2), partial(libperm.polynomial, c, ell, threads=2)
        )
        found = libperm.polynomial(c, ell, full=True, threads=2)
        met = sum(bound <= 1e-9 for bound in found.rel_error_bounds)
        print(
            f"{name}: {one:.3g} s, polynomial {all_of_them:.3g} s, {all_of_them / one:.1f} permanents, "
            f"{met} of {len(found.values)} coefficients",
            flush=True,
        )
    g = np.random.default_rng(12)
    for n in (8, 12, 16, 20):
        a, v = g.random((n, n)), g.random((n, n))
        plan = libperm.Plan(a, threads=2)
        gradient, product = medians(
            partial(plan.gradient, with_permanent=False), partial(plan.hessian_product, v)
        )
        numbers, bounds = plan.hessian_product(v, full=True)
        worst = max(np.asarray(bounds) / np.abs(numbers))
        print(
            f"n = {n}: gradient {gradient:.3g} s, Hessian times V {product:.3g} s, {product / gradient:.1f} "
            f"gradients, bound {worst:.1e}",
            flush=True,
        )


main()
