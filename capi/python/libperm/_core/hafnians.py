"""Hafnians of symmetric matrices: their lines matched to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from libperm._core import quick
from libperm._core.batches import permanents
from libperm._core.errors import Error, InvalidOptionError, renamed
from libperm._core.functions import answered
from libperm._core.quantities import is_flag
from libperm._core.result import Result
from libperm._core.scalars import Number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Unpack

    from libperm._core.options import Options


_NAMES = {"row_unmatched": "loops", "row_multiplicity": "multiplicity"}


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
    """haf(A): the sum, over all ways to put the lines of a symmetric matrix into pairs {i, j}, of the
    products of the A[i, j]; of a graph's adjacency matrix the number of its perfect matchings.

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
    if not options and not full and multiplicity is None and isinstance(loops, (bool, type(None))):
        number = quick.hafnian(A, bool(loops))
        if number is not None:
            return number
    return _answered(A, loops, multiplicity, full, options)


def _answered(A: Any, loops: Any, multiplicity: Any, full: bool, options: Any) -> Number | Result:
    weights = _weights(loops, options, multiplicity)
    try:
        return answered(A, weights, None, full, options)
    except (Error, TypeError) as error:
        raise renamed(error, _NAMES) from None


def _weights(loops: Any, options: dict[str, Any], multiplicity: Any) -> Any:
    """The prices of single lines, where they are given; the rest of what is asked goes into the options."""
    for name in ("function", "row_multiplicity", "col_multiplicity"):
        if options.get(name) is not None:
            raise InvalidOptionError(f"{name}: of a hafnian multiplicity and loops say it")
    are_own = loops is None or is_flag(loops)
    options["function"] = "hafnian" if are_own and not loops else "loop_hafnian"
    if multiplicity is not None:
        options["row_multiplicity"] = multiplicity
    return None if are_own else loops


def loop_hafnian(A: Any, **options: Any) -> Any:
    """hafnian(A, loops=True): a line may stay single, at the price of its entry on the diagonal.

    >>> import libperm
    >>> libperm.loop_hafnian([[1, 1, 1], [1, 1, 1], [1, 1, 1]])
    4
    """
    if not options:
        number = quick.hafnian(A, True)
        if number is not None:
            return number
    loops, multiplicity = options.pop("loops", None), options.pop("multiplicity", None)
    if loops is False:
        raise InvalidOptionError("loops=False: that is hafnian()")
    full = options.pop("full", False)
    return _answered(A, True if loops is None else loops, multiplicity, full, options)


def hafnians(
    batch: Any, *, loops: Any = None, multiplicity: Any = None, full: bool = False, **options: Unpack[Options]
) -> Any:
    """Of many symmetric matrices of one shape, an array (count, n, n) or a list, planned once: as
    permanents() returns them. loops, multiplicity: as in hafnian(), the same for all matrices, or a row for
    each.

    >>> import libperm
    >>> libperm.hafnians([[[0, 2], [2, 0]], [[1, 5], [5, 1]]])
    [2, 5]
    """
    given: Any = options
    weights = _weights(loops, given, multiplicity)
    try:
        return permanents(batch, full=full, row_unmatched=weights, **options)
    except (Error, TypeError) as error:
        raise renamed(error, _NAMES) from None
