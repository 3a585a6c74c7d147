"""The compiled extension answers as ctypes does: the same numbers, errors and warnings, whatever it is
given."""

import ctypes
import os
import shutil
import subprocess
import sys
import threading
import tracemalloc
import warnings
from pathlib import Path

import pytest
from support import MULTIPLIER, rng

import libperm
from libperm._core import batch, batches, dense, quick
from libperm._core.inputs import LONG_LINES, LONG_ORDER
from libperm._core.library import library

np = pytest.importorskip("numpy")
sparse = pytest.importorskip("scipy.sparse")

compiled = quick.compiled
pytestmark = pytest.mark.skipif(compiled is None, reason="not built, or PERM_PYTHON_PURE is set")


def generator(salt):
    return np.random.default_rng(rng(salt).getrandbits(32))


G = generator(77)


def some(n, dtype=float, m=None, g=G):
    shape = (m or n, n)
    if dtype is int:
        return g.integers(-9, 9, shape)
    return g.normal(size=shape) + (1j * g.normal(size=shape) if dtype is complex else 0)


def outcome(call):
    """All that a caller can tell one from another by, but for times."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = call()
        except Exception as error:
            value = (type(error), str(error))
    if isinstance(value, libperm.Result):
        value = {name: x for name, x in vars(value).items() if not name.startswith("seconds")}
    if isinstance(value, libperm.Batch):
        value = [(x, getattr(x, "dtype", None)) for x in vars(value).values()]
    told = [
        (w.category, str(w.message), Path(w.filename).name)
        for w in caught
        if w.category is not DeprecationWarning
    ]
    return type(value), repr(value), told


@pytest.fixture
def same(monkeypatch):
    """same(call) calls both ways, and returns what came out."""

    def both(call):
        fast = outcome(call)
        with monkeypatch.context() as patch:
            patch.setattr(quick, "compiled", None)
            patch.setattr(batches, "_idle", {})  # whose plans know of it
            slow = outcome(call)
        assert fast == slow
        return fast

    return both


class Subclass(np.ndarray):
    pass


def read_only(a):
    a.flags.writeable = False
    return a


def unaligned(a):
    raw = np.zeros(a.nbytes + 1, np.uint8)
    found = raw[1:].view(a.dtype).reshape(a.shape)
    found[...] = a
    return found


TINY, HUGE = np.diag([1e-200, 1e-200]), np.diag([1e200, 1e200])
SIGNED_ZERO = np.array([[0.0, -0.0], [1.0, 2.0]])
QUICK = {  # those that the extension takes
    "1 x 1": np.array([[2.5]]), "0 x 0": np.zeros((0, 0)), "0 x 3": np.zeros((0, 3)), "2 x 3": some(3, m=2),
    "zeros": np.zeros((3, 3)), "signed zeros": SIGNED_ZERO, "triangular": np.tril(some(5)),
    "fortran": np.asfortranarray(some(5)), "transposed": some(5, complex).T, "reversed": some(6)[::-1, ::-1],
    "every second": some(8)[::2, ::2], "broadcast": np.broadcast_to(np.arange(4.0), (4, 4)),
    "read-only": read_only(some(4)), "bits of long integers": np.full((4, 4), 2**53 + 1),
    "long integers": np.full((16, 16), -(2**63) + 1), "longlong": some(3, int).astype(np.longlong),
    "cancelling": np.array([[1.0, 1.0], [1.0, -1.0]]), "nearly": np.array([[0.1, 0.3], [0.1, -0.3]]),
    "tall": np.ones((3, 2)), "denormal": np.full((1, 1), 5e-324), "large": np.full((3, 3), 1e100),
}  # fmt: skip
GENERAL = {  # those that it leaves to the general way
    "float32": some(4).astype("f4"), "int32": some(4, int).astype("i4"), "bool": some(4) > 0,
    "big-endian": some(4).astype(">f8"), "long double": some(4).astype("longdouble"),
    "half": some(3).astype("f2"), "unaligned": unaligned(some(3)), "unsigned": np.full((2, 2), 2**64 - 1),
    "objects": np.array([[1, 2], [3, 10**30]], object),
    "strings": np.array([["a"]]), "dates": np.array([["2020-01-01"]], "M8[D]"), "vector": some(4)[0],
    "cube": np.ones((2, 2, 2)), "number": np.array(3.0), "17 x 17": np.eye(17),
    "NaN": np.array([[1.0, np.nan], [1.0, 1.0]]), "infinite": np.array([[1.0, np.inf], [1.0, 1.0]]),
    "complex NaN": np.array([[1.0, complex(0, np.nan)], [1.0, 1.0]]), "too small": TINY, "too large": HUGE,
    "masked": np.ma.masked_array(some(3), some(3) > 0), "np.matrix": np.asmatrix(some(3)),
    "subclass": some(3).view(Subclass), "memoryview": memoryview(some(3)), "list": some(3).tolist(),
    "sparse": sparse.csr_array(some(3)), "None": None, "record": np.zeros((2, 2), [("a", float), ("b", int)]),
}  # fmt: skip


@pytest.mark.parametrize("name", [*QUICK, *GENERAL])
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_odd_inputs(name, same):
    a = QUICK.get(name, GENERAL.get(name))
    is_array = isinstance(a, np.ndarray) or a is None
    assert (compiled.permanent(a) is not None) == (name in QUICK)
    found = same(lambda: libperm.permanent(a))
    same(lambda: libperm.compute(a))
    if name in QUICK:
        assert found[0] in (int, np.float64, np.complex128), found
    if is_array and name != "memoryview":
        same(lambda: libperm.permanent(a, tolerance=1e-12, threads=1))


@pytest.mark.parametrize("name", [*QUICK, *GENERAL])
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_odd_values_of_a_plan(name, same):
    values = QUICK.get(name, GENERAL.get(name))
    shape = getattr(values, "shape", (3, 3))
    n, m = shape[-1] if shape else 1, shape[0] if len(shape) > 1 else 1
    for dtype in (float, complex, int):
        pattern = np.ones((min(n, m), n), dtype)

        def executed(pattern=pattern):
            plan = libperm.Plan(pattern)
            plan.permanent()  # the first is never quick
            return [plan.permanent(), plan.permanent(values), plan.permanent(values)]

        same(executed)
        same(lambda pattern=pattern: libperm.Plan(pattern).compute(values))


@pytest.mark.parametrize("dtype", [float, complex, int])
def test_unaligned_numbers(dtype, same):
    a, ones = unaligned(some(4, dtype)), np.ones((4, 4), dtype)
    assert not a.flags.aligned
    same(lambda: libperm.permanent(a))
    same(lambda: libperm.Plan(ones).permanents(unaligned(np.stack([a, a]))))


@pytest.mark.parametrize("case", range(60 * MULTIPLIER))
def test_random_matrices(case, same):
    r, g = rng(7000 + case), generator(7000 + case)
    dtype, n = r.choice([float, complex, int]), r.randint(1, 9)
    a = np.where(g.random((n, n)) < r.uniform(0.3, 1.5), some(n, dtype, g=g), 0)
    same(lambda: libperm.permanent(a))
    same(lambda: libperm.compute(a))
    signless, count = abs(a).astype(dtype), r.randint(0, 5)
    filled = np.array([np.where(a != 0, some(n, dtype, g=g), 0) for _ in range(count)]).reshape(count, n, n)
    filled = filled.astype(dtype)
    for pattern in (a, signless):
        plan = libperm.Plan(pattern)

        def executed(plan=plan):
            plan._quick = None
            first = [plan.permanent(b) for b in filled]
            entries = filled[:, a != 0]
            again = [plan.permanent(b) for b in entries]
            batches = [plan.permanents(x, full=full) for x in (filled, entries) for full in (False, True)]
            batches += [plan.permanents(np.asfortranarray(x)) for x in (filled, entries)]
            return first, again, [vars(b) if isinstance(b, libperm.Batch) else b for b in batches]

        same(executed)
    same(lambda: libperm.permanents(filled))


OPTIONS = [
    {"engine": "ryser"}, {"precision": "dd"}, {"precision": "exact"}, {"precision": "mpfr:100"}, {"rng": 3},
    {"tolerance": 1e-30, "precision": "double"}, {"without": "all"}, {"without": ["dm"]}, {"threads": 1},
    {"row_multiplicity": [1, 2, 1, 1], "col_multiplicity": [2, 1, 1, 1]}, {"progress": False},
    {"device": None}, {"engine": "warp"}, {"engine": 1}, {"engin": "auto"}, {"threads": 1.5}, {"rng": -1},
    {"threads": True}, {"memory_limit": "1G", "time_limit": "10s"}, {"time_limit": "soon"}, {"machine": "{}"},
    {"tolerance": float("nan")}, {"tolerance": 10**400},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", [float, complex, int])
def test_options(options, dtype, same):
    a = some(4, dtype)
    for _ in range(2):  # as they are parsed, and as they are kept
        same(lambda: libperm.permanent(a, **options))
        same(lambda: libperm.compute(a, **options))
        same(lambda: libperm.permanent(a, full=True, **options))


ONCE = [1] * 4
COUNTS = {  # those that the extension takes
    "lists": ([1, 2, 0, 2], [2, 1, 1, 1]), "tuples": ((1, 2, 0, 2), (2, 1, 1, 1)),
    "rows alone": ([1, 0, 2, 1], None), "columns alone": (None, [1, 0, 2, 1]),
    "arrays": (np.array([5, 5, 5, 5]), np.array([5, 5, 5, 5], "i4")), "ranges": (range(4), range(3, -1, -1)),
    "nothing": ([0] * 4, [0] * 4), "rows of ones": (ONCE, [2] * 4), "bools": ([True] * 4, ONCE),
    "a hundred": ([25] * 4, [97, 1, 1, 1]), "many": ([5, 5, 5, 5], [20, 0, 0, 0]),
    "fewer terms one way": ([100, 0, 0, 0], [25] * 4), "tall": ([2] * 4, ONCE),
}  # fmt: skip
OTHER_COUNTS = {
    "none": (None, None), "too few": ([1, 2, 3], ONCE), "too many": ([1] * 5, ONCE),
    "negative": ([-1, 2, 1, 2], ONCE), "floats": ([1.0] * 4, ONCE),
    "a number": (4, 4), "text": ("1111", ONCE), "an array of floats": (np.ones(4), ONCE),
    "square": (np.ones((4, 4), int), ONCE),
    "huge": ([2**70] * 4, ONCE), "beyond a hundred": ([101, 0, 0, 0], [101, 0, 0, 0]),
    "terms": ([16] * 4, [16] * 4), "a dictionary": ({}, ONCE),
}  # fmt: skip


@pytest.mark.parametrize("counts", [*COUNTS, *OTHER_COUNTS])
@pytest.mark.parametrize("dtype", [float, complex, int])
def test_multiplicities(counts, dtype, same):
    rows, columns = {**COUNTS, **OTHER_COUNTS}[counts]
    a, of_lines = some(4, dtype), {"row_multiplicity": rows, "col_multiplicity": columns}
    reals, integers = quick._DEFAULT.addresses
    is_taken = compiled.permanent(a, reals, integers, rows, columns) is not None
    assert is_taken == (counts in COUNTS or counts == "none")
    if counts == "terms":  # seconds
        return
    same(lambda: libperm.permanent(a, **of_lines))
    same(lambda: libperm.permanent(a, threads=1, tolerance=1e-12, **of_lines))
    same(lambda: libperm.permanent(a, precision="exact", **of_lines))
    same(lambda: libperm.compute(a, **of_lines))


SYMMETRIC = {
    "1 x 1": np.array([[2.5]]), "0 x 0": np.zeros((0, 0)), "zeros": np.zeros((4, 4)),
    "not symmetric": some(4), "half": np.triu(some(4)), "rectangular": np.ones((2, 4)),
    "nearly": np.array([[1.0, 3.0], [3.0 * (1 + 2**-50), 1.0]]), "identity": np.eye(6),
    "too large": np.full((4, 4), 1e200), "long integers": np.full((6, 6), 2**62),
    "NaN": np.array([[1.0, np.nan], [np.nan, 1.0]]), "vector": some(4)[0], "17 x 17": np.eye(17),
    **{
        f"{dtype.__name__} {n}": a + a.T
        for dtype in (float, complex, int)
        for n in (2, 3, 4, 6, 7, 8, 11, 14, 16)
        for a in [some(n, dtype)]
    },
}  # fmt: skip


@pytest.mark.parametrize("name", SYMMETRIC)
def test_hafnians(name, same):
    a = SYMMETRIC[name]
    for loops in (None, False, True):
        same(lambda loops=loops: libperm.hafnian(a, loops=loops))
        same(lambda loops=loops: libperm.hafnian(a, loops=loops, full=True))
        same(lambda loops=loops: libperm.hafnian(a, loops=loops, tolerance=1e-12, threads=1))
    same(lambda: libperm.loop_hafnian(a))
    for counts in ([1] * len(a), [2] + [0] * (len(a) - 1) if len(a) else [], (3,) * len(a)):
        if sum(counts) <= 24:
            same(lambda counts=counts: libperm.hafnian(a, multiplicity=counts))
            same(lambda counts=counts: libperm.loop_hafnian(a, multiplicity=counts))


def test_hafnians_are_answered_without_the_general_way(monkeypatch):
    a = SYMMETRIC["complex 8"]
    expected = libperm.hafnian(a, engine="frontier"), libperm.loop_hafnian(a, engine="frontier")
    monkeypatch.setattr(libperm._core.functions, "read", None)
    found = libperm.hafnian(a), libperm.loop_hafnian(a)
    assert found == pytest.approx(expected, rel=1e-9)
    assert libperm.hafnian(a, multiplicity=[1] * 8, threads=1) == pytest.approx(expected[0], rel=1e-9)


def test_an_iterator_is_read_once():
    a = np.ones((2, 2))
    assert libperm.permanent(a, row_multiplicity=iter([2, 1]), col_multiplicity=iter([1, 2])) == 6.0


@pytest.mark.parametrize("dtype", [float, complex])
def test_small_sums_over_counts_start_no_thread(dtype, monkeypatch):
    monkeypatch.setattr(threading, "Thread", lambda **_: pytest.fail("a thread"))
    for n, each in ((4, 5), (10, 2), (2, 50), (4, 10)):
        counts = [each] * n
        libperm.permanent(some(n, dtype), row_multiplicity=counts, col_multiplicity=counts)
        with monkeypatch.context() as patch:
            patch.setattr(quick, "compiled", None)
            libperm.permanent(some(n, dtype), row_multiplicity=counts, col_multiplicity=counts)


@pytest.mark.parametrize(
    "values",
    [
        some(4, m=3)[:, :3], np.ones((2, 5)), np.ones((2, 2, 3)), np.ones((2, 3, 2)), np.ones((2, 2, 2, 2)),
        np.ones(4), np.ones((3, 4), "f4"), np.ones((3, 2, 2), int), np.ones((3, 2, 2), complex),
        np.ones((0, 4)), np.ones((0, 2, 2)), np.array([[1, 2, np.nan, 4.0]]), np.full((2, 4), 1e300),
        np.full((2, 4), 1e-300), np.ones((2, 2, 2), object), np.broadcast_to(np.arange(4.0), (6, 4)),
        np.ones((9, 4))[::3], np.ones((3, 8))[:, ::2], np.ones((3, 5))[:, :4],
        np.arange(8.0).reshape(2, 2, 2)[::-1], [[1, 2, 3, 4]], [[1.0, 2.0]],
    ],
    ids=lambda x: f"{getattr(x, 'dtype', 'list')}{getattr(x, 'shape', '')}",
)  # fmt: skip
def test_odd_batches(values, same):
    for pattern in (np.ones((2, 2)), np.ones((2, 2), complex), np.ones((2, 2), int), np.eye(2)):

        def executed(pattern=pattern, full=False):
            plan = libperm.Plan(pattern)
            plan.permanent()
            return plan.permanents(values, full=full)

        same(executed)
        same(lambda pattern=pattern: executed(pattern, True))


def test_what_lies_where_the_library_reads_it_is_taken_at_once(monkeypatch):
    plan = libperm.Plan(np.ones((3, 3)))
    plan.permanent()
    monkeypatch.setattr(quick, "check", lambda status: taken.append(status))
    monkeypatch.setattr(batch, "rows_in", lambda *_: pytest.fail("the general way"))
    monkeypatch.setattr(libperm.Plan, "_execute", lambda *_: pytest.fail("the general way"))
    taken = []
    for values in (
        np.ones((2, 9)),
        np.ones((2, 3, 3)),
        np.ones((4, 9))[::2],
        np.ones((2, 3, 3)).transpose(0, 2, 1),
    ):
        plan.permanents(values)
        plan.permanent(values[0])
    assert taken == [0] * 4


def test_the_largest_order():
    assert compiled.LARGEST_ORDER == LONG_ORDER  # beyond it a call is to be interruptible
    assert compiled.MOST_LINES == LONG_LINES


def test_wrong_use_is_told():
    for call in (
        compiled.permanent,
        compiled.compute,
        compiled.execute,
        compiled.execute_batch,
        compiled.plan,
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError, match="PyCapsule"):
        compiled.execute(1, None)
    plan = libperm.Plan(np.ones((2, 2)))
    plan.permanent()
    with pytest.raises(ValueError, match="size"):
        compiled.execute_batch(plan._quick, np.ones((3, 4)), np.empty(2), *[None] * 5)


@pytest.mark.parametrize("dtype", [float, int])
def test_values_of_both_signs_have_a_plan_of_their_own(dtype, same):
    a = np.arange(1, 10).reshape(3, 3).astype(dtype)

    def executed(values):
        plan = libperm.Plan(a)
        found = [plan.permanent(), plan.permanent(a), plan._for_signs is None]
        return *found, plan.permanent(values), plan.permanent(values), plan._for_signs is None

    assert "True, -450" in same(lambda: executed(-a))[1].replace("np.float64(", "").replace(")", "")
    assert same(lambda: executed(-a))[1].endswith("False)")
    assert same(lambda: executed(a + 1))[1].endswith("True)")


class Mallinfo(ctypes.Structure):
    _fields_ = [
        ("before", ctypes.c_size_t * 7),
        ("uordblks", ctypes.c_size_t),
        ("after", ctypes.c_size_t * 2),
    ]


def memory():
    """What malloc has given out, to the byte."""
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = Mallinfo
    return mallinfo2().uordblks


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="no mallinfo2")
def test_nothing_is_left_behind():
    small, plans = [some(2, dtype) for dtype in (float, complex, int)], []
    for a in small:
        plans.append(libperm.Plan(a))
        plans[-1].permanent()
    with_texts = libperm.Plan(small[0], precision="dd")
    with_texts.permanent()
    batch, outside = some(2, m=8).reshape(4, 2, 2), np.ones((3, 3))
    wrong = np.array([[np.nan]])

    def once():
        for a, plan in zip(small, plans):
            compiled.permanent(a)
            plan.permanent(a)
            plan.permanent()
            compiled.execute(plan._quick, outside)
        plans[0].permanents(batch)
        plans[0].permanents(batch, full=True)
        with_texts.permanents(batch)
        compiled.permanent(wrong)
        libperm.permanent(small[0], threads=1)

    def growth(times, measure):
        for _ in range(500):
            once()
        before = measure()
        for _ in range(times):
            once()
        return measure() - before

    references = [sys.getrefcount(x) for x in (small[0], batch, wrong, plans[0]._input)]
    assert growth(2000, memory) < 1 << 15  # the text of a result alone takes 32 bytes each time
    tracemalloc.start()
    try:
        assert growth(500, lambda: tracemalloc.get_traced_memory()[0]) < 4000
    finally:
        tracemalloc.stop()
    assert references == [sys.getrefcount(x) for x in (small[0], batch, wrong, plans[0]._input)]


def test_a_plan_is_freed_with_its_last_user():
    plan = libperm.Plan(np.ones((2, 2)))
    plan.permanent()
    capsule, given = plan._quick, plan._input
    count = sys.getrefcount(given)
    plan.close()
    assert compiled.execute(capsule, None) == 2.0
    del capsule
    assert sys.getrefcount(given) == count - 1
    with pytest.raises(ValueError, match="closed"):
        plan.permanent()


def test_threads():
    cases = [some(n, dtype) for n in (2, 5, 6, 9) for dtype in (float, complex, int)]
    expected = [libperm.permanent(a) for a in cases]
    plans = [libperm.Plan(a) for a in cases]
    by_plan = [plan.permanent() for plan in plans]
    batches = [plan.permanents(np.stack([a, 2 * a])) for plan, a in zip(plans, cases)]
    failures, turns = [], 30 * MULTIPLIER

    def work():
        try:
            for _ in range(turns):
                for a, value, plan, planned, batch in zip(cases, expected, plans, by_plan, batches):
                    assert libperm.permanent(a) == value
                    assert libperm.permanent(a, threads=1) == value
                    assert plan.permanent() == planned
                    assert plan.permanent(a) == planned
                    assert list(plan.permanents(np.stack([a, 2 * a]))) == list(batch)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert not failures


def way_of(folder, **environment):
    show = "import libperm as it; print(it._core.quick.compiled is not None, it.permanent([[1.0]]))"
    path = str(Path(library._name).resolve())
    environment = {**os.environ, "PYTHONPATH": str(folder), "PERM_LIBRARY": path, **environment}
    return subprocess.run(
        [sys.executable, "-c", show], env=environment, capture_output=True, text=True
    ).stdout


def test_the_package_works_without_its_extension(tmp_path):
    folder = Path(libperm.__file__).parent
    assert way_of(folder.parent) == "True 1.0\n"
    assert way_of(folder.parent, PERM_PYTHON_PURE="1") == "False 1.0\n"
    shutil.copytree(folder, tmp_path / "libperm", ignore=shutil.ignore_patterns("*.so", "lib"))
    assert way_of(tmp_path) == "False 1.0\n"


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 13, 15])
def test_minors_are_those_of_the_general_way(n, dtype):
    wide, tall, square = some(n, dtype, m=n + 1), some(n + 1, dtype, m=n), some(n, dtype)
    fast = [compiled.sub_permanents(wide), compiled.sub_permanents(tall), compiled.gradient(square)]
    assert [a.shape for a in fast] == [(n + 1,), (n + 1,), (n, n)]
    assert all(a.dtype == dtype for a in fast)
    assert np.array_equal(fast[0], libperm.sub_permanents(wide, full=True)[0])
    assert np.array_equal(fast[1], libperm.sub_permanents(tall, full=True)[0])
    assert np.array_equal(fast[2], libperm.gradients(square[None])[0])
    assert np.array_equal(fast[2], libperm.gradient(square))
    for other in (square[::-1, ::-1], square.astype("F"), square.tolist(), square[:, :0], np.zeros((n, n))):
        assert n == 1 or compiled.gradient(other) is None
    for other in (square, wide[::-1], wide.astype("F"), np.ones((18, 17)), np.array(3.0), None):
        assert compiled.sub_permanents(other) is None
    infinite = wide.copy()
    infinite[0, 0] = np.inf
    assert compiled.sub_permanents(infinite) is None
    with pytest.raises(libperm.InvalidMatrixError, match="infinite"):
        libperm.sub_permanents(infinite)


# Of a memory limit permanents() counts what it returns.
@pytest.mark.parametrize("options", [{"threads": 1}, {"threads": 2, "time_limit": 60}])
def test_options_that_change_no_result_keep_the_quick_ways(options, monkeypatch):
    square, wide, batch = some(8, float), some(8, complex, m=9), np.stack([some(5, float)] * 3)
    calls = ((libperm.gradient, square), (libperm.sub_permanents, wide), (libperm.permanents, batch))
    expected = [call(a) for call, a in calls]
    for name in ("Dense", "Prepared"):
        monkeypatch.setattr(dense, name, lambda *_: pytest.fail("the general way"))
    monkeypatch.setattr(libperm.Plan, "_of", lambda *_: pytest.fail("the general way"))
    for (call, a), known in zip(calls, expected):
        assert np.array_equal(call(a, **options), known)
    monkeypatch.undo()
    for call, a in calls:
        with pytest.raises(libperm.InvalidOptionError):
            call(a, threads=-1)


@pytest.mark.parametrize("dtype", [float, complex, int])
def test_arrays_in_a_list_are_an_array_of_them(dtype, monkeypatch):
    arrays = [np.round(3 * some(4, dtype)).astype(dtype) for _ in range(5)]
    counts = {"row_multiplicity": [[1, 0, 2, 1]] * 5, "col_multiplicity": [1, 1, 1, 1]}
    for options in ({}, counts, {"row_unmatched": 1.0}):
        expected = libperm.permanents(np.stack(arrays), **options)
        monkeypatch.setattr(batches, "_matrices", lambda *_: pytest.fail("one by one"))
        found = libperm.permanents(arrays, **options)
        monkeypatch.undo()
        assert type(found) is type(expected)
        assert list(found) == list(expected)
    mixed = [arrays[0], arrays[1].tolist(), arrays[2].astype(complex)]
    assert list(libperm.permanents(mixed)) == pytest.approx(list(libperm.permanents(np.stack(arrays[:3]))))
    with pytest.raises(TypeError, match="masked"):
        libperm.permanents([np.ma.masked_array(arrays[0], np.eye(4) > 0)] * 2)
