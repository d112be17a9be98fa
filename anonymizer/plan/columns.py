"""The columns of a run as its config plans them: roles, types, hierarchies and groups."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from anonymizer.config.attribute import AttributeSettings
from anonymizer.hierarchy.date import DateSource
from anonymizer.hierarchy.intervals import IntervalSource
from anonymizer.hierarchy.placement import LevelRange, Unknown
from anonymizer.hierarchy.source import HierarchySource
from anonymizer.model.dates import ISO, DateFormat
from anonymizer.model.labels import NumberLabels
from anonymizer.model.table import Role, ValueType
from anonymizer.system import check_file

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
