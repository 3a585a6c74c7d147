"""`perm` as it is installed, else as it stands in capi/python (PERM_LIBRARY then names the library)."""

import importlib.util
import sys
from pathlib import Path

if importlib.util.find_spec("perm") is None:
    sys.path.insert(0, str(Path(__file__).parents[2] / "capi" / "python"))


def pytest_report_header() -> str:
    from support import SEED

    import perm
    from perm import _quick

    way = "by ctypes alone" if _quick.compiled is None else "with its extension"
    return f"perm {perm.version()} {way} in {Path(perm.__file__).parent}; PERM_TEST_SEED={SEED}"
