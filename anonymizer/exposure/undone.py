"""Columns released finer than their groups that name the value which another column hides."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from anonymizer.exposure.detector import Detector, Said, as_known, as_role, named
from anonymizer.exposure.finding import Finding, Kind, Remedy
from anonymizer.exposure.records import ReleasedColumn, ReleasedRecords
from anonymizer.model.arrays import BoolArray, CodeArray, constant_in_groups
from anonymizer.model.table import Role


class Undone(Detector):
    """Coarsened values that a finer column names."""

    kind = Kind.UNDONE
    setting = "undone"

    def find(self, records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
        """Yield what exceeds the threshold."""
        yield from undone(records, threshold)

    def sentence(self, finding: Finding, said: Said) -> str:
        """Return what was found."""
        return f"{named(finding.columns)} names the hidden '{finding.about}' of {said.number} records"

    def remedy(self, finding: Finding, records: ReleasedRecords) -> Remedy:
        """Return what mends a finding: a weight is rounded, never dropped."""
        column = records.column(finding.columns[0])
        if column.role is Role.WEIGHT:
            width = _width(records, column, finding)
            if width is None:
                return Remedy(
                    f"calibrate {named(finding.columns)} to what is published, or keep it to yourself"
                )
            rounded = {column.name: (width, _origin(column, width))}
            return Remedy(f"round {named(finding.columns)} to {width:g}", rounded=rounded)
        if column.role is Role.INSENSITIVE:
            return as_known(finding.columns)
        if column.role is Role.SENSITIVE and column.has_groups:
            return Remedy(
                f"release {named(finding.columns)} in groups", grouped=dict.fromkeys(finding.columns)
            )
        return as_role(finding.columns, Role.DROP, "leave out {}")


def undone(records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
    """Yield a finding for each exact column that names a coarsened value in many records.

    Counted are records that share the exact value with another unit, as a value of one unit names everything
    of it, less those that a column of the same values in another order would name.
    """
    exact = [each for each in records.columns if each.exact and each.sizes[0] > 1]
    coarse = [each for each in records.columns if not each.exact]
    random = np.random.default_rng(0)
    for hidden in coarse:
        mixed = _mixed(hidden, random)
        for column in exact:
            number = _undone(records, column, hidden, mixed, threshold)
            if number > threshold * records.records:
                yield Finding(
                    Kind.UNDONE, (column.name,), number, number / records.records, threshold, hidden.name
                )


def _undone(
    records: ReleasedRecords,
    column: ReleasedColumn,
    hidden: ReleasedColumn,
    mixed: CodeArray,
    threshold: float,
) -> int:
    """Return the number of records whose hidden value a column names, beyond what values mixed would name."""
    asked = _shared(records, column) & hidden.coarse & hidden.present
    number = _named(column, hidden.own, asked)
    return number - _named(column, mixed, asked) if number > threshold * records.records else 0


def _width(records: ReleasedRecords, column: ReleasedColumn, finding: Finding) -> float | None:
    """Return the smallest round width of intervals of a weight that do not name hidden values.

    None if there is none but one interval for all.
    """
    hidden = [each for each in records.columns if not each.exact]
    values = column.values
    lowest, highest = float(np.nanmin(values)), float(np.nanmax(values))
    mixed = [_mixed(each, np.random.default_rng(0)) for each in hidden]
    for width in _round_widths(highest - lowest):
        code = np.floor((np.nan_to_num(values) - _origin(column, width)) / width)
        shown = np.unique(code, return_inverse=True)[1].astype(np.int32)
        rounded = replace(column, shown=shown, own=shown, absent=None)
        if rounded.sizes[0] < 2:
            return None
        named = (
            _undone(records, rounded, each, own, finding.threshold)
            for each, own in zip(hidden, mixed, strict=True)
        )
        if max(named, default=0) <= finding.threshold * records.records:
            return width
    return None


def _origin(column: ReleasedColumn, width: float) -> float:
    """Return where intervals begin whose middles are multiples of their width, unless one would be 0."""
    return width / 2 if np.nanmin(column.values) >= width / 2 else 0.0


def _round_widths(span: float) -> Iterator[float]:
    """Yield 1, 2 and 5 times powers of ten, from a thousandth of a span to all of it."""
    power = math.floor(math.log10(span)) - 3 if span > 0 else 0
    for exponent in range(power, power + 5):
        yield from (factor * 10.0**exponent for factor in (1, 2, 5))


def _shared(records: ReleasedRecords, column: ReleasedColumn) -> BoolArray:
    """Return which records share the value of a column with another unit."""
    units = records.units_in(column.shown.astype(np.int64), column.sizes[0])
    return (units > 1)[column.shown] & column.present


def _named(column: ReleasedColumn, own: CodeArray, asked: BoolArray) -> int:
    """Return the number of records whose hidden value is that of all others with their exact value."""
    return int((asked & constant_in_groups(column.shown, own)[column.shown]).sum())


def _mixed(column: ReleasedColumn, random: np.random.Generator) -> CodeArray:
    """Return hidden values in another order within each published value."""
    by_shown = np.argsort(column.shown, kind="stable")
    drawn = random.permutation(len(by_shown))
    found = np.empty_like(column.own)
    found[by_shown] = column.own[drawn[np.argsort(column.shown[drawn], kind="stable")]]
    return found
