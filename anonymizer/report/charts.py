"""The charts of the report.

Attacks show a dot with its interval and a hollow diamond for the baseline. Distributions show a hollow bar
of the input over a filled bar of the release. A search shows the incumbent's loss by candidates evaluated,
with the proven lower bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from anonymizer.report.drawing import (
    NOTEBOOK,
    Bars,
    Drawing,
    Level,
    Line,
    Marks,
    Palette,
    Spans,
    Stroke,
    Text,
    apart,
)
from anonymizer.report.facts import AttributeLoss, Distribution, RiskByKnowledge, SizeBin
from anonymizer.report.wording import floored, percent


class Dot(NamedTuple):
    """An attack with its success, interval and baseline."""

    label: str
    success: float
    low: float
    high: float
    baseline: float


def draw_attacks(dots: Sequence[Dot], palette: Palette = NOTEBOOK) -> Drawing:
    """Draw a row for each attack; the axis is the share of targets."""
    chart, places = Drawing(palette), range(len(dots))
    reach = max([0.05, *(max(each.high, each.baseline, each.success) for each in dots)])
    successes = [each.success for each in dots]
    chart.add(
        _tracks(len(dots), reach, palette),
        Spans(
            places, [each.low for each in dots], [each.high for each in dots], Stroke(palette.after, 4, 0.45)
        ),
        _diamonds([each.baseline for each in dots], palette, "guess without the release"),
        _discs(successes, palette, "attack"),
        *_row_values([percent(each) for each in successes], palette),
    )
    chart.rows([each.label for each in dots])
    chart.x.between(0, reach)
    chart.x.formatter = percent_tick
    return chart


def _tracks(number: int, reach: float, palette: Palette) -> Spans:
    """Return a line for each row, on which its markers are."""
    return Spans(range(number), [0.0] * number, [reach] * number, Stroke(palette.grid))


def _diamonds(values: Sequence[float], palette: Palette, label: str | None = None) -> Marks:
    """Return what is without the release, hollow."""
    edge = Stroke(palette.before, 1.8)
    return Marks(values, range(len(values)), "D", 8, "none", edge, label, inside=False)


def _discs(values: Sequence[float], palette: Palette, label: str | None = None) -> Marks:
    """Return what is with the release, filled."""
    return Marks(
        values, range(len(values)), "o", 8, palette.after, Stroke(palette.after), label, inside=False
    )


def _row_values(texts: Sequence[str], palette: Palette) -> list[Text]:
    """Return a text right of each row."""
    return [
        Text(1.03, place, text, palette.ink, (True, False), centered=True, bold=True)
        for place, text in enumerate(texts)
    ]


def percent_tick(value: float) -> str:
    """Return the label of a tick at a share."""
    return percent(round(value, 6))


LONGEST_LABEL = 24
"""Maximum number of characters of a label in a narrow chart."""

_HALF = 0.34


def draw_distribution(shown: Distribution, palette: Palette = NOTEBOOK) -> Drawing:
    """Draw the shares of the entries; the largest fills the width."""
    chart, number = Drawing(palette), len(shown.labels)
    reach = max([*shown.before, *shown.after, 0.01])
    above, below = ([place + side * _HALF / 2 for place in range(number)] for side in (-1, 1))
    edges = Stroke(palette.before, 1.4), Stroke(palette.after, 1.4)
    chart.add(
        Bars(above, shown.before, _HALF, "none", edges[0], label="input"),
        Bars(below, shown.after, _HALF, palette.after, edges[1], label="release"),
    )
    chart.rows(shown.labels, LONGEST_LABEL)
    chart.x.between(0, reach)
    chart.x.places, chart.x.labels = [0, reach], [("0", "left"), (percent(reach), "right")]
    return chart


def draw_groups(bins: Sequence[SizeBin], palette: Palette = NOTEBOOK) -> Drawing:
    """Draw a column for each bin of class sizes; each bin is twice as wide as the one before it."""
    chart, places = Drawing(palette), range(len(bins))
    numbers = [each.classes for each in bins]
    chart.add(Bars(places, numbers, 0.86, palette.after, upright=True))
    for place, own in enumerate(numbers):
        chart.add(Text(place, own, f"{own:,}", palette.ink, moved=(0, 4), align="center", bold=True))
    chart.add(Level(0, Stroke(palette.grid, 1.5)))
    chart.x.mark(places, [_lines(each) for each in bins])
    chart.x.between(-0.6, max(len(bins), 2) - 0.4)
    chart.x.title = f"{bins[0].of} in a class", palette.soft
    chart.y.places, chart.y.labels = [], []
    chart.y.between(0, 1.15 * max(numbers))
    return chart


def _lines(each: SizeBin) -> str:
    return each.label.replace(" or more", "\nor more")


def draw_knowledge(known: Sequence[RiskByKnowledge], palette: Palette = NOTEBOOK) -> Drawing:
    """Draw lines for the input and the release, by the worst set of each number of attributes."""
    chart, numbers = Drawing(palette), [each.known for each in known]
    before = [each.before for each in known if each.before is not None]
    after = [each.worst for each in known]
    ends = [(after[-1], "release", palette.after)]
    if len(before) == len(known):
        look = Stroke(palette.before, 1.8)
        chart.add(
            Line(numbers, before, Stroke(palette.before, 1.8, style="--"), inside=False),
            Marks(numbers, before, "D", 7, palette.paper, look, inside=False),
        )
        ends.append((before[-1], "input", palette.before))
    chart.add(
        Line(numbers, after, Stroke(palette.after, 2.2), inside=False),
        Marks(numbers, after, "o", 7, palette.after, Stroke(palette.after), inside=False),
    )
    top = max([0.05, *before, *after]) * 1.05
    places = apart([each[0] for each in ends], 0.09 * top)
    for (height, name, color), place in zip(ends, places, strict=True):
        text = f"{name} {percent(height)}"
        chart.add(Text(numbers[-1], place, text, color, moved=(12, 0), centered=True, bold=True))
    chart.x.places, chart.x.pad = numbers, 10.0
    chart.x.between(min(numbers) - 0.15, max(numbers) + 0.05)
    chart.x.title = "attributes known", palette.soft
    chart.y.grid, chart.y.formatter = Stroke(palette.grid), percent_tick
    chart.y.between(0, top)
    return chart


def draw_losses(losses: Sequence[AttributeLoss], palette: Palette = NOTEBOOK) -> Drawing:
    """Draw a bar for each attribute, from 0 (unchanged) to 1 (everything suppressed)."""
    chart, places = Drawing(palette), range(len(losses))
    chart.add(
        Bars(places, [1.0] * len(losses), 0.5, palette.grid, opacity=0.6),
        Bars(places, [each.loss for each in losses], 0.5, palette.after),
        *_row_values([percent(each.loss) for each in losses], palette),
    )
    chart.rows([each.name for each in losses])
    chart.x.between(0, 1)
    chart.x.places, chart.x.labels = [], []
    return chart


SHOWN = 0.95
"""Share of the queries whose errors the axis covers."""


def draw_query_error(ecdf: Sequence[Sequence[float]], palette: Palette = NOTEBOOK) -> Drawing:
    """Draw the distribution function of the errors.

    Parameters
    ----------
    ecdf: error, and the share of queries with at most that error, ascending.
    """
    chart = Drawing(palette)
    errors, shares = [error for error, _ in ecdf], [share for _, share in ecdf]
    chart.add(
        Line(errors, shares, Stroke(palette.after, 2.2)),
        Marks(errors, shares, "o", 5, palette.after, Stroke(palette.after)),
    )
    # The largest errors may be a hundred times the others; only the table has them.
    reach = next((error for error, share in ecdf if share >= SHOWN), max(errors))
    chart.x.pad, chart.x.formatter, chart.y.formatter = 9.0, percent_tick, percent_tick
    chart.x.between(0, max(reach, 0.01))
    chart.x.title = "relative error of an answer, at most", palette.soft
    chart.y.grid = Stroke(palette.grid)
    chart.y.between(0, 1.02)
    return chart


MOST_STEPS = 400
"""Maximum number of drawn candidates, evenly spaced."""


class Progress(NamedTuple):
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
    """Return the progress of a search from the steps of a report.

    None of a search whose steps are accepted without their losses, but for the last one.
    """
    tried: list[tuple[int, float]] = []
    best: list[tuple[int, float]] = []
    for number, step in enumerate(steps, start=1):
        objective = step["objective"]
        if not isinstance(objective, int | float):
            continue
        tried.append((number, float(objective)))
        if step["accepted"] and (not best or objective < best[-1][1]):
            best.append((number, float(objective)))
    if len(best) == 1 and any(step["accepted"] and step["objective"] is None for step in steps):
        best = []
    thin = max(len(tried) // MOST_STEPS, 1)
    return Progress(tuple(tried[::thin]), tuple(best), len(steps), search["bound"], search["best_possible"])


def draw_search(progress: Progress, palette: Palette = NOTEBOOK) -> Drawing:
    """Draw the incumbent as a step line, candidates as points, bounds as lines."""
    chart = Drawing(palette)
    numbers = [number for number, _ in progress.best] + [progress.steps]
    losses = [loss for _, loss in progress.best]
    tried, values = zip(*progress.tried, strict=True)
    chart.add(
        Marks(tried, values, ".", 7, palette.soft, Stroke(palette.soft, opacity=0.6)),
        steps(numbers, [*losses, losses[-1]], Stroke(palette.after, 2.4)),
    )
    lines = [(losses[-1], f"found {losses[-1]:.3g}", palette.after)]
    if progress.bound is not None:
        chart.add(Level(progress.bound, Stroke(palette.before, 1.8, style="--")))
        lines.append((progress.bound, f"bound {progress.bound:.3g}", palette.before))
    if progress.best_possible is not None and progress.best_possible != progress.bound:
        chart.add(Level(progress.best_possible, Stroke(palette.before, 1.8, style=":")))
        any_recoding = f"any recoding {floored(progress.best_possible)}"
        lines.append((progress.best_possible, any_recoding, palette.before))
    top = max(loss for _, loss in (*progress.tried, *progress.best))
    heights = apart([each[0] for each in lines], 0.075 * 1.05 * top)
    for height, (_, text, color) in zip(heights, lines, strict=True):
        chart.add(Text(1.02, height, text, color, (True, False), centered=True, bold=True))
    chart.x.pad, chart.x.title = 9.0, ("candidates evaluated", palette.soft)
    chart.x.between(0, max(progress.steps, 2))
    chart.y.grid = Stroke(palette.grid)
    chart.y.between(0, 1.05 * max(top, 0.001))
    return chart


def steps(x: Sequence[float], y: Sequence[float], stroke: Stroke, label: str | None = None) -> Line:
    """Return a line of steps, each height until the next place."""
    corners = [point for (a, h), (b, _) in pairwise(zip(x, y, strict=True)) for point in ((a, h), (b, h))]
    across, up = zip(*corners, (x[-1], y[-1]), strict=True)
    return Line(across, up, stroke, label)


class Mark(NamedTuple):
    """A measure of the release, of the originals and of a release with ``*`` everywhere."""

    label: str
    value: float
    untouched: float
    suppressed: float


def draw_utility(marks: Sequence[Mark], palette: Palette = NOTEBOOK) -> Drawing:
    """Draw a row for each measure: dot of the release, diamond of the input, cross of everything hidden."""
    chart, places = Drawing(palette), range(len(marks))
    reach = max([0.05, *(max(each.value, each.untouched, each.suppressed) for each in marks)])
    hidden = [each.suppressed for each in marks]
    chart.add(
        _tracks(len(marks), reach, palette),
        Marks(hidden, places, "x", 8, "none", Stroke(palette.soft, 1.8), inside=False),
        _diamonds([each.untouched for each in marks], palette),
        _discs([each.value for each in marks], palette),
        *_row_values([f"{each.value:.3g}" for each in marks], palette),
    )
    chart.rows([each.label for each in marks])
    chart.x.between(0, reach)
    return chart
