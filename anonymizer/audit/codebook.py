"""The codebook of a release and the CSVW metadata, compared with the release and its public report."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from anonymizer.audit.case import AuditCase
from anonymizer.audit.claims import as_reported
from anonymizer.distribution import own_version
from anonymizer.errors import InputError
from anonymizer.model.labels import NumberLabels
from anonymizer.model.report import metadata_name
from anonymizer.model.table import Role
from anonymizer.release.folder import CODEBOOK
from anonymizer.report.codebook import HEAD, WORDS, Entry, codebook_rows
from anonymizer.report.csvw import csvw_texts
from anonymizer.report.described import described_columns
from anonymizer.report.small_counts import smallest_shown

BY_HIERARCHY = frozenset({"level", "generalized"}) | WORDS
"""Columns of the codebook that need the file of a hierarchy."""

NOT_SAID = f"{CODEBOOK}, as the report does not say what it is made from"

OTHER_VERSION = f"{CODEBOOK}, which another version of this program wrote"

Row = Mapping[str, str]
Key = tuple[str, ...]


def check_codebook(case: AuditCase) -> None:
    """The codebook and the metadata next to the public report are those of the release.

    The wording is compared if this version wrote it. A release without a codebook is no disagreement.
    """
    folder = case.report.path.parent
    if case.claims.internal or not (folder / CODEBOOK).is_file():
        return
    given = _read(folder / CODEBOOK)
    if given is None:
        case.found.not_checked.append(OTHER_VERSION)
        return
    content, smallest = _content(case), smallest_shown(case.plan.goal.k_of_reports)
    if content is None:
        case.found.not_checked.append(NOT_SAID)
        return
    names = case.config.with_role(Role.QUASI_IDENTIFIER)
    counted = {*names, *(row["column"] for row in given if row["missing"])}
    columns = described_columns(
        content, case.relations, case.config.folder, smallest, lambda name: name in counted
    )
    expected = list(codebook_rows(content, columns, smallest))
    same_version = case.claims.get(("environment", "anonymizer")) == own_version()
    for finding in _differences(
        given, expected, frozenset() if same_version else WORDS, set(_without_file(case))
    ):
        case.found.refute(f"{CODEBOOK}: {finding}")
    for name, text in csvw_texts(content, columns).items() if same_version else ():
        path = folder / metadata_name(name)
        if path.is_file() and path.read_bytes() != text.encode():
            case.found.refute(f"{path.name}: does not describe {name} as its public report does")


class _Numbers(BaseModel):
    columns: list[str]
    empty: Literal["*", "<missing>"]
    high: str | None


class _Left(BaseModel):
    values: list[str]
    more: int


class _Table(BaseModel):
    path: str


class _Release(BaseModel):
    path: str
    separator: str | None
    encoding: str | None
    sensitive_table: _Table = _Table(path="")
    numbers: dict[str, _Numbers] = {}
    left_by: dict[str, dict[str, _Left]] = {}


class _Recoding(BaseModel):
    levels: dict[str, int | None] | None
    aggregate: str | None = None
    blanked_cells: dict[str, int | None] = {}
    grouping: Any = None


class _Attribute(BaseModel):
    label: str = ""
    codes: dict[str, str] | None = None


class _Report(BaseModel):
    """What a codebook is made from, of a public report."""

    attributes: dict[str, _Attribute]
    release: _Release
    recoding: _Recoding


def _content(case: AuditCase) -> dict[str, Any] | None:
    """Return what a codebook is made from; None if the report lacks some of it."""
    try:
        content = _Report.model_validate(case.claims.content).model_dump(exclude_unset=True)
    except ValidationError:
        return None
    columns = case.config.attributes.items()
    numbers = {name for name, own in columns if own.number_labels is not NumberLabels.RANGE}
    if numbers != content["release"].get("numbers", {}).keys():
        return None
    return {**content, "config": as_reported(case.config.to_dict())}


def _read(path: Path) -> list[Row] | None:
    """Return the rows of a codebook; None if it has other columns.

    Raises
    ------
    InputError: it is no CSV file.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            head, *rows = [tuple(row) for row in csv.reader(file, strict=True)] or [()]
    except (ValueError, csv.Error) as error:
        raise InputError(f"{path.name}: {error}; get the file from the publisher again") from None
    if head != HEAD:
        return None
    wrong = next((place for place, row in enumerate(rows, 2) if len(row) != len(HEAD)), None)
    if wrong is not None:
        raise InputError(f"{path.name}: row {wrong} has {len(rows[wrong - 2])} fields, not {len(HEAD)}")
    return [dict(zip(HEAD, row, strict=True)) for row in rows]


def _without_file(case: AuditCase) -> Iterator[str]:
    """Yield the columns whose hierarchy is in a file that is not at hand."""
    for name in case.config.attributes:
        hierarchy = case.plan.columns.hierarchy(name)
        if hierarchy is not None and not all(path.is_file() for path in hierarchy.files):
            yield name


def _differences(
    given: Collection[Row], expected: Collection[Row], unknown: frozenset[str], without_file: Collection[str]
) -> Iterator[str]:
    """Yield what is wrong in a codebook, the first of each column.

    Parameters
    ----------
    unknown: columns of the codebook that are not compared.
    without_file: columns of the release in which those are not compared that need a hierarchy.
    """
    own, right = ({_key(row): row for row in rows} for rows in (given, expected))
    if len(own) != len(given):
        yield "has two rows about the same value"
    seen = set()
    for key in (*right, *(key for key in own if key not in right)):
        skipped = unknown | (BY_HIERARCHY if key[1] in without_file else frozenset())
        what = _difference(own.get(key), right.get(key), [name for name in HEAD if name not in skipped])
        if what is not None and key[:2] not in seen:
            seen.add(key[:2])
            yield f"{_named(key)}{what}"


def _difference(own: Row | None, right: Row | None, compared: Sequence[str]) -> str | None:
    """Return the first difference of two rows, one of which may be missing; None if they are the same."""
    if own is None:
        return " is missing"
    if right is None:
        return " is not in the release, or in too few records to be named"
    name = next((name for name in compared if own[name] != right[name]), None)
    return None if name is None else f": {name} is '{own[name]}', found '{right[name]}'"


def _key(row: Row) -> Key:
    return tuple(row[name] for name in ("table", "column", "entry", "value"))


def _named(key: Key) -> str:
    _, column, entry, value = key
    return f"column '{column}'" + (f", value '{value}'" if entry == Entry.VALUE else "")
