"""What a caller's numbers mean, whatever they come in: read as they are, or refused."""

import os
from collections import UserDict
from decimal import Decimal
from fractions import Fraction

import pytest
from support import MULTIPLIER, SEED

import libperm

np = pytest.importorskip("numpy")
sparse = pytest.importorskip("scipy.sparse")
pd = pytest.importorskip("pandas")
fuzz = pytest.importorskip("fuzz_readers").fuzz


def objects(rows):
    a = np.empty((len(rows), len(rows[0])), object)
    for i, row in enumerate(rows):
        for j, x in enumerate(row):
            a[i, j] = x
    return a


@pytest.mark.parametrize("half", [0.5, Fraction(1, 2), Decimal("0.5"), 0.5 + 0j])
def test_the_kind_is_of_all_entries(half):
    a = np.array([[[1, 2], [3, 4]], [[half, 1], [1, 1]]], object)
    for batch in (a, a[::-1], list(a), a.tolist()):
        assert sorted(map(complex, libperm.permanents(batch)), key=abs) == [1.5, 10]
    found = libperm.permanents(a, full=True)
    assert [complex(x) for x in found.values] == [10, 1.5]
    assert type(libperm.permanents(np.array([[[1, 0.0], [0, 1]]], object))[0]) is np.float64
    assert libperm.permanents(np.array([[[Fraction(1, 3), 0], [0, 1]]], object)) == [Fraction(1, 3)]


INT64 = 2**63 - 1


@pytest.mark.parametrize(
    ("dtype", "terms", "total"),
    [
     ("u1", (200, 100), 300), ("i1", (127, 127), 254), ("i1", (-128, -128), -256),
     ("u4", (2**31,) * 2, 2**32),
     ("i8", (INT64, 1), 2**63), ("i8", (-INT64 - 1, -1), -(2**63) - 1), ("u8", (2**64 - 1, 1), 2**64),
     ("?", (True, True), 2), ("u2", (65535,) * 5, 5 * 65535),
     ("f4", (2.0**24, 1.0), 2**24 + 1), ("f8", (1.0, 1e-30), 1 + Fraction(1e-30)),
     ("f8", (0.1, 0.2), Fraction(0.1) + Fraction(0.2)), ("f8", (1.0, 1e-30, -1.0), Fraction(1e-30)),
     ("f8", (1e308, 1e308), 2 * Fraction(1e308)), ("g", (0.1, 0.2), Fraction(0.1) + Fraction(0.2))],
)  # fmt: skip
@pytest.mark.parametrize("format", ["coo", "csr", "csc", "bsr"])
def test_duplicates_of_sparse_matrices_are_summed_exactly(dtype, terms, total, format):
    data = np.array([*terms, 1], dtype)
    place = np.array([*(0 for _ in terms), 1])
    if format == "coo":
        a = sparse.coo_array((data, (place, place)), shape=(2, 2))
    elif format == "bsr":
        a = sparse.bsr_array((data[:, None, None], place, [0, len(terms), len(data)]), shape=(2, 2))
    else:
        make = getattr(sparse, f"{format}_array")
        a = make((data, place, [0, len(terms), len(data)]), shape=(2, 2))
    assert libperm.permanent(a, precision="exact") == total
    assert libperm.Plan(a, precision="exact").permanent() == total
    assert libperm.permanents([a, a], precision="exact") == [total, total]
    assert libperm.matchings(a, precision="exact")[2] == total
    of_ones = libperm.Plan(sparse.coo_array(np.eye(2, dtype=object if dtype == "g" else float).astype(dtype)))
    try:
        assert float(of_ones.permanent(a)) == float(total)
    except (OverflowError, ValueError):  # refused: more than the plan's type holds
        assert isinstance(total, Fraction) or abs(total) >= 2**63
    assert len(a.data) == len(terms) + 1


def test_duplicates_of_complex_numbers_are_summed_exactly():
    a = sparse.coo_array(([0.1 + 1j, 0.2 - 1j, 1e-30j, 1j], ([0, 0, 0, 1], [0, 0, 0, 1])))
    found = libperm.compute(a)
    assert found.exact or found.rel_error_bound < 1e-9
    re, im = Fraction(0.1) + Fraction(0.2), Fraction(1e-30)
    assert abs(complex(found) - complex(-im, re)) < 1e-15
    assert libperm.compute(a).re == pytest.approx(-1e-30, rel=1e-9)


NOTHING = [None, "", [], (), "1", b"", {}, np.array([]), np.timedelta64(1, "D"), np.float16(1), object()]


