"""Names and ways of before, which still work."""

from __future__ import annotations

import sys
import warnings


def warn(text: str) -> None:
    """Warns the caller of the package, however deep in it this is called."""
    level = 1
    while _is_ours(level):
        level += 1
    warnings.warn(text, DeprecationWarning, stacklevel=level + 1)


def _is_ours(level: int) -> bool:
    frame = sys._getframe(level + 1)
    name = frame.f_globals.get("__name__", "")
    return frame.f_back is not None and name.partition(".")[0] == "libperm"
