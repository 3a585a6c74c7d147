"""Plans: values in every form, batches, gradients, saved ones."""

import gc
import pickle
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from support import ROOT, SEED, by_definition, rng

import libperm
from libperm._core import handle as saving
from libperm._core.library import library

np = pytest.importorskip("numpy")
sparse = pytest.importorskip("scipy.sparse")

D = np.array([[1.0, 2.0], [3.0, 4.0]])


def random_matrix(salt, n=6, density=0.6):
    g = np.random.default_rng(rng(salt).getrandbits(32))
    return np.where(g.random((n, n)) < density, g.normal(size=(n, n)), 0.0) + np.eye(n)


def exact(a):
    return float(by_definition(a.tolist()))


def test_values_in_every_form():
    a = random_matrix(1)
    plan, rows_cols = libperm.Plan(a), a.nonzero()
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
    plan, b = libperm.Plan(a), a.copy()
    b[tuple(np.argwhere(a)[0])] = 0
    for values in (b, sparse.coo_matrix(b), b.tolist()):
        assert plan.permanent(values) == pytest.approx(exact(b), rel=1e-12, abs=1e-12)


def test_entries_outside_of_the_pattern():
    plan = libperm.Plan(np.eye(2))
    with pytest.raises(libperm.InvalidMatrixError, match="row 0, column 1"):
        plan.permanent(np.ones((2, 2)))
    with pytest.raises(libperm.InvalidMatrixError, match="3 values"):
        plan.permanent([1, 2, 3])
    with pytest.raises(libperm.InvalidMatrixError, match="shape"):
        plan.permanent(np.ones((3, 3)))


def test_kinds():
    ones = np.ones((2, 2), int)
    assert libperm.Plan(ones.astype(complex)).permanent([1, 2, 3, 4]) == 10 + 0j
    assert libperm.Plan(ones.astype(float)).permanent(np.arange(4)) == 2.0
    with pytest.raises(TypeError, match="astype"):
        libperm.Plan(ones).permanent([0.5, 1, 1, 1])
    with pytest.raises(TypeError, match="astype"):
        libperm.Plan(ones.astype(float)).permanent([1j, 1, 1, 1])
    with pytest.raises(OverflowError):
        libperm.Plan(ones.tolist()).permanent([2**70, 1, 1, 1])


def test_signs_and_phases_that_the_plan_was_not_told_of():
    a = np.abs(random_matrix(9))
    b = a * np.random.default_rng(10).choice([-1, 1], (6, 6))
    plan = libperm.Plan(a)
    for _ in range(2):
        assert plan.permanent(b) == pytest.approx(exact(b), rel=1e-12)
        assert plan.permanent(b[a != 0]) == pytest.approx(exact(b), rel=1e-12)
        assert plan.permanent(a) == pytest.approx(exact(a), rel=1e-12)
    assert plan.permanents([b[a != 0], a[a != 0]]) == pytest.approx([exact(b), exact(a)], rel=1e-12)
    plan = libperm.Plan(a.astype(complex))
    assert plan.permanent(b * 1j) == pytest.approx(-exact(b), rel=1e-12)


def test_integers_that_no_double_is_equal_to():
    plan = libperm.Plan(np.eye(2))
    for values in ([2**53 + 1, 1], np.array([2**53 + 1, 1])):
        with pytest.raises(ValueError, match="double"):
            plan.permanent(values)
    assert plan.permanent([2**60, 1]) == 2.0**60


def test_explain():
    plan = libperm.Plan(random_matrix(3))
    assert "6" in plan.explain()
    assert plan.explain_json()["n"] == 6
    assert "6x6" in repr(plan)


def test_explain_branches():
    draw = rng(12)
    rows = [{i: 1} for i in range(600)]
    for i in range(1, 600):
        for _ in range(1 + (i % 2 == 0)):
            j = draw.randrange(max(0, i - 12), i)
            rows[i][j] = rows[j][i] = 1
    a = np.zeros((600, 600), dtype=np.int64)
    for i, row in enumerate(rows):
        a[i, list(row)] = 1
    plan = libperm.Plan(a, device="cpu")
    explained = plan.explain_json()
    assert (explained["engine"], explained["form"]) == ("frontier", "branches")
    tree = explained["candidates"][0]["branches"]
    assert tree["joins"] > 0
    assert sum(tree["leaves"].values()) > tree["joins"]
    assert f"frontier branches: middle sets of up to {tree['width']} lines" in plan.explain()
    assert "middle sets" in plan._repr_html_()
    assert libperm.Plan.from_bytes(plan.to_bytes()).explain_json()["candidates"][0]["branches"] == tree


