"""libperm.torch, where PyTorch is: python -m pytest tests/python/test_torch.py."""

import numpy as np
import pytest
from support import SEED

torch = pytest.importorskip("torch", minversion="2.0")

import libperm  # noqa: E402
import libperm.torch  # noqa: E402

TYPES = [torch.float32, torch.float64, torch.complex64, torch.complex128]


def some(*shape, dtype=torch.complex128):
    g = np.random.default_rng(SEED + sum(shape))
    return torch.from_numpy(g.normal(size=shape) + 1j * g.normal(size=shape)).to(dtype)


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(5, 5), (7, 4, 4), (2, 3, 3, 5), (0, 3, 3)])
def test_values(dtype, shape):
    a = some(*shape, dtype=dtype)
    found = libperm.torch.permanent(a)
    assert (found.dtype, found.shape) == (dtype, shape[:-2])
    for index in np.ndindex(shape[:-2]):
        expected = libperm.permanent(a[index].numpy().astype(complex))
        assert complex(found[index]) == pytest.approx(expected, rel=1e-5 if a.element_size() < 9 else 1e-12)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_autograd_is_right(dtype):
    a = some(2, 4, 4, dtype=dtype)
    a[0, 1, 2] = 0
    a.requires_grad_()
    assert torch.autograd.gradcheck(libperm.torch.permanent, (a,))
    assert torch.autograd.gradcheck(lambda x: libperm.torch.permanent(x).abs() ** 2, (a,))
    assert torch.autograd.gradcheck(lambda x: libperm.torch.permanent(x.conj().transpose(1, 2)), (a,))


def test_func():
    a = some(6, 4, 4, dtype=torch.float64)
    value = torch.func.vmap(libperm.torch.permanent)(a)
    assert torch.equal(value, libperm.torch.permanent(a))
    derivatives = torch.func.vmap(torch.func.grad(libperm.torch.permanent))(a)
    assert torch.allclose(derivatives, torch.from_numpy(libperm.gradients(a.numpy())))
    across = torch.func.vmap(libperm.torch.permanent, in_dims=2)(a.permute(1, 2, 0))
    assert torch.equal(across, value)


def test_learns():
    """A gradient step over a batch, as training does it."""
    a = some(100, 6, 6).requires_grad_()
    loss = (libperm.torch.permanent(a).abs() ** 2).sum()
    loss.backward()
    with torch.no_grad():
        smaller = (libperm.torch.permanent(a - 1e-6 * a.grad).abs() ** 2).sum()
    assert smaller < loss


def test_options():
    a = some(5, 5, dtype=torch.float64)
    assert libperm.torch.permanent(a, precision="dd", threads=1).item() == pytest.approx(
        libperm.permanent(a.numpy()), rel=1e-12
    )
    with pytest.raises(TypeError, match="no option"):
        libperm.torch.permanent(a, presicion="dd")
    exact = libperm.torch.permanent(a, precision="exact")
    assert exact.item() == float(libperm.permanent(a.numpy(), precision="exact"))


@pytest.mark.parametrize("name", ["permanent", "hafnian"])
def test_what_makes_another_function_is_refused(name):
    a = torch.ones(4, 4).requires_grad_()
    for options, text in (
        ({"function": "hafnian"}, "function is 'hafnian'"),
        ({"function": "loop_hafnian"}, "function is 'loop_hafnian'"),
        ({"precision": "mod:7"}, "residues have no derivatives"),
    ):
        with pytest.raises(libperm.InvalidOptionError, match=text):
            getattr(libperm.torch, name)(a, **options)


@pytest.mark.parametrize("counts", [{"row_multiplicity": [2, 1]}, {"col_multiplicity": [2, 1, 1]}])
def test_slopes_with_multiplicities(counts):
    a = some(2, 3).real.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda a: libperm.torch.permanent(a, **counts), a)


