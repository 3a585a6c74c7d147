"""Calls of microseconds, by the compiled extension. It answers what is small and plain, and returns None for
all else, failures included: the general way, by ctypes, then computes, warns or says what is wrong. Where the
extension is not built, or PERM_PYTHON_PURE is set, everything goes that way."""

from __future__ import annotations

import functools
import importlib
import math
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Callable

from libperm._core import abi
from libperm._core.batch import Batch
from libperm._core.inputs import Input
from libperm._core.lazy import np
from libperm._core.library import check, library
from libperm._core.options import MULTIPLICITIES, Prepared, RunOptions
from libperm._core.scalars import Kind, Number

# What its functions take capi/python/compiled/module.hpp says. Free-threaded Pythons have another ABI.
compiled: Any = None
if sys.version_info >= (3, 11) and "t" not in sys.abiflags and not os.environ.get("PERM_PYTHON_PURE"):
    with suppress(ImportError):
        compiled = importlib.import_module("libperm._core.compiled")

_KINDS = {abi.VALUE_F64: Kind.REAL, abi.VALUE_C128: Kind.COMPLEX, abi.VALUE_I64: Kind.INTEGER}
_NOT_FOR_SMALL = {"progress", "checkpoint", "rng"}
_OF_RUNS = RunOptions.__annotations__.keys() - _NOT_FOR_SMALL
_MULTIPLICITIES = frozenset(MULTIPLICITIES)


class Kept:
    """Options parsed once, for both kinds of numbers. Nobody stops these calls: no callback is asked."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.of_reals, self.of_integers = Prepared(options, None), Prepared(options, "exact")
        for prepared in (self.of_reals, self.of_integers):
            prepared.struct.cancel = abi.CANCEL_FN()
        reals = 0 if self.of_reals.wants_exact else self.of_reals.address  # exact ones are Fractions
        self.addresses = reals, self.of_integers.address


_kept = functools.lru_cache(maxsize=64, typed=True)(lambda **options: Kept(options))
_DEFAULT = Kept({})
_OF_GRAPHS = tuple(Kept({"function": name}) for name in ("hafnian", "loop_hafnian"))
_MOST_COUNTS, _MOST_COPIES = 1 << 13, 100  # of a graph's kinds of lines, of its lines: more may take long


def are_plain(options: Mapping[str, Any]) -> bool:
    """Whether other calls may share what is made of them."""
    can_be_read_again = isinstance(options.get("without", ""), (str, tuple))
    return can_be_read_again and _NOT_FOR_SMALL.isdisjoint(options)


def _kept_of(options: Mapping[str, Any]) -> Kept | None:
    if not are_plain(options):
        return None
    try:
        return _kept(**options)
    except Exception:  # bad ones, which the general way tells of, or a list, which is no key
        return None


def are_of_run(options: Mapping[str, Any]) -> bool:
    """Whether they change no result, but say at most what may be taken for it."""
    return options.keys() <= _OF_RUNS


def of_run(function: Callable[..., Any], options: Mapping[str, Any], *arguments: Any) -> Any:
    """Calls one that takes an array, and the address of options that change no result."""
    kept = _kept_of(options) if are_of_run(options) else None
    return None if kept is None else function(*arguments, kept.addresses[0])


# These take an array, with no options, or the last two by of_run().
small: Callable[[Any], Number | None] = (lambda a: None) if compiled is None else compiled.permanent
sub_permanents: Callable[..., Any] = (lambda *_: None) if compiled is None else compiled.sub_permanents
gradient: Callable[..., Any] = (lambda *_: None) if compiled is None else compiled.gradient


def _split(options: Mapping[str, Any]) -> tuple[Kept | None, tuple[Any, ...]]:
    """Separates the multiplicities, as the compiled calls take them: both, or none."""
    if _MULTIPLICITIES.isdisjoint(options):
        return _kept_of(options) if options else _DEFAULT, ()
    others = {name: value for name, value in options.items() if name not in _MULTIPLICITIES}
    counts = tuple(options.get(name) for name in MULTIPLICITIES)
    if others.get("function") is not None and not _are_few(counts):
        return None, ()
    return _kept_of(others) if others else _DEFAULT, counts


def _are_few(counts: tuple[Any, ...]) -> bool:
    """Of a graph's lines; of others than the most frequent one all numbers of copies are gone through."""
    try:
        for given in counts:
            if given is not None and (
                not isinstance(given, (list, tuple))
                or sum(given) > _MOST_COPIES
                or math.prod(c + 1 for c in given) > _MOST_COUNTS * (1 + max(given, default=0))
            ):
                return False
    except TypeError:
        return False
    return True


def hafnian(a: Any, has_loops: bool) -> Any:
    return None if compiled is None else compiled.permanent(a, *_OF_GRAPHS[has_loops].addresses)


def permanent(a: Any, options: Mapping[str, Any]) -> Any:
    if compiled is None:
        return None
    kept, counts = _split(options)
    return None if kept is None else compiled.permanent(a, *kept.addresses, *counts)


def compute(a: Any, options: Mapping[str, Any], result: int) -> tuple[Kind, bool] | None:
    """Fills the perm_result at this address; returns the kind of numbers and whether they are exact."""
    if compiled is None:
        return None
    kept, counts = _split(options)
    value_type = None if kept is None else compiled.compute(a, result, *kept.addresses, *counts)
    if kept is None or value_type is None:
        return None
    kind = _KINDS[value_type]
    return kind, (kept.of_integers if kind.is_exact else kept.of_reals).wants_exact


def plan(
    given: Input, handles: list[Any], is_signless: bool, seconds: float, is_long: bool, as_numpy: bool
) -> Any:
    """Keeps what execute() and permanents() need. handles: the plan's, and that for values of both signs."""
    if compiled is None or given.value_type not in _KINDS:
        return None
    plans = handles[0].address.value, handles[1].address.value if len(handles) > 1 else 0
    how = is_signless, seconds, is_long, as_numpy
    return compiled.plan((given, *handles), *plans, given.address, *how)


def dense_permanents(batch: Any, options: Mapping[str, Any]) -> Any:
    """Of an array (count, n, n) of reals or complex numbers; None where that is not for it, or some miss the
    tolerance."""
    if compiled is None or options.get("memory_limit") is not None:  # which counts what is returned
        return None
    numbers = np.empty(len(batch), batch.dtype)
    function = compiled.permanents
    is_done = of_run(function, options, batch, numbers) if options else function(batch, numbers)
    return numbers if is_done else None


def permanents(
    plan: object, values: Any, kind: Kind, full: bool, run: Callable[[Callable[[], Any]], Any]
) -> Any:
    """Computes those of an array of values; `run` calls what may be long so that it can be stopped."""
    count = len(values)
    numbers = np.empty(count, complex if kind is Kind.COMPLEX else float)
    others: tuple[Any, ...] = (None,) * 5
    if full:
        bounds = np.empty(count), np.empty(count), np.empty(count, bool)
        others = *bounds, np.empty_like(numbers), np.empty(count, np.int64)

    def call() -> Any:
        status = compiled.execute_batch(plan, values, numbers, *others)
        check(status or 0)  # here: the library tells each thread of its own errors
        return status

    if run(call) is None:
        return None
    return Batch(numbers, *others) if full else numbers


if compiled is not None:
    compiled.bind(library._handle, _DEFAULT.addresses[1])
