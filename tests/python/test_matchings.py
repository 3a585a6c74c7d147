"""Marginals and numbers of matchings, against sums over all matchings by their definition."""

import itertools
import math
import random
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import libperm

SEED = 20261123


def all_matchings(rows, cols):
    for count in range(min(rows, cols) + 1):
        for of_rows in itertools.combinations(range(rows), count):
            for of_cols in itertools.permutations(range(cols), count):
                yield list(zip(of_rows, of_cols))


def weight(a, matching, row_unmatched, col_unmatched):
    rows, cols = len(a), len(a[0])
    free_rows = set(range(rows)) - {i for i, _ in matching}
    free_cols = set(range(cols)) - {j for _, j in matching}
    product = Fraction(1)
    for i, j in matching:
        product *= Fraction(a[i][j])
    for lines, weights in ((free_rows, row_unmatched), (free_cols, col_unmatched)):
        for line in lines:
            product *= 0 if weights is None else Fraction(weights[line])
    return product


def by_definition(a, row_unmatched, col_unmatched):
    rows, cols = len(a), len(a[0])
    if row_unmatched is None and col_unmatched is None:
        row_unmatched = [1] * rows if rows > cols else None
        col_unmatched = [1] * cols if cols > rows else None
    entries = [[Fraction(0)] * cols for _ in range(rows)]
    of_rows, of_cols = [Fraction(0)] * rows, [Fraction(0)] * cols
    total = Fraction(0)
    for matching in all_matchings(rows, cols):
        share = weight(a, matching, row_unmatched, col_unmatched)
        total += share
        for i, j in matching:
            entries[i][j] += share
        for i in set(range(rows)) - {i for i, _ in matching}:
            of_rows[i] += share
        for j in set(range(cols)) - {j for _, j in matching}:
            of_cols[j] += share
    return total, entries, of_rows, of_cols


def near(found, bounds, truth, total):
    for x, bound, t in zip(np.ravel(found), np.ravel(bounds), (t for row in truth for t in row)):
        assert abs(Fraction(float(x)) - t / total) <= Fraction(float(bound))
        assert bound < 1e-13


@pytest.mark.parametrize("given", ["lists", "array", "sparse", "integers", "fractions"])
def test_marginals(given):
    draw, compared = random.Random(SEED), 0
    for _ in range(25):
        rows, cols = draw.randint(1, 4), draw.randint(1, 4)
        numbers = (lambda: draw.randint(1, 9)) if given == "integers" else draw.random
        if given == "fractions":
            numbers = lambda: Fraction(draw.randint(1, 9), draw.randint(1, 9))  # noqa: E731
        a = [[numbers() if draw.random() < 0.8 else 0 for _ in range(cols)] for _ in range(rows)]
        r = [numbers() for _ in range(rows)] if draw.random() < 0.6 else None
        c = [numbers() for _ in range(cols)] if draw.random() < 0.6 else None
        matrix = {"array": np.array, "sparse": sparse.csr_array}.get(given, lambda x: x)(a)
        total, *truth = by_definition(a, r, c)
        if total == 0:
            with pytest.raises(libperm.InvalidMatrixError, match="no matching"):
                libperm.marginals(matrix, r, c)
            continue
        found = libperm.marginals(matrix, r, c)
        assert type(found.entries) is type(matrix)
        dense, bounds = (x.toarray() if given == "sparse" else x for x in (found.entries, found.entry_bounds))
        near(dense, bounds, truth[0], total)
        near(found.rows, found.row_bounds, [truth[1]], total)
        near(found.cols, found.col_bounds, [truth[2]], total)
        assert math.isclose(found.value, total, rel_tol=1e-13)
        compared += 1
    assert compared > 15


def test_one_weight_for_all():
    a = [[1.0, 2.0], [3.0, 4.0]]
    assert (
        libperm.marginals(a, 0.5, 2).entries == libperm.marginals(a, [0.5, 0.5], np.array([2.0, 2.0])).entries
    )


