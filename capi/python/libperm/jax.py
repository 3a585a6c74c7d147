"""Permanents and hafnians in JAX: jit, grad, vmap, on a CPU; and distributions of photons, wherever JAX is.

>>> import jax, jax.numpy as jnp
>>> import libperm.jax
>>> A = jnp.array([[1.0, 2.0], [3.0, 4.0]])
>>> jax.jit(libperm.jax.permanent)(A)
Array(10., dtype=float32)
>>> jax.grad(libperm.jax.permanent)(A)
Array([[4., 3.],
       [2., 1.]], dtype=float32)
"""

from __future__ import annotations

import ctypes
import math
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from libperm._core import differentiable
from libperm._core.functions import hafnians
from libperm._core.library import library
from libperm._core.options import flag
from libperm._core.polynomials import hessian_products

_TYPES = ("float32", "float64", "complex64", "complex128")


def permanent(A: Any, *, precision: str = "", tolerance: float = 0.0, threads: int = 0) -> jax.Array:
    """perm(A) of an array (..., m, n), m <= n, as an array (...): of its type, float or complex, of 32 or 64
    bits (for 64 jax_enable_x64 has to be set). Computed in doubles at least, all matrices in one call of XLA.

    Differentiable twice, in reverse mode (jax.grad, jax.jacrev), by all entries, zeros too: derivatives are
    those of libperm.gradients and of libperm.hessian_product. Under vmap matrices are put side by side, and
    computed at the same time.
    precision, tolerance, threads: as in libperm.Options, residues aside; derivatives are in doubles. Errors
    of libperm, NaN among the entries for instance, are raised by JAX as what it raises of a computation, with
    libperm's words.
    """
    differentiable.require_differentiable({"precision": precision})
    return _permanent(_matrices(A), str(precision), float(tolerance), int(threads))


def hafnian(
    A: Any, *, loops: bool = False, precision: str = "", tolerance: float = 0.0, threads: int = 0
) -> jax.Array:
    """haf((A + A^T) / 2) of an array (..., n, n), with loops its loop hafnian, as an array (...): of its
    type, float or complex, of 32 or 64 bits (for 64 jax_enable_x64 has to be set). Computed in doubles at
    least, by libperm.hafnians, to which JAX calls back.

    Differentiable as often as wanted, in reverse mode: derivatives are hafnians without two lines, or one,
    all in one call; each of the two entries of a pair has one half of it.
    precision, tolerance, threads: as in permanent(), of derivatives too.

    >>> import jax, jax.numpy as jnp
    >>> import libperm.jax
    >>> A = jnp.array([[0.0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]])
    >>> print(libperm.jax.hafnian(A), jax.grad(libperm.jax.hafnian)(A)[0])
    28.0 [0.  3.  2.5 2. ]
    """
    differentiable.require_differentiable({"precision": precision}, "hafnian")
    A = _matrices(A)
    if A.shape[-1] != A.shape[-2]:
        raise TypeError(f"an array of shape {A.shape}: a hafnian is of square matrices (..., n, n)")
    given = {"precision": str(precision), "tolerance": float(tolerance), "threads": int(threads)}
    options = tuple((name, value) for name, value in given.items() if value)
    value: jax.Array = _hafnian((A + A.mT) / 2, flag("loops", loops), options)
    return value


def _matrices(A: Any) -> jax.Array:
    array: jax.Array = jnp.asarray(A)
    if array.dtype.name not in _TYPES:
        raise TypeError(
            f"an array of {array.dtype.name}: {', '.join(_TYPES)} are expected, e.g. A.astype(float)"
        )
    if array.ndim < 2:
        raise TypeError(f"an array of {array.ndim} dimensions is no matrix, nor a batch of them (..., m, n)")
    if not all(isinstance(extent, int) for extent in array.shape):
        raise TypeError(f"an array of shape {array.shape}: its extents have to be known when it is traced")
    return array


def distribution(
    U: Any, photons: Any = None, *, occupation: Any = None, transmission: Any = 1, overlaps: Any = None
) -> jax.Array:
    """The probabilities of libperm.boson.distribution(), for all ways to leave in the order of
    libperm.boson.outcomes(), as an array of U's precision: by JAX's own operations, so that jit, grad, vmap
    and derivatives of derivatives are JAX's, by U, transmission and overlaps. What U is is not looked at:
    of any matrix it is the polynomial that has the probabilities of a unitary one. photons and
    occupation are numbers, not traced.

    >>> import jax, jax.numpy as jnp
    >>> import libperm.jax
    >>> def together(t):  # both photons leave a beam splitter of angle t by the first mode
    ...     U = jnp.array([[jnp.cos(t), -jnp.sin(t)], [jnp.sin(t), jnp.cos(t)]])
    ...     return libperm.jax.distribution(U, 2)[0]
    >>> print(f"{together(0.5):.4f} {jax.grad(together)(0.5):.4f}")  # 2 cos^2 sin^2, sin(4 t)
    0.3540 0.9093
    """
    U = jnp.asarray(U)
    if U.dtype.name not in _TYPES:
        raise TypeError(f"amplitudes of {U.dtype.name}: {', '.join(_TYPES)} are expected")
    if overlaps is not None:
        overlaps = jnp.asarray(overlaps)
        U = U.astype(jnp.promote_types(U.dtype, overlaps.dtype))
    found: jax.Array = differentiable.distribution(
        U, (photons, occupation), transmission, overlaps, jnp, partial(jnp.asarray, dtype=U.dtype)
    )
    return found


