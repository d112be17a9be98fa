"""Numbers and codes that stand for one person, household or record."""

from __future__ import annotations

import re

import numpy as np

from anonymizer.model.table import ValueType
from anonymizer.profile.detectors.base import MOSTLY, Detector, Finding, share
from anonymizer.profile.facts import ColumnFacts
from anonymizer.profile.words import names_any

_ANYWHERE = (
    *("identifier", "social security", "passport", "uuid", "guid", "username", "user name", "personnummer"),
    *("driving licence", "driver license", "license plate", "number plate", "national number", "nickname"),
)
_AT_THE_END = (
    *("id", "ids", "uid", "pid", "hid", "hhid", "nid", "rid", "rowid", "taxid", "ssn", "vin", "iccid", "mrn"),
    *("account", "licence", "license", "plate", "serial", "imei", "dni", "nif", "cpf", "login", "pseudonym"),
    *("acct", "token", "hash", "key", "kennung", "nummer", "seqn", "patient", "person", "customer"),
    *("respondent",),
)
_NUMBERED = ("no", "nr", "num", "number", "code", "ref", "reference", "index")
_FORMS = {
    "universally unique identifiers": re.compile(r"\{?[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}\}?", re.I),
    "social security numbers": re.compile(r"\d{3}-\d{2}-\d{4}"),
    "hashes": re.compile(r"[0-9a-f]{32,128}", re.I),
    "codes": re.compile(r"(?=.*\d)[A-Z0-9][A-Z0-9_./:#-]{3,}", re.I),
}
_ALL_DIFFER = 0.95
_MANY = 0.02
"""Distinct values per record from which on what is called an identifier is more than a classification."""

FEW_NUMBERS = 20
_DENSE = 1.2
"""Range of whole numbers per number up to which they count the records."""

_DIGITS = 6
"""Digits from which on whole numbers of one length, all different, are no amounts."""


class PersonNumbers(Detector):
    """Identifiers by their name, or by values that all differ and have one form."""

    name = "identification numbers"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Look at the name together with the number of values, then at the form of values that differ."""
        differ = f"{column.distinct:,} different values in {column.present:,} records"
        if column.distinct <= min(FEW_NUMBERS, column.present - 1):
            return None
        differing = column.distinctness >= _ALL_DIFFER
        named = names_any(column.name, _ANYWHERE) or _ends_or_begins(column.words)
        numbered = column.words[-1:] and column.words[-1] in _NUMBERED and differing
        if (named and column.distinctness >= _MANY) or numbered:
            return Finding(self.name, f"named as an identifier, {differ}", certain=True)
        form = self._form(column) if differing else None
        if form is None:
            return None
        return Finding(self.name, f"{form}, {differ}", certain=False)

    def _form(self, column: ColumnFacts) -> str | None:
        if column.type in (ValueType.INTEGER, ValueType.NUMBER):
            return self._whole_numbers(column)
        if column.type is not ValueType.TEXT:
            return None
        for what, form in _FORMS.items():
            found = share(column, form.fullmatch)
            if found.value >= MOSTLY:
                return f"{found} have the form of {what}"
        return None

    @staticmethod
    def _whole_numbers(column: ColumnFacts) -> str | None:
        numbers = column.numbers
        # Whole numbers with a missing one among them are often written as 100207.0.
        if not len(numbers) or not np.array_equal(numbers, np.trunc(numbers)):
            return None
        if float(np.ptp(numbers)) <= _DENSE * column.distinct:
            return "whole numbers that count the records"
        lengths = {len(f"{abs(number):.0f}") for number in numbers.tolist()}
        if len(lengths) == 1 and lengths.pop() >= _DIGITS and column.distinct == column.present:
            return "numbers of one length"
        return None


def _ends_or_begins(words: tuple[str, ...]) -> bool:
    return bool(words) and (words[-1] in _AT_THE_END or words[0] == "id")
