"""Products of linear forms in the modes, and permanents of matrices of such forms, photon by photon, with all
coefficients. Arrays are numpy's, JAX's or torch's: `of` is the module that they are of.

Photons that cannot be told apart: each that comes in is a form, sum over j of U[j, i] x_j; the coefficient of
x^s in the product of all is perm(U of the modes out s and the photons in) / (prod s_j!)  (SLOS: Heurtel and
others, Computer Physics Communications 291, 2023).

Photons that can, with overlaps S: the sum over s of P(s) x^s is the permanent of the matrix of forms

    K[k, l] = S[k, l] sum over j of conj(U[j, k]) U[j, l] x_j,

row by row over the sets of columns that are taken, each with a polynomial. Columns that are equal need no
sets: numbers of each kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from libperm._core.fock import Layer, layers

_LEAST = 2.0**-1000  # added to masses: whatever underflows is less than a rounding of this
_CHUNK = 1 << 16  # numbers at once, which stay in the cache


def times_form(form: Any, old: Any, layer: Layer, of: Any) -> Any:
    """Multiplies a polynomial by the sum of form[j] x_j."""
    padded = of.concatenate([old, old[:1] * 0])
    modes, count = layer.sources.shape
    step = max(1, _CHUNK // modes)
    parts = [
        form @ _taken(padded, layer.sources[:, first : first + step], of) for first in range(0, count, step)
    ]
    return parts[0] if len(parts) == 1 else of.concatenate(parts)


def product_of_forms(forms: Any, ways: Iterable[Layer], of: Any) -> Any:
    """The coefficients of the product of the columns of forms, (modes, photons)."""
    return _form_by_form((forms,), ways, of)[0]


def product_and_mass(forms: Any, ways: Iterable[Layer], of: Any) -> tuple[Any, Any]:
    """The same, and the sums of the absolute values of the terms, which errors are shares of."""
    found, mass = _form_by_form((forms, abs(forms)), ways, of)
    return found, mass


def _form_by_form(forms: tuple[Any, ...], ways: Iterable[Layer], of: Any) -> list[Any]:
    found = [form[0, :1] * 0 + 1 for form in forms]
    for i, layer in enumerate(ways):
        found = [times_form(form[:, i], old, layer, of) for form, old in zip(forms, found)]
        found[1:] = [mass + _LEAST for mass in found[1:]]
    return found


def permanent_of_forms(forms: Any, copies: tuple[int, ...], caps: tuple[int, ...], of: Any) -> Any:
    """The coefficients of the permanent of a matrix of forms, (rows, kinds of columns, modes), with so many
    copies of each kind, over prod copies!: those of x^s with s <= caps, in the order of _fock."""
    return _row_by_row((forms,), copies, caps, of)[0]


def permanent_and_mass(
    forms: Any, sizes: Any, copies: tuple[int, ...], caps: tuple[int, ...], of: Any
) -> tuple[Any, Any]:
    """The same, and the sums over the absolute values of the terms; sizes: at least those of the forms."""
    found, mass = _row_by_row((forms, sizes), copies, caps, of)
    return found, mass


def _row_by_row(forms: tuple[Any, ...], copies: tuple[int, ...], caps: tuple[int, ...], of: Any) -> list[Any]:
    rows = len(forms[0])
    found = [form[0, :1, :1] * 0 + 1 for form in forms]
    for row, taken, layer in zip(range(rows), layers(copies, rows), layers(caps, rows)):
        found = [_next_row(form[row], old, taken, layer, of) for form, old in zip(forms, found)]
        found[1:] = [mass + _LEAST for mass in found[1:]]
    return [polynomials[0] for polynomials in found]


def _next_row(form: Any, old: Any, taken: Layer, layer: Layer, of: Any) -> Any:
    """old: for each set of columns a polynomial; form: of each column the coefficients of its form."""
    padded = of.concatenate([old, old[:1] * 0], 0)
    padded = of.concatenate([padded, padded[:, :1] * 0], 1)
    columns, sets = taken.sources.shape
    step = max(1, _CHUNK // (max(columns, len(layer.sources)) * padded.shape[1]))
    parts = []
    for first in range(0, sets, step):
        without = taken.sources[:, first : first + step].T  # of each set those without one column
        before = _taken(padded, without, of, 0)
        by_mode = form.T @ before
        parts.append(sum(_taken(by_mode[:, j], layer.sources[j], of) for j in range(len(layer.sources))))
    return parts[0] if len(parts) == 1 else of.concatenate(parts, 0)


def _taken(array: Any, places: Any, of: Any, axis: int = -1) -> Any:
    if of.__name__ != "torch":
        return of.take(array, places, axis)
    flat = of.from_numpy(places.copy()).to(array.device).reshape(-1)
    shape = (*places.shape, *array.shape[1:]) if axis == 0 else (*array.shape[:-1], *places.shape)
    return array.index_select(axis, flat).reshape(shape)
