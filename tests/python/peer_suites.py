#!/usr/bin/env python3
"""Other packages' own tests of permanents, run against this one: ./dev suites.

Their test files are fetched when asked for, at the versions that bench/peers.py measures: piquasso's from
PyPI, thewalrus' from its repository, for its packages come without. What the tests import is not theirs but
SHIMS below: their functions' names, with this package's answers. Where the two are known to differ the
difference is listed in DIFFERENCES with why; any other failure is one.
"""

from __future__ import annotations

import argparse
import math
import re
import subprocess
import sys
import tarfile
import urllib.request
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import libperm

ROOT = Path(__file__).resolve().parents[2]
THEWALRUS, PIQUASSO = "0.22.0", "8.0.2"
FILES = {
    "thewalrus": ("thewalrus/tests/conftest.py", "thewalrus/tests/test_permanent.py"),
    "piquasso": ("tests/_math/test_permanent.py",),
}
REPOSITORY = f"https://raw.githubusercontent.com/XanaduAI/thewalrus/v{THEWALRUS}/"

# A test's name as pytest has it: why it may fail.
DIFFERENCES = {
    "thewalrus/.*::test_square_exception": "a matrix of fewer rows than columns has a permanent here",
    "thewalrus/.*::test_1x1": "it passes an array of four dimensions, which is no matrix here",
    "thewalrus/.*::TestPermanentWrapper::test_[23]x3?2?.(complex128|float64)": (
        "it compares the bits with its own sum of rounded products; here small permanents are rounded once"
    ),
    "piquasso/.*::test_permanent_rejects_negative_multiplicities": (
        "a ValueError here, too, but its text calls the argument row_multiplicity, or col_multiplicity"
    ),
}


# ---------------------------------------------------------------- what they import


def _by_thewalrus(A: Any, method: str = "bbfg") -> Any:
    assert method in ("ryser", "bbfg")
    return libperm.permanent(A)


def _repeated_by_thewalrus(A: Any, rpt: Any) -> Any:
    return libperm.permanent(A, row_multiplicity=rpt, col_multiplicity=rpt)


def _bristolian(A: Any, E: Any = 0) -> Any:
    """Threshold detectors: by inclusion and exclusion of A's rows, of permanents of A^* A + E."""
    total = 0
    for kept in product((False, True), repeat=len(A)):
        rows = A[np.array(kept, bool)]
        total += (-1) ** (len(A) - sum(kept)) * libperm.permanent(rows.conj().T @ rows + E)
    return total


def _factorials(counts: Any) -> int:
    return math.prod(map(math.factorial, counts))


def _fock_prob(n: Any, m: Any, U: Any) -> float:
    if sum(n) != sum(m):
        raise ValueError("as many photons come out as go in")
    amplitude = libperm.permanent(U, row_multiplicity=m, col_multiplicity=n)
    return abs(amplitude) ** 2 / (_factorials(n) * _factorials(m))


def _fock_threshold_prob(n: Any, d: Any, T: Any) -> float:
    if (len(d), len(n)) != T.shape or T.shape[0] > T.shape[1]:
        raise ValueError("T has a column for each mode that goes in, a row for each that comes out")
    lost = np.eye(len(n)) - T.conj().T @ T
    seen = _written_out(T, np.array(d) > 0, n)
    return float(complex(_bristolian(seen, _written_out(lost, n, n))).real / _factorials(n))


def _by_piquasso(matrix: Any, rows: Any, cols: Any) -> Any:
    return np.complex128(libperm.permanent(matrix, row_multiplicity=rows, col_multiplicity=cols))


def _written_out(matrix: Any, rows: Any, cols: Any) -> Any:
    return np.repeat(np.repeat(matrix, rows, axis=0), cols, axis=1)


