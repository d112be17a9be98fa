"""The charts of the report and of comparisons.

Attacks show a dot with its interval and a hollow diamond for the baseline. Distributions show a hollow bar
of the input over a filled bar of the release. Risk against loss shows a point for each release and a step
line through the Pareto-optimal ones. A search shows the incumbent's loss by candidates evaluated, with the
proven lower bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.report.canvas import FONT, NOTEBOOK, Palette, apart, bare, rows
from anonymizer.report.facts import AttributeLoss, Distribution, RiskByKnowledge, SizeBin
from anonymizer.report.wording import floored, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Dot:
    """An attack with its success, interval and baseline."""

    label: str
    success: float
    low: float
    high: float
    baseline: float


def draw_attacks(axes: Axes, dots: Sequence[Dot], palette: Palette = NOTEBOOK) -> Axes:
    """Draw a row for each attack; the axis is the share of targets."""
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
    _row_values(axes, [percent(each.success) for each in dots], palette)
    rows(axes, [each.label for each in dots], palette)
    axes.set_xlim(0, reach)
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(_percent_tick)
    return axes


def _row_values(axes: Axes, texts: Sequence[str], palette: Palette) -> None:
    for place, text in enumerate(texts):
        axes.text(1.03, place, text, transform=axes.get_yaxis_transform(), va="center",
                  color=palette.ink, fontsize=FONT, fontweight="bold")  # fmt: skip


def _percent_tick(value: float, _: object) -> str:
    return percent(round(value, 6))


LONGEST_LABEL = 24
"""Maximum number of characters of a label in a narrow chart."""

_HALF = 0.34


def draw_distribution(axes: Axes, shown: Distribution, palette: Palette = NOTEBOOK) -> Axes:
    """Draw the shares of the entries; the largest fills the width."""
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


MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "*", "h")
"""Marker shapes of the algorithms, in alphabetical order."""

LANE = 1.07
"""Horizontal position of undecided runs, in widths of the axes."""

NEAR = (0.022, 0.045)
"""Distance below which points share a label, in widths and heights of the axes."""


@dataclass(frozen=True)
class Spot:
    """A release in the chart of risk and loss.

    Attributes
    ----------
    low, high: ends of the interval of the risk.
    unbeaten: whether the release is Pareto-optimal.
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
    """An undecided run.

    Attributes
    ----------
    bound: lower bound on its loss, 0 if unknown.
    """

    number: int
    algorithm: str
    bound: float


@dataclass(frozen=True)
class Field:
    """The data of the chart of risk and loss.

    Attributes
    ----------
    baseline: risk of a guess without a release.
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
    """Draw risk to the right and loss upwards; the lower left corner is best."""
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
    # Pareto-optimal points are drawn last, over the others.
    for each in sorted(field.spots, key=lambda each: each.unbeaten):
        color = palette.after if each.unbeaten else palette.soft
        axes.hlines(each.loss, each.low, each.high, color=color, linewidth=3.5, alpha=0.45)
        axes.plot([each.risk], [each.loss], field.shapes[each.algorithm], color=color, clip_on=False,
                  markersize=10 if each.unbeaten else 7)  # fmt: skip
    for open_one in field.undecided:
        axes.plot([LANE], [open_one.bound], field.shapes[open_one.algorithm], markersize=9, clip_on=False,
                  transform=axes.get_yaxis_transform(), markerfacecolor="none", markeredgewidth=1.8,
                  markeredgecolor=palette.ink)  # fmt: skip
    _labels(axes, field, palette)
    _legend(axes, field, palette)
    axes.locator_params(axis="both", nbins=6)
    axes.xaxis.set_major_formatter(_percent_tick)
    axes.set_xlabel("risk", color=palette.soft, fontsize=FONT)
    axes.set_ylabel("loss", color=palette.soft, fontsize=FONT)
    return axes


def _line(axes: Axes, spots: Sequence[Spot], palette: Palette) -> None:
    """Draw the smallest loss up to each risk as a step line."""
    best = [each for each in spots if each.unbeaten]
    if not best:
        return
    from anonymizer.report.comparison import frontier  # noqa: PLC0415 - the page of a run draws none

    risks, losses = np.array([(each.risk, each.loss) for each in best]).T
    steps = frontier(risks, losses)
    right, top = axes.get_xlim()[1], axes.get_ylim()[1]
    along = [risks[steps[0]], *risks[steps], right]
    axes.step(
        along, [top, *losses[steps], losses[steps[-1]]], where="post", color=palette.after, linewidth=1.8
    )


def _labels(axes: Axes, field: Field, palette: Palette) -> None:
    """Write the number of each point next to it; near points share a text."""
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
    """Merge the labels of near points.

    Parameters
    ----------
    places: number, horizontal and vertical position as shares of the axes, and whether the label is bold.

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
    """Draw the legend of shapes and lines."""
    for name, marker in field.shapes.items():
        axes.plot([], [], marker, color=palette.soft, markersize=8, label=name)
    axes.plot([], [], "--", color=palette.before, label="guess without a release")
    axes.plot([], [], "-", color=palette.after, label="Pareto-optimal")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.05), ncols=min(len(field.shapes) + 2, 4),
                frameon=False, fontsize=FONT, labelcolor=palette.ink, borderaxespad=0)  # fmt: skip


