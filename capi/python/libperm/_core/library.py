"""Finds and loads libperm.so.1: $PERM_LIBRARY, else the one in this package, else the system's."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, Callable

from libperm._core import abi
from libperm._core.errors import error_of

_NAME = "libperm.so.1"


def _load() -> ctypes.CDLL:
    named = os.environ.get("PERM_LIBRARY")
    if named:
        try:
            return ctypes.CDLL(named)
        except OSError as error:
            raise ImportError(f"PERM_LIBRARY is {named}: {error}") from None
    carried = Path(__file__).parent / "lib" / _NAME
    if carried.exists():
        return ctypes.CDLL(str(carried))
    try:
        return ctypes.CDLL(_NAME)
    except OSError as error:
        raise ImportError(
            f"no {_NAME}: neither in the package nor in the system's folders ({error}). "
            "Install the package with its library (pip install .), or name one with PERM_LIBRARY"
        ) from None


def _declare(of: ctypes.CDLL) -> ctypes.CDLL:
    for name, (result, arguments) in abi.SIGNATURES.items():
        if not hasattr(of, name):
            raise ImportError(f"{of._name} is older than this package: it has no {name}. Install a newer one")
        function = getattr(of, name)
        function.restype, function.argtypes = result, arguments
    return of


# ctypes releases the GIL during each call.
library = _declare(_load())


def version() -> str:
    text: bytes = library.perm_version()
    return text.decode()


def last_error() -> str:
    text: bytes = library.perm_last_error()
    return text.decode(errors="replace")


def check(status: int) -> None:
    if status:
        raise error_of(status, last_error())


def read_bytes(fill: Callable[[Any, int, Any], int]) -> bytes:
    """Returns what a call writes into a buffer of its caller."""
    needed = ctypes.c_size_t()
    check(fill(None, 0, ctypes.byref(needed)))
    while True:  # it may have grown since it was measured
        buffer = ctypes.create_string_buffer(needed.value)
        status = fill(buffer, len(buffer), ctypes.byref(needed))
        if not status or needed.value <= len(buffer):
            check(status)
            return buffer.raw[: needed.value]


def read_text(fill: Callable[[Any, int, Any], int]) -> str:
    return read_bytes(fill)[:-1].decode()  # without its NUL


def info() -> str:
    """Tells of the build, its engines, the GPUs, the folder of compiled kernels, ..."""
    return read_text(lambda *to: library.perm_info(abi.FORMAT_TEXT, *to))


def set_log_level(level: int) -> None:
    """Sets what the library logs to stderr: 0 nothing, 1 errors, 2 warnings, 3 decisions, 4 details."""
    check(library.perm_set_log_level(level))
