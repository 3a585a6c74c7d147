"""libperm.bounds against permanents by definition."""

import math
from fractions import Fraction

import pytest
from support import by_definition, random_rows, rng

import libperm


def test_bounds_hold():
    source = rng(2501)
    compared = 0
    for _ in range(60):
        n = source.randint(1, 6)
        rows = random_rows(source, n, n, 0.8, lambda: source.choice((source.random(), source.randint(1, 9))))
        truth, found = by_definition(rows), libperm.bounds(rows)
        assert found.lower.exactly <= truth <= found.upper.exactly
        assert found.exact == (found.lower.exactly == found.upper.exactly)
        assert not found.of_magnitude
        compared += 1
    assert compared == 60


def test_far_beyond_doubles():
    source = rng(2502)
    found = libperm.bounds([[1e300 * source.uniform(1, 5) for _ in range(60)] for _ in range(60)])
    assert float(found.lower) == float(found.upper) == math.inf
    assert 18000 < found.lower.log10 <= found.upper.log10 < 18200
    assert (found.blocks, found.blocks_exact, found.exact) == (1, 0, False)
    assert libperm.bounds([[2.0**-1000, 0], [0, 2.0**-1000]]).lower.exactly == Fraction(1, 2**2000)


def test_signed_and_complex():
    assert libperm.bounds([[1, -1], [1, 1]]).exact
    assert libperm.bounds([[1j, 2], [3, 4]]).of_magnitude


def test_bad_input():
    with pytest.raises(libperm.InvalidMatrixError):
        libperm.bounds([[math.nan]])
    with pytest.raises(TypeError, match="no option"):
        libperm.bounds([[1]], epsilon=0.1)


def test_refusals_tell_them():
    wide = random_rows(rng(2503), 60, 60, 0.9, rng(2504).random)
    with pytest.raises(libperm.RefusedError, match="lies between"):
        libperm.permanent(wide)


def test_text_beyond_doubles_and_of_zero():
    huge, tiny = 2.0**1000, 5e-324
    assert str(libperm.bounds([[huge, 0.0], [0.0, huge]])) == "perm = 1.14813e+602"
    assert str(libperm.bounds([[tiny, tiny], [tiny, tiny]])) == "perm = 4.88202e-647"
    assert str(libperm.bounds([[0.0]])) == "perm = 0"
    signed = [[-1.0 if (i * i + 3 * j * i + j) % 7 < 3 else 1.0 for j in range(36)] for i in range(36)]
    assert str(libperm.bounds(signed)).startswith("0 <= |perm| <= ")
