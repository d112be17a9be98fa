"""dossier.html: the dossier of a release as one self-contained page that prints to at most six A4 pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import ceil
from typing import TYPE_CHECKING, Any

from anonymizer.attacks.base import guess_of
from anonymizer.errors import listed, plural
from anonymizer.model.table import Role
from anonymizer.report.columns import LEFT_OUT, UNKNOWN, columns_row
from anonymizer.report.dossier import (
    BEFORE,
    DATES,
    QUESTIONS,
    Dossier,
    Review,
    facts_of,
    findings,
    released_as,
    said_about,
    worst_first,
)
from anonymizer.report.exposure import in_one_line, seen_of
from anonymizer.report.page import (
    TEMPLATES,
    environment,
    fingerprints,
    form_of,
    metrics,
    scenarios_grid,
    utility_section,
    verdict_of,
    with_code,
)
from anonymizer.report.preset import preset_lines
from anonymizer.report.wording import Grid, attack, interval, number, percent, units_lost

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class Space:
    """What a table may take of a printed page, so that the dossier has at most six.

    Attributes
    ----------
    height: in millimetres.
    widths: of its columns, in characters.
    """

    height: float
    widths: tuple[int, ...]

    def of(self, row: Sequence[str]) -> float:
        """Return about how high a row is, in millimetres."""
        lines = max(ceil(len(cell) / width) for cell, width in zip(row, self.widths, strict=True))
        return ROW + LINE * max(lines, 1)


LONGEST_NAME = 45
"""Maximum number of characters above a line for a name."""

MOST_LINES = 5
"""Maximum number of lines of a list that is no table."""

ROW, LINE = 1.5, 3.45
"""Height of a row without its lines, and of a line, in millimetres."""

SCENARIOS = Space(40, (18, 40, 30, 14, 10))
UTILITY = Space(30, (40, 20, 20, 20, 20))
COLUMNS = Space(120, (20, 14, 56, 48))
FINDINGS = Space(50, (62, 60))
THRESHOLDS = Space(80, (30, 44, 14, 10))
ATTACKS = Space(80, (18, 13, 9, 9, 9, 11, 11, 11, 8))
POINTS = Space(130, (4, 80, 48))

LONGEST_CELL = 520
"""Maximum number of characters of a cell; decisions.json has all of it."""

FOOT = 'font: 7.5pt "Liberation Sans", Arial, sans-serif; color: #4d5866;'
"""Style of the foot of printed pages."""

NOT_LEGAL = (
    "This dossier records what was measured and what the undersigned have decided. It is not a legal "
    "opinion, and no program decides whether a release is anonymous under a law."
)
"""What a dossier is not."""


@dataclass(frozen=True)
class Asked:
    """A question with its answer.

    Attributes
    ----------
    key: in dossier.yaml.
    asks: the question.
    source: where it comes from; empty for those of every template.
    answer: or a mark for a blank.
    measured: what was measured about it.
    name: of a criterion.
    """

    key: str
    asks: str
    source: str
    answer: str
    measured: Sequence[str] = ()
    name: str = ""


def dossier_page(dossier: Dossier, review: Review) -> str:
    """Return the page; the same report, template and answers give the same text."""
    content: dict[str, Any] = dict(dossier.content)
    line, title = _verdict(content)
    template, answered = dossier.template, content.get("three_questions", ())
    return (
        environment()
        .get_template("dossier.html.jinja")
        .render(
            style=files(__package__).joinpath(TEMPLATES, "dossier.css").read_text(encoding="utf-8")
            + _foot(content),
            version=content["environment"]["anonymizer"],
            template=template,
            preset=dossier.preset,
            name=content["release"]["path"] or "a release in memory",
            summary=_summary(dossier, review),
            not_legal=NOT_LEGAL,
            changed=dossier.changed,
            stale=_first(review.stale),
            core=[
                Asked(key, asks, "", _answered(dossier, key))
                for key, asks in {**QUESTIONS, **DATES}.items()
                if key != BEFORE
            ],
            before=[Asked(BEFORE, QUESTIONS[BEFORE], "", _answered(dossier, BEFORE))],
            verdict=line,
            title=title,
            calm=verdict_of(content, facts_of(content)).calm,
            findings=_findings(content),
            thresholds=_thresholds(review),
            suppression=_suppression(content),
            units=_first(list(_units(content))),
            scenarios=_cut(scenarios_grid(content), SCENARIOS, "scenario"),
            preset_lines=_first([line.strip() for line in preset_lines(content)]),
            columns=_columns(dossier),
            attacks=_attacks(content),
            further=[*_shown(content), *_first([each["sentence"] for each in answered])],
            metrics=metrics(content),
            utility=_utility(content),
            criteria=[_criterion(dossier, each) for each in template["criteria"]],
            questions=[
                Asked(each["key"], each["asks"], each.get("source") or "", _answered(dossier, each["key"]))
                for each in template["questions"]
            ],
            points=_points(review),
            fingerprints=_hashes(dossier),
            signatures=template["signatures"],
            decides=_name(dossier.answer("decides")),
        )
    )


def blank(key: str) -> Markup:
    """Return the mark of a question that nobody has answered, with its key in dossier.yaml."""
    from markupsafe import Markup  # noqa: PLC0415 - only pages need it

    return Markup('<span class="blank">to be filled in: {}</span>').format(key)


def _answered(dossier: Dossier, key: str) -> str:
    return dossier.answer(key) or blank(key)


def _name(decides: str) -> str:
    """Return who decides as a name above a line; nothing if it is more than a name."""
    return decides if len(decides) <= LONGEST_NAME and "\n" not in decides else ""


def _summary(dossier: Dossier, review: Review) -> tuple[tuple[str, str], ...]:
    """Return what stands under the title."""
    content = dossier.content
    open_of = review.undecided()
    blanks = dossier.blanks()
    return (
        ("Release", f"{content['release']['path'] or 'in memory'}: {released_as(content)}"),
        ("Verdict", ". ".join(filter(None, _verdict(content)))),
        ("Template", f"{dossier.template['name']}, of {dossier.template['dated']}"),
        ("Expires", _answered(dossier, "expires")),
        (
            "Open",
            f"{plural(len(open_of), 'point')} without a decision, {plural(len(blanks), 'question')} without "
            "an answer",
        ),
    )


def _verdict(content: Mapping[str, Any]) -> tuple[str, str]:
    """Return the first line of a run, and the title of its page if that says more."""
    line = in_one_line(content)
    return line, "" if " BUT " in line else verdict_of(dict(content), facts_of(content)).title


def _foot(content: Mapping[str, Any]) -> str:
    """Return the style of the foot of each printed page: the beginning of the hash of the release."""
    sha = content["release"]["sha256"] or ""
    # Nothing is escaped in a style sheet.
    if not re.fullmatch("[0-9a-f]{64}", sha):
        return ""
    return f'@page {{ @bottom-left {{ content: "release {sha[:16]}"; {FOOT} }} }}'


def _cut(grid: Grid, space: Space, what: str) -> Grid:
    """Return a table with as many rows as fit, and a last one that says how many are left out."""
    rows, height = [], 0.0
    for row in (tuple(map(_short, each)) for each in grid.rows):
        height += space.of(row)
        if height > space.height:
            break
        rows.append(row)
    more = len(grid.rows) - len(rows)
    if more:
        said = (plural(more, f"more {what}"), "in decisions.json")
        if space.widths[0] < len(said[0]):
            said = ("…", " ".join(said))
        rows.append((*said, *[""] * (len(grid.head) - 2)))
    return Grid(grid.caption, grid.head, tuple(rows))


def _first(lines: Sequence[str]) -> list[str]:
    """Return the first lines of a list, and how many more there are."""
    more = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], *([f"{more} more in decisions.json or report.json"] if more > 0 else [])]


def _short(cell: str) -> str:
    # A mark is no text of the report.
    if hasattr(cell, "__html__"):
        return cell
    return with_code(cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL].rstrip()} …")


def _findings(content: Mapping[str, Any]) -> Grid:
    rows = tuple((each.what, each.done or "open, see section 8") for each in findings(content))
    grid = Grid("Findings about the release, and what was done about each", ("finding", "done"), rows)
    return _cut(grid, FINDINGS, "finding")


def _thresholds(review: Review) -> Grid:
    rows = tuple(
        (each.asks, each.source, UNKNOWN if each.measured is None else each.measured, each.verdict)
        for each in review.thresholds
    )
    head = ("asked", "source", "measured", "verdict")
    return _cut(Grid("What was asked, by whom, and what was measured", head, rows), THRESHOLDS, "row")


def _suppression(content: Mapping[str, Any]) -> str:
    own = content["config"].get("suppression", {})
    limit, method = own.get("limit"), own.get("method")
    if limit is None:
        return ""
    return (
        f"Suppression: at most {percent(float(limit))} of the records, by {method} (config); "
        f"{released_as(content)}."
    )


def _units(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many persons, households and other units there are, and what suppression costs them."""
    for name, own in content.get("units", {}).items():
        yield f"{plural(own['units'], name)} in {plural(own['records'], 'record')} (column {own['column']})."
    lost = units_lost(content.get("units"), facts_of(content).smallest)
    if lost is not None:
        yield f"{lost}."