def draw_groups(axes: Axes, bins: Sequence[SizeBin], palette: Palette = NOTEBOOK) -> Axes:
    """Draw a column for each bin of class sizes; each bin is twice as wide as the one before it."""
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
    axes.set_xlabel(f"{bins[0].of} in a class", color=palette.soft, fontsize=FONT)
    return axes


def _lines(each: SizeBin) -> str:
    return each.label.replace(" or more", "\nor more")


def draw_knowledge(axes: Axes, known: Sequence[RiskByKnowledge], palette: Palette = NOTEBOOK) -> Axes:
    """Draw lines for the input and the release, by the worst set of each number of attributes."""
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
    for (height, name, color), place in zip(ends, places, strict=True):
        axes.annotate(f"{name} {percent(height)}", (numbers[-1], place), (12, 0), textcoords="offset points",
                      va="center", color=color, fontsize=FONT, fontweight="bold",
                      annotation_clip=False)  # fmt: skip
    axes.set_xticks(numbers)
    axes.tick_params(axis="x", pad=10)
    axes.set_xlim(min(numbers) - 0.15, max(numbers) + 0.05)
    axes.set_ylim(0, top)
    axes.locator_params(axis="y", nbins=5)
    axes.yaxis.set_major_formatter(_percent_tick)
    axes.set_xlabel("attributes known", color=palette.soft, fontsize=FONT)
    return axes


def draw_losses(axes: Axes, losses: Sequence[AttributeLoss], palette: Palette = NOTEBOOK) -> Axes:
    """Draw a bar for each attribute, from 0 (unchanged) to 1 (everything suppressed)."""
    bare(axes, palette)
    places = range(len(losses))
    axes.barh(places, [1.0] * len(losses), height=0.5, color=palette.grid, alpha=0.6)
    axes.barh(places, [each.loss for each in losses], height=0.5, color=palette.after)
    _row_values(axes, [percent(each.loss) for each in losses], palette)
    rows(axes, [each.name for each in losses], palette)
    axes.set_xlim(0, 1)
    axes.set_xticks([])
    return axes


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
    # The largest errors may be a hundred times the others; only the table has them.
    reach = next((error for error, share in ecdf if share >= SHOWN), max(errors))
    axes.set_xlim(0, max(reach, 0.01))
    axes.set_ylim(0, 1.02)
    axes.locator_params(axis="both", nbins=5)
    axes.xaxis.set_major_formatter(_percent_tick)
    axes.yaxis.set_major_formatter(_percent_tick)
    axes.set_xlabel("relative error of an answer, at most", color=palette.soft, fontsize=FONT)
    return axes


MOST_STEPS = 400
"""Maximum number of drawn candidates, evenly spaced."""


@dataclass(frozen=True)
class Progress:
    """The progress of a search.

    Attributes
    ----------
    tried: step and objective of candidates with an objective.
    best: step and objective of each new incumbent.
    steps: number of steps.
    bound, best_possible: proven lower bounds, None without.
    """

    tried: tuple[tuple[int, float], ...]
    best: tuple[tuple[int, float], ...]
    steps: int
    bound: float | None
    best_possible: float | None


