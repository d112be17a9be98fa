"""Sections 4 and 6: what was lost, attribute by attribute, and how large the groups are."""

from __future__ import annotations

from typing import Any

from anonymizer.report.facts.distribution import Distribution
from anonymizer.report.facts.gather import Facts
from anonymizer.report.facts.losses import AttributeLoss
from anonymizer.report.html.charts.canvas import Frame
from anonymizer.report.html.charts.distribution import LONGEST_LABEL, draw_distribution
from anonymizer.report.html.charts.groups import draw_groups
from anonymizer.report.html.charts.losses import draw_losses
from anonymizer.report.html.parts import NARROW, WIDE, Chart, Grid, drawn, left_of
from anonymizer.report.html.words import listed, number, plural
from anonymizer.report.numbers import percent

METRICS = {
    "loss": "share of what could be hidden that is hidden",
    "ncp": "the same, by the Mondrian literature",
    "discernibility": "sum of squared group sizes",
    "average_class_size": "mean group size over k",
    "nonuniform_entropy": "bits that are gone",
    "precision": "mean height in the hierarchies",
    "height": "sum of levels",
}


def metrics(report: dict[str, Any]) -> Grid:
    """Return every loss metric; small differences would tell who was left out, so four digits are shown."""
    rows = tuple(
        (name.replace("_", "-"), _four(report["loss"][name]), METRICS.get(name, ""))
        for name in sorted(report["loss"], key=_place)
    )
    return Grid("Loss metrics, smaller is better", ("metric", "value", "is"), rows)


def _place(metric: str) -> int:
    names = [*METRICS]
    return names.index(metric) if metric in METRICS else len(names)


def _four(value: Any) -> str:
    return number(float(f"{value:.4g}") if isinstance(value, int | float) else value)


def losses_chart(facts: Facts) -> Chart | None:
    """Return what each attribute lost; None without quasi-identifiers."""
    losses = facts.losses
    if not losses:
        return None
    frame = Frame(WIDE, 20 + 32 * len(losses), left_of([each.name for each in losses]), 84)
    svg = drawn(
        "losses",
        f"Bars: the loss of {plural(len(losses), 'attribute')}, most lost first; data in the table below",
        frame,
        lambda axes, palette: draw_losses(axes, losses, palette),
    )
    rows = tuple(
        (
            each.name,
            percent(each.loss),
            _level(each),
            f"{each.values:,}",
            f"{each.published:,}",
            f"{each.weight:g}",
        )
        for each in losses
    )
    head = ("attribute", "loss", "level", "values before", "values published", "weight")
    return Chart("Loss by attribute", svg, _finding(losses), Grid("Attributes, most lost first", head, rows))


def _level(loss: AttributeLoss) -> str:
    return "varies" if loss.level is None else f"{loss.level} of {loss.top}"


def _finding(losses: tuple[AttributeLoss, ...]) -> str:
    gone = [each.name for each in losses if each.loss >= 1]
    whole = [each.name for each in losses if each.level == 0]
    parts = []
    if gone:
        parts.append(f"Nothing is left of {listed(gone)}.")
    if whole:
        unmatched_columns = any(each.loss > 0 for each in losses if each.level == 0)
        verb, but = (
            "is" if len(whole) == 1 else "are",
            ", but for records left out" if unmatched_columns else "",
        )
        parts.append(f"{listed(whole)} {verb} published as in the input{but}.")
    if not parts:
        most, least = losses[0], losses[-1]
        parts.append(f"Most is lost of {most.name} ({percent(most.loss)}),")
        parts.append(f"least of {least.name} ({percent(least.loss)}).")
    return " ".join(parts)


def distribution_charts(facts: Facts) -> tuple[Chart, ...]:
    """Return a small chart for each attribute that can be drawn."""
    return tuple(
        _distribution_chart(position, each)
        for position, each in enumerate(facts.distributions)
        if each.labels
    )


def undrawn(facts: Facts) -> tuple[tuple[str, str], ...]:
    """Return the attributes that have no such chart, and why."""
    return tuple((each.attribute, each.reason) for each in facts.distributions if not each.labels)


def _distribution_chart(position: int, shown: Distribution) -> Chart:
    frame = Frame(NARROW, 30 + 30 * len(shown.labels), left_of(shown.labels, LONGEST_LABEL), 12, 4, 24)
    svg = drawn(
        f"distribution{position}",
        f"Paired bars of {shown.attribute} in the input and in the release; data in the table below",
        frame,
        lambda axes, palette: draw_distribution(axes, shown, palette),
    )
    rows = tuple(
        (label, percent(before), percent(after))
        for label, before, after in zip(shown.labels, shown.before, shown.after, strict=True)
    )
    finding = f"{shown.entries.capitalize()}: " + (
        f"shares differ by at most {percent(round(shown.largest_change, 4))}."
        if shown.largest_change
        else "as drawn, shares do not differ."
    )
    grid = Grid(f"Shares of {shown.attribute}, rounded", (shown.attribute, "input", "release"), rows)
    return Chart(shown.attribute, svg, finding, grid)


def groups_chart(report: dict[str, Any], facts: Facts) -> Chart | None:
    """Return the histogram of class sizes; None with too few classes."""
    bins = facts.groups
    if not bins:
        return None
    svg = drawn(
        "groups",
        "Histogram of the number of records in a group; data in the table below",
        Frame(WIDE, 250, 16, 16, 8, 56),
        lambda axes, palette: draw_groups(axes, bins, palette),
    )
    rows = tuple((each.label, f"{each.classes:,}", percent(each.share)) for each in bins)
    first, last = bins[0], bins[-1]
    finding = f"{plural(report['release']['classes'], 'group')}; "
    finding += f"{percent(first.share)} of the records are in groups of {first.label}"
    if last is not first:
        finding += f", {percent(last.share)} in groups of {last.label}"
    grid = Grid("Groups by size", ("records in a group", "groups", "share of records"), rows)
    return Chart("Groups by size", svg, f"{finding}.", grid)
