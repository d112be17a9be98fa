"""The columns of a project of ARX with their hierarchies, as settings that fit its data.

Types and hierarchies are tried on the data, so that a run does not refuse them.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from anonymizer.config.attribute import HierarchySettings
from anonymizer.data.relation import Relation
from anonymizer.data.table import ColumnRequest, read_columns
from anonymizer.errors import DataError, HierarchyError, listed
from anonymizer.hierarchy.placement import Placement, Unknown, place
from anonymizer.model.dates import DateFormat
from anonymizer.model.labels import SUPPRESSED
from anonymizer.model.naming import Spellings
from anonymizer.model.table import COMMA, POINT, Column, Numerals, Role, ValueType
from anonymizer.profile.carried import ROLES, Kind, Notes, kind_of
from anonymizer.profile.deid import DATA, Project, ProjectColumn, decoded, opened_member

HIERARCHIES = "hierarchies"
"""Folder of the hierarchies beside the config."""

_NULL = "null"
"""The text that is a missing value to the tool, in any case."""

_USED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
_GROUPED = 4
"""Levels that are counted for a hierarchy that a run drafts."""


@dataclass(frozen=True)
class CarriedColumn:
    """A column of the config.

    Attributes
    ----------
    settings: its keys in the config.
    levels: number of generalization levels that a search may use.
    said: what the project says of it, in a few words.
    missing: number of its records without a value.
    """

    name: str
    settings: Mapping[str, Any]
    levels: int
    said: str
    missing: int = 0

    @property
    def role(self) -> Role:
        """Its role."""
        return Role(self.settings["role"])


@dataclass(frozen=True)
class CarriedColumns:
    """All columns, with how their values are read.

    Attributes
    ----------
    missing: texts that are missing values.
    numerals: decimal sign of numbers.
    """

    columns: tuple[CarriedColumn, ...]
    missing: tuple[str, ...]
    numerals: Numerals


def carry_columns(
    project: Project, relation: Relation, folder: Path, notes: Notes, *, population: bool
) -> CarriedColumns:
    """Return the columns of the config, and write their hierarchies into a folder.

    Parameters
    ----------
    population: whether the config has one: no hierarchy may then depend on the values of the input.

    Raises
    ------
    DataError: the project describes other columns than its data have, or no quasi-identifiers.
    """
    described = _described(project, relation, notes)
    if not any(ROLES[each.role] is Role.QUASI_IDENTIFIER for each in described):
        raise DataError(
            f"{project.path}: no column is quasi-identifying, so that there is nothing to generalize; mark "
            "the columns in ARX that others may know, and save the project again"
        )
    used = [each for each in described if ROLES[each.role] in _USED]
    kinds = {each.name: kind_of(each, notes) for each in used}
    missing, absent = _missing(relation, used)
    reader = _Reader(relation, missing)
    reader.find_numerals([name for name, kind in kinds.items() if kind.type is ValueType.NUMBER])
    files = dict(zip((each.name for each in used), file_names(each.name for each in used), strict=True))
    columns = []
    for each in described:
        if each.name in kinds:
            own = _Carrying(project, each, folder, files[each.name], notes, groups=not population)
            columns.append(replace(own.column(reader, kinds[each.name]), missing=absent[each.name]))
        else:
            columns.append(CarriedColumn(each.name, {"role": ROLES[each.role].value}, 1, _said(each)))
    _note_without_effect(project, described, notes)
    return CarriedColumns(tuple(columns), missing, reader.numerals)


def _described(project: Project, relation: Relation, notes: Notes) -> list[ProjectColumn]:
    """Return the columns of the data as the project describes them."""
    spellings = Spellings(relation.columns)
    known = {spellings.of(each.name): each for each in project.columns}
    lacking = [f"'{name}'" for name in known if name not in relation.columns]
    if lacking:
        raise DataError(
            f"{project.path}: {DATA} in it has no column {listed(lacking)}, which the project describes; "
            "save it again"
        )
    found = []
    for name in relation.columns:
        column = known.get(name)
        if column is None or column.role not in ROLES:
            notes.changed.append(f"column '{name}': the project gives it no role; identifier, as in ARX")
            column = ProjectColumn(name, "IDENTIFYING_ATTRIBUTE")
        found.append(replace(column, name=name))
    return found


def _missing(relation: Relation, columns: Sequence[ProjectColumn]) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return the texts of missing values, and how many records of each column have one."""
    spelled, absent = {""}, {}
    for each in columns:
        found = {
            text or "": number
            for text, number in relation.dictionary(each.name)
            if not (text or "").strip() or (text or "").strip().casefold() == _NULL
        }
        spelled |= {text.strip() for text in found}
        absent[each.name] = sum(found.values())
    return tuple(sorted(spelled)), absent


