"""Columns that put the records of a household, an employer or another unit together again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from anonymizer.exposure.counted import CountedRelease
from anonymizer.exposure.detector import Detector, Said, as_known, named
from anonymizer.exposure.finding import Finding, Kind, Remedy
from anonymizer.exposure.records import ReleasedRecords
from anonymizer.model.arrays import (
    CodeArray,
    IntArray,
    constant_in_groups,
    group_rows,
)
from anonymizer.model.table import Role

CONSTANT = 0.99
"""Share of the units with several records in which a column must have one value."""

NEARLY = (CONSTANT, 0.95, 0.9)
"""Shares tried in turn: a column that a few units contradict may tell the others apart."""


class UnitsTogether(Detector):
    """Records that are put together with those of their unit again."""

    kind = Kind.UNIT
    setting = "unit"
    mended = 1
    says = "puts records of one {about} together ({share})"
    says_about = "its records are put together by {by} ({share})"

    def find(self, records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
        yield from units_together(records, threshold)

    def may_find(self, release: CountedRelease, threshold: float) -> bool:  # noqa: ARG002 - of any
        """Return False: it names no units."""
        return False

    def sentence(self, finding: Finding, said: Said) -> str:
        return f"{named(finding.columns)} put {said.number} records together again by '{finding.about}'"

    def remedy(self, finding: Finding, records: ReleasedRecords) -> Remedy:
        """Return what mends a finding: classes with k units, of all columns that the units share."""
        columns = [records.column(each) for each in finding.columns]
        own = [each.name for each in columns if each.role is Role.INSENSITIVE]
        secret = [each.name for each in columns if each.role is Role.SENSITIVE and each.has_groups]
        count = f"count k by '{finding.about}', too"
        known = as_known(own, f"{count}, and make {{}}") if own else Remedy(count)
        return replace(known, grouped=dict.fromkeys(secret), counted=finding.about)


def units_together(records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
    """Yield a finding for each key that the release leaves out and its columns restore."""
    for name, key in records.keys.items():
        given = np.flatnonzero(key >= 0)
        unit = np.unique(key[given], return_inverse=True)[1].astype(np.int64)
        if not (np.bincount(unit) > 1).any():
            continue
        number, constant = _constant({each.name: each.shown[given] for each in records.columns}, unit)
        if number > threshold * records.records:
            names = _chosen(constant, unit, number)
            yield Finding(Kind.UNIT, names, number, number / records.records, threshold, name)


def _constant(shown: Mapping[str, CodeArray], unit: IntArray) -> tuple[int, dict[str, CodeArray]]:
    """Return how many records columns constant in their units put together again at most, and which."""
    shares = {name: constancy(codes, unit) for name, codes in shown.items() if len(np.unique(codes)) > 1}
    tried: dict[tuple[str, ...], int] = {}
    for least in NEARLY:
        names = tuple(name for name, share in shares.items() if share >= least)
        if names not in tried:
            tried[names] = together_again((shown[name] for name in names), unit)
    best = max(tried, key=lambda names: tried[names])
    return tried[best], {name: shown[name] for name in best}


def are_constant(codes: IntArray | CodeArray, unit: IntArray) -> bool:
    """Return whether nearly all units with several records have one code each.

    Parameters
    ----------
    codes, unit: of each record, shape (records,), none negative; some unit has several records.
    """
    return constancy(codes, unit) >= CONSTANT


def constancy(codes: IntArray | CodeArray, unit: IntArray) -> float:
    """Return the share of the units with several records that have one code each.

    Parameters
    ----------
    codes, unit: of each record, shape (records,), none negative; some unit has several records.
    """
    several = np.bincount(unit) > 1
    return float(constant_in_groups(unit, codes)[several].mean())


def together_again(columns: Iterable[IntArray | CodeArray], unit: IntArray) -> int:
    """Return how many records share their codes with others of their unit, and with nobody else.

    Parameters
    ----------
    columns: codes of each record, shape (records,) each, none negative.
    unit: of each record, shape (records,), int64, none negative.
    """
    coded = ((own, int(own.max(initial=0)) + 1) for own in columns)
    groups, number = group_rows(coded, len(unit))
    found = constant_in_groups(groups, unit, number) & (np.bincount(groups, minlength=number) > 1)
    return int(found[groups].sum())


def _chosen(columns: Mapping[str, CodeArray], unit: IntArray, number: int) -> tuple[str, ...]:
    """Return the columns that restore most, until they restore nearly all."""
    alone = {name: together_again([own], unit) for name, own in columns.items()}
    chosen: list[str] = []
    for name in sorted(columns, key=lambda name: -alone[name]):
        if chosen and together_again([columns[each] for each in chosen], unit) >= CONSTANT * number:
            break
        chosen.append(name)
    return tuple(chosen)
