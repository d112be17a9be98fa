"""Values of few units, published as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from anonymizer.exposure.detector import Detector, Remedy, Said, as_role, named
from anonymizer.exposure.finding import Finding, Kind
from anonymizer.exposure.records import ReleasedRecords
from anonymizer.model.table import Role


class RareValues(Detector):
    """Values of few units."""

    kind = Kind.RARE_VALUES
    setting = "rare_values"
    public = True

    def find(self, records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
        """Yield what exceeds the threshold."""
        yield from rare_values(records, threshold)

    def sentence(self, finding: Finding, said: Said) -> str:
        """Return what was found."""
        return f"{named(finding.columns)} is released with values of fewer than {said.few}, in {said.of}"

    def remedy(self, finding: Finding, roles: Mapping[str, Role]) -> Remedy:
        """Return what mends a finding."""
        if any(roles.get(each) is Role.SENSITIVE for each in finding.columns):
            return Remedy(f"release {named(finding.columns)} in groups: give it a hierarchy and labels")
        return as_role(finding.columns, Role.DROP, "leave out {}, or release it in groups")


def rare_values(records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
    """Yield a finding for each insensitive or sensitive column with values of fewer than k units."""
    for column in records.having(Role.INSENSITIVE, Role.SENSITIVE):
        units = records.units_in(column.shown.astype(np.int64), column.sizes[0])
        rare = (units < records.k)[column.shown] & column.present
        number = records.units_of(rare)
        if records.number and number > threshold * records.number:
            yield Finding(Kind.RARE_VALUES, (column.name,), number, number / records.number, threshold)