class _Reader:
    """Reads columns of the data by a type."""

    def __init__(self, relation: Relation, missing: tuple[str, ...]) -> None:
        self._relation = relation
        self.missing = missing
        self.numerals = POINT

    def find_numerals(self, numbers: Sequence[str]) -> None:
        """Take the decimal sign by which all columns of numbers are read; the point if neither is."""
        points = all(self._reads(name, POINT) for name in numbers)
        commas = not points and all(self._reads(name, COMMA) for name in numbers)
        self.numerals = COMMA if commas else POINT

    def _reads(self, name: str, numerals: Numerals) -> bool:
        return self.read(name, Kind(ValueType.NUMBER), numerals) is not None

    def read(self, name: str, kind: Kind, numerals: Numerals | None = None) -> Column | None:
        """Return a column; None if its values are not of the type."""
        dates = DateFormat((kind.form,) if kind.form else ())
        request = ColumnRequest(name, kind.type, numerals or self.numerals, dates, generalized=True)
        try:
            return read_columns(self._relation, [request], self.missing)[name].column
        except DataError:
            return None


class _Carrying:
    """One column while it is carried over."""

    def __init__(
        self, project: Project, column: ProjectColumn, folder: Path, file: str, notes: Notes, *, groups: bool
    ) -> None:
        self._groups = groups
        self._project = project
        self._column = column
        self._folder = folder
        self._file = f"{HIERARCHIES}/{file}"
        self._notes = notes

    def column(self, reader: _Reader, kind: Kind) -> CarriedColumn:
        """Return the column with a type that its values have, and a hierarchy that places them."""
        own = self._column
        tree = self._tree()
        kind, hierarchy = self._fitting(reader, kind, tree)
        if hierarchy is None:
            (self._folder / self._file).unlink(missing_ok=True)
            tree = None
        role = ROLES[own.role]
        settings: dict[str, Any] = {"role": role.value, "type": kind.type.value}
        if kind.form:
            settings["format"] = kind.form
        if role is not Role.QUASI_IDENTIFIER:
            settings |= {} if hierarchy is None else {"hierarchy": hierarchy}
            return CarriedColumn(own.name, settings, 1, _said(own, tree))
        if own.aggregated:
            if hierarchy is None and kind.type.ordered and self._groups:
                hierarchy = {"auto": {}}
            self._note_aggregated(hierarchy)
        settings |= {} if hierarchy is None else {"hierarchy": hierarchy}
        levels, number = self._levels(tree)
        settings |= {"levels": levels} if levels else {}
        if _are_weighted(self._project):
            settings["weight"] = _weight(own)
        return CarriedColumn(own.name, settings, number, _said(own, tree))

    def _tree(self) -> StoredTree | None:
        """Return the hierarchy of the column as one tree; None if it has none that is one."""
        member = self._column.hierarchy
        if member is None:
            return None
        with opened_member(self._project, member) as content:
            source = decoded(content.read())
        try:
            tree = stored_tree(source, self._project.separator)
        except HierarchyError as error:
            self._left_out(str(error))
            return None
        self._notes.changed += [f"hierarchy of '{self._column.name}': {each}" for each in tree.mended]
        return tree

    def _write(self, tree: StoredTree, kind: Kind) -> None:
        """Write a hierarchy, whose dates are values in ISO 8601 here."""
        rows: Iterable[Sequence[str]] = tree.rows
        if kind.form:
            moments = (DateFormat((kind.form,)).read(row[0]) for row in tree.rows)
            rows = [
                row if moment is None else [moment.text, *row[1:]]
                for row, moment in zip(tree.rows, moments, strict=True)
            ]
        path = self._folder / self._file
        path.parent.mkdir(exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)

    def _left_out(self, why: str) -> None:
        self._notes.left_out.append(f"hierarchy of '{self._column.name}': {why}")

    def _fitting(
        self, reader: _Reader, kind: Kind, tree: StoredTree | None
    ) -> tuple[Kind, dict[str, Any] | None]:
        """Return the first type that the values have and with its hierarchy if that places them."""
        text = Kind(ValueType.TEXT)
        read = {each: reader.read(self._column.name, each) for each in dict.fromkeys((kind, text))}
        fitting = next((each for each, column in read.items() if column is not None), text)
        taken, hierarchy = fitting, None
        if tree is not None:
            refused = []
            for (each, column), unknown in _pairs(read.items()):
                self._write(tree, each)
                try:
                    self._place(column, unknown, reader.missing)
                except HierarchyError as error:
                    refused.append(str(error))
                else:
                    taken, hierarchy = each, {"file": self._file, **_unknown_key(unknown)}
                    break
            if hierarchy is None:
                self._left_out(refused[0])
            elif "unknown" in hierarchy:
                self._notes.changed.append(
                    f"hierarchy of '{self._column.name}': lacks values of the data, which are published "
                    "unchanged or as * (unknown: top)"
                )
        if taken is not kind:
            why = "not all of its values have that type" if taken is fitting else "its hierarchy lists texts"
            self._notes.changed.append(f"type {self._column.kind} of '{self._column.name}': text, as {why}")
        return taken, hierarchy

    def _place(self, column: Column, unknown: Unknown, missing: tuple[str, ...]) -> None:
        source = HierarchySettings.model_validate({"file": self._file}).build()
        place(column, source, Placement(self._folder, unknown, missing))

    def _levels(self, tree: StoredTree | None) -> tuple[dict[str, int], int]:
        """Return the levels that may be used, as far as they are restricted, and their number."""
        own = self._column
        if tree is None:
            # Without a hierarchy, the tool publishes the value or suppresses the record.
            return ({}, _GROUPED) if own.aggregated else ({"max": 0}, 1)
        most = tree.highest
        highest = most if own.highest is None else min(own.highest, most)
        lowest = min(own.lowest or 0, most)
        if lowest > highest:
            self._notes.changed.append(
                f"levels of '{own.name}': {lowest} to {highest} are none; {lowest} is taken"
            )
            highest = lowest
        found = {"min": lowest} if lowest else {}
        return found | ({"max": highest} if highest < tree.top else {}), highest - lowest + 1

    def _note_aggregated(self, hierarchy: Mapping[str, Any] | None) -> None:
        instead = "published as it is, or as *"
        if hierarchy is not None:
            by_file = "file" in hierarchy
            instead = "generalized by its hierarchy" if by_file else "generalized in groups of neighbours"
        self._notes.left_out.append(
            f"microaggregation of '{self._column.name}' ({self._column.aggregated}): {instead}; the "
            "algorithm microaggregation is for all quasi-identifiers together"
        )


