"""The grammar of published values: how each form is written, read back, sorted and explained.

A form is one object: ``20-24``, ``[20, 22.5)``, ``65+``, ``{a, b}``, ``2014-Q1``, ``01**`` and so on.
Hierarchies and algorithms ask it for labels, adversaries and audits what a label covers, and the legend of a
release for an example and its meaning. A new form is a new object here.

Values of the input may already be bands, such as ``80-89``, ``under 5`` and ``65 and over``. Texts are sorted
by the numbers in them, and consecutive bands have one label from their ends.

Columns of numbers stand in place of the labels of intervals: a midpoint, or both ends. Within the program a
released interval has one label. It is written as one or two numbers at the very end, and read back before
anything is counted. Labels are ``24.5`` for a midpoint or a single value, ``[20, 29]`` for both ends,
``..19`` and ``20..`` where one is open.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, inf, nextafter
from typing import Any, NamedTuple, TypeVar

from anonymizer.model.dates import Moment
from anonymizer.model.identity import text_identity

MISSING = "<missing>"
"""Label of missing values in releases and hierarchies."""

SUPPRESSED = "*"
"""Label of suppressed values, and of the root of hierarchies."""

UNKNOWN = (SUPPRESSED, MISSING)
"""Labels that are released as empty fields among numbers."""

_LARGEST_EXPONENT = 400
"""Above the exponents of 64-bit numbers; larger ones would take long to compute with."""


def exact(plain: str) -> Fraction | None:
    """Return the number of a text with a decimal point; None if it is not a finite number."""
    try:
        number = Decimal(plain)
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > _LARGEST_EXPONENT:
        return None
    return Fraction(number)


def number_text(number: Fraction) -> str | None:
    """Return the text of a number as all engines write it; None if 64 bits do not hold it exactly.

    >>> number_text(Fraction(49, 2)), number_text(Fraction(20)), number_text(Fraction(10**20 + 1))
    ('24.5', '20', None)
    """
    try:
        text = repr(float(number)).removesuffix(".0")
    except OverflowError:
        return None
    return text if exact(text) == number else None


@dataclass(frozen=True)
class Form:
    """A form of published values.

    Attributes
    ----------
    example: a published value, or several.
    meaning: of the example.
    """

    example: str
    meaning: str


N = TypeVar("N", float, Fraction)

Ends = tuple[str, str, bool]
"""Lower and upper end of a range as texts, empty for an open one, and whether the upper one belongs to it."""


@dataclass(frozen=True)
class RangeForm(Form, ABC):
    """A range of numbers or dates, by its ends.

    Attributes
    ----------
    plain: what an end looks like in the labels of a hierarchy of numbers, where other texts are names.
    """

    plain = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?")

    @abstractmethod
    def write(self, low: str, high: str) -> str:
        """Return the label of a range."""

    @abstractmethod
    def ends(self, label: str) -> Iterator[Ends]:
        """Yield the ends that a label may have, the likeliest first; nothing for a label of another form."""

    def read(
        self, label: str, number: Callable[[str], N | None], *, plain: bool = False
    ) -> tuple[N | None, N | None, bool] | None:
        """Return the ends of a label, None for an open one, and whether the upper end belongs to it.

        None for a label of another form, or whose ends are not numbers in order.

        Parameters
        ----------
        number: returns the number of a text, None if it is not a number.
        plain: whether every end must look like a number of a hierarchy.
        """
        for low, high, closed in self.ends(label):
            given = [end for end in (low, high) if end]
            if plain and not all(self.plain.fullmatch(end) for end in given):
                continue
            known = [found for end in given if (found := number(end)) is not None]
            if given and len(known) == len(given) and known[0] <= known[-1]:
                return known[0] if low else None, known[-1] if high else None, closed
        return None


@dataclass(frozen=True)
class _Between(RangeForm):
    """Both ends around a word; the upper one is included."""

    word: str
    end: str = ".+"

    def write(self, low: str, high: str) -> str:
        return f"{low}{self.word}{high}"

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(f"({self.end}){re.escape(self.word)}({self.end})")

    def ends(self, label: str) -> Iterator[Ends]:
        found = self._pattern.fullmatch(label)
        if found is not None:
            yield found[1], found[2], True


class _WholeNumbers(_Between):
    plain = re.compile("-?[0-9]+")


@dataclass(frozen=True)
class _Brackets(RangeForm):
    """Both ends in brackets; a decimal comma has no blank after it."""

    closing: str

    def write(self, low: str, high: str) -> str:
        return f"[{low}, {high}{self.closing}"

    def ends(self, label: str) -> Iterator[Ends]:
        if label.startswith("[") and label.endswith(self.closing):
            for comma in reversed([*re.finditer("(?<=[^[]), ?(?=..)", label)]):
                yield label[1 : comma.start()], label[comma.end() : -1], self.closing == "]"


class _OpenEnded(RangeForm):
    """One end; hierarchies of others also have ``<=20`` and ``>=65``."""

    def write(self, low: str, high: str) -> str:
        return f"{low}+" if low else f"<{high}"

    def up_to(self, high: str) -> str:
        """Return the label of the numbers up to one that is included."""
        return f"<={high}"

    def ends(self, label: str) -> Iterator[Ends]:
        if label.startswith("<"):
            closed = label.startswith("<=")
            yield "", label[1 + closed :], closed
        elif label.startswith(">=") or label.endswith("+"):
            yield label.removeprefix(">=").removesuffix("+"), "", True


WHOLE = _WholeNumbers("20-24", "whole numbers from 20 to 24, both included", "-", "-?[^-]+")
SIGNED = _WholeNumbers("-5 to -1", "whole numbers from -5 to -1, where there are numbers below zero", " to ")
HALF_OPEN = _Brackets("[20, 22.5)", "numbers from 20 up to, but without, 22.5", ")")
CLOSED = _Brackets("[20, 24]", "values from 20 to 24, both included", "]")
OPEN = _OpenEnded("<20, 65+", "numbers below 20; 65 and all above")
DATES = _Between("2024-01-31..2024-05-02", "a date from the first to the second, both included", "..", ".*")
SPAN = _Between("a..f", "a, f and all values between them in their order", "..", ".*")

RANGES: tuple[RangeForm, ...] = (CLOSED, HALF_OPEN, SIGNED, WHOLE, OPEN)
"""Forms of ranges of numbers."""

LED_BY_NUMBER = frozenset[Form]({WHOLE, SIGNED, HALF_OPEN, CLOSED})
"""Forms that begin with a number by which they can be sorted."""


def first_number(decimal: str) -> str:
    """Return the pattern of the beginning of a label in ``LED_BY_NUMBER``, with its number as first group."""
    return rf"^\[?(-?[0-9]+([{decimal}][0-9]+)?)"


@dataclass(frozen=True)
class _Members(Form):
    """One of several texts; the name of a group has them as they are, other sets escape commas."""

    def write(self, texts: Sequence[str]) -> str:
        r"""Return the label of a set from its members; commas of members are escaped.

        >>> SET.write(["a", "b"]), SET.write(["a, b", "c"])
        ('{a, b}', '{a\\, b, c}')
        """
        return "{" + ", ".join(text.replace("\\", "\\\\").replace(",", "\\,") for text in texts) + "}"

    def read(self, label: str) -> list[str] | None:
        r"""Return the members of a set; None for another label.

        >>> SET.read("{a\\, b, c}"), SET.read("a")
        (['a, b', 'c'], None)
        """
        if not (label.startswith("{") and label.endswith("}")):
            return None
        members = (member.removeprefix(" ") for member in _MEMBER.findall(label[1:-1]))
        return [_ESCAPED.sub(r"\1", member) for member in members]


_MEMBER = re.compile(r"(?:\\.|[^\\,])+")
_ESCAPED = re.compile(r"\\(.)")
SET = _Members("{a, b}", "one of a and b, unknown which")


@dataclass(frozen=True)
class _Shortened(Form):
    """The beginning of a text."""

    def write(self, prefix: str) -> str:
        """Return the label of a text by its beginning."""
        return f"{prefix}…"


RARE = _Shortened("ab…", "a rare value that begins with ab")


@dataclass(frozen=True)
class _Others(Form):
    """All values but the most frequent ones; if a value reads the same, the label has an addition."""

    def write(self, kept: int) -> str:
        """Return the label of the values beyond a number of most frequent ones."""
        return f"all but the {kept:,} most frequent" if kept > 1 else "all but the most frequent"

    def read(self, label: str) -> int | None:
        """Return how many values a label leaves out; None for any other label."""
        found = _OTHERS.fullmatch(label)
        return None if found is None else int((found[1] or "1").replace(",", ""))


_OTHERS = re.compile(r"all but the (?:([0-9,]+) )?most frequent\b.*")
OTHERS = _Others("all but the 8 most frequent", "another value than those, unknown which")


@dataclass(frozen=True)
class _Masked(Form):
    """Texts padded to one length, with characters masked from one end."""

    right: bool

    def write(self, value: str, length: int, characters: int) -> str:
        """Return a value padded to ``length`` with a number of ``characters`` masked."""
        if self.right:
            return value[: length - characters].ljust(length, SUPPRESSED)
        return value[max(len(value) - length + characters, 0) :].rjust(length, SUPPRESSED)

    def shown(self, label: str) -> str:
        """Return the characters of a label that are not masked."""
        return label.rstrip(SUPPRESSED) if self.right else label.lstrip(SUPPRESSED)


MASKED: Mapping[str, _Masked] = {
    "right": _Masked("01**", "a text that begins with 01; each * hides one character", right=True),
    "left": _Masked("**01", "a text that ends with 01; each * hides one character", right=False),
}
"""Forms of masked texts by the end at which masking starts."""


@dataclass(frozen=True)
class _Period(Form):
    """A period of the calendar.

    Attributes
    ----------
    written: returns its label from the ISO 8601 text of a moment.
    pattern: of its labels.
    months: that it has; 0 for a day.
    """

    written: Callable[[str], str]
    pattern: str
    months: int

    def write(self, moment: Moment) -> str:
        """Return the name of the period that contains a moment; of a longer one, its own text.

        A week is in the month and year of its Thursday, as in ISO 8601.
        """
        text = moment.text
        if "W" in text:
            text = date.fromordinal(int(moment.number)).isoformat() if self.months else text
        shortest = 10 if not self.months else 7 if self.months < 12 else 4
        return text if len(text) < shortest else self.written(text)

    def matches(self, label: str) -> bool:
        """Return whether a label has this form."""
        return re.fullmatch(self.pattern, label) is not None

    def days(self, label: str) -> tuple[float, float] | None:
        """Return the ordinals of the first and the last day of a period; None for a label of another form."""
        if not self.months or not self.matches(label):
            return None
        year, number = int(label[:4]), int(label[5:].lstrip("Q") or 1)
        month = self.months * (number - 1) + 1
        after = year * 12 + month - 1 + self.months
        if not (1 <= month <= 12 and year >= 1 and after < 12 * 9999):
            return None
        first = date(year, month, 1).toordinal()
        return float(first), float(date(after // 12, after % 12 + 1, 1).toordinal() - 1)


PERIODS: Mapping[str, _Period] = {
    "day": _Period("2024-05-31", "a day", lambda text: text[:10], r"\d{4}-\d\d-\d\d", 0),
    "month": _Period("2024-05", "a month", lambda text: text[:7], r"\d{4}-\d\d", 1),
    "quarter": _Period(
        "2024-Q2", "a quarter", lambda text: f"{text[:4]}-Q{(int(text[5:7]) + 2) // 3}", r"\d{4}-Q\d", 3
    ),
    "year": _Period("2024", "a year", lambda text: text[:4], r"\d{4}", 12),
    "decade": _Period("2020s", "the ten years from 2020", lambda text: f"{text[:3]}0s", r"\d{4}s", 120),
}
"""Periods of the calendar by name; each lies within one of the next."""


def period_days(label: str) -> tuple[float, float] | None:
    """Return the ordinals of the first and the last day of a period by its label; None for another text.

    >>> period_days("2021-02"), period_days("2020s"), period_days("7")
    ((737822.0, 737849.0), (737425.0, 741077.0), None)
    """
    found = (period.days(label) for period in PERIODS.values())
    return next((days for days in found if days is not None), None)


@dataclass(frozen=True)
class Interval:
    """An interval of numbers.

    Attributes
    ----------
    low, high: its ends; None for an open one.
    closed: whether ``high`` belongs to it.
    """

    low: Fraction | None
    high: Fraction | None
    closed: bool = True

    def of_whole_numbers(self) -> Interval:
        """Return the interval from the smallest to the largest whole number in it."""
        low = None if self.low is None else Fraction(ceil(self.low))
        if self.high is None:
            return Interval(low, None)
        return Interval(low, Fraction(floor(self.high) if self.closed else ceil(self.high) - 1))

    def below(self, other: Interval) -> bool:
        """Return whether all its numbers are below those of another interval."""
        if self.high is None or other.low is None:
            return False
        return self.high < other.low or (self.high == other.low and not self.closed)

    def holds(self, number: Fraction) -> bool:
        """Return whether a number lies in it."""
        if self.low is not None and number < self.low:
            return False
        return self.high is None or number < self.high or (self.closed and number == self.high)


def interval_of(label: str, decimal: str) -> Interval | None:
    """Return the interval that a label means; None if it means none.

    Parameters
    ----------
    decimal: sign before the fraction.

    >>> [str(interval_of("[20, 22,5)", ",").high), interval_of("<20", ".").closed, interval_of("young", ".")]
    ['45/2', False, None]
    """

    def number(text: str) -> Fraction | None:
        return exact(text.replace(decimal, "."))

    single = number(label)
    if single is not None:
        return Interval(single, single)
    found = (form.read(label, number, plain=True) for form in RANGES)
    return next((Interval(*ends) for ends in found if ends is not None), None)


def ranges_of(label: str, number: Callable[[str], float | None]) -> list[tuple[float, float]] | None:
    """Return the ranges of numbers or dates that a label names, ends included; None for another text.

    Parameters
    ----------
    number: returns the number of a text, None if it is not a number.

    >>> def number(text: str) -> float | None:
    ...     return float(text) if text.lstrip("-").replace(".", "").isdigit() else None
    >>> ranges_of("20-24", number), ranges_of("-5 to -1", number), ranges_of("7", number)
    ([(20.0, 24.0)], [(-5.0, -1.0)], [(7.0, 7.0)])
    >>> ranges_of("65+", number), ranges_of("{3, 5}", number), ranges_of("many", number)
    ([(65.0, inf)], [(3.0, 3.0), (5.0, 5.0)], None)
    """
    alone = number(label)
    if alone is not None:
        return [(alone, alone)]
    members = SET.read(label)
    if members is not None:
        read = [ranges_of(each, number) for each in members]
        return None if None in read else [own for each in read for own in each or ()]
    for form in (*RANGES, DATES):
        found = form.read(label, number)
        if found is not None:
            low, high, closed = found
            last = inf if high is None else high if closed else nextafter(high, -inf)
            return [(-inf if low is None else low, last)]
    return None


_AMOUNT = r"[$€£]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+(?:,[0-9]{1,2}(?![0-9])|\.[0-9]+)?)(?![.,]?[0-9])"
_BELOW = r"<=?|≤|(?:under|below|less than|up to|younger than|at most)\s"
_ABOVE = r">=?|≥|(?:over|above|more than|older than|at least)\s"
_OR_LESS = r"\s*(?:and|or|&)\s+(?:under|below|less|younger|fewer)"
_OR_MORE = r"\s*\+|\s*(?:and|or|&)\s+(?:over|above|older|more|up|greater)"
_LED = re.compile(
    rf"\s*(?:(?P<below>{_BELOW})|(?P<above>{_ABOVE})|\[)?\s*(?P<first>-?{_AMOUNT})"
    rf"(?:(?P<less>{_OR_LESS})|(?P<more>{_OR_MORE}))?",
    re.IGNORECASE,
)
_BAND = re.compile(
    rf"(?:(?:{_BELOW})\s*(?P<below>{_AMOUNT})|(?:{_ABOVE})\s*(?P<above>{_AMOUNT})"
    rf"|(?P<most>{_AMOUNT})(?:{_OR_LESS})|(?P<least>{_AMOUNT})(?:{_OR_MORE})"
    rf"|(?P<low>{_AMOUNT})(?:(?P<between>\s*[-–]\s*|\s+to\s+)(?P<high>{_AMOUNT}))?)(?P<unit>\s*[^\W\d_]*|%)",
    re.IGNORECASE,
)
_VERSION = re.compile(r"[^0-9]*[0-9]+(?:\.[0-9]+){2,}")
_DIGITS = re.compile(r"([0-9]+)")
_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
_DECIMAL_COMMA = re.compile(r"[0-9],[0-9]{1,2}$")
_NOT_IN_NUMBERS = str.maketrans("", "", "$€£,")


def in_natural_order(texts: Iterable[str], decimal: str = ".") -> list[str]:
    """Return texts in order: those that begin with a number by it, then the others, numbers inside by value.

    ``<5`` and ``up to 5`` come before other texts with a 5, ``>5`` and ``5+`` after them. Texts without
    digits are in the order of code points. In a column of versions, a point separates whole numbers.

    Parameters
    ----------
    decimal: sign before a fraction. With ``,`` every comma between digits is one; else three digits after a
        comma are thousands.

    >>> in_natural_order(["Not Reported", ">80", "100", "9-17", "80-89", "<5", "grade 10", "grade 9"])
    ['<5', '9-17', '80-89', '>80', '100', 'Not Reported', 'grade 9', 'grade 10']
    >>> in_natural_order(["[10, 12,5)", "[2,5, 10)", "<2,5", "12,5+"])
    ['<2,5', '[2,5, 10)', '[10, 12,5)', '12,5+']
    >>> in_natural_order(["2.10", "2.9.1", "10.1"])
    ['2.9.1', '2.10', '10.1']
    >>> in_natural_order(["1,125", "2"]), in_natural_order(["1,125", "2"], ",")
    (['2', '1,125'], ['1,125', '2'])
    """
    known = list(texts)
    versions = any(_VERSION.match(text) for text in known)
    if decimal == ",":
        return sorted(known, key=lambda text: (_key(_COMMA.sub(".", text), versions=versions), text))
    return sorted(known, key=lambda text: _key(text, versions=versions))


def _key(text: str, *, versions: bool) -> tuple[Any, ...]:
    parts: list[Any] = _DIGITS.split(text)
    if len(parts) == 1:
        return (1, parts, text)
    # A number of any length is compared by its digits.
    parts[1::2] = [(len(run.lstrip("0")), run.lstrip("0")) for run in parts[1::2]]
    found = None if versions else _LED.match(text)
    if found is not None:
        side = bool(found["above"] or found["more"]) - bool(found["below"] or found["less"])
        return (0, _amount(found["first"]), side, parts, text)
    return (0, float("-inf"), 0, parts, text) if versions and not parts[0] else (1, parts, text)


def begins_with_number(text: str) -> bool:
    """Return whether the natural order of a text is by the number that it begins with.

    >>> begins_with_number("<5 years"), begins_with_number("grade 10")
    (True, False)
    """
    return bool(_key(text, versions=False)[0] == 0)


class _Band(NamedTuple):
    """Numbers between two ends, as written; None for an open end."""

    low: str | None
    high: str | None
    between: str
    unit: str


def _band(text: str) -> _Band | None:
    found = _BAND.fullmatch(text)
    if found is None:
        return None
    low, high = (
        found["low"] or found["above"] or found["least"],
        found["high"] or found["below"] or found["most"],
    )
    if found["low"] and not found["high"]:
        high = low
    return _Band(low, high, found["between"] or "", found["unit"])


def are_bands(texts: Iterable[str]) -> bool:
    """Return whether all texts are bands, one above the other.

    >>> are_bands(["<5", "5-9", "10-14", "15+"]), are_bands(["12-34", "13-20"])
    (True, False)
    """
    bands = [_band(text) for text in in_natural_order(texts)]
    if not all(bands):
        return False
    ends = [_amount(end) for band in bands if band for end in (band.low, band.high) if end is not None]
    return any(band and band.between for band in bands) and all(low <= high for low, high in pairwise(ends))


def _amount(text: str) -> float:
    """Return a number; one or two digits after a comma are decimals, three are thousands."""
    if _DECIMAL_COMMA.search(text):
        text = text.replace(",", ".")
    return float(text.translate(_NOT_IN_NUMBERS))


def band_label(values: Sequence[str], shown: Callable[[str], str] = str) -> str | None:
    """Return the label of consecutive bands from their ends; None for other texts.

    Parameters
    ----------
    values: in natural order, at least two.
    shown: returns how labels show a text; an end whose text they would shorten is left open.

    >>> band_label(["50-59", "60-69"]), band_label(["<5", "5-9"]), band_label(["70-79", "80-89", ">80"])
    ('50-69', '<10', '70+')
    >>> band_label(["10-19 years", "20-29 years"]), band_label(["1", "Not Reported"])
    ('10-29 years', None)
    """
    bands = [found for found in map(_band, values) if found is not None]
    written = [band for band in bands if band.between]
    if len(bands) < len(values) or len({band.unit for band in bands}) > 1 or not written:
        return None
    if any(left.high is None or right.low is None for left, right in pairwise(bands)):
        return None
    low = bands[0].low if shown(values[0]) == values[0] else None
    high = bands[-1].high if shown(values[-1]) == values[-1] else None
    unit = bands[0].unit
    if low is not None and high is not None:
        return f"{low}{written[0].between}{high}{unit}"
    if low is not None:
        return OPEN.write(low, "") + unit
    if high is None:
        return None
    return (OPEN.write("", str(int(high) + 1)) if high.isdigit() else OPEN.up_to(high)) + unit


class NumberLabels(StrEnum):
    """How the intervals of a quasi-identifier are released."""

    RANGE = "range"
    MIDPOINT = "midpoint"
    LOW_HIGH = "low-high"


@dataclass(frozen=True)
class NumberColumns:
    """The released numbers of a quasi-identifier.

    Attributes
    ----------
    name: of the quasi-identifier.
    form: ``midpoint`` or ``low-high``.
    excluded: labels of intervals to which the upper end does not belong.
    """

    name: str
    form: NumberLabels
    excluded: frozenset[str] = frozenset()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the released columns."""
        if self.form is NumberLabels.MIDPOINT:
            return (self.name,)
        # A blank that ends the name would be inside of the new one, where nobody trims it.
        name = text_identity(self.name)
        return (f"{name}_low", f"{name}_high")

    def label(self, interval: Interval) -> str | None:
        """Return the label of an interval; None if it has no midpoint, or needs more than 64 bits."""
        low, high = interval.low, interval.high
        if self.form is NumberLabels.MIDPOINT:
            return None if low is None or high is None else number_text((low + high) / 2)
        ends = ["" if end is None else number_text(end) for end in (low, high)]
        known = [end for end in ends if end is not None]
        return _joined(*known) if len(known) > 1 else None

    def written(self, label: str, decimal: str) -> tuple[str, ...]:
        """Return the text of a label in each column, empty for an open end and for ``UNKNOWN``.

        Parameters
        ----------
        decimal: sign before the fraction.

        Raises
        ------
        ValueError: it is not such a label.
        """
        if label in UNKNOWN:
            return ("",) * len(self.columns)
        found = next((ends for form in (CLOSED, SPAN) for ends in form.ends(label)), (label, label, True))
        ends = found[:2]
        if any(end and exact(end) is None for end in ends) or not any(ends):
            raise ValueError(f"'{label}' is not an interval of numbers")
        if self.form is NumberLabels.MIDPOINT and ends[0] != ends[1]:
            raise ValueError(f"'{label}' is not a midpoint")
        return tuple(end.replace(".", decimal) for end in ends[: len(self.columns)])

    def read(self, texts: Sequence[str | None], decimal: str, empty: str) -> str:
        """Return the label of released texts, one for each column; the inverse of ``written``.

        Texts that are not numbers are kept, so the label is an unknown one.

        Parameters
        ----------
        empty: label of texts that are all empty.
        """
        ends = [_canonical(text or "", decimal) for text in texts]
        if not any(ends):
            return empty
        return _joined(ends[0], ends[-1])


def _joined(low: str, high: str) -> str:
    if low == high:
        return low
    return (CLOSED if low and high else SPAN).write(low, high)


def _canonical(text: str, decimal: str) -> str:
    number = exact(text.replace(decimal, "."))
    return text if number is None else number_text(number) or text
