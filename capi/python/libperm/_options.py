"""Keyword arguments as perm_opts. Which count for which call is the library's to say: it refuses others."""

from __future__ import annotations

import ctypes
import functools
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Callable, TypedDict

from libperm import _abi
from libperm._errors import Error
from libperm._library import library, read_text
from libperm._numbers import Kind
from libperm._progress import Progress
from libperm._quantities import bytes_of, real, seconds_of, whole
from libperm._stop import Stop


class RunOptions(TypedDict, total=False):
    """How it is run: what a saved plan is told anew, by Plan.from_bytes()."""

    threads: int | None  # at most so many; all cores
    memory_limit: int | str | None  # bytes, "500M", "2G"; three quarters of the machine's
    time_limit: float | str | None  # seconds, "30s", "1m", "2h"; a day as predicted. math.inf: none
    cache_dir: str | os.PathLike[str] | None  # of compiled kernels; "": none
    cache_limit: int | str | None  # bytes of it, "100M"
    checkpoint: str | os.PathLike[str] | None  # a file to keep what is done in, and to go on from
    checkpoint_seconds: float | str | None  # between two writes of it; a minute
    progress: bool | Callable[[float, float | None], object] | None  # a bar, or a function of your own


class Options(RunOptions, total=False):
    """What every function takes as keyword arguments; None, or none given, is the default."""

    engine: str | None  # "auto", "frontier", "tree", "ryser"; on a GPU "hybrid", "purereg", "dense", "shared"
    device: str | None  # "auto", "cpu", "gpu", "gpu:0,1", "gpu:all", "gpu:all+cpu"
    precision: str | None  # "auto", "double", "kahan", "dq", "dd", "exact", "mod:P", "mpfr:BITS"
    tolerance: float | None  # relative error wanted; 1e-9
    seed: int | None  # of the search for a good order
    without: str | Iterable[str] | None  # reductions to leave out, "all" for all
    decompose: str | None  # "auto", "paper"
    machine: str | None  # to plan for: the JSON that `perm info --machine` writes there; this one
    row_multiplicity: Iterable[int] | None  # how often each row counts
    col_multiplicity: Iterable[int] | None


_NAMES = Options.__annotations__.keys()
MULTIPLICITIES = ("row_multiplicity", "col_multiplicity")


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
            tolerance=real("tolerance", given.get("tolerance", 0)),
            threads=whole("threads", given.get("threads", 0), 2**31 - 1),
            memory_limit_bytes=bytes_of("memory_limit", given.get("memory_limit", 0)),
            time_limit_seconds=seconds_of("time_limit", given.get("time_limit", 0)),
            seed=whole("seed", given.get("seed", 0), 2**64 - 1),
            cancel=self.stop.function,
            cancel_user=self.stop.address,
            without=_encoded("without", _joined(given["without"])) if "without" in given else None,
            decompose=_text(given, "decompose"),
            machine=_text(given, "machine"),
            cache_dir=os.fsencode(given["cache_dir"]) if "cache_dir" in given else None,
            cache_limit_bytes=bytes_of("cache_limit", given.get("cache_limit", 0)),
            checkpoint=os.fsencode(given["checkpoint"]) if "checkpoint" in given else None,
            checkpoint_seconds=seconds_of("checkpoint_seconds", given.get("checkpoint_seconds", 0)),
        )
        if self.progress is not None:
            self.struct.progress = self.progress.function

    @property
    def is_modular(self) -> bool:
        return self.precision is not None and self.precision.startswith("mod:")

    @property
    def wants_exact(self) -> bool:
        return self.precision == "exact" or self.is_modular

    def kind_of_answer(self, kind: Kind) -> Kind:
        """Residues are integers, whatever the entries are."""
        return Kind.INTEGER if self.is_modular else kind


@functools.cache
def _values_of(call: str) -> dict[str, list[str]]:
    """Options that do not count for a call of perm.h, but with these values."""
    try:
        table = json.loads(read_text(lambda *to: library.perm_info(_abi.FORMAT_OPTIONS, *to)))
    except Error:  # an older library, which refuses none
        return {}
    return {
        name: rule["values"].split(", ")
        for rule in table["rules"]
        for name in rule["options"]
        if call in rule["calls"]
    }


def counting(call: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Of options that are for several calls, those that count for this one."""
    values = _values_of(call)
    return {name: value for name, value in options.items() if name not in values or value in values[name]}


def _encoded(name: str, value: object) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}: a word is expected")
    return value.encode()


def _text(options: Mapping[str, Any], name: str) -> bytes | None:
    return _encoded(name, options[name]) if name in options else None


def _joined(without: str | Iterable[str]) -> str:
    return without if isinstance(without, str) else ",".join(without)
