"""E-mail addresses."""

from __future__ import annotations

import re

from anonymizer.profile.detectors.base import OFTEN, Detector, Finding, share
from anonymizer.profile.facts import ColumnFacts

_ADDRESS = re.compile(r"\s*(mailto:)?[^@\s,;]+@[^@\s,;]+\.[^\W\d_]{2,}\s*", re.IGNORECASE)


class EmailAddresses(Detector):
    """Texts of the form ``someone@host.domain``."""

    name = "e-mail addresses"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Count the values with one @ and a domain."""
        found = share(column, _ADDRESS.fullmatch)
        if found.value < OFTEN:
            return None
        return Finding(self.name, str(found), certain=True)
