"""A perm_status other than PERM_OK as an exception, with the library's own text."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Mapping


class Error(Exception):
    """What libperm could not do, and what to do about it; `status` is the perm_status of perm.h.

    >>> import libperm
    >>> try:
    ...     libperm.permanent([[1, 2], [3, float("nan")]])
    ... except libperm.Error as error:
    ...     print(error.status, error)  # doctest: +ELLIPSIS
    102 the value at row 1, column 1 is NaN: ...
    """

    status: int = 0

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        if status is not None:
            self.status = status


class InvalidArgumentError(Error, ValueError):
    """A shard that there is not, a partial result of another plan, multiplicities that differ, ..."""

    status = 101


class InvalidMatrixError(Error, ValueError):
    """NaN, rows of different lengths, an index out of range, ..."""

    status = 102


class InvalidOptionError(Error, ValueError):
    """An engine that is not there, a negative limit, ..."""

    status = 103


class RefusedError(Error, RuntimeError):
    """It would take more than the limits allow."""


class MemoryRefusedError(RefusedError):
    """... of memory; the text says how much."""

    status = 201


class TimeRefusedError(RefusedError):
    """... of time, as predicted or as found."""

    status = 202


class UnsupportedError(Error, NotImplementedError):
    """Numbers, sizes or devices that this library, or this machine, cannot compute with."""

    status = 203


class CancelledError(Error, RuntimeError):
    """Stopped by another thread's interrupt of the same plan."""

    status = 301


class OutOfMemoryError(Error, MemoryError):
    """The system refused memory that was within the limit."""

    status = 401


class GpuError(Error, RuntimeError):
    """The GPU, its driver or its compiler failed; the text is theirs."""

    status = 403


class UnmatchedWarning(UserWarning):
    """The weights of unmatched lines leave no matching: the answer is 0 whatever the entries are."""


class PrecisionWarning(UserWarning):
    """The answer's error bound is larger than the tolerance asked for."""


_CLASSES = {kind.status: kind for kind in (*RefusedError.__subclasses__(), *Error.__subclasses__())}


# Options that have other names in perm_opts.
FIELDS = {
    "memory_limit": "memory_limit_bytes",
    "time_limit": "time_limit_seconds",
    "cache_limit": "cache_limit_bytes",
}
_NAMES = {
    **{field: name for name, field in FIELDS.items()},
    "INFINITY": "math.inf",
    "PERM_VALUE_C128": "complex numbers of two doubles",
}
_ANY_NAME = re.compile(rf"\b({'|'.join(_NAMES)})\b")


def renamed(error: Exception, names: Mapping[str, str]) -> Exception:
    """The error, naming arguments as its caller gave them: the values of `names` in place of the keys."""
    text = str(error)
    for name, given in names.items():
        text = re.sub(rf"\b{name}\b", given, text)
    error.args = (text,)
    return error


def error_of(status: int, text: str) -> Error:
    return _CLASSES.get(status, Error)(_ANY_NAME.sub(lambda found: _NAMES[found[0]], text), status)


def warn_caller(text: str, category: type[Warning]) -> None:
    """Warns the caller of the package, however deep in it this is called."""
    level = 1
    while _is_ours(level):
        level += 1
    warnings.warn(text, category, stacklevel=level + 1)


def _is_ours(level: int) -> bool:
    frame = sys._getframe(level + 1)
    name = frame.f_globals.get("__name__", "")
    return frame.f_back is not None and name.partition(".")[0] == "libperm"
