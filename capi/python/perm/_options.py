"""Keyword arguments as perm_opts."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping
from typing import Any, Callable, TypedDict, Union

from perm import _abi
from perm._call import Stop
from perm._errors import InvalidOptionError
from perm._progress import Progress


class Options(TypedDict, total=False):
    """What every function takes as keyword arguments; None, or none given, is the default."""

    engine: str | None  # "auto", "frontier", "tree", "ryser"; on a GPU "hybrid", "purereg", "dense", "shared"
    device: str | None  # "auto", "cpu", "gpu"
    precision: str | None  # "auto", "double", "kahan", "dq", "dd", "exact", "mpfr:BITS"
    tolerance: float | None  # relative error wanted; 1e-9
    threads: int | None  # at most so many; all cores
    memory_limit: int | None  # bytes; three quarters of the machine's
    time_limit: float | None  # seconds; a day as predicted. math.inf: none
    seed: int | None  # of the search for a good order
    without: str | Iterable[str] | None  # reductions to leave out, "all" for all
    decompose: str | None  # "auto", "paper"
    cache_dir: str | os.PathLike[str] | None  # of compiled kernels; "": none
    cache_limit: int | None  # bytes of it
    row_multiplicity: Iterable[int] | None  # how often each row counts
    col_multiplicity: Iterable[int] | None
    progress: bool | Callable[[float, float | None], object] | None  # a bar, or a function of your own


_NAMES = Options.__annotations__.keys()
MULTIPLICITIES = ("row_multiplicity", "col_multiplicity")
_Simple = Union[int, float]


class Prepared:
    """perm_opts, and all that it points to."""

    def __init__(self, options: Mapping[str, Any], default_precision: str | None) -> None:
        unknown = sorted(options.keys() - _NAMES)
        if unknown:
            raise TypeError(f"no option {unknown[0]!r}; there are {', '.join(_NAMES)}")
        given = {name: value for name, value in options.items() if value is not None}
        self.precision: str | None = given.get("precision", default_precision)
        self.stop = Stop()
        self.progress = Progress.of(given.get("progress"), self.stop)
        self.struct = _abi.Opts(
            struct_size=ctypes.sizeof(_abi.Opts),
            engine=_text(given, "engine"),
            device=_text(given, "device"),
            precision=None if self.precision is None else _encoded("precision", self.precision),
            tolerance=_number(given, "tolerance", float),
            threads=_number(given, "threads", int, 32),
            memory_limit_bytes=_number(given, "memory_limit", int, 64),
            time_limit_seconds=_number(given, "time_limit", float),
            seed=_number(given, "seed", int) % 2**64,
            cancel=self.stop.function,
            cancel_user=self.stop.address,
            without=_encoded("without", _joined(given["without"])) if "without" in given else None,
            decompose=_text(given, "decompose"),
            cache_dir=os.fsencode(given["cache_dir"]) if "cache_dir" in given else None,
            cache_limit_bytes=_number(given, "cache_limit", int, 64),
        )
        if self.progress is not None:
            self.struct.progress = self.progress.function

    @property
    def wants_exact(self) -> bool:
        return self.precision == "exact"


def _encoded(name: str, value: object) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}: a word is expected")
    return value.encode()


def _text(options: Mapping[str, Any], name: str) -> bytes | None:
    return _encoded(name, options[name]) if name in options else None


def _number(options: Mapping[str, Any], name: str, kind: type[_Simple], bits: int = 0) -> Any:
    number = kind(options.get(name, 0))
    if bits and not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):  # ctypes would cut it silently
        raise InvalidOptionError(f"{name} is {number}: too large")
    return number


def _joined(without: str | Iterable[str]) -> str:
    return without if isinstance(without, str) else ",".join(without)
