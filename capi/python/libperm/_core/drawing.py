"""Panels of squares, lines and names as a figure of matplotlib, or as SVG where there is none."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from libperm._core.errors import UnsupportedError

Point = tuple[float, float]

WIDTH, HEIGHT = 420, 380  # of a panel with its names, in points
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 50, 50


@dataclass(frozen=True)
class Square:
    """From its upper left corner; where `filled` is not set an outline."""

    x: float
    y: float
    width: float
    height: float
    colour: str
    filled: bool = True


@dataclass(frozen=True)
class Line:
    name: str
    colour: str
    points: list[Point]


@dataclass(frozen=True)
class Panel:
    """x to the right; y downwards where its first bound is the larger one."""

    title: str
    x: Point
    y: Point
    x_name: str = ""
    y_name: str = ""
    squares: list[Square] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    rows: list[tuple[float, str]] = field(default_factory=list)  # names in place of numbers along y
    is_square: bool = False  # one unit of x is one of y


@dataclass(frozen=True)
class Svg:
    """A picture as the text of an SVG file; notebooks show it."""

    text: str

    def save(self, file: str | os.PathLike[str]) -> None:
        Path(file).write_text(self.text, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.text


def draw(panels: Sequence[Panel], file: str | os.PathLike[str] | None) -> Any:
    """Returns a matplotlib.figure.Figure, or an Svg without matplotlib; writes it where a file is named."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        if file is not None and not os.fspath(file).lower().endswith(".svg"):
            raise UnsupportedError(
                f"{os.fspath(file)}: without matplotlib only .svg files are written"
            ) from None
        svg = Svg(svg_of(panels))
        if file is not None:
            svg.save(file)
        return svg
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(columns * WIDTH / 72, rows * HEIGHT / 72), layout="constrained")
    for k, panel in enumerate(panels):
        _fill_axes(figure.add_subplot(rows, columns, k + 1), panel)
    if file is not None:
        figure.savefig(file)
    return figure


def _fill_axes(axes: Any, panel: Panel) -> None:
    from matplotlib.patches import Rectangle

    axes.set(title=panel.title, xlabel=panel.x_name, ylabel=panel.y_name, xlim=panel.x, ylim=panel.y)
    for s in panel.squares:
        colours: dict[str, Any] = (
            {"fc": s.colour, "ec": "none"} if s.filled else {"fc": "none", "ec": s.colour}
        )
        axes.add_patch(Rectangle((s.x, s.y), s.width, s.height, **colours))
    for line in panel.lines:
        axes.plot(*zip(*line.points), color=line.colour, label=line.name)
    if panel.lines:
        axes.legend()
    if panel.rows:
        axes.set_yticks([at for at, _ in panel.rows], [name for _, name in panel.rows])
    if panel.is_square:
        axes.set_aspect("equal")


def svg_of(panels: Sequence[Panel]) -> str:
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    width, height = columns * WIDTH, rows * HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for k, panel in enumerate(panels):
        parts.append(f'<g transform="translate({k % columns * WIDTH} {k // columns * HEIGHT})">')
        parts += _SvgPanel(panel).parts()
        parts.append("</g>")
    return "\n".join([*parts, "</svg>\n"])


class _SvgPanel:
    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self._width, self._height = float(WIDTH - _LEFT - _RIGHT), float(HEIGHT - _TOP - _BOTTOM)
        if panel.is_square:
            unit = min(self._width / _extent(panel.x), self._height / _extent(panel.y))
            self._width, self._height = unit * _extent(panel.x), unit * _extent(panel.y)

    def parts(self) -> list[str]:
        panel = self._panel
        middle = _LEFT + self._width / 2
        under = _TOP + self._height
        return [
            _text(middle, _TOP - 12, panel.title, 'text-anchor="middle" font-size="14"'),
            *map(self._square, panel.squares),
            *map(self._line, panel.lines),
            f'<rect x="{_LEFT}" y="{_TOP}" width="{self._width:.2f}" height="{self._height:.2f}" fill="none" '
            'stroke="black"/>',
            *self._tics(),
            _text(middle, under + 36, panel.x_name, 'text-anchor="middle"'),
            _text(
                16, _TOP + self._height / 2, panel.y_name,
                f'text-anchor="middle" transform="rotate(-90 16 {_TOP + self._height / 2:.2f})"',
            ),
            *(
                _text(_LEFT + 8, _TOP + 18 + 16 * k, line.name, f'fill="{line.colour}"')
                for k, line in enumerate(panel.lines)
            ),
        ]  # fmt: skip

    def _at(self, x: float, y: float) -> Point:
        (x0, x1), (y0, y1) = self._panel.x, self._panel.y
        down = (y - y1) / (y0 - y1)  # of the height
        return _LEFT + (x - x0) / (x1 - x0) * self._width, _TOP + down * self._height

    def _square(self, s: Square) -> str:
        (x0, y0), (x1, y1) = self._at(s.x, s.y), self._at(s.x + s.width, s.y + s.height)
        x, y, width, height = min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0)
        colours = f'fill="{s.colour}"' if s.filled else f'fill="none" stroke="{s.colour}"'
        return f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" {colours}/>'

    def _line(self, line: Line) -> str:
        points = " ".join("{:.2f},{:.2f}".format(*self._at(*point)) for point in line.points)
        return f'<polyline points="{points}" fill="none" stroke="{line.colour}" stroke-width="1.5"/>'

    def _tics(self) -> list[str]:
        panel, under = self._panel, _TOP + self._height + 18
        along_y = panel.rows or [(tic, f"{tic:g}") for tic in _tics(panel.y)]
        return [
            *(
                _text(self._at(tic, panel.y[0])[0], under, f"{tic:g}", 'text-anchor="middle"')
                for tic in _tics(panel.x)
            ),
            *(
                _text(_LEFT - 6, self._at(panel.x[0], at)[1] + 4, name, 'text-anchor="end"')
                for at, name in along_y
            ),
        ]


def _extent(bounds: Point) -> float:
    return abs(bounds[1] - bounds[0])


def _tics(bounds: Point) -> list[float]:
    """About five round numbers."""
    low, high = min(bounds), max(bounds)
    power = 10.0 ** math.floor(math.log10(high - low)) / 10
    distance = next(k * power for k in (1, 2, 5, 10, 20, 50) if k * power * 6 >= high - low)
    first, last = math.ceil(low / distance), math.floor(high / distance)
    return [k * distance for k in range(first, last + 1)]


def _text(x: float, y: float, text: str, attributes: str) -> str:
    return f'<text x="{x:.2f}" y="{y:.2f}" {attributes}>{escape(text)}</text>' if text else ""
