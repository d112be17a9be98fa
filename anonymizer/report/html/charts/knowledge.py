"""The chance of one right guess about who a record is, by how many attributes are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anonymizer.report.facts.knowledge import RiskByKnowledge
from anonymizer.report.html.charts.style import FONT, NOTEBOOK, Palette, apart, bare
from anonymizer.report.numbers import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_knowledge(axes: Axes, known: Sequence[RiskByKnowledge], palette: Palette = NOTEBOOK) -> Axes:
    """Draw a line for the input and one for the release, both for the worst set of so many attributes."""
    bare(axes, palette)
    numbers = [each.known for each in known]
    before = [each.before for each in known if each.before is not None]
    axes.grid(axis="y", color=palette.grid, linewidth=1)
    if len(before) == len(known):
        axes.plot(numbers, before, "--D", color=palette.before, markersize=7, linewidth=1.8,
                  markerfacecolor=palette.paper, markeredgewidth=1.8, clip_on=False)  # fmt: skip
    axes.plot(numbers, [each.worst for each in known], "-o", color=palette.after, markersize=7, linewidth=2.2,
              clip_on=False)  # fmt: skip
    ends = [(known[-1].worst, "release", palette.after)]
    if len(before) == len(known):
        ends.append((before[-1], "input", palette.before))
    top = max([0.05, *before, *(each.worst for each in known)]) * 1.05
    places = apart([each[0] for each in ends], 0.09 * top)
    for (height, name, colour), place in zip(ends, places, strict=True):
        axes.annotate(f"{name} {percent(height)}", (numbers[-1], place), (12, 0), textcoords="offset points",
                      va="center", color=colour, fontsize=FONT, fontweight="bold",
                      annotation_clip=False)  # fmt: skip
    axes.set_xticks(numbers)
    axes.tick_params(axis="x", pad=10)
    axes.set_xlim(min(numbers) - 0.15, max(numbers) + 0.05)
    axes.set_ylim(0, top)
    axes.locator_params(axis="y", nbins=5)
    axes.yaxis.set_major_formatter(lambda value, _: percent(round(value, 6)))
    axes.set_xlabel("attributes known", color=palette.soft, fontsize=FONT)
    return axes
