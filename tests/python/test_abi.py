"""libperm._core.abi reads perm.h as a compiler does: structs, constants, and the types of each function."""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support import ROOT

import libperm
from libperm._core import abi

HEADER = ROOT / "include" / "perm.h"
CODE = re.sub(r"/\*.*?\*/", "", "".join(map(Path.read_text, abi.HEADERS)), flags=re.S)
STRUCTS = re.findall(r"typedef struct (\w+) \{", CODE)
CONSTANTS = re.findall(r"PERM_(\w+) = ", CODE)
FUNCTIONS = re.findall(r"PERM_API [^;]*?\b(perm_\w+)\(", CODE)

# The kinds of a function's result and arguments, on a line.
PROGRAM = """
INCLUDES
#include <cstddef>
#include <cstdio>
#include <type_traits>

template <class T> void kind() {
    if (std::is_same_v<T, const char *>) std::printf("text ");
    else if (std::is_pointer_v<T>) std::printf("address ");
    else if (std::is_floating_point_v<T>) std::printf("float%zu ", sizeof(T));
    else std::printf("%s%zu ", std::is_unsigned_v<T> ? "unsigned" : "int", sizeof(T));
}
template <> void kind<void>() { std::printf("nothing "); }
template <class R, class... A> void kinds(R (*)(A...)) { kind<R>(), (kind<A>(), ...), std::printf("\\n"); }

int main() { LINES }
"""


def answers(lines, folder):
    """What a compiled program prints, a line for each."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    source, program = folder / "abi.cpp", folder / "abi"
    includes = "\n".join(f"#include <{header.name}>" for header in abi.HEADERS)
    source.write_text(PROGRAM.replace("INCLUDES", includes).replace("LINES", "\n".join(lines)))
    subprocess.run(
        [compiler, "-std=c++17", f"-I{HEADER.parent}", str(source), "-o", str(program)], check=True
    )
    printed = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    return [line.strip() for line in printed.splitlines()]


def class_of(struct):
    return getattr(abi, "".join(word.title() for word in struct.split("_")[1:]))


def kind_of(kind):
    """A type of ctypes as the program names it."""
    if kind is None or kind is ctypes.c_char_p:
        return "nothing" if kind is None else "text"
    size = ctypes.sizeof(kind)
    if kind is ctypes.c_void_p or issubclass(kind, ctypes._CFuncPtr):
        return "address"
    signedness = "int" if kind(-1).value < 0 else "unsigned"
    return f"float{size}" if kind is ctypes.c_double else f"{signedness}{size}"


def test_structs(tmp_path):
    lines, expected = [], []
    for name in STRUCTS:
        struct = class_of(name)
        lines.append(f'std::printf("%zu\\n", sizeof({name}));')
        expected.append(str(ctypes.sizeof(struct)))
        for field, kind in struct._fields_:
            lines.append(
                f'kind<decltype({name}::{field})>(), std::printf("%zu\\n", offsetof({name}, {field}));'
            )
            expected.append(f"{kind_of(kind)} {getattr(struct, field).offset}")
    assert len(STRUCTS) >= 10
    assert dict(zip(lines, answers(lines, tmp_path))) == dict(zip(lines, expected))


def test_functions(tmp_path):
    assert list(abi.SIGNATURES) == FUNCTIONS
    found = answers([f"kinds(decltype(&{name})());" for name in FUNCTIONS], tmp_path)
    assert dict(zip(FUNCTIONS, found)) == {
        name: " ".join(map(kind_of, [result, *arguments]))
        for name, (result, arguments) in abi.SIGNATURES.items()
    }


def test_constants(tmp_path):
    found = answers([f'std::printf("%d\\n", PERM_{name});' for name in CONSTANTS], tmp_path)
    assert [str(getattr(abi, name)) for name in CONSTANTS] == found
    assert len(found) >= 20


def test_the_functions_that_the_package_asks_for_are_there():
    asked = set()
    for file in (ROOT / "capi" / "python" / "libperm").rglob("*.py"):
        asked.update(re.findall(r"library\.(perm_\w+)", file.read_text()))
    assert len(asked) > 30
    assert asked <= set(FUNCTIONS)


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
    assert statuses - own == {402}  # a defect of the library: libperm.Error itself