def test_batches():
    draw = np.random.default_rng(SEED)
    batch = draw.random((50, 3, 4)) * (draw.random((50, 3, 4)) < 0.7)
    rows, cols = draw.random((50, 3)), draw.random(4)
    found = libperm.marginals(batch, rows, cols)
    assert found.entries.shape == batch.shape
    assert (found.rows.shape, found.cols.shape) == ((50, 3), (50, 4))
    for k in range(50):
        one = libperm.marginals(batch[k], rows[k], cols)
        assert np.allclose(found.entries[k], one.entries, rtol=0, atol=1e-15)
        assert np.allclose(found.rows[k], one.rows, rtol=0, atol=1e-15)
        assert math.isclose(found.value[k], one.value, rel_tol=1e-14)
    sums = found.entries.sum(axis=2) + found.rows
    assert np.allclose(sums, 1, rtol=0, atol=1e-13)
    assert libperm.marginals(batch[:0], 1.0, 1.0).entries.shape == (0, 3, 4)


def gates(random, rows, cols, density):
    gated = random.random((rows, cols)) < density
    return np.where(gated, random.random((rows, cols)), 0.0)


def test_a_batch_of_complex_numbers_without_imaginary_parts():
    a = np.array([[2.0, 1.0], [0.0, 3.0]])
    alone, batch = libperm.marginals(a + 0j, 1, 1), libperm.marginals((a + 0j)[None], 1 + 0j, [1, 1])
    assert np.array_equal(batch.entries[0], alone.entries)
    for given in (a + 1j, (a + 1j)[None]):
        with pytest.raises(libperm.InvalidMatrixError, match="complex|not real"):
            libperm.marginals(given)


def test_a_batch_of_many_patterns_is_each_alone():
    random = np.random.default_rng(SEED)
    shape, weights = (14, 40), random.random(14) + 0.1
    batch = np.array([gates(random, *shape, 0.1) for _ in range(6)])
    batch = np.concatenate([batch, 2 * batch[:1], np.repeat(batch[1:2], 40, axis=0)])
    found = libperm.marginals(batch, weights, 1.0)
    assert found.entries.shape == batch.shape
    assert found.rows.shape == (47, 14)
    assert found.cols.shape == (47, 40)
    for k, one in enumerate(batch[:10]):
        alone = libperm.marginals(one, weights, 1.0)
        assert found.entries[k] == pytest.approx(alone.entries, rel=1e-10, abs=1e-300)
        assert found.rows[k] == pytest.approx(alone.rows, rel=1e-10)
        assert found.cols[k] == pytest.approx(alone.cols, rel=1e-10)
        assert found.value[k] == pytest.approx(alone.value)
        assert (found.entry_bounds[k] < 1e-11).all()
        assert found.result.rel_error_bounds[k] < 1e-11
    bad = batch.copy()
    bad[5][tuple(np.argwhere(bad[5])[0])] = -1
    with pytest.raises(libperm.InvalidMatrixError, match="matrix 5 of the batch"):
        libperm.marginals(bad, weights, 1.0)


def test_full_gates_beyond_small_ones():
    random = np.random.default_rng(SEED)
    for shape in ((13, 30), (40, 14), (15, 15)):
        a = random.random(shape)
        found = libperm.marginals(a, 0.1, random.random(shape[1]))
        assert found.entries.sum(axis=1) + found.rows == pytest.approx(np.ones(shape[0]))
        assert found.entries.sum(axis=0) + found.cols == pytest.approx(np.ones(shape[1]))
        assert found.entry_bounds.max() < 1e-12
    one_by_one = libperm.marginals(a, 0.1, 1.0, threads=1)
    assert (one_by_one.entries == libperm.marginals(a, 0.1, 1.0, threads=2).entries).all()


def test_a_refusal_speaks_of_marginals():
    with pytest.raises(libperm.MemoryRefusedError, match="marginals"):
        libperm.marginals(np.ones((45, 45)), 1.0, 1.0)
    with pytest.raises(libperm.MemoryRefusedError, match="the marginals take tables over sets of 20 lines"):
        libperm.marginals(np.ones((20, 60)), 1.0, 1.0, memory_limit="64M")


