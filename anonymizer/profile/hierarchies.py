"""Hierarchies drafted for quasi-identifiers: the first draft that fits a column.

Drafts are matching ready-made hierarchies, intervals of suitable widths and others. A draft fits a column
if a run could build it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Decimal
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from anonymizer.config.attribute import HierarchySettings
from anonymizer.data.relation import Relation
from anonymizer.data.table import ColumnRequest, read_columns
from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.draw import NO_COLUMN
from anonymizer.hierarchy.placement import Placement, Unknown, place
from anonymizer.hierarchy.ready import division_code, normalized, read_ready, ready_names
from anonymizer.model.dates import ISO, PIVOT, DateFormat, DateReading, skeleton
from anonymizer.model.labels import MISSING, are_bands, in_natural_order
from anonymizer.model.table import Hierarchy, ValueType
from anonymizer.profile.column_statistics import ColumnFacts, names_any, uneven_codes
from anonymizer.profile.hierarchy_files import HierarchyFile
from anonymizer.profile.knowledge import (
    PLACE,
    SMALL_PLACES,
    UNORDERED,
    Words,
    plain,
    split_terms,
    subject_of,
    terms_of,
    thing_of,
    without_number,
    word_lists,
    words_of,
)

SHARED = ("employment-status",)
"""Hierarchies with words that others use too: schools are private and public like employers."""

OPAQUE = re.compile(r"\W*\w{0,3}\W*")
"""Values so short that they could mean anything."""

ENOUGH = 0.8
"""Minimum share of the distinct values with a place in the hierarchy."""


@dataclass(frozen=True)
class Match:
    """A ready-made hierarchy that fits a column.

    Attributes
    ----------
    name: of the hierarchy.
    placed: number of distinct values with a place.
    values: number of distinct values.
    named: whether the name of the column fits too.
    """

    name: str
    placed: int
    values: int
    named: bool


def match_listed(column: ColumnFacts) -> Match | None:
    """Return the ready-made hierarchy that lists the most values of a column; None if none lists enough.

    For short codes, which could mean anything, the name of the column has to fit too.
    """
    if not column.whole or not column.texts or column.type in (ValueType.NUMBER, ValueType.DATE):
        return None
    opaque = sum(OPAQUE.fullmatch(text) is not None for text in column.texts) * 2 > len(column.texts)
    found = [_match(name, column) for name in _shipped()]
    fitting = [
        each
        for each in found
        if each is not None
        and (not opaque or _names_codes(column, each) or (each.name in _CODED and _are_codes(column)))
    ]
    return max(fitting, key=lambda each: (each.named, each.placed, each.name), default=None)


_CODED = ("country", "us-state")
"""Hierarchies with codes of their own, of two or three capitals."""

MANY_CODES = 8
"""Minimum number of such codes that need no name: fewer could mean anything."""


def _are_codes(column: ColumnFacts) -> bool:
    capitals = all(text.isascii() and text.isalpha() and text.isupper() for text in column.texts)
    return column.distinct >= MANY_CODES and capitals


@cache
def _shipped() -> list[str]:
    """Return the names of the shipped hierarchies; cached, to read their folder once."""
    return ready_names()


def named_for(column: ColumnFacts, ready: str) -> bool:
    """Return whether the name of a column fits a ready-made hierarchy."""
    return _names(column, "ready hierarchies", ready)


def _names(column: ColumnFacts, what: str, ready: str) -> bool:
    """Return whether the name of a column has a word that a list of ``words.yaml`` has for a hierarchy."""
    return names_any(column.name, map(plain, split_terms(word_lists()[what].get(ready, ""))))


def _names_codes(column: ColumnFacts, match: Match) -> bool:
    """Return whether the name of a column says that its short values are codes of a hierarchy."""
    if not all(text.isdigit() for text in column.texts):
        return match.named
    return match.named and _names(column, "coded hierarchies", match.name)


def _match(name: str, column: ColumnFacts) -> Match | None:
    if read_ready(name).codes:
        return _match_codes(name, column)
    places = _places(name)
    least = ENOUGH * len(column.texts)
    if len(places) < least:
        return None
    placed = sum(text in places or normal in places for text, normal in column.spellings)
    if not placed or placed < least:
        return None
    named = named_for(column, name)
    if name in SHARED and not named and len(column.texts) <= FEW:
        return None
    return Match(name, placed, len(column.texts), named)


def _match_codes(name: str, column: ColumnFacts) -> Match | None:
    """Return whether a column has codes of a hierarchy: only its name distinguishes them from other numbers.

    If all codes are divisions, their titles say more.
    """
    places = _places(name)
    found = [division_code(text) for text in column.texts]
    codes = [each for each in found if each is not None and each[0] in places]
    deeper = any(division != group for division, group in codes)
    if not deeper or len(codes) < ENOUGH * len(column.texts) or not named_for(column, name):
        return None
    return Match(name, len(codes), len(column.texts), named=True)


@lru_cache(maxsize=64)
def _places(name: str) -> frozenset[str]:
    """Return every spelling that a hierarchy lists; empty for a rule."""
    ready = read_ready(name)
    if ready.hierarchy.rule_built:
        return frozenset()
    tree = ready.hierarchy.build(NO_COLUMN, ready.folder)
    leaves = [label for level, label in tree if level == 0]
    return frozenset((*leaves, *map(normalized, leaves), *ready.aliases))


INTERVALS = 32
"""Approximate number of the narrowest intervals in the middle of a column."""

LEVELS = 5
"""Levels of intervals, each twice as wide as the one before; the widest are half of the middle."""

TAIL = 0.01
"""Share of the records at either end that is outside of the middle."""

TOO_FULL = 0.6
"""Maximum share of the records in one narrowest interval, without the most frequent value."""


def widths_of(column: ColumnFacts) -> list[Decimal]:
    """Return the widths of nested intervals; empty if intervals of equal width do not fit a column.

    The narrowest is 1, 2 or 5 times a power of ten, of whole numbers at least 5.
    """
    if not len(column.numbers):
        return []
    low, high = _middle(column)
    if not high > low:
        return []
    narrowest = nice((high - low) / INTERVALS)
    if column.type is ValueType.INTEGER:
        narrowest = max(narrowest, Decimal(5))
    few = column.type is ValueType.INTEGER and column.distinct <= SOME
    if few or _fullest(column, float(narrowest)) > TOO_FULL:
        return []
    widths = [narrowest * 2**level for level in range(LEVELS)]
    return [width for width in widths if width < high - low] or widths[:1]


def _middle(column: ColumnFacts) -> tuple[float, float]:
    """Return the ends of a column of numbers without its tails."""
    upto = np.cumsum(column.weights) / column.weights.sum()
    low, high = (float(column.numbers[np.searchsorted(upto, share)]) for share in (TAIL, 1 - TAIL))
    return low, high


def nice(width: float) -> Decimal:
    """Return a width rounded up to 1, 2 or 5 times a power of ten.

    >>> [str(nice(width)) for width in (0.03, 1.0, 3.1, 70)]
    ['0.05', '1', '5', '100']
    """
    exact = Decimal(repr(width))
    power = Decimal(1).scaleb(exact.adjusted())
    steps = (exact / power).quantize(Decimal("1.000"), rounding=ROUND_CEILING)
    found = next(step for step in (1, 2, 5, 10) if step >= steps) * power
    return Decimal(int(found)) if found == found.to_integral_value() else found.normalize()


def _fullest(column: ColumnFacts, width: float, origin: float = 0) -> float:
    """Return the largest share of records in one interval, without the most frequent value."""
    weights = column.weights.copy()
    weights[int(np.argmax(weights))] = 0
    others = int(weights.sum())
    _, place = np.unique(np.floor((column.numbers - origin) / width), return_inverse=True)
    return float(np.bincount(place, weights).max()) / others if others else 0.0


OLDEST = 125
"""Maximum age in years."""

FEW, SOME = 3, 12
"""Maximum numbers of distinct values for a hierarchy of value and *, and for intervals of two and four."""

SMALL = 60
"""Largest of the numbers from 0 or 1 on that have intervals of five, but for codes in the tail."""

SIZES_OF_PLACES = Words("*popul*, size, density, number, num, n, count")
"""Words in names of columns with numbers of places that are no codes."""

LARGE = 50
"""Minimum number of records of a place below a region that is published; also one per cent of all."""

LARGEST_CODE = 999
"""Largest number that is a code of a place rather than a size."""

SIZES_OF_PLACES = Words("*popul*, size, density, number, num, n, count")
"""Words in names of columns with numbers of places that are no codes."""

CYCLES = {(1, 12): (3, 6), (0, 23): (3, 6, 12), (1, 24): (3, 6, 12), (0, 59): (5, 10, 30)}
"""Widths that divide months, hours and minutes, by the first and the last."""

DAYS, DAY = 31, ("day", "mday", "dom", "tag", "jour", "dia", "giorno")
"""Days of a month, and words for one in names of columns."""

RARE = 10
"""Minimum number of records of a text that names of groups show: others could be names of people."""

LONGEST_CODE = 12
"""Maximum number of characters of a code."""

_COMMA = re.compile(r"[+-]?\d+(?:[.]\d{3})*(?:,\d+)?")
_CODE = re.compile(r"[^\W_]*\d[\w./-]*")


@dataclass(frozen=True)
class Draft:
    """A hierarchy for a column.

    Attributes
    ----------
    hierarchy: its settings; None for value and * only.
    reason: its description.
    type: that the column must be declared as; None for the detected type.
    further: other settings of the column.
    question: for a person who knows the data; empty without one.
    """

    hierarchy: Mapping[str, Any] | None = field(hash=False)
    reason: str
    type: ValueType | None = None
    further: Mapping[str, Any] = field(default_factory=dict, hash=False)
    question: str = ""


def drafts(column: ColumnFacts) -> Iterator[Draft]:
    """Yield the hierarchies for a column, the best first; the last one fits every column."""
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
    if column.dates is not None and column.dates.strange:
        return _nearly_dates(column)
    if column.type is not ValueType.DATE or column.distinct <= FEW:
        return None
    if column.dates is not None and column.dates.ambiguous:
        return _ambiguous_dates(column, column.dates)
    dates = date_format(column)
    periods = _periods(column, dates)
    if not periods:
        return None
    written = f" written as {dates}" if dates.forms else ""
    shortest = "year" if periods == list(_COARSE) else periods[0]
    reason = f"dates{written}, by {periods[0]}" + ("" if shortest == periods[0] else f" and {shortest}")
    questions = []
    if any("%y" in form for form in dates.forms):
        years = f"years of two digits: 00 to {dates.pivot:02d} are read as 20.., others as 19..; see pivot"
        questions.append(years)
    if column.dates is not None and column.dates.others:
        others = " and ".join(map(str, column.dates.others))
        questions.append(
            f"day or month first? {others} fits all values, too; other columns of dates have this order"
        )
    return Draft({"date": {"levels": periods}}, reason, None, date_settings(dates), "; ".join(questions))


_COARSE = ("month", "quarter", "year", "decade")


def _periods(column: ColumnFacts, dates: DateFormat) -> list[str]:
    """Return the levels above the dates of a column."""
    moments = [moment.text for moment in map(dates.read, column.texts) if moment is not None]
    longest = max(map(len, moments), default=0)
    if longest > len("2014-05-13"):
        return ["day", *_dividing(moments)]
    finer = {len("2014"): 3, len("2014-05"): 1}
    return [period for period in _COARSE[finer.get(longest, 0) :] if period in _dividing(moments)]


def _dividing(moments: Sequence[str]) -> list[str]:
    """Return the periods of which dates have several: a label of all dates says no more than ``*``.

    >>> _dividing(["2014-05-13", "2014-07-01"]), _dividing(["1999-12-31", "2000-01-01"])
    (['month', 'quarter'], ['month', 'quarter', 'year', 'decade'])
    """
    months = {_month(moment) for moment in moments}
    several = {
        "month": len(months),
        "quarter": len({(year, (month - 1) // 3) for year, month in months}),
        "year": len({year for year, _ in months}),
        "decade": len({year // 10 for year, _ in months}),
    }
    return [period for period in _COARSE if several[period] > 1]


def _month(moment: str) -> tuple[int, int]:
    """Return the year and the month of a moment; a week, as in 2014-W07, is near the month of its number.

    >>> _month("2014-05-13"), _month("2014-W07"), _month("2014")
    ((2014, 5), (2014, 2), (2014, 1))
    """
    year, part = int(moment[:4]), moment[5:7]
    return (year, int(part or 1)) if part.isdigit() or not part else (year, 1 + int(moment[6:8]) * 12 // 54)


def date_format(column: ColumnFacts) -> DateFormat:
    """Return the format of the dates of a column, with the pivot of two-digit years."""
    if column.dates is None:
        return ISO
    dates = column.dates.format
    if not any("%y" in form for form in dates.forms):
        return dates
    moments = map(dates.read, column.texts)
    return replace(dates, pivot=_pivot({int(each.text[2:4]) for each in moments if each is not None}))


def _pivot(years: Collection[int]) -> int:
    """Return the largest two-digit year of the 21st century: years turn before the longest unused stretch.

    It is at most the default.

    >>> _pivot({1, 9, 25, 66, 99}), _pivot({1, 9, 60, 99}), _pivot({12, 13, 14}), _pivot(range(30, 99))
    (65, 59, 68, 29)
    """
    known = sorted(years)
    gap, after = max((high - low, high) for low, high in pairwise([*known, known[0] + 100]))
    if after < 100 and gap > 1:
        return min(after - 1, PIVOT)
    return PIVOT if known[-1] <= PIVOT or known[0] > PIVOT else known[0] - 1


def date_settings(dates: DateFormat) -> dict[str, Any]:
    """Return the settings of a column that declare the format of its dates."""
    if not dates.forms:
        return {}
    pivot = {"pivot": dates.pivot} if any("%y" in form for form in dates.forms) else {}
    return {"format": dates.forms[0] if len(dates.forms) == 1 else list(dates.forms), **pivot}


def _ambiguous_dates(column: ColumnFacts, dates: DateReading) -> Draft:
    """Return the draft of the years that all readings of dates share; of ``*`` alone if they share none."""
    years = [[moment and moment.text[:4] for moment in map(way.read, column.texts)] for way in dates.ways]
    agreed = all(own == years[0] for own in years)
    question = (
        f"day or month first? {' and '.join(map(str, dates.ways))} fit all values; set the right format, add "
        "month to the levels and remove levels.min"
    )
    fixed = {"levels": {"min": 1}}
    if not agreed:
        reason = "dates that share no year: * until you decide"
        return Draft(None, reason, ValueType.TEXT, fixed, question)
    periods = {"date": {"levels": list(_COARSE[2:])}}
    reason = "dates, by year until you decide"
    return Draft(periods, reason, None, {**date_settings(dates.format), **fixed}, question)


def _nearly_dates(column: ColumnFacts) -> Draft:
    """Return the draft of value and * for a column of dates and a few other texts."""
    assert column.dates is not None
    number = len(column.dates.strange)
    written = " or ".join(map(str, column.dates.ways))
    question = (
        f"{number:,} of {column.distinct:,} values cannot be read as dates like the others, {written}: "
        "if they mean that a date is missing, list them in input.missing and set type: date, format: "
        f"{written}, hierarchy: {{date: {{}}}}"
    )
    return Draft(None, "unchanged, or *", ValueType.TEXT, question=question)


_POSTAL = re.compile(
    r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z][ -]?\d[A-Z]\d|\d{4} ?[A-Z]{2}|〒?\d{3}-\d{4}"
    r"|\d{5}-\d{3,4}|\d{2}-\d{3}|\d{4}-\d{3}|\d{3} \d{2}"
)
"""Forms of postal codes that hardly anything else has: of the United Kingdom, Canada, the Netherlands, Japan,
Brazil and the United States, Poland, Portugal, and of Czechia, Slovakia, Sweden and Greece."""

_ISO_REGION = re.compile(r"([A-Z]{2})-[A-Z0-9]{1,3}")

POSTAL_CODES, REGIONS = "postal codes", "codes of regions by ISO 3166-2"


def place_form(column: ColumnFacts) -> str | None:
    """Return what kind of codes of places a column has by their form; None if another."""
    if column.type is not ValueType.TEXT or column.distinct <= FEW:
        return None
    least = ENOUGH * len(column.texts)
    postal = sum(_POSTAL.fullmatch(text.strip()) is not None for text in column.texts)
    zeros = any(text.startswith("0") for text in column.texts)
    digits = all(len(text) == FIVE and text.isascii() and text.isdigit() for text in column.texts)
    if postal >= least or (digits and zeros):
        return POSTAL_CODES
    countries = _places("country")
    found = (_ISO_REGION.fullmatch(text.strip()) for text in column.texts)
    return (
        REGIONS
        if sum(each is not None and normalized(each[1]) in countries for each in found) >= least
        else None
    )


FIVE = 5
"""Digits of a postal code in many countries; one that begins with zero is no number."""


def _postal_code(column: ColumnFacts) -> Draft | None:
    named = named_for(column, "postal-code") or place_form(column) == POSTAL_CODES
    if not named or column.distinct <= FEW or column.type is ValueType.NUMBER:
        return None
    if not FEW <= max(map(len, column.texts)) <= LONGEST_CODE:
        return None
    longest = max(map(len, column.texts))
    area = {"levels": {"min": longest // 2}}
    return Draft(
        {"ready": "postal-code"},
        "postal codes, masked from the right, areas only",
        ValueType.TEXT,
        area,
        uneven_codes(column.texts),
    )


def _place(column: ColumnFacts) -> Draft | None:
    """Return the draft of frequent places, or races and the like: neighbouring codes have nothing in common.

    Of places below a region, only those of many records are published.
    """
    coded = column.type.numeric
    unordered = subject_of(column.name) is PLACE or (coded and _names_code(column))
    if not unordered or column.distinct <= FEW or SIZES_OF_PLACES.fit(column.name):
        return None
    if coded and not np.array_equal(column.numbers, np.trunc(column.numbers)):
        return None
    if coded and column.numbers[-1] > LARGEST_CODE:
        if not _names_code(column):
            return None
        lengths = {len(text) for text in column.texts}
        if len(lengths) == 1:
            return Draft({"mask": {"from": "right"}}, "codes, masked from the right", ValueType.TEXT)
    kind = ValueType.TEXT if coded else None
    if not SMALL_PLACES.fit(column.name):
        reason = "codes without an order, the rarer ones merged into one"
        return Draft({"frequency": {}}, reason, kind) if coded else None
    least = max(LARGE, column.rows // 100)
    reason = f"places of at least {least:,} records, the others merged into one"
    return Draft({"frequency": {"rare": least}}, reason, kind, {"levels": {"min": 1}})


def _names_code(column: ColumnFacts) -> bool:
    """Return whether the name of a column with numbers is that of codes without an order."""
    if UNORDERED.fit(column.name):
        return True
    thing = thing_of(column.name)
    numbered = without_number(column.name) != " ".join(words_of(column.name))
    return thing in ("a county", "a tract") or (thing is not None and numbered)


def _few(column: ColumnFacts) -> Draft | None:
    return _flat(column) if column.distinct <= FEW else None


def _flat(column: ColumnFacts) -> Draft:
    """Return the draft of value and * only; numbers are declared as text, because they are codes."""
    numbers = column.type.numeric and column.distinct <= FEW
    return Draft(None, "unchanged, or *", ValueType.TEXT if numbers else None)


def _day_of_month(column: ColumnFacts) -> Draft | None:
    if column.type is not ValueType.INTEGER or not column.whole or column.distinct <= SOME:
        return None
    first, last = column.numbers[0], column.numbers[-1]
    if first < 1 or last > DAYS or ((first, last) != (1, DAYS) and not names_any(column.name, DAY)):
        return None
    return Draft({"ready": "day-of-month"}, "ready hierarchy: day-of-month")


def _intervals(column: ColumnFacts) -> Draft | None:
    if column.type is not ValueType.INTEGER and column.distinct <= SOME:
        return None
    origin, widths = _natural(column) or (0, widths_of(column))
    widths = [width for width in widths if not _in_one(column, origin, float(width))]
    if not widths:
        return None
    if column.type is ValueType.INTEGER and column.numbers[0] < 0:
        origin = -int(widths[-1])  # the same intervals, all labelled like those below zero
    reason = f"intervals of width {widths[0]}" + (f" to {widths[-1]}" if widths[1:] else "")
    if not origin:
        return Draft({"intervals": {"width": widths}}, reason)
    start = f", starting at {origin}" if origin > 0 else ""
    return Draft({"intervals": {"width": widths, "origin": origin}}, f"{reason}{start}")


def _in_one(column: ColumnFacts, origin: int, width: float) -> bool:
    """Return whether one interval has all numbers, so that its label says no more than ``*``."""
    first, last = np.floor((column.numbers[[0, -1]] - origin) / width)
    return bool(first == last)


def _natural(column: ColumnFacts) -> tuple[int, list[Decimal]] | None:
    """Return where intervals of few or small whole numbers start, and their widths; None for others.

    Numbers that start at 1, such as months and grades, have intervals that start at 1.
    """
    if column.type is not ValueType.INTEGER or not column.whole or not column.distinct:
        return None
    first, last = int(column.numbers[0]), int(column.numbers[-1])
    origin = 1 if first == 1 else 0
    if (first, last) in CYCLES:
        widths: tuple[int, ...] = CYCLES[first, last]
    elif column.distinct <= SOME and last - first < 2 * SOME:
        widths = (2,) if column.distinct <= 4 else (2, 4)
    elif first in (0, 1) and column.distinct > SOME and _middle(column)[1] <= SMALL:
        widths = (5, 10, 20)
    else:
        return None
    if column.distinct > SOME and _fullest(column, widths[0], origin) > TOO_FULL:
        return None
    return origin, [Decimal(width) for width in widths]


@cache
def calendar_words() -> tuple[frozenset[str], ...]:
    """Return the words of the scales of months and of days of the week."""
    scales = (scale for scale in _ranks() if "january" in scale or "monday" in scale)
    return tuple(map(frozenset, scales))


@cache
def _ranks() -> list[dict[str, int]]:
    """Return the rank of each word of every scale."""
    return [
        {spelled(word): rank for rank, words in enumerate(scale) for word in split_terms(words)}
        for scale in word_lists()["scales"]
    ]


def spelled(text: str) -> str:
    """Return the words of a text as words of scales are compared."""
    return " ".join(words_of(text))


def ordered_by_meaning(texts: Sequence[str]) -> list[str] | None:
    """Return the words of a scale in its order, without answers such as "unknown"; None for other texts.

    >>> ordered_by_meaning(["High", "Low", "Medium", "Very_High", "unknown"])
    ['Low', 'Medium', 'High', 'Very_High']
    """
    outside = terms_of("no answer")
    ranked = {text: words for text in texts if (words := spelled(text)) not in outside}
    for scale in _ranks():
        if scale.keys() >= set(ranked.values()) and len({scale[word] for word in ranked.values()}) >= FEW:
            return sorted(ranked, key=lambda text: (scale[ranked[text]], text))
    return None


def _scale(column: ColumnFacts) -> Draft | None:
    """Return the draft of groups of neighbouring words of a scale."""
    values = ordered_by_meaning(column.texts) if column.type is ValueType.TEXT and column.whole else None
    if values is None:
        return None
    complete = len(values) == column.distinct
    sizes = [size for size in (2, 4, 8) if size < len(values)]
    unknown = {} if complete else {"unknown": "top"}
    reason = "neighbours in the order of their meaning"
    return Draft(
        {"order": {"sizes": sizes, "values": values}, **unknown},
        reason if complete else f"{reason}; the other answers go to *",
    )


def _decimal_comma(column: ColumnFacts) -> Draft | None:
    """Return the draft of value and * only for numbers with commas: ranges of texts would be wrong."""
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
    # Masks would cut numbers of different lengths, as in 2.9 and 2.10, at different places.
    shapes, lengths = {skeleton(text) for text in column.texts}, {len(text) for text in column.texts}
    if (len(shapes) == 1 < len(lengths)) or are_bands(column.texts):
        return None
    return Draft({"mask": {"from": "right"}}, "codes, masked from the right")


def _auto(column: ColumnFacts) -> Draft:
    if column.type.numeric:
        return Draft({"auto": {}}, "neighbouring values grouped by frequency, between round bounds")
    rare = column.type is ValueType.TEXT and not (
        column.whole and min(number for _, number in column.values) >= RARE
    )
    if column.type is ValueType.TEXT and not are_bands(column.texts) and (rare or not _numbered(column)):
        return Draft({"frequency": {}}, "rare values merged into one; each level merges more of them")
    reason = "neighbouring values grouped by frequency, named by first and last value"
    if not rare:
        return Draft({"auto": {}}, reason)
    return Draft(
        {"auto": {"rare": RARE}},
        f"{reason}; texts with fewer than {RARE} records are shown by a shared prefix",
    )


def _numbered(column: ColumnFacts) -> bool:
    """Return whether most texts have digits, so that neighbours have something in common."""
    return 2 * sum(any(map(str.isdigit, text)) for text in column.texts) > len(column.texts)


_KINDS: tuple[Callable[[ColumnFacts], Draft | None], ...] = (
    _ready,
    _age,
    _day_of_month,
    _date,
    _postal_code,
    _few,
    _place,
    _scale,
    _intervals,
    _decimal_comma,
    _code,
    _auto,
)

WIDEST = 20_000
"""Maximum number of distinct values for which a draft is built as a test; wider columns get rules only."""

FINE: Mapping[str, Any] = {"auto": {"rare": RARE}}
"""Groups of two to four neighbouring numbers, and open end groups."""

COARSE: Mapping[str, Any] = {"auto": {"levels": 2, "rare": RARE}}
"""About as many groups of numbers as each has values."""

MOST_IN_BANDS = 300_000
"""Maximum number of distinct values that are put in groups: a run takes 7 s and 0.5 GB for as many."""


NARROWEST = 0.01
"""Minimum width of a group of numbers, by the range of the column without its tails."""

STEP = 5
"""Records by which the size of groups grows, at least, until none of them is too narrow."""

FEWEST_BANDS = 4
"""Minimum number of groups that a column has records for."""


def records_of_bands(column: ColumnFacts) -> int:
    """Return how many records a group of numbers needs to be no narrower than ``NARROWEST`` of the range.

    A value that is frequent by itself may be a group of its own.
    """
    numbers = column.numbers
    if len(numbers) <= FEWEST_BANDS:
        return RARE
    low, high = _middle(column)
    # The records of a sample of the values stand for all.
    scale = column.present / max(int(column.weights.sum()), 1)
    upto = np.concatenate(([0.0], np.cumsum(column.weights) * scale))
    least, most = RARE, column.present // FEWEST_BANDS
    while (more := least + max(STEP, least // 20 * STEP)) <= most:
        last = np.searchsorted(upto, upto[:-1] + least)
        several = (last <= len(numbers)) & (last > np.arange(len(numbers)) + 1)
        ends = np.append(numbers, np.inf)[np.minimum(last, len(numbers))]
        widths = (ends - numbers)[several]
        if not len(widths) or widths.min() >= NARROWEST * (high - low):
            break
        least = more
    return least


NO_FILES: Mapping[str, HierarchyFile] = MappingProxyType({})


class HierarchyDrafter:
    """Drafts hierarchies for the columns of a relation.

    Parameters
    ----------
    relation: open while this is in use.
    missing: texts of missing values.
    files: hierarchies of columns that lie beside the data.
    """

    def __init__(
        self, relation: Relation, missing: Sequence[str], files: Mapping[str, HierarchyFile] = NO_FILES
    ) -> None:
        self._relation = relation
        self._missing = tuple(missing)
        self._files = files
        self._used: set[str] = set()
        self._warnings: dict[str, str] = {}

    def draft(self, column: ColumnFacts) -> Draft:
        """Return the best draft that places every value of a column."""
        if column.name in self._files:
            draft = self._of_file(column, self._files[column.name])
            if draft is not None:
                return draft
        return next(draft for draft in drafts(column) if self._fits(column, draft))

    def warnings(self) -> list[str]:
        """Return why files beside the data are not used."""
        idle = [name for name in self._files if name not in self._used and name not in self._warnings]
        return [
            *self._warnings.values(),
            *(
                f"hierarchy file {self._files[name].path} is not used, as '{name}' is not a "
                "quasi-identifier; make it one with --qi"
                for name in idle
            ),
        ]

    def _of_file(self, column: ColumnFacts, file: HierarchyFile) -> Draft | None:
        """Return the hierarchy of a file; None with a warning if it is not a tree over the values."""
        refused = ""
        kinds = dict.fromkeys((None, ValueType.TEXT) if column.type is not ValueType.TEXT else (None,))
        for unknown in Unknown:
            more = {} if unknown is Unknown.ERROR else {"unknown": unknown.value}
            others = "" if unknown is Unknown.ERROR else "; values that it lacks go to *"
            for kind in kinds:
                draft = Draft({"file": file.path, **more}, f"hierarchy file {file.name}{others}", kind)
                try:
                    self._place(column, draft, file.folder)
                except HierarchyError as error:
                    refused = refused or str(error)
                else:
                    self._used.add(column.name)
                    return draft
        self._warnings[column.name] = f"{refused}; init drafts another one for '{column.name}'"
        return None

    def bands(self, column: ColumnFacts, numbers: Mapping[str, Any]) -> Draft | None:
        """Return a hierarchy whose first level can be released in place of the values; None if none fits.

        Parameters
        ----------
        numbers: the hierarchy of numbers.
        """
        draft = _date(column) if column.type is ValueType.DATE else None
        if column.type.numeric:
            wide = {"auto": {**numbers["auto"], "rare": records_of_bands(column)}}
            draft = Draft(wide, "groups between round bounds")
        if draft is None or draft.hierarchy is None or draft.question or column.distinct > MOST_IN_BANDS:
            return None
        if column.distinct > WIDEST:
            return draft
        tree = self._placed(column, draft)
        if tree is None or tree.height < 2:
            return None
        labels = (tree.labels[node] for node in tree.ancestors[1])
        groups = list(dict.fromkeys(label for label in labels if label != MISSING))
        return draft if groups == in_natural_order(groups, column.numerals.decimal) else None

    def _fits(self, column: ColumnFacts, draft: Draft) -> bool:
        known = draft.hierarchy is None or column.distinct > WIDEST
        return known or self._placed(column, draft) is not None

    def _placed(self, column: ColumnFacts, draft: Draft) -> Hierarchy | None:
        """Return the hierarchy of a draft; None if it does not place every value."""
        try:
            return self._place(column, draft, Path())
        except HierarchyError:
            return None

    def _place(self, column: ColumnFacts, draft: Draft, folder: Path) -> Hierarchy:
        """Return the hierarchy of a draft.

        Raises
        ------
        HierarchyError: it does not place every value.
        """
        assert draft.hierarchy is not None
        settings = HierarchySettings.model_validate(dict(draft.hierarchy))
        placement = Placement(folder, Unknown(settings.unknown.value), self._missing)
        dates = ISO if draft.type is not None else date_format(column)
        request = ColumnRequest(
            column.name, draft.type or column.type, column.numerals, dates, generalized=True
        )
        read = read_columns(self._relation, [request], self._missing)[column.name].column
        return place(read, settings.build(), placement)[0]
