"""What the release is still good for: each measure between untouched data and data that say nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymizer.report.html.charts.style import FONT, NOTEBOOK, Palette, bare, rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Mark:
    """One number of the release, between what the originals reach and what ``*`` everywhere reaches."""

    label: str
    value: float
    untouched: float
    suppressed: float


def draw_utility(axes: Axes, marks: Sequence[Mark], palette: Palette = NOTEBOOK) -> Axes:
    """Draw a row for each number: dot of the release, diamond of the input, cross where all is hidden."""
    bare(axes, palette)
    places = range(len(marks))
    reach = max([0.05, *(max(each.value, each.untouched, each.suppressed) for each in marks)])
    axes.hlines(places, 0, reach, color=palette.grid, linewidth=1)
    axes.plot([each.suppressed for each in marks], places, "x", markersize=8, markeredgewidth=1.8,
              color=palette.soft, clip_on=False)  # fmt: skip
    axes.plot([each.untouched for each in marks], places, "D", markersize=8, markeredgewidth=1.8,
              markerfacecolor="none", markeredgecolor=palette.before, clip_on=False)  # fmt: skip
    axes.plot([each.value for each in marks], places, "o", markersize=8, color=palette.after, clip_on=False)
    for place, each in enumerate(marks):
        axes.text(1.03, place, f"{each.value:.3g}", transform=axes.get_yaxis_transform(), va="center",
                  color=palette.ink, fontsize=FONT, fontweight="bold")  # fmt: skip
    rows(axes, [each.label for each in marks], palette)
    axes.set_xlim(0, reach)
    axes.locator_params(axis="x", nbins=5)
    return axes
