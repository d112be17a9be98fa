"""Which ready-made hierarchy the values of a column belong to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from anonymizer.hierarchy.draw import NO_COLUMN
from anonymizer.hierarchy.ready import normalized, read_ready, ready_names
from anonymizer.model.table import ValueType
from anonymizer.profile.facts import ColumnFacts
from anonymizer.profile.words import names_any

TERMS = {
    "age": ("age", "iage", "alter", "edad"),
    "blood-type": ("blood", "blutgruppe"),
    "country": ("country", "nation", "native", "citizen", "citizenship", "nationality", "origin", "land"),
    "education": ("education", "degree", "school", "schooling", "qualification", "educ", "studies"),
    "employment-status": ("workclass", "employment", "employed", "work status", "class of worker"),
    "icd10": ("icd", "icd10", "diagnosis", "diagnosis code", "cause of death"),
    "industry": ("industry", "sector", "nace", "branch"),
    "language": ("language", "tongue", "lang", "sprache"),
    "marital-status": ("marital", "married", "civil status", "partnership"),
    "occupation": ("occupation", "profession", "job", "isco", "beruf"),
    "postal-code": ("zip", "zipcode", "zip code", "postal", "postal code", "postcode", "post code", "plz"),
    "race-ethnicity": ("race", "irace", "ethnic", "ethnicity", "hispanic"),
    "relationship-to-head": ("relationship", "relation", "relat", "household position"),
    "religion": ("religion", "religious", "faith", "denomination", "konfession"),
    "sex": ("sex", "isex", "gender", "geschlecht"),
    "us-state": ("state", "statenum", "istatenum", "us state"),
}
"""What columns are called whose values a ready-made hierarchy is for."""

OPAQUE = re.compile(r"\W*\w{0,3}\W*")
"""Values so short that they could stand for anything."""

ENOUGH = 0.8
"""Share of the distinct values that must have a place."""


@dataclass(frozen=True)
class Match:
    """A ready-made hierarchy that suits a column.

    Attributes
    ----------
    name: of the hierarchy.
    placed: distinct values that have a place.
    values: distinct values.
    named: whether the name of the column suits it too.
    """

    name: str
    placed: int
    values: int
    named: bool


def match_listed(column: ColumnFacts) -> Match | None:
    """Return the ready-made hierarchy that lists the most values of a column, None if none lists enough.

    A hierarchy of short codes, which may stand for anything, has to suit the name of the column as well.
    """
    if not column.whole or not column.texts or column.type in (ValueType.NUMBER, ValueType.DATE):
        return None
    opaque = sum(OPAQUE.fullmatch(text) is not None for text in column.texts) * 2 > len(column.texts)
    found = [_match(name, column) for name in _shipped()]
    fitting = [each for each in found if each is not None and (each.named or not opaque)]
    return max(fitting, key=lambda each: (each.named, each.placed, each.name), default=None)


@cache
def _shipped() -> list[str]:
    """Return the names of the shipped hierarchies; their folder is not read again for every column."""
    return ready_names()


def named_for(column: ColumnFacts, ready: str) -> bool:
    """Tell whether a column is named as those that a ready-made hierarchy is for."""
    return names_any(column.name, TERMS[ready])


def _match(name: str, column: ColumnFacts) -> Match | None:
    places = _places(name)
    least = ENOUGH * len(column.texts)
    if len(places) < least:
        return None
    placed = sum(text in places or normal in places for text, normal in column.spellings)
    if not placed or placed < least:
        return None
    named = name in TERMS and named_for(column, name)
    return Match(name, placed, len(column.texts), named)


@lru_cache(maxsize=64)
def _places(name: str) -> frozenset[str]:
    """Return every spelling that a listed hierarchy places; nothing for one that is made by a rule."""
    ready = read_ready(name)
    if ready.hierarchy.rule_built:
        return frozenset()
    tree = ready.hierarchy.build(NO_COLUMN, ready.folder)
    leaves = [label for level, label in tree if level == 0]
    return frozenset((*leaves, *map(normalized, leaves), *ready.aliases))
