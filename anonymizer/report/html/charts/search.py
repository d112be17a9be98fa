"""How the search went: the best loss found so far against candidates looked at, and the proven bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anonymizer.report.html.charts.style import FONT, NOTEBOOK, Palette, apart, bare
from anonymizer.report.numbers import floored

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_STEPS = 400
"""Steps that are drawn; of more, those that changed the best and others evenly spaced."""


@dataclass(frozen=True)
class Progress:
    """A search in steps.

    Attributes
    ----------
    tried: number and objective of candidates that have one.
    best: number of the step and the objective from then on, improving.
    steps: how many there were.
    bound, best_possible: proven lower bounds, None where there is none.
    """

    tried: tuple[tuple[int, float], ...]
    best: tuple[tuple[int, float], ...]
    steps: int
    bound: float | None
    best_possible: float | None


def progress_of(steps: Sequence[Mapping[str, Any]], search: Mapping[str, Any]) -> Progress:
    """Return the search that a report tells of."""
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
    """Draw the best so far as steps, candidates as points, bounds as lines."""
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
    for height, (text, colour) in zip(apart([each[0] for each in lines], 0.075 * 1.05 * top),
                                      [each[1:] for each in lines], strict=True):  # fmt: skip
        axes.text(1.02, height, text, transform=axes.get_yaxis_transform(), va="center", color=colour,
                  fontsize=FONT, fontweight="bold")  # fmt: skip
    axes.set_xlim(0, max(progress.steps, 2))
    axes.locator_params(axis="both", nbins=5)
    axes.set_xlabel("candidates looked at", color=palette.soft, fontsize=FONT)
    return axes
