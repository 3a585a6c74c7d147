"""Estimates with a guarantee."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import libperm

ONES = [[1.0] * 50 for _ in range(50)]
LOG10 = math.lgamma(51) / math.log(10)


def test_within_epsilon() -> None:
    for seed in (1, 2):
        found = libperm.estimate(ONES, epsilon=0.05, rng=seed, without="merge,periodic,structure")
        assert not found.exact
        assert not found.additive
        assert abs(10 ** (found.value.log10 - LOG10) - 1) <= 0.05
        assert found.lower.log10 <= LOG10 + 1e-9
        assert found.upper.log10 >= LOG10 - 1e-9
        assert found.samples > 0
        assert "0.05" in str(found)
    again = libperm.estimate(ONES, epsilon=0.05, rng=2, without="merge,periodic,structure", threads=1)
    assert again.value == found.value
    assert (again.lower, again.upper, again.samples) == (found.lower, found.upper, found.samples)


def test_small_is_exact() -> None:
    found = libperm.estimate([[1, 2], [3, 4]])
    assert found.exact
    assert float(found) == 10
    assert str(found) == "1.00000e+01"
    assert libperm.estimate([[0, 0], [3, 4]]).value.mantissa == 0
    assert complex(libperm.estimate([[1j, 2], [3, 4]])) == 6 + 4j


def test_bad_input() -> None:
    for bad in (
        {"epsilon": 0},
        {"epsilon": 1.0},
        {"delta": 0},
        {"delta": -1},
        {"rng": -1},
        {"samples": -1},
        {"epsilon": "a"},
    ):
        with pytest.raises(libperm.InvalidOptionError, match=next(iter(bad))):
            libperm.estimate([[1.0]], **bad)  # type: ignore[arg-type]
    with pytest.raises(libperm.InvalidOptionError, match="nesting"):
        libperm.estimate([[1.0]], method="guess")
    with pytest.raises(libperm.InvalidMatrixError, match="negative"):
        libperm.estimate([[1.0, 1.0], [1.0, -1.0]], method="nesting")
    sparse = [[float((i - j) % 150 in (0, 1, 5, 11, 37, 71)) for j in range(150)] for i in range(150)]
    with pytest.raises(libperm.RefusedError):
        libperm.estimate(sparse, time_limit=1, without="periodic")


def test_shards_have_the_bits_of_one_call() -> None:
    options = {"epsilon": 0.0005, "rng": 5, "without": "merge,periodic,structure"}
    ones = [[float(i != j) for j in range(40)] for i in range(40)]
    whole = libperm.estimate(ones, **options)  # type: ignore[arg-type]
    one = libperm.Estimation(ones, threads=1, **options)  # type: ignore[arg-type]
    count = one.shards()
    assert count > 1
    partials = [libperm.Estimation(ones, **options).run_shard(k) for k in reversed(range(count))]  # type: ignore[arg-type]
    found = one.combine(partials)
    assert (found.value, found.lower, found.upper) == (whole.value, whole.lower, whole.upper)
    assert found.samples == whole.samples
    with pytest.raises(libperm.Error, match="the first is 0"):
        one.combine(partials[:-1])
    with pytest.raises(libperm.Error, match="other options"):
        libperm.Estimation(ones, epsilon=0.1).combine(partials)


def test_checkpoint(tmp_path: Path) -> None:
    kept, more = tmp_path / "kept", {"epsilon": 0.0005, "without": "merge,periodic,structure"}
    ones = [[float(i != j) for j in range(40)] for i in range(40)]
    found = libperm.estimate(ones, checkpoint=kept, **more)  # type: ignore[arg-type]
    again = libperm.estimate(ones, checkpoint=kept, **more)  # type: ignore[arg-type]
    assert (again.value, again.samples) == (found.value, found.samples)
    assert found.value == libperm.estimate(ones, **more).value  # type: ignore[arg-type]
    with pytest.raises(libperm.InvalidOptionError, match="other options"):
        libperm.estimate(ones, checkpoint=kept, epsilon=0.1)
