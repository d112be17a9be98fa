"""A chart as inline SVG with the colors of its page.

Matplotlib would take half a second to load, and most runs take less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from html import escape
from typing import NamedTuple, TypeVar

from anonymizer.report.drawing import (
    FONT,
    Axis,
    Bars,
    Drawing,
    Element,
    Level,
    Line,
    Marks,
    Palette,
    Spans,
    Stroke,
    Text,
)


class Frame(NamedTuple):
    """The size of a chart and its margins around the axes, in pixels."""

    width: float
    height: float
    left: float = 10.0
    right: float = 10.0
    top: float = 8.0
    bottom: float = 8.0


T = TypeVar("T")


def inline_svg(name: str, label: str, frame: Frame, draw: Callable[[T, Palette], Drawing], shown: T) -> str:
    """Draw a chart for a page.

    Parameters
    ----------
    name: unique on the page; prefix of every id.
    label: description for screen readers.
    draw: returns the chart of ``shown`` in the colors of a palette.

    Returns
    -------
    An ``svg`` element; the same chart gives the same bytes.
    """
    content = _Canvas(frame, name, draw(shown, _VARIABLES)).content()
    named = escape(label, quote=False).replace('"', "&quot;")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {frame.width:g} {frame.height:g}" role="img" '
        f'aria-label="{named}" style="--width: {frame.width:g}px">{content}</svg>'
    )


_VARIABLES = Palette(**{each.name: f"var(--{each.name})" for each in fields(Palette)})
"""The colors of the page's style sheet."""

_DASHES = {"-": "", "--": "6.5 3", ":": "2 3.3"}
"""Dashes of each style of line, in pixels for each pixel of width divided by 1.8."""

_WIDTH = 0.58
"""Mean width of a character, in heights of its font."""


def _polygon(corners: int, inner: float = 0.0) -> list[tuple[float, float]]:
    """Return a regular polygon in a circle of diameter 1, or a star, from the top clockwise."""
    radii = [0.5, inner] * corners if inner else [0.5] * corners
    angles = [2 * math.pi * each / len(radii) for each in range(len(radii))]
    return [(r * math.sin(angle), -r * math.cos(angle)) for r, angle in zip(radii, angles, strict=True)]


def _plus(turned: float) -> list[tuple[float, float]]:
    corners = [(1, 3), (1, 1), (3, 1), (3, -1), (1, -1), (1, -3)]
    around = [*corners, *((-x, -y) for x, y in corners)]
    sine, cosine = math.sin(turned) / 6, math.cos(turned) / 6
    return [(x * cosine - y * sine, x * sine + y * cosine) for x, y in around]


_SHAPES = {
    "s": [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)],
    "D": [(0.0, -0.7), (0.7, 0.0), (0.0, 0.7), (-0.7, 0.0)],
    "^": [(0.0, -0.5), (0.5, 0.5), (-0.5, 0.5)],
    "v": [(0.0, 0.5), (0.5, -0.5), (-0.5, -0.5)],
    "P": _plus(0.0),
    "X": _plus(math.pi / 4),
    "p": _polygon(5),
    "*": _polygon(5, 0.19),
    "h": _polygon(6),
}
"""Corners of markers of size 1, those of matplotlib."""

_DISCS = {"o": 0.5, ".": 0.25}
"""Radii of round markers of size 1."""


def _marker(shape: str, x: float, y: float, size: float) -> str:
    """Return a marker as a piece of a path."""
    if shape in _DISCS:
        r = _DISCS[shape] * size
        return (
            f"M{x - r:.2f} {y:.2f}a{r:.2f} {r:.2f} 0 1 0 {2 * r:.2f} 0a{r:.2f} {r:.2f} 0 1 0 {-2 * r:.2f} 0Z"
        )
    if shape == "x":
        h = size / 2
        return f"M{x - h:.2f} {y - h:.2f}l{size:g} {size:g}m0 {-size:g}l{-size:g} {size:g}"
    return "M" + "L".join(f"{x + size * dx:.2f} {y + size * dy:.2f}" for dx, dy in _SHAPES[shape]) + "Z"


