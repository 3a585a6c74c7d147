"""A Result compared and formatted as the number that it is, against Python's own numbers."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import libperm

LARGE = 10**400


def of(number):
    return libperm.compute([[number]])


NUMBERS = [0, 1, -7, 2**53 + 1, 10**30, LARGE, Fraction(1, 3), Fraction(-10, 7), 0.0, 0.1, -1.5e300, 5e-324]
SPECS = ["", "d", ",", "_", "x", "b", ">40", "+d", ".3e", ".2f", "g", "E", ".1%", "020d", "n"]


@pytest.mark.parametrize("number", NUMBERS)
def test_is_equal_to_its_number(number):
    result = of(number)
    assert result == number
    assert number == result
    assert result == result.value
    assert hash(result) == hash(number)
    assert result == of(number)
    assert result != number + 1 or isinstance(number, float)
    assert {number: 1}[result] == 1


@pytest.mark.parametrize("other", NUMBERS)
@pytest.mark.parametrize("number", NUMBERS)
def test_has_the_order_of_the_numbers(number, other):
    a, b, theirs = Fraction(number), Fraction(other), of(other)
    for right in (other, theirs):
        assert (of(number) < right) == (a < b)
        assert (of(number) <= right) == (a <= b)
        assert (of(number) > right) == (a > b)
        assert (of(number) >= right) == (a >= b)
        assert (of(number) == right) == (a == b)
    assert (number < theirs) == (a < b)
    assert sorted([theirs, number]) == sorted([other, number])


def test_other_numbers():
    ten = libperm.compute([[1, 2], [3, 4]])
    assert ten == np.int64(10) == ten
    assert ten == np.float64(10.0)
    assert ten == Decimal(10) == ten
    assert ten == 10 + 0j
    assert ten < math.inf
    assert ten > -math.inf
    assert not ten == math.inf  # noqa: SIM201
    assert ten != math.nan
    assert not ten < math.nan
    assert ten != "10"
    assert ten != None  # noqa: E711
    with pytest.raises(TypeError):
        ten < "10"  # noqa: B015
    assert max(of(3), of(LARGE), of(0.5)) == LARGE
    twice = libperm.compute(np.diag([2.0**600, 2.0**600]))
    assert twice == 2**1200
    assert twice > 1e308
    assert twice < LARGE * 10


def test_complex_numbers():
    found = libperm.compute([[1j, 2], [3, 4]])
    assert found == 6 + 4j
    assert hash(found) == hash(6 + 4j)
    assert found != 6
    assert f"{found:.2f}" == "6.00+4.00j"
    with pytest.raises(TypeError):
        found < 7  # noqa: B015
    assert found.log10 == pytest.approx(math.log10(abs(6 + 4j)))


def test_log10():
    assert of(0).log10 == -math.inf
    assert of(-1000).log10 == pytest.approx(3)
    assert of(LARGE).log10 == pytest.approx(400)
    assert libperm.compute(np.full((200, 200), 0.5)).log10 == pytest.approx(
        math.lgamma(201) / math.log(10) + 200 * math.log10(0.5)
    )


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("number", [0, 12, -1234567, 2**53 + 1])
def test_integers_format_as_pythons(number, spec):
    assert format(of(number), spec) == format(number, spec)


@pytest.mark.parametrize("spec", [".3e", ".2f", "g", ".10g", "E", ".1%", ">20.3f", "+.1e", ",.2f", "012.3f"])
@pytest.mark.parametrize("number", [0.1, -1.5e10, 123456.789, 2.5e-8])
def test_floats_format_as_pythons(number, spec):
    assert format(of(number), spec) == format(number, spec)
    assert format(of(Fraction(number)), spec) == format(number, spec)


def test_formats_what_no_double_holds():
    assert f"{of(LARGE):.3e}" == "1.000e+400"
    assert f"{of(LARGE):d}" == str(LARGE)
    assert f"{of(LARGE)}" == str(LARGE)
    assert f"{of(Fraction(LARGE, 3)):.5e}" == "3.33333e+399"
    assert f"{of(Fraction(1, 3)):.30f}" == "0." + "3" * 30
    assert f"{of(Fraction(1, 3))}" == "1/3"
    assert f"{of(Fraction(1, 3)):>5}" == "  1/3"
    assert f"{of(10**25 + 1):.25e}" == "1.0000000000000000000000001e+25"
    assert f"{libperm.compute(np.diag([1e200, 1e200])):.3e}" == "1.000e+400"
    assert f"{libperm.compute(np.diag([1e-200, 1e-200])):.3e}" == "1.000e-400"
    digits = libperm.compute([[0.1]], precision="dd")
    assert f"{digits:.25f}" == f"{Decimal(0.1):.25f}"
    with pytest.raises(ValueError, match="format"):
        f"{of(0.5):d}"
