"""A perm_plan and a perm_task as the other modules make and execute them, and a plan as bytes."""

from __future__ import annotations

import ctypes
import hashlib
import json
import math
import numbers
import operator
import os
from array import array
from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from typing import Any, Callable

from libperm._core import abi
from libperm._core.call import call, run
from libperm._core.inputs import Input
from libperm._core.lazy import np
from libperm._core.library import check, library, read_bytes, read_text
from libperm._core.matrix import Matrix
from libperm._core.options import Prepared, Seed
from libperm._core.result import Answer
from libperm._core.scalars import Kind, is_double
from libperm._core.values import Buffer, is_numpy

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


# ----------------------------------------------------------------
# Tasks, and what their shards come to: bytes here, perm_partial there.


class Task(Owned):
    """A perm_task that make(its place) plans; `of` is what it must not outlive."""

    def __init__(self, options: Prepared, make: Callable[[Any], int], of: Any = None) -> None:
        super().__init__(library.perm_task_destroy)
        self._options, self._of = options, of
        run(options, True, lambda: check(make(ctypes.byref(self.address))))

    def shards(self) -> int:
        count = ctypes.c_int64()
        check(library.perm_task_shards(self, ctypes.byref(count), None, None))
        return count.value

    def run_shard(self, number: int) -> bytes:
        partial = abi.Partial(ctypes.sizeof(abi.Partial))
        place = ctypes.addressof(partial)
        try:
            call(self._options, True, library.perm_task_run_shard, self, number, place)
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
        places = structs, len(kept), ctypes.addressof(answer)
        call(self._options, True, library.perm_task_combine, self, *places)


# ----------------------------------------------------------------
# A plan as bytes: the pattern and what Python knows of it, then what perm_plan_save wrote.

_UNSAVED = ("progress", "machine")  # a function of this process, and where the plan is not to be executed
_MAGIC = b"libperm-python-2\n"  # then a digest of all that follows it, in 64 hexadecimal digits


def bytes_of_plan(plan: Any, matrix: Matrix, value_type: int, options: dict[str, Any]) -> bytes:
    save = library.perm_plan_save
    header = {
        "shape": matrix.shape,
        "row_ptr": list(map(int, matrix.row_ptr)),
        "col_idx": list(map(int, matrix.col_idx)),
        "entries": [_written(x, matrix.kind) for x in matrix.entries],
        "kind": matrix.kind.name,
        "numpy": is_numpy(matrix.row_ptr),  # so its answers are
        "value_type": value_type,
        "options": {name: _plain(value) for name, value in options.items() if name not in _UNSAVED},
    }
    native = read_bytes(lambda *to: save(plan, *to))
    content = json.dumps(header).encode() + b"\n" + native
    return _MAGIC + _digest(content) + content


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def plan_in(saved: bytes) -> tuple[Matrix, int, dict[str, Any], bytes]:
    saved = bytes(memoryview(saved))
    if not saved.startswith(_MAGIC):
        raise ValueError("these bytes are no saved libperm.Plan, or one of another version")
    content = saved[len(_MAGIC) + 64 :]
    if saved[len(_MAGIC) : len(_MAGIC) + 64] != _digest(content):
        raise ValueError("this saved libperm.Plan is damaged or cut off: save it again")
    text, _, native = content.partition(b"\n")
    header = json.loads(text)
    made_with = header["options"]
    if made_with.get("rng") is not None:
        made_with["rng"] = Seed(made_with["rng"])
    kind = Kind[header["kind"]]
    entries = [_read(x, kind) for x in header["entries"]]
    row_ptr, col_idx = _places(header)
    rows, cols = header["shape"]
    if len(row_ptr) != rows + 1 or not len(col_idx) == len(entries) == row_ptr[-1]:
        raise ValueError("this saved libperm.Plan is damaged: its matrix is none")
    return (
        Matrix((rows, cols), row_ptr, col_idx, entries, kind),
        header["value_type"],
        made_with,
        native,
    )


def _places(header: dict[str, Any]) -> tuple[Any, Any]:
    places = array("q", header["row_ptr"]), array("q", header["col_idx"])
    if header.get("numpy"):  # which plans of before do not tell
        with suppress(ImportError):
            return np.array(places[0]), np.array(places[1])
    return places


def load_plan(native: bytes, options: int, csr: int, place: Any) -> None:
    """Loads a plan and checks that it is of this matrix: another one would read beyond its values."""
    check(library.perm_plan_load(native, len(native), options, ctypes.byref(place)))
    check(library.perm_plan_check_matrix(place, csr))


def _written(entry: Any, kind: Kind) -> Any:
    if kind.is_exact or not is_double(entry):  # of other kinds a long double, or an integer among floats
        if isinstance(entry, numbers.Complex) and not isinstance(entry, numbers.Real):
            raise ValueError(f"{entry!r} has parts that are no doubles: a plan of it cannot be saved")
        if isinstance(entry, numbers.Integral):  # numpy's have no ratio
            entry = int(entry)
        return "/".join(hex(part) for part in map(int, entry.as_integer_ratio()))
    number = complex(entry)
    return [number.real.hex(), number.imag.hex()] if kind is Kind.COMPLEX else number.real.hex()


def _read(written: Any, kind: Kind) -> Any:
    if isinstance(written, list):
        return complex(*map(float.fromhex, written))
    if "/" not in written:
        return float.fromhex(written)
    numerator, denominator = (int(part, 16) for part in written.split("/"))
    return numerator if kind is Kind.INTEGER else Fraction(numerator, denominator)


def _plain(option: Any) -> Any:
    if option is None or isinstance(option, str):
        return option
    if isinstance(option, (bytes, os.PathLike)):
        return os.fsdecode(option)
    if isinstance(option, tuple):
        return list(map(_plain, option))
    try:
        return operator.index(option)
    except TypeError:
        return float(option)