@partial(jax.custom_vjp, nondiff_argnums=(1, 2, 3))
def _permanent(A: jax.Array, precision: str, tolerance: float, threads: int) -> jax.Array:
    call = _call("libperm_permanents", jax.ShapeDtypeStruct(A.shape[:-2], A.dtype))
    value: jax.Array = call(
        A, precision=precision, tolerance=np.float64(tolerance), threads=np.int64(threads)
    )
    return value


def _forwards(A: jax.Array, precision: str, tolerance: float, threads: int) -> tuple[jax.Array, jax.Array]:
    value, derivatives = _with_derivatives(A, threads)
    if precision or tolerance:  # the value of the other call may have more digits
        value = _permanent(A, precision, tolerance, threads)
    return value, derivatives


def _backwards(
    precision: str, tolerance: float, threads: int, derivatives: jax.Array, cotangent: jax.Array
) -> tuple[jax.Array]:
    return (cotangent[..., None, None] * derivatives,)


_permanent.defvjp(_forwards, _backwards)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def _with_derivatives(A: jax.Array, threads: int) -> tuple[jax.Array, jax.Array]:
    outputs = (jax.ShapeDtypeStruct(A.shape[:-2], A.dtype), jax.ShapeDtypeStruct(A.shape, A.dtype))
    value, derivatives = _call("libperm_gradients", outputs)(A, threads=np.int64(threads))
    return value, derivatives


def _derivatives_forwards(A: jax.Array, threads: int) -> tuple[Any, Any]:
    value, derivatives = _with_derivatives(A, threads)
    return (value, derivatives), (A, derivatives)


def _derivatives_backwards(threads: int, known: Any, cotangents: Any) -> tuple[jax.Array]:
    (A, derivatives), (of_value, of_derivatives) = known, cotangents
    product = jax.pure_callback(
        partial(_hessian_products, threads),
        jax.ShapeDtypeStruct(A.shape, A.dtype),
        A,
        of_derivatives,
        vmap_method="broadcast_all",
    )
    return (of_value[..., None, None] * derivatives + product,)


_with_derivatives.defvjp(_derivatives_forwards, _derivatives_backwards)


def _hessian_products(threads: int, A: Any, V: Any) -> Any:
    options = {"threads": threads} if threads else {}
    return hessian_products(_batch(A), _batch(V), options).reshape(A.shape).astype(A.dtype)


def _batch(A: Any) -> Any:
    """Converts an array to what libperm takes: (count, m, n), of doubles."""
    doubles = np.complex128 if A.dtype.kind == "c" else np.float64
    return np.asarray(A).astype(doubles).reshape(math.prod(A.shape[:-2]), *A.shape[-2:])


@partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def _hafnian(A: jax.Array, loops: bool, options: tuple[Any, ...]) -> jax.Array:
    value: jax.Array = jax.pure_callback(
        partial(_hafnians, loops, dict(options)),
        jax.ShapeDtypeStruct(A.shape[:-2], A.dtype),
        A,
        vmap_method="broadcast_all",
    )
    return value


def _hafnian_forwards(A: jax.Array, loops: bool, options: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    return _hafnian(A, loops, options), A


def _hafnian_backwards(
    loops: bool, options: tuple[Any, ...], A: jax.Array, cotangent: jax.Array
) -> tuple[jax.Array]:
    slope = jnp.zeros_like(A)
    for left_out in (1, 2) if loops else (2,):
        ways, kept = differentiable.kept_lines(A.shape[-1], left_out)
        minors = _hafnian(A[..., kept[:, :, None], kept[:, None, :]], loops, options)
        for i, j in ((ways[:, 0], ways[:, -1]), (ways[:, -1], ways[:, 0])):
            slope = slope.at[..., i, j].add(minors / 2)
    return (cotangent[..., None, None] * slope,)


_hafnian.defvjp(_hafnian_forwards, _hafnian_backwards)


def _hafnians(loops: bool, options: Any, A: Any) -> Any:
    return hafnians(_batch(A), loops=loops, **options).reshape(A.shape[:-2]).astype(A.dtype)


def _call(name: str, outputs: Any) -> Any:
    return jax.ffi.ffi_call(name, outputs, vmap_method="broadcast_all")


def _register() -> None:
    path = Path(__file__).parent / "_core" / "lib" / "libperm_xla.so"
    if not path.exists():
        raise ImportError(
            "this libperm was built without jaxlib's headers: take a wheel of it, or, where jax is "
            "installed, build it with pip install --no-build-isolation"
        )
    handlers = ctypes.CDLL(str(path))
    handlers.libperm_bind(ctypes.c_void_p(library._handle))
    for name in ("libperm_permanents", "libperm_gradients"):
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(handlers, name)), platform="cpu")


_register()