def ticks(low: float, high: float, most: int) -> list[float]:
    """Return round numbers from ``low`` to ``high``, at equal distances, at most ``most`` + 1.

    >>> ticks(0, 1, 5), ticks(0, 0.234, 5), ticks(2, 2, 5)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 0.05, 0.1, 0.15, 0.2], [2.0])
    """
    if high <= low:
        return [float(low)]
    raw = (high - low) / most
    unit = 10.0 ** math.floor(math.log10(raw))
    step = unit * next(each for each in (1, 2, 2.5, 5, 10) if each * unit >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{step * each:.9g}") for each in range(first, last + 1)]


_ANCHORS = {"left": "start", "center": "middle", "right": "end"}


class _Scale(NamedTuple):
    """An axis with its ends in pixels."""

    axis: Axis
    start: float
    end: float

    def pixel(self, value: float) -> float:
        """Return the place of a number."""
        axis = self.axis
        share = (float(value) - axis.low) / ((axis.high - axis.low) or 1.0)
        return self.start + share * (self.end - self.start)

    def share(self, value: float) -> float:
        """Return the place at a share of the axis."""
        return self.start + value * (self.end - self.start)

    def marked(self) -> list[tuple[float, str, str]]:
        """Return place in pixels, text and alignment of each tick."""
        axis = self.axis
        places = axis.places
        if places is None:
            places = ticks(min(axis.low, axis.high), max(axis.low, axis.high), axis.most)
        labels = axis.labels or [(text, "center") for text in self._formatted(places)]
        return [(self.pixel(place), *label) for place, label in zip(places, labels, strict=True)]

    def _formatted(self, places: Sequence[float]) -> list[str]:
        if self.axis.formatter is not None:
            return [self.axis.formatter(place) for place in places]
        digits = max((len(f"{place:.9f}".rstrip("0").partition(".")[2]) for place in places), default=0)
        return [f"{place:.{digits}f}" for place in places]


class _Canvas:
    """A chart in its frame.

    Parameters
    ----------
    name: prefix of ids.
    """

    def __init__(self, frame: Frame, name: str, drawing: Drawing) -> None:
        self._name, self._drawing = name, drawing
        self._x = _Scale(drawing.x, frame.left, frame.width - frame.right)
        self._y = _Scale(drawing.y, frame.height - frame.bottom, frame.top)

    def content(self) -> str:
        """Return the elements, from bottom to top."""
        x, y = self._x, self._y
        clip = (
            f'<clipPath id="{self._name}-box"><rect x="{x.start:g}" y="{y.end:g}" '
            f'width="{x.end - x.start:g}" height="{y.start - y.end:g}"/></clipPath>'
        )
        drawn = [part for each in sorted(self._drawing.elements, key=_layer) for part in self._drawn(each)]
        return "".join([clip, *self._grid(), *drawn, *self._legend(), *self._tick_labels(), *self._titles()])

    def _grid(self) -> Iterable[str]:
        x, y = self._x, self._y
        if x.axis.grid is not None:
            for place, *_ in x.marked():
                yield _path(f"M{place:.2f} {y.start:g}V{y.end:g}", x.axis.grid)
        if y.axis.grid is not None:
            for place, *_ in y.marked():
                yield _path(f"M{x.start:g} {place:.2f}H{x.end:g}", y.axis.grid)

    def _tick_labels(self) -> Iterable[str]:
        x, y = self._x, self._y
        for place, label, align in x.marked():
            for line, text in enumerate(label.split("\n")):
                below = y.start + x.axis.pad + FONT * (0.85 + 1.2 * line)
                yield _text(text, place, below, x.axis.color, anchor=_ANCHORS[align])
        for place, label, _ in y.marked():
            yield _text(label, x.start - y.axis.pad, place + 0.35 * FONT, y.axis.color, anchor="end")

    def _titles(self) -> Iterable[str]:
        x, y = self._x, self._y
        if x.axis.title is not None:
            lines = max((label.count("\n") + 1 for _, label, _ in x.marked()), default=0)
            text, color = x.axis.title
            below = y.start + x.axis.pad + FONT * (0.2 + 1.2 * lines) + FONT
            yield _text(text, (x.start + x.end) / 2, below, color, anchor="middle")
        if y.axis.title is not None:
            wide = max((len(label) for _, label, _ in y.marked()), default=0) * _WIDTH * FONT
            text, color = y.axis.title
            at, middle = x.start - y.axis.pad - wide - 10, (y.start + y.end) / 2
            turned = f' transform="rotate(-90 {at:.2f} {middle:.2f})"'
            yield _text(text, at, middle, color, anchor="middle", more=turned)

    def _drawn(self, element: Element) -> Iterable[str]:
        """Yield the pieces of an element."""
        if isinstance(element, Text):
            yield self._written(element)
        elif isinstance(element, Bars):
            yield from self._bars(element)
        elif isinstance(element, Level):
            yield _path(self._through(element), element.stroke)
        elif isinstance(element, Spans):
            ends = zip(element.y, element.low, element.high, strict=True)
            x, y = self._x, self._y
            found = (f"M{x.pixel(low):.2f} {y.pixel(at):.2f}H{x.pixel(high):.2f}" for at, low, high in ends)
            yield _path("".join(found), element.stroke)
        elif len(element.x):
            yield self._points(element)

    def _points(self, element: Line | Marks) -> str:
        clip = f' clip-path="url(#{self._name}-box)"' if element.inside else ""
        if isinstance(element, Line):
            points = (
                f"{self._x.pixel(x):.2f} {self._y.pixel(y):.2f}"
                for x, y in zip(element.x, element.y, strict=True)
            )
            return _path("M" + "L".join(points), element.stroke, more=clip)
        across = self._x.share if element.beside else self._x.pixel
        d = "".join(
            _marker(element.shape, across(x), self._y.pixel(y), element.size)
            for x, y in zip(element.x, element.y, strict=True)
        )
        return _path(d, element.edge, style=f"fill: {_inside(element)}", more=clip)

    def _through(self, level: Level) -> str:
        x, y = self._x, self._y
        if level.upright:
            return f"M{x.pixel(level.place):.2f} {y.start:g}V{y.end:g}"
        return f"M{x.start:g} {y.pixel(level.place):.2f}H{x.end:g}"

    def _bars(self, bars: Bars) -> Iterable[str]:
        half, edge = bars.width / 2, bars.edge or Stroke("none", 0.0)
        for place, length in zip(bars.places, bars.lengths, strict=True):
            one, other = (0.0, place - half), (length, place + half)
            if bars.upright:
                one, other = (place - half, 0.0), (place + half, length)
            left, right = self._x.pixel(one[0]), self._x.pixel(other[0])
            top, bottom = self._y.pixel(one[1]), self._y.pixel(other[1])
            d = f"M{left:.2f} {top:.2f}H{right:.2f}V{bottom:.2f}H{left:.2f}Z"
            looks = Stroke(edge.color, edge.width, bars.opacity, edge.style)
            yield _path(d, looks, style=f"fill: {bars.fill}")

    def _written(self, text: Text) -> str:
        x = self._x.share(text.x) if text.shares[0] else self._x.pixel(text.x)
        y = self._y.share(text.y) if text.shares[1] else self._y.pixel(text.y)
        more = ' font-weight="700"' if text.bold else ""
        more += ' font-style="italic"' if text.italic else ""
        below = y - text.moved[1] + (0.35 * FONT if text.centered else 0.0)
        return _text(text.text, x + text.moved[0], below, text.color, anchor=_ANCHORS[text.align], more=more)

    def _legend(self) -> Iterable[str]:
        """Yield the look of everything with a label, in columns that begin at the left."""
        columns = self._drawing.legend
        if columns is None:
            return
        named = [each for each in self._drawing.elements if isinstance(each, Line | Marks) and each.label]
        left, bottom = self._x.start, self._y.share(1.05)
        lines = -(-len(named) // columns)
        for first in range(0, len(named), lines):
            entries = named[first : first + lines]
            for line, each in enumerate(entries):
                y = bottom - 1.6 * FONT * (lines - line - 0.5)
                label = _text(str(each.label), left + 32, y + 0.35 * FONT, self._drawing.palette.ink)
                yield _sample(each, left, y) + label
            left += 56 + _WIDTH * FONT * max(len(str(each.label)) for each in entries)


def _layer(element: Element) -> int:
    """Return how far up an element is: bars are below lines and markers, and texts above."""
    return 0 if isinstance(element, Bars) else 2 if isinstance(element, Text) else 1


def _sample(element: Line | Marks, x: float, y: float) -> str:
    """Return a sample of a line or a marker."""
    if isinstance(element, Line):
        return _path(f"M{x:.2f} {y:.2f}h24", Stroke(element.stroke.color, 1.8, None, element.stroke.style))
    marker = _marker(element.shape, x + 12, y, 8.0)
    return _path(marker, Stroke(element.edge.color, 1.0), style=f"fill: {_inside(element)}")


def _inside(marks: Marks) -> str:
    return "none" if marks.shape == "x" else marks.fill


def _path(d: str, stroke: Stroke, *, style: str = "fill: none", more: str = "") -> str:
    looks = [style, f"stroke: {stroke.color}", f"stroke-width: {stroke.width:g}"] if stroke.width else [style]
    if _DASHES[stroke.style]:
        looks.append(f"stroke-dasharray: {_DASHES[stroke.style]}")
    if stroke.opacity is not None:
        looks.append(f"opacity: {stroke.opacity:g}")
    return f'<path d="{d}" style="{"; ".join(looks)}"{more}/>'


def _text(text: str, x: float, y: float, color: str, anchor: str = "start", more: str = "") -> str:
    looks = f"fill: {color}; font-size: {FONT:g}px; text-anchor: {anchor}"
    return f'<text x="{x:.2f}" y="{y:.2f}" style="{looks}"{more}>{escape(text, quote=False)}</text>'
