"""What shards came to: bytes here, perm_partial there."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Callable

from libperm._core import abi
from libperm._core.call import run
from libperm._core.library import check, library

if TYPE_CHECKING:
    from libperm._core.options import Prepared


def bytes_from(options: Prepared, call: Callable[[int], int]) -> bytes:
    """Of the partial result that call(its address) fills."""
    partial = abi.Partial(ctypes.sizeof(abi.Partial))
    try:
        run(options, True, lambda: check(call(ctypes.addressof(partial))))
        return ctypes.string_at(partial.bytes, partial.size)
    finally:
        library.perm_partial_clear(ctypes.addressof(partial))


def structs_of(partials: Iterable[bytes]) -> tuple[Any, list[bytes]]:
    """And what they point into, which must stay."""
    kept = [bytes(x) for x in partials]
    structs = (abi.Partial * len(kept))()
    for struct, content in zip(structs, kept):
        struct.struct_size = ctypes.sizeof(abi.Partial)
        struct.bytes = ctypes.cast(ctypes.c_char_p(content), ctypes.c_void_p)
        struct.size = len(content)
    return structs, kept