def progress_of(steps: Sequence[Mapping[str, Any]], search: Mapping[str, Any]) -> Progress:
    """Return the progress of a search from the steps of a report."""
    tried: list[tuple[int, float]] = []
    best: list[tuple[int, float]] = []
    for number, step in enumerate(steps, start=1):
        objective = step["objective"]
        if not isinstance(objective, int | float):
            continue
        tried.append((number, float(objective)))
        if step["accepted"] and (not best or objective < best[-1][1]):
            best.append((number, float(objective)))
    thin = max(len(tried) // MOST_STEPS, 1)
    return Progress(tuple(tried[::thin]), tuple(best), len(steps), search["bound"], search["best_possible"])


def draw_search(axes: Axes, progress: Progress, palette: Palette = NOTEBOOK) -> Axes:
    """Draw the incumbent as a step line, candidates as points, bounds as lines."""
    bare(axes, palette)
    axes.tick_params(axis="x", pad=9)
    axes.grid(axis="y", color=palette.grid, linewidth=1)
    axes.plot(*zip(*progress.tried, strict=True), ".", color=palette.soft, markersize=7, alpha=0.6)
    numbers = [number for number, _ in progress.best] + [progress.steps]
    losses = [loss for _, loss in progress.best]
    axes.step(numbers, [*losses, losses[-1]], where="post", color=palette.after, linewidth=2.4)
    lines = [(losses[-1], f"found {losses[-1]:.3g}", palette.after)]
    if progress.bound is not None:
        axes.axhline(progress.bound, color=palette.before, linewidth=1.8, linestyle="--")
        lines.append((progress.bound, f"bound {progress.bound:.3g}", palette.before))
    if progress.best_possible is not None and progress.best_possible != progress.bound:
        axes.axhline(progress.best_possible, color=palette.before, linewidth=1.8, linestyle=":")
        lines.append(
            (progress.best_possible, f"any recoding {floored(progress.best_possible)}", palette.before)
        )
    top = max(loss for _, loss in (*progress.tried, *progress.best))
    axes.set_ylim(0, 1.05 * max(top, 0.001))
    for height, (text, color) in zip(apart([each[0] for each in lines], 0.075 * 1.05 * top),
                                      [each[1:] for each in lines], strict=True):  # fmt: skip
        axes.text(1.02, height, text, transform=axes.get_yaxis_transform(), va="center", color=color,
                  fontsize=FONT, fontweight="bold")  # fmt: skip
    axes.set_xlim(0, max(progress.steps, 2))
    axes.locator_params(axis="both", nbins=5)
    axes.set_xlabel("candidates evaluated", color=palette.soft, fontsize=FONT)
    return axes


@dataclass(frozen=True)
class Mark:
    """A measure of the release, of the originals and of a release with ``*`` everywhere."""

    label: str
    value: float
    untouched: float
    suppressed: float


def draw_utility(axes: Axes, marks: Sequence[Mark], palette: Palette = NOTEBOOK) -> Axes:
    """Draw a row for each measure: dot of the release, diamond of the input, cross of everything hidden."""
    bare(axes, palette)
    places = range(len(marks))
    reach = max([0.05, *(max(each.value, each.untouched, each.suppressed) for each in marks)])
    axes.hlines(places, 0, reach, color=palette.grid, linewidth=1)
    axes.plot([each.suppressed for each in marks], places, "x", markersize=8, markeredgewidth=1.8,
              color=palette.soft, clip_on=False)  # fmt: skip
    axes.plot([each.untouched for each in marks], places, "D", markersize=8, markeredgewidth=1.8,
              markerfacecolor="none", markeredgecolor=palette.before, clip_on=False)  # fmt: skip
    axes.plot([each.value for each in marks], places, "o", markersize=8, color=palette.after, clip_on=False)
    _row_values(axes, [f"{each.value:.3g}" for each in marks], palette)
    rows(axes, [each.label for each in marks], palette)
    axes.set_xlim(0, reach)
    axes.locator_params(axis="x", nbins=5)
    return axes