def _unknown_key(unknown: Unknown) -> dict[str, Any]:
    return {} if unknown is Unknown.ERROR else {"unknown": unknown.value}


def _pairs(
    read: Iterable[tuple[Kind, Column | None]],
) -> Iterator[tuple[tuple[Kind, Column], Unknown]]:
    """Yield the ways to place values: complete ones first, then those with values that are unknown."""
    possible = [(kind, column) for kind, column in read if column is not None]
    for unknown in Unknown:
        for each in possible:
            yield each, unknown


def _are_weighted(project: Project) -> bool:
    """Return whether the weights of a project differ."""
    return len({*map(_weight, _with_role(project, Role.QUASI_IDENTIFIER))}) > 1


def _weight(column: ProjectColumn) -> Decimal:
    """Return the weight of a column; the tool has one half for a column without."""
    return Decimal("0.5") if column.weight is None else column.weight


def _with_role(project: Project, role: Role) -> list[ProjectColumn]:
    return [each for each in project.columns if ROLES.get(each.role) is role]


def _note_without_effect(project: Project, described: Sequence[ProjectColumn], notes: Notes) -> None:
    """Note what the project says of columns, and what has no effect here."""
    targets = [f"'{each.name}'" for each in described if each.response]
    if targets:
        notes.left_out.append(
            f"target of predictions {listed(targets)}: 'utility: [prediction]' predicts sensitive columns"
        )
    idle = [f"'{each.name}'" for each in described if each.hierarchy and ROLES[each.role] not in _USED]
    if idle:
        notes.left_out.append(f"hierarchies of columns that are not generalized: {listed(idle)}")
    if not any(map(_weight, _with_role(project, Role.QUASI_IDENTIFIER))):
        notes.changed.append("weights of columns: all are 0, which means all alike; 1 is taken")