def test_refuses():
    for dtype in (torch.float16, torch.bfloat16, torch.int64):
        with pytest.raises(TypeError, match="are expected"):
            libperm.torch.permanent(torch.ones(2, 2).to(dtype))
    with pytest.raises(TypeError, match="no matrix"):
        libperm.torch.permanent(torch.ones(2))
    with pytest.raises(TypeError, match="dense"):
        libperm.torch.permanent(torch.eye(2).to_sparse())
    for function in ("permanent", "hafnian"):
        with pytest.raises(TypeError, match=rf"no torch\.Tensor: libperm\.{function}\(\)"):
            getattr(libperm.torch, function)(np.eye(2))
    with pytest.raises(libperm.InvalidOptionError, match=r"libperm\.hafnians\(\) has residues"):
        libperm.torch.hafnian(torch.eye(2), precision="mod:7")
    with pytest.raises(libperm.InvalidOptionError, match="leave it out"):
        libperm.torch.hafnian(torch.eye(2), function="hafnian")
    with pytest.raises(libperm.InvalidMatrixError, match="NaN|nan"):
        libperm.torch.permanent(torch.full((2, 2), float("nan")))
    a = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
    first = torch.autograd.grad(libperm.torch.permanent(a), a, create_graph=True)[0]
    second = torch.autograd.grad(first.sum(), a, create_graph=True)[0]
    with pytest.raises(NotImplementedError, match="twice"):
        second.sum().backward()


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 4)])
def test_second_derivatives(dtype, shape):
    a = some(*shape).to(dtype).requires_grad_()
    assert torch.autograd.gradgradcheck(libperm.torch.permanent, a)
    one = some(3, 3).real.double()
    hessian = torch.func.jacrev(torch.func.grad(libperm.torch.permanent))(one)
    along = torch.tensor(libperm.hessian_product(one.numpy(), np.ones((3, 3))))
    assert torch.allclose(hessian.sum((2, 3)), along)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_on_its_device():
    a = some(3, 4, 4).cuda().requires_grad_()
    found = libperm.torch.permanent(a)
    found.abs().sum().backward()
    assert found.device == a.device == a.grad.device
    assert torch.allclose(found.cpu(), libperm.torch.permanent(a.cpu()))


@pytest.mark.parametrize("came", [[0, 1, 2], [1, 1, 3], []])
@pytest.mark.parametrize("options", [(), ("overlaps",), ("transmission",), ("overlaps", "transmission")])
def test_distributions(came, options):
    u = torch.linalg.qr(some(4, 4))[0]
    states = torch.nn.functional.normalize(some(3, len(came)), dim=0)
    every = {"overlaps": states.conj().T @ states, "transmission": torch.tensor(0.7, dtype=torch.float64)}
    given = [every[name] for name in options]
    expected = libperm.boson.distribution(
        u.numpy(), came, **{name: every[name].resolve_conj().numpy() for name in options}
    )

    def law(u, *given):
        return libperm.torch.distribution(u, came, **dict(zip(options, given)))

    assert np.allclose(law(u, *given).numpy(), expected.probabilities, atol=1e-14)
    assert libperm.torch.distribution(u.to(torch.complex64), came).dtype == torch.float32
    if came:
        inputs = [x.detach().requires_grad_() for x in (u, *given)]
        assert torch.autograd.gradcheck(law, inputs)
        assert torch.autograd.gradgradcheck(law, inputs)


def test_distributions_at_fault():
    for wrong in (torch.ones(2, 2, dtype=torch.int64), [[1.0]]):
        with pytest.raises(TypeError, match="U: a torch.Tensor"):
            libperm.torch.distribution(wrong, 1)
    with pytest.raises(libperm.MemoryRefusedError, match="derivatives"):
        libperm.torch.distribution(torch.eye(40), 20)
    assert libperm.torch.distribution(torch.eye(2), 2, overlaps=0.5).tolist() == [0, 1, 0]


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(4, 4), (7, 5, 5), (2, 3, 6, 6), (0, 4, 4), (1, 1), (2, 0, 0)])
def test_hafnians(shape, dtype, loops):
    a = some(*shape, dtype=torch.complex128)
    a = (a if dtype.is_complex else a.real).to(dtype)
    a = a + a.mT
    found = libperm.torch.hafnian(a, loops=loops)
    assert (found.dtype, found.shape) == (dtype, shape[:-2])
    for index in np.ndindex(shape[:-2]):
        expected = libperm.hafnian(a[index].numpy().astype(complex), loops=loops)
        assert complex(found[index]) == pytest.approx(expected, rel=1e-4 if a.element_size() < 9 else 1e-9)


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_slopes_of_hafnians(n, loops):
    def function(a):
        return libperm.torch.hafnian(a, loops=loops)

    for dtype in (torch.float64, torch.complex128):
        a = some(2, n, n)
        a = (a if dtype.is_complex else a.real.clone()).requires_grad_()  # the symmetric part counts
        assert torch.autograd.gradcheck(function, (a,))
        assert torch.autograd.gradgradcheck(function, (a,))
    batch = some(3, n, n).real
    assert torch.equal(torch.func.vmap(function)(batch), function(batch))
    each = torch.func.vmap(torch.func.grad(function))(batch)
    assert torch.allclose(each, torch.stack([torch.func.grad(function)(x) for x in batch]))


def test_hafnians_refuse():
    with pytest.raises(TypeError, match="square"):
        libperm.torch.hafnian(torch.ones(2, 3))
