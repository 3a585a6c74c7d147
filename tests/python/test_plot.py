"""Pictures of plans and of matrices of equal cells."""

import sys

import numpy as np
import pytest
from scipy import sparse
from support import SEED

import libperm

RNG = np.random.default_rng(SEED)
SPARSE = sparse.random_array((30, 30), density=0.1, rng=RNG) + sparse.eye_array(30)
PICTURES = {
    "dense": lambda: libperm.Plan(RNG.normal(size=(9, 9))),
    "sparse": lambda: libperm.Plan(SPARSE),
    "in blocks": lambda: libperm.Plan(np.kron(np.eye(4), np.ones((5, 5))) + np.tri(20)),
    "wide": lambda: libperm.Plan(RNG.normal(size=(3, 7))),
    "tall": lambda: libperm.Plan(np.ones((7, 3), int)),
    "no term": lambda: libperm.Plan(np.zeros((4, 4))),
    "nothing": lambda: libperm.Plan([]),
    "one": lambda: libperm.Plan([[2]]),
    "on a tree": lambda: libperm.Plan(SPARSE, engine="frontier"),
    "large": lambda: libperm.Plan(sparse.eye_array(3000) + sparse.eye_array(3000, k=1)),
    "open": lambda: libperm.Periodic.lattice("grid:4"),
    "joined": lambda: libperm.Periodic([[1, 1, 1]], joined=True),
    "uncoupled": lambda: libperm.Periodic([[1, 2], [3, 4]]),
}


def squares_in(figure):
    return sum(len(one.get_paths()) for axes in figure.axes for one in axes.collections)


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_figure(name, ending, tmp_path):
    pytest.importorskip("matplotlib")
    figure = PICTURES[name]().plot(tmp_path / f"a.{ending}")
    assert 1000 < (tmp_path / f"a.{ending}").stat().st_size < 5e6
    assert len(figure.axes) >= 1
    for axes in figure.axes:
        assert axes.get_title()
        assert np.isfinite([*axes.get_xlim(), *axes.get_ylim()]).all()


def test_each_entry_is_drawn():
    pytest.importorskip("matplotlib")
    plan = libperm.Plan(np.triu(np.ones((5, 5)), -1), without="all")
    figure = plan.plot()
    assert squares_in(figure) == plan.nnz
    engines = [one for one in plan.explain_json()["candidates"] if one.get("seconds") is not None]
    assert len(figure.axes[-1].patches) == len(engines) > 0
    cell = libperm.Periodic([[1, 1, 1]])
    assert squares_in(cell.plot()) == 3 + (3 * 5 - 2)
    assert squares_in(libperm.Periodic([[1, 1, 1]], joined=True).plot()) == 3 + 3 * 5


def test_pictures_need_matplotlib(monkeypatch, tmp_path):
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(libperm.UnsupportedError, match="matplotlib"):
        PICTURES["one"]().plot(tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
