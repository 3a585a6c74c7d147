"""The C API as ctypes has it, read from perm.h itself, which lies beside this file: perm_csr is the class
Csr, PERM_VALUE_F64 the int VALUE_F64, perm_cancel_fn the type CANCEL_FN; SIGNATURES has the result and the
arguments of each function. tests/python/test_abi.py compares all with what a compiler makes of it."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


SIGNATURES: dict[str, tuple[Any, list[Any]]] = {}

_TYPES: dict[str, Any] = {
    "void": None,
    "int": ctypes.c_int,
    "double": ctypes.c_double,
    "size_t": ctypes.c_size_t,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
}

_DEFINITION = re.compile(
    r"typedef enum (?P<enum>\w+) \{(?P<constants>[^}]*)\} \w+;"
    r"|typedef struct (?P<struct>\w+) \{(?P<fields>[^}]*)\} \w+;"
    r"|typedef (?P<returned>\w+) \(\*(?P<callback>\w+)\)\((?P<taken>[^)]*)\);"
    r"|PERM_API (?P<result>[\w ]+[ *])(?P<function>perm_\w+)\((?P<arguments>[^)]*)\);"
)
_DECLARATION = re.compile(r"(const )?(\w+) ?(\**)(\w+(?:, \3\w+)*)?")


def _declared(text: str) -> list[tuple[str, Any]]:
    """Names and types of a declaration: "int64_t n_rows, n_cols", "void *u, *v". Texts are read as such; of
    other pointers the address is told."""
    found = _DECLARATION.fullmatch(text.strip())
    if found is None:
        raise ImportError(f"perm.h declares what is not expected there: {text.strip()}")
    const, name, stars, names = found.groups()
    is_text = const and name == "char" and stars == "*"
    kind = ctypes.c_char_p if is_text else ctypes.c_void_p if stars else _TYPES[name]
    return [(each, kind) for each in (names or "").replace("*", "").split(", ")]


def _types(text: str) -> list[Any]:
    return [] if text == "void" else [kind for part in text.split(",") for _, kind in _declared(part)]


def _defined(found: re.Match[str]) -> dict[str, Any]:
    """What a definition adds to this module."""
    if name := found["enum"]:
        _TYPES[name] = ctypes.c_int
        return {name: int(number) for name, number in re.findall(r"PERM_(\w+) = (\d+)", found["constants"])}
    if name := found["struct"]:
        fields = [field for part in found["fields"].split(";")[:-1] for field in _declared(part)]
        name = "".join(word.title() for word in name.split("_")[1:])
        return {name: type(name, (ctypes.Structure,), {"_fields_": fields})}
    if name := found["callback"]:
        _TYPES[name] = ctypes.CFUNCTYPE(_TYPES[found["returned"]], *_types(found["taken"]))
        return {name.removeprefix("perm_").upper(): _TYPES[name]}
    SIGNATURES[found["function"]] = _types(found["result"])[0], _types(found["arguments"])
    return {}


HEADERS = sorted(Path(__file__).parent.glob("*.h"))
for _header in HEADERS:
    _code = re.sub(r"/\*.*?\*/", "", _header.read_text(encoding="ascii"), flags=re.S)
    for _found in _DEFINITION.finditer(_code):
        globals().update(_defined(_found))
