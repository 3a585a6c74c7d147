"""Options, results, errors, warnings."""

import pickle
import threading
import warnings
from fractions import Fraction

import pytest
from support import rng

import perm
from perm._options import Prepared

A = [[1.5, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize("engine", ["auto", "frontier", "tree", "ryser"])
@pytest.mark.parametrize("precision", ["auto", "double", "kahan", "dq", "dd", "exact", "mpfr:100"])
def test_engines_and_precisions(engine, precision):
    if engine in ("tree", "frontier") and precision == "mpfr:100":
        pytest.skip(f"{engine} has no numbers of MPFR")
    r = rng(1)
    a = [[r.randint(1, 9) + 0.5 for _ in range(6)] for _ in range(6)]
    exact = perm.permanent(a, precision="exact")
    assert isinstance(exact, Fraction)
    result = perm.compute(a, engine=engine, precision=precision, without="all", threads=1)
    assert result.engine == engine or engine == "auto"
    assert result.re == pytest.approx(float(exact), rel=1e-12)


def test_every_option_is_taken():
    value = perm.permanent(
        A, engine="auto", device="cpu", precision="dd", tolerance=1e-20, threads=2, memory_limit=10**9,
        time_limit=float("inf"), seed=7, without=["dm", "d1"], decompose="paper", cache_dir="", cache_limit=1,
        row_multiplicity=[1, 1], col_multiplicity=[1, 1], progress=False,
    )  # fmt: skip
    assert value == 12.0


def test_none_is_the_default():
    names = perm.Options.__annotations__
    assert perm.permanent(A, **dict.fromkeys(names)) == 12.0


@pytest.mark.parametrize("p", [3, 1000003, 4611686018427387847])
def test_residues(p):
    """Of small and full matrices, which have roads of their own, and of sparse ones."""
    np = pytest.importorskip("numpy")
    full, sparse = [[-5, 2, 7], [3, 4, -1], [2, 2, 9]], [[-5, 2, 0], [3, 4, -1], [0, 2, 9]]
    for rows in (full, sparse, [[x / 4 for x in row] for row in full]):
        expected = perm.permanent(rows, precision="exact")
        expected = Fraction(expected).numerator * pow(Fraction(expected).denominator, -1, p) % p
        for a in (rows, np.array(rows)):
            plan = perm.Plan(a, precision=f"mod:{p}")
            values = [x for row in rows for x in row if x]
            found = [
                perm.permanent(a, precision=f"mod:{p}"),
                perm.compute(a, precision=f"mod:{p}").value,
                plan.permanent(),
                plan.permanent(values),
                plan.compute().value,
                *plan.permanents([values] * 2),
                *plan.permanents(np.array([values] * 2)),
            ]
            assert found == [expected] * len(found)
            assert {type(x) for x in found} == {int}


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"engin": "auto"}, TypeError),
        ({"engine": 1}, TypeError),
        ({"engine": "warp"}, perm.InvalidOptionError),
        ({"precision": "half"}, perm.InvalidOptionError),
        ({"tolerance": -1}, perm.InvalidOptionError),
        ({"tolerance": "1e-9"}, perm.InvalidOptionError),
        ({"threads": 2**40}, perm.InvalidOptionError),
        ({"threads": 1.7}, perm.InvalidOptionError),
        ({"threads": "2"}, perm.InvalidOptionError),
        ({"seed": -1}, perm.InvalidOptionError),
        ({"seed": 2**64}, perm.InvalidOptionError),
        ({"memory_limit": -1}, perm.InvalidOptionError),
        ({"memory_limit": "2 parsecs"}, perm.InvalidOptionError),
        ({"memory_limit": "-2G"}, perm.InvalidOptionError),
        ({"time_limit": "1y"}, perm.InvalidOptionError),
        ({"time_limit": "soon"}, perm.InvalidOptionError),
        ({"cache_limit": "1e99"}, perm.InvalidOptionError),
        ({"without": "everything"}, perm.InvalidOptionError),
        ({"machine": 16}, TypeError),
        ({"machine": "{}"}, perm.InvalidOptionError),
    ],
)
def test_bad_options(options, error):
    with pytest.raises(error):
        perm.permanent(A, **options)


@pytest.mark.parametrize(
    ("text", "number"),
    [("2G", 2 * 1024**3), ("500M", 500 * 1024**2), ("1.5 KiB", 1536), ("3kB", 3000), ("7", 7), ("0.1", 1)],
)
def test_bytes_as_text(text, number):
    prepared = Prepared({"memory_limit": text, "cache_limit": text}, None)
    assert (prepared.struct.memory_limit_bytes, prepared.struct.cache_limit_bytes) == (number, number)
    assert perm.permanent(A, cache_limit=text) == 12.0


@pytest.mark.parametrize(
    ("text", "number"), [("1m", 60), ("30s", 30), ("2h", 7200), ("1d", 86400), (".5", 0.5)]
)
def test_seconds_as_text(text, number):
    assert Prepared({"time_limit": text}, None).struct.time_limit_seconds == number
    assert perm.permanent(A, time_limit=text) == 12.0


def test_whole_numbers_may_be_floats():
    assert Prepared({"memory_limit": 2e9}, None).struct.memory_limit_bytes == 2 * 10**9


def test_errors_name_the_options_as_they_are_here():
    dense = [[rng(i * 34 + j).random() for j in range(34)] for i in range(34)]
    for options in ({"memory_limit": 1000, "engine": "frontier"}, {"time_limit": 1e-3}, {"time_limit": -1}):
        with pytest.raises(perm.Error, match="_limit") as caught:
            perm.permanent(dense, **options)
        for name in ("_bytes", "_seconds", "INFINITY"):
            assert name not in str(caught.value)
    with pytest.raises(perm.InvalidOptionError, match="^threads is 1.7: a whole number"):
        perm.permanent(A, threads=1.7)


