"""One name for seeds: rng, as numpy's functions take it; that of before warns and means what it did."""

import random

import numpy as np
import pytest
from support import SEED

import libperm
import libperm.boson
from libperm._core.options import Prepared, Seed, seed_of

A = np.random.default_rng(SEED).random((9, 9))
U = np.linalg.qr(A)[0]
SAMPLERS = [
    lambda **options: libperm.sample(A, 50, **options),
    lambda **o: libperm.boson.sample(U, 4, 50, **o),
]


@pytest.mark.parametrize("sample", SAMPLERS)
def test_samples_follow_from_rng(sample):
    first = sample(rng=SEED)
    assert (first == sample(rng=SEED, threads=1)).all()
    assert (first == sample(rng=np.int64(SEED))).all()
    generator = np.random.default_rng(SEED)
    assert (first == sample(rng=generator)).all()
    assert (first != sample(rng=generator)).any()  # which has gone on
    assert (first == sample(rng=np.random.SeedSequence(SEED))).all()
    assert (first != sample(rng=SEED + 1)).any()
    assert (sample() != sample()).any()
    assert (sample(rng=None) != sample(rng=None)).any()


def test_seed_by_its_place():
    assert (libperm.sample(A, 50, 3) == libperm.sample(A, 50, rng=3)).all()


def test_a_checkpoint_goes_on_without_rng(tmp_path):
    kept = tmp_path / "kept"
    first = libperm.sample(A, 50, checkpoint=kept)
    assert (first == libperm.sample(A, 50, checkpoint=kept)).all()


def test_as_an_option():
    def found(**options):
        return Prepared(options, None).struct.seed

    drawn = int(np.random.default_rng(SEED).integers(2**64, dtype=np.uint64))
    assert found(rng=SEED) == found(rng=np.random.default_rng(SEED)) == drawn
    assert found() == found(rng=None) == found(rng=Seed(0))
    for bad in (-1, 1.5, "x", 2**64, random.Random(1)):
        with pytest.raises(libperm.InvalidOptionError, match="rng is "):
            found(rng=bad)
    generator = np.random.default_rng(SEED)
    plan = libperm.Plan(A, rng=generator)
    again = libperm.Plan.from_bytes(plan.to_bytes())
    assert again._options.struct.seed == plan._options.struct.seed == drawn
    assert libperm.estimate(A, rng=3).value == libperm.estimate(A, rng=np.random.default_rng(3)).value


def test_a_seed_is_drawn_once():
    seed = seed_of(SEED)
    assert seed_of(seed) == seed
    assert seed_of(None) != seed_of(None)
