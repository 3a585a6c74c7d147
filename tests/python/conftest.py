"""`libperm` as it is installed, else as it stands in capi/python (PERM_LIBRARY then names the library)."""

import importlib.util
import os
import sys
from pathlib import Path

if importlib.util.find_spec("libperm") is None:
    sys.path.insert(0, str(Path(__file__).parents[2] / "capi" / "python"))

os.environ.setdefault("PERM_CACHE_DIR", "")  # nothing that an earlier run has kept


def pytest_report_header() -> str:
    from support import SEED

    import libperm
    from libperm._core import quick

    way = "by ctypes alone" if quick.compiled is None else "with its extension"
    return f"libperm {libperm.version()} {way} in {Path(libperm.__file__).parent}; PERM_TEST_SEED={SEED}"
