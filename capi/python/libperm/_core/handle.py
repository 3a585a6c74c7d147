"""A perm_plan as the other modules make and execute it."""

from __future__ import annotations

import ctypes
import json
import math
from typing import Any

from libperm._core import abi
from libperm._core.call import call
from libperm._core.library import check, library, read_text
from libperm._core.matrix import Input
from libperm._core.options import Prepared
from libperm._core.result import Answer
from libperm._core.values import Buffer

LONG_SECONDS = 0.01  # as predicted: a thread more is not noticed then


class Owned:
    """What the library made, freed with the last that refers to it: a running call is one."""

    __slots__ = ("_as_parameter_", "_destroy", "address")

    def __init__(self, destroy: Any) -> None:
        self.address = self._as_parameter_ = ctypes.c_void_p()
        self._destroy = destroy

    def __del__(self) -> None:
        self._destroy(self.address)


class Handle(Owned):
    """A perm_plan."""

    __slots__ = ("_seconds",)

    def __init__(self) -> None:
        super().__init__(library.perm_plan_destroy)
        self._seconds: float | None = None

    def make(self, given: Input, options: Prepared, is_told: bool = True) -> None:
        """The plan of `given` is told of its values only if is_told says so."""
        struct = abi.Csr.from_buffer_copy(given.struct)
        if not is_told:
            struct.values = None
        place = ctypes.byref(self.address)
        check(library.perm_plan_create(ctypes.addressof(struct), options.address, place))

    def execute(self, values: Buffer, options: Prepared) -> Answer:
        answer = Answer()
        if self.seconds() > LONG_SECONDS or options.progress is not None:
            call(options, True, library.perm_plan_execute, self, values, answer)
        else:
            check(library.perm_plan_execute(self.address, values.address, answer.address))
        return answer

    def explain(self, form: int) -> str:
        return read_text(lambda *to: library.perm_plan_explain(self.address, form, *to))

    def seconds(self) -> float:
        """Predicts one execution; what is refused may still be planned anew, with the values."""
        if self._seconds is None:
            explained = json.loads(self.explain(abi.FORMAT_JSON))
            self._seconds = math.inf if explained["refused"] else float(explained["predicted_seconds"])
        return self._seconds
