"""Sequences of entries, and these as an array of a perm_value_type that the library can read."""

from __future__ import annotations

import ctypes
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from libperm._core import abi
from libperm._core.errors import InvalidMatrixError
from libperm._core.lazy import np
from libperm._core.scalars import Kind, is_double, kind_of_all, numbers_of, text_of

# ----------------------------------------------------------------
# What comes in an order. Much else can be iterated over (keys, members, nodes, bytes) and is no numbers.


def items_of(given: Any, expected: str) -> list[Any]:
    """Lists the items; raises TypeError, with what to pass instead, where there is no order."""
    name = type(given).__name__
    if hasattr(given, "nodes") and hasattr(given, "edges"):
        raise TypeError(
            f"a {name} is a graph: libperm.networkx.perfect_matchings(G) counts its perfect matchings, "
            "libperm.networkx.biadjacency(G)[0] is its matrix"
        )
    if isinstance(given, Mapping):
        raise TypeError(
            f"a {name} would be read by its keys: pass {expected}; "
            "of entries by their places scipy.sparse.coo_array((values, (rows, columns)), shape)"
        )
    if isinstance(given, Set):
        raise TypeError(f"a {name} has no order: pass {expected}")
    if isinstance(given, (bytes, bytearray)):
        raise TypeError(f"{name} are no numbers: pass {expected}, e.g. of numpy.frombuffer()")
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{name}, where {expected} are expected")
    return list(given)


# ----------------------------------------------------------------
# Entries, of arrays and of lists.

_DTYPES = {abi.VALUE_F64: "float64", abi.VALUE_C128: "complex128", abi.VALUE_I64: "int64"}
_CHARS = {abi.VALUE_F64: "d", abi.VALUE_C128: "D", abi.VALUE_I64: "l"}
_KINDS = {"b": Kind.INTEGER, "i": Kind.INTEGER, "u": Kind.INTEGER, "f": Kind.REAL, "c": Kind.COMPLEX}
_LISTED = frozenset("bBhHiIlLqQnNfd?")  # formats of a memoryview
_INT64 = range(-(2**63), 2**63)


class Buffer:
    """An address, and what has to live as long as it is used."""

    __slots__ = ("_as_parameter_", "address", "owner")

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        if isinstance(owner, array):
            self.address = owner.buffer_info()[0]
        elif isinstance(owner, ctypes.Array):
            self.address = ctypes.addressof(owner)
        else:
            self.address = owner.__array_interface__["data"][0]
        self._as_parameter_ = self.address


def is_array(entries: Any) -> bool:
    numpy = sys.modules.get("numpy")  # who has an array has imported it
    return numpy is not None and isinstance(entries, numpy.ndarray)


def as_array(entries: Any) -> Any:
    """Converts what is another package's to numpy's; all else stays as it is."""
    if hasattr(entries, "mask") and hasattr(entries, "filled"):
        raise TypeError("a masked array: what is masked has no value; say which, e.g. A.filled(0)")
    if not hasattr(entries, "__array__"):
        if isinstance(entries, memoryview) and entries.format.lstrip("@") not in _LISTED:
            # what Python makes no list of: complex numbers, other orders of bytes
            return np.asarray(entries)
        return entries
    if is_array(entries):
        return entries.view(np.ndarray)  # of a matrix all parts have two dimensions
    if hasattr(entries, "columns") and len({str(dtype) for dtype in getattr(entries, "dtypes", ())}) > 1:
        return _of_columns(entries)
    return np.asarray(entries)


def _of_columns(table: Any) -> Any:
    """Makes objects of what stands in columns of several types, which numpy would round to a common one."""
    for dtype in table.dtypes:
        if isinstance(dtype, np.dtype):
            plain(np.empty(0, dtype))  # refuses what holds no numbers, or of three digits
    try:
        return table.to_numpy(dtype=object)  # pandas'
    except TypeError:
        raise TypeError(
            f"a {type(table).__name__} with columns of several types: pass its rows as lists"
        ) from None


def as_doubles(entries: Any, or_int64: bool = False) -> Any:
    """A numpy array of float64 or complex128 from what converts to one; or_int64: integers that no double is
    equal to as such."""
    if type(entries) is np.ndarray and entries.dtype.char in "dD" and entries.dtype.isnative:
        return entries
    entries = array_of(entries)
    numbers = plain(entries.reshape(-1))
    kind = kind_of_entries(numbers)
    if are_doubles(numbers):
        dtype = np.complex128 if kind is Kind.COMPLEX else np.float64
        return np.asarray(numbers, dtype).reshape(entries.shape)
    if not or_int64 or value_type_of(numbers, kind) != abi.VALUE_I64:
        raise TypeError("numbers that no double is equal to: these are computed with in doubles")
    return np.asarray(numbers, np.int64).reshape(entries.shape)


