"""International bank account numbers."""

from __future__ import annotations

import re

from anonymizer.profile.detectors.base import OFTEN, Detector, Finding, share
from anonymizer.profile.facts import ColumnFacts

IBAN_FORM = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")


class BankAccounts(Detector):
    """IBANs (ISO 13616) whose check digits are right."""

    name = "bank account numbers"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Count the values with valid check digits."""
        found = share(column, is_iban)
        if found.value < OFTEN:
            return None
        return Finding(self.name, f"{found} have valid check digits", certain=True)


def is_iban(text: str) -> bool:
    """Tell whether a text is an IBAN, in groups or not: its digits, letters as 10 to 35, leave 1 modulo 97.

    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB83 WEST 1234 5698 7654 32")
    (True, False)
    """
    plain = re.sub(r"[\s-]", "", text).upper()
    if not IBAN_FORM.fullmatch(plain):
        return False
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(character, 36)) for character in turned)) % 97 == 1
