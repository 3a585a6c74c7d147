"""Permanents in PyTorch: autograd, also of complex numbers, and torch.func's grad and vmap.

>>> import torch, libperm.torch
>>> A = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
>>> value = libperm.torch.permanent(A)
>>> value.backward()
>>> value.item(), A.grad.tolist()
(10.0, [[4.0, 3.0], [2.0, 1.0]])
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from libperm._core import differentiable
from libperm._core.functions import gradients, permanents
from libperm._core.options import counting
from libperm._core.polynomials import hessian_products

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from libperm._core.options import Options

_TYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)


def permanent(A: torch.Tensor, **options: Unpack[Options]) -> torch.Tensor:
    """perm(A) of a tensor (..., m, n), m <= n, as a tensor (...) of its type, float or complex, of 32 or 64
    bits, and on its device. Computed on the CPU, in doubles at least, all matrices in one call.

    Differentiable twice, by all entries, zeros too, with the derivatives of libperm.gradients and
    libperm.hessian_product. Under torch.func.vmap matrices are put side by side, and computed at the same
    time. Options: libperm.Options.
    """
    if not isinstance(A, torch.Tensor):
        raise TypeError(f"{type(A).__name__} is no torch.Tensor: libperm.permanent() takes other matrices")
    if A.layout != torch.strided:
        raise TypeError(f"a tensor of layout {A.layout}: a dense one is expected, e.g. A.to_dense()")
    if A.dtype not in _TYPES:
        names = ", ".join(str(dtype)[len("torch.") :] for dtype in _TYPES)
        raise TypeError(f"a tensor of {A.dtype}: {names} are expected, e.g. A.double()")
    if A.dim() < 2:
        raise TypeError(f"a tensor of {A.dim()} dimensions is no matrix, nor a batch of them (..., m, n)")
    value: torch.Tensor = _Permanent.apply(A, MappingProxyType(options))
    return value


def distribution(
    U: torch.Tensor,
    photons: Any = None,
    *,
    occupation: Any = None,
    transmission: Any = 1,
    overlaps: Any = None,
) -> torch.Tensor:
    """The probabilities of libperm.boson.distribution(), for all ways to leave in the order of
    libperm.boson.outcomes(), as a tensor of U's precision on its device: by torch's own operations, so that
    derivatives are torch's, also of derivatives, by U, transmission and overlaps. What U is is not looked at:
    of any matrix it is the polynomial that has the probabilities of a unitary one.

    >>> t = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    >>> U = torch.stack([torch.stack([t.cos(), -t.sin()]), torch.stack([t.sin(), t.cos()])])
    >>> together = distribution(U, 2)[0]  # both photons leave by the first mode: 2 cos^2 sin^2
    >>> together.backward()
    >>> print(f"{together:.4f} {t.grad:.4f}")
    0.3540 0.9093
    """
    if not isinstance(U, torch.Tensor) or U.dtype not in _TYPES:
        raise TypeError("U: a torch.Tensor of float or complex numbers of 32 or 64 bits is expected")
    if isinstance(overlaps, torch.Tensor):
        overlaps = overlaps.to(U.device)
        U = U.to(torch.promote_types(U.dtype, overlaps.dtype))
        overlaps = overlaps.to(U.dtype)

    def constant(array: Any) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(U)

    if overlaps is not None and not isinstance(overlaps, (int, float, torch.Tensor)):
        overlaps = constant(np.asarray(overlaps))
    given = photons, occupation
    found: torch.Tensor = differentiable.distribution(U, given, transmission, overlaps, torch, constant)
    return found


class _Permanent(torch.autograd.Function):
    @staticmethod
    def forward(A: torch.Tensor, options: Mapping[str, Any]) -> torch.Tensor:
        return _like(A, permanents(_batch(A), **options)).reshape(A.shape[:-2])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.options = inputs[1]

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor, None]:
        derivatives = _Derivatives.apply(*ctx.saved_tensors, ctx.options)
        return slope[..., None, None] * derivatives.conj(), None

    @staticmethod
    def vmap(info: Any, dims: Any, A: torch.Tensor, options: Mapping[str, Any]) -> tuple[Any, int]:
        return _Permanent.apply(A.movedim(dims[0], 0), options), 0


class _Derivatives(torch.autograd.Function):
    @staticmethod
    def forward(A: torch.Tensor, options: Mapping[str, Any]) -> torch.Tensor:
        of_gradient: Any = counting("perm_plan_gradient_batch", options)  # others are of the permanent
        return _like(A, gradients(_batch(A), **of_gradient)).reshape(A.shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.options = inputs[1]

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor, None]:
        (A,) = ctx.saved_tensors
        return _HessianProduct.apply(A, slope.conj(), ctx.options).conj(), None

    @staticmethod
    def vmap(info: Any, dims: Any, A: torch.Tensor, options: Mapping[str, Any]) -> tuple[Any, int]:
        return _Derivatives.apply(A.movedim(dims[0], 0), options), 0


class _HessianProduct(torch.autograd.Function):
    @staticmethod
    def forward(A: torch.Tensor, V: torch.Tensor, options: Mapping[str, Any]) -> torch.Tensor:
        of_gradient = counting("perm_plan_gradient_batch", options)
        return _like(A, hessian_products(_batch(A), _batch(V), of_gradient)).reshape(A.shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> Any:
        raise NotImplementedError("libperm.torch.permanent is differentiable twice")

    @staticmethod
    def vmap(
        info: Any, dims: Any, A: torch.Tensor, V: torch.Tensor, options: Mapping[str, Any]
    ) -> tuple[Any, int]:
        count = info.batch_size
        A, V = (
            x.expand(count, *x.shape) if dim is None else x.movedim(dim, 0) for x, dim in zip((A, V), dims)
        )
        return _HessianProduct.apply(A, V, options), 0


def _batch(A: torch.Tensor) -> Any:
    """Converts a tensor to what libperm takes: an array (count, m, n) of doubles."""
    matrices = A.detach().resolve_conj().resolve_neg().cpu().numpy()
    doubles = matrices.astype(np.complex128 if A.is_complex() else np.float64, copy=False)
    return doubles.reshape(prod(A.shape[:-2]), *A.shape[-2:])


def _like(A: torch.Tensor, numbers: Any) -> torch.Tensor:
    return torch.from_numpy(np.require(numbers, requirements="W")).to(A)
