"""Units that published quasi-identifiers and insensitive columns single out together."""

from __future__ import annotations

from collections.abc import Iterator

from anonymizer.exposure.detector import Detector, Said, as_known, named
from anonymizer.exposure.finding import Finding, Kind, Remedy
from anonymizer.exposure.records import ReleasedColumn, ReleasedRecords
from anonymizer.model.table import Role

MOSTLY = 0.95
"""Share of the units singled out by all columns that the named ones must single out."""


class SingledOut(Detector):
    """Units that are alone with what acquaintances see of them."""

    kind = Kind.SINGLED_OUT
    setting = "unique"
    mended = 3
    says = "singles out {share}"
    public = True

    def find(self, records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
        yield from singled_out(records, threshold)

    def sentence(self, finding: Finding, said: Said) -> str:
        beside = f" and {named(finding.columns)}" if finding.columns else ""
        return f"{said.of} are unique by their published quasi-identifiers{beside}"

    def remedy(self, finding: Finding, records: ReleasedRecords) -> Remedy:
        """Return what mends a finding: the columns that are left single out no more than the threshold."""
        if not finding.columns:
            return Remedy("generalize the quasi-identifiers")
        beside, others, alone = _beside(records)
        kept: list[ReleasedColumn] = []
        for each in sorted(others, key=lambda each: (each.name in finding.columns, alone[each.name])):
            number = records.units_of(records.in_small([beside, *kept, each], 2))
            if number <= finding.threshold * records.number:
                kept.append(each)
        named = {each.name for each in others if each not in kept} | set(finding.columns)
        return as_known([each for each in alone if each in named])


def _beside(records: ReleasedRecords) -> tuple[ReleasedColumn, list[ReleasedColumn], dict[str, int]]:
    """Return the quasi-identifiers as one, what else is seen, and whom each of that singles out with them."""
    others = [each for each in records.seen if each.role is Role.INSENSITIVE]
    beside = records.together([each for each in records.seen if each.role is Role.QUASI_IDENTIFIER])
    alone = {each.name: records.units_of(records.in_small([beside, each], 2)) for each in others}
    return beside, others, alone


def singled_out(records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
    """Yield the finding of units that are alone, with the insensitive columns that do it.

    Where sensitive values are published for groups, somebody who finds a record learns insensitive ones only.
    Columns are named in the order of what each does beside the quasi-identifiers, until they do nearly all.
    """
    if records.grouped and not records.having(Role.INSENSITIVE):
        return
    number = records.units_of(records.in_small([records.seen_together], 2))
    if not records.number or number <= threshold * records.number:
        return
    beside, others, alone = _beside(records)
    chosen: list[ReleasedColumn] = []
    for each in sorted(others, key=lambda each: -alone[each.name]):
        if records.units_of(records.in_small([beside, *chosen], 2)) >= MOSTLY * number:
            break
        chosen.append(each)
    names = tuple(each.name for each in chosen)
    yield Finding(Kind.SINGLED_OUT, names, number, number / records.number, threshold)
