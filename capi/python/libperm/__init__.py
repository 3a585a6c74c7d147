"""Exact permanents of sparse matrices, by libperm.

>>> import libperm
>>> libperm.permanent([[1, 2], [3, 4]])
10
"""

from libperm._batch import Batch
from libperm._dense import sub_permanents
from libperm._errors import (
    CancelledError,
    Error,
    GpuError,
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
from libperm._estimates import Estimate, Estimation, Scaled, estimate
from libperm._functions import compute, gradient, gradients, permanent, permanents
from libperm._intervals import Bound, Interval, bounds
from libperm._library import info, set_log_level, version
from libperm._matchings import Marginals, marginals, matchings
from libperm._options import Options, RunOptions
from libperm._product import permanent_of_product
from libperm._result import Gradient, Result
from libperm._samples import sample
from libperm.periodic import GeneratingFunction, Growth, Periodic
from libperm.plan import Plan

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
    "info",
    "marginals",
    "matchings",
    "permanent",
    "permanent_of_product",
    "permanents",
    "sample",
    "set_log_level",
    "sub_permanents",
    "version",
]
