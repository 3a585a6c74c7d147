"""Plans: values in every form, batches, gradients, saved ones."""

import gc
import pickle
import time

import pytest
from support import ROOT, by_definition, rng

import perm
from perm import _saving
from perm._library import library

np = pytest.importorskip("numpy")
sparse = pytest.importorskip("scipy.sparse")


def random_matrix(salt, n=6, density=0.6):
    g = np.random.default_rng(rng(salt).getrandbits(32))
    return np.where(g.random((n, n)) < density, g.normal(size=(n, n)), 0.0) + np.eye(n)


def exact(a):
    return float(by_definition(a.tolist()))


def test_values_in_every_form():
    a = random_matrix(1)
    plan, rows_cols = perm.Plan(a), a.nonzero()
    b = 2 * a
    in_order = b[rows_cols]
    same = (b, in_order, list(in_order), b.tolist(), sparse.csc_matrix(b), np.asfortranarray(b))
    for values in (*same, in_order[::-1].copy()[::-1]):
        assert plan.permanent(values) == pytest.approx(64 * exact(a), rel=1e-12)
    assert plan.permanent() == pytest.approx(exact(a), rel=1e-12)
    assert plan.permanent(b[rows_cols].astype(np.float32)) == pytest.approx(64 * exact(a), rel=1e-4)
    assert plan.pattern == list(zip(*map(list, rows_cols)))


def test_fewer_entries_than_the_pattern():
    a = random_matrix(2)
    plan, b = perm.Plan(a), a.copy()
    b[tuple(np.argwhere(a)[0])] = 0
    for values in (b, sparse.coo_matrix(b), b.tolist()):
        assert plan.permanent(values) == pytest.approx(exact(b), rel=1e-12, abs=1e-12)


def test_entries_outside_of_the_pattern():
    plan = perm.Plan(np.eye(2))
    with pytest.raises(perm.InvalidMatrixError, match="row 0, column 1"):
        plan.permanent(np.ones((2, 2)))
    with pytest.raises(perm.InvalidMatrixError, match="3 values"):
        plan.permanent([1, 2, 3])
    with pytest.raises(perm.InvalidMatrixError, match="shape"):
        plan.permanent(np.ones((3, 3)))


def test_kinds():
    ones = np.ones((2, 2), int)
    assert perm.Plan(ones.astype(complex)).permanent([1, 2, 3, 4]) == 10 + 0j
    assert perm.Plan(ones.astype(float)).permanent(np.arange(4)) == 2.0
    with pytest.raises(TypeError, match="astype"):
        perm.Plan(ones).permanent([0.5, 1, 1, 1])
    with pytest.raises(TypeError, match="astype"):
        perm.Plan(ones.astype(float)).permanent([1j, 1, 1, 1])
    with pytest.raises(OverflowError):
        perm.Plan(ones.tolist()).permanent([2**70, 1, 1, 1])


def test_signs_and_phases_that_the_plan_was_not_told_of():
    a = np.abs(random_matrix(9))
    b = a * np.random.default_rng(10).choice([-1, 1], (6, 6))
    plan = perm.Plan(a)
    for _ in range(2):
        assert plan.permanent(b) == pytest.approx(exact(b), rel=1e-12)
        assert plan.permanent(b[a != 0]) == pytest.approx(exact(b), rel=1e-12)
        assert plan.permanent(a) == pytest.approx(exact(a), rel=1e-12)
    assert plan.permanents([b[a != 0], a[a != 0]]) == pytest.approx([exact(b), exact(a)], rel=1e-12)
    plan = perm.Plan(a.astype(complex))
    assert plan.permanent(b * 1j) == pytest.approx(-exact(b), rel=1e-12)


def test_integers_that_no_double_is_equal_to():
    plan = perm.Plan(np.eye(2))
    for values in ([2**53 + 1, 1], np.array([2**53 + 1, 1])):
        with pytest.raises(ValueError, match="double"):
            plan.permanent(values)
    assert plan.permanent([2**60, 1]) == 2.0**60


def test_explain():
    plan = perm.Plan(random_matrix(3))
    assert "6" in plan.explain()
    assert plan.explain_json()["n"] == 6
    assert "6x6" in repr(plan)


def test_source():
    plan = perm.Plan(random_matrix(4, 20, 0.5), engine="tree", without="all", device="gpu")
    assert "__global__" in plan.source("sm_90")


