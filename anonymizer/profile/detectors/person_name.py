"""Names of people."""

from __future__ import annotations

import re
import unicodedata

from anonymizer.model.table import ValueType
from anonymizer.profile.detectors.base import OFTEN, Detector, Finding, share
from anonymizer.profile.detectors.given_names import FAMILY_NAMES, GIVEN_NAMES
from anonymizer.profile.facts import ColumnFacts
from anonymizer.profile.words import names_any

NAME_TERMS = (
    *("name", "names", "firstname", "first name", "lastname", "last name", "surname", "forename", "fullname"),
    *("given name", "family name", "familyname", "middle name", "maiden name", "fname", "lname", "vorname"),
    *("nachname", "familienname", "nom", "prenom", "prénom", "nombre", "apellido", "apellidos", "cognome"),
    *("patient name", "contact", "next of kin", "spouse name", "doctor", "physician", "nome", "imie"),
)
_OF_OTHERS = (
    *("country", "city", "state", "region", "company", "hospital", "school", "product", "file", "brand"),
    *("drug", "disease", "department", "province", "county", "variable", "course", "sector", "street"),
)
_WORD = re.compile(r"[^\W\d_]+")
_LIKE_A_NAME = re.compile(r"[^\W\d_][^\W\d_'’.-]*([ ,]+[^\W\d_][^\W\d_'’.-]*\.?){1,3}")
FEW_NAMES = 10
NAMES_DISTINCT = 0.3


class PersonNames(Detector):
    """Given and family names, by lists of common ones, by the name of the column, or by their form."""

    name = "names of people"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Count the values that hold a common name; without any, those of two to four words that differ."""
        if column.type is not ValueType.TEXT:
            return None
        named = names_any(column.name, NAME_TERMS) and not names_any(column.name, _OF_OTHERS)
        known = share(column, _holds_name)
        few = column.distinct <= min(FEW_NAMES, column.present - 1)
        if few and not (named and known.value >= OFTEN):
            return None
        if known.value >= OFTEN or (named and known.value > 0.05):
            return Finding(self.name, f"{known} hold a common name", certain=named or known.value > 0.5)
        formed = share(column, _LIKE_A_NAME.fullmatch)
        if named and (formed.value >= OFTEN or column.distinctness >= NAMES_DISTINCT):
            return Finding(self.name, f"named as such, {column.distinct:,} different", certain=True)
        if formed.value >= 0.9 and column.distinctness >= NAMES_DISTINCT:
            return Finding(
                self.name, f"{formed} are two to four words, most of them different", certain=False
            )
        return None


def _holds_name(text: str) -> bool:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().casefold()
    words = _WORD.findall(plain)
    if not 1 <= len(words) <= 4 or any(character.isdigit() for character in plain):
        return False
    return words[0] in GIVEN_NAMES or words[-1] in GIVEN_NAMES or not FAMILY_NAMES.isdisjoint(words)
