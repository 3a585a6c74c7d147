"""Every kind of matrix a caller may have, and the type of number each returns."""

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import pytest

import libperm

np = pytest.importorskip("numpy")
sparse = pytest.importorskip("scipy.sparse")

A = [[1, 2, 0], [0, 3, 4], [5, 0, 6]]
VALUE = 58


@pytest.mark.parametrize("rows", [A, tuple(map(tuple, A)), [np.array(row) for row in A]])
def test_rows(rows):
    assert libperm.permanent(rows) == VALUE
    assert type(libperm.permanent(rows)) is int


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u4", "u8", ">i4", "object"])
def test_arrays_of_integers(dtype):
    value = libperm.permanent(np.array(A, dtype))
    assert value == VALUE
    assert type(value) is int


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f8", "longdouble"])
def test_arrays_of_floats(dtype):
    value = libperm.permanent(np.array(A, dtype))
    assert value == VALUE
    assert type(value) is np.float64


def test_long_doubles_are_taken_exactly():
    a = np.array([[1 / np.longdouble(3), 2], [3, 4]], "longdouble")
    exact = Fraction(*a[0, 0].as_integer_ratio()) * 4 + 6
    assert libperm.permanent(a, precision="exact") == exact
    assert libperm.permanent(a) == float(exact)
    assert libperm.Plan(a, precision="exact").permanent() == exact
    if a[0, 0] != float(a[0, 0]):
        with pytest.raises(ValueError, match="no double"):
            libperm.Plan(np.ones((2, 2))).permanent(a)


@pytest.mark.parametrize("dtype", ["c8", "c16", ">c16", "clongdouble"])
def test_arrays_of_complex_numbers(dtype):
    value = libperm.permanent(np.array(A, dtype) * 1j)
    assert value == -1j * VALUE
    assert type(value) is np.complex128


def test_what_came_in_numpy_comes_out_as_numpys():
    a = np.array([[1.5, 2.0], [3.0, 4.0]])
    plan, listed = libperm.Plan(a), libperm.Plan(a.tolist())
    for _ in range(2):  # the second time by the extension
        assert (
            type(plan.permanent()) is type(plan.permanent(2 * a)) is type(listed.permanent(a)) is np.float64
        )
        assert type(listed.permanent()) is type(plan.permanent(a.tolist())) is float
        assert type(libperm.Plan(1j * a).permanent()) is np.complex128
    for given in (a, sparse.csr_array(a), sparse.coo_matrix(a), np.asmatrix(a), a.astype("f4")):
        assert type(libperm.permanent(given)) is np.float64
        assert type(libperm.permanent(given, threads=1)) is np.float64
        assert type(libperm.compute(given).value) is np.float64
        assert type(libperm.Plan(given).gradient(with_permanent=True)[0]) is np.float64
        assert type(libperm.marginals(given).value) is np.float64
        assert {type(x) for x in libperm.matchings(given)} == {np.float64}
        assert type(libperm.permanent(given, precision="exact")) is Fraction
    assert type(libperm.compute(a.tolist()).value) is type(libperm.marginals(a.tolist()).value) is float
    assert {type(x) for x in libperm.matchings(a.tolist())} == {float}
    assert {type(x) for x in libperm.matchings(a.astype(int))} == {int}
    assert type(libperm.permanent(a.astype(int))) is type(libperm.compute(a.astype(int)).value) is int


def test_bools_count():
    assert libperm.permanent(np.ones((5, 5), bool)) == 120
    assert libperm.permanent([[True, False], [True, True]]) == 1
    assert libperm.permanent(np.array([[np.True_, 2], [3, 4]], object)) == 10


def test_unsigned_beyond_int64():
    assert libperm.permanent(np.array([[2**64 - 1, 1], [1, 2**63]], "u8")) == (2**64 - 1) * 2**63 + 1


def test_int8_does_not_overflow():
    assert libperm.permanent(np.full((4, 4), 127, np.int8)) == 24 * 127**4
    twice = sparse.coo_matrix((np.array([100, 100, 1], np.int8), ([0, 0, 1], [0, 0, 1])))
    assert libperm.permanent(twice) == 200


def test_objects():
    a = np.array([[Fraction(1, 3), 2], [3, 10**30]], object)
    assert libperm.permanent(a) == Fraction(10**30, 3) + 6


def test_an_array_of_float_is_float_even_where_the_value_is_an_integer():
    assert type(libperm.permanent(np.eye(3))) is np.float64
    assert type(libperm.permanent([[0.0]])) is float
    assert type(libperm.permanent([[0]])) is int


