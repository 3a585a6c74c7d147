"""Random small matrices against the definition."""

import random
from decimal import Decimal
from fractions import Fraction

import pytest
from support import MULTIPLIER, by_definition, random_rows, rng

import libperm

CASES = range(40 * MULTIPLIER)


def sizes(r):
    n = r.randint(0, 6)
    return r.randint(1, n) if n else 0, n


@pytest.mark.parametrize("case", CASES)
def test_integers(case):
    r = rng(case)
    m, n = sizes(r)
    bits = r.choice([3, 40, 62, 100])
    rows = random_rows(r, m, n, r.random(), lambda: r.randint(-(2**bits), 2**bits))
    value = libperm.permanent(rows)
    assert isinstance(value, int)
    assert value == by_definition(rows), rows


@pytest.mark.parametrize("case", CASES)
def test_fractions_and_decimals(case):
    r = rng(1000 + case)
    m, n = sizes(r)

    def entry():
        ratio = Fraction(r.randint(-50, 50), r.randint(1, 50))
        return r.choice([ratio, Decimal(r.randint(-999, 999)) / 100, r.randint(-9, 9)])

    rows = random_rows(r, m, n, 0.8, entry)
    rows = [[Fraction(x) if x == 0 else x for x in row] for row in rows]
    value = libperm.permanent(rows)
    assert isinstance(value, (Fraction, int))
    assert value == by_definition(rows), rows


@pytest.mark.parametrize("case", CASES)
def test_floats(case):
    r = rng(2000 + case)
    m, n = sizes(r)
    rows = random_rows(r, m, n, r.random(), lambda: r.gauss(0, 10 ** r.uniform(-5, 5)))
    rows = [[float(x) for x in row] for row in rows]
    exact = by_definition(rows)
    result = libperm.compute(rows)
    assert abs(Fraction(result.re) - exact) <= abs(exact) * Fraction(1, 10**9), rows
    assert libperm.permanent(rows, precision="exact") == exact, rows


@pytest.mark.parametrize("case", CASES)
def test_complex(case):
    r = rng(3000 + case)
    m, n = sizes(r)
    rows = random_rows(r, m, n, r.random(), lambda: complex(r.gauss(0, 1), r.gauss(0, 1)))
    rows = [[complex(x) for x in row] for row in rows]
    value = libperm.permanent(rows)
    re, im = by_definition(rows) if rows else (1, 0)
    assert value == pytest.approx(complex(re, im), rel=1e-9, abs=1e-300), rows


@pytest.mark.parametrize("case", CASES)
def test_floats_beside_what_doubles_cannot_hold(case):
    r = rng(4000 + case)
    rows = [[r.choice([0.5, 2**80 + 1, Fraction(1, 3), Decimal("0.1")]) for _ in range(3)] for _ in range(3)]
    rows[0][0] = 0.25
    value = libperm.permanent(rows)
    assert isinstance(value, float)
    assert value == pytest.approx(float(by_definition(rows)), rel=1e-15), rows


@pytest.mark.parametrize("case", CASES)
def test_plans_of_one_pattern(case):
    r = rng(5000 + case)
    n = r.randint(1, 6)
    pattern = random_rows(r, n, n, 0.6, lambda: 1)
    plan = libperm.Plan(pattern)
    batch = [[[x * r.randint(-9, 9) for x in row] for row in pattern] for _ in range(3)]
    values = [[row[j] for i, row in enumerate(a) for j in range(n) if pattern[i][j]] for a in batch]
    expected = [by_definition(a) for a in batch]
    assert [plan.permanent(a) for a in batch] == expected
    assert [plan.permanent(v) for v in values] == expected
    assert plan.permanents(values) == expected
    assert libperm.permanents(batch) == expected


def test_a_sample_that_meets_a_rare_segment_costs_no_second_run():
    """One of the few segments with most of the terms is among those that are looked at beforehand."""
    fixed, n = random.Random(30), 26
    a = [
        [fixed.random() ** 3 if (fixed.random() < 0.2 or i == j) else 0.0 for j in range(n)] for i in range(n)
    ]
    found = libperm.compute(a, engine="tree", device="cpu", tolerance=1e-11, without="all")
    assert found.rel_error_bound <= 1e-11
    assert found.rel_error_bound > 1e-15  # of doubles: a second run would have been in twice the precision
    exact = libperm.permanent(a, precision="exact", engine="frontier")
    assert abs(Fraction(found.value) - exact) <= Fraction(found.rel_error_bound) * exact