@pytest.mark.parametrize("given", [(None, None), (0.5, None), (None, 0.25), (0.5, 0.25)])
def test_marginals_of_a_plan(given):
    random = np.random.default_rng(SEED)
    for shape in ((4, 4), (14, 14)):
        a = gates(random, *shape, 0.7) + np.eye(shape[0])
        plan = libperm.Plan(a)
        at = tuple(np.transpose(plan.pattern))
        for matrix in (a, a / 2, a * random.random(shape)):
            alone = libperm.marginals(matrix, *given)
            for values in (matrix, matrix[at]):
                found = plan.marginals(values, *given)
                assert found.entries == pytest.approx(alone.entries[at], rel=1e-9)
                assert found.rows == pytest.approx(alone.rows, rel=1e-9)
                assert found.cols == pytest.approx(alone.cols, rel=1e-9)
                assert found.value == pytest.approx(alone.value, rel=1e-9)
        assert plan.marginals(None, *given).entries == pytest.approx(libperm.marginals(a, *given).entries[at])
    plan.close()
    with pytest.raises(ValueError, match="closed"):
        plan.marginals(None, *given)


def test_marginals_of_a_plan_of_lists():
    plan = libperm.Plan([[2, 1], [0, 3]])
    found = plan.marginals(row_unmatched=[1, 1], col_unmatched=1)
    assert isinstance(found.entries, list)
    assert found.entries == pytest.approx([8 / 13, 1 / 13, 9 / 13])
    assert plan.marginals([1, 1, 1], 1, 0.5).value == 2.75


def test_a_0_of_lines_that_none_can_match_is_told(capfd):
    wide, tall = [[1.0, 2, 3]], [[1.0], [2], [3]]
    for call in (libperm.permanent, lambda *a, **k: libperm.compute(*a, **k).value):
        with pytest.warns(
            libperm.UnmatchedWarning, match="of 3 columns at most 1 .* pass col_unmatched"
        ) as told:
            assert call(wide, row_unmatched=0.1) == 0
        assert Path(told[0].filename).name == "test_matchings.py"
        with pytest.warns(libperm.UnmatchedWarning, match="of 3 rows at most 1 .* pass row_unmatched"):
            assert call(tall, col_unmatched=0.1) == 0
        with pytest.warns(libperm.UnmatchedWarning, match="of 4 columns at most 2"):
            assert call([[1.0, 2.0]], row_unmatched=1, row_multiplicity=[2], col_multiplicity=[2, 2]) == 0
        with pytest.warns(libperm.UnmatchedWarning) as told:
            assert libperm.polynomial(np.ones((3, 1)), np.ones((3, 1)), col_unmatched=1) == [0, 0]
        assert [Path(each.filename).name for each in told] == ["test_matchings.py"]
        with pytest.warns(libperm.UnmatchedWarning) as told:
            assert list(libperm.permanents(np.ones((2, 3, 1)), col_unmatched=1)) == [0, 0]
        assert [Path(each.filename).name for each in told] == ["test_matchings.py"]
    plan = libperm.Plan(wide)
    with warnings.catch_warnings():  # what is an error is not warned of, too
        warnings.simplefilter("error")
        for call, *args in (
            (libperm.marginals, wide),
            (libperm.marginals, np.ones((2, 1, 3))),
            (plan.marginals,),
            (libperm.sample, wide, 1),
        ):
            with pytest.raises(libperm.InvalidMatrixError, match="no matching|is 0"):
                call(*args, row_unmatched=1)
    assert capfd.readouterr().err == ""  # by Python's warnings alone
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert libperm.permanent(wide) == 6
        assert libperm.permanent(wide, col_unmatched=1) == 6
        assert libperm.permanent(wide, row_unmatched=0.5, col_unmatched=1) == 6.5
        assert libperm.permanent([[1.0, 2]], row_unmatched=1, row_multiplicity=[2]) == 4
    assert capfd.readouterr().err == ""


def test_permanents_where_lines_may_stay_unmatched():
    a = [[2, 1], [0, 3]]  # 1 + 2 + 1 + 3 + 2 * 3
    assert libperm.permanent(a, row_unmatched=1, col_unmatched=[1, 1]) == 13
    assert type(libperm.permanent(a, row_unmatched=1, col_unmatched=1)) is int
    assert libperm.permanent(a, row_unmatched=1, col_unmatched=0) == 6
    assert libperm.compute(a, row_unmatched=0.5, col_unmatched=2.0).value == 13.0
    found = libperm.marginals(np.array(a, float), 0.5, [1.0, 3.0])
    whole = libperm.permanent(np.array(a, float), row_unmatched=0.5, col_unmatched=[1.0, 3.0])
    assert whole == pytest.approx(found.value, rel=1e-14)
    assert libperm.permanent(a, full=True, row_unmatched=1, col_unmatched=1, precision="exact").value == 13
    with pytest.raises(libperm.InvalidMatrixError, match="row_unmatched has 3 weights"):
        libperm.permanent(a, row_unmatched=[1, 1, 1])


