"""The report page, report.html: the report and its facts as one self-contained page.

The verdict in plain words and what to share come first. Section 2 covers the constraints and the classes
closest to violation, section 3 risk, sections 4 and 6 loss and class sizes, section 5 utility, section 7 the
search and its proof, section 8 how to reproduce the same bytes. A card shows the result in a notebook,
without any record.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from anonymizer.attacks.base import guess_of, threat_of
from anonymizer.errors import listed, plural
from anonymizer.loss.base import LOSS_METRICS, loss_key
from anonymizer.model.invocation import RunCommand, command
from anonymizer.model.report import Report
from anonymizer.model.warning import Harm, harm_of
from anonymizer.report.algorithms import full_domain
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
    draw_search,
    draw_utility,
    progress_of,
)
from anonymizer.report.columns import columns_grid, columns_legend
from anonymizer.report.drawing import left_of
from anonymizer.report.exposure import (
    changes_made,
    mended_lines,
    read_findings,
    remedy_of_few,
    seen_of,
    unproven_end,
)
from anonymizer.report.facts import AttributeLoss, Distribution, Facts, Worst
from anonymizer.report.preset import preset_lines
from anonymizer.report.scenarios import knowledge_in_words
from anonymizer.report.small_counts import is_small_count, masked_count
from anonymizer.report.svg import Frame, inline_svg
from anonymizer.report.wording import (
    NARROW,
    WIDE,
    Chart,
    Grid,
    attack,
    attack_sentence,
    beside_tables,
    best_of,
    by_unit,
    by_weights,
    constraint_name,
    floored,
    in_table,
    interval,
    measured_of,
    most_exposed,
    number,
    parameters_of,
    percent,
    rejected_by_estimates,
    strongest,
    units_lost,
)

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def metrics(report: dict[str, Any]) -> Grid:
    """Return a table of the loss metrics with four digits; more could reveal suppressed records."""
    names = sorted(LOSS_METRICS, key=lambda name: (name != "loss", name))
    weighted, units, rows = report.get("weighted_loss", {}), report.get("unit_loss", {}), []
    for name in names:
        key, summary = loss_key(name), LOSS_METRICS[name].summary
        if key in weighted:
            rows.append(
                (f"{name} over people", _four(weighted[key]), f"{summary}, {by_weights(weighted['weights'])}")
            )
        if key in units:
            unit = units["unit"]
            rows.append((f"{name} by {unit}", _four(units[key]), f"{summary}, {by_unit(unit)}"))
        over = f"{name} over records" if key in weighted or key in units else name
        rows.append((over, _four(report["loss"].get(key)), summary))
    return Grid("Loss metrics, smaller is better", ("metric", "value", "is"), tuple(rows))


def _four(value: Any) -> str:
    return number(float(f"{value:.4g}") if isinstance(value, int | float) else value)


def losses_chart(facts: Facts) -> Chart | None:
    """Return the chart of losses by attribute; None without quasi-identifiers."""
    losses = facts.losses
    if not losses:
        return None
    frame = Frame(WIDE, 20 + 32 * len(losses), left_of([each.name for each in losses]), 84)
    svg = inline_svg(
        "losses",
        f"Bars: the loss of {plural(len(losses), 'attribute')}, most lost first; data in the table below",
        frame,
        draw_losses,
        losses,
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
    by = ""
    if facts.loss_unit is not None:
        by = f", {by_unit(facts.loss_unit)}"
    elif facts.weights is not None:
        head, by = (*head[:-1], "attribute weight"), f", {by_weights(facts.weights)}"
    title = f"Loss by attribute{by}"
    return Chart(title, svg, _finding(losses), Grid("Attributes, most lost first", head, rows))


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
    svg = inline_svg(
        f"distribution{position}",
        f"Paired bars of {shown.attribute} in the input and in the release; data in the table below",
        frame,
        draw_distribution,
        shown,
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
    svg = inline_svg(
        "groups",
        f"Histogram of the number of {bins[0].of} in a class; data in the table below",
        Frame(WIDE, 250, 16, 16, 8, 56),
        draw_groups,
        bins,
    )
    rows = tuple((each.label, f"{each.classes:,}", percent(each.share)) for each in bins)
    first, last = bins[0], bins[-1]
    finding = f"{plural(report['release']['classes'], 'class')}; "
    of = "" if bins[0].of == "records" else f" {bins[0].of}"
    finding += f"{percent(first.share)} of the records are in classes of {first.label}{of}"
    if last is not first:
        finding += f", {percent(last.share)} in classes of {last.label}{of}"
    grid = Grid("Classes by size", (f"{bins[0].of} in a class", "classes", "share of records"), rows)
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
    svg = inline_svg(
        "attacks",
        f"Dot plot of {len(dots)} findings of attacks with the baseline of a guess; data in the table below",
        frame,
        draw_attacks,
        dots,
    )
    rows = tuple(
        (
            attack(each),
            attack_sentence(each),
            percent(each["success"]),
            percent(guess_of(each)),
            interval(each),
            most_exposed(each),
        )
        for each in entries
    )
    finding = (
        f"The strongest attack is “{attack(best)}”. {attack_sentence(best)}"
        if best["success"] > guess_of(best)
        else "No attack succeeds more often than a guess."
    )
    head = ("attack", "in words", "success", "guess", "95 % interval", "most exposed 1 %")
    return Chart("Success of each attack", svg, finding, Grid("Attacks", head, rows), ("attack", "guess"))


def knowledge_chart(facts: Facts) -> Chart | None:
    """Return the chart of vulnerability by number of known attributes; None if not counted."""
    known = facts.knowing
    if len(known) < 2:
        return None
    svg = inline_svg(
        "knowledge",
        f"Line chart of the probability to re-identify a random {facts.unit} by one guess, by number of "
        "known attributes, in the input and in the release; data in the table below",
        Frame(WIDE, 280, 62, 130, 16, 54),
        draw_knowledge,
        known,
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
    of_all = "" if facts.by_record else f" of every record of a {facts.unit}"
    finding = (
        f"An adversary who knows all {last.known} quasi-identifiers{of_all} re-identifies a random "
        f"{facts.unit} by one guess with probability {percent(last.worst)}{before}."
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
    return "no claim contradicted" if row["claimed_by"] else "nothing claimed"


KEY = ("release-dot", "input-diamond", "hidden")

PAIRS = 10
"""Maximum number of listed pairs of attributes."""


class UtilitySection(NamedTuple):
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
    svg = inline_svg(
        "utility",
        f"Dot plot of {len(marks)} measures of utility, between the input and everything hidden; data below",
        Frame(WIDE, 44 + 34 * len(marks), left_of([each.label for each in marks]), 84, 6, 34),
        draw_utility,
        marks,
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
    svg = inline_svg(
        f"errors{position}",
        "Line chart of the share of count queries by their relative error; data in the table below",
        Frame(WIDE, 260, 62, 30, 14, 46),
        draw_query_error,
        ecdf,
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
    svg = inline_svg(
        f"marginals{position}",
        f"Dot plot of {measure} for {len(marks)} attributes; data in the table below",
        Frame(WIDE, 44 + 30 * len(marks), left_of([each.label for each in marks]), 84, 6, 34),
        draw_utility,
        marks,
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


class Form(NamedTuple):
    """Words for a release by its destination.

    Attributes
    ----------
    noun: for the release.
    verified: the way of verification.
    measured: the object of the measurements.
    recipient: whether a recipient can verify a constraint that the release alone decides.
    """

    noun: str
    verified: str
    measured: str
    recipient: str


FILE = Form("file", "read back from disk and measured again", "the written file", "yes")
TABLE = Form("table", "read back and measured again", "the written table", "if released to a file")
MEMORY = Form("release", "measured again before it was returned", "the release", "if written to a file")


def form_of(report: Mapping[str, Any]) -> Form:
    """Return the words for the release of a report."""
    if report["release"]["path"] is None:
        return MEMORY
    return TABLE if in_table(report) else FILE


GLOSSARY = {
    "attack": "A method by which an adversary with the release and background knowledge tries to learn more. "
    "Its success is the share of targets for which it works.",
    "Bayes vulnerability": "The probability that one optimal guess about a random record is correct. For "
    "re-identification it is the number of classes divided by the number of records.",
    "bound": "A proven value that no candidate is below. If the loss equals it, the release is optimal.",
    "class": "Equivalence class: all released records with the same published quasi-identifiers. The release "
    "does not distinguish them by these attributes.",
    "gap": "The largest possible distance of the loss from the optimum, as a share of the loss.",
    "guess": "The baseline: the success of the same adversary without the release. Only the difference is "
    "due to the release.",
    "hierarchy, level": "A tree of values from exact (level 0) to * (the top). A generalized value covers "
    "all values below it.",
    "insensitive": "A column that adversaries neither know nor gain from; it is released unchanged, or in "
    "groups.",
    "k-anonymity": "Every class has at least k records, or k of the units that the constraint names.",
    "l-diversity": "Every class has at least l different values of a sensitive attribute.",
    "loss": "Share of the information that is lost, averaged over records and quasi-identifiers: 0 is "
    "the input, 1 is everything suppressed.",
    "quasi-identifier": "A column that an adversary may know about a person, such as age or postal code.",
    "sensitive": "A column whose value must not be inferred for a person.",
    "unit": "What a constraint counts, if not records: all records of one person, household or other unit "
    "count once.",
    "suppression": "Records or cells that are withheld because they are in no class that satisfies the "
    "constraints.",
}

VULNERABILITY_BY_UNIT = (
    "The probability that one optimal guess about a random {unit} is correct, of an adversary who knows "
    "quasi-identifiers of every record of each {unit}."
)

LOSS_BY_UNIT = (
    "Share of the information that is lost, averaged over quasi-identifiers, the records of each {unit}, and "
    "then each {unit}, or where the page says so over records: 0 is the input, 1 is everything suppressed."
)

LOSS_OVER_PEOPLE = (
    "Share of the information that is lost, averaged over quasi-identifiers and over the people whom the "
    "records represent, by sampling weights, or where the page says so over records: 0 is the input, 1 is "
    "everything suppressed."
)


def constraints_grid(report: dict[str, Any], facts: Facts) -> Grid:
    """Return a table with a row for each constraint."""
    form = form_of(report)
    rows = []
    for constraint, worst in zip(report["constraints"], facts.worst, strict=True):
        rows.append(
            (
                constraint_name(constraint),
                parameters_of(constraint),
                measured_of(constraint, number, " and "),
                "holds" if constraint["satisfied"] else "fails",
                _worst(
                    worst,
                    facts.smallest,
                    report["release"]["classes"],
                    constraint["parameters"].get("unit"),
                    constraint["worst_classes"],
                ),
                form.recipient if constraint["verifiable_from_release"] else "no",
            )
        )
    return Grid(
        f"Requested thresholds, and what was measured on {form.measured}",
        (
            "constraint",
            "requested",
            "measured",
            "verdict",
            "classes at the worst measure",
            "recipient can verify",
        ),
        tuple(rows),
    )


def scenarios_grid(report: dict[str, Any]) -> Grid:
    """Return a table with a row for each model of each scenario."""
    rows = tuple(
        (
            name,
            knowledge_in_words(scenario["known"]),
            f"{constraint_name(constraint)}, {parameters_of(constraint)}",
            measured_of(constraint, number, " and "),
            "holds" if constraint["satisfied"] else "fails",
        )
        for name, scenario in report.get("scenarios", {}).items()
        for constraint in scenario["constraints"]
    )
    caption = f"What each adversary knows, and what was measured on {form_of(report).measured}"
    return Grid(caption, ("scenario", "knows", "requested", "measured", "verdict"), rows)


def _worst(worst: Worst | None, smallest: int, classes: int, unit: str | None, number_of: int | None) -> str:
    """Return a text on the worst classes with sizes only, as values could reveal individuals."""
    if unit is not None:
        many = "" if number_of is None else f"{masked_count(number_of, smallest, classes)}, "
        return f"{many}counted by {unit}"
    if worst is None:
        return "judged on the whole release"
    # A masked number is at least one.
    many = masked_count(1 if worst.classes is None else worst.classes, smallest, classes)
    if worst.largest < smallest:
        return f"{many}, of fewer than {smallest} records"
    least = f"fewer than {smallest}" if worst.smallest < smallest else f"{worst.smallest:,}"
    if worst.smallest == worst.largest:
        return f"{many}, of {least} records"
    return f"{many}, of {least} to {worst.largest:,} records"


CONFIG = "again.yaml"
"""File name for the printed config."""


def config_text(report: dict[str, Any]) -> str:
    """Return the config with all defaults as YAML; absolute paths are shortened to file names."""
    config = _without_folders(report["config"])
    config["attributes"] = {name: _Line(each) for name, each in config["attributes"].items()}
    own = {key: value if key == "attributes" else _in_lines(value) for key, value in config.items()}
    return yaml.dump(own, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=96)


class _Line(dict[str, Any]):
    """A mapping that is written on one line."""


class _Dumper(yaml.SafeDumper):
    """Writes sections on one line each."""


_Dumper.add_representer(
    _Line, lambda dumper, line: dumper.represent_mapping("tag:yaml.org,2002:map", line, flow_style=True)
)


def _in_lines(value: Any) -> Any:
    if isinstance(value, dict):
        return _Line(value)
    if isinstance(value, list):
        return [_in_lines(each) for each in value]
    return value


def _without_folders(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_folders(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_folders(item) for item in value]
    if isinstance(value, str):
        return file_name(value)
    return value


def file_name(text: str) -> str:
    """Return the file name of an absolute path, any other text unchanged.

    >>> file_name("/home/me/adult.csv"), file_name("data/adult.csv"), file_name("/")
    ('adult.csv', 'data/adult.csv', '/')
    """
    for kind in (PurePosixPath, PureWindowsPath):
        path = kind(text)
        if path.is_absolute() and path.name:
            return path.name
    return text


def commands(report: dict[str, Any]) -> str:
    """Return the commands that repeat the run and verify its release."""
    path = report["release"]["path"]
    if path is None:
        return f'anonymizer.anonymize(people, "{CONFIG}")'
    if in_table(report):  # the hash of a table is the hash of this file
        as_file = "output={path: release.csv}"
        return f"{RunCommand(CONFIG, 'again', (as_file,))}\n{command('audit', 'again/share/release.csv')}"
    return f"{RunCommand(CONFIG, 'again')}\n{command('audit', f'again/{path}')}"


def budget_note(report: dict[str, Any]) -> str:
    """Return how to repeat a search that the time limit or the user stopped; empty for others."""
    search = report["search"]
    limits = report["config"].get("budget", {})
    timed = any(limits[name] is not None for name in limits.keys() - {"nodes", "steps"})
    if not (report["interrupted"] or (timed and not search["optimal"])):
        return ""
    return (
        f"The time limit or the user may have stopped the search, which the seed does not reproduce. "
        f"With --set budget.steps={search['steps']} the search takes the same steps again."
    )


def fingerprints(report: dict[str, Any]) -> Grid:
    """Return a table of the seed, hashes and versions."""
    environment = report["environment"]
    rows = [
        ("seed", str(report["search"]["seed"])),
        ("input, SHA-256", report["input"]["sha256"] or "a DataFrame"),
        ("release, SHA-256", report["release"]["sha256"] or "a DataFrame"),
        ("anonymizer", environment["anonymizer"]),
        ("Python", environment["python"]),
        *environment["packages"].items(),
    ]
    return Grid("Seed, files and versions", ("what", "value"), tuple(rows))


def roles(report: dict[str, Any]) -> Grid:
    """Return a table of the role and type of each column."""
    rows = tuple((name, each["role"], each["type"] or "–") for name, each in report["attributes"].items())
    return Grid("Columns of the input", ("column", "role", "read as"), rows)


MOST_ROWS = 30
"""Maximum number of improvements in the table below the chart."""


def search_chart(report: dict[str, Any]) -> Chart | None:
    """Return the chart of the best loss by candidate; None without a recorded search."""
    search = report["search"]
    progress = progress_of(report["steps"], search)
    if not progress.best or progress.steps < 2:
        return None
    svg = inline_svg(
        "search",
        "Step chart of the best objective found, against the number of candidates evaluated, with the proven "
        "bound; data in the table below",
        Frame(WIDE, 280, 52, 150, 10, 46),
        draw_search,
        progress,
    )
    best = progress.best[-MOST_ROWS:]
    rows = tuple((f"{step:,}", number(objective)) for step, objective in best)
    caption = "Improvements" if len(best) == len(progress.best) else f"The last {MOST_ROWS} improvements"
    step = progress.best[-1][0]
    finding = f"The best was found at candidate {step:,} of {progress.steps:,}. {proof(search)}"
    grid = Grid(caption, ("candidate", report["config"]["objective"]["metric"]), rows)
    return Chart(f"Best {report['config']['objective']['metric']} found so far", svg, finding, grid)


def proof(search: dict[str, Any]) -> str:
    """Return a sentence on the proof."""
    if search["optimal"]:
        return "It equals the proven bound: no other candidate loses less."
    if search["gap"] is not None:
        return f"The proven bound leaves a gap of {percent(search['gap'])}{rejected_by_estimates(search)}."
    return "No bound is proven."


def facts_of_search(report: dict[str, Any]) -> Grid:
    """Return a table of the numbers of the search."""
    search = report["search"]
    rows = [
        ("algorithm", search["algorithm"]),
        ("candidates", number(search["candidates"])),
        ("evaluated", number(search["evaluated"])),
        ("steps", number(search["steps"])),
        ("objective", f"{_metric(report)} {number(search['objective'])}"),
    ]
    if search["bound"] is not None:
        rows.append(("bound", number(search["bound"])))
    if search["gap"] is not None:
        rows.append(("gap", percent(search["gap"])))
    if search["best_possible"] is not None:
        rows.append(("bound on any recoding along the hierarchies", floored(search["best_possible"])))
    rows.append(("stopped by the user", "yes" if report["interrupted"] else "no"))
    rows += [("chosen because", reason) for reason in search["chosen_because"]]
    return Grid("The search in numbers", ("what", "value"), tuple(rows))


IN_GROUPS = (
    "Quasi-identifiers are published as exactly as the config allows: a bucket hides which sensitive value "
    "belongs to which record, not who is in the file."
)
"""Sentence on Anatomy releases."""

OF_THE_NEW = "Information loss and distributions below are those of the new records."
"""Sentence on releases that records were appended to."""


class Tile(NamedTuple):
    """A number with its name and a note for comparison."""

    name: str
    value: str
    note: str


@dataclass(frozen=True)
class Headline:
    """The top of the page.

    Attributes
    ----------
    title: the verdict.
    calm: whether no attack contradicts it.
    sentences: the reasons.
    tiles: the numbers.
    warnings: findings, and those of the report whose harm is more than a note, the worst first.
    notes: the others.
    give, keep: files to share and to keep.
    """

    title: str
    calm: bool
    sentences: tuple[str, ...]
    tiles: tuple[Tile, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    give: tuple[str, ...]
    keep: tuple[str, ...]


def verdict_of(report: dict[str, Any], facts: Facts) -> Headline:
    """Return the top of the page."""
    broken = any(row["contradicted"] for row in report["attack_matrix"])
    scenarios = report.get("scenarios", {}).values()
    promises = len(report["constraints"]) + sum(len(each["constraints"]) for each in scenarios)
    title = {
        0: "No constraint was set",
        1: "The constraint is satisfied",
        2: "Both constraints are satisfied",
    }.get(promises, f"All {promises} constraints are satisfied")
    findings = report.get("exposure", {}).get("findings", ())
    alike = unproven_end(report)
    if broken:
        title += ", but an attack succeeds more often than they allow"
    elif alike is not None:
        title += f", but {alike}"
    elif findings:
        title += f", but {findings[0]['sentence']}"
    warnings = [each for each in report["warnings"] if harm_of(each) is not Harm.NOTE]
    notes = [each for each in report["warnings"] if harm_of(each) is Harm.NOTE]
    return Headline(
        title,
        not (broken or alike or findings),
        tuple(_sentences(report, facts)),
        _tiles(report, facts),
        (
            *(
                f"{_sentence(each['sentence'], report['attributes'])}. Remedy: `{each['remedy']}`"
                for each in findings
            ),
            *(_sentence(each, report["attributes"]) for each in warnings),
        ),
        tuple(_sentence(each, report["attributes"]) for each in notes),
        _given(report),
        _kept(report),
    )


def _sentence(warning: str, columns: Collection[str]) -> str:
    """Return a warning with a capital letter, unless it begins with a name: of a column, a key or a source.

    >>> _sentence("column 'age' repeats", ["age"]), _sentence("body mass is rare", ["body mass"])
    ("Column 'age' repeats", 'body mass is rare')
    >>> _sentence("people: 3 of 9 records have weights", ["age"]), _sentence("column 'age' repeats", ["c"])
    ('people: 3 of 9 records have weights', "Column 'age' repeats")
    """
    first = warning.split(" ", 1)[0]
    named = not first.isalpha() or any(warning.startswith((f"{each} ", f"{each},")) for each in columns)
    return warning if named else warning[:1].upper() + warning[1:]


def _kept(report: dict[str, Any]) -> tuple[str, ...]:
    """Return the files that are not shared, none if the release is in memory."""
    if report["release"]["path"] is None:
        return ()
    recoding = ["recoding.json"] if report.get("recoding_file") else []
    return ("report.html", "report.json", *recoding, *(["mended.yaml"] if changes_made(report) else []))


def _given(report: dict[str, Any]) -> tuple[str, ...]:
    """Return the files to share, none if the release is in memory."""
    path, second = report["release"]["path"], report["release"].get("sensitive_table")
    if path is None:
        return ()
    tables = [path, *([second["path"]] if second else [])]
    released = tables if in_table(report) else [f"share/{PurePath(each).name}" for each in tables]
    return (*released, *(f"share/{name}" for name in beside_tables(report)))


def kept(report: dict[str, Any], facts: Facts) -> str:
    """Return the number of released records as words, without a small number of suppressed ones."""
    rows, suppressed = report["input"]["rows"], report["release"]["suppressed_records"]
    if is_small_count(suppressed, facts.smallest):
        return f"all but fewer than {facts.smallest} of {rows:,} records"
    return f"{rows - suppressed:,} of {rows:,} records"


def _sentences(report: dict[str, Any], facts: Facts) -> list[str]:
    source, released = report["input"], report["release"]
    kept_suppressed = released["rows"] - (source["rows"] - released["suppressed_records"])
    form = form_of(report)
    sentences = [f"The {form.noun} holds {kept(report, facts)}"]
    if "applied" in report:
        before = report["applied"]["rows_before"]
        sentences[0] += f" of the input, and {before:,} records that were released before"
        sentences.insert(1, OF_THE_NEW)
    elif kept_suppressed > 0 and not is_small_count(kept_suppressed, facts.smallest):
        sentences[0] += f", and {kept_suppressed:,} more with * in every quasi-identifier"
    sentences[0] += f"; it was {form.verified}."
    if (lost := units_lost(report.get("units"), facts.smallest)) is not None:
        sentences.insert(1, f"{lost}.")
    if "sensitive_table" in released:
        sentences.append(IN_GROUPS)
    elif facts.smallest_class is not None and facts.by_record:
        others = plural(facts.smallest_class - 1, "other")
        sentences.append(f"Each record shares its published quasi-identifiers with at least {others}.")
    least = {} if facts.by_record or facts.smallest_class is None else {facts.unit: facts.smallest_class}
    for each in report["constraints"]:
        if each["model"] == "k-anonymity" and each["parameters"].get("unit") is not None:
            least[each["parameters"]["unit"]] = each["measured"]
    sentences += [f"Each class has records of at least {plural(own, unit)}." for unit, own in least.items()]
    sentences += [each["sentence"] for each in report.get("scenarios", {}).values()]
    best = strongest(report["attacks"])
    if best is None:
        sentences.append("No attack was run, so disclosure risk was not measured.")
    else:
        sentences.append(_attacked(best))
    sentences += [each["sentence"] for each in report.get("three_questions", ())]
    sentences += [
        *(line.strip() for line in preset_lines(report)),
        *_seen(report),
        *read_findings(report),
        *mended_lines(report),
    ]
    sentences.append(_price(report))
    return sentences


def _seen(report: dict[str, Any]) -> Iterator[str]:
    """Yield what acquaintances see, and what mends it that they find a few."""
    few = remedy_of_few(report)
    yield from (each if few is None else f"{each} Remedy: `{few['remedy']}`" for each in seen_of(report))


def _attacked(best: dict[str, Any]) -> str:
    if best["success"] <= guess_of(best):
        return "No attack that was run succeeds more often than a guess without the release."
    return f"The strongest attack that was run is “{attack(best)}”. {attack_sentence(best)}"


def _price(report: dict[str, Any]) -> str:
    search, objective = report["search"], report["config"]["objective"]
    own = f"Information loss by {objective['metric']} is {number(search['objective'], 3)}"
    if objective["metric"] == "loss":
        own = (
            f"Information loss is {number(search['objective'], 3)}, from 0 (unchanged) to 1 (everything "
            "suppressed)"
        )
    if objective.get("weights") is not None:
        own += f", as a mean over the people whom the records represent {by_weights(objective['weights'])}"
    if objective.get("unit") is not None:
        own += f", {by_unit(objective['unit'])}, by the mean over its records"
    if search["optimal"]:
        return f"{own}; of {best_of(search)}, none loses less (proven)."
    if search["gap"] is not None:
        least = f"no release of this kind has less than {floored(search['bound'])} (proven)"
        return f"{own}; {least}{rejected_by_estimates(search)}."
    if search["best_possible"] is not None:
        least = floored(search["best_possible"])
        return f"{own}; no recoding along the hierarchies loses less than {least} (proven)."
    return f"{own}; no lower bound is known."


def _glossary(facts: Facts) -> dict[str, str]:
    """Return the glossary, with what is said of records said of units and of people where they count."""
    words = dict(GLOSSARY)
    if not facts.by_record:
        words["Bayes vulnerability"] = VULNERABILITY_BY_UNIT.format(unit=facts.unit)
    if facts.loss_unit is not None:
        words["loss"] = LOSS_BY_UNIT.format(unit=facts.loss_unit)
    elif facts.weights is not None:
        words["loss"] = LOSS_OVER_PEOPLE
    return words


def _metric(report: dict[str, Any]) -> str:
    """Return the metric of the objective, and whether it is over the people whom the records represent."""
    settings: dict[str, Any] = report["config"]["objective"]
    return f"{settings['metric']}{' over people' if settings.get('weights') else ''}"


def _proof(search: dict[str, Any]) -> str:
    """Return the proof as a short note."""
    if search["optimal"]:
        return "proven best full-domain recoding" if full_domain(search["algorithm"]) else "proven best"
    for key in ("bound", "best_possible"):
        if search[key] is not None:
            return f"at least {floored(search[key])}, proven"
    return "nothing proven"


def _tiles(report: dict[str, Any], facts: Facts) -> tuple[Tile, ...]:
    source, released, search = report["input"], report["release"], report["search"]
    suppressed = released["suppressed_records"]
    hide = is_small_count(suppressed, facts.smallest)
    share = "nearly 100 %" if hide else percent((source["rows"] - suppressed) / max(source["rows"], 1))

    best = strongest(report["attacks"])
    least = facts.smallest_class
    of = "" if facts.by_record else f" {facts.unit}s"
    return (
        Tile(
            "records kept",
            share,
            f"{masked_count(suppressed, facts.smallest, source['rows'])} of {source['rows']:,} suppressed",
        ),
        Tile(
            "smallest class",
            f"under {facts.smallest}" if least is None else f"{least:,}{of}",
            plural(released["classes"], "class"),
        ),
        Tile(_metric(report), number(search["objective"], 3), _proof(search)),
        Tile(
            "strongest attack",
            "not run" if best is None else percent(best["success"]),
            "the config lists none" if best is None else f"guess {percent(guess_of(best))}",
        ),
    )


TEMPLATES = "templates"

SECTIONS = (
    ("promises", "Constraints"),
    ("risk", "Risk"),
    ("lost", "Loss"),
    ("useful", "Utility"),
    ("groups", "Classes"),
    ("search", "Search"),
    ("repeat", "Reproduce"),
    ("glossary", "Glossary"),
)
"""Sections by id and name."""


def page(report: Report, facts: Facts) -> str:
    """Return the page of a release.

    It has no script and links to nothing; the same report and facts give the same text.

    Parameters
    ----------
    report: the internal report of a satisfied run.
    facts: further facts of the release.
    """
    content = report.to_dict()
    template = environment().get_template("page.html.jinja")
    return template.render(
        style=files(__package__).joinpath(TEMPLATES, "page.css").read_text(encoding="utf-8"),
        verdict=verdict_of(content, facts),
        columns=columns_grid(content),
        columns_legend=tuple(columns_legend(content)),
        sections=[each for each in SECTIONS if each[0] != "useful" or content.get("utility")],
        promises=constraints_grid(content, facts),
        scenarios=scenarios_grid(content),
        glossary=_glossary(facts),
        version=content["environment"]["anonymizer"],
        utility=utility_section(content),
        attacks=attacks_chart(content),
        knowledge=knowledge_chart(facts),
        matrix=matrix(content),
        losses=losses_chart(facts),
        metrics=metrics(content),
        distributions=distribution_charts(facts),
        undrawn=undrawn(facts),
        groups=groups_chart(content, facts),
        search=search_chart(content),
        searched=facts_of_search(content),
        measured_on=form_of(content).measured,
        config_name=CONFIG,
        config=config_text(content),
        commands=commands(content),
        budget_note=budget_note(content),
        fingerprints=fingerprints(content),
        roles=roles(content),
        advice=content.get("advice"),
    )


@cache
def environment() -> Environment:
    """Return the environment of the templates; it escapes every value."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - only pages need it

    made = Environment(
        loader=PackageLoader(__package__, TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["with_code"] = with_code
    return made


def with_code(words: str) -> Markup:
    """Return HTML of words, with text between backticks as code.

    >>> with_code("set `k` > 1")
    Markup('set <code>k</code> &gt; 1')
    """
    from markupsafe import Markup, escape  # noqa: PLC0415 - only pages need it

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(words))))


def card(report: Report, facts: Facts) -> str:
    """Return an HTML fragment without scripts, with inline styles."""
    content = report.to_dict()
    verdict = replace(verdict_of(content, facts), give=(), keep=())
    template = environment().get_template("card.html.jinja")
    return template.render(verdict=verdict, promises=constraints_grid(content, facts))
