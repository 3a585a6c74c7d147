"""Files of numpy, scipy, pandas and gzip, read by the perm command: its answers against the package's own."""

import gzip
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

import libperm

perm = shutil.which("perm")
pytestmark = pytest.mark.skipif(perm is None, reason="no perm command")

RNG = np.random.default_rng(37)
PATTERN = RNG.random((7, 9)) < 0.6
DENSE = np.where(PATTERN, RNG.integers(-9, 10, (7, 9)), 0)
KINDS = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"]


def computed(file: Path, *options: str) -> str:
    assert perm is not None
    run = subprocess.run(
        [perm, "compute", "-q", "--device", "cpu", *options, str(file)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def check(file: Path, matrix: object) -> None:
    expected = libperm.compute(matrix).value
    text = computed(file)
    if isinstance(expected, int):
        assert int(text) == expected
    elif isinstance(expected, Fraction):
        assert Fraction(computed(file, "--precision", "exact")) == expected
    elif isinstance(expected, complex):
        assert complex(text.replace(" ", "").replace("i", "j")) == pytest.approx(expected, rel=1e-9)
    else:
        assert float(text) == pytest.approx(float(expected), rel=1e-9)


def of_kind(kind: str) -> np.ndarray:
    matrix = np.abs(DENSE) if kind[0] in "ub" else DENSE
    if kind[0] == "c":
        matrix = matrix + 1j * np.roll(DENSE, 1)
    elif kind[0] == "f":
        matrix = matrix / 7
    return matrix.astype(kind)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", KINDS)
def test_npy(tmp_path: Path, kind: str, order: str) -> None:
    matrix = of_kind(kind).astype(order + kind)
    for layout in (np.ascontiguousarray, np.asfortranarray):
        np.save(tmp_path / "a.npy", layout(matrix))
        check(tmp_path / "a.npy", of_kind(kind))


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_npy_versions(tmp_path: Path, version: tuple) -> None:
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array(file, DENSE, version=version)
    check(tmp_path / "a.npy", DENSE)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
def test_npz_of_scipy(tmp_path: Path, make: type, form: str, compressed: bool) -> None:
    for kind in KINDS:
        sparse = make(of_kind(kind)).asformat(form)
        sp.save_npz(tmp_path / "a.npz", sparse, compressed=compressed)
        check(tmp_path / "a.npz", of_kind(kind))


def test_npz_of_numpy(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", DENSE)
    check(tmp_path / "a.npz", DENSE)
    np.savez_compressed(tmp_path / "b.npz", matrix=DENSE / 3)
    check(tmp_path / "b.npz", DENSE / 3)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv(tmp_path: Path, separator: str) -> None:
    file = tmp_path / "a.csv"
    np.savetxt(file, DENSE, fmt="%d", delimiter=separator, header="a comment")
    check(file, DENSE)
    np.savetxt(file, DENSE / 7, delimiter=separator)
    check(file, DENSE / 7)
    np.savetxt(file, of_kind("c16"), delimiter=separator)
    check(file, of_kind("c16"))
    pd.DataFrame(DENSE, columns=list("abcdefghi")).to_csv(file, index=False, sep=separator)
    check(file, DENSE)
    fractions = [[Fraction(int(x), 7) for x in row] for row in DENSE]
    np.savetxt(file, np.array(fractions, object), fmt="%s", delimiter=separator)
    check(file, fractions)
    long = [[int(x) * 10**30 for x in row] for row in DENSE]
    np.savetxt(file, np.array(long, object), fmt="%s", delimiter=separator)
    check(file, long)


def test_gzip(tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "a.mtx", sp.coo_array(DENSE))
    np.savetxt(tmp_path / "a.csv", DENSE, fmt="%d", delimiter=",")
    np.save(tmp_path / "a.npy", DENSE)
    for name in ("a.mtx", "a.csv", "a.npy"):
        packed = tmp_path / (name + ".gz")
        packed.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
        check(packed, DENSE)


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("b1", "f4", "c8")])
@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
def test_matrix_market_of_scipy(tmp_path: Path, kind: str, symmetry: str) -> None:
    matrix = of_kind(kind)[:6, :6]
    if symmetry != "general":
        if kind[0] == "u" and symmetry == "skew-symmetric":
            pytest.skip("no number is another's negative")
        matrix = np.tril(matrix, -1) + (1 if symmetry == "symmetric" else -1) * np.tril(matrix, -1).T
    for written in (matrix, sp.coo_array(matrix)):
        scipy.io.mmwrite(tmp_path / "a.mtx", written.astype(kind), symmetry=symmetry, precision=17)
        check(tmp_path / "a.mtx", matrix.astype(kind))


def test_edges_of_networkx(tmp_path: Path) -> None:
    nx = pytest.importorskip("networkx")
    graph = nx.petersen_graph()
    nx.write_edgelist(graph, tmp_path / "a.txt", data=False)
    assert computed(tmp_path / "a.txt", "--format", "edges", "--function", "hafnian") == "6"
    for u, v in graph.edges:
        graph.edges[u, v]["weight"] = (u + 2 * v) / 4
    nx.write_weighted_edgelist(graph, tmp_path / "a.edges")
    expected = libperm.hafnian(nx.to_numpy_array(graph))
    found = computed(tmp_path / "a.edges", "--function", "hafnian")
    assert float(found) == pytest.approx(float(expected), rel=1e-9)


def test_duplicates_are_summed(tmp_path: Path) -> None:
    places = RNG.integers(0, 5, (2, 60))
    for values in (RNG.integers(-9, 9, 60), RNG.standard_normal(60), np.full(60, 2**62)):
        a = sp.coo_array((values, tuple(places)), shape=(5, 5))
        scipy.io.mmwrite(tmp_path / "a.mtx", a, precision=17)
        sp.save_npz(tmp_path / "a.npz", a)
        expected = libperm.compute(a).value
        for name in ("a.mtx", "a.npz"):
            found = computed(tmp_path / name, "--duplicates", "sum")
            if isinstance(expected, int):
                assert int(found) == expected
            else:
                assert float(found) == pytest.approx(float(expected), rel=1e-9)


def test_objects_are_not_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([[Fraction(1, 3)]], object), allow_pickle=True)
    assert perm is not None
    run = subprocess.run([perm, "compute", str(tmp_path / "a.npy")], capture_output=True, text=True)
    assert run.returncode == 2
    assert "not unpickled" in run.stderr


def test_bombs_are_refused(tmp_path: Path) -> None:
    entries = b"%%MatrixMarket matrix coordinate real general\n2000 2000 4000000\n" + b"1 1 1\n" * 4_000_000
    (tmp_path / "a.mtx.gz").write_bytes(gzip.compress(entries))
    np.savez_compressed(tmp_path / "a.npz", np.ones((2000, 2000), np.int8))
    for name in ("a.mtx.gz", "a.npz"):
        assert (tmp_path / name).stat().st_size < 100_000
        assert perm is not None
        run = subprocess.run(
            [perm, "compute", "--memory", "50M", str(tmp_path / name)], capture_output=True, text=True
        )
        assert run.returncode == 3
        assert "--memory" in run.stderr
