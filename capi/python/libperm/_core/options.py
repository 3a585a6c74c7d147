"""Keyword arguments as perm_opts. Which count for which call is the library's to say: it refuses others."""

from __future__ import annotations

import ctypes
import functools
import json
import math
import os
import time
from collections.abc import Iterable, Mapping
from typing import Any, Callable, TypedDict

from libperm._core import abi
from libperm._core.errors import FIELDS, TimeRefusedError
from libperm._core.library import library, read_text
from libperm._core.limits import Limits
from libperm._core.progress import Progress
from libperm._core.quantities import bytes_of, real, seconds_of, whole
from libperm._core.scalars import Kind
from libperm._core.seeds import settled
from libperm._core.sequences import items_of
from libperm._core.stop import Stop


class RunOptions(TypedDict, total=False):
    """How it is run: what a saved plan is told anew, by Plan.from_bytes()."""

    threads: int | None  # at most so many; all cores
    memory_limit: int | str | None  # bytes, "500M", "2G"; three quarters of the machine's
    time_limit: float | str | None  # seconds, "30s", "1m", "2h"; a day as predicted. math.inf: none
    cache_dir: str | os.PathLike[str] | None  # of compiled kernels and found orders; "": none
    cache_limit: int | str | None  # bytes of it, "100M"
    checkpoint: str | os.PathLike[str] | None  # a file to keep what is done in, and to go on from
    checkpoint_seconds: float | str | None  # between two writes of it; a minute
    progress: bool | Callable[[float, float | None], object] | None  # a bar, or a function of your own


class Options(RunOptions, total=False):
    """What every function takes as keyword arguments; None, or none given, is the default."""

    # auto, frontier, tree, sieve, of hafnians bjorklund; on a CPU ryser, planar, background, low_rank,
    # ferrers, separable, of hafnians hermite; on a GPU hybrid, purereg, dense, shared
    engine: str | None
    device: str | None  # "auto", "cpu", "gpu", "gpu:0,1", "gpu:all", "gpu:all+cpu"
    precision: str | None  # "auto", "double", "kahan", "dq", "dd", "exact", "mod:P", "mpfr:BITS"
    tolerance: float | None  # relative error wanted; 1e-9
    rng: Any  # of the search for a good order: a numpy Generator, or a seed for one. None: always the same
    without: str | Iterable[str] | None  # reductions to leave out, "all" for all
    decompose: str | None  # "auto", "paper"
    function: str | None  # "permanent"; of a symmetric matrix "hafnian", "loop_hafnian"
    machine: str | None  # to plan for: the JSON that `perm info --machine` writes there; this one
    row_multiplicity: Iterable[int] | None  # how often each row counts
    col_multiplicity: Iterable[int] | None


_FIELD = {"rng": "seed"}  # of the library
_NAMES = Options.__annotations__.keys()
_UNNOTICED = 2**26  # bytes that a process may take beyond its limit (perm.h)
MULTIPLICITIES = ("row_multiplicity", "col_multiplicity")


def readable_again(options: Mapping[str, Any]) -> dict[str, Any]:
    """Settled options whose iterators, which can be read once, and lists, which their owner may change, are
    tuples."""
    found = settled(options)
    for name in MULTIPLICITIES:
        if found.get(name) is not None:
            found[name] = tuple(items_of(found[name], f"integers ({name})"))
    without = found.get("without")
    if isinstance(without, Iterable) and not isinstance(without, str):
        found["without"] = tuple(without)
    return found


def with_time_left(options: Mapping[str, Any], begun: float, what: str) -> dict[str, Any]:
    """The options of the next of several calls that share a time limit; `what` is left for it to do."""
    given = options.get("time_limit")
    limit = 0 if given is None else seconds_of("time_limit", given)
    if not 0 < limit < math.inf:
        return dict(options)
    left = limit - (time.monotonic() - begun)
    if left <= 0:
        raise TimeRefusedError(
            f"the time limit of {limit:g} s is over, and {what} are left; raise the limit: time_limit"
        )
    return {**options, "time_limit": left}


