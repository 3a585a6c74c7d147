"""The permanents and hafnians of The Walrus, by its signatures: `from libperm.thewalrus import hafnian`. It
need not be installed.

>>> import numpy as np
>>> from libperm.thewalrus import perm, permanent_repeated
>>> perm(np.array([[1.0, 2.0], [3.0, 4.0]]))
np.float64(10.0)
>>> permanent_repeated(np.array([[1.0, 2.0], [3.0, 4.0]]), [2, 1])
np.float64(32.0)
>>> from libperm.thewalrus import hafnian, hafnian_repeated
>>> hafnian(np.ones((6, 6)))
np.float64(15.0)
>>> hafnian(np.ones((3, 3)), loop=True), hafnian_repeated(np.ones((2, 2)), [2, 2])
(np.float64(4.0), np.float64(3.0))
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from libperm._core.functions import hafnian as _hafnian
from libperm._core.functions import permanent
from libperm._core.options import Options, Unpack, whole
from libperm._core.scalars import Number
from libperm._core.values import array_of, items_of


def perm(A: Any, method: str = "bbfg", **options: Unpack[Options]) -> Number:
    """As thewalrus.perm: of a square numpy array; TypeError for what is none, ValueError for another shape
    and for NaN. method: "bbfg" or "ryser", which libperm does not need to be told. Of integers it is an int,
    exact.
    """
    _require_square(A)
    if method not in ("bbfg", "ryser"):
        raise ValueError(f"method is {method!r}: 'bbfg' or 'ryser' is expected")
    return permanent(A, **options)


def _require_square(A: Any) -> None:
    if not isinstance(A, np.ndarray):
        raise TypeError("Input matrix must be a NumPy array.")
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError("Input matrix must be square.")


def permanent_repeated(A: Any, rpt: Iterable[int], **options: Unpack[Options]) -> Number:
    """As thewalrus.permanent_repeated: row i and column i of the square array A are repeated rpt[i] times."""
    options["row_multiplicity"] = options["col_multiplicity"] = _counts(rpt)
    return permanent(A, **options)


_METHODS = ("glynn", "recursive", "inclexcl")


def _symmetric(A: Any, rtol: float, atol: float) -> Any:
    """Checks A as The Walrus does; one half of what it allows to differ is taken."""
    _require_square(A)
    if (A == A.T).all():
        return A
    if np.isnan(A).any():
        raise ValueError("Input matrix must not contain NaNs.")
    if not np.allclose(A, A.T, rtol=rtol, atol=atol):
        raise ValueError("Input matrix must be symmetric.")
    return np.triu(A) + np.triu(A, 1).T


def hafnian(
    A: Any,
    loop: bool = False,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    approx: bool = False,
    num_samples: int = 1000,
    method: str = "glynn",
    **options: Unpack[Options],
) -> Number:
    """As thewalrus.hafnian: of a symmetric numpy array; with `loop` its loop hafnian. Of what rtol and atol
    allow the halves to differ by the upper one counts. Of integers it is an int, exact. method is not needed;
    approx, an estimate of a nonnegative matrix from num_samples samples, is not here: what is exact is
    computed, with loop its loop hafnian."""
    symmetric = _symmetric(A, rtol, atol)
    if method not in _METHODS:
        raise ValueError(f"method is {method!r}: one of {', '.join(_METHODS)} is expected")
    if approx and np.iscomplex(A).any():
        raise ValueError("Input matrix must be real")
    if approx and (A.real < 0).any():
        raise ValueError("Input matrix must not have negative entries")
    if loop and method == "recursive":
        warnings.warn("Recursive algorithm does not support the loop hafnian", stacklevel=2)
    return _hafnian(symmetric, loops=bool(loop), **options)


def loop_hafnian(
    A: Any, D: Any = None, reps: Any = None, glynn: bool = True, **options: Unpack[Options]
) -> Number:
    """As thewalrus.loop_hafnian: D holds the loops, the diagonal of A where it is not given; line i is
    repeated reps[i] times. A is symmetric: of another one The Walrus tells a number that depends on how it
    pairs the lines."""
    A = array_of(A)
    loops = True if D is None else array_of(D)
    return _hafnian(_symmetric(A, 1e-05, 1e-08), loops=loops, multiplicity=_counts(reps), **options)


def hafnian_repeated(
    A: Any,
    rpt: Iterable[int],
    mu: Any = None,
    loop: bool = False,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    glynn: bool = True,
    **options: Unpack[Options],
) -> Number:
    """As thewalrus.hafnian_repeated: line i of A is repeated rpt[i] times; with `loop` mu holds the loops,
    the diagonal of A where it is not given."""
    symmetric = _symmetric(A, rtol, atol)
    counts = _counts(rpt)
    if len(counts) != len(symmetric):
        raise ValueError("the rpt argument must be 1-dimensional sequence of length len(A).")
    loops = False if not loop else True if mu is None else array_of(mu)
    return _hafnian(symmetric, loops=loops, multiplicity=counts, **options)


def hafnian_sparse(A: Any, D: Any = None, loop: bool = False, **options: Unpack[Options]) -> Number:
    """As thewalrus.hafnian_sparse; D: of these lines alone."""
    A = array_of(A)
    _require_square(A)
    lines = sorted(range(len(A)) if D is None else set(D))
    if lines and not 0 <= lines[0] <= lines[-1] < len(A):
        raise ValueError(f"D names lines {lines[0]} to {lines[-1]}, and A has {len(A)}")
    return _hafnian(_symmetric(A[np.ix_(lines, lines)], 1e-05, 1e-08), loops=bool(loop), **options)


def hafnian_banded(
    A: Any, loop: bool = False, rtol: float = 1e-05, atol: float = 1e-08, **options: Unpack[Options]
) -> Number:
    """As thewalrus.hafnian_banded; any other matrix does as well."""
    return _hafnian(_symmetric(A, rtol, atol), loops=bool(loop), **options)


def _counts(given: Any) -> Any:
    return None if given is None else [whole("rpt", x, 2**63 - 1) for x in items_of(given, "integers")]
