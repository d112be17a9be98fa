"""Section 3: what adversaries reach, and what the models claim to stop."""

from __future__ import annotations

from typing import Any

from anonymizer.report.facts.gather import Facts
from anonymizer.report.html.charts.attacks import Dot, draw_attacks
from anonymizer.report.html.charts.canvas import Frame
from anonymizer.report.html.charts.knowledge import draw_knowledge
from anonymizer.report.html.parts import WIDE, Chart, Grid, drawn, left_of
from anonymizer.report.html.words import attack, interval, strongest
from anonymizer.report.numbers import percent


def dots_of(attacks: list[dict[str, Any]]) -> tuple[Dot, ...]:
    """Return a dot for each finding, in the order of the report."""
    return tuple(
        Dot(attack(each), each["success"], each["low"], each["high"], each["baseline"]) for each in attacks
    )


def attacks_chart(report: dict[str, Any]) -> Chart | None:
    """Return what each attack reached; None when none was run."""
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
            ", ".join(each["knowledge"].get("attributes") or []) or "–",
            percent(each["success"]),
            percent(each["baseline"]),
            interval(each),
        )
        for each in entries
    )
    gain = best["success"] - best["baseline"]
    finding = (
        f"“{attack(best)}” gains most: {percent(best['success'])} of its targets against "
        f"{percent(best['baseline'])} by a guess."
        if gain > 0
        else "No attack gains anything over a guess."
    )
    head = ("attack", "knows", "success", "guess", "95 % interval")
    return Chart("What each attack reaches", svg, finding, Grid("Attacks", head, rows), ("attack", "guess"))


def knowledge_chart(facts: Facts) -> Chart | None:
    """Return the vulnerability by number of known attributes; None where it was not counted."""
    known = facts.knowing
    if len(known) < 2:
        return None
    svg = drawn(
        "knowledge",
        "Line chart of the chance to re-identify somebody by one guess, by number of known attributes, in "
        "the input and in the release; data in the table below",
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
    before = "" if last.before is None else f", where it is {percent(last.before)} in the input"
    finding = (
        f"Who knows all {last.known} quasi-identifiers of a random person re-identifies them by one guess "
        f"with a chance of {percent(last.worst)}{before}."
    )
    head = ("known", "release, worst set", "the worst set", "release, mean", "input, worst set")
    grid = Grid("Bayes vulnerability (re-identification) by number of known attributes", head, rows)
    return Chart("The more is known, the more is found", svg, finding, grid, ("input-diamond", "release-dot"))


def matrix(report: dict[str, Any]) -> Grid:
    """Return which model claims to stop which attack, beside what was measured; not run is not zero."""
    models = list(dict.fromkeys(each["model"] for each in report["constraints"]))
    rows = []
    for row in report["attack_matrix"]:
        mitigates = tuple("stops" if model in row["claimed_by"] else "–" for model in models)
        rows.append((row["threat"], *mitigates, _measured(row), _verdict(row)))
    return Grid(
        "Attacks, the models that claim to stop them, and what was measured",
        ("attack", *models, "measured", "verdict"),
        tuple(rows),
    )


def _measured(row: dict[str, Any]) -> str:
    if row["success"] is None:
        return "not run"
    return f"{percent(row['success'])} (guess {percent(row['baseline'])})"


def _verdict(row: dict[str, Any]) -> str:
    if row["contradicted"]:
        return "contradicts the claim"
    if row["success"] is None:
        return "not measured"
    return "agrees with the claim" if row["claimed_by"] else "nothing claimed"
