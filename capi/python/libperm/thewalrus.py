"""The permanents of The Walrus, by its signatures: `from libperm.thewalrus import perm`. It need not be
installed.

>>> import numpy as np
>>> from libperm.thewalrus import perm, permanent_repeated
>>> perm(np.array([[1.0, 2.0], [3.0, 4.0]]))
np.float64(10.0)
>>> permanent_repeated(np.array([[1.0, 2.0], [3.0, 4.0]]), [2, 1])
np.float64(32.0)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from libperm._core.functions import permanent
from libperm._core.quantities import whole
from libperm._core.scalars import Number
from libperm._core.sequences import items_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from libperm._core.options import Options


def perm(A: Any, method: str = "bbfg", **options: Unpack[Options]) -> Number:
    """As thewalrus.perm: of a square numpy array; TypeError for what is none, ValueError for another shape
    and for NaN. method: "bbfg" or "ryser", which libperm does not need to be told. Of integers it is an int,
    exact.
    """
    if not isinstance(A, np.ndarray):
        raise TypeError("Input matrix must be a NumPy array.")
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError("Input matrix must be square.")
    if method not in ("bbfg", "ryser"):
        raise ValueError(f"method is {method!r}: 'bbfg' or 'ryser' is expected")
    return permanent(A, **options)


def permanent_repeated(A: Any, rpt: Iterable[int], **options: Unpack[Options]) -> Number:
    """As thewalrus.permanent_repeated: row i and column i of the square array A are repeated rpt[i] times."""
    counts = [whole("rpt", x, 2**63 - 1) for x in items_of(rpt, "integers")]
    options["row_multiplicity"] = options["col_multiplicity"] = counts
    return permanent(A, **options)
