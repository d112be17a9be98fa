"""Section 5: what analysts notice, where the config asks for measures of utility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.report.html.charts.canvas import Frame
from anonymizer.report.html.charts.query_error import draw_query_error
from anonymizer.report.html.charts.utility import Mark, draw_utility
from anonymizer.report.html.parts import WIDE, Chart, Grid, drawn, left_of
from anonymizer.report.numbers import percent

KEY = ("release-dot", "input-diamond", "hidden")

PAIRS = 10
"""Pairs of attributes that the page lists."""


@dataclass(frozen=True)
class Useful:
    """The section: charts, and tables without one."""

    charts: tuple[Chart, ...]
    grids: tuple[Grid, ...]


def useful(report: Mapping[str, Any]) -> Useful | None:
    """Return the section; None where nothing was measured."""
    entries = report.get("utility") or []
    if not entries:
        return None
    charts = [_overview(entries)]
    grids = []
    for position, entry in enumerate(entries):
        details = entry["details"]
        if details.get("ecdf"):
            charts.append(_errors(position, details))
        if isinstance(details.get("attributes"), list):
            charts.append(_attributes(position, entry["measure"], details["attributes"]))
        if details.get("farthest"):
            grids.append(_pairs(details["farthest"][:PAIRS]))
    return Useful(tuple(charts), tuple(grids))


def _label(entry: Mapping[str, Any]) -> str:
    """Name a finding; a prediction by what is predicted too."""
    of = entry["details"].get("predicted")
    return f"{entry['measure']}: {of}" if of else str(entry["measure"])


def _three(value: float) -> str:
    return f"{value:.3g}"


def _overview(entries: Sequence[Mapping[str, Any]]) -> Chart:
    marks = [Mark(_label(each), each["value"], each["untouched"], each["suppressed"]) for each in entries]
    svg = drawn(
        "utility",
        f"Dot plot of {len(marks)} measures of utility, between the input and nothing; data below",
        Frame(WIDE, 44 + 34 * len(marks), left_of([each.label for each in marks]), 84, 6, 34),
        lambda axes, palette: draw_utility(axes, marks, palette),
    )
    rows = tuple(
        (
            mark.label,
            _three(mark.value),
            _three(mark.untouched),
            _three(mark.suppressed),
            "small" if entry["smaller_is_better"] else "large",
        )
        for mark, entry in zip(marks, entries, strict=True)
    )
    finding = "The nearer the release is to the input, and the farther from hidden, the more it is good for."
    grid = Grid("Measures of utility", ("measure", "release", "input", "all hidden", "better is"), rows)
    return Chart("Between the input and nothing", svg, finding, grid, KEY)


def _errors(position: int, details: Mapping[str, Any]) -> Chart:
    ecdf = details["ecdf"]
    svg = drawn(
        f"errors{position}",
        "Line chart of the share of count queries by their relative error; data in the table below",
        Frame(WIDE, 260, 62, 30, 14, 46),
        lambda axes, palette: draw_query_error(axes, ecdf, palette),
    )
    half = next((error for error, share in ecdf if share >= 0.5), ecdf[-1][0])
    rows = tuple((percent(float(f"{error:.3g}")), percent(share)) for error, share in ecdf)
    grid = Grid("Queries by relative error", ("error, at most", "share of queries"), rows)
    finding = (
        f"Half of the answers to random count queries are off by at most {percent(float(_three(half)))}."
    )
    return Chart("Errors of count queries", svg, finding, grid)


def _attributes(position: int, measure: str, attributes: Sequence[Mapping[str, Any]]) -> Chart:
    marks = [
        Mark(each["attribute"], each["total_variation"], 0.0, each["suppressed"]["total_variation"])
        for each in sorted(attributes, key=lambda each: -each["total_variation"])
    ]
    svg = drawn(
        f"marginals{position}",
        f"Dot plot of {measure} for {len(marks)} attributes; data in the table below",
        Frame(WIDE, 44 + 30 * len(marks), left_of([each.label for each in marks]), 84, 6, 34),
        lambda axes, palette: draw_utility(axes, marks, palette),
    )
    rows = tuple((each.label, _three(each.value), _three(each.suppressed)) for each in marks)
    worst = marks[0]
    moved = percent(float(_three(worst.value)))
    finding = f"The distribution of {worst.label} moved most: by {moved} of the people."
    grid = Grid("Total variation by attribute", ("attribute", "release", "all hidden"), rows)
    return Chart("How far each distribution moved", svg, finding, grid, KEY)


def _pairs(farthest: Sequence[Mapping[str, Any]]) -> Grid:
    rows = tuple(
        (" and ".join(each["attributes"]), _three(each["total_variation"]), _three(each["suppressed"]))
        for each in farthest
    )
    return Grid("Pairs whose joint distribution moved most", ("pair", "release", "all hidden"), rows)
