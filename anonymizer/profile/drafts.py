"""Hierarchies drafted for quasi-identifiers: the first draft that suits a column is taken."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from anonymizer.model.table import ValueType
from anonymizer.profile.dates import date_form
from anonymizer.profile.facts import ColumnFacts
from anonymizer.profile.ready_match import match_listed, named_for
from anonymizer.profile.widths import widths_of

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
    return Draft(None, "as it is, or *", ValueType.TEXT if numbers else None)


def _neighbours(column: ColumnFacts) -> Draft | None:
    """Group a few whole numbers with their neighbours, however frequent they are."""
    if column.type is not ValueType.INTEGER or column.distinct > SOME:
        return None
    sizes = [2] if column.distinct <= 4 else [2, 4]
    return Draft({"order": {"sizes": sizes}}, "few numbers, neighbours together")


def _intervals(column: ColumnFacts) -> Draft | None:
    if column.distinct <= SOME:
        return None
    widths = widths_of(column)
    if not widths:
        return None
    return Draft({"intervals": {"width": widths}}, f"intervals from {widths[0]} to {widths[-1]} wide")


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
    reason = "groups of neighbouring values by how frequent they are, named by their ends"
    known = column.type is not ValueType.TEXT or (column.whole and min(n for _, n in column.values) >= RARE)
    if known:
        return Draft({"auto": {}}, reason)
    return Draft({"auto": {"rare": RARE}}, f"{reason}, texts of fewer than {RARE} records by their beginning")


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
