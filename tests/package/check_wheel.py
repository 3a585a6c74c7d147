"""Of the package as a wheel installed it, with no other package about: it computes, by its compiled part, and
what it loads beside C's and C++'s own libraries lies in the wheel."""

import ctypes  # noqa: F401  what Python's own modules load is not the wheel's
import decimal  # noqa: F401
import hashlib  # noqa: F401
import sys
import sysconfig
from pathlib import Path

THE_SYSTEMS = (
    "ld-linux",
    "libc.so",
    "libm.so",
    "libstdc++.so",
    "libgcc_s.so",
    "libdl.so",
    "libpthread.so",
    "librt.so",
)
SITE = Path(sysconfig.get_path("platlib")).resolve()


def loaded() -> set[Path]:
    maps = Path("/proc/self/maps").read_text().splitlines()
    libraries = {Path(line.split(None, 5)[5]) for line in maps if ".so" in line}
    return {path for path in libraries if path.parent.name != "lib-dynload"}


before = loaded()
import libperm  # noqa: E402
from libperm._core import quick  # noqa: E402

assert Path(libperm.__file__).resolve().is_relative_to(SITE), f"libperm was found in {libperm.__file__}"
assert sys.version_info < (3, 11) or quick.compiled is not None, "the compiled part is not in the wheel"
assert libperm.permanent([[1] * 25] * 25) == 15511210043330985984000000
assert libperm.compute([[0.5] * 20] * 20).rel_error_bound < 1e-12
assert "numpy" not in sys.modules
carried = {path for path in loaded() - before if not path.name.startswith(THE_SYSTEMS)}
assert any(path.name.startswith("libperm.so") for path in carried), carried
foreign = {str(path) for path in carried if not path.is_relative_to(SITE)}
assert not foreign, f"not in the wheel: {foreign}"
print(f"libperm {libperm.version()}: {len(carried)} libraries, all of the wheel")