def is_of_graph(options: Mapping[str, Any]) -> bool:
    return options.get("function") not in (None, "permanent")


def _word(name: str, value: object) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}: a word is expected")
    return value.encode()


def _words(name: str, value: str | Iterable[str]) -> bytes:
    return _word(name, value if isinstance(value, str) else ",".join(value))


def _path(_name: str, value: str | os.PathLike[str]) -> bytes:
    return os.fsencode(value)


# Each of the library's types, by its own name for it, is read by one of these.
READERS: dict[str, Callable[[str, Any], Any]] = {
    "word": _word,
    "words": _words,
    "text": _word,
    "file": _path,
    "folder": _path,
    "double": real,
    "double, seconds": seconds_of,
    "int32": functools.partial(whole, most=2**31 - 1),
    "int64, bytes": bytes_of,
    "uint64": functools.partial(whole, most=2**64 - 1),
}

# What the library tells of its options, and the type of each field that is read here.
_TABLE = json.loads(read_text(lambda *to: library.perm_info(abi.FORMAT_OPTIONS, *to)))
TYPES = {
    field: kind
    for field, told in _TABLE["facts"].items()
    if (kind := ", ".join(filter(None, (told["type"], told["unit"])))) in READERS
}


class Prepared:
    """perm_opts, and all that it points to."""

    def __init__(self, options: Mapping[str, Any], default_precision: str | None) -> None:
        unknown = sorted(options.keys() - _NAMES)
        if unknown:
            raise TypeError(f"no option {unknown[0]!r}; there are {', '.join(_NAMES)}")
        given = {_FIELD.get(name, name): x for name, x in settled(options).items() if x is not None}
        if default_precision is not None:
            given.setdefault("precision", default_precision)
        self.precision: str | None = given.get("precision")
        self.stop = Stop()
        self.progress = Progress.of(given.get("progress"), self.stop)
        self.struct = abi.Opts(
            struct_size=ctypes.sizeof(abi.Opts),
            cancel=self.stop.function,
            cancel_user=self.stop.address,
            **{
                field: READERS[TYPES[field]](name, value)
                for name, value in given.items()
                if (field := FIELDS.get(name, name)) in TYPES
            },
        )
        self.address = self._as_parameter_ = ctypes.addressof(self.struct)
        if self.progress is not None:
            self.struct.progress = self.progress.function

    def require(self, bytes_returned: float, what: str) -> None:
        """What a call returns is refused before it starts, too, where it is larger than the memory limit."""
        if bytes_returned > _UNNOTICED:
            limits = Limits.of(self.struct.memory_limit_bytes, None)
            limits.require(bytes_returned, 0, what, "less at once")

    @property
    def is_modular(self) -> bool:
        return self.precision is not None and self.precision.startswith("mod:")

    @property
    def wants_exact(self) -> bool:
        return self.precision == "exact" or self.is_modular

    def kind_of_answer(self, kind: Kind) -> Kind:
        """Residues are integers, whatever the entries are."""
        return Kind.INTEGER if self.is_modular else kind

    def form(self, kind: Kind, as_numpy: bool) -> tuple[Kind, bool, bool]:
        """As what answers of a matrix of that kind come out, as result_of() and its like take it."""
        return self.kind_of_answer(kind), self.wants_exact, as_numpy


@functools.cache
def _values_of(call: str) -> dict[str, list[str]]:
    """Finds the options that do not count for a call of perm.h, and with which values they do."""
    return {
        name: rule["values"].split(", ")
        for rule in _TABLE["rules"]
        for name in rule["options"]
        if call in rule["calls"]
    }


def counting(call: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Selects, from options that are for several calls, those that count for this one."""
    values = _values_of(call)
    return {
        name: value
        for name, value in settled(options).items()
        if _FIELD.get(name, name) not in values or value in values[_FIELD.get(name, name)]
    }
