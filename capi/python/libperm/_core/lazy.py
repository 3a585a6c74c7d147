"""numpy, imported when something of it is first used: the package works without it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["np"]

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        def __getattr__(self, name: str) -> Any:
            found = getattr(importlib.import_module("numpy"), name)
            setattr(self, name, found)
            return found

    np = _Numpy()
