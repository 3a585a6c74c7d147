"""A plan as bytes: the pattern and what Python knows of it, then what perm_plan_save wrote."""

from __future__ import annotations

import ctypes
import hashlib
import json
import numbers
import operator
import os
from array import array
from fractions import Fraction
from typing import Any

from libperm._core.library import check, library, read_bytes
from libperm._core.matrix import Matrix
from libperm._core.scalars import Kind, is_double
from libperm._core.seeds import Seed
from libperm._core.values import is_numpy

_UNSAVED = ("progress", "machine")  # a function of this process, and where the plan is not to be executed
_MAGIC = b"libperm-python-2\n"  # then a digest of all that follows it, in 64 hexadecimal digits


def to_bytes(plan: Any, matrix: Matrix, value_type: int, options: dict[str, Any]) -> bytes:
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


def from_bytes(saved: bytes) -> tuple[Matrix, int, dict[str, Any], bytes]:
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
    try:
        import numpy as np
    except ImportError:
        return places
    row_ptr, col_idx = map(np.array, places)
    return (row_ptr, col_idx) if header.get("numpy") else places  # which plans of before do not tell


def load(native: bytes, options: int, csr: int, place: Any) -> None:
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
