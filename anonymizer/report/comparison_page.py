"""compare.html: the comparison as one self-contained page.

Its chart of risk against loss has a point for each release and a step line through the Pareto-optimal ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files

import numpy as np

from anonymizer.errors import plural
from anonymizer.report.charts import percent_tick, steps
from anonymizer.report.comparison import (
    ComparedRun,
    Comparison,
    Point,
    RunStatus,
    Winner,
    frontier,
    numbered,
)
from anonymizer.report.drawing import Drawing, Level, Line, Marks, Palette, Spans, Stroke, Text
from anonymizer.report.page import TEMPLATES, environment
from anonymizer.report.svg import Frame, inline_svg
from anonymizer.report.wording import Chart, Grid, number, percent

SECTIONS = (
    ("frontier", "Risk and loss"),
    ("recommended", "Commands"),
    ("runs", "All runs"),
    ("winners", "Best by each measure"),
)
"""Sections by id and name."""


def compare_page(comparison: Comparison, version: str) -> str:
    """Return the page of a comparison.

    It has no script and links to nothing; the same comparison gives the same text.

    Parameters
    ----------
    version: of this package.
    """
    template = environment().get_template("compare.html.jinja")
    return template.render(
        style=files(__package__).joinpath(TEMPLATES, "page.css").read_text(encoding="utf-8"),
        title=comparison.headline(),
        sentences=_sentences(comparison),
        sections=SECTIONS,
        frontier=frontier_chart(comparison),
        remarks=list(comparison.remarks()),
        without=[
            (numbered(runs), status.value, reason)
            for status, reason, runs in comparison.without_release(lambda run: run.public_reason)
        ],
        recommended=[(run, comparison.command_in_folder(run)) for run in _first(comparison)],
        taken=None if comparison.advice is None else comparison.advice.point.run.number,
        order=comparison.order,
        in_groups=_in_groups(comparison),
        runs=_runs(comparison),
        winners=_winners(comparison),
        version=version,
    )


def _sentences(comparison: Comparison) -> list[str]:
    source = "a DataFrame" if comparison.input is None else comparison.input
    found = sum(run.measured is not None for run in comparison.runs)
    sentences = [
        f"{plural(len(comparison.runs), 'run')} on {source}, {plural(comparison.records, 'record')}; "
        f"{found} found a release that satisfies every constraint, each verified on what would be published."
    ]
    if comparison.attack is not None:
        sentences.append(
            f"Risk is the success of {comparison.attack}, {comparison.attack_is}: it gains most over a guess "
            f"among those that every release went through, with the same seed ({comparison.seed}) for all."
        )
    if comparison.advice is not None:
        sentences.append(" ".join(comparison.advice.neighbors()))
    elif len(comparison.pareto) > 1:
        which = "Which of the Pareto-optimal runs is best"
        sentences.append(f"{which} depends on the risk that you accept (option --max-risk).")
    return list(filter(None, sentences))


def _first(comparison: Comparison) -> list[ComparedRun]:
    """Return the run to take, if a limit of risk decides, and then the Pareto-optimal ones."""
    taken = comparison.recommended
    return [*taken, *(run for run in comparison.pareto_runs if run not in taken)]


def frontier_chart(comparison: Comparison) -> Chart | None:
    """Return the chart of risk against loss; None if no run has a point in it."""
    points, unbeaten = comparison.points, comparison.unbeaten
    if not points:
        return None
    lines = -(-(len(_shapes(comparison)) + 2) // 4)
    svg = inline_svg(
        "frontier",
        f"Scatter chart of loss against risk for {plural(len(points), 'release')}, with a step line through "
        "the Pareto-optimal ones; data in the table below",
        Frame(780, 430 + 20 * lines, 62, 110 if _undecided(comparison) else 24, 30 + 20 * lines, 48),
        draw_frontier,
        comparison,
    )
    rows = tuple(
        (
            str(each.run.number),
            each.run.title,
            percent(each.risk.success),
            each.risk.interval or "counted",
            number(each.measured.loss),
            "yes" if each.run.number in unbeaten else "no",
        )
        for each in sorted(points, key=lambda each: (each.risk.success, each.measured.loss))
    )
    head = ("run", "what", "risk", "95 % interval", "loss", "unbeaten")
    grid = Grid("Releases by increasing risk", head, rows)
    least, most = comparison.pareto[0], comparison.pareto[-1]
    finding = (
        f"{_at(least).capitalize()}; {_at(most)}." if least is not most else f"{_at(least).capitalize()}."
    )
    return Chart("Risk against loss", svg, finding, grid)


MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "*", "h")
"""Marker shapes of the algorithms, in alphabetical order."""

LANE = 1.07
"""Horizontal position of undecided runs, in widths of the axes."""

NEAR = (0.022, 0.045)
"""Distance below which points share a label, in widths and heights of the axes."""


def _undecided(comparison: Comparison) -> list[tuple[ComparedRun, float]]:
    """Return the undecided runs with the lower bound on their loss, 0 if unknown."""
    return [(run, run.bound or 0.0) for run in comparison.runs if run.status is RunStatus.UNDECIDED]


def _shapes(comparison: Comparison) -> dict[str, str]:
    """Return the marker of each algorithm."""
    drawn = [*(each.run for each in comparison.points), *(run for run, _ in _undecided(comparison))]
    names = sorted({run.algorithm for run in drawn})
    return {name: MARKERS[place % len(MARKERS)] for place, name in enumerate(names)}


def _reach(comparison: Comparison) -> tuple[float, float]:
    """Return the ends of the two axes."""
    points = comparison.points
    risks = [*(each.risk.high for each in points), points[0].risk.baseline, 0.001]
    losses = [
        *(each.measured.loss for each in points),
        *(bound for _, bound in _undecided(comparison)),
        0.001,
    ]
    return 1.08 * max(risks), 1.12 * max(losses)


def draw_frontier(comparison: Comparison, palette: Palette) -> Drawing:
    """Draw risk to the right and loss upwards; the lower left corner is best."""
    chart, (right, top), shapes = Drawing(palette), _reach(comparison), _shapes(comparison)
    guess = Stroke(palette.before, 1.6, style="--")
    chart.add(Level(comparison.points[0].risk.baseline, guess, upright=True))
    chart.add(Text(0.012, 0.02, "better", palette.soft, (True, True), italic=True))
    chart.add(_line(comparison.pareto, right, top, palette))
    # Pareto-optimal points are drawn last, over the others.
    for each in sorted(comparison.points, key=lambda each: each.run.number in comparison.unbeaten):
        unbeaten, risk, loss = each.run.number in comparison.unbeaten, each.risk, each.measured.loss
        color = palette.after if unbeaten else palette.soft
        chart.add(Spans([loss], [risk.low], [risk.high], Stroke(color, 3.5, 0.45)))
        shape, size = shapes[each.run.algorithm], 10 if unbeaten else 7
        chart.add(Marks([risk.success], [loss], shape, size, color, Stroke(color), inside=False))
    for run, bound in _undecided(comparison):
        look = Stroke(palette.ink, 1.8)
        chart.add(Marks([LANE], [bound], shapes[run.algorithm], 9, "none", look, inside=False, beside=True))
    chart.add(*_labels(comparison, palette), *_named(shapes, palette))
    chart.legend = min(len(shapes) + 2, 4)
    for axis, end, title in ((chart.x, right, "risk"), (chart.y, top, "loss")):
        axis.between(0, end)
        axis.grid, axis.most, axis.title = Stroke(palette.grid), 6, (title, palette.soft)
    chart.x.pad, chart.x.formatter = 9.0, percent_tick
    return chart


def _line(best: Sequence[Point], right: float, top: float, palette: Palette) -> Line:
    """Return the smallest loss up to each risk as a step line."""
    risks, losses = np.array([(each.risk.success, each.measured.loss) for each in best]).T
    found = frontier(risks, losses)
    along = [risks[found[0]], *risks[found], right]
    return steps(along, [top, *losses[found], losses[found[-1]]], Stroke(palette.after, 1.8))


def _labels(comparison: Comparison, palette: Palette) -> Iterator[Text]:
    """Yield the number of each point next to it; near points share a text."""
    right, top = _reach(comparison)
    places = [
        (
            own.run.number,
            own.risk.success / right,
            own.measured.loss / top,
            own.run.number in comparison.unbeaten,
        )
        for own in comparison.points
    ]
    undecided = [(run.number, LANE, bound / top, False) for run, bound in _undecided(comparison)]
    for numbers, across, up, strong in label_groups([*places, *undecided]):
        yield Text(across + 0.013, up + 0.02, numbers, palette.ink, (True, True), bold=strong)
    if undecided:
        yield Text(LANE, 1.02, "undecided", palette.soft, (True, True), align="center")


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
        (", ".join(map(str, numbers)), max(across), max(up), any(strong))
        for numbers, across, up, strong in (zip(*group, strict=True) for group in groups)
    ]


def _named(shapes: Mapping[str, str], palette: Palette) -> Iterator[Marks | Line]:
    """Yield what the legend names: shapes and lines."""
    for name, marker in shapes.items():
        yield Marks([], [], marker, 8, palette.soft, Stroke(palette.soft), name)
    yield Line([], [], Stroke(palette.before, style="--"), "guess without a release")
    yield Line([], [], Stroke(palette.after), "Pareto-optimal")


def _at(point: Point) -> str:
    risk = percent(point.risk.success)
    return f"run {point.run.number} has a risk of {risk} at a loss of {number(point.measured.loss)}"


def _runs(comparison: Comparison) -> Grid:
    keys = comparison.keys
    head = ("run", "unbeaten", "algorithm", *keys, "result", "risk", "95 % interval", "loss", "proven")
    rows = tuple(_row(comparison, run, keys) for run in comparison.runs)
    return Grid("Every run with its numbers", (*head, "suppressed records", "classes", "seconds"), rows)


def _row(comparison: Comparison, run: ComparedRun, keys: list[str]) -> tuple[str, ...]:
    settings = dict(run.settings)
    mark = "yes" if run.number in comparison.unbeaten else "no"
    first = (
        str(run.number),
        mark,
        run.made_by,
        *(settings.get(key, "–") for key in keys),
        run.status.value,
    )
    own, risk, seconds = run.measured, comparison.risk(run), f"{run.seconds:.1f}"
    if own is None:
        return (*first, *["–"] * 6, seconds)
    return (
        *first,
        "–" if risk is None else percent(risk.success),
        "–" if risk is None else risk.interval or "counted",
        "Anatomy" if own.in_groups else number(own.loss),
        "proven" if own.proven else "no",
        f"{own.suppressed:,}",
        f"{own.classes:,}",
        seconds,
    )


def _in_groups(comparison: Comparison) -> Grid | None:
    """Return all releases by increasing query error; None without an Anatomy release."""
    if not comparison.in_groups:
        return None
    measured = [
        (run, own) for run in comparison.runs if (own := run.measured) and own.query_error is not None
    ]
    unknown = [(run, own) for run, own in comparison.in_groups if own.query_error is None]
    ordered = sorted(measured, key=lambda each: (each[1].query_error or 0.0, each[0].number))
    rows = tuple(
        (
            str(run.number),
            run.title,
            "unchanged, sensitive values in buckets" if own.in_groups else "recoded",
            number(own.query_error),
        )
        for run, own in (*ordered, *unknown)
    )
    return Grid("Releases by query error", ("run", "what", "quasi-identifiers", "query error"), rows)


def _winners(comparison: Comparison) -> tuple[Grid, Grid]:
    head = ("measure", "best run", "value", "note")
    losses = tuple(_winner(each, number(each.value)) for each in comparison.loss_winners)
    attacks = tuple(_winner(each, percent(each.value)) for each in comparison.attack_winners)
    return (
        Grid("Loss metrics, smaller is better", head, losses),
        Grid("Attacks, less success is better", head, attacks),
    )


def _winner(winner: Winner, value: str) -> tuple[str, ...]:
    return (winner.measure.replace("_", "-"), numbered(winner.runs), value, winner.note)
