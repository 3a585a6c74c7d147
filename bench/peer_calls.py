"""The calls of other packages that answer what libperm.permanent() answers."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

Array = Any
Call = Callable[[Array], complex]

_thewalrus: Any = import_module("thewalrus")
_exqalibur: Any = import_module("exqalibur")
_piquasso: Any = import_module("piquasso._math.permanent")
_qc_permanent: Any = import_module("permanent")


def _by_piquasso(a: Array) -> complex:
    once = np.ones(len(a), dtype=np.int32)
    return complex(_piquasso.permanent(a, once, once))


COMPLEX: dict[str, Call] = {
    "thewalrus": _thewalrus.perm,
    "exqalibur": _exqalibur.permanent_cx,
    "piquasso": _by_piquasso,
    "qc-permanent": _qc_permanent.opt,
}
REAL: dict[str, Call] = {
    "thewalrus": _thewalrus.perm,
    "exqalibur": _exqalibur.permanent_fl,
    "piquasso": lambda a: _by_piquasso(a.astype(complex)),
    "qc-permanent": _qc_permanent.opt,
}
INTEGER: dict[str, Call] = {
    "thewalrus": _thewalrus.perm,
    "exqalibur": _exqalibur.permanent_in,
    "qc-permanent": _qc_permanent.opt,
}


# Of one row more than columns, added up: the numbers themselves are in bench/peer_boson.py.
SUB_PERMANENTS: dict[str, Call] = {
    "exqalibur": lambda a: complex(sum(_exqalibur.sub_permanents_cx(a))),
}


def repeated_by_piquasso(counts: Array) -> Call:
    return lambda a: complex(_piquasso.permanent(a, counts, counts))


class Superman:
    """Its program on a real matrix: what it prints of the value and of its seconds."""

    ANSWER = re.compile(r"Permanent: (\S+) - Computed in: (\S+) seconds")

    def __init__(self, program: Path) -> None:
        self.program = program.absolute()

    def run(self, a: Array, limit: float) -> tuple[complex, float]:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "build").mkdir()
            (Path(folder) / "build/wrapper_pipe").touch()
            file = Path(folder) / "matrix.mtx"
            lines = [f"{i + 1} {j + 1} {x!r}" for (i, j), x in np.ndenumerate(a) for x in [float(x)]]
            head = ["%%MatrixMarket matrix coordinate real general", f"{len(a)} {len(a)} {a.size}"]
            file.write_text("\n".join(head + lines) + "\n")
            command = [str(self.program), "pid=2", f"repo_dir={folder}/", f"filename={file}", "mode=cpu"]
            printed = subprocess.run(
                command, capture_output=True, text=True, timeout=limit, check=False
            ).stdout
        found = self.ANSWER.search(printed)
        if found is None:
            raise ValueError(f"SUPerman printed no permanent: {printed[:200]!r}")
        return complex(float(found[1])), float(found[2])