@pytest.mark.parametrize("make", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_scipy_sparse(make, kind):
    for dtype in (int, float, complex):
        a = getattr(sparse, f"{make}_{kind}")(np.array(A, dtype))
        value = libperm.permanent(a)
        assert value == VALUE
        assert type(value) is {int: int, float: np.float64, complex: np.complex128}[dtype]


def test_sparse_duplicates_are_summed_and_the_input_stays_as_it_is():
    a = sparse.csr_matrix((np.array([1.0, 2.0, 1.0]), np.array([1, 0, 0]), np.array([0, 3, 3])), shape=(2, 2))
    a = (a + sparse.csr_matrix(([1.0], ([1], [1])), shape=(2, 2))).tocsr()
    unsorted = sparse.csr_matrix(
        (np.array([2.0, 1.0, 3.0]), np.array([1, 0, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    before = unsorted.indices.copy()
    assert libperm.permanent(unsorted) == 3.0
    assert (unsorted.indices == before).all()
    assert libperm.permanent(a) == 3.0


def test_anything_that_converts_to_an_array():
    class Own:
        def __array__(self, dtype=None, copy=None):
            return np.array(A, dtype)

    assert libperm.permanent(Own()) == VALUE
    assert libperm.Plan(np.array(A)).permanent(Own()) == VALUE
    assert libperm.permanent(np.asmatrix(A)) == VALUE
    assert libperm.permanent(np.array(A).T) == VALUE
    assert libperm.permanent(np.asfortranarray(np.array(A, float))[:, ::-1]) == VALUE


@pytest.mark.parametrize("nothing", [[], (), np.zeros((0, 0)), sparse.csr_matrix((0, 0))])
def test_of_order_0(nothing):
    assert libperm.permanent(nothing) == 1


@pytest.mark.parametrize(
    "no_matrix",
    [1, None, "12", {1: 2}, [1, 2], np.zeros(3), np.zeros((2, 2, 2)), [["1", "2"], ["3", "4"]], [[object()]],
     np.array([["a", "b"], ["c", "d"]]), np.array([["2020-01-01"]], "M8[D]"), [[None]]],
)  # fmt: skip
def test_no_matrix(no_matrix):
    with pytest.raises(TypeError):
        libperm.permanent(no_matrix)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, complex(0, math.nan)])
def test_not_finite(bad):
    for a in ([[bad, 1], [1, 1]], np.array([[bad, 1], [1, 1]]), [[bad, 2**70], [1, 1]]):
        with pytest.raises(libperm.InvalidMatrixError):
            libperm.permanent(a)


def test_ragged_and_tall():
    with pytest.raises(libperm.InvalidMatrixError, match="row 1 has 1 entries"):
        libperm.permanent([[1, 2], [3]])
    with pytest.raises(libperm.InvalidMatrixError, match="row_multiplicity has 1"):
        libperm.permanent([[1, 2], [3, 4]], row_multiplicity=[1])


def test_multiplicities_are_integers():
    for wrong in ([1.9, 1.9], ["1", "1"], 3):
        with pytest.raises(TypeError, match="row_multiplicity"):
            libperm.permanent([[1.0, 2], [3, 4]], row_multiplicity=wrong)


def test_masked_arrays_are_refused():
    a = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 1], [0, 0]])
    for call in (libperm.permanent, libperm.compute, libperm.gradient, libperm.Plan):
        with pytest.raises(TypeError, match="filled"):
            call(a)
    with pytest.raises(TypeError, match="filled"):
        libperm.permanents(a[None])
    with pytest.raises(TypeError, match="filled"):
        libperm.Plan(a.data).permanent(a)
    assert libperm.permanent(a.filled(0)) == 4


def test_halves_are_refused():
    with pytest.raises(TypeError, match="float16"):
        libperm.permanent(np.ones((2, 2), np.float16))
    with pytest.raises(TypeError, match="bfloat16"):
        libperm.permanent(np.ones((2, 2), pytest.importorskip("ml_dtypes").bfloat16))
    pandas = pytest.importorskip("pandas")
    for columns in ({"a": np.ones(2, np.float16), "b": [1, 2]}, {"a": [1, 2], "b": np.ones(2, "M8[s]")}):
        with pytest.raises(TypeError, match="float16|datetime64"):
            libperm.permanent(pandas.DataFrame(columns))


def without_check(array, **parts):
    """A sparse array whose parts are set behind scipy's back."""
    for name, x in parts.items():
        setattr(array, name, np.array(x, getattr(array, name).dtype))
    return array


