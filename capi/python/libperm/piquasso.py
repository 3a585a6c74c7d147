"""A connector for Piquasso: its simulators with libperm's permanents.

>>> import piquasso as pq, numpy as np
>>> from libperm.piquasso import LibpermConnector
>>> program = pq.Program([pq.NumberState([1, 1]), pq.Beamsplitter(np.pi / 4).on_modes(0, 1)])
>>> simulator = pq.PassiveSimulator(d=2, connector=LibpermConnector())
>>> state = simulator.execute(program).state
>>> float(state.get_particle_detection_probability((1, 1))) < 1e-15  # Hong, Ou, Mandel
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from piquasso import NumpyConnector

from libperm._core.dense import sub_permanents
from libperm._core.functions import permanent
from libperm._core.options import whole


class LibpermConnector(NumpyConnector):
    """Piquasso's NumpyConnector, whose permanents are libperm's, with proven digits.

    Options, those of libperm.permanent(), are keyword arguments: LibpermConnector(threads=1)."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._options = options

    def permanent(self, matrix: Any, rows: Sequence[int], cols: Sequence[int]) -> Any:
        """Computes that of the matrix with row i repeated rows[i] times and column j cols[j] times."""
        counts = _counts(rows), _counts(cols)
        if sum(counts[0]) != sum(counts[1]):
            raise ValueError(
                f"{sum(counts[0])} rows and {sum(counts[1])} columns, repeated: a square is expected"
            )
        return permanent(matrix, row_multiplicity=counts[0], col_multiplicity=counts[1], **self._options)

    def permanent_laplace(self, matrix: Any, rows: Sequence[int], cols: Sequence[int]) -> Any:
        """For each column j the permanent with one copy of it less, an array; 0 where there is no copy. Of
        columns there is one more than of rows, repeated."""
        counts = _counts(rows), _counts(cols)
        if sum(counts[0]) + 1 != sum(counts[1]):
            raise ValueError(
                f"{sum(counts[0])} rows and {sum(counts[1])} columns, repeated: one more is expected"
            )
        return sub_permanents(matrix, row_multiplicity=counts[0], col_multiplicity=counts[1], **self._options)


def _counts(repeated: Sequence[int]) -> list[int]:
    return [whole("a number of photons", count, 2**63 - 1) for count in repeated]
