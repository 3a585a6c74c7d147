"""Pictures of plans and of matrices of equal cells, by matplotlib and without it."""

import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import sparse
from support import SEED

import libperm

RNG = np.random.default_rng(SEED)
SVG = "{http://www.w3.org/2000/svg}"
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


@pytest.fixture
def without_matplotlib(monkeypatch):
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.patches"):
        monkeypatch.setitem(sys.modules, name, None)


def squares_in(svg):
    return [
        one
        for one in ElementTree.fromstring(svg.text).iter(f"{SVG}rect")
        if (one.get("fill") or "").startswith("#")
    ]


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.usefixtures("without_matplotlib")
def test_svg(name, tmp_path):
    picture = PICTURES[name]().plot(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == picture.text == str(picture) == picture._repr_svg_()
    root = ElementTree.fromstring(picture.text)
    width, height = float(root.get("width")), float(root.get("height"))
    for one in root.iter(f"{SVG}rect"):
        assert 0 <= float(one.get("width")) <= width
        assert 0 <= float(one.get("height")) <= height
    assert len(picture.text) < 5e6
    assert "nan" not in picture.text


@pytest.mark.parametrize("name", PICTURES)
def test_figure(name, tmp_path):
    pytest.importorskip("matplotlib")
    figure = PICTURES[name]().plot(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 1000
    assert len(figure.axes) >= 1


@pytest.mark.usefixtures("without_matplotlib")
def test_each_entry_is_drawn():
    plan = libperm.Plan(np.triu(np.ones((5, 5)), -1), without="all")
    engines = len(plan.explain_json()["candidates"])
    assert len(squares_in(plan.plot())) == plan.nnz + engines
    cell = libperm.Periodic([[1, 1, 1]])
    assert len(squares_in(cell.plot())) == 3 + (3 * 5 - 2)
    assert len(squares_in(libperm.Periodic([[1, 1, 1]], joined=True).plot())) == 3 + 3 * 5


@pytest.mark.usefixtures("without_matplotlib")
def test_other_files_need_matplotlib(tmp_path):
    with pytest.raises(libperm.UnsupportedError, match="matplotlib"):
        PICTURES["one"]().plot(tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_words_are_escaped():
    from libperm._core.drawing import Panel, svg_of

    assert "a &lt; b" in svg_of([Panel("a < b", (0, 1), (0, 1))])