def test_bad_weights():
    a = np.ones((2, 3))
    with pytest.raises(libperm.InvalidMatrixError, match="row_unmatched has 3 weights"):
        libperm.marginals(a, [1, 1, 1], 1)
    with pytest.raises(TypeError, match="float16"):
        libperm.marginals(np.ones((2, 2, 2)), np.ones((2, 2), "f2"), 1.0)
    with pytest.raises(libperm.InvalidMatrixError, match="row_unmatched is 'a'"):
        libperm.marginals([[1.0]], row_unmatched="a")
    with pytest.raises(libperm.InvalidMatrixError, match="is negative"):
        libperm.marginals(-a, 1, 1)
    with pytest.raises(libperm.InvalidMatrixError, match="leaving column 1 unmatched is NaN"):
        libperm.marginals(a, 1, [1, math.nan, 1])
    with pytest.raises(libperm.InvalidMatrixError, match="negative or not real"):
        libperm.marginals(a * 1j, 1, 1)
    with pytest.raises(libperm.InvalidMatrixError, match="complex"):
        libperm.marginals(np.ones((2, 2, 2)) * 1j, 1, 1)
    with pytest.raises(libperm.InvalidMatrixError, match="no matching"):
        libperm.marginals(a, 1, None)  # three columns must be matched to two rows
    with pytest.raises(libperm.InvalidMatrixError, match=r"matrix 1 of the batch.*no matching"):
        libperm.marginals(np.stack([np.eye(2), np.zeros((2, 2))]))
    with pytest.raises(libperm.InvalidMatrixError, match="row_unmatched has the shape"):
        libperm.marginals(np.ones((2, 2, 2)), np.ones(5))


@pytest.mark.parametrize("kind", [int, float, Fraction])
def test_matchings(kind):
    draw = random.Random(SEED)
    for _ in range(20):
        rows, cols = draw.randint(1, 4), draw.randint(1, 5)
        a = [[kind(draw.randint(-4, 4)) / kind(1) for _ in range(cols)] for _ in range(rows)]
        a = [[int(x) for x in row] for row in a] if kind is int else a
        truth = [Fraction(0)] * (min(rows, cols) + 1)
        for matching in all_matchings(rows, cols):
            product = Fraction(1)
            for i, j in matching:
                product *= Fraction(a[i][j])
            truth[len(matching)] += product
        found = libperm.matchings(a)
        assert found == truth
        assert all(type(x) is kind for x in found)


def test_matchings_of_nested_rows():
    draw = random.Random(SEED)
    for _ in range(60):
        rows, cols = draw.randint(1, 4), draw.randint(1, 5)
        order = draw.sample(range(cols), cols)
        a = [[0] * cols for _ in range(rows)]
        for row in a:
            number = draw.choice([-2, 1, 3])
            for j in order[: draw.randint(0, cols)]:
                row[j] = number
        times = {
            "row_multiplicity": [draw.randint(0, 2) for _ in range(rows)],
            "col_multiplicity": [draw.randint(0, 2) for _ in range(cols)],
        }
        assert libperm.matchings(a, **times) == libperm.matchings(a, engine="frontier", **times)


def test_matchings_of_arrays_and_options():
    board = np.ones((3, 3), int)
    assert libperm.matchings(board) == [1, 9, 18, 6]
    assert libperm.matchings(sparse.csr_array(board), threads=1) == [1, 9, 18, 6]
    assert libperm.matchings(board, row_multiplicity=[2, 1, 0]) == [1, 9, 18, 6]
    assert libperm.matchings([]) == [1]
    with pytest.raises(libperm.InvalidOptionError, match="exact"):
        libperm.matchings(board, precision="dd")


def test_tall():
    assert libperm.permanent([[1, 4], [2, 5], [3, 6]]) == libperm.permanent([[1, 2, 3], [4, 5, 6]]) == 58


