"""libperm.jax, where JAX is and the package was built with its headers."""

import math

import numpy as np
import pytest
from support import SEED

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import libperm  # noqa: E402

try:
    import libperm.jax
except ImportError as error:
    pytest.skip(str(error), allow_module_level=True)

TYPES = ["float32", "float64", "complex64", "complex128"]
SINGLE = ["float32", "complex64"]


@pytest.fixture(autouse=True)
def doubles():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def some(*shape, dtype="complex128"):
    g = np.random.default_rng(SEED + sum(shape))
    numbers = g.normal(size=shape) + 1j * g.normal(size=shape)
    return jnp.asarray(numbers if dtype.startswith("c") else numbers.real, dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(5, 5), (7, 4, 4), (2, 3, 3, 5), (0, 3, 3), (1, 1)])
def test_values(dtype, shape):
    a = some(*shape, dtype=dtype)
    for function in (libperm.jax.permanent, jax.jit(libperm.jax.permanent)):
        found = function(a)
        assert (found.dtype, found.shape) == (dtype, shape[:-2])
        for index in np.ndindex(shape[:-2]):
            expected = libperm.permanent(np.asarray(a[index]).astype(complex))
            assert complex(found[index]) == pytest.approx(expected, rel=1e-5 if dtype in SINGLE else 1e-12)


def test_batches_have_the_bits_of_the_package():
    a = some(50, 6, 6)
    found = jax.jit(libperm.jax.permanent)(a)
    assert (np.asarray(found) == libperm.permanents(np.asarray(a))).all()


def test_grad():
    a = some(4, 4, dtype="float64").at[1, 2].set(0)
    found = jax.jit(jax.grad(libperm.jax.permanent))(a)
    assert np.allclose(found, libperm.gradients(np.asarray(a)[None])[0], rtol=1e-12)
    check_grads(libperm.jax.permanent, (a,), order=1, modes=["rev"])
    single = jax.grad(libperm.jax.permanent)(a.astype("float32"))
    assert single.dtype == "float32"
    assert np.allclose(single, found, rtol=1e-5)


def test_grad_of_complex():
    a = some(4, 4)
    holomorphic = jax.grad(libperm.jax.permanent, holomorphic=True)(a)
    assert np.allclose(holomorphic, libperm.gradients(np.asarray(a)[None])[0], rtol=1e-12)

    def by_definition(a):
        if a.shape == (1, 1):
            return a[0, 0]
        return sum(a[0, j] * by_definition(jnp.delete(a[1:], j, 1)) for j in range(a.shape[1]))

    of_modulus = [
        jax.grad(lambda a, f=f: jnp.abs(f(a)) ** 2)(a) for f in (libperm.jax.permanent, by_definition)
    ]
    assert np.allclose(*of_modulus, rtol=1e-10)


def test_vmap():
    a = some(6, 3, 4, dtype="float64")
    assert (jax.vmap(libperm.jax.permanent)(a) == libperm.jax.permanent(a)).all()
    across = jax.vmap(libperm.jax.permanent, in_axes=2)(a.transpose(1, 2, 0))
    assert (across == libperm.jax.permanent(a)).all()
    each = jax.vmap(jax.grad(libperm.jax.permanent))(a)
    assert (each == jax.grad(lambda a: libperm.jax.permanent(a).sum())(a)).all()
    twice = jax.vmap(jax.vmap(libperm.jax.permanent))(a.reshape(2, 3, 3, 4))
    assert (twice.reshape(6) == libperm.jax.permanent(a)).all()


def test_options():
    a = some(12, 12, dtype="float64")
    exact = libperm.permanent(np.asarray(a), precision="exact")
    found = libperm.jax.permanent(a, precision="dd", threads=1)
    assert float(found) == float(exact)
    value, slope = jax.value_and_grad(lambda a: libperm.jax.permanent(a, precision="dd"))(a)
    assert value == found
    assert slope.shape == a.shape


def test_refuses():
    for dtype in ("float16", "bfloat16", "int32"):
        with pytest.raises(TypeError, match="are expected"):
            libperm.jax.permanent(jnp.ones((2, 2), dtype))
    with pytest.raises(TypeError, match="no matrix"):
        libperm.jax.permanent(jnp.ones(3))
    with pytest.raises(Exception, match="libperm: .*(nan|NaN)"):
        libperm.jax.permanent(jnp.full((2, 2), jnp.nan)).block_until_ready()
    with pytest.raises(Exception, match="precision"):
        libperm.jax.permanent(jnp.ones((2, 2)), precision="some").block_until_ready()
    with pytest.raises(Exception, match="custom_vjp|forward-mode"):
        jax.jvp(libperm.jax.permanent, (jnp.ones((2, 2)),), (jnp.ones((2, 2)),))
    for function in (libperm.jax.permanent, libperm.jax.hafnian):
        with pytest.raises(libperm.InvalidOptionError, match="residues have no derivatives"):
            function(jnp.ones((2, 2)), precision="mod:7")
    shape = jax.export.symbolic_shape("n, n")
    with pytest.raises(TypeError, match="known when it is traced"):
        jax.export.export(jax.jit(libperm.jax.permanent))(jax.ShapeDtypeStruct(shape, jnp.float64))


