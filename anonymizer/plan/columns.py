"""The columns of a run as its config plans them: roles, types, hierarchies and groups."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from anonymizer.config.attribute import AttributeSettings
from anonymizer.config.model import Config
from anonymizer.data.relation import Relation
from anonymizer.data.table import ColumnRequest, declared_codes, read_columns
from anonymizer.hierarchy.coded import CodedSource, labels_of_codes
from anonymizer.hierarchy.date import DateSource
from anonymizer.hierarchy.intervals import IntervalSource
from anonymizer.hierarchy.placement import (
    LevelRange,
    Placement,
    Unknown,
    build_quasi_identifier,
    build_sensitive_attribute,
    in_numbers,
)
from anonymizer.hierarchy.source import FlatSource, HierarchySource
from anonymizer.model.dates import ISO, DateFormat
from anonymizer.model.features import SuppressionMethod
from anonymizer.model.labels import MISSING, NumberLabels
from anonymizer.model.recoding import Published
from anonymizer.model.table import (
    Code,
    Column,
    Numerals,
    QuasiIdentifier,
    Role,
    SensitiveAttribute,
    Table,
    ValueType,
)
from anonymizer.search.base import SearchAlgorithm
from anonymizer.system import check_file

APPLIED_REMEDY = "leave these records out, or repeat the earlier run with unknown: top"
"""Remedy for values outside a hierarchy that an earlier run has fixed."""

NO_SOURCES: Mapping[str, HierarchySource[Any]] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class PlannedHierarchy:
    """The hierarchy of a column in a config.

    Attributes
    ----------
    source: builds it.
    unknown: whether a value outside the hierarchy is an error or goes directly under the root.
    definition: its section of the config, without files.
    files: that it is read from.
    """

    source: HierarchySource[Any]
    unknown: Unknown
    definition: Mapping[str, Any]
    files: tuple[Path, ...]

    def digest(self) -> str:
        """Return the SHA-256 of the definition: the files of the hierarchy, else its parameters.

        A digest of the hierarchy itself could disclose the data that it was built from.

        Raises
        ------
        OSError: a file cannot be read.
        """
        digest = hashlib.sha256(json.dumps(self.definition, sort_keys=True, ensure_ascii=False).encode())
        for path in self.files:
            digest.update(check_file(path).read_bytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class PlannedColumn:
    """A column of a config.

    Attributes
    ----------
    type: None to detect it.
    dates: format of dates in texts.
    weight: in the aggregated loss.
    levels: that a search may use.
    distance: for t-closeness; None for the default of its type.
    released: whether the release has the column.
    labels: how intervals of numbers are released.
    inherited: where the type is from, such as "the earlier run", if the config does not declare it.
    """

    role: Role
    type: ValueType | None
    dates: DateFormat
    hierarchy: PlannedHierarchy | None
    weight: float
    levels: LevelRange
    distance: str | None
    released: bool
    labels: NumberLabels
    inherited: str = ""

    @property
    def _source(self) -> HierarchySource[Any]:
        return FlatSource() if self.hierarchy is None else self.hierarchy.source

    @property
    def fixed_height(self) -> bool:
        """Whether the config alone decides the number of levels."""
        return self._source.fixed_height

    def levels_shown(
        self, published: Collection[str], folder: Path, *, starred: bool
    ) -> frozenset[int] | None:
        """Return the levels at which a release can have this column; None if its texts do not decide it.

        They do not if numbers stand for its labels, or if a date may be a month or a year itself.

        Parameters
        ----------
        published, starred: as for ``HierarchySource.levels_shown``.
        folder: of the config.
        """
        if not self.dates.days or self.labels is not NumberLabels.RANGE:
            return None
        beyond = self.hierarchy is not None and self.hierarchy.unknown is Unknown.TOP
        return self._source.levels_shown(published, folder, starred=starred, beyond=beyond)


@dataclass(frozen=True, eq=False)
class Bands:
    """How the values of a column become the groups that are released in their place.

    Attributes
    ----------
    column: before that.
    form: labels of the groups, or their midpoints.
    """

    column: PlannedColumn
    form: NumberLabels

    @property
    def hierarchy(self) -> PlannedHierarchy:
        """The hierarchy whose level 1 has the groups."""
        assert self.column.hierarchy is not None, "the config demands it"
        return self.column.hierarchy

    def released(self) -> PlannedColumn:
        """Return the column as it is released, whose values are the groups."""
        if self.form is NumberLabels.MIDPOINT:
            return replace(self.column, type=ValueType.NUMBER, hierarchy=None)
        kind, distance = self.column.type, self.column.distance
        if (kind is not None and kind.ordered) or isinstance(self.hierarchy.source, _ORDERED_SOURCES):
            distance = distance or "ordered"
        return replace(self.column, type=ValueType.TEXT, dates=ISO, hierarchy=None, distance=distance)


_ORDERED_SOURCES = (IntervalSource, DateSource)
"""Hierarchies of numbers and dates only."""


@dataclass(frozen=True, eq=False)
class Columns(Mapping[str, PlannedColumn]):
    """The columns of a config by name, in its order, and how their texts are read.

    Attributes
    ----------
    config: name of the config in messages.
    folder: that relative paths of hierarchies start from.
    by_name: columns as they are released.
    missing: texts that mean a missing value.
    numerals: number format of texts.
    bands: of columns that are released in groups without being generalized.
    applied: whether the recoding of an earlier run is applied.
    publishes: returns what the search publishes of some quasi-identifiers.
    hides: whether the release may have stars.
    """

    config: str
    folder: Path
    by_name: Mapping[str, PlannedColumn]
    missing: tuple[str, ...]
    numerals: Numerals
    bands: Mapping[str, Bands]
    applied: bool
    publishes: Callable[[Sequence[QuasiIdentifier]], frozenset[Published]]
    hides: bool

    def __getitem__(self, name: str) -> PlannedColumn:
        return self.by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns with a role, in the order of the config."""
        return tuple(name for name, each in self.items() if each.role is role)

    def among(self, names: Iterable[str], role: Role) -> list[str]:
        """Return the names whose columns have a role, in the given order."""
        own = frozenset(self.with_role(role))
        return [name for name in names if name in own]

    def released(self, names: Iterable[str]) -> list[str]:
        """Return the names of released columns in the given order, with those outside the config."""
        dropped = {name for name, each in self.items() if not each.released}
        return [name for name in names if name not in dropped]

    @property
    def absent(self) -> frozenset[str | None]:
        """Every text of a dictionary that means a missing value; None is a null."""
        return frozenset({None, *self.missing})

    @property
    def sampling_weight(self) -> str | None:
        """The column of sampling weights; None without exactly one."""
        weights = self.with_role(Role.WEIGHT)
        return weights[0] if len(weights) == 1 else None

    @property
    def hierarchy_files(self) -> list[Path]:
        """The files that the hierarchies are read from."""
        given = [self.hierarchy(name) for name in self]
        return [path for each in given if each is not None for path in each.files]

    @property
    def grown(self) -> frozenset[str]:
        """The sensitive attributes whose hierarchy is built from the data."""
        return frozenset(
            name
            for name in self.with_role(Role.SENSITIVE)
            if (given := self[name].hierarchy) is not None and given.source.rule_built
        )

    def digest(self, name: str) -> str | None:
        """Return the digest of a column's hierarchy; None without one."""
        hierarchy = self.hierarchy(name)
        return None if hierarchy is None else hierarchy.digest()

    def hierarchy(self, name: str) -> PlannedHierarchy | None:
        """Return the hierarchy that the config has for a column."""
        return self.bands[name].hierarchy if name in self.bands else self[name].hierarchy

    def described(self, table: Table) -> dict[str, Any]:
        """Return role, type and hierarchy digest by column, in the order of the config."""
        types = {each.name: each.column.type.value for each in table.quasi_identifiers}
        types |= {each.name: each.column.type.value for each in table.sensitive}
        return {
            name: {"role": each.role.value, "type": types.get(name), "hierarchy_sha256": self.digest(name)}
            for name, each in self.items()
        }

    def labels_of_codes(self, relation: Relation, table: Table) -> dict[str, dict[str, str]]:
        """Return the label of each code that is a value of a hierarchy, by the columns with such hierarchies.

        A hierarchy in a file has none here: a report names no values of a file.

        Parameters
        ----------
        relation: the input.
        table: of it.
        """
        known = {each.name: each.column for each in table.quasi_identifiers}
        known |= {each.name: each.column for each in table.sensitive}
        found = {}
        for name in self:
            planned, codes = self.hierarchy(name), declared_codes(relation, name)
            if planned is None or planned.source.rule_built or not codes:
                continue
            column = known[name] if name not in self.bands else _declared(name, codes)
            tree = planned.source.build(column, self.folder)
            labels = labels_of_codes(tree, column, planned.source.describe())
            if labels:
                found[name] = {} if planned.files else labels
        return found

    def requests(self, names: Iterable[str]) -> list[ColumnRequest]:
        """Return the request to read each column, in the order of the names."""
        return [self.request(name, self[name].type) for name in names]

    def request(self, name: str, kind: ValueType | None, inherited: str = "") -> ColumnRequest:
        """Return the request to read a column as a type, None to detect it.

        Parameters
        ----------
        inherited: where the type is from if the config does not declare it.
        """
        column = self[name]
        inherited = column.inherited or (inherited if column.type is None else "")
        generalized = column.role is Role.QUASI_IDENTIFIER
        grouped = name in self.bands
        return ColumnRequest(name, kind, self.numerals, column.dates, generalized, grouped, inherited)

    def absent_among(self, name: str, texts: Iterable[str | None]) -> set[str | None]:
        """Return the texts of a column of the config that mean a missing value, and a null."""
        known = [text for text in texts if text is not None]
        request = self.request(name, self[name].type)
        return {None, *request.absent_among(known, (*self.missing, MISSING))}

    def quasi_identifiers(
        self, columns: Mapping[str, Column], sources: Mapping[str, HierarchySource[Any]] = NO_SOURCES
    ) -> tuple[QuasiIdentifier, ...]:
        """Return the quasi-identifiers among some columns with their hierarchies.

        Parameters
        ----------
        sources: of hierarchies by name, in place of the config's.
        """
        found = [
            self._quasi_identifier(column, self[name], sources.get(name))
            for name, column in columns.items()
            if self[name].role is Role.QUASI_IDENTIFIER
        ]
        forms = [self[each.name].labels for each in found]
        published = self.publishes(found)
        return tuple(
            each if form is NumberLabels.RANGE else in_numbers(each, form, published, hides=self.hides)
            for each, form in zip(found, forms, strict=True)
        )

    def _quasi_identifier(
        self, column: Column, planned: PlannedColumn, source: HierarchySource[Any] | None
    ) -> QuasiIdentifier:
        placement = self._placement(planned.hierarchy)
        own = FlatSource() if planned.hierarchy is None else source or planned.hierarchy.source
        built = build_quasi_identifier(column, own, placement, planned.weight, planned.levels)
        return built if planned.hierarchy else replace(built, by_range=column.numbers is not None)

    def sensitive_attributes(self, columns: Mapping[str, Column]) -> tuple[SensitiveAttribute, ...]:
        """Return the sensitive attributes among some columns with their hierarchies."""
        return tuple(
            self._sensitive_attribute(column, self[name])
            for name, column in columns.items()
            if self[name].role is Role.SENSITIVE
        )

    def read_sensitive(self, relation: Relation, names: Sequence[str]) -> tuple[SensitiveAttribute, ...]:
        """Read sensitive attributes from a file."""
        read = read_columns(relation, self.requests(names), self.missing)
        return self.sensitive_attributes({name: each.column for name, each in read.items()})

    def _sensitive_attribute(self, column: Column, planned: PlannedColumn) -> SensitiveAttribute:
        if planned.hierarchy is None:
            return SensitiveAttribute(column, distance=planned.distance)
        placement = self._placement(planned.hierarchy)
        return build_sensitive_attribute(column, planned.hierarchy.source, placement, planned.distance)

    def _placement(self, hierarchy: PlannedHierarchy | None) -> Placement:
        unknown = Unknown.ERROR if hierarchy is None else hierarchy.unknown
        placement = Placement(self.folder, unknown, self.missing)
        return replace(placement, remedy=APPLIED_REMEDY) if self.applied else placement

    def typed(self, types: Mapping[str, ValueType | None], inherited: str) -> Columns:
        """Return the columns with known column types instead of detected ones.

        Parameters
        ----------
        inherited: where they are from, such as "the earlier run".
        """
        columns = {
            name: replace(
                each, type=types.get(name) or each.type, inherited=inherited if each.type is None else ""
            )
            for name, each in self.items()
        }
        return replace(self, by_name=columns)

    def over_codes(self, labels: Mapping[str, Mapping[str, str] | None]) -> Columns:
        """Return the columns for readers of a release without its input.

        Parameters
        ----------
        labels: as ``labels_of_codes`` returns them; None for a hierarchy over labels.
        """
        columns = {
            name: replace(
                each, hierarchy=replace(each.hierarchy, source=CodedSource(each.hierarchy.source, own))
            )
            if each.hierarchy is not None and (own := labels.get(name)) is not None
            else each
            for name, each in self.items()
        }
        return replace(self, by_name=columns)

    def without_hierarchies(self, names: Iterable[str]) -> Columns:
        """Return the columns with the hierarchies of some columns removed."""
        bare = set(names)
        columns = {
            name: replace(each, hierarchy=None, levels=LevelRange()) if name in bare else each
            for name, each in self.items()
        }
        return replace(self, by_name=columns)


