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
from libperm._core.batch import Batch as Batch
from libperm._core.batches import gradients as gradients
from libperm._core.batches import permanents as permanents
from libperm._core.dense import sub_permanents as sub_permanents
from libperm._core.errors import CancelledError as CancelledError
from libperm._core.errors import Error as Error
from libperm._core.errors import GpuError as GpuError
from libperm._core.errors import InvalidArgumentError as InvalidArgumentError
from libperm._core.errors import InvalidMatrixError as InvalidMatrixError
from libperm._core.errors import InvalidOptionError as InvalidOptionError
from libperm._core.errors import MemoryRefusedError as MemoryRefusedError
from libperm._core.errors import OutOfMemoryError as OutOfMemoryError
from libperm._core.errors import PrecisionWarning as PrecisionWarning
from libperm._core.errors import RefusedError as RefusedError
from libperm._core.errors import TimeRefusedError as TimeRefusedError
from libperm._core.errors import UnmatchedWarning as UnmatchedWarning
from libperm._core.errors import UnsupportedError as UnsupportedError
from libperm._core.estimates import Bound as Bound
from libperm._core.estimates import Estimate as Estimate
from libperm._core.estimates import Estimation as Estimation
from libperm._core.estimates import Interval as Interval
from libperm._core.estimates import Scaled as Scaled
from libperm._core.estimates import bounds as bounds
from libperm._core.estimates import estimate as estimate
from libperm._core.estimates import sample as sample
from libperm._core.functions import compute as compute
from libperm._core.functions import gradient as gradient
from libperm._core.functions import hafnian as hafnian
from libperm._core.functions import hafnians as hafnians
from libperm._core.functions import loop_hafnian as loop_hafnian
from libperm._core.functions import permanent as permanent
from libperm._core.functions import permanent_of_product as permanent_of_product
from libperm._core.library import info as info
from libperm._core.library import set_log_level as set_log_level
from libperm._core.library import version as version
from libperm._core.matchings import Marginals as Marginals
from libperm._core.matchings import marginals as marginals
from libperm._core.matchings import matchings as matchings
from libperm._core.options import Options as Options
from libperm._core.options import RunOptions as RunOptions
from libperm._core.periodic import GeneratingFunction as GeneratingFunction
from libperm._core.periodic import Growth as Growth
from libperm._core.periodic import Periodic as Periodic
from libperm._core.plan import Plan as Plan
from libperm._core.polynomials import hessian_product as hessian_product
from libperm._core.polynomials import permanental_polynomial as permanental_polynomial
from libperm._core.polynomials import polynomial as polynomial
from libperm._core.polynomials import principal_sums as principal_sums
from libperm._core.result import Gradient as Gradient
from libperm._core.result import Result as Result

__version__ = version()

# What is for use is what is imported above. Classes say that they are of this module: so help() and
# tracebacks name them, and pickles do not depend on where _core has them.
__all__ = sorted(
    name for name, what in globals().items() if getattr(what, "__module__", "").startswith("libperm._core.")
)
for _public in map(globals().get, __all__):
    if isinstance(_public, type):
        _public.__module__ = __name__
del _public


def __dir__() -> list[str]:
    return sorted([*__all__, "boson", *(name for name in globals() if name.startswith("__"))])
