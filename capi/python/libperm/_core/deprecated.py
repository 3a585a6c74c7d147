"""Names and ways of before, which still work."""

from __future__ import annotations

from libperm._core.errors import warn_caller


def warn(text: str) -> None:
    warn_caller(text, DeprecationWarning)
