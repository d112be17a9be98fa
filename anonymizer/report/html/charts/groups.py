"""How many classes there are of which size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anonymizer.report.facts.groups import SizeBin
from anonymizer.report.html.charts.style import FONT, NOTEBOOK, Palette, bare

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_groups(axes: Axes, bins: Sequence[SizeBin], palette: Palette = NOTEBOOK) -> Axes:
    """Draw a column for each bin of sizes; each bin is twice as wide as the one before it."""
    bare(axes, palette)
    places = range(len(bins))
    axes.bar(places, [each.classes for each in bins], width=0.86, color=palette.after)
    for place, each in enumerate(bins):
        axes.annotate(f"{each.classes:,}", (place, each.classes), (0, 4), textcoords="offset points",
                      ha="center", color=palette.ink, fontsize=FONT, fontweight="bold")  # fmt: skip
    axes.set_xticks(places, [_lines(each) for each in bins])
    axes.set_yticks([])
    axes.set_xlim(-0.6, max(len(bins), 2) - 0.4)
    axes.set_ylim(0, 1.15 * max(each.classes for each in bins))
    axes.axhline(0, color=palette.grid, linewidth=1.5)
    axes.set_xlabel("records in a group", color=palette.soft, fontsize=FONT)
    return axes


def _lines(each: SizeBin) -> str:
    return each.label.replace(" or more", "\nor more")
