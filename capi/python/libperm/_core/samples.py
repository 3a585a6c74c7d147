"""Matchings drawn with their exact probabilities."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from libperm._core.call import run
from libperm._core.library import check, library
from libperm._core.matrix import read
from libperm._core.options import Prepared
from libperm._core.quantities import whole
from libperm._core.seeds import seed_of
from libperm._core.unmatched import weighted_input
from libperm._core.values import as_array

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from libperm._core.options import RunOptions


def sample(
    A: Any,
    shots: int,
    rng: Any = None,
    row_unmatched: Any = None,
    col_unmatched: Any = None,
    *,
    function: str | None = None,
    **options: Unpack[RunOptions],
) -> Any:
    """Matchings of A, drawn independently, each with a probability proportional to the product of its
    entries (and of the weights of the lines that are not in it, which are as in marginals()): an int64 array
    (shots, rows) of each row's column, -1 for a row that stays unmatched; without numpy, lists.

    rng: a numpy Generator, or a seed for one, which gives the same samples again, for any number of threads.
    None: others each time, but with a checkpoint, which goes on with those it has.
    function="hafnian", "loop_hafnian": of a graph, given by its symmetric matrix: of each line the one that
    it is matched to, itself where it stays single by its loop.

    >>> import libperm
    >>> libperm.sample([[1, 2, 0], [0, 3, 1], [1, 0, 1]], 4, rng=1).tolist()
    [[0, 1, 2], [0, 1, 2], [1, 2, 0], [0, 1, 2]]
    """
    matrix, prepared = read(as_array(A)), Prepared({**options, "function": function}, None)
    given, _ = weighted_input(matrix, row_unmatched, col_unmatched, options, warns=False)
    drawn_from = 0 if rng is None and options.get("checkpoint") is not None else seed_of(rng)
    shots = whole("shots", shots, 2**40)
    rows = matrix.shape[0]
    prepared.require(8.0 * shots * rows, f"{shots} samples")
    try:
        import numpy as np
    except ImportError:
        flat = (ctypes.c_int64 * max(1, shots * rows))()
        _draw(given, prepared, shots, drawn_from, ctypes.addressof(flat))
        return [list(flat[k * rows : (k + 1) * rows]) for k in range(shots)]
    found = np.empty((shots, rows), np.int64)
    _draw(given, prepared, shots, drawn_from, found.ctypes.data)
    return found


def _draw(given: Any, prepared: Prepared, shots: int, seed: int, columns: int) -> None:
    function, arguments = library.perm_sample, (given.address, prepared.address, shots, seed, columns)
    run(prepared, True, lambda: check(function(*arguments)))
