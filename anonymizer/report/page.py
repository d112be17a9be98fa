"""The report page, report.html: the report and its facts as one self-contained page.

The verdict in plain words and what to share come first. Section 2 covers the constraints and the classes
closest to violation, section 7 the search and its proof, section 8 how to reproduce the same bytes. A card
shows the result in a notebook, without any record.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

import yaml

from anonymizer.attacks.base import guess_of
from anonymizer.errors import plural
from anonymizer.model.report import Report
from anonymizer.report.canvas import Frame
from anonymizer.report.charts import draw_search, progress_of
from anonymizer.report.distribution import is_small_count
from anonymizer.report.facts import Facts, Worst
from anonymizer.report.scenarios import knowledge_in_words
from anonymizer.report.sections import (
    attacks_chart,
    distribution_charts,
    groups_chart,
    knowledge_chart,
    losses_chart,
    matrix,
    metrics,
    undrawn,
    utility_section,
)
from anonymizer.report.wording import (
    LOOK_AGAIN,
    WIDE,
    Chart,
    Grid,
    attack,
    attack_sentence,
    constraint_name,
    drawn,
    floored,
    masked_count,
    number,
    parameters_of,
    percent,
    strongest,
)

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


@dataclass(frozen=True)
class Form:
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


def in_table(report: Mapping[str, Any]) -> bool:
    """Return whether the release is a table of a database."""
    return "table" in report["config"].get("output", {})


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
    "insensitive": "A column that adversaries neither know nor gain from; it is released unchanged.",
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


def constraints_grid(report: dict[str, Any], facts: Facts) -> Grid:
    """Return a table with a row for each constraint."""
    form = form_of(report)
    rows = []
    for constraint, worst in zip(report["constraints"], facts.worst, strict=True):
        rows.append(
            (
                constraint_name(constraint),
                parameters_of(constraint),
                number(constraint["measured"]),
                "holds" if constraint["satisfied"] else "fails",
                _worst(
                    worst, facts.smallest, report["release"]["classes"], constraint["parameters"].get("unit")
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
            number(constraint["measured"]),
            "holds" if constraint["satisfied"] else "fails",
        )
        for name, scenario in report.get("scenarios", {}).items()
        for constraint in scenario["constraints"]
    )
    caption = f"What each adversary knows, and what was measured on {form_of(report).measured}"
    return Grid(caption, ("scenario", "knows", "requested", "measured", "verdict"), rows)


def _worst(worst: Worst | None, smallest: int, classes: int, unit: str | None) -> str:
    """Return a text on the worst classes with sizes only, as values could reveal individuals."""
    if unit is not None:
        return f"counted by {unit}"
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
        as_file = "--set 'output={path: release.csv}'"
        return f"anonymizer run {CONFIG} -o again {as_file}\nanonymizer audit again/share/release.csv"
    return f"anonymizer run {CONFIG} -o again\nanonymizer audit again/{path}"


def budget_note(report: dict[str, Any]) -> str:
    """Return how to repeat a search that the time limit or the user stopped; empty for others."""
    search = report["search"]
    timed = report["config"].get("budget", {}).get("seconds") is not None
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
    svg = drawn(
        "search",
        "Step chart of the best objective found, against the number of candidates evaluated, with the proven "
        "bound; data in the table below",
        Frame(WIDE, 280, 52, 150, 10, 46),
        lambda axes, palette: draw_search(axes, progress, palette),
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
        return f"The proven bound leaves a gap of {percent(search['gap'])}."
    return "No bound is proven."


def facts_of_search(report: dict[str, Any]) -> Grid:
    """Return a table of the numbers of the search."""
    search = report["search"]
    rows = [
        ("algorithm", search["algorithm"]),
        ("candidates", number(search["candidates"])),
        ("evaluated", number(search["evaluated"])),
        ("steps", number(search["steps"])),
        ("objective", f"{report['config']['objective']['metric']} {number(search['objective'])}"),
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


@dataclass(frozen=True)
class Tile:
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
    warnings: of the report, those about contradicted claims first.
    give, keep: files to share and to keep.
    """

    title: str
    calm: bool
    sentences: tuple[str, ...]
    tiles: tuple[Tile, ...]
    warnings: tuple[str, ...]
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
    if broken:
        title += ", but an attack succeeds more often than they allow"
    warnings = sorted(report["warnings"], key=lambda each: not each.startswith(LOOK_AGAIN))
    return Headline(
        title,
        not broken,
        tuple(_sentences(report, facts)),
        _tiles(report, facts),
        tuple(warnings),
        _given(report),
        ("report.html", "report.json") if report["release"]["path"] else (),
    )