def symmetric(*shape, dtype="complex128"):
    a = some(*shape, dtype=dtype)
    return a + a.mT


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(4, 4), (7, 5, 5), (2, 3, 6, 6), (0, 4, 4), (1, 1), (2, 0, 0)])
def test_hafnians(shape, dtype, loops):
    a = symmetric(*shape, dtype=dtype)
    for function in (libperm.jax.hafnian, jax.jit(libperm.jax.hafnian, static_argnames="loops")):
        found = function(a, loops=loops)
        assert (found.dtype, found.shape) == (dtype, shape[:-2])
        for index in np.ndindex(shape[:-2]):
            expected = libperm.hafnian(np.asarray(a[index]).astype(complex), loops=loops)
            assert complex(found[index]) == pytest.approx(expected, rel=1e-4 if dtype in SINGLE else 1e-9)


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_slopes_of_hafnians(n, loops):
    def function(a):
        return libperm.jax.hafnian(a, loops=loops)

    a = some(n, n, dtype="float64")  # of which the symmetric part counts
    slope = jax.jit(jax.grad(function))(a)
    assert (slope == slope.T).all()
    check_grads(function, (a,), order=2, modes=["rev"])
    check_grads(function, (some(n, n),), order=1, modes=["rev"])
    batch = symmetric(3, n, n, dtype="float64")
    each = jax.vmap(jax.grad(function))(batch)
    assert np.allclose(each, jnp.stack([jax.grad(function)(x) for x in batch]))
    assert np.allclose(jax.vmap(function)(batch), function(batch))


def test_hafnians_of_jax_have_options_and_refuse():
    a = symmetric(12, 12, dtype="float64")
    exact = libperm.hafnian(np.asarray(a), precision="exact")
    assert float(libperm.jax.hafnian(a, precision="dd", threads=1)) == pytest.approx(float(exact), rel=1e-15)
    with pytest.raises(TypeError, match="square"):
        libperm.jax.hafnian(jnp.ones((2, 3)))
    with pytest.raises(TypeError, match="are expected"):
        libperm.jax.hafnian(jnp.ones((2, 2), "int32"))


def of_states(photons):
    states = np.asarray(some(3, photons))
    states = states / np.linalg.norm(states, axis=0)
    return states.conj().T @ states


def unitary(modes):
    return jnp.asarray(np.linalg.qr(np.asarray(some(modes, modes)))[0])


@pytest.mark.parametrize("came", [[0, 1], [1, 1, 2], []])
@pytest.mark.parametrize("options", [(), ("overlaps",), ("transmission",), ("overlaps", "transmission")])
def test_distributions(came, options):
    u, every = unitary(3), {"overlaps": of_states(len(came)), "transmission": 0.7}
    given = {name: every[name] for name in options}
    expected = libperm.boson.distribution(np.asarray(u), came, **given)
    found = jax.jit(lambda u: libperm.jax.distribution(u, came, **given))(u)
    assert np.allclose(found, expected.probabilities, atol=1e-14)
    assert libperm.jax.distribution(u.astype("complex64"), came).dtype == "float32"
    if came:
        law = jax.jit(lambda u, given: libperm.jax.distribution(u, came, **given))
        check_grads(law, (u, given), order=1)


def test_second_derivatives_of_a_distribution():
    law = jax.jit(lambda u: libperm.jax.distribution(u, [0, 1]))
    check_grads(law, (unitary(2),), order=2)


def test_slope_of_a_distribution_by_permanents():
    u, came = unitary(4), [0, 1, 3]
    law = libperm.boson.distribution(np.asarray(u), came)
    slopes = jax.jacrev(lambda u: libperm.jax.distribution(u, came))(u)
    for outcome, slope in zip(law.outcomes, slopes):
        block = np.asarray(u)[np.repeat(range(4), outcome)][:, came]
        weight = math.prod(map(math.factorial, outcome.tolist()))
        value, derivatives = libperm.permanent(block), libperm.gradients(block[None])[0]
        expected = np.zeros((4, 4), complex)
        for row, mode in enumerate(np.repeat(range(4), outcome)):
            expected[mode, came] += 2 * value.conjugate() * derivatives[row] / weight
        assert np.allclose(slope, expected, atol=1e-13)


def test_vmap_of_distributions():
    us = jnp.stack([unitary(4), unitary(4).T])
    found = jax.vmap(lambda u: libperm.jax.distribution(u, occupation=[1, 0, 2, 0], overlaps=0.5))(us)
    for u, law in zip(us, found):
        assert np.allclose(
            law,
            libperm.boson.distribution(np.asarray(u), occupation=[1, 0, 2, 0], overlaps=0.5).probabilities,
        )
    with pytest.raises(TypeError, match="no matrix"):
        libperm.jax.distribution(us, 1)
    with pytest.raises(TypeError, match="amplitudes"):
        libperm.jax.distribution(jnp.ones((2, 2), "int32"), 1)
    with pytest.raises(libperm.MemoryRefusedError, match="derivatives"):
        libperm.jax.distribution(jnp.eye(40), 20)


@pytest.mark.parametrize("dtype", TYPES[1::2])
def test_second_derivatives(dtype):
    a = some(2, 3, 4, dtype=dtype)
    sizes = lambda x: (jnp.abs(libperm.jax.permanent(x)) ** 2).sum()  # noqa: E731
    check_grads(sizes, (a,), order=2, modes=["rev"], rtol=1e-4)
    one = some(3, 3, dtype="float64")
    hessian = jax.jit(jax.jacrev(jax.grad(libperm.jax.permanent)))(one)
    along = libperm.hessian_product(np.asarray(one), np.ones((3, 3)))
    assert np.allclose(hessian.sum((2, 3)), along)