def test_a_machine_that_is_not_here():
    h200 = (ROOT / "docs" / "machines" / "h200.json").read_text()
    a = random_matrix(9)
    plan = perm.Plan(a, machine=h200)
    assert plan.explain().startswith("for: x86-64, 16 cores, 137 GB, NVIDIA H200\n")
    assert plan.explain_json()["threads"] == 16
    with pytest.raises(perm.InvalidOptionError, match="another machine"):
        plan.permanent()
    assert perm.Plan.from_bytes(plan.to_bytes()).permanent() == perm.Plan(a).permanent()


def test_close():
    with perm.Plan(np.eye(2)) as plan:
        assert plan.permanent() == 1.0
    for use in (plan.permanent, plan.explain, plan.compute):
        with pytest.raises(ValueError, match="closed"):
            use()
    plan.close()
    del plan
    gc.collect()


def test_options_live_as_long_as_the_plan():
    seen = []
    plan = perm.Plan(
        random_matrix(5, 22, 1.0), engine="ryser", precision="dd", progress=lambda *x: seen.append(x)
    )
    gc.collect()
    seen.clear()
    plan.permanent()
    assert seen


@pytest.mark.parametrize("dtype", [float, complex])
def test_batch_of_arrays(dtype):
    a = random_matrix(6).astype(dtype)
    g = np.random.default_rng(7)
    batch = a * g.normal(size=(5, 6, 6))
    if dtype is complex:
        batch = batch * np.exp(1j * g.normal(size=(5, 6, 6)))
    expected = [perm.permanent(b) for b in batch]
    values = perm.permanents(batch)
    assert values.dtype == dtype
    assert values == pytest.approx(expected, rel=1e-12)
    plan = perm.Plan(a)
    full = plan.permanents(batch[:, a != 0], full=True)
    assert full.values == pytest.approx(expected, rel=1e-12)
    assert (full.rel_error_bounds < 1e-9).all()
    assert full.abs_error_bounds.shape == full.exact.shape == (5,)
    assert not full.exact.any()


@pytest.mark.parametrize("dtype", [int, float, complex, object])
def test_a_plan_takes_a_batch_of_whole_matrices(dtype):
    a = np.array([[1, 2, 0], [0, 3, 4], [5, 0, 6]], dtype)
    batch, plan = np.array([a, 2 * a, 0 * a]), perm.Plan(a)
    for _ in range(2):
        assert list(plan.permanents(batch)) == [58, 464, 0]
        assert list(plan.permanents(batch[:, a != 0])) == [58, 464, 0]
        assert list(plan.permanents(batch, full=True).exact) == [True] * 3
        batch[1, 0, 2] = 7
        with pytest.raises(perm.InvalidMatrixError, match="matrix 1: row 0, column 2 is not"):
            plan.permanents(batch)
        with pytest.raises(perm.InvalidMatrixError, match="shape"):
            plan.permanents(batch[:, :2])
        batch[1, 0, 2] = 0


@pytest.mark.parametrize("dtype", [int, float, complex])
def test_batches_of_full_arrays_have_the_bits_of_single_calls(dtype):
    g = np.random.default_rng(11)
    for n in (4, 5, 8, 12):
        batch = g.integers(1, 9, (70, n, n)).astype(dtype)
        if dtype is not int:
            batch *= g.normal(size=batch.shape)
        if dtype is complex:
            batch = batch * np.exp(1j * g.normal(size=batch.shape))
        batch[3, 0, 0] = batch[5] = 0
        singly = [perm.permanent(a) for a in batch]
        for options in ({}, {}, {"threads": 1}, {"precision": "auto", "seed": 3}):
            found = list(perm.permanents(batch, **options))
            assert found == singly
            assert found[::-1] == list(perm.permanents(batch[::-1], **options))
        across = perm.permanents(batch.transpose(0, 2, 1))
        assert list(across) == pytest.approx(singly, rel=1e-9)
        full = perm.permanents(batch, full=True)
        assert list(full.values) == singly
        assert max(full.rel_error_bounds) <= 1e-9


def test_a_batch_that_fails_leaves_the_next_as_it_was():
    batch = np.random.default_rng(12).normal(size=(4, 6, 6))
    expected = perm.permanents(batch)
    for bad in (np.nan, np.inf):
        broken = batch.copy()
        broken[2, 1, 1] = bad
        with pytest.raises(perm.InvalidMatrixError, match="matrix 2"):
            perm.permanents(broken)
        assert (perm.permanents(batch) == expected).all()


