"""Permanents and hafnians in PyTorch: autograd, also of complex numbers, and torch.func's grad and vmap.

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
from typing import Any

import numpy as np
import torch

from libperm._core import differentiable
from libperm._core.batches import gradients, permanents
from libperm._core.functions import hafnians
from libperm._core.options import Options, Unpack, counting, flag
from libperm._core.polynomials import hessian_products

_TYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)


def permanent(A: torch.Tensor, **options: Unpack[Options]) -> torch.Tensor:
    """perm(A) of a tensor (..., m, n), m <= n, as a tensor (...) of its type, float or complex, of 32 or 64
    bits, and on its device. Computed on the CPU, in doubles at least, all matrices in one call.

    Differentiable twice, by all entries, zeros too, with the derivatives of libperm.gradients and
    libperm.hessian_product. Under torch.func.vmap matrices are put side by side, and computed at the same
    time. Options: libperm.Options; those of another function, of hafnians or of residues, are refused.
    """
    differentiable.require_differentiable(options)
    value: torch.Tensor = _Permanent.apply(_matrices(A, "permanent"), MappingProxyType(options))
    return value


def hafnian(A: torch.Tensor, *, loops: bool = False, **options: Unpack[Options]) -> torch.Tensor:
    """haf((A + A^T) / 2) of a tensor (..., n, n), with loops its loop hafnian, as a tensor (...) of its type,
    float or complex, of 32 or 64 bits, and on its device. Computed on the CPU, in doubles at least, all
    matrices in one call of libperm.hafnians.

    Differentiable as often as wanted: derivatives are hafnians without two lines, or one, all in one call;
    each of the two entries of a pair has one half of it. Under torch.func.vmap matrices are put side by side.
    Options: libperm.Options.

    >>> import torch, libperm.torch
    >>> A = torch.tensor([[0.0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]], requires_grad=True)
    >>> value = libperm.torch.hafnian(A)
    >>> value.backward()
    >>> value.item(), A.grad[0].tolist()
    (28.0, [0.0, 3.0, 2.5, 2.0])
    """
    differentiable.require_differentiable(options, "hafnian")
    A = _matrices(A, "hafnian")
    if A.shape[-1] != A.shape[-2]:
        raise TypeError(f"a tensor of shape {tuple(A.shape)}: a hafnian is of square matrices (..., n, n)")
    value: torch.Tensor = _Hafnian.apply((A + A.mT) / 2, flag("loops", loops), MappingProxyType(options))
    return value


def _matrices(A: Any, function: str) -> torch.Tensor:
    if not isinstance(A, torch.Tensor):
        raise TypeError(f"{type(A).__name__} is no torch.Tensor: libperm.{function}() takes other matrices")
    if A.layout != torch.strided:
        raise TypeError(f"a tensor of layout {A.layout}: a dense one is expected, e.g. A.to_dense()")
    if A.dtype not in _TYPES:
        names = ", ".join(str(dtype)[len("torch.") :] for dtype in _TYPES)
        raise TypeError(f"a tensor of {A.dtype}: {names} are expected, e.g. A.double()")
    if A.dim() < 2:
        raise TypeError(f"a tensor of {A.dim()} dimensions is no matrix, nor a batch of them (..., m, n)")
    return A


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


class _OfMatrices(torch.autograd.Function):
    """Of tensors (..., m, n), and of what is no tensor behind them."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.others = inputs[1:]

    @classmethod
    def vmap(cls, info: Any, dims: Any, *inputs: Any) -> tuple[Any, int]:
        """Puts the matrices side by side."""

        def in_front(x: Any, dim: int | None) -> Any:
            if not isinstance(x, torch.Tensor):
                return x
            return x.expand(info.batch_size, *x.shape) if dim is None else x.movedim(dim, 0)

        return cls.apply(*map(in_front, inputs, dims)), 0


class _Permanent(_OfMatrices):
    @staticmethod
    def forward(A: torch.Tensor, options: Mapping[str, Any]) -> torch.Tensor:
        return _like(A, permanents(_batch(A), **options)).reshape(A.shape[:-2])

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor, None]:
        derivatives = _Derivatives.apply(*ctx.saved_tensors, *ctx.others)
        return slope[..., None, None] * derivatives.conj(), None


class _Derivatives(_OfMatrices):
    @staticmethod
    def forward(A: torch.Tensor, options: Mapping[str, Any]) -> torch.Tensor:
        of_gradient: Any = counting("perm_plan_gradient_batch", options)  # others are of the permanent
        return _like(A, gradients(_batch(A), **of_gradient)).reshape(A.shape)

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor, None]:
        return _HessianProduct.apply(*ctx.saved_tensors, slope.conj(), *ctx.others).conj(), None


class _HessianProduct(_OfMatrices):
    @staticmethod
    def forward(A: torch.Tensor, V: torch.Tensor, options: Mapping[str, Any]) -> torch.Tensor:
        of_gradient = counting("perm_plan_gradient_batch", options)
        return _like(A, hessian_products(_batch(A), _batch(V), of_gradient)).reshape(A.shape)

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> Any:
        raise NotImplementedError("libperm.torch.permanent is differentiable twice")


class _Hafnian(_OfMatrices):
    @staticmethod
    def forward(A: torch.Tensor, loops: bool, options: Mapping[str, Any]) -> torch.Tensor:
        return _like(A, hafnians(_batch(A), loops=loops, **options)).reshape(A.shape[:-2])

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (A,) = ctx.saved_tensors
        return slope[..., None, None] * _hafnian_slope(A, *ctx.others).conj(), None, None


def _hafnian_slope(A: torch.Tensor, loops: bool, options: Mapping[str, Any]) -> torch.Tensor:
    """By torch's own operations of hafnians of minors, which it differentiates again."""
    n = A.shape[-1]
    slope = torch.zeros_like(A).flatten(-2)
    for left_out in (1, 2) if loops else (2,):
        ways, kept = (torch.from_numpy(x).to(A.device) for x in differentiable.kept_lines(n, left_out))
        minors = _Hafnian.apply(A[..., kept[:, :, None], kept[:, None, :]], loops, options) / 2
        for i, j in ((ways[:, 0], ways[:, -1]), (ways[:, -1], ways[:, 0])):
            slope = slope.index_add(-1, i * n + j, minors)
    return slope.reshape(A.shape)


def _batch(A: torch.Tensor) -> Any:
    """Converts a tensor to what libperm takes: an array (count, m, n) of doubles."""
    matrices = A.detach().resolve_conj().resolve_neg().cpu().numpy()
    doubles = matrices.astype(np.complex128 if A.is_complex() else np.float64, copy=False)
    return doubles.reshape(prod(A.shape[:-2]), *A.shape[-2:])


def _like(A: torch.Tensor, numbers: Any) -> torch.Tensor:
    doubles = np.complex128 if A.is_complex() else np.float64
    return torch.from_numpy(np.require(numbers, doubles, "W")).to(A)  # exact ones are fractions
