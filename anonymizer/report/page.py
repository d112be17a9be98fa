"""The report page, report.html: the report and its facts as one page that needs nothing else.

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

from anonymizer.model.report import Report
from anonymizer.report.canvas import Frame
from anonymizer.report.charts import draw_search, progress_of
from anonymizer.report.distribution import is_small_count
from anonymizer.report.facts import Facts, Worst
from anonymizer.report.sections import (
    attacks_chart,
    distribution_charts,
    groups_chart,
    knowledge_chart,
    losses_chart,
    matrix,
    metrics,
    undrawn,
    useful,
)
from anonymizer.report.wording import (
    WIDE,
    Chart,
    Grid,
    asked,
    attack,
    drawn,
    floored,
    listed,
    number,
    percent,
    plural,
    promise,
    strongest,
)

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


@dataclass(frozen=True)
class Form:
    """How to speak of a release.

    Attributes
    ----------
    noun: what it is.
    verified: how it was verified.
    measured: what its constraints were measured on.
    recipient: what a recipient needs to verify a constraint that the release alone decides.
    """

    noun: str
    verified: str
    measured: str
    recipient: str


FILE = Form("file", "read back from disk and measured again", "the written file", "yes")
TABLE = Form("table", "read back and measured again", "the written table", "if released to a file")
MEMORY = Form("release", "measured again before it was returned", "the release", "if written to a file")


def form_of(report: Mapping[str, Any]) -> Form:
    """Return what the release of a report is."""
    if report["release"]["path"] is None:
        return MEMORY
    return TABLE if in_table(report) else FILE


def in_table(report: Mapping[str, Any]) -> bool:
    """Tell whether a release is a table of a database."""
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
    "hierarchy, "
    "level": "A tree of values from exact (level 0) to * (the top). A generalized value stands for "
    "all values below it.",
    "insensitive": "A column that adversaries neither know nor gain from; it is released unchanged.",
    "k-anonymity": "Every class has at least k records.",
    "l-diversity": "Every class has at least l different values of a sensitive attribute.",
    "loss": "Share of the information that is lost, averaged over records and quasi-identifiers: 0 is "
    "the input, 1 is everything suppressed.",
    "quasi-identifier": "A column that an adversary may know about a person, such as age or postal code.",
    "sensitive": "A column whose value must not be inferred for a person.",
    "suppression": "Records or cells that are withheld because they are in no class that satisfies the "
    "constraints.",
}


def promises(report: dict[str, Any], facts: Facts) -> Grid:
    """Return a row for each constraint."""
    form = form_of(report)
    rows = []
    for constraint, worst in zip(report["constraints"], facts.worst, strict=True):
        rows.append(
            (
                promise(constraint),
                asked(constraint),
                number(constraint["measured"]),
                "holds" if constraint["satisfied"] else "fails",
                _worst(worst, facts.smallest),
                form.recipient if constraint["verifiable_from_release"] else "no",
            )
        )
    return Grid(
        f"Requested thresholds, and what was measured on {form.measured}",
        ("promise", "asked", "measured", "verdict", "classes at the worst measure", "recipient can verify"),
        tuple(rows),
    )


def _worst(worst: Worst | None, smallest: int) -> str:
    """Describe groups by their sizes alone: values would tell who is in them."""
    if worst is None:
        return "judges the whole file"
    many = f"fewer than {smallest}" if worst.classes is None else f"{worst.classes:,}"
    if worst.largest < smallest:
        return f"{many}, of fewer than {smallest} records"
    least = f"fewer than {smallest}" if worst.smallest < smallest else f"{worst.smallest:,}"
    if worst.smallest == worst.largest:
        return f"{many}, of {least} records"
    return f"{many}, of {least} to {worst.largest:,} records"


CONFIG = "again.yaml"
"""What the page calls the config that it prints."""


def config_text(report: dict[str, Any]) -> str:
    """Return the config with all defaults as YAML; of absolute paths only the file name."""
    config = _without_folders(report["config"])
    config["attributes"] = {name: _Line(each) for name, each in config["attributes"].items()}
    own = {key: value if key == "attributes" else _in_lines(value) for key, value in config.items()}
    return yaml.dump(own, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=96)


class _Line(dict[str, Any]):
    """A mapping that is written in one line."""


class _Dumper(yaml.SafeDumper):
    """Writes a config as people do."""


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
    """Return the name of an absolute path, and any other text as it is.

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
    if in_table(report):  # the hash of a table is that of this file, which a recipient can verify
        as_file = "--set 'output={path: release.csv}'"
        return f"anonymizer run {CONFIG} -o again {as_file}\nanonymizer audit again/share/release.csv"
    return f"anonymizer run {CONFIG} -o again\nanonymizer audit again/{path}"


def budget_note(report: dict[str, Any]) -> str:
    """Say how to repeat a search that time or the user ended; empty for any other."""
    search = report["search"]
    timed = report["config"].get("budget", {}).get("seconds") is not None
    if not (report["interrupted"] or (timed and not search["optimal"])):
        return ""
    return (
        f"The search may have been ended by time or by hand, which no seed repeats. "
        f"With --set budget.steps={search['steps']} it takes the same steps again."
    )