@pytest.mark.parametrize("kind", [float, complex, int])
def test_pointers_that_begin_behind_the_first_entry(kind):
    entries, indices = np.array([9, 1, 2, 3, 4], kind), np.array([0, 0, 1, 0, 1])
    for make, expected in ((sparse.csr_array, [[1, 2], [3, 4]]), (sparse.csc_array, [[1, 3], [2, 4]])):
        a = without_check(make((entries, indices, [0, 3, 5]), shape=(2, 2)), indptr=[1, 3, 5])
        assert a.toarray().tolist() == expected
        assert libperm.Plan(np.ones((2, 2), kind)).permanent(a) == 10
        assert libperm.permanent(a) == 10
        assert libperm.gradient(a).toarray().tolist() == np.array(expected)[::-1, ::-1].tolist()
    blocks = np.array([[[9, 9], [9, 9]], [[1, 2], [3, 4]], [[1, 1], [1, 1]]], kind)
    a = without_check(sparse.bsr_array((blocks, [0, 0, 1], [0, 1, 3]), shape=(4, 4)), indptr=[1, 2, 3])
    assert libperm.permanent(a) == 10 * 2


@pytest.mark.parametrize(
    ("form", "parts"),
    [
        ("csr", {"indptr": [0, 7, 2, 3]}),
        ("csr", {"indptr": [0, 1, 2, 4]}),
        ("csr", {"indptr": [-1, 1, 2, 3]}),
        ("csr", {"indptr": [0, 1, 3]}),
        ("csr", {"indices": [0, 1, 3]}),
        ("csr", {"indices": [0, -1, 2]}),
        ("csc", {"indptr": [0, 7, 2, 3]}),
        ("csc", {"indptr": [0, 1, 2, 3, 3]}),
        ("csc", {"indices": [0, 1, 2**31 - 1]}),
        ("bsr", {"indptr": [0, 1, 2, 9]}),
        ("bsr", {"indices": [0, 1, 3]}),
        ("coo", {"row": [9, 1, 2]}),
        ("coo", {"row": [-2, 1, 2]}),
        ("coo", {"row": [-1, 1, 1], "col": [-1, 1, 1]}),
        ("coo", {"col": [0, 1, 3]}),
    ],
)
def test_places_outside_of_a_sparse_array(form, parts):
    a = without_check(sparse.eye_array(3, format=form), **parts)
    with pytest.raises(libperm.InvalidMatrixError, match="indptr|out of range|column"):
        libperm.permanent(a)


def test_buffers_that_python_makes_no_list_of():
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert libperm.permanent(memoryview(a)) == 10
    for other in (a.astype(">f8"), a.astype(complex), a * 1j, a.astype("<i4").astype(">i4")):
        view = memoryview(other)
        assert libperm.permanent(view) == libperm.Plan(view).permanent() == libperm.permanent(other)
        assert libperm.Plan(a * 1j).permanent(memoryview(other.reshape(-1))) == libperm.permanent(other)
        assert np.array_equal(libperm.gradient(view), libperm.gradient(other))
    with pytest.raises(TypeError, match="float16"):
        libperm.permanent(memoryview(a.astype("f2")))


def test_decimals_that_are_long():
    tiny, large = Decimal("1e-200000"), Decimal("-3.5e200000")
    for x in (tiny, large, Decimal(2) ** -700, Decimal("0.1"), Decimal("-0"), Decimal("1e50000")):
        assert libperm.permanent([[x, 1], [1, 0]]) == 1
        assert libperm.permanent([[x, 1], [1, 1]]) == 1 + Fraction(*x.as_integer_ratio())
    for beyond in ("1e999999999", "-1e-999999999", "7e20000000"):  # each digit written out takes hours
        with pytest.raises(libperm.InvalidMatrixError, match="row 0, column 1"):
            libperm.permanent([[1, Decimal(beyond)], [1, 1]], time_limit=1)
    for bad in ("nan", "snan", "-snan123", "inf"):
        for a in ([[Decimal(bad), 1], [1, 1]], np.array([[Decimal(bad), 1], [1, 1]])):
            with pytest.raises(libperm.InvalidMatrixError, match="row 0, column 0"):
                libperm.permanent(a)


