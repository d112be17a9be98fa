"""Risk against loss: a point for each release, a step line through those that no other beats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.report.comparing.pareto import frontier
from anonymizer.report.html.charts.style import FONT, NOTEBOOK, Palette, bare
from anonymizer.report.numbers import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "*", "h")
"""Shapes, one for each algorithm in the order of its name."""

LANE = 1.07
"""Where runs without an answer stand, in widths of the axes."""

NEAR = (0.022, 0.045)
"""Points nearer than this share one label, in widths and heights of the axes."""


@dataclass(frozen=True)
class Spot:
    """A release among others.

    Attributes
    ----------
    low, high: ends of the interval of its risk.
    unbeaten: whether no other beats it.
    """

    number: int
    algorithm: str
    risk: float
    low: float
    high: float
    loss: float
    unbeaten: bool


@dataclass(frozen=True)
class Open:
    """A run that found nothing and ruled nothing out.

    Attributes
    ----------
    bound: what it would lose at least, 0 where nothing is known.
    """

    number: int
    algorithm: str
    bound: float


@dataclass(frozen=True)
class Field:
    """All that is drawn.

    Attributes
    ----------
    baseline: risk of a guess without any release.
    """

    spots: tuple[Spot, ...]
    undecided: tuple[Open, ...]
    baseline: float

    @property
    def shapes(self) -> dict[str, str]:
        """The marker of each algorithm."""
        asked = [each.algorithm for each in self.spots] + [each.algorithm for each in self.undecided]
        names = sorted(set(asked))
        return {name: MARKERS[place % len(MARKERS)] for place, name in enumerate(names)}

    @property
    def reach(self) -> tuple[float, float]:
        """The ends of the two axes."""
        risks = [each.high for each in self.spots] + [self.baseline]
        losses = [each.loss for each in self.spots] + [each.bound for each in self.undecided]
        return 1.08 * max(*risks, 0.001), 1.12 * max(*losses, 0.001)


def draw_frontier(axes: Axes, field: Field, palette: Palette = NOTEBOOK) -> Axes:
    """Draw risk to the right and loss upwards, so that the lower left corner is good in both."""
    bare(axes, palette)
    axes.tick_params(axis="x", pad=9)
    axes.grid(color=palette.grid, linewidth=1)
    right, top = field.reach
    axes.set_xlim(0, right)
    axes.set_ylim(0, top)
    axes.axvline(field.baseline, color=palette.before, linewidth=1.6, linestyle="--")
    axes.text(
        0.012, 0.02, "better", transform=axes.transAxes, color=palette.soft, fontsize=FONT, style="italic"
    )
    _line(axes, field.spots, palette)
    # The beaten ones first: what matters is drawn over them.
    for each in sorted(field.spots, key=lambda each: each.unbeaten):
        colour = palette.after if each.unbeaten else palette.soft
        axes.hlines(each.loss, each.low, each.high, color=colour, linewidth=3.5, alpha=0.45)
        axes.plot([each.risk], [each.loss], field.shapes[each.algorithm], color=colour, clip_on=False,
                  markersize=10 if each.unbeaten else 7)  # fmt: skip
    for open_one in field.undecided:
        axes.plot([LANE], [open_one.bound], field.shapes[open_one.algorithm], markersize=9, clip_on=False,
                  transform=axes.get_yaxis_transform(), markerfacecolor="none", markeredgewidth=1.8,
                  markeredgecolor=palette.ink)  # fmt: skip
    _labels(axes, field, palette)
    _legend(axes, field, palette)
    axes.locator_params(axis="both", nbins=6)
    axes.xaxis.set_major_formatter(lambda value, _: percent(round(value, 6)))
    axes.set_xlabel("risk", color=palette.soft, fontsize=FONT)
    axes.set_ylabel("loss", color=palette.soft, fontsize=FONT)
    return axes


def _line(axes: Axes, spots: Sequence[Spot], palette: Palette) -> None:
    """Draw what loss the least risky release has up to each risk."""
    best = [each for each in spots if each.unbeaten]
    if not best:
        return
    risks, losses = np.array([(each.risk, each.loss) for each in best]).T
    steps = frontier(risks, losses)
    right, top = axes.get_xlim()[1], axes.get_ylim()[1]
    along = [risks[steps[0]], *risks[steps], right]
    axes.step(
        along, [top, *losses[steps], losses[steps[-1]]], where="post", color=palette.after, linewidth=1.8
    )


def _labels(axes: Axes, field: Field, palette: Palette) -> None:
    """Write the number of each point beside it; points that are close together share a text."""
    right, top = field.reach
    places = [(each.number, each.risk / right, each.loss / top, each.unbeaten) for each in field.spots]
    places += [(each.number, LANE, each.bound / top, False) for each in field.undecided]
    for numbers, across, up, strong in label_groups(places):
        axes.text(across + 0.013, up + 0.02, numbers, transform=axes.transAxes, fontsize=FONT,
                  color=palette.ink, fontweight="bold" if strong else "normal")  # fmt: skip
    if field.undecided:
        axes.text(LANE, 1.02, "undecided", transform=axes.transAxes, ha="center", fontsize=FONT,
                  color=palette.soft)  # fmt: skip


def label_groups(
    places: Sequence[tuple[int, float, float, bool]],
) -> list[tuple[str, float, float, bool]]:
    """Gather the numbers of points that are too close for a label each.

    Parameters
    ----------
    places: number, place across and up as parts of the axes, and whether the label is strong.

    >>> label_groups([(1, 0.5, 0.5, False), (2, 0.9, 0.1, True), (3, 0.51, 0.5, True)])
    [('1, 3', 0.51, 0.5, True), ('2', 0.9, 0.1, True)]
    """
    groups: list[list[tuple[int, float, float, bool]]] = []
    for place in places:
        near = (
            group
            for group in groups
            if any(
                abs(place[1] - other[1]) < NEAR[0] and abs(place[2] - other[2]) < NEAR[1] for other in group
            )
        )
        group = next(near, None)
        if group is None:
            groups.append([place])
        else:
            group.append(place)
    return [
        (
            ", ".join(str(each[0]) for each in group),
            max(each[1] for each in group),
            max(each[2] for each in group),
            any(each[3] for each in group),
        )
        for group in groups
    ]


def _legend(axes: Axes, field: Field, palette: Palette) -> None:
    """Name the shapes, and the line of a guess."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - only who draws needs it

    handles = [
        Line2D([], [], marker=marker, linestyle="none", color=palette.soft, markersize=8, label=name)
        for name, marker in field.shapes.items()
    ]
    handles.append(Line2D([], [], color=palette.before, linestyle="--", label="guess without a release"))
    handles.append(Line2D([], [], color=palette.after, label="no other beats it"))
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1.05), ncols=min(len(handles), 4),
                frameon=False, fontsize=FONT, labelcolor=palette.ink, borderaxespad=0)  # fmt: skip
