"""The charts of the report.

Attacks show a dot with its interval and a hollow diamond for the baseline. Distributions show a hollow bar
of the input over a filled bar of the release. A search shows the incumbent's loss by candidates evaluated,
with the proven lower bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
    axes.xaxis.set_major_formatter(percent_tick)
    return axes


def _row_values(axes: Axes, texts: Sequence[str], palette: Palette) -> None:
    for place, text in enumerate(texts):
        axes.text(1.03, place, text, transform=axes.get_yaxis_transform(), va="center",
                  color=palette.ink, fontsize=FONT, fontweight="bold")  # fmt: skip


def percent_tick(value: float, _: object) -> str:
    """Return the label of a tick at a share."""
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
    axes.yaxis.set_major_formatter(percent_tick)
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
    axes.xaxis.set_major_formatter(percent_tick)
    axes.yaxis.set_major_formatter(percent_tick)
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