def test_source():
    plan = libperm.Plan(random_matrix(4, 20, 0.5), engine="tree", without="all", device="gpu")
    assert "__global__" in plan.source("sm_90")


def test_a_machine_that_is_not_here():
    h200 = (ROOT / "docs" / "machines" / "h200.json").read_text()
    a = random_matrix(9)
    plan = libperm.Plan(a, machine=h200)
    assert plan.explain().startswith("for: x86-64, 16 cores, 137 GB, NVIDIA H200\n")
    assert plan.explain_json()["threads"] == 16
    with pytest.raises(libperm.InvalidOptionError, match="another machine"):
        plan.permanent()
    assert libperm.Plan.from_bytes(plan.to_bytes()).permanent() == libperm.Plan(a).permanent()


def test_close():
    with libperm.Plan(np.eye(2)) as plan:
        assert plan.permanent() == 1.0
    for use in (plan.permanent, plan.explain, plan.compute):
        with pytest.raises(ValueError, match="closed"):
            use()
    plan.close()
    del plan
    gc.collect()


def test_options_live_as_long_as_the_plan():
    seen = []
    plan = libperm.Plan(
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
    expected = [libperm.permanent(b) for b in batch]
    values = libperm.permanents(batch)
    assert values.dtype == dtype
    assert values == pytest.approx(expected, rel=1e-12)
    plan = libperm.Plan(a)
    full = plan.permanents(batch[:, a != 0], full=True)
    assert full.values == pytest.approx(expected, rel=1e-12)
    assert (full.rel_error_bounds < 1e-9).all()
    assert full.abs_error_bounds.shape == full.exact.shape == (5,)
    assert not full.exact.any()


@pytest.mark.parametrize("dtype", [int, float, complex, object])
def test_a_plan_takes_a_batch_of_whole_matrices(dtype):
    a = np.array([[1, 2, 0], [0, 3, 4], [5, 0, 6]], dtype)
    batch, plan = np.array([a, 2 * a, 0 * a]), libperm.Plan(a)
    for _ in range(2):
        assert list(plan.permanents(batch)) == [58, 464, 0]
        assert list(plan.permanents(batch[:, a != 0])) == [58, 464, 0]
        assert list(plan.permanents(batch, full=True).exact) == [True] * 3
        batch[1, 0, 2] = 7
        with pytest.raises(libperm.InvalidMatrixError, match="matrix 1: row 0, column 2 is not"):
            plan.permanents(batch)
        with pytest.raises(libperm.InvalidMatrixError, match="shape"):
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
        singly = [libperm.permanent(a) for a in batch]
        for options in ({}, {}, {"threads": 1}, {"precision": "auto", "rng": 3}):
            found = list(libperm.permanents(batch, **options))
            assert found == singly
            assert found[::-1] == list(libperm.permanents(batch[::-1], **options))
        across = libperm.permanents(batch.transpose(0, 2, 1))
        assert list(across) == pytest.approx(singly, rel=1e-9)
        full = libperm.permanents(batch, full=True)
        assert list(full.values) == singly
        assert max(full.rel_error_bounds) <= 1e-9


def test_a_batch_that_fails_leaves_the_next_as_it_was():
    batch = np.random.default_rng(12).normal(size=(4, 6, 6))
    expected = libperm.permanents(batch)
    for bad in (np.nan, np.inf):
        broken = batch.copy()
        broken[2, 1, 1] = bad
        with pytest.raises(libperm.InvalidMatrixError, match="matrix 2"):
            libperm.permanents(broken)
        assert (libperm.permanents(batch) == expected).all()


def test_batches_of_other_kinds():
    a = [np.array([[1, 2], [3, 4]]), np.array([[5, 0], [7, 8]])]
    assert libperm.permanents(a) == [10, 40]
    assert libperm.permanents(np.array(a)) == [10, 40]
    assert libperm.permanents(np.array(a) == 1) == [0, 0]
    floats = libperm.permanents([sparse.csr_matrix(x.astype(float)) for x in a])
    assert floats.dtype == float
    assert floats.tolist() == [10.0, 40.0]
    assert libperm.permanents([[[1.0, 2], [3, 4]], [[5, 0], [7, 8]]]) == [10.0, 40.0]
    long = [[[10**30, 1], [1, 1]], [[1, 0], [0, 10**31]]]
    assert libperm.permanents(long) == [10**30 + 1, 10**31]
    assert libperm.permanents([]) == []
    assert libperm.permanents(np.ones((0, 2, 2))).shape == (0,)


def test_batch_errors():
    plan = libperm.Plan(np.eye(2))
    with pytest.raises(libperm.InvalidMatrixError, match="nan|NaN"):
        plan.permanents(np.array([[1.0, 2.0], [1.0, np.nan]]))
    with pytest.raises(libperm.InvalidMatrixError, match="shape"):
        plan.permanents(np.ones((2, 3)))
    with pytest.raises(libperm.InvalidMatrixError, match="matrix 1 has shape"):
        libperm.permanents([np.eye(2), np.eye(3)])
    assert np.isinf(plan.permanents(np.full((3, 2), 1e300))).all()


def needs(function):
    """Libraries before it have none, and that is said."""
    return pytest.mark.skipif(
        not hasattr(library, function), reason=f"libperm {libperm.version()} has no {function}"
    )


@pytest.mark.skipif(hasattr(library, "perm_plan_gradient"), reason="it is there")
def test_no_gradient():
    with pytest.raises(libperm.UnsupportedError, match="perm_plan_gradient"):
        libperm.gradient(np.eye(2))


@needs("perm_plan_gradient_batch")
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("shape", [(3, 5, 5), (70, 3, 3), (2, 2, 4), (2, 0, 0)])
def test_gradients(dtype, shape):
    g = np.random.default_rng(SEED + shape[0])
    batch = g.normal(size=shape).astype(dtype) * (1 if dtype is float else 1 + 2j)
    batch[0, :1, :1] = 0
    found = libperm.gradients(batch)
    assert (found.shape, found.dtype) == (shape, dtype)
    full = libperm.gradients(batch[:, ::-1, ::-1], full=True)
    assert (full.error_bounds >= 0).all()
    for k, a in enumerate(batch):
        for i, j in np.ndindex(shape[1:]):
            minor = libperm.permanent(np.delete(np.delete(a, i, 0), j, 1), precision="dd")
            assert found[k, i, j] == pytest.approx(minor, rel=1e-9, abs=1e-12)
            at = k, shape[1] - 1 - i, shape[2] - 1 - j
            assert abs(full.derivatives[at] - minor) <= full.error_bounds[at] + 1e-15 * abs(minor)
        assert full.permanent.values[k] == pytest.approx(libperm.permanent(a), rel=1e-9)


@needs("perm_plan_gradient_batch")
def test_gradients_of_a_plan():
    a = random_matrix(8, 5)
    plan, many = libperm.Plan(a), np.random.default_rng(SEED).normal(size=(9, np.count_nonzero(a)))
    values, derivatives = plan.gradients(many, with_permanents=True)
    for row, value, derivative in zip(many, values, derivatives):
        alone = plan.gradient(row, with_permanent=True)
        assert value == alone[0]
        assert (derivative == alone[1]).all()
    with pytest.raises(libperm.InvalidMatrixError, match="matrix 1 of the batch"):
        plan.gradients(np.array([many[0], many[1] * np.nan]), with_permanents=True)
    with pytest.raises(TypeError, match="3 are expected"):
        libperm.gradients(a)
    with pytest.raises(TypeError, match="no double"):
        libperm.gradients(np.full((1, 2, 3), 2**60 + 1))


@needs("perm_plan_gradient")
@pytest.mark.parametrize("dtype", [float, complex])
def test_gradient(dtype):
    a = random_matrix(8, 5).astype(dtype) * (1 if dtype is float else 1 + 2j)
    found = libperm.gradient(a)
    expected = np.zeros_like(a)
    for i, j in np.ndindex(a.shape):
        expected[i, j] = libperm.permanent(np.delete(np.delete(a, i, 0), j, 1))
    assert found.dtype == dtype
    assert np.allclose(found, expected, rtol=1e-9)
    assert np.count_nonzero(found[a == 0]) > 0
    of_sparse = libperm.gradient(sparse.csc_matrix(a))
    assert of_sparse.format == "csc"
    assert np.allclose(of_sparse.toarray(), np.where(a != 0, expected, 0), rtol=1e-9)
    assert np.allclose(libperm.gradient(a.tolist()), expected, rtol=1e-9)
    value, derivatives = libperm.Plan(a).gradient(with_permanent=True)
    assert value == pytest.approx(libperm.permanent(a), rel=1e-9)
    assert np.allclose(derivatives, expected[a != 0], rtol=1e-9)


@needs("perm_plan_gradient")
@pytest.mark.parametrize("phase", [1, 1 + 2j])
def test_bounds_of_a_gradient(phase):
    a = random_matrix(8, 5) * phase
    found = libperm.gradient(a, full=True)
    assert isinstance(found, libperm.Gradient)
    assert (found.derivatives == libperm.gradient(a)).all()
    assert found.error_bounds.dtype == float
    for i, j in np.argwhere(a):
        minor = np.delete(np.delete(a, i, 0), j, 1)
        error = found.derivatives[i, j] - libperm.permanent(minor, precision="dd")
        assert abs(error) <= found.error_bounds[i, j] < 1e-11
    assert found.permanent.re == pytest.approx(libperm.permanent(a).real, rel=1e-12)
    of_sparse = libperm.gradient(sparse.csc_matrix(a), full=True)
    assert of_sparse.error_bounds.format == "csc"
    of_plan = libperm.Plan(a).gradient(full=True)
    assert (of_plan.error_bounds == of_sparse.error_bounds.toarray()[a != 0]).all()
    assert libperm.gradient([[1, 2], [3, 4]], full=True).error_bounds == [[0.0, 0.0], [0.0, 0.0]]


@needs("perm_plan_gradient")
def test_a_gradient_too_large_is_refused_at_once():
    start = time.monotonic()
    with pytest.raises(libperm.MemoryRefusedError, match="raise the limit: memory_limit"):
        libperm.gradient(np.random.default_rng(SEED).normal(size=(45, 45)), memory_limit="15G")
    assert time.monotonic() - start < 5


@needs("perm_plan_gradient")
def test_a_full_gradient_takes_little_memory():
    a = np.random.default_rng(3).normal(size=(18, 18))
    found = libperm.gradient(a, memory_limit="4M", full=True)
    assert found.permanent.engine == "glynn"
    assert np.allclose((a * found.derivatives).sum(axis=1), found.permanent.re, rtol=1e-8)
    assert (libperm.gradient(a) == found.derivatives).all()


@needs("perm_plan_gradient")
def test_gradient_of_integers():
    found = libperm.gradient([[1, 2], [3, 4]])
    assert found == [[4.0, 3.0], [2.0, 1.0]]


@needs("perm_plan_gradient")
def test_gradient_of_a_plan_of_integers():
    large = 2**60 + 1  # no double
    plan = libperm.Plan([[1, large], [3, 4]])
    value, derivatives = plan.gradient(with_permanent=True)
    assert (value, derivatives) == (4 + 3 * large, [4, 3, large, 1])
    assert all(type(x) is int for x in derivatives)
    assert plan.gradient([large, 1, 1, large], with_permanent=True) == (large**2 + 1, [large, 1, 1, large])
    found = libperm.Plan(np.array([[1, large], [3, 4]])).gradient(full=True)
    assert found.derivatives.dtype == object
    assert found.derivatives.tolist() == derivatives
    assert found.permanent.exact
    third = Fraction(1, 3)
    found = libperm.Plan([[third, 1], [1, third]]).gradient(with_permanent=True)
    assert found == (third**2 + 1, [third, 1, 1, third])
    exact = libperm.Plan([[0.5, 0.1], [1.0, 3.0]], precision="exact")
    found = exact.gradient(with_permanent=True)
    assert found == (Fraction(1.5) + Fraction(0.1), [3, 1, Fraction(0.1), Fraction(0.5)])
    counted = libperm.Plan([[1, 2]], row_multiplicity=[2], col_multiplicity=[1, 1])
    assert counted.gradient(with_permanent=True) == (4, [4, 2])
    assert libperm.Plan([[1, 2], [3, 4]], precision="double").gradient(with_permanent=False) == [4, 3, 2, 1]
    with pytest.raises(ValueError, match="batch's derivatives are doubles"):
        exact.gradients([[1.0, 2.0, 3.0, 4.0]], with_permanents=True)


@needs("perm_plan_gradient")
@pytest.mark.parametrize(
    "a",
    [
        [[1, 2], [3, 4]],
        [[Fraction(1, 3), 2], [3, 4]],
        np.array([[0.1, 1.5], [2, 3]]),
        np.array([[1j, 2], [3, 4]]),
    ],
)
def test_gradients_return_alike(a):
    plan, full = libperm.Plan(a), libperm.gradient(a, full=True)
    flat = [x for row in full.derivatives for x in row]
    for with_permanent in (False, True):
        alone = libperm.gradient(a, with_permanent=with_permanent)
        planned = plan.gradient(with_permanent=with_permanent)
        assert type(alone) is type(planned)
        if with_permanent:
            assert alone[0] == pytest.approx(planned[0], rel=1e-12)
            assert planned[0] == pytest.approx(libperm.permanent(a), rel=1e-12)
            assert type(alone[0]) is type(planned[0]) is type(libperm.permanent(a))
            alone, planned = alone[1], planned[1]
        assert type(alone) is type(planned)
        alone = [x for row in alone for x in row]
        same = (lambda x: x) if isinstance(a, list) else (lambda x: pytest.approx(x, rel=1e-12))
        assert alone == same(flat)
        assert list(planned) == same(flat)
    assert list(plan.gradient()) == list(plan.gradient(with_permanent=False))


@needs("perm_plan_gradient_batch")
@pytest.mark.parametrize("shape", [(3, 2, 2), (2, 17, 17)])
def test_gradients_of_batches_return_alike(shape):
    batch = np.random.default_rng(SEED).normal(size=shape)
    plan = libperm.Plan(np.ones(shape[1:]))
    values, derivatives = libperm.gradients(batch, with_permanents=True)
    planned = plan.gradients(batch, with_permanents=True)
    assert np.allclose(values, planned[0], rtol=1e-9)
    assert np.allclose(values, libperm.permanents(batch), rtol=1e-9)
    assert np.allclose(derivatives.reshape(len(batch), -1), planned[1], rtol=1e-9)
    assert (derivatives == libperm.gradients(batch)).all()
    assert (planned[1] == plan.gradients(batch, with_permanents=False)).all()
    assert (planned[1] == plan.gradients(batch)).all()


def test_the_derivatives_beside_a_permanent_beyond_a_double():
    a = np.diag([1e200, 1e200, 1.0])
    value, derivatives = libperm.gradient(a, with_permanent=True)
    assert value == np.inf
    assert derivatives[0, 0] == 1e200
    assert libperm.Plan(a).gradient(with_permanent=True)[0] == np.inf


@pytest.mark.parametrize("phase", [1.0, 1j])
@pytest.mark.parametrize(
    "call",
    [
        lambda a: libperm.permanents(a, full=True),
        lambda a: libperm.permanents(a.tolist(), full=True),
        lambda a: libperm.Plan(a[0]).permanents(a, full=True),
        lambda a: libperm.Plan(a[0]).permanents(a.reshape(len(a), -1), full=True),
        lambda a: libperm.permanents(a, full=True, row_unmatched=0, col_unmatched=0),
        lambda a: libperm.permanents(a, full=True, row_multiplicity=[[1, 1]] * len(a)),
        lambda a: libperm.gradients(a, full=True).permanent,
        lambda a: libperm.Plan(a[0]).gradients(a, full=True).permanent,
        lambda a: libperm.marginals(a.real, 0, 0).result if a.dtype == float else None,
        lambda a: libperm.hafnians(np.block([[0 * a, a], [a.transpose(0, 2, 1), 0 * a]]), full=True),
    ],
)
def test_what_a_batch_tells_of_numbers_beyond_doubles(call, phase):
    a = np.array([np.full((2, 2), x) for x in (2.0**-600, 2.0**-530, 1e-160, 1.0, 2.0**600)]) * phase
    a[2, 0, 0] *= 1.5
    found = call(a)
    if found is None:
        return
    for k, matrix in enumerate(a):
        exact = by_definition(matrix.tolist())
        exact = exact[0] if phase == 1j else exact  # the imaginary part of which is 0
        value, mantissa = complex(found.values[k]).real, complex(found.mantissas[k]).real
        error = abs(Fraction(value) - exact) if np.isfinite(value) else np.inf
        assert error <= found.abs_error_bounds[k]
        if np.isfinite(found.rel_error_bounds[k]):
            assert error <= Fraction(found.rel_error_bounds[k]) * abs(exact)
        assert not (found.exact[k] and error)
        if np.isfinite(mantissa) and mantissa and not 0 < abs(value) < 2.0**-1022:
            near = Fraction(mantissa) * Fraction(2) ** int(found.exp2[k])
            assert abs(near - exact) <= abs(exact) * Fraction(1, 10**12)
    assert not found.exact[0]
    assert not found.exact[4]
    assert found.rel_error_bounds[0] == found.rel_error_bounds[4] == np.inf


def test_batches_of_doubles_alone_have_these_as_mantissas():
    for a in (np.full((3, 2, 2), 0.75), np.full((3, 2, 2), 0.75j), np.ones((0, 2, 2))):
        found = libperm.gradients(a, full=True).permanent
        assert np.array_equal(found.mantissas * 2.0**found.exp2, found.values)


def test_a_batch_of_nothing():
    for found in (
        libperm.permanents([], full=True),
        libperm.hafnians([], full=True),
        libperm.permanents([], full=True, row_multiplicity=[]),
        libperm.permanents(np.zeros((0, 2, 2)), full=True),
        libperm.Plan(D).permanents(np.zeros((0, 2, 2)), full=True),
    ):
        assert isinstance(found, libperm.Batch)
        assert [len(x) for x in vars(found).values()] == [0] * 6
    assert libperm.permanents([]) == libperm.hafnians([]) == []


@pytest.mark.parametrize("dtype", ["float64", "complex128", "int64", "float32"])
@pytest.mark.parametrize(
    "make",
    [sparse.csr_array, sparse.coo_array, sparse.csc_array, sparse.bsr_array, sparse.dia_array, np.array],
)
def test_a_plan_keeps_what_it_was_made_of(make, dtype):
    a = make(D.astype(dtype))
    plan, estimation = libperm.Plan(a), libperm.Estimation(a)
    saved, pattern, drawn = plan.to_bytes(), plan.pattern, estimation.run().value
    for part in ("data", "indices", "indptr", "row", "col"):
        if isinstance(getattr(a, part, None), np.ndarray):
            getattr(a, part)[...] = 0
    if isinstance(a, np.ndarray):
        a[...] = 0
    assert plan.permanent() == plan.compute().value == 10
    assert plan.gradient(with_permanent=False).tolist() == [4, 3, 2, 1]
    assert plan.gradient(full=True).derivatives.tolist() == [4, 3, 2, 1]
    assert plan.pattern == pattern == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert plan.permanent(np.ones((2, 2), int)) == 2
    assert plan.to_bytes() == saved
    assert libperm.Plan.from_bytes(saved).permanent() == 10
    assert estimation.run().value == drawn


def test_a_plan_keeps_its_options():
    rows, without = [2, 0], ["d1"]
    plan = libperm.Plan(D, row_multiplicity=rows, col_multiplicity=np.array([1, 1]), without=without)
    saved, entries = plan.to_bytes(), plan.marginals().entries.tolist()
    rows[:], without[:] = [1, 1], ["nothing"]
    assert plan.permanent() == plan.marginals().value == 4
    assert plan.marginals().entries.tolist() == entries
    assert plan.to_bytes() == saved
    assert libperm.Plan.from_bytes(saved).permanent() == 4


def minors(a):
    """The derivatives by definition."""
    n = range(len(a))
    return [[by_definition([[a[k][m] for m in n if m != j] for k in n if k != i]) for j in n] for i in n]


def test_exact_derivatives_beyond_4300_digits():
    draw = rng(441)
    a = [[10**300 + draw.randrange(10**300) for _ in range(5)] for _ in range(5)]
    assert libperm.gradient(a) == libperm.gradient(np.array(a, object)).tolist() == minors(a)
    assert libperm.Plan(a).gradient(full=True).derivatives == [x for row in minors(a) for x in row]
    ratios = [[Fraction(x, draw.randrange(1, 10**300)) for x in row[:4]] for row in a[:4]]
    assert libperm.gradient(ratios) == minors(ratios)
    tall = [[row[j] for j in range(4)] for row in a]
    rows = range(5)
    left = [by_definition([tall[k] for k in rows if k != i]) for i in rows]
    assert libperm.sub_permanents(tall).tolist() == left
    n, x = 8, 10**400
    found = libperm.gradient([[x] * n] * n, function="hafnian")
    assert found[0][1:] == [15 * x**3] * (n - 1)


@needs("perm_plan_save")
@pytest.mark.parametrize(
    "a", [np.array([[1.5, 2], [0, 3]]), [[1, 2], [3, 10**30]], np.array([[1j, 2], [3, 4]])]
)
def test_saved(a):
    plan = libperm.Plan(a, threads=1, row_multiplicity=[1, 1], col_multiplicity=[1, 1])
    saved = plan.to_bytes()
    for again in (libperm.Plan.from_bytes(saved), pickle.loads(pickle.dumps(plan))):
        assert again.permanent() == plan.permanent()
        assert again.permanent([1] * again.nnz) == plan.permanent([1] * plan.nnz)
        assert again.explain_json()["threads"] == 1


@needs("perm_plan_save")
@pytest.mark.parametrize("a", [D, D * 1j, D.astype(int), sparse.csr_array(D), D.tolist()], ids=repr)
def test_a_saved_plan_answers_in_the_same_types(a):
    plan = libperm.Plan(a)
    for again in (libperm.Plan.from_bytes(plan.to_bytes()), pickle.loads(pickle.dumps(plan))):
        for ask in (
            lambda p: p.permanent(),
            lambda p: p.compute().value,
            lambda p: p.gradient(with_permanent=False),
            lambda p: p.gradient(full=True).derivatives,
            lambda p: p.hessian_product([1, 0, 0, 0]),
            lambda p: p.marginals([1, 1, 1, 1]).entries,
            lambda p: p.permanents(np.ones((2, 4), int)),
        ):
            found, expected = ask(again), ask(plan)
            assert type(found) is type(expected)
            assert np.array_equal(found, expected)


@needs("perm_plan_save")
def test_saved_with_options_of_every_type():
    for options in (
        {"threads": np.int64(1)},
        {"tolerance": np.float32(1e-5)},
        {"tolerance": Fraction(1, 1000), "threads": np.array(1)},
        {"time_limit": Decimal("30.5"), "memory_limit": np.float64(1e9)},
        {"cache_dir": Path(), "without": {"d1"}},
        {"cache_dir": b".", "rng": np.random.default_rng(3)},
    ):
        plan = libperm.Plan(D, **options)
        again = libperm.Plan.from_bytes(plan.to_bytes())
        assert again.to_bytes() == plan.to_bytes()
        assert again.permanent() == 10


@needs("perm_plan_save")
def test_saved_with_other_options():
    seen = []
    saved = libperm.Plan(random_matrix(5, 22, 1.0), engine="ryser", precision="dd", threads=1).to_bytes()
    again = libperm.Plan.from_bytes(saved, threads=2, memory_limit="1G", progress=lambda *x: seen.append(x))
    assert again.explain_json()["threads"] == 2
    assert again.explain_json()["memory_limit_bytes"] == 1024**3
    assert again.permanent() == libperm.Plan.from_bytes(saved).permanent()
    assert seen
    for other in ("engine", "seed", "row_multiplicity", "engin"):
        with pytest.raises(TypeError, match=f"no option '{other}'"):
            libperm.Plan.from_bytes(saved, **{other: None})
    with pytest.raises(libperm.TimeRefusedError):
        libperm.Plan.from_bytes(saved, time_limit=1e-9).permanent()


@needs("perm_plan_save")
def test_saved_numbers_that_are_no_doubles():
    third = 1 / np.longdouble(3)
    for entry in (third, 2**53 + 1):
        plan = libperm.Plan([[entry, 0.5], [1.0, entry]], precision="exact")
        assert libperm.Plan.from_bytes(plan.to_bytes()).permanent() == plan.permanent()
    if float(third) != third:
        with pytest.raises(ValueError, match="cannot be saved"):
            libperm.Plan(np.array([[third * 1j, 1], [1, 1]])).to_bytes()


def test_no_saved_plan():
    with pytest.raises(ValueError, match="no saved"):
        libperm.Plan.from_bytes(b"something else")


@needs("perm_plan_save")
def test_damaged_bytes_are_told():
    saved = libperm.Plan([[1.5, 2.0], [3.0, 4.0]]).to_bytes()
    for k in range(len(saved)):
        damaged = bytearray(saved)
        damaged[k] ^= 1
        with pytest.raises((ValueError, libperm.Error)):
            libperm.Plan.from_bytes(bytes(damaged))
    with pytest.raises(ValueError, match="damaged or cut off"):
        libperm.Plan.from_bytes(saved[:-1])


@needs("perm_plan_check_matrix")
def test_a_plan_of_another_matrix_is_refused():
    def sealed(head, native):
        content = head + b"\n" + native
        return saving._MAGIC + saving._digest(content) + content

    def parts(matrix):
        return libperm.Plan(matrix).to_bytes()[len(saving._MAGIC) + 64 :].split(b"\n", 1)

    (head, own), (_, larger), (_, whole) = map(parts, (np.eye(3) + 1.5, np.eye(9) + 1, np.full((3, 3), 2)))
    assert libperm.Plan.from_bytes(sealed(head, own)).permanent() == pytest.approx(exact(np.eye(3) + 1.5))
    for native in (larger, whole):
        with pytest.raises(libperm.Error, match="another matrix"):
            libperm.Plan.from_bytes(sealed(head, native))
    for there, forged in ((b'"row_ptr": [0, ', b'"row_ptr": ['), (b'"col_idx": [0, ', b'"col_idx": [')):
        assert there in head
        with pytest.raises(ValueError, match="its matrix is none"):
            libperm.Plan.from_bytes(sealed(head.replace(there, forged), own))


@needs("perm_sub_permanents")
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (1, 0), (13, 12)])
def test_sub_permanents(dtype, shape):
    g = np.random.default_rng(SEED + shape[0])
    batch = g.normal(size=(3, *shape)).astype(dtype) * (1 if dtype is float else 1 - 1j)
    found, bounds = libperm.sub_permanents(batch, full=True)
    axis = 0 if shape[0] > shape[1] else 1
    assert (found.shape, found.dtype) == ((3, max(shape)), dtype)
    for a, of_a, its_bounds in zip(batch, found, bounds):
        assert (libperm.sub_permanents(a) == of_a).all()
        for line in range(max(shape)):
            minor = np.delete(a, line, axis)
            expected = libperm.permanent(minor, precision="dd") if minor.size else 1
            assert abs(of_a[line] - expected) <= its_bounds[line] + 1e-14 * abs(expected)


@needs("perm_sub_permanents")
def test_sub_permanents_of_repeated_lines():
    a = np.random.default_rng(SEED).normal(size=(3, 3))
    rows, cols = [2, 0, 1], [1, 2, 1]
    found = libperm.sub_permanents(a, row_multiplicity=rows, col_multiplicity=cols)
    for j in range(3):
        others = [c - (j == k) for k, c in enumerate(cols)]
        expected = libperm.permanent(a, row_multiplicity=rows, col_multiplicity=others)
        assert found[j] == pytest.approx(expected, rel=1e-12)
    with pytest.raises(libperm.InvalidMatrixError):
        libperm.sub_permanents(a)
    with pytest.raises(TypeError, match="dimensions"):
        libperm.sub_permanents(a[0])


def test_the_time_limit_is_of_all_rows_of_an_exact_gradient():
    n = 30
    a = [[int((j - i) % n in (0, 1, 4, 9, 11, 16)) for j in range(n)] for i in range(n)]
    with pytest.raises(libperm.TimeRefusedError, match="time limit|time_limit") as caught:
        libperm.Plan(a, time_limit=0.5).gradient()
    assert "perm(A)" not in str(caught.value)  # bounds of a row's own matrix
