"""How much of each attribute was lost: bars, most lost first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anonymizer.report.facts.losses import AttributeLoss
from anonymizer.report.html.charts.style import FONT, NOTEBOOK, Palette, bare, rows
from anonymizer.report.numbers import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_losses(axes: Axes, losses: Sequence[AttributeLoss], palette: Palette = NOTEBOOK) -> Axes:
    """Draw a bar for each attribute from 0, nothing lost, to 1, everything hidden."""
    bare(axes, palette)
    places = range(len(losses))
    axes.barh(places, [1.0] * len(losses), height=0.5, color=palette.grid, alpha=0.6)
    axes.barh(places, [each.loss for each in losses], height=0.5, color=palette.after)
    for place, each in enumerate(losses):
        axes.text(1.03, place, percent(each.loss), transform=axes.get_yaxis_transform(), va="center",
                  color=palette.ink, fontsize=FONT, fontweight="bold")  # fmt: skip
    rows(axes, [each.name for each in losses], palette)
    axes.set_xlim(0, 1)
    axes.set_xticks([])
    return axes
