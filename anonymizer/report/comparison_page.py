"""compare.html: the comparison as one self-contained page."""

from __future__ import annotations

from importlib.resources import files

from anonymizer.errors import plural
from anonymizer.report.canvas import Frame
from anonymizer.report.charts import Field, Open, Spot, draw_frontier
from anonymizer.report.comparison import ComparedRun, Comparison, Point, RunStatus, Winner, numbered
from anonymizer.report.page import TEMPLATES, environment
from anonymizer.report.wording import Chart, Grid, drawn, number, percent

SECTIONS = (
    ("frontier", "Risk and loss"),
    ("recommended", "Recommended"),
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
        recommended=[(run, comparison.command_in_folder(run)) for run in comparison.recommended_runs],
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
            f"Risk is the success of {comparison.attack}, the attack that gains most over a guess among "
            f"those that every release went through, with the same seed ({comparison.seed}) for all."
        )
    if comparison.advice is not None:
        sentences.append(" ".join(comparison.advice.sentences()))
    elif len(comparison.recommended) > 1:
        sentences.append(
            "All Pareto-optimal runs are recommended; which of them is best depends on the risk that you "
            "accept (option --max-risk)."
        )
    return sentences


def frontier_chart(comparison: Comparison) -> Chart | None:
    """Return the chart of risk against loss; None if no run has a point in it."""
    points, unbeaten = comparison.points, comparison.unbeaten
    if not points:
        return None
    field = _field(comparison)
    shapes = -(-(len(field.shapes) + 2) // 4)
    svg = drawn(
        "frontier",
        f"Scatter chart of loss against risk for {plural(len(points), 'release')}, with a step line through "
        "the Pareto-optimal ones; data in the table below",
        Frame(780, 430 + 20 * shapes, 62, 110 if field.undecided else 24, 30 + 20 * shapes, 48),
        lambda axes, palette: draw_frontier(axes, field, palette),
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
    least, most = comparison.recommended[0], comparison.recommended[-1]
    finding = (
        f"{_at(least).capitalize()}; {_at(most)}." if least is not most else f"{_at(least).capitalize()}."
    )
    return Chart("Risk against loss", svg, finding, grid)


def _field(comparison: Comparison) -> Field:
    unbeaten = comparison.unbeaten
    return Field(
        tuple(
            Spot(
                each.run.number,
                each.run.algorithm,
                each.risk.success,
                each.risk.low,
                each.risk.high,
                each.measured.loss,
                each.run.number in unbeaten,
            )
            for each in comparison.points
        ),
        tuple(
            Open(run.number, run.algorithm, run.bound or 0.0)
            for run in comparison.runs
            if run.status is RunStatus.UNDECIDED
        ),
        comparison.points[0].risk.baseline,
    )


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
