"""A gradient step over 1000 complex matrices, of the sum of |perm|^2: libperm's batches and Piquasso's loop,
in milliseconds.

    ./dev python && build/python/bin/python bench/peer_gradients.py

takes the package as it stands here (PYTHONPATH=capi/python, PERM_LIBRARY). Medians of five; Piquasso's loop
is run once, on a tenth of the matrices."""

import statistics
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

import libperm.jax

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
piquasso_perm: Any = import_module("piquasso.jax_extensions.permanent").perm

COUNT = 1000


def milliseconds(step: Callable[[], Any], rounds: int = 5) -> float:
    jax.block_until_ready(step())
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        jax.block_until_ready(step())
        taken.append(1e3 * (time.perf_counter() - start))
    return statistics.median(taken)


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    g = np.random.default_rng(1)
    for n in (4, 8, 10):
        batch = g.normal(size=(COUNT, n, n)) + 1j * g.normal(size=(COUNT, n, n))
        once, on_jax = jnp.ones(n, jnp.uint64), jnp.asarray(batch)
        ours = jax.jit(jax.grad(lambda A: jnp.sum(jnp.abs(libperm.jax.permanent(A)) ** 2)))
        theirs = jax.jit(jax.grad(lambda A, once=once: jnp.abs(piquasso_perm(A, once, once)) ** 2))
        some = list(on_jax[: COUNT // 10])
        difference = jnp.abs(ours(on_jax)[0] - theirs(some[0])).max() / jnp.abs(ours(on_jax)[0]).max()
        loop = partial(lambda step, matrices: list(map(step, matrices)), theirs, some)
        in_numpy = milliseconds(partial(libperm.gradients, batch))
        in_jax, in_a_loop = milliseconds(partial(ours, on_jax)), 10 * milliseconds(loop, 1)
        print(
            f"n = {n}: libperm.gradients {in_numpy:.1f}, libperm.jax {in_jax:.1f}, piquasso {in_a_loop:.0f}"
        )
        assert difference < 1e-12


if __name__ == "__main__":
    main()