def _declared(name: str, codes: Mapping[str, Code]) -> Column:
    """Return a column with the values that a file declares."""
    return Column(
        name, ValueType.TEXT, tuple(codes), np.zeros(len(codes), dtype=np.int64), None, None, codes=codes
    )


def columns_of(config: Config, algorithm: SearchAlgorithm, suppression: SuppressionMethod) -> Columns:
    """Return the columns of a config, for a search."""
    planned = planned_columns(config.attributes, config.folder, config.to_dict()["attributes"])
    bands = {
        name: Bands(planned[name], form)
        for name, each in config.attributes.items()
        if (form := each.bands) is not None
    }
    return Columns(
        config=config.source,
        folder=config.folder,
        by_name={name: bands[name].released() if name in bands else each for name, each in planned.items()},
        missing=config.input.missing,
        numerals=config.numerals,
        bands=bands,
        applied=config.apply is not None,
        publishes=partial(algorithm.publishes, method=suppression),
        hides=config.suppression.keep_rows or suppression is SuppressionMethod.CELLS,
    )


def planned_columns(
    attributes: Mapping[str, AttributeSettings], folder: Path, shown: Mapping[str, Any]
) -> dict[str, PlannedColumn]:
    """Return the columns with their hierarchies.

    Parameters
    ----------
    folder: that relative paths start from.
    shown: the columns in reports.
    """
    columns = {}
    for name, each in attributes.items():
        hierarchy, given = None, each.levels
        if each.hierarchy is not None:
            source, unknown = each.hierarchy.build(), each.hierarchy.unknown
            files = tuple(source.files(folder))
            own = {"source": each.hierarchy.source, "unknown": unknown.value}
            hierarchy = PlannedHierarchy(source, unknown, own if files else shown[name]["hierarchy"], files)
        columns[name] = PlannedColumn(
            role=each.role,
            type=each.type,
            dates=each.dates,
            hierarchy=hierarchy,
            weight=float(each.weight),
            levels=LevelRange() if given is None else LevelRange(given.min or 0, given.max),
            distance=None if each.distance is None else each.distance.value,
            released=each.released,
            labels=each.number_labels,
        )
    return columns