def fingerprints(report: dict[str, Any]) -> Grid:
    """Return hashes, versions and the seed."""
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
    """Return the role and type of each column."""
    rows = tuple((name, each["role"], each["type"] or "–") for name, each in report["attributes"].items())
    return Grid("Columns of the input", ("column", "role", "read as"), rows)


MOST_ROWS = 30
"""Improvements that the table below the chart lists."""


def search_chart(report: dict[str, Any]) -> Chart | None:
    """Return the best loss by candidate; None where the search took no steps of that kind."""
    search = report["search"]
    progress = progress_of(report["steps"], search)
    if not progress.best or progress.steps < 2:
        return None
    svg = drawn(
        "search",
        "Step chart of the best objective found, against the number of candidates looked at, with the proven "
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
    """Say what is proven."""
    if search["optimal"]:
        return "It equals the proven bound: no other candidate loses less."
    if search["gap"] is not None:
        return f"The proven bound leaves a gap of {percent(search['gap'])}."
    return "No bound is proven."


def facts_of_search(report: dict[str, Any]) -> Grid:
    """Return the numbers of the search."""
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
    "Quasi-identifiers are published as exactly as the config allows: a group hides whose the sensitive "
    "values are, not who is in the file."
)
"""What is said of a release in two tables."""

OF_THE_NEW = "Losses, distributions and the price below are those of the new records."
"""What is said of a release that goes on from an earlier one."""


@dataclass(frozen=True)
class Tile:
    """A number with its name and what to compare it with."""

    name: str
    value: str
    note: str


@dataclass(frozen=True)
class Headline:
    """What a reader in a hurry reads.

    Attributes
    ----------
    title: the answer.
    calm: whether nothing contradicts it.
    sentences: what it rests on.
    tiles: its numbers.
    warnings: what to look at again.
    give, keep: files.
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
    broken = [row["threat"] for row in report["attack_matrix"] if row["contradicted"]]
    promises = len(report["constraints"])
    title = {
        0: "No constraint was set",
        1: "The constraint is satisfied",
        2: "Both constraints are satisfied",
    }.get(promises, f"All {promises} constraints are satisfied")
    if broken:
        title += ", but an attack succeeds more often than they allow"
    warnings = list(report["warnings"])
    if broken:
        what = "gains more than a model that claims to stop it should allow"
        warnings.insert(0, f"{listed(broken)}: an attack {what}; see the table of attacks and models")
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
    """Return what may be handed over: nothing of it is a file when the release is in memory."""
    path, second = report["release"]["path"], report["release"].get("sensitive_table")
    if path is None:
        return ()
    tables = [path, *([second["path"]] if second else [])]
    released = tables if in_table(report) else [f"share/{PurePath(each).name}" for each in tables]
    return (*released, "share/report.public.json")


def kept(report: dict[str, Any], facts: Facts) -> str:
    """Return how many records are released, without telling a number of left out ones that is too small."""
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
    best = strongest(report["attacks"])
    if best is None:
        sentences.append("No attack was run, so disclosure risk was not measured.")
    else:
        sentences.append(_attacked(best))
    sentences.append(_price(report))
    return sentences


def _attacked(best: dict[str, Any]) -> str:
    reach, guess = percent(best["success"]), percent(best["baseline"])
    if best["success"] <= best["baseline"]:
        return "No attack that was run succeeds more often than a guess without the release."
    return (
        f"The strongest attack that was run is “{attack(best)}”: it succeeds for {reach} of its targets; the "
        f"baseline without the release is {guess}."
    )


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
    """Return in two words what is proven."""
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
    left = f"fewer than {facts.smallest}" if hide else f"{suppressed:,}"
    best = strongest(report["attacks"])
    least = facts.smallest_class
    return (
        Tile("records kept", share, f"{left} of {source['rows']:,} left out"),
        Tile(
            "smallest group",
            f"under {facts.smallest}" if least is None else f"{least:,}",
            plural(released["classes"], "group"),
        ),
        Tile(
            report["config"]["objective"]["metric"],
            number(search["objective"], 3),
            _proof(search),
        ),
        Tile(
            "strongest attack",
            "not run" if best is None else percent(best["success"]),
            "the config lists none" if best is None else f"guess {percent(best['baseline'])}",
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
    facts: what it shows beside the report.
    """
    content = report.to_dict()
    template = environment().get_template("page.html.jinja")
    return template.render(
        style=files(__package__).joinpath(TEMPLATES, "page.css").read_text(encoding="utf-8"),
        verdict=verdict_of(content, facts),
        sections=[each for each in SECTIONS if each[0] != "useful" or content.get("utility")],
        promises=promises(content, facts),
        glossary=GLOSSARY,
        version=content["environment"]["anonymizer"],
        utility=useful(content),
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
    }


@cache
def environment() -> Environment:
    """Return the templates; every value that they show is escaped."""
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
    """Return words for a page, what stands between backticks as code.

    >>> with_code("set `k` > 1")
    Markup('set <code>k</code> &gt; 1')
    """
    from markupsafe import Markup, escape  # noqa: PLC0415 - only pages need it

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(words))))


def card(report: Report, facts: Facts) -> str:
    """Return a fragment of HTML without scripts, styles of its own on each element."""
    content = report.to_dict()
    verdict = replace(verdict_of(content, facts), give=(), keep=())
    template = environment().get_template("card.html.jinja")
    return template.render(verdict=verdict, promises=promises(content, facts))
