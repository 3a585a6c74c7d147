"""Options, results, errors, warnings."""

import json
import pickle
import threading
import warnings
from fractions import Fraction

import pytest
from support import rng

import libperm
from libperm._core import abi, library
from libperm._core.errors import FIELDS
from libperm._core.options import READERS, TYPES, Prepared, Seed, counting

A = [[1.5, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize("engine", ["auto", "frontier", "tree", "ryser"])
@pytest.mark.parametrize("precision", ["auto", "double", "kahan", "dq", "dd", "exact", "mpfr:100"])
def test_engines_and_precisions(engine, precision):
    r = rng(1)
    a = [[r.randint(1, 9) + 0.5 for _ in range(6)] for _ in range(6)]
    exact = libperm.permanent(a, precision="exact")
    assert isinstance(exact, Fraction)
    result = libperm.compute(a, engine=engine, precision=precision, without="all", threads=1)
    assert result.engine == engine or engine == "auto"
    assert result.re == pytest.approx(float(exact), rel=1e-12)


def test_every_option_is_taken():
    value = libperm.permanent(
        A, engine="auto", device="cpu", precision="dd", tolerance=1e-20, threads=2, memory_limit=10**9,
        time_limit=float("inf"), rng=7, without=["dm", "d1"], decompose="paper", cache_dir="", cache_limit=1,
        row_multiplicity=[1, 1], col_multiplicity=[1, 1], progress=False,
    )  # fmt: skip
    assert value == 12.0


def test_none_is_the_default():
    names = libperm.Options.__annotations__
    assert libperm.permanent(A, **dict.fromkeys(names)) == 12.0


@pytest.mark.parametrize("p", [3, 1000003, 4611686018427387847])
def test_residues(p):
    """Of small and full matrices, which have roads of their own, and of sparse ones."""
    np = pytest.importorskip("numpy")
    full, sparse = [[-5, 2, 7], [3, 4, -1], [2, 2, 9]], [[-5, 2, 0], [3, 4, -1], [0, 2, 9]]
    for rows in (full, sparse, [[x / 4 for x in row] for row in full]):
        expected = libperm.permanent(rows, precision="exact")
        expected = Fraction(expected).numerator * pow(Fraction(expected).denominator, -1, p) % p
        for a in (rows, np.array(rows)):
            plan = libperm.Plan(a, precision=f"mod:{p}")
            values = [x for row in rows for x in row if x]
            found = [
                libperm.permanent(a, precision=f"mod:{p}"),
                libperm.compute(a, precision=f"mod:{p}").value,
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
        ({"engine": "warp"}, libperm.InvalidOptionError),
        ({"precision": "half"}, libperm.InvalidOptionError),
        ({"tolerance": -1}, libperm.InvalidOptionError),
        ({"tolerance": "1e-9"}, libperm.InvalidOptionError),
        ({"threads": 2**40}, libperm.InvalidOptionError),
        ({"threads": 10**5000}, libperm.InvalidOptionError),
        ({"memory_limit": -(10**5000)}, libperm.InvalidOptionError),
        ({"threads": 1.7}, libperm.InvalidOptionError),
        ({"threads": "2"}, libperm.InvalidOptionError),
        ({"rng": -1}, libperm.InvalidOptionError),
        ({"rng": 2**64}, libperm.InvalidOptionError),
        ({"memory_limit": -1}, libperm.InvalidOptionError),
        ({"memory_limit": "2 parsecs"}, libperm.InvalidOptionError),
        ({"memory_limit": "-2G"}, libperm.InvalidOptionError),
        ({"time_limit": "1y"}, libperm.InvalidOptionError),
        ({"time_limit": "soon"}, libperm.InvalidOptionError),
        ({"cache_limit": "1e99"}, libperm.InvalidOptionError),
        ({"without": "everything"}, libperm.InvalidOptionError),
        ({"machine": 16}, TypeError),
        ({"machine": "{}"}, libperm.InvalidOptionError),
    ],
)
def test_bad_options(options, error):
    with pytest.raises(error):
        libperm.permanent(A, **options)


@pytest.mark.parametrize(
    ("text", "number"),
    [("2G", 2 * 1024**3), ("500M", 500 * 1024**2), ("1.5 KiB", 1536), ("3kB", 3000), ("7", 7), ("0.1", 1)],
)
def test_bytes_as_text(text, number):
    prepared = Prepared({"memory_limit": text, "cache_limit": text}, None)
    assert (prepared.struct.memory_limit_bytes, prepared.struct.cache_limit_bytes) == (number, number)
    assert libperm.permanent(A, cache_limit=text) == 12.0


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1m", 60),
        ("30s", 30),
        ("2h", 7200),
        ("1d", 86400),
        (".5", 0.5),
        ("inf", float("inf")),
        ("none", float("inf")),
    ],
)
def test_seconds_as_text(text, number):
    assert Prepared({"time_limit": text}, None).struct.time_limit_seconds == number
    assert libperm.permanent(A, time_limit=text) == 12.0


