"""Exact permanents of sparse matrices, by libperm.

>>> import libperm
>>> libperm.permanent([[1, 2], [3, 4]])
10

A matrix is a list of rows, a numpy array or of scipy.sparse. Integers and Fractions are exact, however long;
a float comes with a proven bound of its error. help() of each name below says more, and so does the manual.

One matrix::

    permanent(A)            its permanent, a number
    compute(A)              the same as a Result: all digits, bounds, how it was computed
    gradient(A)             its derivatives by the entries; hessian_product(A, V): theirs, along V
    polynomial(C, L)        perm(C + x L): all coefficients; principal_sums, permanental_polynomial
    sub_permanents(A)       the permanents that are left without a line
    permanent_of_product    of U V^T, from its factors

Many matrices::

    permanents(batch)       of an array (count, m, n), or of a list
    gradients(batch)        their derivatives
    Plan(A)                 a pattern analysed once: permanent, gradient, shards, explain, plot
    Periodic(cell)          matrices of equal cells, of any number of them

Matchings, lines that may stay unmatched::

    matchings(A)            how many have 0, 1, 2, ... entries
    marginals(A)            how likely each entry is to be in one
    sample(A, shots)        some, drawn with their exact probabilities

Too large to be computed::

    bounds(A)               an Interval that it lies in for certain
    estimate(A)             from samples, with a guarantee; Estimation: by many processes

Graphs of any kind, symmetric matrices::

    hafnian(A)              the sum over pairings of its lines: perfect matchings of a graph
    loop_hafnian(A)         where a line may stay single, at the price of its loop
    hafnians(batch)         of many matrices
    gradient, marginals, matchings, polynomial, sample with function="hafnian" or "loop_hafnian"

Photons in an interferometer::

    boson.distribution(U)   how likely each way out is, all or some; with losses, partly distinguishable
    boson.sample(U)         some, drawn

Options are keyword arguments of every function: Options lists them. What goes wrong is an Error, of a kind
that says what: InvalidMatrixError, MemoryRefusedError, TimeRefusedError, ... info() and version() tell of
this build and machine.

In modules of their own: libperm.gaussian, libperm.lattices, and for other packages libperm.jax,
libperm.torch, libperm.networkx, libperm.piquasso, libperm.stonesoup, libperm.thewalrus. Names that begin
with _ are not for use.
"""

from libperm import boson as boson
from libperm._core.batch import Batch
from libperm._core.batches import gradients, permanents
from libperm._core.dense import sub_permanents
from libperm._core.errors import (
    CancelledError,
    Error,
    GpuError,
    InvalidArgumentError,
    InvalidMatrixError,
    InvalidOptionError,
    MemoryRefusedError,
    OutOfMemoryError,
    PrecisionWarning,
    RefusedError,
    TimeRefusedError,
    UnmatchedWarning,
    UnsupportedError,
)
from libperm._core.estimates import Bound, Estimate, Estimation, Interval, Scaled, bounds, estimate, sample
from libperm._core.functions import (
    compute,
    gradient,
    hafnian,
    hafnians,
    loop_hafnian,
    permanent,
    permanent_of_product,
)
from libperm._core.library import info, set_log_level, version
from libperm._core.matchings import Marginals, marginals, matchings
from libperm._core.options import Options, RunOptions
from libperm._core.periodic import GeneratingFunction, Growth, Periodic
from libperm._core.plan import Plan
from libperm._core.polynomials import (
    hessian_product,
    permanental_polynomial,
    polynomial,
    principal_sums,
)
from libperm._core.result import Gradient, Result

__version__ = version()

__all__ = [
    "Batch",
    "Bound",
    "CancelledError",
    "Error",
    "Estimate",
    "Estimation",
    "GeneratingFunction",
    "GpuError",
    "Gradient",
    "Growth",
    "Interval",
    "InvalidArgumentError",
    "InvalidMatrixError",
    "InvalidOptionError",
    "Marginals",
    "MemoryRefusedError",
    "Options",
    "OutOfMemoryError",
    "Periodic",
    "Plan",
    "PrecisionWarning",
    "RefusedError",
    "Result",
    "RunOptions",
    "Scaled",
    "TimeRefusedError",
    "UnmatchedWarning",
    "UnsupportedError",
    "bounds",
    "compute",
    "estimate",
    "gradient",
    "gradients",
    "hafnian",
    "hafnians",
    "hessian_product",
    "info",
    "loop_hafnian",
    "marginals",
    "matchings",
    "permanent",
    "permanent_of_product",
    "permanental_polynomial",
    "permanents",
    "polynomial",
    "principal_sums",
    "sample",
    "set_log_level",
    "sub_permanents",
    "version",
]

# Classes say that they are of this module: so help() and tracebacks name them, and pickles do not depend on
# where _core has them.
for _public in [globals()[name] for name in __all__]:
    if isinstance(_public, type):
        _public.__module__ = __name__
del _public


def __dir__() -> list[str]:
    return sorted([*__all__, "boson", *(name for name in globals() if name.startswith("__"))])