def test_batches_of_other_kinds():
    a = [np.array([[1, 2], [3, 4]]), np.array([[5, 0], [7, 8]])]
    assert perm.permanents(a) == [10, 40]
    assert perm.permanents(np.array(a)) == [10, 40]
    assert perm.permanents(np.array(a) == 1) == [0, 0]
    floats = perm.permanents([sparse.csr_matrix(x.astype(float)) for x in a])
    assert floats.dtype == float
    assert floats.tolist() == [10.0, 40.0]
    assert perm.permanents([[[1.0, 2], [3, 4]], [[5, 0], [7, 8]]]) == [10.0, 40.0]
    long = [[[10**30, 1], [1, 1]], [[1, 0], [0, 10**31]]]
    assert perm.permanents(long) == [10**30 + 1, 10**31]
    assert perm.permanents([]) == []
    assert perm.permanents(np.ones((0, 2, 2))).shape == (0,)


def test_batch_errors():
    plan = perm.Plan(np.eye(2))
    with pytest.raises(perm.InvalidMatrixError, match="nan|NaN"):
        plan.permanents(np.array([[1.0, 2.0], [1.0, np.nan]]))
    with pytest.raises(perm.InvalidMatrixError, match="shape"):
        plan.permanents(np.ones((2, 3)))
    with pytest.raises(perm.InvalidMatrixError, match="matrix 1 has shape"):
        perm.permanents([np.eye(2), np.eye(3)])
    assert np.isinf(plan.permanents(np.full((3, 2), 1e300))).all()


def needs(function):
    """Libraries before it have none, and that is said."""
    return pytest.mark.skipif(
        not hasattr(library, function), reason=f"libperm {perm.version()} has no {function}"
    )


@pytest.mark.skipif(hasattr(library, "perm_plan_gradient"), reason="it is there")
def test_no_gradient():
    with pytest.raises(perm.UnsupportedError, match="perm_plan_gradient"):
        perm.gradient(np.eye(2))


@needs("perm_plan_gradient")
@pytest.mark.parametrize("dtype", [float, complex])
def test_gradient(dtype):
    a = random_matrix(8, 5).astype(dtype) * (1 if dtype is float else 1 + 2j)
    found = perm.gradient(a)
    expected = np.zeros_like(a)
    for i, j in np.argwhere(a):
        expected[i, j] = perm.permanent(np.delete(np.delete(a, i, 0), j, 1))
    assert found.dtype == dtype
    assert np.allclose(found, expected, rtol=1e-9)
    of_sparse = perm.gradient(sparse.csc_matrix(a))
    assert of_sparse.format == "csc"
    assert np.allclose(of_sparse.toarray(), expected, rtol=1e-9)
    assert np.allclose(perm.gradient(a.tolist()), expected, rtol=1e-9)
    value, derivatives = perm.Plan(a).gradient()
    assert value == pytest.approx(perm.permanent(a), rel=1e-9)
    assert np.allclose(derivatives, expected[a != 0], rtol=1e-9)


@needs("perm_plan_gradient")
@pytest.mark.parametrize("phase", [1, 1 + 2j])
def test_bounds_of_a_gradient(phase):
    a = random_matrix(8, 5) * phase
    found = perm.gradient(a, full=True)
    assert isinstance(found, perm.Gradient)
    assert (found.derivatives == perm.gradient(a)).all()
    assert found.error_bounds.dtype == float
    for i, j in np.argwhere(a):
        minor = np.delete(np.delete(a, i, 0), j, 1)
        error = found.derivatives[i, j] - perm.permanent(minor, precision="dd")
        assert abs(error) <= found.error_bounds[i, j] < 1e-11
    assert found.permanent.re == pytest.approx(perm.permanent(a).real, rel=1e-12)
    of_sparse = perm.gradient(sparse.csc_matrix(a), full=True)
    assert of_sparse.error_bounds.format == "csc"
    assert (of_sparse.error_bounds.toarray() == found.error_bounds).all()
    of_plan = perm.Plan(a).gradient(full=True)
    assert (of_plan.error_bounds == found.error_bounds[a != 0]).all()
    assert perm.gradient([[1, 2], [3, 4]], full=True).error_bounds == [[0.0, 0.0], [0.0, 0.0]]


