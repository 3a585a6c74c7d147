"""What a plan, or a matrix of equal cells, looks like."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from libperm._core.drawing import Line, Panel, Square

# Okabe and Ito's colours, which can be told apart by the colour-blind.
_BLUE, _GREY, _ORANGE, _GREEN = "#0072B2", "#999999", "#D55E00", "#009E73"
_MOST_CELLS = 200  # of a side, beyond which entries share one

Place = tuple[int, int, bool]  # row, column, and whether the permanent depends on it


def panels_of_plan(explained: dict[str, Any]) -> list[Panel]:
    """explained: a plan's JSON with the key "picture"."""
    picture = explained["picture"]
    places = _places(picture)
    n = explained["n"]
    panels = [_pattern(f"as given: n = {n}, {len(places)} entries", n, places)]
    blocks = picture["blocks"]
    if blocks and len(blocks["sizes"]) > 1:
        panels.append(_taken_apart(n, places, picture))
    costliest = picture["costliest"]
    if costliest and costliest["open"]:
        panels.append(_frontier(costliest))
    if explained["candidates"]:
        panels.append(_engines(explained["candidates"]))
    return panels


def panels_of_periodic(rows: int, cell: Sequence[tuple[int, int]], joined: bool, reach: int) -> list[Panel]:
    """cell: the places of its entries, in `rows` rows and those of the cells around it."""
    width = rows * (2 * reach + 1)
    name = f"a cell: {rows} rows, coupled to {reach} on either side"
    of_cell = _pattern(name, width, [(i, j, True) for i, j in cell], rows)
    own = Square(rows * reach, 0, rows, rows, _ORANGE, filled=False)
    count = 2 * reach + 3
    places = []
    for k in range(count):
        for i, j in cell:
            to, column = divmod(j + (k - reach) * rows, rows)
            if joined or 0 <= to < count:
                places.append((k * rows + i, to % count * rows + column, True))
    cells = [Square(k * rows, k * rows, rows, rows, _ORANGE, filled=False) for k in range(count)]
    of_matrix = _pattern(f"{count} cells, {'joined' if joined else 'open'} ends", count * rows, places)
    return [_outlined(of_cell, [own]), _outlined(of_matrix, cells)]


def _places(pattern: dict[str, Any]) -> list[Place]:
    starts = pattern["row_ptr"]
    rows = (i for i in range(len(starts) - 1) for _ in range(starts[i], starts[i + 1]))
    return [(i, j, True) for i, j in zip(rows, pattern["col"])]


def _pattern(title: str, n: int, places: Iterable[Place], n_rows: int | None = None) -> Panel:
    """Of entries as squares; where there are many lines several share one, the darker the more they are."""
    rows = n if n_rows is None else n_rows
    lines = max(1, -(-max(n, rows) // _MOST_CELLS))
    counts = Counter((i // lines, j // lines, is_kept) for i, j, is_kept in places)
    most = max(counts.values(), default=1)
    squares = [
        Square(j * lines, i * lines, lines, lines, _shade(_BLUE if is_kept else _GREY, count / most))
        for (i, j, is_kept), count in sorted(counts.items(), key=lambda one: one[0][2])
    ]
    return Panel(title, (0, max(n, 1)), (max(rows, 1), 0), squares=squares, is_square=True)


def _outlined(panel: Panel, outlines: list[Square]) -> Panel:
    return Panel(
        panel.title, panel.x, panel.y, squares=[*panel.squares, *outlines], is_square=panel.is_square
    )


def _shade(colour: str, share: float) -> str:
    """Mixes it with white: a tenth of it at least."""
    part = 0.1 + 0.9 * share
    channels = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 - part * (255 - channel)):02x}" for channel in channels)


def _taken_apart(n: int, places: list[Place], picture: dict[str, Any]) -> Panel:
    blocks, costliest = picture["blocks"], picture["costliest"]
    row, column = ({line: k for k, line in enumerate(blocks[side])} for side in ("rows", "cols"))
    block = [b for b, size in enumerate(blocks["sizes"]) for _ in range(size)]
    ordered = [(row[i], column[j], block[row[i]] == block[column[j]]) for i, j, _ in places]
    dropped = sum(not is_kept for _, _, is_kept in ordered)
    title = f"taken apart: {len(blocks['sizes'])} blocks, {dropped} entries in no perfect matching"
    outlines, begin = [], 0
    for b, size in enumerate(blocks["sizes"]):
        is_costliest = costliest is not None and costliest["block"] == b
        outlines.append(
            Square(begin, begin, size, size, _ORANGE if is_costliest else "#000000", filled=False)
        )
        begin += size
    outlines.sort(key=lambda outline: outline.colour == _ORANGE)  # drawn over its neighbours
    return _outlined(_pattern(title, n, ordered), outlines)


def _frontier(block: dict[str, Any]) -> Panel:
    steps = range(1, len(block["open"]) + 1)
    states = [math.log2(max(1.0, count)) for count in block["states"]]
    lines = [
        Line("open columns", _GREY, [(float(k), float(x)) for k, x in zip(steps, block["open"])]),
        Line("log2 of states", _BLUE, [(float(k), x) for k, x in zip(steps, states)]),
    ]
    highest = max([1.0, *(y for line in lines for _, y in line.points)])
    title = "the frontier of the block that takes longest"
    return Panel(title, (0, max(len(steps), 1)), (0, 1.1 * highest), "rows done", lines=lines)


def _engines(candidates: list[dict[str, Any]]) -> Panel:
    timed = [(one, one.get("seconds")) for one in candidates]
    known = [(one, math.log10(max(seconds, 1e-9))) for one, seconds in timed if seconds is not None]
    low = math.floor(min((at for _, at in known), default=0)) - 1
    high = math.ceil(max((at for _, at in known), default=0)) + 1
    squares = [
        Square(low, k + 0.1, at - low, 0.8, _GREEN if one["status"] == "chosen" else _BLUE)
        for k, (one, at) in enumerate(known)
    ]
    rows = [
        (k + 0.5, " ".join([one["engine"], one.get("form", "")]).strip()) for k, (one, _) in enumerate(known)
    ]
    return Panel(
        "engines: predicted time, the chosen one green",
        (low, high),
        (max(len(known), 1), 0),
        "log10 of seconds",
        squares=squares,
        rows=rows,
    )