def test_whole_numbers_may_be_floats():
    assert Prepared({"memory_limit": 2e9}, None).struct.memory_limit_bytes == 2 * 10**9


def test_what_is_returned_counts_against_the_memory_limit():
    np = pytest.importorskip("numpy")
    ones, few = np.ones((3, 3)), np.ones((10**6, 2, 2))
    for call in (
        lambda **x: libperm.sample(ones, 10**7, **x),
        lambda **x: libperm.boson.sample(np.eye(4), [0], 10**7, **x),
        lambda **x: libperm.permanents(few, **x),
        lambda **x: libperm.Plan(few[0], **x).permanents(few),
        lambda **x: libperm.Plan(few[0], **x).gradients(few, with_permanents=True),
        lambda **x: libperm.permanents(few, row_unmatched=1, col_unmatched=1, **x),
        lambda **x: libperm.marginals(few, **x),
        lambda **x: libperm.gradients(np.ones((10**6, 3, 3)), full=True, **x),
        lambda **x: libperm.Periodic([[1, 1, 1]], **x).terms(10**6),
    ):
        with pytest.raises(libperm.MemoryRefusedError, match="memory_limit"):
            call(memory_limit="10M")
    with pytest.raises(libperm.MemoryRefusedError):
        libperm.sample(ones, 2**40)
    assert libperm.sample(ones, 10, memory_limit="10M").shape == (10, 3)


def test_errors_name_the_options_as_they_are_here():
    dense = [[rng(i * 34 + j).random() for j in range(34)] for i in range(34)]
    for options in ({"memory_limit": 1000, "engine": "frontier"}, {"time_limit": 1e-3}, {"time_limit": -1}):
        with pytest.raises(libperm.Error, match="_limit") as caught:
            libperm.permanent(dense, **options)
        for name in ("_bytes", "_seconds", "INFINITY"):
            assert name not in str(caught.value)
    with pytest.raises(libperm.InvalidOptionError, match="^threads is 1.7: a whole number"):
        libperm.permanent(A, threads=1.7)


def test_errors_by_kind():
    dense = [[rng(i * 34 + j).random() for j in range(34)] for i in range(34)]
    with pytest.raises(libperm.TimeRefusedError) as caught:
        libperm.permanent(dense, time_limit=0.5)
    assert isinstance(caught.value, libperm.RefusedError)
    assert caught.value.status == 202
    with pytest.raises(libperm.MemoryRefusedError):
        libperm.permanent(dense, engine="frontier", memory_limit=1000)
    with pytest.raises(ValueError, match="NaN"):
        libperm.permanent([[float("nan")]])
    with pytest.raises(libperm.Error):
        libperm.Plan(A).source()


def test_beyond_double():
    big, small = [[1e300, 0.0], [1.0, 1e300]], [[1e-300, 0.0], [1.0, 1e-300]]
    for a, exp2 in ((big, 1994), (small, 1993)):
        with pytest.raises(OverflowError, match="compute"):
            libperm.permanent(a)
        result = libperm.compute(a)
        assert abs(result.exp2) == exp2
        assert 0.5 <= result.mantissa < 1
        with pytest.raises(OverflowError):
            float(result)
    assert libperm.permanent(big, precision="exact") == Fraction(1e300) ** 2