def _columns(dossier: Dossier) -> Grid:
    """Return the columns with role, treatment and reason; of many, those with findings and released ones."""
    entries, reasons = dossier.content["columns"], dossier.answers["columns"]
    order = sorted(entries, key=lambda each: (not each["finding"], each["treatment"] == LEFT_OUT))
    shown: list[str] = []
    rows, height = {}, 0.0
    for each in order:
        row = columns_row(each)
        treatment = row["treatment"] or UNKNOWN
        found = f"{treatment}; {row['finding']}" if row["finding"] else treatment
        reason = reasons.get(each["column"], "") or blank("columns")
        rows[each["column"]] = (each["column"], each["role"], _short(found), reason)
        height += COLUMNS.of(rows[each["column"]])
        if height <= COLUMNS.height:
            shown.append(each["column"])
    chosen = [rows[each["column"]] for each in entries if each["column"] in set(shown)]
    rest = len(entries) - len(chosen)
    if rest:
        chosen.append((plural(rest, "more column"), "", "in decisions.json", ""))
    head = ("column", "role", "what the recipient sees", "reason for the role")
    return Grid("Columns of the input", head, tuple(chosen))


def _attacks(content: Mapping[str, Any]) -> Grid:
    known = _quasi_identifiers(content)
    rows = tuple(
        (
            attack(each),
            _knowledge(each["knowledge"], known),
            percent(guess_of(each)),
            percent(each["success"]),
            interval(each),
            *_tail(each),
            UNKNOWN if each.get("ceiling") is None else percent(each["ceiling"]),
        )
        for each in worst_first(content["attacks"])
    )
    head = ("attack", "knows", "without the release", "with it", "95 % interval")
    tails = ("surest 1 %", "surest 5 %", "surest 10 %", "ceiling")
    caption = "Success of each attack, without the release and with it"
    return _cut(Grid(caption, (*head, *tails), rows), ATTACKS, "attack")


