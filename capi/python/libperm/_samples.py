"""Matchings drawn with their exact probabilities."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from libperm._call import run
from libperm._library import check, library
from libperm._matchings import weighted_input
from libperm._matrix import read
from libperm._options import Prepared
from libperm._quantities import whole
from libperm._values import as_array

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from libperm._options import RunOptions


def sample(
    A: Any,
    shots: int,
    seed: int = 0,
    row_unmatched: Any = None,
    col_unmatched: Any = None,
    **options: Unpack[RunOptions],
) -> Any:
    """Matchings of A, drawn independently, each with a probability proportional to the product of its
    entries (and of the weights of the lines that are not in it, which are as in marginals()): an int64 array
    (shots, rows) of each row's column, -1 for a row that stays unmatched; without numpy, lists. The same seed
    gives the same samples.

    >>> import libperm
    >>> libperm.sample([[1, 2, 0], [0, 3, 1], [1, 0, 1]], 4, seed=1).tolist()
    [[1, 2, 0], [0, 1, 2], [0, 1, 2], [0, 1, 2]]
    """
    matrix, prepared = read(as_array(A)), Prepared(options, None)
    given, _buffer, _ = weighted_input(matrix, row_unmatched, col_unmatched, options)
    shots, seed = whole("shots", shots, 2**40), whole("seed", seed, 2**64 - 1)
    rows = matrix.shape[0]
    try:
        import numpy as np
    except ImportError:
        flat = (ctypes.c_int64 * max(1, shots * rows))()
        _draw(given, prepared, shots, seed, ctypes.addressof(flat))
        return [list(flat[k * rows : (k + 1) * rows]) for k in range(shots)]
    found = np.empty((shots, rows), np.int64)
    _draw(given, prepared, shots, seed, found.ctypes.data)
    return found


def _draw(given: Any, prepared: Prepared, shots: int, seed: int, columns: int) -> None:
    function, arguments = library.perm_sample, (given.address, prepared.address, shots, seed, columns)
    run(prepared, True, lambda: check(function(*arguments)))
