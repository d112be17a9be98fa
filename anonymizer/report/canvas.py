"""A chart as inline SVG with the colors of its page, and the style of all charts.

The charts are drawn onto matplotlib's ``Axes`` in notebooks. Pages have ``SvgAxes``, the part of these that
the charts use: matplotlib takes half a second to load, and most runs take less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Palette:
    """Colors by purpose.

    Attributes
    ----------
    ink, soft, grid, paper: of text, secondary text, grid lines and the background.
    before, after: of the input and the release.
    alarm: of contradicted claims.
    """

    ink: str
    soft: str
    grid: str
    paper: str
    before: str
    after: str
    alarm: str


NOTEBOOK = Palette("#1c2430", "#566072", "#dfe3e8", "#ffffff", "#8a5a2b", "#1f5fa8", "#b3261e")
"""For a white background; all except the grid have a contrast of at least 5:1."""

LONGEST = 32
"""Maximum number of characters of a label; the table below the chart has the whole text."""

FONT = 12.0
"""Size of text in a chart, in points."""


def short(label: str, longest: int = LONGEST) -> str:
    r"""Return a label cut to fit next to an axis, with a dot for each unprintable character.

    >>> short("a" * 40, 5), short("a\tb")
    ('aaaa…', 'a·b')
    """
    cut = label if len(label) <= longest else label[: longest - 1] + "…"
    return "".join(each if each.isprintable() else "·" for each in cut)


def bare(axes: Axes, palette: Palette) -> None:
    """Remove frame, tick marks and background."""
    axes.set_facecolor("none")
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(length=0, labelsize=FONT, labelcolor=palette.soft, pad=5)
    axes.set_axisbelow(True)


def rows(axes: Axes, labels: Sequence[str], palette: Palette, longest: int = LONGEST) -> None:
    """Label the rows from top to bottom."""
    axes.set_yticks(range(len(labels)), [_plain(short(label, longest)) for label in labels])
    axes.tick_params(axis="y", labelcolor=palette.ink, pad=10)
    axes.set_ylim(len(labels) - 0.45, -0.55)


def _plain(text: str) -> str:
    r"""Escape dollar signs, which matplotlib reads as formulas.

    >>> _plain("$5 to $9")
    '\\$5 to \\$9'
    """
    return text.replace("$", r"\$")


def apart(heights: Sequence[float], least: float) -> list[float]:
    """Return heights at which texts do not overlap, moved down where needed.

    >>> apart([0.3, 0.3, 0.1], 0.05)
    [0.3, 0.25, 0.1]
    """
    moved = list(heights)
    order = sorted(range(len(moved)), key=lambda place: (-moved[place], place))
    for upper, lower in pairwise(order):
        moved[lower] = min(moved[lower], moved[upper] - least)
    return moved


@dataclass(frozen=True)
class Frame:
    """The size of a chart and its margins around the axes, in pixels."""

    width: float
    height: float
    left: float = 10.0
    right: float = 10.0
    top: float = 8.0
    bottom: float = 8.0


T = TypeVar("T")


def inline_svg(
    name: str, label: str, frame: Frame, draw: Callable[[Axes, T, Palette], object], shown: T
) -> str:
    """Draw a chart for a page.

    Parameters
    ----------
    name: unique on the page; prefix of every id.
    label: description for screen readers.
    draw: draws ``shown`` onto axes in the colors of a palette.

    Returns
    -------
    An ``svg`` element; the same chart gives the same bytes.
    """
    axes = SvgAxes(frame, name)
    draw(cast("Axes", axes), shown, _VARIABLES)
    named = escape(label, quote=False).replace('"', "&quot;")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {frame.width:g} {frame.height:g}" role="img" '
        f'aria-label="{named}" style="--width: {frame.width:g}px">{axes.content()}</svg>'
    )


_VARIABLES = Palette(**{each.name: f"var(--{each.name})" for each in fields(Palette)})
"""The colors of the page's style sheet."""

_DASHES = {"-": "", "--": "6.5 3", ":": "2 3.3"}
"""Dashes of each style of line, in pixels for each pixel of width divided by 1.8."""

_BARS, _LINES, _TEXTS = range(3)
"""Layers, from bottom to top; grid lines are below all."""

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


@dataclass
class TickLabel:
    """A label of the horizontal axis."""

    text: str
    anchor: str = "middle"

    def set_horizontalalignment(self, align: str) -> None:
        """Align the text to its tick."""
        self.anchor = _ANCHORS[align]