def array_of(entries: Any) -> Any:
    """Makes an array of numbers, lists of them, or lists of such, with what they hold as it is."""
    entries = as_array(entries)
    if is_array(entries) or not hasattr(entries, "__iter__"):
        return np.asarray(entries, None if is_array(entries) else object)
    if hasattr(entries, "tocsr"):
        raise TypeError(f"a {type(entries).__name__}, where an array is expected: its toarray()")
    parts = [array_of(x) for x in items_of(entries, "lists of numbers")]
    if len({part.ndim for part in parts}) > 1:
        raise TypeError("a list among numbers: a matrix is a list of rows")
    if len({part.shape for part in parts}) > 1:
        raise InvalidMatrixError(f"parts of different lengths: {', '.join(str(x.shape) for x in parts[:4])}")
    whole = np.empty((len(parts), *(parts[0].shape if parts else ())), object)
    for k, part in enumerate(parts):
        whole[k] = part[()]  # of no dimensions: its number
    return whole


def is_numpy(x: Any) -> bool:
    return type(x).__module__.startswith(("numpy", "scipy"))


def plain(entries: Any) -> Any:
    """Returns a numpy array of numbers that C has, or a list."""
    entries = as_array(entries)
    if not is_array(entries):
        return numbers_of(items_of(entries, "numbers"))
    kind, size = entries.dtype.kind, entries.dtype.itemsize
    if kind in "fc" and size > (8 if kind == "f" else 16):  # long double: each taken exactly
        return list(entries)
    if kind == "u" and size == 8 and entries.size and int(entries.max()) not in _INT64:
        return entries.tolist()
    if kind == "O":
        return numbers_of(entries.tolist())
    if kind == "f" and entries.dtype.char not in "fdg" or entries.dtype.name == "bfloat16":
        raise TypeError(
            f"an array of {entries.dtype.name}, of three digits: A.astype(float) says they are all there is"
        )
    if kind not in _KINDS:
        raise TypeError(f"an array of {entries.dtype} holds no numbers that have a permanent")
    return entries


def is_entry(array: Any) -> Any:
    """Where an array has numbers other than 0. TypeError where it has what is no number: to numpy None, ''
    and [] are zeros."""
    if array.dtype.kind != "O":
        plain(array[:0])  # refuses those of other types
        return array != 0
    numbers = plain(array.reshape(-1))
    kind_of_entries(numbers)
    return np.array([bool(x != 0) for x in numbers], bool).reshape(array.shape)


def kind_of_entries(entries: Any) -> Kind:
    """Returns the kind of what plain() returned."""
    return _KINDS[entries.dtype.kind] if is_array(entries) else kind_of_all(entries)


def kind_of_array(array: Any) -> Kind:
    """Returns the kind of its type, also where it has no entries; raises TypeError where one is no number."""
    numbers = plain(array.ravel("K"))
    return kind_of_entries(numbers) if array.dtype.kind == "O" else _KINDS[array.dtype.kind]


def value_type_of(entries: Any, kind: Kind) -> int:
    """Returns the simplest perm_value_type that holds them without loss."""
    value_type: int = abi.VALUE_TEXT
    if kind is Kind.INTEGER:
        if is_array(entries) or all(int(x) in _INT64 for x in entries):
            value_type = abi.VALUE_I64
    elif kind is not Kind.RATIONAL and are_doubles(entries):
        value_type = abi.VALUE_F64 if kind is Kind.REAL else abi.VALUE_C128
    return value_type


def are_doubles(entries: Any) -> bool:
    if not is_array(entries):
        return all(map(is_double, entries))
    if entries.dtype.kind in "fc" or not entries.size:
        return True
    return bool(entries.min() >= -(2**53) and entries.max() <= 2**53) or all(map(is_double, entries.tolist()))


def any_negative(entries: Any) -> bool:
    return bool((entries < 0).any()) if is_array(entries) else any(x < 0 for x in entries)


def encode(entries: Any, value_type: int) -> Buffer:
    if value_type == abi.VALUE_TEXT:
        texts = list(map(text_of, entries))
        return Buffer((ctypes.c_char_p * len(texts))(*texts))
    if value_type != abi.VALUE_I64 and not are_doubles(entries):
        raise ValueError("a value that no double is equal to, and the plan was made from doubles")
    if is_array(entries):
        return Buffer(np.ascontiguousarray(entries, _DTYPES[value_type]))
    return Buffer(_array_of(entries, value_type))


def _array_of(entries: Sequence[Any], value_type: int) -> array[Any]:
    if value_type == abi.VALUE_I64:
        try:
            return array("q", map(int, entries))
        except OverflowError:
            raise OverflowError(
                "an integer beyond 64 bits, and the plan was made from smaller ones; "
                "make it from a matrix that has such an entry"
            ) from None
    if value_type == abi.VALUE_F64:
        return array("d", map(float, entries))
    return array("d", [part for x in map(complex, entries) for part in (x.real, x.imag)])


def is_as_it_should_be(entries: Any, value_type: int, count: int) -> bool:
    """Whether the library can read this array where it lies."""
    return bool(
        entries.dtype.char in _CHARS.get(value_type, "")
        and entries.shape == (count,)
        and entries.flags.c_contiguous
        and entries.dtype.isnative
    )
