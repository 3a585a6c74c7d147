"""Options that are numbers: whole ones, bytes ("500M", "2G") and seconds ("30s", "1m", "2h")."""

from __future__ import annotations

import math
import operator
import re
from typing import Any

from libperm._core.errors import InvalidOptionError

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
