"""Columns released finer than their groups that name the value which another column hides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from anonymizer.exposure.detector import Detector, Remedy, Said, as_role, named
from anonymizer.exposure.finding import Finding, Kind
from anonymizer.exposure.records import ReleasedColumn, ReleasedRecords
from anonymizer.model.arrays import BoolArray, CodeArray
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

    def remedy(self, finding: Finding, roles: Mapping[str, Role]) -> Remedy:
        """Return what mends a finding."""
        if any(roles.get(each) is Role.WEIGHT for each in finding.columns):
            words = f"round {named(finding.columns)}, or keep it to yourself"
            return Remedy(words, withheld=finding.columns)
        return as_role(finding.columns, Role.DROP, "leave out {}, or release it in groups")


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
            shared = _shared(records, column)
            asked = shared & hidden.coarse & hidden.present
            number = _named(column, hidden.own, asked)
            if number <= threshold * records.records:
                continue
            number -= _named(column, mixed, asked)
            if number > threshold * records.records:
                yield Finding(
                    Kind.UNDONE, (column.name,), number, number / records.records, threshold, hidden.name
                )


def _shared(records: ReleasedRecords, column: ReleasedColumn) -> BoolArray:
    """Return which records share the value of a column with another unit."""
    units = records.units_in(column.shown.astype(np.int64), column.sizes[0])
    return (units > 1)[column.shown] & column.present


def _named(column: ReleasedColumn, own: CodeArray, asked: BoolArray) -> int:
    """Return the number of records whose hidden value is that of all others with their exact value."""
    size = int(own.max(initial=0)) + 1
    groups = column.shown.astype(np.int64)
    values = np.bincount(np.unique(groups * size + own) // size, minlength=column.sizes[0])
    return int((asked & (values == 1)[groups]).sum())


def _mixed(column: ReleasedColumn, random: np.random.Generator) -> CodeArray:
    """Return hidden values in another order within each published value."""
    by_shown = np.argsort(column.shown, kind="stable")
    drawn = random.permutation(len(by_shown))
    found = np.empty_like(column.own)
    found[by_shown] = column.own[drawn[np.argsort(column.shown[drawn], kind="stable")]]
    return found
