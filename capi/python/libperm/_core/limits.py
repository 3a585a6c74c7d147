"""Limits of what is computed, or returned, by Python itself."""

from __future__ import annotations

import os
from dataclasses import dataclass

from libperm._core.errors import InvalidOptionError, MemoryRefusedError, TimeRefusedError


@dataclass(frozen=True)
class Limits:
    """In bytes and seconds."""

    memory: float
    seconds: float

    @classmethod
    def of(cls, memory: int | None, seconds: float | None) -> Limits:
        if seconds is not None and not seconds >= 0:
            raise InvalidOptionError(f"time_limit is {seconds}: it cannot be negative, or NaN")
        if not memory:
            memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 3 // 4
        return cls(memory, seconds or 86400.0)

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