def _given(report: dict[str, Any]) -> tuple[str, ...]:
    """Return the files to share, none if the release is in memory."""
    path, second = report["release"]["path"], report["release"].get("sensitive_table")
    if path is None:
        return ()
    tables = [path, *([second["path"]] if second else [])]
    released = tables if in_table(report) else [f"share/{PurePath(each).name}" for each in tables]
    return (*released, "share/report.public.json", "share/README.txt")


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
    if "sensitive_table" in released:
        sentences.append(IN_GROUPS)
    elif facts.smallest_class is not None:
        others = plural(facts.smallest_class - 1, "other")
        sentences.append(f"Each record shares its published quasi-identifiers with at least {others}.")
    sentences += [each["sentence"] for each in report.get("scenarios", {}).values()]
    best = strongest(report["attacks"])
    if best is None:
        sentences.append("No attack was run, so disclosure risk was not measured.")
    else:
        sentences.append(_attacked(best))
    sentences.append(_price(report))
    return sentences


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
    if search["optimal"]:
        return f"{own}; of {search['candidates']:,} candidates none loses less (proven)."
    if search["gap"] is not None:
        return f"{own}; no release of this kind has less than {floored(search['bound'])} (proven)."
    if search["best_possible"] is not None:
        least = floored(search["best_possible"])
        return f"{own}; no recoding along the hierarchies loses less than {least} (proven)."
    return f"{own}; no lower bound is known."


def _proof(search: dict[str, Any]) -> str:
    """Return the proof as a short note."""
    if search["optimal"]:
        return "proven best"
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
    return (
        Tile(
            "records kept",
            share,
            f"{masked_count(suppressed, facts.smallest, source['rows'])} of {source['rows']:,} suppressed",
        ),
        Tile(
            "smallest class",
            f"under {facts.smallest}" if least is None else f"{least:,}",
            plural(released["classes"], "class"),
        ),
        Tile(
            report["config"]["objective"]["metric"],
            number(search["objective"], 3),
            _proof(search),
        ),
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
        sections=[each for each in SECTIONS if each[0] != "useful" or content.get("utility")],
        promises=constraints_grid(content, facts),
        scenarios=scenarios_grid(content),
        glossary=GLOSSARY,
        version=content["environment"]["anonymizer"],
        utility=utility_section(content),
        **_charts(content, facts),
        **_texts(content),
    )


def _charts(content: dict[str, Any], facts: Facts) -> dict[str, Any]:
    return {
        "attacks": attacks_chart(content),
        "knowledge": knowledge_chart(facts),
        "matrix": matrix(content),
        "losses": losses_chart(facts),
        "metrics": metrics(content),
        "distributions": distribution_charts(facts),
        "undrawn": undrawn(facts),
        "groups": groups_chart(content, facts),
        "search": search_chart(content),
        "searched": facts_of_search(content),
    }


def _texts(content: dict[str, Any]) -> dict[str, Any]:
    return {
        "measured_on": form_of(content).measured,
        "config_name": CONFIG,
        "config": config_text(content),
        "commands": commands(content),
        "budget_note": budget_note(content),
        "fingerprints": fingerprints(content),
        "roles": roles(content),
        "advice": content.get("advice"),
    }


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
