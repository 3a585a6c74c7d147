"""Exact permanents of sparse matrices, by libperm.

>>> import perm
>>> perm.permanent([[1, 2], [3, 4]])
10
"""

from perm._batch import Batch
from perm._errors import (
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
    UnsupportedError,
)
from perm._functions import compute, gradient, permanent, permanents
from perm._library import info, set_log_level, version
from perm._options import Options, RunOptions
from perm._result import Gradient, Result
from perm.periodic import GeneratingFunction, Growth, Periodic
from perm.plan import Plan

__version__ = version()

__all__ = [
    "Batch",
    "CancelledError",
    "Error",
    "GeneratingFunction",
    "GpuError",
    "Gradient",
    "Growth",
    "InvalidMatrixError",
    "InvalidOptionError",
    "MemoryRefusedError",
    "Options",
    "OutOfMemoryError",
    "Periodic",
    "Plan",
    "PrecisionWarning",
    "RefusedError",
    "Result",
    "RunOptions",
    "TimeRefusedError",
    "UnsupportedError",
    "compute",
    "gradient",
    "info",
    "permanent",
    "permanents",
    "set_log_level",
    "version",
]