def test_result():
    r = libperm.compute([[1, 2], [3, 4]])
    assert (r.value, int(r), float(r), complex(r)) == (10, 10, 10.0, 10 + 0j)
    assert (r.text, r.exact, r.rel_error_bound, r.n, r.nnz) == ("10", True, 0.0, 2, 4)
    assert r.mantissa * 2**r.exp2 == 10
    assert libperm.permanent([[1, 2], [3, 4]], full=True).value == 10
    assert pickle.loads(pickle.dumps(r)) == r
    z = libperm.compute([[1j, 2], [3, 4]])
    assert (z.value, z.mantissa * 2**z.exp2) == (6 + 4j, 6 + 4j)
    with pytest.raises(TypeError):
        float(z)
    assert int(libperm.compute([[7.5]])) == 7
    half = libperm.compute([[0.5]], precision="exact")
    assert (half.value, half.text, int(half)) == (Fraction(1, 2), "1/2", 0)


def test_precision_of_integers():
    ones = [[1] * 25 for _ in range(25)]
    assert type(libperm.permanent(ones)) is int
    assert libperm.permanent(ones, precision="dd") == pytest.approx(15511210043330985984000000, rel=1e-12)


def test_a_missed_tolerance_warns():
    r = rng(2)
    a = [[r.gauss(0, 1) for _ in range(8)] for _ in range(8)]
    options = {"precision": "double", "engine": "ryser", "tolerance": 1e-30}
    with pytest.warns(libperm.PrecisionWarning) as caught:
        libperm.permanent(a, **options)
    assert caught[0].filename == __file__
    with pytest.warns(libperm.PrecisionWarning) as caught:
        libperm.Plan(a, **options).permanent()
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        libperm.permanent(a)
        libperm.compute(a, **options)


def test_progress_function():
    seen = []
    dense = [[rng(i * 22 + j).random() for j in range(22)] for i in range(22)]
    value = libperm.permanent(dense, engine="ryser", precision="dd", progress=lambda *x: seen.append(x))
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

    with libperm.Plan(dense, engine="ryser") as plan:
        pass
    with pytest.raises(type(error)):
        libperm.permanent(dense, engine="ryser", progress=progress)
    assert len(calls) == 1
    assert plan.shape == (36, 36)


def test_a_plan_goes_on_after_its_callback_raised():
    raising = [True]

    def progress(_fraction, _seconds_left):
        if raising[0]:
            raise KeyError("mine")

    dense = [[rng(i * 21 + j).random() for j in range(21)] for i in range(21)]
    raising[0] = False
    plan = libperm.Plan(dense, engine="ryser", precision="dd", progress=progress)
    raising[0] = True
    with pytest.raises(KeyError):
        plan.permanent()
    raising[0] = False
    assert plan.permanent() == libperm.permanent(dense, engine="ryser", precision="dd")


def test_progress_bar(capfd):
    dense = [[rng(i * 22 + j).random() for j in range(22)] for i in range(22)]
    libperm.permanent(dense, engine="ryser", precision="dd", progress=True)
    assert "permanent" in capfd.readouterr().err


def test_many_threads():
    plan = libperm.Plan([[1] * 12 for _ in range(12)])
    failures = []

    def work(scale):
        try:
            for _ in range(20):
                assert plan.permanent([scale] * 144) == scale**12 * 479001600
                assert libperm.permanent([[scale, 1], [1, 1]]) == scale + 1
                with pytest.raises(libperm.InvalidMatrixError, match=f"row {scale}, column 0"):
                    libperm.permanent([[1.0]] * scale + [[float("nan")]])
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(scale,)) for scale in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_info():
    assert "libperm" in libperm.info()
    libperm.set_log_level(2)
    with pytest.raises(libperm.Error):
        libperm.set_log_level(9)


def table():
    return json.loads(library.read_text(lambda *to: library.library.perm_info(abi.FORMAT_OPTIONS, *to)))