_ANCHORS = {"left": "start", "center": "middle", "right": "end"}


@dataclass
class _Scale:
    """An axis: its limits in data and in pixels, ticks and labels.

    Attributes
    ----------
    start, end: in pixels.
    places: of ticks that were set; None to find them.
    grid: color and width of lines at the ticks.
    """

    start: float
    end: float
    low: float = 0.0
    high: float = 1.0
    places: list[float] | None = None
    labels: list[TickLabel] | None = None
    most: int = 5
    formatter: Callable[[float, object], str] | None = None
    pad: float = 5.0
    size: float = FONT
    color: str = ""
    grid: tuple[str, float] | None = None
    title: tuple[str, str, float] | None = None

    def set_major_formatter(self, formatter: Callable[[float, object], str]) -> None:
        """Set what formats the number of a tick."""
        self.formatter = formatter

    def pixel(self, value: float) -> float:
        return self.start + (float(value) - self.low) / ((self.high - self.low) or 1.0) * (
            self.end - self.start
        )

    def marked(self) -> list[tuple[float, TickLabel]]:
        """Return the place in pixels and the label of each tick."""
        places = self.places
        if places is None:
            places = ticks(min(self.low, self.high), max(self.low, self.high), self.most)
        labels = self.labels or [TickLabel(text) for text in self._formatted(places)]
        return [(self.pixel(place), label) for place, label in zip(places, labels, strict=True)]

    def _formatted(self, places: Sequence[float]) -> list[str]:
        if self.formatter is not None:
            return [self.formatter(place, None) for place in places]
        digits = max((len(f"{place:.9f}".rstrip("0").partition(".")[2]) for place in places), default=0)
        return [f"{place:.{digits}f}" for place in places]


@dataclass(frozen=True)
class _Place:
    """Where the coordinates of a text or point are: shares of the axes, or data."""

    x_shares: bool = False
    y_shares: bool = False


