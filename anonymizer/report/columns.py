"""What the recipient of a release sees of each column of the input, as rows of one table.

A run measures each ``SeenColumn``. The entries are in the internal report; the page, the terminal and Python
show them. Small numbers are masked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anonymizer.errors import listed
from anonymizer.exposure.detector import named
from anonymizer.exposure.finding import Exposure, Finding, Kind
from anonymizer.exposure.measure import detector_of
from anonymizer.model.table import Role
from anonymizer.report.wording import Grid, percent

HEAD = ("column", "role", "treatment", "example", "changed", "finding")
"""Columns of the table, and keys of the entries of a report."""

LEFT_OUT, UNCHANGED = "left out", "unchanged"
"""Treatment of a column that a release lacks, and of one that it has as it is."""

UNKNOWN = "–"
"""Cell of a figure that is not known, or rests on too few records."""

MOST_ROWS = 100
"""Maximum number of columns in the table of a page or terminal."""


@dataclass(frozen=True)
class LeftBy:
    """The values that a label such as ``all but the 8 most frequent`` leaves out.

    Attributes
    ----------
    values: those that the release publishes by themselves.
    more: number of the others: the release has them in no record or in few, or they are too many to list.
    """

    values: tuple[str, ...]
    more: int


@dataclass(frozen=True)
class SeenColumn:
    """What a release has of a column of the input.

    Attributes
    ----------
    role: of the config.
    treatment: in words, without suppressed values.
    rows: of the release.
    starred: rows with ``*``; None if not known.
    changed: rows with another value than in the input; None if not known.
    example: the most frequent published value, if enough records have it; else None.
    left_by: what its published labels for all other values leave out.
    """

    name: str
    role: Role
    treatment: str
    rows: int = 0
    starred: int | None = 0
    changed: int | None = None
    example: str | None = None
    left_by: Mapping[str, LeftBy] = field(default_factory=dict)


def column_entries(
    seen: Iterable[SeenColumn], exposure: Exposure | None, acknowledged: Collection[str], smallest: int
) -> list[dict[str, Any]]:
    """Return the rows of the table as entries of a report: its cells as texts, the findings as a list.

    A cell is None where a figure is not known, and empty where there is nothing to say.

    Parameters
    ----------
    exposure: what the release shows; None where it was not measured.
    acknowledged: findings that somebody has read.
    smallest: counts of records below it are masked.
    """
    columns = list(seen)
    found = None if exposure is None else _findings(columns, exposure, acknowledged, smallest)
    return [_entry(each, None if found is None else found.get(each.name, []), smallest) for each in columns]


def _entry(column: SeenColumn, found: Sequence[str] | None, smallest: int) -> dict[str, Any]:
    if column.treatment == LEFT_OUT:
        cells: tuple[str | None, ...] = (LEFT_OUT, "", "")
    else:
        changed = None if column.changed is None else share_of(column.changed, column.rows, smallest)
        cells = (_treatment(column, smallest), column.example, changed)
    return dict(zip(HEAD, (column.name, str(column.role), *cells, found), strict=True))


def _treatment(column: SeenColumn, smallest: int) -> str:
    """Return the treatment with the share of suppressed values."""
    if not column.starred:
        return column.treatment
    if column.starred == column.rows:
        return "hidden: * in all records"
    return f"{column.treatment}, * in {share_of(column.starred, column.rows, smallest)}"


def share_of(count: int, of: int, smallest: int) -> str:
    """Return a count as a share in percent, masked if it, or what is left, is too small to be shown.

    >>> [share_of(count, 1000, 5) for count in (0, 2, 250, 998, 1000)]
    ['0 %', 'under 0.5 %', '25 %', 'over 99.5 %', '100 %']
    >>> share_of(1, 4, 5), share_of(0, 1, 5)
    ('some', '0 %')
    """
    if count in (0, of):
        return _percent(float(count > 0))
    few, nearly_all = count < smallest, of - count < smallest
    if (few or nearly_all) and of <= 2 * smallest:
        return "some"
    if few:
        return _percent(smallest / of, "under ")
    return _percent(1 - smallest / of, "over ") if nearly_all else _percent(count / of)


def _percent(share: float, than: str = "") -> str:
    return f"{than}{percent(share)}".replace("\xa0", " ")


def _findings(
    columns: Sequence[SeenColumn], exposure: Exposure, acknowledged: Collection[str], smallest: int
) -> dict[str, list[str]]:
    """Return the findings that name a column, the worst first, those that somebody has read last."""
    known = [each.name for each in columns if each.role is Role.QUASI_IDENTIFIER]
    found: dict[str, list[str]] = {}
    for read, findings in (("", exposure.findings), (" (acknowledged)", exposure.acknowledged)):
        for finding in findings:
            # Without columns, the quasi-identifiers alone do it.
            for name in finding.columns or known:
                found.setdefault(name, []).append(f"{_said(finding, smallest)}{read}")
            if finding.about is not None:
                found.setdefault(finding.about, []).append(f"{_said(finding, smallest, of_shown=True)}{read}")
    for name in sorted(set(acknowledged) - set(exposure.unused)):
        kind, _, column = name.partition(":")
        if kind == Kind.SINGLED_OUT:
            found.setdefault(column, []).append("singles out (acknowledged)")
    return found


def _said(finding: Finding, smallest: int, *, of_shown: bool = False) -> str:
    """Return in few words what a column of a finding does, or what is done to the column that it shows."""
    own = detector_of(finding.kind)
    words = own.says_about if of_shown else own.says
    return words.format(
        share=_share(finding, smallest),
        about=f"'{finding.about}'",
        by=named(finding.columns),
        sources=named(finding.sources),
    )


def _share(finding: Finding, smallest: int) -> str:
    of = round(finding.records / finding.share) if finding.share else finding.records
    return share_of(finding.records, of, smallest)


def columns_grid(content: Mapping[str, Any]) -> Grid:
    """Return the table of a report; of many columns, those with findings and released ones first."""
    entries = content.get("columns", ())
    order = sorted(entries, key=lambda each: (not each["finding"], each["treatment"] == LEFT_OUT))
    chosen = {each["column"] for each in order[:MOST_ROWS]}
    rows = tuple(_cells(each) for each in entries if each["column"] in chosen)
    return Grid("What the recipient sees of each column", HEAD, rows)


def columns_row(entry: Mapping[str, Any]) -> dict[str, str | None]:
    """Return an entry of a report as the row of a table."""
    found = entry["finding"]
    return {**entry, "finding": None if found is None else "; ".join(found)}


def _cells(entry: Mapping[str, Any]) -> tuple[str, ...]:
    row = columns_row(entry)
    return tuple(UNKNOWN if (cell := row[key]) is None else cell for key in HEAD)


def columns_legend(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the cells of the table mean, and how many columns are not in it."""
    entries, grid = content.get("columns", ()), columns_grid(content)
    yield (
        "Example: the most frequent published value, unless few records have it. Changed: share of the "
        "released records with another value than in the input."
    )
    cells = [cell for row in grid.rows for cell in row]
    if UNKNOWN in cells:
        yield f"{UNKNOWN}: {_reason(content)}."
    shown = {row[0] for row in grid.rows}
    rest = Counter(_kind(each["treatment"]) for each in entries if each["column"] not in shown)
    if rest:
        parts = listed([f"{number:,} {kind}" for kind, number in rest.items()])
        yield f"{rest.total():,} more columns are not shown: {parts}. report.json has all of them."


def _reason(content: Mapping[str, Any]) -> str:
    """Return why some cells have no figure."""
    if "applied" in content:
        return "not known, as the input of the earlier release is not at hand, or too few records to show"
    if "exposure" not in content:
        return "not measured, as the records do not fit into memory, or too few records to show"
    return "not known, as in groups made before the run, or too few records to show"


def _kind(treatment: str) -> str:
    """Return what a treatment comes to without its details."""
    return treatment if treatment in (LEFT_OUT, UNCHANGED) else "changed"
