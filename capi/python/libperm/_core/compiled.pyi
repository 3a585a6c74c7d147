"""capi/python/compiled: its headers say what each function takes. None: the general way is to be taken."""

from typing import Any

LARGEST_ORDER: int
MOST_LINES: int

def bind(library: int, of_integers: int, /) -> None: ...
def permanent(
    a: Any, of_reals: int = ..., of_integers: int = ..., rows: Any = ..., columns: Any = ..., /
) -> int | float | complex | None: ...
def permanents(batch: Any, numbers: Any, options: int = ..., /) -> bool: ...
def sub_permanents(a: Any, options: int = ..., /) -> Any: ...
def gradient(a: Any, options: int = ..., /) -> Any: ...
def compute(
    a: Any, result: int, of_reals: int = ..., of_integers: int = ..., rows: Any = ..., columns: Any = ..., /
) -> int | None: ...
def plan(
    owner: object,
    plan: int,
    for_signs: int,
    csr: int,
    is_signless: bool,
    seconds: float,
    is_long: bool,
    as_numpy: bool,
    /,
) -> object: ...
def execute(plan: object, values: Any, /) -> int | float | complex | None: ...
def execute_batch(
    plan: object,
    values: Any,
    numbers: Any,
    relative: Any,
    absolute: Any,
    exact: Any,
    mantissas: Any,
    exp2: Any,
    /,
) -> int | None: ...
