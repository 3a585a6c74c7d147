"""Hafnians of symmetric matrices: their lines matched to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from libperm._core.errors import InvalidOptionError
from libperm._core.functions import compute, permanents
from libperm._core.result import Result, warn_if_missed
from libperm._core.scalars import Number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Unpack

    from libperm._core.options import Options


@overload
def hafnian(
    A: Any,
    *,
    loops: Any = ...,
    multiplicity: Iterable[int] | None = ...,
    full: Literal[False] = ...,
    **options: Unpack[Options],
) -> Number: ...
@overload
def hafnian(
    A: Any,
    *,
    loops: Any = ...,
    multiplicity: Iterable[int] | None = ...,
    full: Literal[True],
    **options: Unpack[Options],
) -> Result: ...
def hafnian(
    A: Any,
    *,
    loops: Any = None,
    multiplicity: Iterable[int] | None = None,
    full: bool = False,
    **options: Unpack[Options],
) -> Number | Result:
    """haf(A): the sum, over all ways to put the lines of a symmetric matrix into pairs {i, j}, of the products
    of the A[i, j]; of a graph's adjacency matrix the number of its perfect matchings.

    loops: True: a line may also stay single, at the price of its entry on the diagonal, which else does not
    count: the loop hafnian. Numbers, one for each line or one for all: at these prices.
    multiplicity: how often each line counts, as photons in modes do; two copies of line i have the entry
    A[i, i].
    A, kinds of numbers, options, full: as in permanent(). Both halves of A are given, and are equal, but for
    rounding: InvalidMatrixError.

    >>> import libperm
    >>> libperm.hafnian([[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]])
    3
    >>> libperm.hafnian([[2, 7], [7, 3]]), libperm.hafnian([[2, 7], [7, 3]], loops=True)
    (7, 13)
    >>> libperm.hafnian([[0.5]], multiplicity=[4])
    0.75
    """
    if options.get("col_multiplicity") is not None or options.get("function") is not None:
        raise InvalidOptionError("of a hafnian: multiplicity, for rows are columns, and loops, not function")
    options["function"] = "hafnian" if loops is None or loops is False else "loop_hafnian"
    if multiplicity is not None:
        options["row_multiplicity"] = multiplicity
    weights = None if isinstance(loops, bool) else loops
    found = compute(A, row_unmatched=weights, **options)
    if full:
        return found
    warn_if_missed(found, 2)
    return found.value


def loop_hafnian(A: Any, **options: Any) -> Any:
    """hafnian(A, loops=True): a line may stay single, at the price of its entry on the diagonal.

    >>> import libperm
    >>> libperm.loop_hafnian([[1, 1, 1], [1, 1, 1], [1, 1, 1]])
    4
    """
    return hafnian(A, **{"loops": True, **options})


def hafnians(batch: Any, *, loops: Any = None, full: bool = False, **options: Unpack[Options]) -> Any:
    """Of many symmetric matrices of one shape, an array (count, n, n) or a list, planned once: as permanents()
    returns them. loops: as in hafnian(); weights are the same for all matrices, or a row for each.

    >>> import libperm
    >>> libperm.hafnians([[[0, 2], [2, 0]], [[1, 5], [5, 1]]])
    [2, 5]
    """
    options["function"] = "hafnian" if loops is None or loops is False else "loop_hafnian"
    weights = None if isinstance(loops, bool) else loops
    return permanents(batch, full=full, row_unmatched=weights, **options)
