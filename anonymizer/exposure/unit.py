"""Columns that put the records of a household, an employer or another unit together again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from anonymizer.exposure.detector import Detector, Said, as_known, named
from anonymizer.exposure.finding import Finding, Kind, Remedy
from anonymizer.exposure.records import ReleasedColumn, ReleasedRecords
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray, group_rows
from anonymizer.model.table import Role

CONSTANT = 0.99
"""Share of the units with several records in which a column must have one value."""


class UnitsTogether(Detector):
    """Records that are put together with those of their unit again."""

    kind = Kind.UNIT
    setting = "unit"

    def find(self, records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
        """Yield what exceeds the threshold."""
        yield from units_together(records, threshold)

    def sentence(self, finding: Finding, said: Said) -> str:
        """Return what was found."""
        return f"{named(finding.columns)} put {said.number} records together again by '{finding.about}'"

    def remedy(self, finding: Finding, records: ReleasedRecords) -> Remedy:
        """Return what mends a finding: classes with k units, of all columns that the units share."""
        own = [each for each in finding.columns if records.column(each).role is Role.INSENSITIVE]
        secret = [each for each in finding.columns if records.column(each).role is Role.SENSITIVE]
        count = f"count k by '{finding.about}', too"
        known = as_known(own, f"{count}, and make {{}}") if own else Remedy(count)
        return replace(known, grouped=dict.fromkeys(secret), counted=finding.about)


def units_together(records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
    """Yield a finding for each key that the release leaves out and its columns restore."""
    for name, key in records.keys.items():
        given = np.flatnonzero(key >= 0)
        unit = np.unique(key[given], return_inverse=True)[1].astype(np.int64)
        several = (np.bincount(unit) > 1)[unit]
        if not several.any():
            continue
        constant = [each for each in records.columns if _is_constant(each.shown[given], unit, several)]
        back = _restored(constant, given, unit, several)
        number = int(back.sum())
        if number > threshold * records.records:
            alone = {each.name: int(_restored([each], given, unit, several).sum()) for each in constant}
            names = _chosen(constant, alone, number, (given, unit, several))
            yield Finding(Kind.UNIT, names, number, number / records.records, threshold, name)


def _is_constant(shown: CodeArray, unit: IntArray, several: BoolArray) -> bool:
    """Return whether a column has one value in nearly all units with several records, and two in all."""
    size = int(shown.max(initial=0)) + 1
    pairs = np.unique(unit[several] * size + shown[several]) // size
    values = np.bincount(pairs)
    return bool((values[values > 0] == 1).mean() >= CONSTANT and len(np.unique(shown)) > 1)


def _restored(
    columns: list[ReleasedColumn], given: IntArray, unit: IntArray, several: BoolArray
) -> BoolArray:
    """Return which records share their values with all others of their unit and with nobody else."""
    groups, number = group_rows(((each.shown[given], each.sizes[0]) for each in columns), len(given))
    pairs = np.unique(groups * (int(unit.max()) + 1) + unit)
    units = np.bincount(pairs // (int(unit.max()) + 1), minlength=number)
    groups_of = np.bincount(pairs % (int(unit.max()) + 1))
    back: BoolArray = several & (units[groups] == 1) & (groups_of[unit] == 1)
    return back


def _chosen(
    columns: list[ReleasedColumn],
    alone: Mapping[str, int],
    number: int,
    where: tuple[IntArray, IntArray, BoolArray],
) -> tuple[str, ...]:
    """Return the columns that restore most, until they restore nearly all."""
    chosen: list[ReleasedColumn] = []
    for each in sorted(columns, key=lambda each: -alone[each.name]):
        if chosen and _restored(chosen, *where).sum() >= CONSTANT * number:
            break
        chosen.append(each)
    return tuple(each.name for each in chosen)