def _quasi_identifiers(content: Mapping[str, Any]) -> list[str]:
    return [name for name, own in content["attributes"].items() if own["role"] == Role.QUASI_IDENTIFIER.value]


def _knowledge(knowledge: Mapping[str, Any], known: Sequence[str]) -> str:
    names = list(knowledge.get("attributes") or ())
    if not names:
        return "–"
    return "all quasi-identifiers" if sorted(names) == sorted(known) else listed(names)


TAILS = ("0.01", "0.05", "0.1")
"""Shares of the most exposed, keys of ``tail``."""


def _tail(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield the success among the most exposed, with that of a guess among as many."""
    tail, guesses = entry.get("tail") or {}, entry.get("tail_baseline") or {}
    for share in TAILS:
        own, guess = tail.get(share), guesses.get(share)
        guessed = "" if guess is None else f" (guess {percent(guess)})"
        yield UNKNOWN if own is None else f"{percent(own)}{guessed}"


def _shown(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the release shows to those who know more than the quasi-identifiers."""
    own = content.get("exposure")
    if own is None:
        return
    yield from seen_of(content)
    wider = own["with_sensitive"]
    yield (
        f"Alone among the {own['unit']}s by the published quasi-identifiers and insensitive columns: "
        f"{percent(own['unique'])}; in groups below k: {percent(own['below_k'])}. With sensitive columns, "
        f"as another extract of the source would show: {percent(wider['unique'])} and "
        f"{percent(wider['below_k'])}."
    )


def _utility(content: Mapping[str, Any]) -> Grid | None:
    section = utility_section(content)
    return None if section is None else _cut(section.charts[0].data, UTILITY, "measure")


def _criterion(dossier: Dossier, own: Mapping[str, Any]) -> Asked:
    answer, measured = _answered(dossier, own["key"]), _first(list(dict.fromkeys(said_about(dossier, own))))
    return Asked(own["key"], own["asks"], own.get("source") or "", answer, measured, own["name"])


def _points(review: Review) -> Grid:
    rows = tuple(
        (str(place), each.what, each.decision or blank("open_points"))
        for place, each in enumerate(review.points, start=1)
    )
    head = ("no.", "point", "decision")
    return _cut(Grid("Open points, and what was decided about each", head, rows), POINTS, "point")


def _hashes(dossier: Dossier) -> Grid:
    """Return the hashes and versions, with those of the report; packages in one row."""
    content = dict(dossier.content)
    own, search = fingerprints(content), content["search"]
    packages = content["environment"]["packages"]
    rows = [row for row in own.rows if row[0] not in packages]
    rows.insert(0, ("report.json, SHA-256", dossier.report_sha256))
    second = content["release"].get("sensitive_table")
    if second is not None:
        rows.insert(4, ("sensitive table, SHA-256", second["sha256"]))
    rows.append(("packages", ", ".join(f"{name} {version}" for name, version in packages.items())))
    rows.append(("search", f"{search['algorithm']}, {number(search['evaluated'])} candidates evaluated"))
    rows.append(("verified", f"the {form_of(content).noun} was {form_of(content).verified}"))
    return Grid(own.caption, own.head, tuple(rows))