@pytest.mark.parametrize("nothing", NOTHING, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("others", [1, 0.5, Fraction(1, 2)])
def test_what_is_no_number_is_refused_in_arrays_and_lists(nothing, others):
    rows = [[others, others], [others, nothing]]
    a, ones = objects(rows), libperm.Plan([[1.0, 1.0], [1.0, 1.0]])
    plan_of_some = libperm.Plan([[1.0, 1.0], [1.0, 0.0]])
    column = np.empty(2, object)
    column[:] = [others, nothing]
    for call in (
        libperm.permanent, libperm.compute, libperm.Plan, libperm.bounds, libperm.estimate, libperm.gradient,
        libperm.matchings, libperm.marginals, libperm.sub_permanents, libperm.Periodic, ones.permanent,
        plan_of_some.permanent, lambda x: libperm.sample(x, 1), lambda x: libperm.permanents([x]),
        lambda x: libperm.permanent([[1, 1], [1, 1]], row_unmatched=x[1], col_unmatched=1),
        lambda x: libperm.marginals([[1, 1], [1, 1]], row_unmatched=x[1], col_unmatched=1),
        lambda x: libperm.permanent([[1, 1], [1, 1]], row_multiplicity=x[1]),
        lambda x: libperm.permanent_of_product(x, [[1, 1], [1, 1]]),
        lambda x: libperm.permanent_of_product([[1, 1], [1, 1]], x),
    ):  # fmt: skip
        for given in (a, rows, [a[0], a[1]], objects([rows[1], rows[0]])[::-1]):
            with pytest.raises((TypeError, libperm.InvalidMatrixError)) as caught:
                call(given)
            assert isinstance(caught.value, TypeError) or "dimensions" in str(caught.value), caught.value
    for call in (
        libperm.permanents, libperm.gradients, libperm.marginals, libperm.sub_permanents, ones.permanents,
        plan_of_some.permanents, lambda x: ones.gradients(x, with_permanents=False),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            call(a[None])
        with pytest.raises(TypeError):
            call(np.repeat(objects([[1.0, 1.0], [1.0, None]])[None], 3, axis=0))


def test_what_has_no_order_or_no_numbers_is_refused_by_name():
    nx = pytest.importorskip("networkx")
    graph = nx.grid_2d_graph(4, 4)
    few = nx.path_graph(3)  # whose nodes are ints
    plan = libperm.Plan([[1, 1], [1, 1]])
    calls = [
        libperm.permanent, libperm.permanents, libperm.compute, libperm.Plan, libperm.bounds,
        libperm.gradient, libperm.matchings, libperm.marginals, libperm.sub_permanents,
        libperm.Periodic, libperm.gradients, plan.permanent, plan.permanents, lambda x: libperm.sample(x, 1),
        lambda x: libperm.permanent([x, x]), lambda x: libperm.permanents([[x, x]]),
        lambda x: libperm.permanent_of_product(x, x), lambda x: libperm.permanent_of_product([x, x], [x, x]),
        lambda x: plan.permanents([x, x]), lambda x: libperm.sub_permanents([x, x]),
        lambda x: libperm.permanent([[1, 1], [1, 1]], row_multiplicity=x),
        lambda x: libperm.compute([[1, 1], [1, 1]], row_multiplicity=x),
        lambda x: libperm.permanent(np.ones((2, 2)), row_multiplicity=x),
        lambda x: libperm.permanent([[1, 1], [1, 1]], row_unmatched=x, col_unmatched=1),
        lambda x: libperm.marginals(np.ones((2, 2)), row_unmatched=x, col_unmatched=1),
        lambda x: libperm.marginals(np.ones((2, 2, 2)), row_unmatched=x, col_unmatched=1),
    ]  # fmt: skip
    for given, words in [
        (graph, "libperm.networkx"), (few, "libperm.networkx"), (nx.MultiGraph(few), "libperm.networkx"),
        ({(0, 0): 1, (1, 1): 2}, "keys"), ({0: 1, 1: 2}, "keys"), (UserDict({0: 1, 1: 2}), "keys"),
        ({1, 2}, "order"), (frozenset([1, 2]), "order"), ({0: 1, 1: 2}.keys(), "order"),
        (b"12", "bytes"), (bytearray(b"12"), "bytearray"), ("12", "str|is '12'"),
    ]:  # fmt: skip
        for call in calls:
            with pytest.raises((TypeError, libperm.InvalidMatrixError), match=words):
                call(given)
    assert libperm.permanent(iter([iter([1, 2]), iter([3, 4])])) == 10
    assert libperm.permanents(iter([[[1, 2], [3, 4]]])) == [10]
    for two in (2, 2.0, 2j, Fraction(2)):
        once = iter([iter([1, two]), iter([3, 4]), iter([5, 6])])
        assert list(libperm.sub_permanents(once)) == [38, 6 + 5 * two, 4 + 3 * two]
        assert libperm.gradient(iter([iter([1, two]), iter([3, 4])])) == [[4, 3], [two, 1]]
    with pytest.raises(TypeError):
        libperm.permanent(iter([1, 2]))
    with pytest.raises(TypeError, match="one matrix"):
        libperm.permanents(sparse.csr_matrix(np.eye(2)))


def test_rows_are_rows():
    table = pd.DataFrame([[5, 6], [7, 8]])
    for no_matrix in ([table, table], [np.ones((2, 2))] * 2, [np.asmatrix([[1, 2]])] * 2, [[[1]]]):
        with pytest.raises(TypeError):
            libperm.permanent(no_matrix)
    masked = np.ma.masked_array([1.0, 2.0], mask=[False, True])
    for call in (libperm.permanent, libperm.sub_permanents, libperm.Plan([[1.0, 1], [1, 1]]).permanents):
        with pytest.raises(TypeError, match="masked"):
            call([masked, masked])
    plan = libperm.Plan(np.eye(2))
    for values in (np.ones((2, 1, 1)), np.ones((2, 2, 2)), np.array(1.0)):
        with pytest.raises(TypeError, match="dimensions"):
            plan.permanent(values)


def test_tables_are_not_rounded():
    whole = 2**53 + 1
    mixed = pd.DataFrame({"a": [whole, 0], "b": [0.0, 1.0]})
    assert libperm.permanent(mixed, precision="exact") == whole
    unsigned = pd.DataFrame({"a": np.array([2**64 - 1, 0], "u8"), "b": [0, -1]})
    assert libperm.permanent(unsigned) == 1 - 2**64
    assert libperm.permanent(pd.DataFrame({"a": [True, False], "b": [2, 3]})) == 3
    nullable = pd.DataFrame({"a": pd.array([whole, 1], "Int64"), "b": pd.array([1, 1], "Int64")})
    assert libperm.permanent(nullable) == whole + 1
    nullable.iloc[0, 1] = pd.NA
    with pytest.raises(TypeError, match="no number"):
        libperm.permanent(nullable)
    named = pd.DataFrame({"a": pd.Categorical([3, 4]), "b": [1, 2]})
    assert libperm.permanent(named) == 10
    with pytest.raises(TypeError):
        libperm.permanent(named.assign(b=pd.Categorical(["x", "y"])))


def test_counts_stand_in_their_order():
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    counts = pd.Series([2, 0], index=[1, 0])
    for way in (a, a.tolist()):
        assert libperm.permanent(way, row_multiplicity=counts) == 4.0
    assert libperm.matchings([[1, 1], [1, 1]], row_multiplicity=(x for x in [1, 2])) == [1, 6, 6]


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("dtype", ["i8", "f8", "u1", "g", "O"])
def test_a_numpy_matrix_is_an_array(dtype):
    a = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 10]]).astype(dtype)
    plan = libperm.Plan(a)
    for call in (
        libperm.permanent, libperm.gradient, libperm.matchings, plan.permanent,
        lambda x: plan.gradient(x, with_permanent=True),
        lambda x: libperm.sub_permanents(x[:2]), lambda x: libperm.sub_permanents(x[:, :2], full=True),
        lambda x: libperm.permanents([x, x]), lambda x: libperm.compute(x).text,
        lambda x: libperm.bounds(x).lower, lambda x: libperm.estimate(x).value,
        lambda x: libperm.marginals(abs(x), 1, 1).entries, lambda x: libperm.sample(abs(x), 2, rng=1),
        lambda x: libperm.permanent(x, row_unmatched=2, col_unmatched=1),
    ):  # fmt: skip
        expected, found = call(a), call(np.asmatrix(a))
        assert type(found) is type(expected)
        assert repr(found) == repr(expected)


