"""Values of few units, published as they are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anonymizer.exposure.detector import Detector, Said, as_known, as_role, named
from anonymizer.exposure.finding import Finding, Kind, Remedy
from anonymizer.exposure.records import ReleasedColumn, ReleasedRecords
from anonymizer.model.table import Role

MERGED = 0.2
"""Largest share of units whose known texts are merged: beyond it, classes hide what is rare."""

MERGED_SECRETS = 0.9
"""Largest share of units whose sensitive texts are merged: of more, next to nothing is left to release."""


class RareValues(Detector):
    """Values of few units, or of few households."""

    kind = Kind.RARE_VALUES
    setting = "rare_values"
    mended = 5
    says = "rare values ({share})"
    public = True
    counts_households = True

    def find(self, records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
        yield from rare_values(records, threshold)

    def sentence(self, finding: Finding, said: Said) -> str:
        return f"{named(finding.columns)} is released with values of fewer than {said.few}, in {said.of}"

    def remedy(self, finding: Finding, records: ReleasedRecords) -> Remedy:
        """Return what mends a finding: groups of numbers; of texts, the rare ones become one."""
        column = records.column(finding.columns[0])
        if column.numbers is not None:
            return _in_groups(column, None)
        known = column.role is Role.INSENSITIVE
        least = _merged(records, column, MERGED if known else MERGED_SECRETS)
        if least is not None:
            return _in_groups(column, least)
        if known:
            return as_known(finding.columns)
        return as_role(
            finding.columns,
            Role.DROP,
            "release {} in groups: give it a hierarchy and labels, or leave it out",
        )


def _in_groups(column: ReleasedColumn, least: int | None) -> Remedy:
    return Remedy(f"release {named([column.name])} in groups", grouped={column.name: least})


def _merged(records: ReleasedRecords, column: ReleasedColumn, most: float) -> int | None:
    """Return the records of a value that stays, if rarer ones become one that is not rare.

    None if too much would be merged: units whose value is not the most frequent one of those.
    """
    units = records.holders_in(column.shown.astype(np.int64), column.sizes[0])
    order = np.argsort(units, kind="stable")
    order = order[units[order] > 0]
    order = order[order != column.absent] if column.absent is not None else order
    together = np.cumsum(units[order])
    rare = int((units[order] < records.k).sum())
    number = max(rare, int(np.searchsorted(together, records.k)) + 1)
    if number >= len(order) or together[number - 1] - units[order[number - 1]] > most * records.number:
        return None
    sizes = records.records_in(column.shown, column.sizes[0])
    return int(sizes[order[:number]].max()) + 1


def rare_values(records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
    """Yield a finding for each insensitive or sensitive column with values of few units or households."""
    for column in records.having(Role.INSENSITIVE, Role.SENSITIVE):
        units = records.holders_in(column.shown.astype(np.int64), column.sizes[0])
        rare = (units < records.k)[column.shown] & column.present
        number = records.units_of(rare)
        if records.number and number > threshold * records.number:
            yield Finding(Kind.RARE_VALUES, (column.name,), number, number / records.number, threshold)
