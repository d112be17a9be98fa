"""Values of few units, published as they are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anonymizer.exposure.detector import Detector, Said, as_known, named
from anonymizer.exposure.finding import Finding, Kind, Remedy
from anonymizer.exposure.records import ReleasedColumn, ReleasedRecords
from anonymizer.model.table import Role

MERGED = 0.2
"""Largest share of units whose texts are merged to mend a finding."""


class RareValues(Detector):
    """Values of few units, or of few households."""

    kind = Kind.RARE_VALUES
    setting = "rare_values"
    public = True
    counts_households = True

    def find(self, records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
        """Yield what exceeds the threshold."""
        yield from rare_values(records, threshold)

    def sentence(self, finding: Finding, said: Said) -> str:
        """Return what was found."""
        return f"{named(finding.columns)} is released with values of fewer than {said.few}, in {said.of}"

    def remedy(self, finding: Finding, records: ReleasedRecords) -> Remedy:
        """Return what mends a finding: groups of numbers; of texts, the rare ones become one."""
        words, column = f"release {named(finding.columns)} in groups", records.column(finding.columns[0])
        least = None if column.numbers is not None else _merged(records, column)
        if column.numbers is None and least is None and column.role is Role.INSENSITIVE:
            # Of rare texts that cannot be merged the classes hide what is rare.
            return as_known(finding.columns)
        if column.numbers is None and least is None:
            return Remedy(f"{words}: give it a hierarchy and labels, or leave it out")
        return Remedy(words, grouped={column.name: least})


def _merged(records: ReleasedRecords, column: ReleasedColumn) -> int | None:
    """Return the records of a value that stays, if rarer ones become one that is not rare.

    None if too much would be merged.
    """
    units = records.holders_in(column.shown.astype(np.int64), column.sizes[0])
    order = np.argsort(units, kind="stable")
    order = order[units[order] > 0]
    order = order[order != column.absent] if column.absent is not None else order
    together = np.cumsum(units[order])
    rare = int((units[order] < records.k).sum())
    number = max(rare, int(np.searchsorted(together, records.k)) + 1)
    if number >= len(order) or together[number - 1] > MERGED * records.number:
        return None
    sizes = np.bincount(column.shown, minlength=column.sizes[0])
    return int(sizes[order[:number]].max()) + 1


def rare_values(records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
    """Yield a finding for each insensitive or sensitive column with values of few units or households."""
    for column in records.having(Role.INSENSITIVE, Role.SENSITIVE):
        units = records.holders_in(column.shown.astype(np.int64), column.sizes[0])
        rare = (units < records.k)[column.shown] & column.present
        number = records.units_of(rare)
        if records.number and number > threshold * records.number:
            yield Finding(Kind.RARE_VALUES, (column.name,), number, number / records.number, threshold)