def test_weights_of_every_kind():
    a = [[1.0, 2.0], [3.0, 4.0]]
    half = libperm.marginals(a, 0.5, 1).rows
    for weights in (np.float64(0.5), np.array(0.5), np.array([Fraction(1, 2)] * 2, object), (0.5, 0.5)):
        assert libperm.marginals(a, weights, np.int64(1)).rows == half
    assert libperm.marginals(a, np.ones(2, "longdouble"), np.array([2**63] * 2, "uint64")).rows
    with pytest.raises(libperm.InvalidMatrixError, match="has the shape"):
        libperm.marginals(a, np.ones((2, 1)))
    for empty in ([[]], np.zeros((1, 0))):  # columns need no match, for there are none; the row does
        with pytest.raises(libperm.InvalidMatrixError, match="no matching"):
            libperm.marginals(empty, None, np.zeros(0))


def test_multiplicities():
    batch, times = (
        np.arange(1.0, 5).reshape(1, 2, 2),
        {"row_multiplicity": [2, 1], "col_multiplicity": [1, 2]},
    )
    one = libperm.marginals(batch[0], **times)
    assert np.allclose(libperm.marginals(batch, **times).entries[0], one.entries)
    assert np.isclose(one.entries.sum(), 3)
    assert np.allclose(libperm.gradients(batch, **times)[0], libperm.gradient(batch[0], **times))
    assert libperm.permanents(batch, **times) == [libperm.permanent(batch[0], **times)]
    assert libperm.marginals([[1.0, 1.0]], col_multiplicity=[1, 0]).cols == [0, 0]


def test_zeros_where_others_are_lost():
    found = libperm.marginals([[1.0, 1.0, 1e-310, 0.0]], [1.0], [1.0, 2.2e-308, 0.0, 1e-310])
    assert found.entries[0][3] == found.entry_bounds[0][3] == 0


def test_small_arrays_go_straight():
    """By a plan of the full shape that is kept: the bits of a plan of their own."""
    draws, compared = np.random.default_rng(2602), 0
    for k in range(64):
        m, n = draws.integers(1, 9, 2) if k < 60 else ((11, 11), (12, 12), (12, 14), (40, 10))[k - 60]
        a = draws.random((m, n)) * (draws.random((m, n)) < 0.5)
        rows = None if draws.random() < 0.3 else draws.random(m)
        cols = None if draws.random() < 0.3 else float(draws.random())
        try:
            expected = libperm.marginals(a, rows, cols, rng=0)
        except libperm.InvalidMatrixError:
            with pytest.raises(libperm.InvalidMatrixError, match="no matching"):
                libperm.marginals(a, rows, cols)
            continue
        found = libperm.marginals(a, rows, cols, **({"threads": 1} if k % 2 else {}))
        for name in ("entries", "rows", "cols", "entry_bounds", "row_bounds", "col_bounds"):
            assert np.array_equal(getattr(found, name), getattr(expected, name)), name
        assert found.result.text == expected.result.text
        compared += 1
    assert compared > 20


def test_options_that_change_no_result_keep_small_arrays_on_their_way(monkeypatch):
    a = np.random.default_rng(2602).random((12, 11))
    expected = libperm.marginals(a, 1.0)
    monkeypatch.setattr(
        libperm._core.matchings, "weighted_input", lambda *_, **__: pytest.fail("the general way")
    )
    for options in ({"threads": 1}, {"memory_limit": "1G", "time_limit": 60, "threads": None}):
        assert np.array_equal(libperm.marginals(a, 1.0, **options).entries, expected.entries)
    monkeypatch.undo()
    for options in ({"threads": -1}, {"time_limit": -1}, {"cache_limit": -1}):
        with pytest.raises(libperm.InvalidOptionError):
            libperm.marginals(a, 1.0, **options)
    with pytest.raises(TypeError, match="no option"):
        libperm.marginals(a, 1.0, thread=1)


def test_masked_weights_are_refused():
    weights = np.ma.masked_array(np.ones(2), [True, False])
    for a in (np.ones((2, 2)), np.ones((3, 2, 2)), [[1.0, 2.0], [3.0, 4.0]]):
        with pytest.raises(TypeError, match="masked"):
            libperm.marginals(a, row_unmatched=weights)
