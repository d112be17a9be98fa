"""Telephone numbers."""

from __future__ import annotations

import re

from anonymizer.model.table import ValueType
from anonymizer.profile.detectors.base import MOSTLY, OFTEN, Detector, Finding, share
from anonymizer.profile.facts import ColumnFacts
from anonymizer.profile.words import names_any

PHONE_TERMS = (
    *("phone", "telephone", "phonenumber", "tel", "telefon", "telefono", "telefonnummer", "telephon"),
    *("mobile", "mobil", "handy", "cell", "cellphone", "fax", "msisdn", "whatsapp", "movil"),
)
PHONE_FORM = re.compile(r"\s*(\+|00)?[ ]?(\(?\+?\d{1,5}\)?[ ./-]?){2,7}\d{1,6}\s*((x|ext\.?)\s?\d{1,6})?\s*")
_DATE = re.compile(r"\s*\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\s*")
_SOCIAL_SECURITY = re.compile(r"\d{3}-\d{2}-\d{4}")
_FEWEST, _MOST = 7, 15
PHONES_DISTINCT = 0.5
"""Distinct numbers per record from which on a column of digits alone is no classification."""


class PhoneNumbers(Detector):
    """Seven to fifteen digits (ITU-T E.164) with the signs that people put between them."""

    name = "telephone numbers"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Count the values of that form; plain digits need a name that says so, or a leading zero."""
        named = names_any(column.name, PHONE_TERMS)
        found = share(column, _is_phone if named else _is_written_phone)
        if found.value < (OFTEN if named else MOSTLY):
            return None
        if not named and (column.type is not ValueType.TEXT or column.distinctness < PHONES_DISTINCT):
            return None
        return Finding(self.name, str(found), certain=named)


def _is_phone(text: str) -> bool:
    digits = sum(character.isdigit() for character in text)
    return (
        _FEWEST <= digits <= _MOST
        and PHONE_FORM.fullmatch(text) is not None
        and _DATE.fullmatch(text) is None
        and _SOCIAL_SECURITY.fullmatch(text) is None
    )


def _is_written_phone(text: str) -> bool:
    """Tell whether a text could hardly be anything else than a telephone number."""
    stripped = text.strip()
    parts = re.findall(r"\d+", stripped)
    dialled = stripped.startswith(("+", "00", "0", "(")) or stripped.startswith("1-")
    local = len(parts) == 3 and [len(part) for part in parts] == [3, 3, 4]
    return (dialled or local) and (len(parts) > 1 or stripped[0] in "+0") and _is_phone(stripped)
