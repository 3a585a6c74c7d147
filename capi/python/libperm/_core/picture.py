"""What a plan, or a matrix of equal cells, looks like: figures of matplotlib."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Callable

from libperm._core.errors import UnsupportedError

# Okabe and Ito's colours, which can be told apart by the colour-blind.
_BLUE, _GREY, _ORANGE, _GREEN = "#0072B2", "#999999", "#D55E00", "#009E73"
_MOST_CELLS = 200  # of a side, beyond which entries share one
_WIDTH, _HEIGHT = 5.8, 5.3  # of a panel with its names, in inches

Place = tuple[int, int, bool]  # row, column, and whether the permanent depends on it
Outline = tuple[int, int, int, str]  # a square block: row and column of its corner, its lines, its colour
Panel = Callable[[Any], None]  # draws into axes


def picture_of_plan(explained: dict[str, Any], file: str | os.PathLike[str] | None) -> Any:
    """Returns a Figure, and writes it where a file is named. explained: a plan's JSON with the key
    "picture"."""
    picture, n = explained["picture"], explained["n"]
    places = _places(picture)
    blocks, costliest = picture["blocks"], picture["costliest"]
    panels: list[Panel] = [partial(_pattern, f"as given: n = {n}, {len(places)} entries", n, n, places, ())]
    if blocks and len(blocks["sizes"]) > 1:
        panels.append(_taken_apart(n, places, blocks, costliest))
    if costliest and costliest["open"]:
        panels.append(partial(_frontier, costliest))
    if explained["candidates"]:
        panels.append(partial(_engines, explained["candidates"]))
    return _figure(panels, file)


def picture_of_periodic(
    rows: int,
    cell: Sequence[tuple[int, int]],
    joined: bool,
    reach: int,
    file: str | os.PathLike[str] | None,
) -> Any:
    """The same; cell: the places of its entries, in `rows` rows and those of the cells around it."""
    count = 2 * reach + 3
    places = []
    for k in range(count):
        for i, j in cell:
            to, column = divmod(j + (k - reach) * rows, rows)
            if joined or 0 <= to < count:
                places.append((k * rows + i, to % count * rows + column, True))
    own = [(0, rows * reach, rows, _ORANGE)]
    cells = [(k * rows, k * rows, rows, _ORANGE) for k in range(count)]
    name = f"a cell: {rows} rows, coupled to {reach} on either side"
    of_cell = partial(_pattern, name, rows, rows * (2 * reach + 1), [(i, j, True) for i, j in cell], own)
    name = f"{count} cells, {'joined' if joined else 'open'} ends"
    return _figure([of_cell, partial(_pattern, name, count * rows, count * rows, places, cells)], file)


def _figure(panels: Sequence[Panel], file: str | os.PathLike[str] | None) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UnsupportedError("pictures are drawn by matplotlib, which is not installed") from None
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(columns * _WIDTH, rows * _HEIGHT), layout="constrained")
    for k, panel in enumerate(panels, 1):
        panel(figure.add_subplot(rows, columns, k))
    if file is not None:
        figure.savefig(file)
    return figure


def _places(pattern: dict[str, Any]) -> list[Place]:
    starts = pattern["row_ptr"]
    rows = (i for i in range(len(starts) - 1) for _ in range(starts[i], starts[i + 1]))
    return [(i, j, True) for i, j in zip(rows, pattern["col"])]


def _pattern(
    title: str, rows: int, columns: int, places: Iterable[Place], outlines: Iterable[Outline], axes: Any
) -> None:
    """Entries as squares; where there are many lines several share one, the darker the more they are."""
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    lines = max(1, -(-max(rows, columns) // _MOST_CELLS))
    counts = Counter((i // lines, j // lines, is_kept) for i, j, is_kept in places)
    most = max(counts.values(), default=1)
    in_order = sorted(counts.items(), key=lambda one: one[0][2])
    squares = [Rectangle((j * lines, i * lines), lines, lines) for (i, j, _), _ in in_order]
    colours = [to_rgba(_BLUE if is_kept else _GREY, 0.1 + 0.9 * x / most) for (_, _, is_kept), x in in_order]
    axes.add_collection(PatchCollection(squares, facecolors=colours, linewidths=0))
    for row, column, size, colour in outlines:
        axes.add_patch(Rectangle((column, row), size, size, fill=False, edgecolor=colour))
    axes.set(title=title, xlim=(0, max(columns, 1)), ylim=(max(rows, 1), 0), aspect="equal")


def _taken_apart(n: int, places: list[Place], blocks: dict[str, Any], costliest: Any) -> Panel:
    row, column = ({line: k for k, line in enumerate(blocks[side])} for side in ("rows", "cols"))
    block = [b for b, size in enumerate(blocks["sizes"]) for _ in range(size)]
    ordered = [(row[i], column[j], block[row[i]] == block[column[j]]) for i, j, _ in places]
    dropped = sum(not is_kept for _, _, is_kept in ordered)
    title = f"taken apart: {len(blocks['sizes'])} blocks, {dropped} entries in no perfect matching"
    outlines, begin = [], 0
    for b, size in enumerate(blocks["sizes"]):
        is_costliest = costliest is not None and costliest["block"] == b
        outlines.append((begin, begin, size, _ORANGE if is_costliest else "#000000"))
        begin += size
    outlines.sort(key=lambda outline: outline[3] == _ORANGE)  # drawn over its neighbours
    return partial(_pattern, title, n, n, ordered, outlines)


def _frontier(block: dict[str, Any], axes: Any) -> None:
    steps = range(1, len(block["open"]) + 1)
    states = [math.log2(max(1.0, count)) for count in block["states"]]
    axes.plot(steps, block["open"], color=_GREY, label="open columns")
    axes.plot(steps, states, color=_BLUE, label="log2 of states")
    axes.set(title="the frontier of the block that takes longest", xlabel="rows done", ylim=(0, None))
    axes.legend()


def _engines(candidates: list[dict[str, Any]], axes: Any) -> None:
    known = [one for one in candidates if one.get("seconds") is not None]
    times = [math.log10(max(one["seconds"], 1e-9)) for one in known]
    least = math.floor(min(times, default=0)) - 1
    axes.barh(
        range(len(known)),
        [time - least for time in times],
        left=least,
        color=[_GREEN if one["status"] == "chosen" else _BLUE for one in known],
        tick_label=[" ".join([one["engine"], one.get("form", "")]).strip() for one in known],
    )
    axes.set(title="engines: predicted time, the chosen one green", xlabel="log10 of seconds")
    axes.invert_yaxis()
