"""Keyword arguments: the numbers, seeds and limits among them, and all as perm_opts. Which count for which
call is the library's to say: it refuses others."""

from __future__ import annotations

import ctypes
import functools
import json
import math
import operator
import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, TypedDict

from libperm._core import abi
from libperm._core.call import Progress, Stop
from libperm._core.errors import FIELDS, InvalidOptionError, MemoryRefusedError, TimeRefusedError
from libperm._core.lazy import np
from libperm._core.library import library, read_text
from libperm._core.scalars import Kind
from libperm._core.values import items_of

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack
else:
    Unpack = None  # of annotations, which are not evaluated

# ----------------------------------------------------------------
# Whole numbers, bytes ("500M", "2G") and seconds ("30s", "1m", "2h").

_NUMBER_AND_UNIT = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*([a-z]*)\s*", re.IGNORECASE)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_BYTES = {"": 1, "b": 1}
for _power, _prefix in enumerate("kmgt", 1):
    _BYTES.update({_prefix: 1024**_power, f"{_prefix}ib": 1024**_power, f"{_prefix}b": 1000**_power})


def whole(name: str, value: Any, most: int) -> int:
    """From 0; ctypes would cut what is beyond `most` silently."""
    number = int(value) if isinstance(value, float) and value.is_integer() else value
    try:
        number = operator.index(number)
    except TypeError:
        raise InvalidOptionError(f"{name} is {value!r}: a whole number is expected") from None
    written = str(number) if abs(number) < 2**128 else "of many digits"  # which Python may not write
    if number < 0:
        raise InvalidOptionError(f"{name} is {written}: it cannot be negative")
    if number > most:
        raise InvalidOptionError(f"{name} is {written}: too large")
    return number


def real(name: str, value: Any) -> float:
    try:
        if isinstance(value, str):
            raise TypeError
        return float(value)
    except TypeError:
        raise InvalidOptionError(f"{name} is {value!r}: a number is expected") from None


def is_flag(value: Any) -> bool:
    """True or False, numpy's too."""
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")


def flag(name: str, value: Any) -> bool:
    if is_flag(value):
        return bool(value)
    raise InvalidOptionError(f"{name} is {value!r}: True or False is expected")


def bytes_of(name: str, value: Any) -> int:
    if isinstance(value, str):
        value = math.ceil(_read(name, value, _BYTES, 'bytes, or a text like "500M" or "2G"'))
    return whole(name, value, 2**63 - 1)


def seconds_of(name: str, value: Any) -> float:
    if isinstance(value, str):
        if value.strip().lower() in ("inf", "none"):  # as the command takes them
            return math.inf
        return _read(name, value, _SECONDS, 'seconds, or a text like "30s", "1m" or "2h"')
    return real(name, value)


def _read(name: str, text: str, units: dict[str, int], expected: str) -> float:
    found = _NUMBER_AND_UNIT.fullmatch(text)
    unit = units.get(found[2].lower()) if found else None
    if found is None or unit is None:
        raise InvalidOptionError(f"{name} is {text!r}: {expected} are expected")
    return float(found[1]) * unit


# ----------------------------------------------------------------
# Limits of what is computed, or returned, by Python itself.


@dataclass(frozen=True)
class Limits:
    """In bytes and seconds."""

    memory: float
    seconds: float

    @classmethod
    def of(cls, memory: int | str | None, seconds: float | str | None) -> Limits:
        """As the options memory_limit and time_limit say."""
        limit = bytes_of("memory_limit", 0 if memory is None else memory)
        if limit == 0:
            limit = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 3 // 4
        time_limit = seconds_of("time_limit", 0 if seconds is None else seconds)
        if not time_limit >= 0:
            raise InvalidOptionError(f"time_limit is {seconds}: it cannot be negative, or NaN")
        return cls(limit, time_limit or 86400.0)

    def require(self, bytes_taken: float, seconds: float, what: str, instead: str = "fewer outcomes") -> None:
        if bytes_taken > self.memory:
            taken, allowed = (_amount(x / 2**30) for x in (bytes_taken, self.memory))
            raise MemoryRefusedError(
                f"{what} would take {taken} GiB, and {allowed} GiB are allowed: "
                f"give {instead}, or a higher memory_limit"
            )
        if seconds > self.seconds:
            taken, allowed = _amount(seconds), _amount(self.seconds)
            raise TimeRefusedError(
                f"{what} would take about {taken} s, and {allowed} s are allowed: "
                f"give {instead}, or a higher time_limit"
            )


def _amount(x: float) -> str:
    return f"{x:.1f}" if 0.1 <= x < 1e6 else f"{x:.1e}"


# ----------------------------------------------------------------
# Where random numbers come from: `rng`, as numpy's functions take it, as a seed of the library.

_BITS = 64


class Seed(int):
    """One of the library's own, as perm.h and the command take it."""


def seed_of(rng: Any) -> Seed:
    """Draws one from numpy.random.default_rng(rng); None is another one each time."""
    if isinstance(rng, Seed):
        return rng
    if rng is None:
        return Seed.from_bytes(os.urandom(_BITS // 8), "little")
    if isinstance(rng, (int, float)):
        rng = whole("rng", rng, 2**_BITS - 1)
    try:
        return Seed(np.random.default_rng(rng).integers(2**_BITS, dtype=np.uint64))
    except ImportError:
        return Seed(whole("rng", rng, 2**_BITS - 1))
    except (TypeError, ValueError):
        raise InvalidOptionError(
            f"rng is {rng!r}: a seed, a whole number, is expected, or a numpy.random.Generator"
        ) from None


def settled(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with a Seed as rng, if there is any: whoever takes them from here on takes the same one."""
    found = dict(options)
    if found.get("rng") is not None:
        found["rng"] = seed_of(found["rng"])
    return found


# ----------------------------------------------------------------
# The options of the library.


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

    def form(self, kind: Kind, as_numpy: bool) -> tuple[Kind, bool, bool]:
        """As what answers of a matrix of that kind come out, as result_of() and its like take it. Residues
        are integers, whatever the entries are."""
        return Kind.INTEGER if self.is_modular else kind, self.wants_exact, as_numpy


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
