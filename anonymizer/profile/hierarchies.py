"""Hierarchies drafted for quasi-identifiers: the first draft that suits a column is taken.

A draft is a matching ready-made hierarchy, or intervals of suitable widths. It suits a column if it can be
built for it as a run would build it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.config.attribute import HierarchySettings
from anonymizer.data.relation import Relation
from anonymizer.data.table import ColumnRequest, read_columns
from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.draw import NO_COLUMN
from anonymizer.hierarchy.placement import Placement, Unknown, place
from anonymizer.hierarchy.ready import normalized, read_ready, ready_names
from anonymizer.model.table import ValueType
from anonymizer.profile.column_statistics import ColumnFacts, names_any
from anonymizer.profile.detection import date_form

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


INTERVALS = 32
"""Narrowest intervals that the middle of a column is divided into, about."""

LEVELS = 5
"""Levels of intervals, each twice as wide as the one before, so that the widest are half of the middle."""

TAIL = 0.01
"""Share of the records at either end that does not decide about the widths."""

TOO_FULL = 0.6
"""Share of the other records beside the most frequent value that one narrowest interval may hold."""


def widths_of(column: ColumnFacts) -> list[Decimal]:
    """Return the widths of nested intervals, none where intervals of equal width do not suit a column.

    The narrowest is 1, 2 or 5 times a power of ten.
    """
    numbers, weights = column.numbers, column.weights
    if not len(numbers):
        return []
    upto = np.cumsum(weights) / weights.sum()
    low, high = (float(numbers[np.searchsorted(upto, share)]) for share in (TAIL, 1 - TAIL))
    if not high > low:
        return []
    narrowest = nice((high - low) / INTERVALS)
    if column.type is ValueType.INTEGER:
        narrowest = max(narrowest, Decimal(2))
    if _fullest(column, float(narrowest)) > TOO_FULL:
        return []
    return [narrowest * 2**level for level in range(LEVELS)]


def nice(width: float) -> Decimal:
    """Return the smallest of 1, 2, 5 times a power of ten that is no smaller.

    >>> [str(nice(width)) for width in (0.03, 1.0, 3.1, 70)]
    ['0.05', '1', '5', '100']
    """
    exact = Decimal(repr(width))
    power = Decimal(1).scaleb(exact.adjusted())
    steps = (exact / power).quantize(Decimal("1.000"), rounding=ROUND_CEILING)
    found = next(step for step in (1, 2, 5, 10) if step >= steps) * power
    return Decimal(int(found)) if found == found.to_integral_value() else found.normalize()


def _fullest(column: ColumnFacts, width: float) -> float:
    """Return the largest share of records in one interval, the most frequent value left out."""
    weights = column.weights.copy()
    weights[int(np.argmax(weights))] = 0
    others = int(weights.sum())
    _, place = np.unique(np.floor(column.numbers / width), return_inverse=True)
    return float(np.bincount(place, weights).max()) / others if others else 0.0


OLDEST = 125
"""Years of age that people reach at most."""

FEW, SOME = 3, 12
"""Values up to which nothing lies between value and *, and up to which whole numbers are grouped in order."""

RARE = 10
"""Records below which the names of groups do not show a text: it could be somebody's name."""

LONGEST_CODE = 12
"""Characters that a code has at most."""

_COMMA = re.compile(r"[+-]?\d+(?:[.]\d{3})*(?:,\d+)?")
_CODE = re.compile(r"[^\W_]*\d[\w./-]*")


@dataclass(frozen=True)
class Draft:
    """A hierarchy for a column.

    Attributes
    ----------
    hierarchy: its settings; None for the value and * alone.
    reason: what it is, and why it suits.
    type: that the column has to be declared as; None for the type that it has.
    """

    hierarchy: Mapping[str, Any] | None = field(hash=False)
    reason: str
    type: ValueType | None = None


def drafts(column: ColumnFacts) -> Iterator[Draft]:
    """Yield the hierarchies that suit a column, the best first; the last one suits every column."""
    for kind in _KINDS:
        draft = kind(column)
        if draft is not None:
            yield draft
    yield _flat(column)


def _ready(column: ColumnFacts) -> Draft | None:
    match = match_listed(column)
    if match is None:
        return None
    if match.placed == match.values:
        return Draft({"ready": match.name}, f"ready hierarchy: {match.name}")
    reason = f"ready hierarchy: {match.name} ({match.placed} of {match.values} values; the others go to *)"
    return Draft({"ready": match.name, "unknown": "top"}, reason)


