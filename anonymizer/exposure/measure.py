"""All findings about a release, and its verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from anonymizer.exposure.computed import Computed
from anonymizer.exposure.counted import CountedRelease
from anonymizer.exposure.detector import Detector
from anonymizer.exposure.finding import ROWS_ARE_PERSONS, Exposure, Finding, Kind, Remedy, by_harm
from anonymizer.exposure.predicts import Predicts
from anonymizer.exposure.rare_values import RareValues
from anonymizer.exposure.records import ReleasedRecords
from anonymizer.exposure.singled_out import SingledOut
from anonymizer.exposure.undone import Undone
from anonymizer.exposure.unit import UnitsTogether
from anonymizer.model.table import Role


class Thresholds(NamedTuple):
    """Shares that findings may reach; more is a finding."""

    unique: float = 0.05
    computed: float = 0.05
    undone: float = 0.05
    predicts: float = 0.95
    unit: float = 0.05
    rare_values: float = 0.0

    def of(self, detector: Detector) -> float:
        """Return the threshold of what a detector finds."""
        share: float = getattr(self, detector.setting)
        return share


def exposure_of(
    release: ReleasedRecords | CountedRelease, thresholds: Thresholds, acknowledged: Iterable[str] = ()
) -> Exposure:
    """Return what a release shows.

    If it is counted, its records are read only where a finding cannot be ruled out without them. Of records
    that were read from the release alone it is what that shows: the public kinds.

    Parameters
    ----------
    acknowledged: findings that were read, as ``Finding.names`` has them. Columns of ``singled-out`` are known
        to nobody outside, so that they are left out of what acquaintances see.
    """
    named = frozenset(acknowledged)
    unknown = {name.partition(":")[2] for name in named if name.startswith(f"{Kind.SINGLED_OUT}:")}
    records = replace(release.published, unknown=frozenset(unknown))
    if isinstance(release, ReleasedRecords):
        # What is known of its units is then computed once.
        release = records
    seen, least = records.seen_together, (2, records.k)
    every = records.together([seen, *records.having(Role.SENSITIVE)])
    unique, below = (records.units_of(records.in_small([seen], each)) for each in least)
    together = (records.units_of(records.in_small([every], each)) for each in least)
    detectors = [each for each in DETECTORS if each.public or not records.alone]
    found = (_found(own, release, records, thresholds.of(own)) for own in detectors)
    findings = by_harm([each for own in found for each in own])
    accepted = [each for each in findings if _is_acknowledged(each, named)]
    return Exposure(
        records.unit,
        records.number,
        records.k,
        unique,
        below,
        (next(together), next(together)),
        tuple(_mended(each, release, records) for each in findings if each not in accepted),
        tuple(accepted),
        _public(records, thresholds, findings),
        tuple(sorted(named - set(_occurred(records, thresholds, accepted)) - {ROWS_ARE_PERSONS})),
        tuple(each for each in (own.left_out(release) for own in detectors) if each is not None),
        tuple(each.name for each in records.seen if each.role is Role.INSENSITIVE),
        partial(_remedy_of_few, records, findings),
    )


def _found(
    detector: Detector, release: ReleasedRecords | CountedRelease, records: ReleasedRecords, threshold: float
) -> Iterable[Finding]:
    """Return what a detector finds in a release, or in what is published of it if it needs no more.

    Parameters
    ----------
    records: of the release, as they are published.
    """
    if detector.public:
        return detector.find(records, threshold)
    if isinstance(release, CountedRelease) and not detector.may_find(release, threshold):
        return ()
    return detector.find(release.whole, threshold)


def _remedy_of_few(records: ReleasedRecords, findings: Sequence[Finding]) -> Remedy | None:
    """Return what mends it that some units are alone, which are too few for a finding; None if none are."""
    if any(each.kind is Kind.SINGLED_OUT for each in findings):
        return None
    found = next(SingledOut().find(records, 0.0), None)
    return None if found is None else _mended(found, records, records).remedy


def _occurred(records: ReleasedRecords, thresholds: Thresholds, accepted: Iterable[Finding]) -> Iterator[str]:
    """Yield the names of findings that occur, those that are singled out with columns said to be unknown."""
    for each in accepted:
        yield from each.names
    if records.unknown:
        everything = replace(records, unknown=frozenset())
        if any(True for _ in SingledOut().find(everything, thresholds.unique)):
            insensitive = {each.name for each in records.having(Role.INSENSITIVE)}
            yield from (f"{Kind.SINGLED_OUT}:{name}" for name in records.unknown & insensitive)


DETECTORS: tuple[Detector, ...] = (
    SingledOut(),
    UnitsTogether(),
    Undone(),
    Computed(),
    Predicts(),
    RareValues(),
)
"""All that look at a release."""


def detector_of(kind: str) -> Detector:
    """Return what finds a kind."""
    return next(each for each in DETECTORS if each.kind == kind)


def _public(records: ReleasedRecords, own: Thresholds, found: Sequence[Finding]) -> dict[Kind, bool]:
    """Return whether each public kind exceeds its threshold, counting records, whoever they are of.

    Parameters
    ----------
    found: all findings, which count units.
    """
    public = [each for each in DETECTORS if each.public]
    again = public if records.units is not None else [each for each in public if each.counts_households]
    if again and (records.units is not None or records.homes is not None):
        counted, kinds = replace(records, units=None, homes=None, keys={}), {each.kind for each in again}
        found = [each for each in found if each.kind not in kinds]
        found += [each for detector in again for each in detector.find(counted, own.of(detector))]
    kinds = {each.kind for each in found}
    return {each.kind: each.kind in kinds for each in public}


def _mended(finding: Finding, release: ReleasedRecords | CountedRelease, records: ReleasedRecords) -> Finding:
    """Return a finding with its remedy; parameters are as for ``_found``."""
    detector = detector_of(finding.kind)
    remedy = detector.remedy(finding, records if detector.public else release.whole)
    types = {name: records.column(name).type for name in (*remedy.roles, *remedy.grouped)}
    return replace(finding, remedy=replace(remedy, types=types))


def _is_acknowledged(finding: Finding, named: frozenset[str]) -> bool:
    """Return whether a finding was read; one of singled-out units is of the columns that are left."""
    return finding.kind is not Kind.SINGLED_OUT and any(each in named for each in finding.names)
