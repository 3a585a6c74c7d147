"""Shards and checkpoints."""

import random
import threading

import pytest

import libperm


def matrix(n, seed=1):
    generator = random.Random(seed)
    return [[generator.uniform(-1, 1) for _ in range(n)] for _ in range(n)]


def test_shards_in_any_order_have_the_bits_of_one_run():
    plan = libperm.Plan(matrix(22), engine="ryser", without="all")
    assert plan.shards() > 1
    numbers = list(range(plan.shards()))
    random.Random(2).shuffle(numbers)
    other = libperm.Plan.from_bytes(plan.to_bytes(), threads=1)
    partials = [(plan if k % 2 else other).run_shard(k) for k in numbers]
    combined, whole = plan.combine(partials + partials[:1]), plan.compute()
    assert (combined.value, combined.rel_error_bound) == (
        whole.value,
        whole.rel_error_bound,
    )
    with pytest.raises(libperm.Error, match="missing, the first is"):
        plan.combine(partials[1:])
    with pytest.raises(libperm.Error, match="there is no shard"):
        plan.run_shard(plan.shards())
    with pytest.raises(libperm.Error, match="other values"):
        libperm.Plan(matrix(22, 3), engine="ryser", without="all").combine(partials)


def test_a_stopped_call_goes_on(tmp_path):
    A, file = matrix(25), tmp_path / "kept"
    options = {"engine": "ryser", "without": "all", "device": "cpu"}
    seen, enough = [], threading.Event()

    def progress(fraction, _left):
        seen.append(fraction)
        if fraction > 0.1:
            enough.set()
            raise KeyboardInterrupt

    with pytest.raises((KeyboardInterrupt, libperm.Error)):
        libperm.permanent(A, checkpoint=file, checkpoint_seconds=0.05, progress=progress, **options)
    assert enough.is_set()
    assert file.exists()
    assert libperm.permanent(A, checkpoint=file, **options) == libperm.permanent(A, **options)
    with pytest.raises(libperm.Error, match="of other values|of another"):
        libperm.permanent(matrix(25, 4), checkpoint=file, **options)


@pytest.mark.parametrize("engine", ["auto", "frontier"])
def test_derivatives_go_on_from_their_checkpoint(tmp_path, engine):
    np = pytest.importorskip("numpy")
    A, file = matrix(14), tmp_path / "kept"
    A, B = np.array(A), np.array(matrix(14, 5))
    expected = libperm.gradient(A, engine=engine)
    for _ in range(2):  # begun, and there already
        assert np.array_equal(libperm.gradient(A, engine=engine, checkpoint=file), expected)
    with pytest.raises(libperm.Error, match="of other values"):
        libperm.gradient(B, engine=engine, checkpoint=file)
    with pytest.raises(libperm.Error, match="of derivatives"):
        libperm.permanent(A, engine=engine, checkpoint=file)


def test_minors_go_on_from_their_checkpoint(tmp_path):
    np = pytest.importorskip("numpy")
    many = np.array([matrix(9, seed) for seed in range(5)])[:, :, :8]
    for k, (call, given) in enumerate(
        [
            (libperm.sub_permanents, many[0]),
            (libperm.sub_permanents, many),
            (libperm.gradients, np.ascontiguousarray(many[:, :8])),
        ]
    ):
        file = tmp_path / str(k)
        for _ in range(2):
            assert np.array_equal(call(given, checkpoint=file), call(given))
        with pytest.raises(libperm.Error, match="is of other matrices"):
            call(given + 1, checkpoint=file)


def test_samples_go_on_from_their_checkpoint(tmp_path):
    np = pytest.importorskip("numpy")
    A, file = [[1, 2, 0], [0, 3, 1], [1, 0, 1]], tmp_path / "kept"
    expected = libperm.sample(A, 1000, rng=4)
    for _ in range(2):  # begun, and there already
        assert np.array_equal(libperm.sample(A, 1000, rng=4, checkpoint=file), expected)
    with pytest.raises(libperm.Error, match="of samples with another seed"):
        libperm.sample(A, 1000, rng=5, checkpoint=file)
    with pytest.raises(libperm.Error, match="of samples of matchings"):
        libperm.matchings(A, checkpoint=file)


def test_batches_go_on_from_their_checkpoint(tmp_path):
    np = pytest.importorskip("numpy")
    many, file = np.array([matrix(12, seed) for seed in range(6)]), tmp_path / "kept"
    expected = libperm.Plan(many[0], engine="ryser").permanents(many)
    for _ in range(2):
        plan = libperm.Plan(many[0], engine="ryser", checkpoint=file)
        assert np.array_equal(plan.permanents(many), expected)
    with pytest.raises(libperm.Error, match="of other values"):
        plan.permanents(many + 1)
    with pytest.raises(libperm.Error, match="of a batch"):
        plan.permanent(many[0])
