"""What each attack reached, beside what a guess reaches: a dot with its interval, and a hollow diamond."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymizer.report.html.charts.style import FONT, NOTEBOOK, Palette, bare, rows
from anonymizer.report.numbers import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Dot:
    """One attack: its name, the share of targets that it hits, the interval, and what a guess hits."""

    label: str
    success: float
    low: float
    high: float
    baseline: float


def draw_attacks(axes: Axes, dots: Sequence[Dot], palette: Palette = NOTEBOOK) -> Axes:
    """Draw a row for each attack; the axis is a share of the targets."""
    bare(axes, palette)
    reach = max([0.05, *(max(each.high, each.baseline, each.success) for each in dots)])
    places = range(len(dots))
    axes.hlines(places, 0, reach, color=palette.grid, linewidth=1)
    axes.hlines(
        places,
        [each.low for each in dots],
        [each.high for each in dots],
        color=palette.after,
        linewidth=4,
        alpha=0.45,
    )
    axes.plot([each.baseline for each in dots], places, "D", markersize=8, markeredgewidth=1.8,
              markerfacecolor="none", markeredgecolor=palette.before, clip_on=False,
              label="guess without the release")  # fmt: skip
    axes.plot([each.success for each in dots], places, "o", markersize=8, color=palette.after, clip_on=False,
              label="attack")  # fmt: skip
    for place, each in enumerate(dots):
        axes.text(1.03, place, percent(each.success), transform=axes.get_yaxis_transform(), va="center",
                  color=palette.ink, fontsize=FONT, fontweight="bold")  # fmt: skip
    rows(axes, [each.label for each in dots], palette)
    axes.set_xlim(0, reach)
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda value, _: percent(round(value, 6)))
    return axes
