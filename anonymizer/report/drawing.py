"""A chart as data: lines, markers, bars and texts on two axes, in the colors of a palette.

Pages draw it as SVG (``report/svg.py``), notebooks onto matplotlib's axes (``report/notebook.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple


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


def left_of(labels: Sequence[str], longest: int = LONGEST) -> float:
    """Return the width of the labels next to an axis, in pixels."""
    return 20.0 + 7.0 * max([min(len(label), longest) for label in labels], default=0)


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


class Stroke(NamedTuple):
    """How a line looks: color, width in pixels, opacity, and style ``-``, ``--`` or ``:``."""

    color: str
    width: float = 1.0
    opacity: float | None = None
    style: str = "-"


class Line(NamedTuple):
    """A line through points; ``label`` is its entry in a legend, ``inside`` whether the axes cut it off."""

    x: Sequence[float]
    y: Sequence[float]
    stroke: Stroke
    label: str | None = None
    inside: bool = True


class Marks(NamedTuple):
    """Markers of one look.

    Attributes
    ----------
    shape: by the letters of matplotlib, such as ``o`` or ``D``.
    size: in pixels.
    fill: color inside.
    edge: look of the border.
    label: entry in a legend.
    inside: whether the axes cut them off.
    beside: whether ``x`` are shares of the width instead of data.
    """

    x: Sequence[float]
    y: Sequence[float]
    shape: str
    size: float
    fill: str
    edge: Stroke
    label: str | None = None
    inside: bool = True
    beside: bool = False


class Spans(NamedTuple):
    """Horizontal lines, each from ``low`` to ``high``."""

    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    stroke: Stroke


class Level(NamedTuple):
    """A line through the axes: horizontal at a height, or upright."""

    place: float
    stroke: Stroke
    upright: bool = False


class Bars(NamedTuple):
    """Bars from 0, across or upright; ``edge`` None without a border."""

    places: Sequence[float]
    lengths: Sequence[float]
    width: float
    fill: str
    edge: Stroke | None = None
    opacity: float | None = None
    upright: bool = False
    label: str | None = None


Align = Literal["left", "center", "right"]
"""Where the place of a text is in it."""


class Text(NamedTuple):
    """A text at a place.

    Attributes
    ----------
    shares: whether the horizontal, and the vertical, place are shares of the axes instead of data.
    moved: in pixels, to the right and upwards.
    centered: whether the middle of the text is at the height of the place, instead of its base line.
    """

    x: float
    y: float
    text: str
    color: str
    shares: tuple[bool, bool] = (False, False)
    moved: tuple[float, float] = (0.0, 0.0)
    align: Align = "left"
    centered: bool = False
    bold: bool = False
    italic: bool = False


Element = Line | Marks | Spans | Level | Bars | Text


@dataclass
class Axis:
    """One axis of a chart.

    Attributes
    ----------
    low, high: the data at its ends.
    places: of ticks; None for round numbers, at most ``most`` + 1.
    labels: of these places with their alignment; None to write the numbers by ``formatter``.
    color, pad: of the labels; ``pad`` is their distance in pixels.
    grid: look of lines at the ticks, None without.
    title: its text and color, None without.
    """

    color: str
    low: float = 0.0
    high: float = 1.0
    places: Sequence[float] | None = None
    labels: Sequence[tuple[str, Align]] | None = None
    most: int = 5
    formatter: Callable[[float], str] | None = None
    pad: float = 5.0
    grid: Stroke | None = None
    title: tuple[str, str] | None = None

    def between(self, low: float, high: float) -> None:
        """Set the data at the ends."""
        self.low, self.high = low, high

    def mark(self, places: Iterable[float], labels: Iterable[str]) -> None:
        """Set texts at places."""
        self.places, self.labels = list(places), [(each, "center") for each in labels]


@dataclass
class Drawing:
    """A chart.

    Attributes
    ----------
    elements: bars are drawn below lines and markers, and texts above; else the later ones are above.
    legend: number of columns above the axes that name what has a label; None without one.
    """

    palette: Palette
    elements: list[Element] = field(default_factory=list)
    legend: int | None = None

    def __post_init__(self) -> None:
        self.x, self.y = Axis(self.palette.soft), Axis(self.palette.soft)

    def add(self, *elements: Element) -> None:
        """Add elements above those of their kind."""
        self.elements += elements

    def rows(self, labels: Sequence[str], longest: int = LONGEST) -> None:
        """Label rows from top to bottom."""
        self.y.mark(range(len(labels)), [short(label, longest) for label in labels])
        self.y.color, self.y.pad = self.palette.ink, 10.0
        self.y.between(len(labels) - 0.45, -0.55)