GOALS = {
    "perm_compute": lambda o: libperm.compute(B, **o),
    "perm_compute_product": lambda o: libperm.permanent_of_product(B, B, **o),
    "perm_bounds": lambda o: libperm.bounds(B, **o),
    "perm_estimate": lambda o: libperm.estimate(B, **o),
    "perm_sample": lambda o: libperm.sample(B, 1, **o),
    "perm_matchings": lambda o: libperm.matchings(B, **o),
    "perm_plan_marginals": lambda o: libperm.marginals(B, **o),
    "perm_plan_gradient": lambda o: libperm.Plan(B, **o).gradient(with_permanent=False),
    "perm_plan_execute": lambda o: libperm.Plan(B, **o).permanent(),
    "shards of perm_task_plan": lambda o: libperm.Plan(B, **o).run_shard(0),
    "shards of perm_task_estimate": lambda o: libperm.Estimation(B, **o).run_shard(0),
    "perm_periodic_execute": lambda o: libperm.Periodic(CELL, **o).permanent(3),
    "perm_periodic_generating_function": lambda o: libperm.Periodic(CELL, **o).generating_function(),
    "perm_periodic_growth": lambda o: libperm.Periodic(CELL, **o).growth(),
}
B = [[1.5, 2.0, 0.0, 0.0], [3.0, 4.0, 1.0, 0.0], [0.0, 1.0, 2.5, 1.0], [0.0, 0.0, 1.0, 0.5]]
CELL = [[1, 1, 1]]
GIVEN = {
    "engine": "tree",
    "device": "cpu",
    "precision": "kahan",
    "tolerance": 1e-5,
    "seed": 3,
    "without": "dm",
    "decompose": "paper",
    "cache_dir": "",
    "threads": 1,
    "machine": None,
}


@pytest.mark.parametrize("call", GOALS)
@pytest.mark.parametrize("option", GIVEN)
def test_an_option_counts_or_is_refused(call, option):
    """As the library's table has it."""
    value = GIVEN[option]
    if option == "machine":
        value = library.read_text(lambda *to: library.library.perm_info(3, *to))
    if option == "seed" and call == "perm_sample":
        pytest.skip("an argument of its own")
    rules = [
        rule
        for rule in table()["rules"]
        if call in rule["calls"] and option in rule["options"] and rule["status"] != 0
        and value not in rule["values"].split(", ")
    ]  # fmt: skip
    given = {"rng": value} if option == "seed" else {option: value}
    if not rules:
        GOALS[call](given)
        return
    with pytest.raises(libperm.Error) as caught:
        GOALS[call](given)
    assert caught.value.status == rules[0]["status"]
    assert str(caught.value).endswith(": " + rules[0]["why"])


# Of perm_opts, and for those who call the library in C: a Ctrl-C and the devices have ways of their own here.
OF_C_ALONE = {"cancel", "chunks", "gpus"}
OF_PYTHON_ALONE = {"row_multiplicity", "col_multiplicity"}


def test_the_options_are_those_of_the_table():
    facts = table()["facts"]
    options = libperm.Options.__annotations__.keys() - {"rng"} | {"seed"}  # of which rng draws one
    names = {FIELDS.get(name, name): name for name in options}
    assert facts.keys() - OF_C_ALONE == names.keys() - OF_PYTHON_ALONE
    fields = {name for name, _ in abi.Opts._fields_ if not name.startswith(("reserved", "struct_size"))}
    assert fields - {"progress_user", "cancel_user"} == facts.keys()
    assert TYPES.keys() == facts.keys() - {"progress", "cancel"}
    assert set(TYPES.values()) == READERS.keys()


@pytest.mark.parametrize("kind", READERS)
def test_a_type_is_read_as_the_struct_has_it(kind):
    """Into the field without a change, the largest too."""
    field = next(field for field, one in TYPES.items() if one == kind)
    name = next((name for name, one in FIELDS.items() if one == field), field)
    if name == "seed":
        assert Prepared({"rng": Seed(2**64 - 1)}, None).struct.seed == 2**64 - 1
        return
    most = {"int32": 2**31 - 1, "int64, bytes": 2**63 - 1, "uint64": 2**64 - 1}
    value = most.get(kind, 1.5 if kind.startswith("double") else "a")
    found = getattr(Prepared({name: value}, None).struct, field)
    assert found == (value.encode() if isinstance(value, str) else value)
    if kind in most:
        with pytest.raises(libperm.InvalidOptionError, match="too large"):
            Prepared({name: value + 1}, None)


def test_of_several_calls_options_those_that_count():
    """As torch's backward takes them from the forward's."""
    given = {"precision": "dd", "engine": "tree", "threads": 2, "checkpoint": "kept", "without": "dm"}
    assert counting("perm_plan_gradient_batch", given) == {"threads": 2, "without": "dm"}
    assert counting("perm_plan_gradient_batch", {"engine": "frontier"}) == {"engine": "frontier"}
    assert counting("perm_compute", given) == given
