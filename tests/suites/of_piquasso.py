"""Piquasso's tests of permanents, of their derivatives in JAX, and of the simulator that asks for them."""

from __future__ import annotations

from typing import Any

from fetching import OfPyPI
from suite import Suite, asks


def replace() -> None:
    import jax.numpy as jnp
    import piquasso
    from piquasso import jax_extensions
    from piquasso._math import permanent as of_matrices

    import libperm.jax
    from libperm.piquasso import LibpermConnector

    @asks
    def perm(A: Any, rows: Any, cols: Any) -> Any:
        """That of JaxConnector, by libperm.jax, which has no multiplicities: lines are written out."""
        return libperm.jax.permanent(jnp.repeat(jnp.repeat(A, rows, axis=0), cols, axis=1))

    class Ours(LibpermConnector):
        permanent = asks(LibpermConnector.permanent)
        permanent_laplace = asks(LibpermConnector.permanent_laplace)

    of_matrices.permanent = Ours().permanent
    piquasso.NumpyConnector = piquasso.PassiveSimulator._default_connector_class = Ours
    jax_extensions.perm = jax_extensions.permanent.perm = perm


PASSIVE = "tests/_simulators/passive/"
JAX = "tests/jax_extensions/"
SUITE = Suite(
    OfPyPI("piquasso", "8.0.2", built=True),
    (
        "tests/_math/test_permanent.py",
        JAX + "test_permanent_unit.py",
        JAX + "test_permanent_grad.py",
        JAX + "test_permanent_integration.py",
        "tests/_simulators/fock/test_jax_connector.py",
        PASSIVE + "test_jax_gradient.py",
        PASSIVE + "test_gates.py",
        PASSIVE + "test_measurements.py",
        PASSIVE + "test_preparations.py",
        PASSIVE + "test_state.py",
    ),
    replace,
    differences={
        "::test_permanent_rejects_negative_multiplicities": "a ValueError here, too, in other words",
        "::test_permanent_(rows|cols)_not_1d": "what writes the lines out takes counts of any shape",
        "::test_permanent_(rows|cols)_wrong_dtype": "multiplicities are integers of any type here",
        "::test_permanent_(real_matrix|a_not_complex128)": "an array of any type of floats is taken here",
        "::test_permanent_a_not_2d": "an array of three dimensions is a batch here",
        "::test_perm_jit_": "multiplicities are traced, but make extents here, which have to be known",
    },
    left_out={
        "::test_jax_connector_simulator_pipeline_runs": "half a minute of a simulator that has no permanents",
        "::test_(ffi_call|jax_extend_ffi|gpu_extension)": "how Piquasso loads its own extension of JAX",
    },
)
