"""How wrong answers to count queries are: the share of queries up to each relative error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anonymizer.report.html.charts.style import FONT, NOTEBOOK, Palette, bare
from anonymizer.report.numbers import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 0.95
"""Share of the queries whose errors the axis covers."""


def draw_query_error(axes: Axes, ecdf: Sequence[Sequence[float]], palette: Palette = NOTEBOOK) -> Axes:
    """Draw the distribution function of the errors.

    Parameters
    ----------
    ecdf: error, and the share of queries with at most that error, ascending.
    """
    bare(axes, palette)
    axes.tick_params(axis="x", pad=9)
    axes.grid(axis="y", color=palette.grid, linewidth=1)
    errors, shares = [error for error, _ in ecdf], [share for _, share in ecdf]
    axes.plot(errors, shares, "-o", color=palette.after, markersize=5, linewidth=2.2)
    # The last few errors may be a hundred times the others; the table has them.
    reach = next((error for error, share in ecdf if share >= SHOWN), max(errors))
    axes.set_xlim(0, max(reach, 0.01))
    axes.set_ylim(0, 1.02)
    axes.locator_params(axis="both", nbins=5)
    axes.xaxis.set_major_formatter(lambda value, _: percent(round(value, 6)))
    axes.yaxis.set_major_formatter(lambda value, _: percent(round(value, 6)))
    axes.set_xlabel("relative error of an answer, at most", color=palette.soft, fontsize=FONT)
    return axes