def test_integers_of_any_length():
    for bits in (64, 8191, 8192, 8193, 16383, 16384, 16385, 24577, 200000):
        for x in (2**bits - 1, 2**bits, 2**bits + 2**8192, 10 ** (bits // 4) + 7):
            assert libperm.permanent([[x, 1], [1, 0]]) == 1
            assert libperm.permanent([[-x, 3], [1, 1]]) == 3 - x  # the digits are read by the library


def test_iterators_are_read_once():
    def counts():
        return {"row_multiplicity": iter([2, 0]), "col_multiplicity": (x for x in (1, 1))}

    a, same = [[1, 2], [3, 4]], {"row_multiplicity": [2, 0], "col_multiplicity": [1, 1]}
    plan = libperm.Plan(a, **counts(), without=iter(["d1", "d2"]))
    assert plan.permanent() == 4
    assert plan.marginals().entries == libperm.Plan(a, **same).marginals().entries
    assert plan.gradient(full=True).derivatives == [4, 2, 0, 0]
    assert libperm.Plan.from_bytes(plan.to_bytes()).permanent() == 4
    assert libperm.gradient(a, **counts()) == [[4, 2], [0, 0]]
    assert libperm.permanents([a, a], **counts()) == [4, 4]
    assert libperm.permanents([a, a], row_multiplicity=iter([[2, 0], [1, 1]])) == [4, 10]
    two = np.array([[[1.0, 2], [3, 4]], [[1, 0], [3, 4]]])
    found = libperm.marginals(two, 1.0, 1.0, row_multiplicity=iter([2, 1]))
    again = libperm.marginals(two, 1.0, 1.0, row_multiplicity=[2, 1])
    assert np.array_equal(found.entries, again.entries)


def test_errors_are_of_one_family():
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    ones = np.ones((3, 3))
    for call, text in (
        (lambda: libperm.permanent(a, row_multiplicity=[2**63, 0]), "row_multiplicity"),
        (lambda: libperm.Plan(a).run_shard(99), "no shard 99"),
        (
            lambda: libperm.permanent(
                [[1, 1], [1, 1]], function="hafnian", row_multiplicity=[2, 2], col_multiplicity=[1, 1]
            ),
            "row_multiplicity",
        ),
        (lambda: libperm.hafnian(ones, loops=[1, 2]), "^loops has 2"),
        (lambda: libperm.hafnians([ones], loops=[1, 2]), "^loops has 2"),
        (lambda: libperm.hafnian([[1, 1], [1, 1]], multiplicity=[-1, 1]), "^multiplicity.0. is -1"),
        (lambda: libperm.hafnian([[1, 1], [1, 1]], multiplicity=[1, 2**63]), "^multiplicity"),
    ):
        with pytest.raises(libperm.Error, match=text) as caught:
            call()
        assert isinstance(caught.value, ValueError)
        assert "row_unmatched" not in str(caught.value)
    with pytest.raises(TypeError, match="^multiplicity"):
        libperm.hafnian(ones, multiplicity=[0.5, 1, 1])
    with pytest.raises(TypeError, match="progress is 5"):
        libperm.permanent(a, progress=5)
    with pytest.raises(TypeError, match="pickle its cell"):
        pickle.dumps(libperm.Periodic([[1, 1, 1]]))


def test_sympy():
    sympy = pytest.importorskip("sympy")
    third = sympy.Rational(1, 3)
    for a in ([[third, 2], [3, 4]], sympy.Matrix([[third, 2], [3, 4]]), np.array([[third, 2], [3, 4]])):
        assert libperm.permanent(a) == Fraction(22, 3)
    assert libperm.permanent([[sympy.Integer(3), 1], [1, 1]]) == 4
    assert libperm.Plan([[0.5, 1.0], [1.0, 1.0]]).permanent([sympy.Rational(1, 2), 1, 1, 1]) == 1.5
    with pytest.raises(TypeError, match="no number"):
        libperm.permanent([[sympy.pi, 1], [1, 1]])


def test_flint():
    flint = pytest.importorskip("flint")
    assert libperm.permanent([[flint.fmpz(10) ** 30, 1], [1, 1]]) == 10**30 + 1
    assert libperm.permanent([[flint.fmpq(1, 3), 2], [3, 4]]) == Fraction(22, 3)
    assert libperm.permanent(flint.fmpz_mat([[1, 2], [3, 4]])) == 10
    assert libperm.permanent(flint.fmpq_mat([[flint.fmpq(1, 3), 2], [3, 4]])) == Fraction(22, 3)
    assert libperm.permanents([[[flint.fmpz(1), 2], [3, 4]]]) == [10]


def test_what_notebooks_show():
    r = libperm.compute([[1] * 60] * 60)
    assert repr(r).startswith(
        "<libperm.Result 832098711274139014427634...277696409600000000000000 (82 characters), exact, by "
    )
    assert "exact" in r._repr_html_()
    near = libperm.compute([[0.1, 0.2], [0.3, 0.4]])
    assert "relative error at most" in repr(near)
    assert len(repr(near)) < 120
    plan = libperm.Plan([[1, 2], [3, 4]])
    assert plan._repr_html_().startswith("<pre>")
    plan.close()
    assert "libperm.Plan" in plan._repr_html_()
