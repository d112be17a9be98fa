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
    public = True

    def find(self, records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
        """Yield what exceeds the threshold."""
        yield from singled_out(records, threshold)

    def sentence(self, finding: Finding, said: Said) -> str:
        """Return what was found."""
        beside = f" and {named(finding.columns)}" if finding.columns else ""
        return f"{said.of} are unique by their published quasi-identifiers{beside}"

    def remedy(self, finding: Finding, records: ReleasedRecords) -> Remedy:  # noqa: ARG002 - of any records
        """Return what mends a finding."""
        if not finding.columns:
            return Remedy("generalize the quasi-identifiers")
        return as_known(finding.columns)


def singled_out(records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
    """Yield the finding of units that are alone, with the insensitive columns that do it.

    Where sensitive values are published for groups, somebody who finds a record learns insensitive ones only.
    Columns are named in the order of what each does beside the quasi-identifiers, until they do nearly all.
    """
    seen = records.seen
    if records.grouped and not records.having(Role.INSENSITIVE):
        return
    number = records.units_of(records.in_small([records.seen_together], 2))
    if not records.number or number <= threshold * records.number:
        return
    known = [each for each in seen if each.role is Role.QUASI_IDENTIFIER]
    others = [each for each in seen if each.role is Role.INSENSITIVE]
    beside = records.together(known)
    alone = {each.name: records.units_of(records.in_small([beside, each], 2)) for each in others}
    chosen: list[ReleasedColumn] = []
    for each in sorted(others, key=lambda each: -alone[each.name]):
        if records.units_of(records.in_small([beside, *chosen], 2)) >= MOSTLY * number:
            break
        chosen.append(each)
    names = tuple(each.name for each in chosen)
    yield Finding(Kind.SINGLED_OUT, names, number, number / records.number, threshold)