def _age(column: ColumnFacts) -> Draft | None:
    if column.type is not ValueType.INTEGER or not column.whole or not named_for(column, "age"):
        return None
    if column.distinct <= SOME or column.numbers[0] < 0 or column.numbers[-1] > OLDEST:
        return None
    return Draft({"ready": "age"}, "ready hierarchy: age")


def _date(column: ColumnFacts) -> Draft | None:
    form = date_form(column)
    if form is None or column.distinct <= FEW:
        return None
    return Draft(form.hierarchy, "dates, by month and year")


def _postal_code(column: ColumnFacts) -> Draft | None:
    if not named_for(column, "postal-code") or column.distinct <= FEW or column.type is ValueType.NUMBER:
        return None
    if not FEW <= max(map(len, column.texts)) <= LONGEST_CODE:
        return None
    return Draft({"ready": "postal-code"}, "postal codes, masked from the right", ValueType.TEXT)


def _few(column: ColumnFacts) -> Draft | None:
    return _flat(column) if column.distinct <= FEW else None


def _flat(column: ColumnFacts) -> Draft:
    """Return nothing between value and *; numbers are then codes, of which no interval makes sense."""
    numbers = column.type in (ValueType.INTEGER, ValueType.NUMBER) and column.distinct <= FEW
    return Draft(None, "unchanged, or *", ValueType.TEXT if numbers else None)


def _neighbours(column: ColumnFacts) -> Draft | None:
    """Group a few whole numbers with their neighbours, however frequent they are."""
    if column.type is not ValueType.INTEGER or column.distinct > SOME:
        return None
    sizes = [2] if column.distinct <= 4 else [2, 4]
    return Draft({"order": {"sizes": sizes}}, "few distinct numbers, grouped with their neighbours")


def _intervals(column: ColumnFacts) -> Draft | None:
    if column.distinct <= SOME:
        return None
    widths = widths_of(column)
    if not widths:
        return None
    return Draft({"intervals": {"width": widths}}, f"intervals of width {widths[0]} to {widths[-1]}")


def _decimal_comma(column: ColumnFacts) -> Draft | None:
    """Give no ranges in the order of texts to what are numbers to its reader."""
    if column.type is not ValueType.TEXT or column.distinct <= SOME:
        return None
    if not any("," in text for text in column.texts) or not all(map(_COMMA.fullmatch, column.texts)):
        return None
    return Draft(None, "numbers with commas, read as text: see the warning above")


def _code(column: ColumnFacts) -> Draft | None:
    if column.type is not ValueType.TEXT or column.distinct <= SOME:
        return None
    if not all(len(text) <= LONGEST_CODE and _CODE.fullmatch(text) for text in column.texts):
        return None
    return Draft({"mask": {"from": "right"}}, "codes, masked from the right")


def _auto(column: ColumnFacts) -> Draft:
    reason = "neighbouring values grouped by frequency, named by first and last value"
    known = column.type is not ValueType.TEXT or (column.whole and min(n for _, n in column.values) >= RARE)
    if known:
        return Draft({"auto": {}}, reason)
    return Draft(
        {"auto": {"rare": RARE}},
        f"{reason}; texts with fewer than {RARE} records are shown by a shared prefix",
    )


_KINDS: tuple[Callable[[ColumnFacts], Draft | None], ...] = (
    _ready,
    _age,
    _date,
    _postal_code,
    _few,
    _neighbours,
    _intervals,
    _decimal_comma,
    _code,
    _auto,
)

WIDEST = 20_000
"""Distinct values up to which a hierarchy is built; the drafts for wider columns are made by rules alone."""


class HierarchyDrafter:
    """Drafts hierarchies for the columns of a relation.

    Parameters
    ----------
    relation: open as long as this is in use.
    missing: texts that stand for a missing value.
    """

    def __init__(self, relation: Relation, missing: Sequence[str]) -> None:
        self._relation = relation
        self._missing = tuple(missing)

    def draft(self, column: ColumnFacts) -> Draft:
        """Return the best draft that places every value of a column."""
        return next(draft for draft in drafts(column) if self._fits(column, draft))

    def _fits(self, column: ColumnFacts, draft: Draft) -> bool:
        if draft.hierarchy is None or column.distinct > WIDEST:
            return True
        settings = HierarchySettings.model_validate(dict(draft.hierarchy))
        placement = Placement(Path(), Unknown(settings.unknown.value), self._missing)
        request = ColumnRequest(column.name, draft.type or column.type, column.numerals)
        read = read_columns(self._relation, [request], self._missing)[column.name].column
        try:
            place(read, settings.build(), placement)
        except HierarchyError:
            return False
        return True