@needs("perm_plan_gradient")
def test_a_gradient_too_large_is_refused_at_once():
    start = time.monotonic()
    with pytest.raises(perm.MemoryRefusedError, match="raise the limit: memory_limit$"):
        perm.gradient(np.ones((25, 25)), memory_limit="15G")
    assert time.monotonic() - start < 5


@needs("perm_plan_gradient")
def test_gradient_of_integers():
    found = perm.gradient([[1, 2], [3, 4]])
    assert found == [[4.0, 3.0], [2.0, 1.0]]


@needs("perm_plan_save")
@pytest.mark.parametrize(
    "a", [np.array([[1.5, 2], [0, 3]]), [[1, 2], [3, 10**30]], np.array([[1j, 2], [3, 4]])]
)
def test_saved(a):
    plan = perm.Plan(a, threads=1, row_multiplicity=[1, 1], col_multiplicity=[1, 1])
    saved = plan.to_bytes()
    for again in (perm.Plan.from_bytes(saved), pickle.loads(pickle.dumps(plan))):
        assert again.permanent() == plan.permanent()
        assert again.permanent([1] * again.nnz) == plan.permanent([1] * plan.nnz)
        assert again.explain_json()["threads"] == 1


@needs("perm_plan_save")
def test_saved_with_other_options():
    seen = []
    saved = perm.Plan(random_matrix(5, 22, 1.0), engine="ryser", precision="dd", threads=1).to_bytes()
    again = perm.Plan.from_bytes(saved, threads=2, memory_limit="1G", progress=lambda *x: seen.append(x))
    assert again.explain_json()["threads"] == 2
    assert again.explain_json()["memory_limit_bytes"] == 1024**3
    assert again.permanent() == perm.Plan.from_bytes(saved).permanent()
    assert seen
    for other in ("engine", "seed", "row_multiplicity", "engin"):
        with pytest.raises(TypeError, match=f"no option '{other}'"):
            perm.Plan.from_bytes(saved, **{other: None})
    with pytest.raises(perm.TimeRefusedError):
        perm.Plan.from_bytes(saved, time_limit=1e-9).permanent()


@needs("perm_plan_save")
def test_saved_numbers_that_are_no_doubles():
    third = 1 / np.longdouble(3)
    for entry in (third, 2**53 + 1):
        plan = perm.Plan([[entry, 0.5], [1.0, entry]], precision="exact")
        assert perm.Plan.from_bytes(plan.to_bytes()).permanent() == plan.permanent()
    if float(third) != third:
        with pytest.raises(ValueError, match="cannot be saved"):
            perm.Plan(np.array([[third * 1j, 1], [1, 1]])).to_bytes()


def test_no_saved_plan():
    with pytest.raises(ValueError, match="no saved"):
        perm.Plan.from_bytes(b"something else")


@needs("perm_plan_save")
def test_damaged_bytes_are_told():
    saved = perm.Plan([[1.5, 2.0], [3.0, 4.0]]).to_bytes()
    for k in range(len(saved)):
        damaged = bytearray(saved)
        damaged[k] ^= 1
        with pytest.raises((ValueError, perm.Error)):
            perm.Plan.from_bytes(bytes(damaged))
    with pytest.raises(ValueError, match="damaged or cut off"):
        perm.Plan.from_bytes(saved[:-1])


@needs("perm_plan_check_matrix")
def test_a_plan_of_another_matrix_is_refused():
    def sealed(head, native):
        content = head + b"\n" + native
        return _saving._MAGIC + _saving._digest(content) + content

    def parts(matrix):
        return perm.Plan(matrix).to_bytes()[len(_saving._MAGIC) + 64 :].split(b"\n", 1)

    (head, own), (_, larger), (_, whole) = map(parts, (np.eye(3) + 1.5, np.eye(9) + 1, np.full((3, 3), 2)))
    assert perm.Plan.from_bytes(sealed(head, own)).permanent() == pytest.approx(exact(np.eye(3) + 1.5))
    for native in (larger, whole):
        with pytest.raises(perm.Error, match="another matrix"):
            perm.Plan.from_bytes(sealed(head, native))
    for there, forged in ((b'"row_ptr": [0, ', b'"row_ptr": ['), (b'"col_idx": [0, ', b'"col_idx": [')):
        assert there in head
        with pytest.raises(ValueError, match="its matrix is none"):
            perm.Plan.from_bytes(sealed(head.replace(there, forged), own))
