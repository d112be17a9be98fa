"""The words in the name of a column, and what they say about it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_LONG = 5
"""Letters from which on a word is looked for inside longer ones, as in ``iinjury``."""


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column's name, in lower case.

    >>> words_of("dateOfBirth"), words_of("marital-status"), words_of("HTTPCode2")
    (('date', 'of', 'birth'), ('marital', 'status'), ('http', 'code', '2'))
    """
    return tuple(part.casefold() for part in _PARTS.findall(name))


def names_any(name: str, terms: Iterable[str]) -> bool:
    """Tell whether a column's name holds a term: as its words in a row, or inside a word where it is long.

    >>> names_any("ihispanic", ["hispanic"]), names_any("language", ["age"]), names_any("E-Mail", ["e mail"])
    (True, False, True)
    """
    words = words_of(name)
    spaced, joined = f" {' '.join(words)} ", "".join(words)
    return any(
        f" {term} " in spaced or (len(term) >= _LONG and term.replace(" ", "") in joined) for term in terms
    )


PERSONAL = (
    *("age", "iage", "sex", "isex", "gender", "race", "irace", "ethnic", "hispanic", "skin"),
    *("birth", "birthday", "born", "death", "country", "nation", "native", "citizen", "origin"),
    *("city", "town", "village", "county", "region", "province", "district", "state", "statenum", "urban"),
    *("zip", "zipcode", "postal", "postcode", "plz", "residence", "marital", "married", "civil", "hhcivil"),
    *("education", "school", "degree", "study", "language", "occupation", "profession", "job", "employer"),
    *("workclass", "employment", "industry", "sector", "relationship", "relat", "children", "household"),
    *("family", "height", "eye", "hair", "date", "admission", "discharge", "alter", "geschlecht", "beruf"),
)
"""What others commonly know of a person."""

HEALTH = (
    *("diagnosis", "diagnose", "diagnoses", "disease", "illness", "icd", "icd10", "symptom", "condition"),
    *("treatment", "therapy", "medication", "medicine", "medical", "drug", "hiv", "aids", "cancer", "tumor"),
    *("injury", "disability", "disabled", "health", "pregnant", "pregnancy", "mental", "psychiatric"),
    *("addiction", "genetic", "genome", "surgery", "vaccination", "virus", "blood pressure", "cholesterol"),
    *("bmi", "smoker", "smoking", "alcohol", "krankheit", "befund"),
)
MONEY = (
    *("income", "salary", "wage", "wages", "earning", "earnings", "pay", "payment", "debt", "loan"),
    *("credit", "balance", "savings", "expend", "expenditure", "expenses", "tax", "wealth", "assets"),
    *("capital gain", "capital loss", "capitalgain", "capitalloss", "pension", "benefit", "benefits", "rent"),
    *("mortgage", "gehalt", "einkommen", "lohn", "salaire", "fedtax", "statetax", "taxinc", "revenue"),
)
CONDUCT = (
    *("crime", "criminal", "offence", "offense", "conviction", "convicted", "arrest", "sentence", "verdict"),
    *("fraud", "violation", "grade", "score", "rating", "performance", "evaluation", "complaint"),
)
BELIEF = (
    *("religion", "religious", "faith", "denomination", "politics", "political", "party", "vote", "voting"),
    *("union member", "trade union", "sexual", "orientation", "sexuality", "belief", "opinion"),
)
SENSITIVE = {"health": HEALTH, "money": MONEY, "conduct or results": CONDUCT, "beliefs": BELIEF}
"""What people do not want others to learn, by its subject."""
