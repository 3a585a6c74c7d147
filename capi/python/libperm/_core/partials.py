"""Tasks, and what their shards come to: bytes here, perm_partial there."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Callable

from libperm._core import abi
from libperm._core.call import run
from libperm._core.library import check, library

if TYPE_CHECKING:
    from libperm._core.options import Prepared


class Task:
    """A perm_task that make(its place) plans, and that frees itself; `of` is what it must not outlive."""

    def __init__(self, options: Prepared, make: Callable[[Any], int], of: Any = None) -> None:
        task = ctypes.c_void_p()
        self._options, self._of = options, of
        run(options, True, lambda: check(make(ctypes.byref(task))))
        weakref.finalize(self, library.perm_task_destroy, task)
        self._task = task

    def shards(self) -> int:
        count = ctypes.c_int64()
        check(library.perm_task_shards(self._task, ctypes.byref(count), None, None))
        return count.value

    def run_shard(self, number: int) -> bytes:
        partial = abi.Partial(ctypes.sizeof(abi.Partial))
        place = ctypes.addressof(partial)
        try:
            run(
                self._options,
                True,
                lambda: check(library.perm_task_run_shard(self._task, number, place)),
            )
            return ctypes.string_at(partial.bytes, partial.size)
        finally:
            library.perm_partial_clear(place)

    def combine(self, partials: Iterable[bytes], answer: abi.Answer) -> None:
        kept = [bytes(x) for x in partials]
        structs = (abi.Partial * len(kept))()
        for struct, content in zip(structs, kept):
            struct.struct_size = ctypes.sizeof(abi.Partial)
            struct.bytes = ctypes.cast(ctypes.c_char_p(content), ctypes.c_void_p)
            struct.size = len(content)
        arguments = self._task, structs, len(kept), ctypes.addressof(answer)
        run(self._options, True, lambda: check(library.perm_task_combine(*arguments)))