def test_small_marginals_are_not_rounded():
    large = 2**53 + 1
    assert libperm.marginals(np.asmatrix([[large, 1]]), 1, 1).value == pytest.approx(large, rel=1e-15)
    found = libperm.permanent(
        [[1, 1], [1, 1]], row_unmatched=[large, 0.5], col_unmatched=1, precision="exact"
    )
    assert found == 2 + 2 * (large + Fraction(1, 2)) + Fraction(large, 2)
    with pytest.raises(TypeError, match="double"):
        libperm.marginals(np.full((1, 2, 2), large))
    with pytest.raises(TypeError):
        libperm.marginals(objects([["1.5", 2.0], [1.0, 1.0]])[None])
    with pytest.raises(libperm.InvalidMatrixError, match="complex"):
        libperm.marginals(np.ones((1, 2, 2)), row_unmatched=[1j, 1])


def test_the_first_integer_that_is_no_double_has_a_bound():
    a = np.array([[2**53 + 1, 0], [0, 1]])
    found = libperm.gradients(a[None], full=True)
    assert abs(int(found.derivatives[0, 1, 1]) - (2**53 + 1)) <= found.error_bounds[0, 1, 1]
    minors, bounds = libperm.sub_permanents(np.array([[2**53 + 1, 2]]), full=True)
    assert abs(int(minors[1]) - (2**53 + 1)) <= bounds[1]


def test_random_containers():
    seed = int(os.environ.get("PERM_FUZZ_SEED", SEED))
    count = 2500 * MULTIPLIER
    print(f"PERM_FUZZ_SEED={seed}")  # which sets it
    report = fuzz(count, seed)
    assert not report.failures, "\n".join([f"PERM_FUZZ_SEED={seed}", *report.failures[:5]])
    assert report.compared > count // 3
    assert report.refused > count // 50
