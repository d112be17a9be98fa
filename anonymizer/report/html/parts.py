"""What sections of the page are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymizer.report.html.charts.canvas import Frame, inline_svg
from anonymizer.report.html.charts.style import LONGEST, Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Attributes
    ----------
    caption: what it holds.
    head: names of its columns; the first names the rows.
    rows: as wide as the head.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Chart:
    """A chart with what it says in words and in numbers.

    Attributes
    ----------
    title: above it.
    svg: the chart itself.
    finding: the sentence below it.
    data: the numbers that are drawn.
    key: which colours and shapes it uses, as the template names them.
    """

    title: str
    svg: str
    finding: str
    data: Grid
    key: tuple[str, ...] = ()


WIDE = 720.0
"""Width of a chart that stands alone, in pixels."""

NARROW = 340.0
"""Width of a chart among others."""


def left_of(labels: Sequence[str], longest: int = LONGEST) -> float:
    """Return the pixels that labels need beside an axis."""
    return 20.0 + 7.0 * max([min(len(label), longest) for label in labels], default=0)


def drawn(name: str, label: str, frame: Frame, draw: Callable[[Axes, Palette], object]) -> str:
    """Return a chart as an ``svg`` element; ``name`` is unlike that of any other chart of the page."""
    return inline_svg(draw, frame, name, label)
