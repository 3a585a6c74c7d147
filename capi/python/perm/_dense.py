"""Small numpy arrays straight to the library: for calls of microseconds, without options."""

from __future__ import annotations

import ctypes
from array import array
from functools import lru_cache
from typing import Any

from perm import _abi
from perm._library import check, library
from perm._numbers import Kind
from perm._options import Prepared
from perm._result import Answer
from perm._values import Buffer, is_array

MOST_ORDER = 20  # the library then does it at once, or in milliseconds

_TYPES = {
    "d": (_abi.VALUE_F64, Kind.REAL),
    "D": (_abi.VALUE_C128, Kind.COMPLEX),
    "l": (_abi.VALUE_I64, Kind.INTEGER),
}


class Dense:
    """A square array of numbers that C has, all its entries stored."""

    __slots__ = ("_kind", "_struct")

    def __init__(self, a: Any) -> None:
        value_type, self._kind = _TYPES[a.dtype.char]
        n = len(a)
        row_ptr, col_idx = _pattern(n)
        address = a.__array_interface__["data"][0]
        self._struct = _abi.Csr(
            _CSR_SIZE, n, n, n * n, row_ptr.address, col_idx.address, address, _abi.INDEX_I64, value_type
        )

    def compute(self) -> tuple[Answer, Kind, bool]:
        answer, is_exact = Answer(), self._kind.is_exact
        options = ctypes.addressof(_exact().struct) if is_exact else None
        check(library.perm_compute(ctypes.addressof(self._struct), options, answer.address))
        return answer, self._kind, is_exact


_CSR_SIZE = ctypes.sizeof(_abi.Csr)


def read(a: Any) -> Dense | None:
    """None for what is no such array; it is the caller's to keep while the other computes."""
    if not is_array(a) or a.ndim != 2 or a.dtype.char not in _TYPES or not a.dtype.isnative:
        return None
    rows, cols = a.shape
    return Dense(a) if rows == cols and 0 < rows <= MOST_ORDER and a.flags.c_contiguous else None


@lru_cache(maxsize=MOST_ORDER)
def _pattern(n: int) -> tuple[Buffer, Buffer]:
    return Buffer(array("q", range(0, n * n + 1, n))), Buffer(array("q", list(range(n)) * n))


@lru_cache(maxsize=1)
def _exact() -> Prepared:
    return Prepared({}, "exact")