SHIMS: dict[str, dict[str, Any]] = {
    "thewalrus": {
        "perm": _by_thewalrus,
        "permanent_repeated": _repeated_by_thewalrus,
        "brs": _bristolian,
        "ubrs": _bristolian,
    },
    "thewalrus._permanent": {"fock_prob": _fock_prob, "fock_threshold_prob": _fock_threshold_prob},
    "piquasso": {},
    "piquasso._math": {},
    "piquasso._math.permanent": {"permanent": _by_piquasso},
    "piquasso._math.linalg": {"assym_reduce": _written_out},
}


def set_up_shims() -> None:
    for name, functions in SHIMS.items():
        module = sys.modules[name] = ModuleType(name)
        module.__path__ = []
        vars(module).update(functions)


# ---------------------------------------------------------------- pytest


class Plugin:
    """Marks what is listed, and has the fixtures of piquasso's conftest that its tests of permanents use."""

    def __init__(self) -> None:
        self.listed: set[str] = set()

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "monkey: of piquasso's tests with random inputs")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            for pattern, why in DIFFERENCES.items():
                if re.search(pattern, item.nodeid):
                    self.listed.add(pattern)
                    item.add_marker(pytest.mark.xfail(reason=why, strict=False))

    @pytest.fixture
    def generate_unitary_matrix(self) -> Any:
        def unitary(n: int) -> Any:
            g = np.random.normal(size=(2, n, n))
            return np.linalg.qr(g[0] + 1j * g[1])[0]

        return unitary

    @pytest.fixture
    def generate_random_fock_state(self) -> Any:
        def state(modes: int, photons: int) -> Any:
            return np.bincount(np.random.randint(0, modes, photons), minlength=modes)

        return state


# ---------------------------------------------------------------- fetching


def fetch_from_pypi(name: str, version: str, to: Path) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", name]
    subprocess.run([*pip, "--dest", str(to), f"{name}=={version}"], check=True)
    with tarfile.open(to / f"{name}-{version}.tar.gz") as archive:
        for file in FILES[name]:
            member = archive.extractfile(f"{name}-{version}/{file}")
            assert member is not None
            (to / Path(file).name).write_bytes(member.read())


def fetch_from_repository(to: Path, checkout: Path | None) -> None:
    for file in FILES["thewalrus"]:
        if checkout is not None:
            content = (checkout / file).read_bytes()
        else:
            with urllib.request.urlopen(REPOSITORY + file) as answer:
                content = answer.read()
        (to / Path(file).name).write_bytes(content)


def is_there(name: str, folder: Path) -> bool:
    return all((folder / name / Path(file).name).exists() for file in FILES[name])


def fetch(folder: Path, thewalrus: Path | None) -> None:
    for name in FILES:
        (folder / name).mkdir(parents=True, exist_ok=True)
    if thewalrus is not None or not is_there("thewalrus", folder):
        fetch_from_repository(folder / "thewalrus", thewalrus)
    if not is_there("piquasso", folder):
        fetch_from_pypi("piquasso", PIQUASSO, folder / "piquasso")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    folder = ROOT / "build" / "peer_suites" / f"{THEWALRUS}-{PIQUASSO}"
    parser.add_argument("--folder", type=Path, default=folder, help="where the files are kept")
    parser.add_argument(
        "--thewalrus", type=Path, help=f"a checkout of its tag v{THEWALRUS}, for want of network"
    )
    args, others = parser.parse_known_args()
    fetch(args.folder, args.thewalrus)
    set_up_shims()
    plugin = Plugin()
    options = ["--import-mode=importlib", "-p", "no:cacheprovider", "-rxX", "--rootdir", str(args.folder)]
    status = pytest.main([*options, *others, *(str(args.folder / name) for name in FILES)], plugins=[plugin])
    unused = DIFFERENCES.keys() - plugin.listed
    if unused:
        print(f"listed, but no test has such a name: {', '.join(sorted(unused))}")
    return int(status) or len(unused)


if __name__ == "__main__":
    sys.exit(main())