@dataclass(eq=False)
class SvgAxes:
    """Axes that are drawn as SVG: methods and parameters are those of matplotlib's ``Axes``.

    Parameters
    ----------
    frame: of the chart.
    name: prefix of ids.
    """

    frame: Frame
    name: str
    spines: dict[str, Any] = field(default_factory=dict)
    transAxes: _Place = _Place(x_shares=True, y_shares=True)  # noqa: N815 - matplotlib's name

    def __post_init__(self) -> None:
        frame = self.frame
        self.xaxis = _Scale(frame.left, frame.width - frame.right)
        self.yaxis = _Scale(frame.height - frame.bottom, frame.top)
        self._drawn: list[tuple[int, Callable[[], str]]] = []
        self._named: list[_Named] = []

    def content(self) -> str:
        """Return the elements, from bottom to top."""
        x, y = self.xaxis, self.yaxis
        clip = (
            f'<clipPath id="{self.name}-box"><rect x="{x.start:g}" y="{y.end:g}" '
            f'width="{x.end - x.start:g}" height="{y.start - y.end:g}"/></clipPath>'
        )
        parts = [clip, *self._grid()]
        parts += [element() for _, element in sorted(self._drawn, key=lambda each: each[0])]
        return "".join([*parts, *self._tick_labels(), *self._titles()])

    def _grid(self) -> Iterable[str]:
        x, y = self.xaxis, self.yaxis
        if x.grid is not None:
            for place, _ in x.marked():
                yield _path(f"M{place:.2f} {y.start:g}V{y.end:g}", *x.grid)
        if y.grid is not None:
            for place, _ in y.marked():
                yield _path(f"M{x.start:g} {place:.2f}H{x.end:g}", *y.grid)

    def _tick_labels(self) -> Iterable[str]:
        x, y = self.xaxis, self.yaxis
        for place, label in x.marked():
            for line, text in enumerate(label.text.split("\n")):
                below = y.start + x.pad + x.size * (0.85 + 1.2 * line)
                yield _text(text, place, below, x.color, x.size, anchor=label.anchor)
        for place, label in y.marked():
            yield _text(label.text, x.start - y.pad, place + 0.35 * y.size, y.color, y.size, anchor="end")

    def _titles(self) -> Iterable[str]:
        x, y = self.xaxis, self.yaxis
        if x.title is not None:
            lines = max((label.text.count("\n") + 1 for _, label in x.marked()), default=0)
            text, color, size = x.title
            below = y.start + x.pad + x.size * (0.2 + 1.2 * lines) + size
            yield _text(text, (x.start + x.end) / 2, below, color, size, anchor="middle")
        if y.title is not None:
            wide = max((len(label.text) for _, label in y.marked()), default=0) * _WIDTH * y.size
            text, color, size = y.title
            at, middle = x.start - y.pad - wide - 10, (y.start + y.end) / 2
            turned = f' transform="rotate(-90 {at:.2f} {middle:.2f})"'
            yield _text(text, at, middle, color, size, anchor="middle", more=turned)

    def _add(self, layer: int, element: Callable[[], str]) -> None:
        """Add an element, which is placed when the ends of both axes are known."""
        self._drawn.append((layer, element))

    def _at(self, x: float, y: float, place: _Place | None) -> tuple[float, float]:
        across, up = self.xaxis, self.yaxis
        place = place or _Place()
        return (
            across.start + x * (across.end - across.start) if place.x_shares else across.pixel(x),
            up.start + y * (up.end - up.start) if place.y_shares else up.pixel(y),
        )

    def _clip(self, inside: bool) -> str:
        return f' clip-path="url(#{self.name}-box)"' if inside else ""

    def get_yaxis_transform(self) -> _Place:
        """Return the place of shares of the width, and data upwards."""
        return _Place(x_shares=True)

    def set_facecolor(self, color: str) -> None:
        """Do nothing: the background is the page's."""

    def set_axisbelow(self, b: bool) -> None:
        """Do nothing: grid lines are below."""

    def set_xlim(self, left: float, right: float) -> None:
        """Set the ends of the horizontal axis."""
        self.xaxis.low, self.xaxis.high = left, right

    def set_ylim(self, bottom: float, top: float) -> None:
        """Set the ends of the vertical axis."""
        self.yaxis.low, self.yaxis.high = bottom, top

    def get_xlim(self) -> tuple[float, float]:
        """Return the ends of the horizontal axis."""
        return self.xaxis.low, self.xaxis.high

    def get_ylim(self) -> tuple[float, float]:
        """Return the ends of the vertical axis."""
        return self.yaxis.low, self.yaxis.high

    def set_xticks(self, ticks: Iterable[float], labels: Iterable[str] | None = None) -> None:
        """Set the ticks of the horizontal axis, with texts instead of numbers."""
        self.xaxis.places = [float(each) for each in ticks]
        self.xaxis.labels = None if labels is None else [TickLabel(each) for each in labels]

    def set_yticks(self, ticks: Iterable[float], labels: Iterable[str] | None = None) -> None:
        """Set the ticks of the vertical axis, with texts that are escaped for matplotlib."""
        self.yaxis.places = [float(each) for each in ticks]
        self.yaxis.labels = None if labels is None else [TickLabel(_unescaped(each)) for each in labels]

    def get_xticklabels(self) -> list[TickLabel]:
        """Return the labels that were set."""
        return self.xaxis.labels or []

    def locator_params(self, axis: str = "both", nbins: int = 5) -> None:
        """Set the maximum number of intervals between ticks."""
        for each in self._scales(axis):
            each.most = nbins

    def tick_params(
        self,
        axis: str = "both",
        length: float = 0.0,  # noqa: ARG002 - no tick marks are drawn
        labelsize: float | None = None,
        labelcolor: str | None = None,
        pad: float | None = None,
    ) -> None:
        """Set size, color and distance of tick labels."""
        for each in self._scales(axis):
            each.size = each.size if labelsize is None else labelsize
            each.color = each.color if labelcolor is None else labelcolor
            each.pad = each.pad if pad is None else pad

    def grid(self, axis: str = "both", color: str = "", linewidth: float = 1.0) -> None:
        """Draw lines at the ticks of an axis."""
        for each in self._scales(axis):
            each.grid = color, linewidth

    def _scales(self, axis: str) -> list[_Scale]:
        return [each for name, each in (("x", self.xaxis), ("y", self.yaxis)) if axis in (name, "both")]

    def set_xlabel(self, xlabel: str, color: str, fontsize: float) -> None:
        """Write a title below the horizontal axis."""
        self.xaxis.title = xlabel, color, fontsize

    def set_ylabel(self, ylabel: str, color: str, fontsize: float) -> None:
        """Write a title left of the vertical axis."""
        self.yaxis.title = ylabel, color, fontsize

    def hlines(
        self, y: Any, xmin: Any, xmax: Any, color: str, linewidth: float, alpha: float | None = None
    ) -> None:
        """Draw horizontal lines; the ends are numbers, or one for each line."""

        def lines() -> str:
            found = (
                f"M{self.xaxis.pixel(low):.2f} {self.yaxis.pixel(height):.2f}H{self.xaxis.pixel(high):.2f}"
                for height, low, high in np.broadcast(y, xmin, xmax)
            )
            return _path("".join(found), color, linewidth, opacity=alpha)

        self._add(_LINES, lines)

    def axhline(self, y: float, color: str, linewidth: float, linestyle: str = "-") -> None:
        """Draw a horizontal line through the axes."""
        x = self.xaxis
        self._add(
            _LINES,
            lambda: _path(f"M{x.start:g} {self.yaxis.pixel(y):.2f}H{x.end:g}", color, linewidth, linestyle),
        )

    def axvline(self, x: float, color: str, linewidth: float, linestyle: str = "-") -> None:
        """Draw a vertical line through the axes."""
        y = self.yaxis
        self._add(
            _LINES,
            lambda: _path(f"M{self.xaxis.pixel(x):.2f} {y.start:g}V{y.end:g}", color, linewidth, linestyle),
        )

    def plot(  # noqa: PLR0913 - matplotlib has them
        self,
        x: Sequence[float],
        y: Sequence[float],
        fmt: str = "-",
        *,
        color: str = "",
        linewidth: float = 1.5,
        markersize: float = 6.0,
        markerfacecolor: str | None = None,
        markeredgecolor: str | None = None,
        markeredgewidth: float = 1.0,
        alpha: float | None = None,
        clip_on: bool = True,
        transform: _Place | None = None,
        label: str | None = None,
    ) -> None:
        """Draw a line, or markers, or both."""
        shape, line = fmt.lstrip("-:"), fmt[: len(fmt) - len(fmt.lstrip("-:"))]
        fill = "none" if shape == "x" else color if markerfacecolor is None else markerfacecolor
        edge = color if markeredgecolor is None else markeredgecolor
        clip = self._clip(clip_on)

        def points() -> list[tuple[float, float]]:
            return [self._at(across, up, transform) for across, up in zip(x, y, strict=True)]

        def joined() -> str:
            d = "M" + "L".join(f"{across:.2f} {up:.2f}" for across, up in points())
            return _path(d, color, linewidth, line, alpha, more=clip)

        def marks() -> str:
            d = "".join(_marker(shape, *point, markersize) for point in points())
            return _path(d, edge, markeredgewidth, opacity=alpha, style=f"fill: {fill}", more=clip)

        if line and len(x):
            self._add(_LINES, joined)
        if shape and len(x):
            self._add(_LINES, marks)
        if label is not None:
            self._named.append(_Named(label, shape, line, color or edge, fill, edge))

    def step(self, x: Sequence[float], y: Sequence[float], where: str, color: str, linewidth: float) -> None:
        """Draw steps, each height until the next place."""
        assert where == "post"
        corners = [point for (a, h), (b, _) in pairwise(zip(x, y, strict=True)) for point in ((a, h), (b, h))]
        across, up = zip(*corners, (x[-1], y[-1]), strict=True)
        self.plot(across, up, "-", color=color, linewidth=linewidth)

    def barh(  # noqa: PLR0913 - matplotlib has them
        self,
        y: Sequence[float],
        width: Sequence[float],
        height: float,
        *,
        color: str | None = None,
        facecolor: str = "none",
        edgecolor: str = "none",
        linewidth: float = 0.0,
        alpha: float | None = None,
        label: str | None = None,  # noqa: ARG002 - the page has the key
    ) -> None:
        """Draw horizontal bars from 0."""
        for place, long in zip(y, width, strict=True):
            corners = (0.0, place - height / 2), (long, place + height / 2)
            self._bar(*corners, color or facecolor, (edgecolor, linewidth), alpha)

    def bar(self, x: Sequence[float], height: Sequence[float], width: float, color: str) -> None:
        """Draw columns from 0."""
        for place, high in zip(x, height, strict=True):
            self._bar((place - width / 2, 0.0), (place + width / 2, high), color, ("none", 0.0))

    def _bar(
        self,
        one: tuple[float, float],
        other: tuple[float, float],
        fill: str,
        edge: tuple[str, float],
        alpha: float | None = None,
    ) -> None:
        def box() -> str:
            (left, top), (right, bottom) = self._at(*one, None), self._at(*other, None)
            d = f"M{left:.2f} {top:.2f}H{right:.2f}V{bottom:.2f}H{left:.2f}Z"
            return _path(d, *edge, opacity=alpha, style=f"fill: {fill}")

        self._add(_BARS, box)

    def text(self, x: float, y: float, s: str, *, transform: _Place | None = None, **looks: Any) -> None:
        """Write a text."""
        self._add(_TEXTS, lambda: _label(s, *self._at(x, y, transform), **looks))

    def annotate(
        self,
        text: str,
        xy: tuple[float, float],
        xytext: tuple[float, float],
        textcoords: str,
        annotation_clip: bool | None = None,  # noqa: ARG002 - nothing is clipped
        **looks: Any,
    ) -> None:
        """Write a text at a distance from a place, in pixels."""
        assert textcoords == "offset points"

        def label() -> str:
            x, y = self._at(*xy, None)
            return _label(text, x + xytext[0], y - xytext[1], **looks)

        self._add(_TEXTS, label)

    def legend(
        self,
        *,
        bbox_to_anchor: tuple[float, float],
        ncols: int,
        fontsize: float,
        labelcolor: str,
        loc: str,
        frameon: bool,
        borderaxespad: float,  # noqa: ARG002 - there is no margin
    ) -> None:
        """Show the look of everything with a label, in columns that begin at the left."""
        assert loc == "lower left"
        assert not frameon
        left, bottom = self._at(*bbox_to_anchor, self.transAxes)
        lines = -(-len(self._named) // ncols)
        for first in range(0, len(self._named), lines):
            entries = self._named[first : first + lines]
            for line, each in enumerate(entries):
                y = bottom - 1.6 * fontsize * (lines - line - 0.5)
                label = _text(each.label, left + 32, y + 0.35 * fontsize, labelcolor, fontsize)
                self._add(_TEXTS, (each.drawn(left, y) + label).__str__)
            left += 56 + _WIDTH * fontsize * max(len(each.label) for each in entries)


@dataclass(frozen=True)
class _Named:
    """An entry of the legend."""

    label: str
    shape: str
    line: str
    color: str
    fill: str
    edge: str

    def drawn(self, x: float, y: float) -> str:
        """Return a sample of the line or of the marker."""
        if self.line:
            return _path(f"M{x:.2f} {y:.2f}h24", self.color, 1.8, self.line)
        return _path(_marker(self.shape, x + 12, y, 8.0), self.edge, 1.0, style=f"fill: {self.fill}")


def _label(  # noqa: PLR0913 - matplotlib has them
    text: str,
    x: float,
    y: float,
    *,
    color: str,
    fontsize: float,
    va: str = "baseline",
    ha: str = "left",
    fontweight: str = "normal",
    style: str = "normal",
) -> str:
    more = "" if fontweight == "normal" else ' font-weight="700"'
    more += "" if style == "normal" else f' font-style="{style}"'
    below = y + 0.35 * fontsize if va == "center" else y
    return _text(text, x, below, color, fontsize, anchor=_ANCHORS[ha], more=more)


def _unescaped(text: str) -> str:
    return text.replace(r"\$", "$")


def _path(
    d: str,
    color: str,
    linewidth: float,
    linestyle: str = "-",
    opacity: float | None = None,
    *,
    style: str = "fill: none",
    more: str = "",
) -> str:
    looks = [style, f"stroke: {color}", f"stroke-width: {linewidth:g}"] if linewidth else [style]
    if _DASHES[linestyle]:
        looks.append(f"stroke-dasharray: {_DASHES[linestyle]}")
    if opacity is not None:
        looks.append(f"opacity: {opacity:g}")
    return f'<path d="{d}" style="{"; ".join(looks)}"{more}/>'


def _text(
    text: str, x: float, y: float, color: str, size: float, anchor: str = "start", more: str = ""
) -> str:
    looks = f"fill: {color}; font-size: {size:g}px; text-anchor: {anchor}"
    return f'<text x="{x:.2f}" y="{y:.2f}" style="{looks}"{more}>{escape(text, quote=False)}</text>'