def test_errors_by_kind():
    dense = [[rng(i * 34 + j).random() for j in range(34)] for i in range(34)]
    with pytest.raises(perm.TimeRefusedError) as caught:
        perm.permanent(dense, time_limit=0.5)
    assert isinstance(caught.value, perm.RefusedError)
    assert caught.value.status == 202
    with pytest.raises(perm.MemoryRefusedError):
        perm.permanent(dense, engine="frontier", memory_limit=1000)
    with pytest.raises(ValueError, match="rows"):
        perm.permanent([[1], [1]])
    with pytest.raises(perm.Error):
        perm.Plan(A).source()


def test_beyond_double():
    big, small = [[1e300, 0.0], [1.0, 1e300]], [[1e-300, 0.0], [1.0, 1e-300]]
    for a, exp2 in ((big, 1994), (small, 1993)):
        with pytest.raises(OverflowError, match="compute"):
            perm.permanent(a)
        result = perm.compute(a)
        assert abs(result.exp2) == exp2
        assert 0.5 <= result.mantissa < 1
        with pytest.raises(OverflowError):
            float(result)
    assert perm.permanent(big, precision="exact") == Fraction(1e300) ** 2


def test_result():
    r = perm.compute([[1, 2], [3, 4]])
    assert (r.value, int(r), float(r), complex(r)) == (10, 10, 10.0, 10 + 0j)
    assert (r.text, r.exact, r.rel_error_bound, r.n, r.nnz) == ("10", True, 0.0, 2, 4)
    assert r.mantissa * 2**r.exp2 == 10
    assert perm.permanent([[1, 2], [3, 4]], full=True).value == 10
    assert pickle.loads(pickle.dumps(r)) == r
    z = perm.compute([[1j, 2], [3, 4]])
    assert (z.value, z.mantissa * 2**z.exp2) == (6 + 4j, 6 + 4j)
    with pytest.raises(TypeError):
        float(z)
    assert int(perm.compute([[7.5]])) == 7
    half = perm.compute([[0.5]], precision="exact")
    assert (half.value, half.text, int(half)) == (Fraction(1, 2), "1/2", 0)


def test_precision_of_integers():
    ones = [[1] * 25 for _ in range(25)]
    assert type(perm.permanent(ones)) is int
    assert perm.permanent(ones, precision="dd") == pytest.approx(15511210043330985984000000, rel=1e-12)


def test_a_missed_tolerance_warns():
    r = rng(2)
    a = [[r.gauss(0, 1) for _ in range(8)] for _ in range(8)]
    options = {"precision": "double", "engine": "ryser", "tolerance": 1e-30}
    with pytest.warns(perm.PrecisionWarning) as caught:
        perm.permanent(a, **options)
    assert caught[0].filename == __file__
    with pytest.warns(perm.PrecisionWarning) as caught:
        perm.Plan(a, **options).permanent()
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        perm.permanent(a)
        perm.compute(a, **options)


def test_progress_function():
    seen = []
    dense = [[rng(i * 22 + j).random() for j in range(22)] for i in range(22)]
    value = perm.permanent(dense, engine="ryser", precision="dd", progress=lambda *x: seen.append(x))
    assert value > 0
    assert seen
    assert all(0 <= fraction <= 1 for fraction, _ in seen)
    assert all(left is None or left >= 0 for _, left in seen)


@pytest.mark.parametrize("error", [KeyError("mine"), KeyboardInterrupt()])
def test_what_a_callback_raises_is_not_lost(error):
    dense = [[rng(i * 36 + j).random() for j in range(36)] for i in range(36)]
    calls = []

    def progress(_fraction, _seconds_left):
        calls.append(1)
        raise error

    with perm.Plan(dense, engine="ryser") as plan:
        pass
    with pytest.raises(type(error)):
        perm.permanent(dense, engine="ryser", progress=progress)
    assert len(calls) == 1
    assert plan.shape == (36, 36)


def test_a_plan_goes_on_after_its_callback_raised():
    raising = [True]

    def progress(_fraction, _seconds_left):
        if raising[0]:
            raise KeyError("mine")

    dense = [[rng(i * 21 + j).random() for j in range(21)] for i in range(21)]
    raising[0] = False
    plan = perm.Plan(dense, engine="ryser", precision="dd", progress=progress)
    raising[0] = True
    with pytest.raises(KeyError):
        plan.permanent()
    raising[0] = False
    assert plan.permanent() == perm.permanent(dense, engine="ryser", precision="dd")


def test_progress_bar(capfd):
    dense = [[rng(i * 22 + j).random() for j in range(22)] for i in range(22)]
    perm.permanent(dense, engine="ryser", precision="dd", progress=True)
    assert "permanent" in capfd.readouterr().err


def test_many_threads():
    plan = perm.Plan([[1] * 12 for _ in range(12)])
    failures = []

    def work(scale):
        try:
            for _ in range(20):
                assert plan.permanent([scale] * 144) == scale**12 * 479001600
                assert perm.permanent([[scale, 1], [1, 1]]) == scale + 1
                with pytest.raises(perm.InvalidMatrixError, match=f"{scale + 1} rows"):
                    perm.permanent([[1]] * (scale + 1))
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(scale,)) for scale in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_info():
    assert "libperm" in perm.info()
    perm.set_log_level(2)
    with pytest.raises(perm.Error):
        perm.set_log_level(9)
