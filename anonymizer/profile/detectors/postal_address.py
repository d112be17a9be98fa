"""Postal addresses."""

from __future__ import annotations

import re

from anonymizer.model.table import ValueType
from anonymizer.profile.detectors.base import MOSTLY, OFTEN, Detector, Finding, share
from anonymizer.profile.facts import ColumnFacts
from anonymizer.profile.words import names_any

ADDRESS_TERMS = (
    "address",
    "street",
    "addr",
    "strasse",
    "straße",
    "adresse",
    "anschrift",
    "direccion",
    "house number",
)
_BEFORE = re.compile(r"\s*\d{1,5}[a-z]?,?\s+[^\W\d_][^\d]{2,}.*", re.IGNORECASE)
_AFTER = re.compile(r"[^\W\d_][^\d,]{2,},?\s\d{1,5}\s?[a-z]?(\s*,.*)?", re.IGNORECASE)
ADDRESSES_DISTINCT = 0.3
FEW_ADDRESSES = 20


class PostalAddresses(Detector):
    """Streets with house numbers."""

    name = "postal addresses"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Count the values with a number before or after words."""
        if column.type is not ValueType.TEXT or column.distinct <= FEW_ADDRESSES:
            return None
        named = names_any(column.name, ADDRESS_TERMS) and not names_any(
            column.name, ("ip", "mac", "mail", "email")
        )
        found = share(column, lambda text: _BEFORE.fullmatch(text) or _AFTER.fullmatch(text))
        if found.value < (OFTEN if named else MOSTLY) or (
            not named and column.distinctness < ADDRESSES_DISTINCT
        ):
            return None
        return Finding(self.name, str(found), certain=named)