def _said(column: ProjectColumn, tree: StoredTree | None = None) -> str:
    """Return what the project says of a column."""
    form = f" {column.form}" if column.form and "\n" not in column.form else ""
    levels = "" if tree is None else f", hierarchy of {tree.highest + 1} levels"
    return f"{column.kind}{form}{levels}"


# Hierarchies


@dataclass(frozen=True)
class StoredTree:
    """A hierarchy of a project as one tree.

    Attributes
    ----------
    rows: one a value: value, level 1, ..., root.
    highest: the highest level of the project.
    top: the level of the root, which is another one if it was added.
    mended: what was changed, in words.
    """

    rows: list[list[str]]
    highest: int
    top: int
    mended: tuple[str, ...]


def stored_tree(source: str, separator: str) -> StoredTree:
    """Return the tree of a hierarchy in CSV, which may lack a root or labels.

    >>> stored_tree("1;low\\n2;low\\n9;high\\n", ";").rows[-1]
    ['9', 'high', '*']

    Raises
    ------
    HierarchyError: it is empty, or its rows differ in length.
    """
    try:
        parsed = csv.reader(io.StringIO(source, newline=""), delimiter=separator)
        rows = [[*map(str.strip, row)] or [""] for row in parsed]
    except csv.Error as error:
        raise HierarchyError(f"is not CSV: {error}") from None
    rows = [*map(list, dict.fromkeys(map(tuple, rows)))]
    if not rows:
        raise HierarchyError("is empty")
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        raise HierarchyError("has rows of different lengths")
    mended = []
    if any(not label for row in rows for label in row[1:]):
        mended.append("levels without a label repeat that of the level below")
        rows = [_filled(row) for row in rows]
    top = width - 1
    if not top or len({row[-1] for row in rows}) > 1:
        mended += [] if not top else [f"has no root; {SUPPRESSED} was added, and is not used as a level"]
        rows = [[*row, SUPPRESSED] for row in rows]
        top += 1
    return StoredTree(rows, width - 1, top, tuple(mended))


def _filled(row: Sequence[str]) -> list[str]:
    """Return a row in which empty labels repeat the label below, or say that they are empty."""
    found = [row[0]]
    for label in row[1:]:
        found.append(label or found[-1] or "<empty>")
    return found


_UNSAFE = re.compile(r"[^\w .()+-]")
_LONGEST = 80


def file_names(names: Iterable[str]) -> Iterator[str]:
    """Yield a name of a file for each column, without characters that paths have.

    >>> [*file_names(["age", "a/b", "../x", "AGE"])]
    ['age.csv', 'a_b.csv', '_x.csv', 'AGE_2.csv']
    """
    taken: set[str] = set()
    for name in names:
        stem = _UNSAFE.sub("_", name).lstrip(". ")[:_LONGEST].rstrip(". ") or "column"
        number, found = 1, stem
        while found.casefold() in taken:
            number += 1
            found = f"{stem}_{number}"
        taken.add(found.casefold())
        yield f"{found}.csv"
