"""An attribute before and after: a hollow bar of the input over a filled one of the release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymizer.report.facts.distribution import Distribution
from anonymizer.report.html.charts.style import NOTEBOOK, Palette, bare, rows
from anonymizer.report.numbers import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST_LABEL = 24
"""Characters of a label: these charts are narrow."""

_HALF = 0.34


def draw_distribution(axes: Axes, shown: Distribution, palette: Palette = NOTEBOOK) -> Axes:
    """Draw the shares of the entries, the largest as long as the axes are wide."""
    bare(axes, palette)
    reach = max([*shown.before, *shown.after, 0.01])
    places = range(len(shown.labels))
    axes.barh([place - _HALF / 2 for place in places], shown.before, height=_HALF, facecolor="none",
              edgecolor=palette.before, linewidth=1.4, label="input")  # fmt: skip
    axes.barh([place + _HALF / 2 for place in places], shown.after, height=_HALF, facecolor=palette.after,
              edgecolor=palette.after, linewidth=1.4, label="release")  # fmt: skip
    rows(axes, shown.labels, palette, LONGEST_LABEL)
    axes.set_xlim(0, reach)
    axes.set_xticks([0, reach], ["0", percent(reach)])
    first, last = axes.get_xticklabels()
    first.set_horizontalalignment("left")
    last.set_horizontalalignment("right")
    return axes
