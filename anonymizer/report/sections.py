"""The report page's sections on risk (3), loss and class sizes (4 and 6), and utility (5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.attacks.base import guess_of, threat_of
from anonymizer.errors import listed, plural
from anonymizer.loss.base import LOSS_METRICS, loss_key
from anonymizer.report.canvas import Frame
from anonymizer.report.charts import (
    LONGEST_LABEL,
    Dot,
    Mark,
    draw_attacks,
    draw_distribution,
    draw_groups,
    draw_knowledge,
    draw_losses,
    draw_query_error,
    draw_utility,
)
from anonymizer.report.distribution import Distribution
from anonymizer.report.facts import AttributeLoss, Facts
from anonymizer.report.wording import (
    NARROW,
    WIDE,
    Chart,
    Grid,
    attack,
    attack_sentence,
    drawn,
    interval,
    left_of,
    number,
    percent,
    strongest,
)


def metrics(report: dict[str, Any]) -> Grid:
    """Return a table of the loss metrics with four digits; more could reveal suppressed records."""
    names = sorted(LOSS_METRICS, key=lambda name: (name != "loss", name))
    rows = tuple(
        (name, _four(report["loss"].get(loss_key(name))), LOSS_METRICS[name].summary) for name in names
    )
    return Grid("Loss metrics, smaller is better", ("metric", "value", "is"), rows)


def _four(value: Any) -> str:
    return number(float(f"{value:.4g}") if isinstance(value, int | float) else value)


def losses_chart(facts: Facts) -> Chart | None:
    """Return the chart of losses by attribute; None without quasi-identifiers."""
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
    lost = [each.name for each in losses if each.loss >= 1]
    whole = [each.name for each in losses if each.level == 0]
    parts = []
    if lost:
        parts.append(f"Lost completely: {listed(lost)}.")
    if whole:
        suppresses = any(each.loss > 0 for each in losses if each.level == 0)
        parts.append(
            f"Released unchanged{', except in suppressed records' if suppresses else ''}: {listed(whole)}."
        )
    if not parts:
        most, least = losses[0], losses[-1]
        parts.append(
            f"{most.name} loses most ({percent(most.loss)}), {least.name} least ({percent(least.loss)})."
        )
    return " ".join(parts)


def distribution_charts(facts: Facts) -> tuple[Chart, ...]:
    """Return a small chart for each attribute that can be drawn."""
    return tuple(
        _distribution_chart(position, each)
        for position, each in enumerate(facts.distributions)
        if each.labels
    )


def undrawn(facts: Facts) -> tuple[tuple[str, str], ...]:
    """Return the attributes without a chart, and the reason."""
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
        f"a share changes by up to {number(100 * round(shown.largest_change, 4), 3)} percentage points."
        if shown.largest_change
        else "the rounded shares do not differ."
    )
    grid = Grid(f"Shares of {shown.attribute}, rounded", (shown.attribute, "input", "release"), rows)
    return Chart(shown.attribute, svg, finding, grid)


def groups_chart(report: dict[str, Any], facts: Facts) -> Chart | None:
    """Return the chart of class sizes; None with too few classes."""
    bins = facts.groups
    if not bins:
        return None
    svg = drawn(
        "groups",
        "Histogram of the number of records in a class; data in the table below",
        Frame(WIDE, 250, 16, 16, 8, 56),
        lambda axes, palette: draw_groups(axes, bins, palette),
    )
    rows = tuple((each.label, f"{each.classes:,}", percent(each.share)) for each in bins)
    first, last = bins[0], bins[-1]
    finding = f"{plural(report['release']['classes'], 'class')}; "
    finding += f"{percent(first.share)} of the records are in classes of {first.label}"
    if last is not first:
        finding += f", {percent(last.share)} in classes of {last.label}"
    grid = Grid("Classes by size", ("records in a class", "classes", "share of records"), rows)
    return Chart("Classes by size", svg, f"{finding}.", grid)


def dots_of(attacks: list[dict[str, Any]]) -> tuple[Dot, ...]:
    """Return a dot for each finding, in the order of the report."""
    return tuple(
        Dot(attack(each), each["success"], each["low"], each["high"], guess_of(each)) for each in attacks
    )


def attacks_chart(report: dict[str, Any]) -> Chart | None:
    """Return the chart of the attacks; None without attacks."""
    entries = report["attacks"]
    best = strongest(entries)
    if best is None:
        return None
    dots = dots_of(entries)
    frame = Frame(WIDE, 44 + 34 * len(dots), left_of([each.label for each in dots]), 90, 6, 34)
    svg = drawn(
        "attacks",
        f"Dot plot of {len(dots)} findings of attacks with the baseline of a guess; data in the table below",
        frame,
        lambda axes, palette: draw_attacks(axes, dots, palette),
    )
    rows = tuple(
        (
            attack(each),
            attack_sentence(each),
            percent(each["success"]),
            percent(guess_of(each)),
            interval(each),
        )
        for each in entries
    )
    finding = (
        f"The strongest attack is “{attack(best)}”. {attack_sentence(best)}"
        if best["success"] > guess_of(best)
        else "No attack succeeds more often than a guess."
    )
    head = ("attack", "in words", "success", "guess", "95 % interval")
    return Chart("Success of each attack", svg, finding, Grid("Attacks", head, rows), ("attack", "guess"))


def knowledge_chart(facts: Facts) -> Chart | None:
    """Return the chart of vulnerability by number of known attributes; None if not counted."""
    known = facts.knowing
    if len(known) < 2:
        return None
    svg = drawn(
        "knowledge",
        "Line chart of the probability to re-identify a random record by one guess, by number of known "
        "attributes, in the input and in the release; data in the table below",
        Frame(WIDE, 280, 62, 130, 16, 54),
        lambda axes, palette: draw_knowledge(axes, known, palette),
    )
    rows = tuple(
        (
            str(each.known),
            percent(each.worst),
            ", ".join(each.of),
            percent(each.mean),
            "–" if each.before is None else percent(each.before),
        )
        for each in known
    )
    last = known[-1]
    before = "" if last.before is None else f"; in the input, {percent(last.before)}"
    finding = (
        f"An adversary who knows all {last.known} quasi-identifiers re-identifies a random record by one "
        f"guess with probability {percent(last.worst)}{before}."
    )
    head = ("known", "release, worst set", "the worst set", "release, mean", "input, worst set")
    grid = Grid("Bayes vulnerability (re-identification) by number of known attributes", head, rows)
    return Chart(
        "Re-identification risk by number of known attributes",
        svg,
        finding,
        grid,
        ("input-diamond", "release-dot"),
    )


def matrix(report: dict[str, Any]) -> Grid:
    """Return a table of the models that claim to stop each attack, and the measured success."""
    models = list(dict.fromkeys(each["model"] for each in report["constraints"]))
    rows = []
    for row in report["attack_matrix"]:
        mitigates = tuple("stops" if model in row["claimed_by"] else "–" for model in models)
        rows.append((row["threat"], *mitigates, _measured(row, report["attacks"]), _verdict(row)))
    return Grid(
        "Attacks, the models that claim to stop them, and what was measured",
        ("attack", *models, "measured", "verdict"),
        tuple(rows),
    )


def _measured(row: dict[str, Any], attacks: Sequence[dict[str, Any]]) -> str:
    """Return the success of the strongest attack on a threat, with that of a guess."""
    if row["success"] is None:
        return "not run"
    worst = [
        each for each in attacks if threat_of(each) == row["threat"] and each["success"] == row["success"]
    ]
    guess = max([row["baseline"], *map(guess_of, worst)])
    return f"{percent(row['success'])} (guess {percent(guess)})"


def _verdict(row: dict[str, Any]) -> str:
    if row["contradicted"]:
        return "contradicts the claim"
    if row["success"] is None:
        return "not measured"
    return "agrees with the claim" if row["claimed_by"] else "nothing claimed"


KEY = ("release-dot", "input-diamond", "hidden")

PAIRS = 10
"""Maximum number of listed pairs of attributes."""


@dataclass(frozen=True)
class UtilitySection:
    """The charts of the section, and the tables without a chart."""

    charts: tuple[Chart, ...]
    grids: tuple[Grid, ...]


def utility_section(report: Mapping[str, Any]) -> UtilitySection | None:
    """Return the section; None without measures."""
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
    return UtilitySection(tuple(charts), tuple(grids))


def _label(entry: Mapping[str, Any]) -> str:
    """Return the name of a measure, with the predicted attribute if it has one."""
    of = entry["details"].get("predicted")
    return f"{entry['measure']}: {of}" if of else str(entry["measure"])


def _three(value: float) -> str:
    return f"{value:.3g}"


def _overview(entries: Sequence[Mapping[str, Any]]) -> Chart:
    marks = [Mark(_label(each), each["value"], each["untouched"], each["suppressed"]) for each in entries]
    svg = drawn(
        "utility",
        f"Dot plot of {len(marks)} measures of utility, between the input and everything hidden; data below",
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
    finding = (
        "The nearer to the input and the farther from everything hidden, the more useful is the release."
    )
    grid = Grid("Measures of utility", ("measure", "release", "input", "all hidden", "better is"), rows)
    return Chart("Utility between the input and everything hidden", svg, finding, grid, KEY)


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
    finding = f"The distribution of {worst.label} changed most: for {moved} of the records."
    grid = Grid("Total variation by attribute", ("attribute", "release", "all hidden"), rows)
    return Chart("Change of each distribution", svg, finding, grid, KEY)


def _pairs(farthest: Sequence[Mapping[str, Any]]) -> Grid:
    rows = tuple(
        (" and ".join(each["attributes"]), _three(each["total_variation"]), _three(each["suppressed"]))
        for each in farthest
    )
    return Grid("Pairs whose joint distribution changed most", ("pair", "release", "all hidden"), rows)
