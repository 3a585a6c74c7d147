"""The structs of libperm/_abi.py lie in memory as a C compiler lays out those of perm.h."""

import ctypes
import re
import shutil
import subprocess

import pytest
from support import ROOT

import libperm
from libperm import _abi

HEADER = ROOT / "include" / "perm.h"
STRUCTS = {
    "perm_csr": _abi.Csr,
    "perm_opts": _abi.Opts,
    "perm_result": _abi.Result,
    "perm_partial": _abi.Partial,
    "perm_periodic": _abi.Periodic,
    "perm_dense": _abi.Dense,
    "perm_boson": _abi.Boson,
    "perm_interval": _abi.Interval,
}


def test_structs(tmp_path):
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("no C compiler")
    lines, expected = [], []
    for name, struct in STRUCTS.items():
        lines.append(f"sizeof({name})")
        expected.append(ctypes.sizeof(struct))
        for field, *_ in struct._fields_:
            lines += [f"offsetof({name}, {field})", f"sizeof((({name} *)0)->{field})"]
            expected += [getattr(struct, field).offset, getattr(struct, field).size]
    prints = "".join(f'printf("%zu\\n", (size_t){line});' for line in lines)
    source = tmp_path / "layout.c"
    source.write_text(f"#include <perm.h>\n#include <stdio.h>\nint main(void) {{ {prints} return 0; }}")
    program = tmp_path / "layout"
    subprocess.run([cc, f"-I{HEADER.parent}", str(source), "-o", str(program)], check=True)
    found = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.split()
    assert dict(zip(lines, map(int, found))) == dict(zip(lines, expected))


def test_every_function_of_the_header_that_a_caller_needs_is_declared():
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    declared = set(re.findall(r"PERM_API [^;]*?\b(perm_\w+)\(", text))
    unused = {"perm_status_text", "perm_compute_with_plan"}
    assert declared - unused == _abi.SIGNATURES.keys() | (_abi.LATER.keys() & declared)


def test_constants():
    text = HEADER.read_text()
    for name in (
        "VALUE_F64",
        "VALUE_C128",
        "VALUE_I64",
        "VALUE_TEXT",
        "INDEX_I64",
        "FORMAT_TEXT",
        "FORMAT_JSON",
    ):
        assert int(re.search(rf"PERM_{name} = (\d+)", text).group(1)) == getattr(_abi, name)


def test_version():
    header = re.search(r'PERM_VERSION_STRING "(.*)"', HEADER.read_text()).group(1)
    cmake = re.search(r"project\(perm VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    assert header == cmake == libperm.version() == libperm.__version__


def test_statuses():
    enum = re.search(r"typedef enum perm_status \{(.*?)\}", HEADER.read_text(), re.S).group(1)
    statuses = {int(number) for number in re.findall(r"= (\d+)", enum)} - {0}
    own = {
        kind.status
        for kind in vars(libperm).values()
        if isinstance(kind, type) and issubclass(kind, libperm.Error)
    }
    assert statuses - own == {101, 402}  # a defect of this package, or of the library: libperm.Error itself
