"""Dates as people write them: their formats, and ISO 8601, in which they are compared and published.

Names of months and days are English, whatever the locale of the computer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import cache, lru_cache
from itertools import pairwise, product
from string import ascii_letters, digits
from typing import NamedTuple

PIVOT = 68
"""Largest two-digit year of the 21st century by default, as in ``strptime``."""


class Moment(NamedTuple):
    """A date, ordered by time.

    Attributes
    ----------
    number: proleptic ordinal of its day with the time as a fraction; of a month or year its first day, of a
        week its Thursday, which decides the month and year of a week.
    text: in ISO 8601, as precise as it was written: ``2014``, ``2014-05``, ``2014-W20``, ``2014-05-13``, or
        ``2014-05-13T14:30:00``. Midnight is its day.
    """

    number: float
    text: str

    def __float__(self) -> float:
        return self.number


_CANONICAL = re.compile(r"[0-9]{4}(-[0-9]{2})?|([0-9]{4})-W([0-9]{2})")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_OFFSET = r"(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)"
_CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
_TIME = re.compile(rf"({_DAY.pattern})[T ]({_CLOCK}){_OFFSET}?")
DAY_OR_TIME = rf"{_DAY.pattern}(?:[T ]{_CLOCK}{_OFFSET}?)?"
"""Pattern of days and times in ISO 8601, the same in Python's ``re``, RE2 and Java."""
_THURSDAY = 4
_SECONDS = 86_400.0


def iso_moment(text: str) -> Moment | None:
    """Return the moment of a day, or a day with a time, in ISO 8601; else None. An offset is left out.

    White space around it is no part of it, in this format as in every other.

    >>> iso_moment("2024-02-29"), iso_moment("2023-02-29"), iso_moment(" 2024-02-29 12:00Z").text
    (Moment(number=738945.0, text='2024-02-29'), None, '2024-02-29T12:00:00')
    """
    plain = text.strip()
    try:
        if _DAY.fullmatch(plain):
            return Moment(float(date.fromisoformat(plain).toordinal()), plain)
        found = _TIME.fullmatch(plain)
        return None if found is None else _at(datetime.fromisoformat(f"{found[1]}T{found[2]}"))
    except ValueError:
        return None


def days_of(texts: Iterable[str]) -> list[str]:
    """Return the days in ISO 8601 of those texts that are days or times."""
    return sorted({moment.text[:10] for moment in map(iso_moment, texts) if moment is not None})


def canonical_moment(text: str) -> Moment | None:
    """Return the moment whose ``text`` this is, or of a day or time in ISO 8601; else None.

    >>> canonical_moment("2014-05"), canonical_moment("2014-W20").number == date(2014, 5, 15).toordinal()
    (Moment(number=735354.0, text='2014-05'), True)
    """
    found = _CANONICAL.fullmatch(text)
    if found is None:
        return iso_moment(text)
    try:
        if found[2] is not None:
            return _week(int(found[2]), int(found[3]))
        first = date(int(text[:4]), int(text[5:] or 1), 1)
    except ValueError:
        return None
    return Moment(float(first.toordinal()), text)


def _at(time: datetime) -> Moment:
    """Return the moment of a time; midnight is the day itself, as in the text of a stored timestamp."""
    if not (time.hour or time.minute or time.second or time.microsecond):
        return Moment(float(time.toordinal()), time.date().isoformat())
    seconds = 3600 * time.hour + 60 * time.minute + time.second + time.microsecond / 1e6
    return Moment(time.toordinal() + seconds / _SECONDS, time.isoformat())


def _numeric(year: int, month: int, day: int, hour: int = -1, minute: int = 0, second: int = 0) -> Moment:
    """Return the moment of a day; with an hour, of a time, of which midnight is the day itself."""
    number = date(year, month, day).toordinal()
    if hour < 0 or hour == minute == second == 0:
        return Moment(float(number), f"{year:04d}-{month:02d}-{day:02d}")
    text = f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}"
    return Moment(number + (3600 * hour + 60 * minute + second) / _SECONDS, text)


def _week(year: int, week: int) -> Moment:
    return Moment(float(date.fromisocalendar(year, week, _THURSDAY).toordinal()), f"{year:04d}-W{week:02d}")


_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH_NUMBERS = {
    name: number for number, month in enumerate(_MONTHS, start=1) for name in (month, month[:3])
}


def _names(names: Iterable[str]) -> str:
    return "|".join(names)


_DIRECTIVES: Mapping[str, str] = {
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "m": "1[0-2]|0?[1-9]",
    "d": "3[01]|[12][0-9]|0?[1-9]",
    "j": "36[0-6]|3[0-5][0-9]|[12][0-9]{2}|0?[1-9][0-9]|0?0?[1-9]",
    "H": "2[0-3]|[01]?[0-9]",
    "I": "1[0-2]|0?[1-9]",
    "M": "[0-5]?[0-9]",
    "S": "[0-5]?[0-9]",
    "f": "[0-9]{1,6}",
    "p": "[ap]m",
    "b": _names(month[:3] for month in _MONTHS),
    "B": _names(_MONTHS),
    "a": _names(day[:3] for day in _DAYS),
    "A": _names(_DAYS),
    "G": "[0-9]{4}",
    "V": "5[0-3]|[1-4][0-9]|0?[1-9]",
    "u": "[1-7]",
    "z": _OFFSET,
    "Z": "[A-Z]{1,5}",
}
"""What each directive of a format matches, without regard to case."""

_PADDED = "mdjHIMSV"
"""Directives that have all their digits beside another one, where fewer could be read in two ways."""

_TOKEN = re.compile(r"%(.)|(\s+)|([^%\s]+)", re.DOTALL)
_DATES = ("Yjmd", "Yj", "Ymd", "Ym", "Y", "GVu", "GV")
_TIMES = ("", "H", "HM", "HMS", "HMSf", "Ip", "IpM", "IpMS", "IpMSf")


def format_problem(text: str) -> str | None:
    """Return what is wrong with a format of dates; None for a good one.

    >>> format_problem("%d.%m.%Y"), format_problem("%d.%m")
    (None, "'%d.%m' has no year; accepted: %Y, %y or %G")
    """
    given = [token[1] for token in _TOKEN.finditer(text) if token[1] and token[1] != "%"]
    strange = [f"%{each}" for each in given if each not in _DIRECTIVES]
    if strange or text.replace("%%", "").endswith("%"):
        known = ", ".join(f"%{each}" for each in _DIRECTIVES)
        return f"'{text}' has the unknown directive {(strange or ['%'])[0]}; accepted: {known}"
    as_one = str.maketrans({"y": "Y", "b": "m", "B": "m"})
    of_date = [each.translate(as_one) for each in given if each in "YymbBdjGVu"]
    of_time = [each for each in given if each in "HIpMSf"]
    if not {"Y", "G"} & set(of_date):
        return f"'{text}' has no year; accepted: %Y, %y or %G"
    complete = any(sorted(of_date) == sorted(each) for each in _DATES)
    if not complete or not any(sorted(of_time) == sorted(each) for each in _TIMES):
        return (
            f"'{text}' is no date; accepted: a year, with a month (%m, %b, %B) and day (%d), a day of the "
            "year (%j), or ISO weeks (%G-W%V, %G-W%V-%u), and a time from the hour on (%H, or %I with %p)"
        )
    if of_time and not any(set(each) <= set(of_date) for each in ("md", "j", "GVu")):
        return f"'{text}' has a time without a day; add the month and the day, or remove the time"
    return None


@cache
def _pattern(form: str) -> re.Pattern[str]:
    """Return the pattern of the texts of a format, with a group for each directive."""
    tokens = list(_TOKEN.finditer(form))
    kinds = [token[1] if token[1] and token[1] in f"YyGfu{_PADDED}" else "" for token in tokens]
    tight = {place for place, pair in enumerate(pairwise(kinds)) if all(pair) for place in (place, place + 1)}
    parts = []
    for place, token in enumerate(tokens):
        if token[2]:
            parts.append(r"\s+")
        elif token[3] or token[1] == "%":
            parts.append(re.escape(token[3] or "%"))
        else:
            pattern = _DIRECTIVES[token[1]]
            padded = pattern.replace("?", "") if place in tight and token[1] in _PADDED else pattern
            parts.append(f"(?P<{token[1]}>{padded})")
    return re.compile("".join(parts), re.IGNORECASE)


class _Reader:
    """Reads the dates of one format."""

    def __init__(self, form: str, pivot: int) -> None:
        self._match = _pattern(form).fullmatch
        self._pivot = pivot
        given = set(_pattern(form).groupindex)
        self._read = self._day if given & {"d", "j", "u"} else self._period
        self._timed = bool(given & {"H", "I"})
        self._plain = [part for part in "YmdHMS" if part in given] if given <= set("YmdHMS") else []

    def __call__(self, text: str) -> Moment | None:
        found = self._match(text)
        if found is None:
            return None
        try:
            if len(self._plain) >= len("Ymd"):  # faster, and the usual case
                return _numeric(*map(int, found.group(*self._plain)))
            return self._read(found.groupdict())
        except ValueError:
            return None

    def _day(self, parts: dict[str, str]) -> Moment:
        if "u" in parts:
            day = date.fromisocalendar(int(parts["G"]), int(parts["V"]), int(parts["u"]))
        elif "j" in parts:
            first = date(self._year(parts), 1, 1)
            day = first + timedelta(days=int(parts["j"]) - 1)
            if day.year != first.year or ("d" in parts and day != self._of_month(parts)):
                raise ValueError
        else:
            day = self._of_month(parts)
        if not self._timed:
            return Moment(float(day.toordinal()), day.isoformat())
        hour = int(parts.get("H") or int(parts["I"]) % 12 + 12 * (parts["p"].lower() == "pm"))
        rest = int(parts.get("M", 0)), int(parts.get("S", 0)), int(parts.get("f", "0").ljust(6, "0"))
        return _at(datetime(day.year, day.month, day.day, hour, *rest))

    def _of_month(self, parts: dict[str, str]) -> date:
        return date(self._year(parts), self._month(parts), int(parts["d"]))

    def _period(self, parts: dict[str, str]) -> Moment:
        if "V" in parts:
            return _week(int(parts["G"]), int(parts["V"]))
        year = self._year(parts)
        month = self._month(parts) if parts.keys() & {"m", "b", "B"} else None
        first = date(year, month or 1, 1)
        return Moment(float(first.toordinal()), f"{year:04d}" + (f"-{month:02d}" if month else ""))

    def _year(self, parts: dict[str, str]) -> int:
        if "Y" in parts:
            return int(parts["Y"])
        short = int(parts["y"])
        return short + (2000 if short <= self._pivot else 1900)

    @staticmethod
    def _month(parts: dict[str, str]) -> int:
        named = parts.get("b") or parts.get("B")
        return _MONTH_NUMBERS[named.lower()] if named else int(parts["m"])


@cache
def _reader(form: str, pivot: int) -> Callable[[str], Moment | None]:
    return iso_moment if form == ISO_FORM else _Reader(form, pivot)


ISO_FORM = "%Y-%m-%d"


MONTHS = 12


@dataclass(frozen=True)
class DateFormat:
    """How the dates of a column are written.

    Attributes
    ----------
    forms: of ``strptime``; the first that fits a text reads it. None for days and times in ISO 8601.
    pivot: largest two-digit year of the 21st century; larger ones are of the 20th.
    """

    forms: tuple[str, ...] = ()
    pivot: int = PIVOT

    def __str__(self) -> str:
        """Return the formats as in a config.

        >>> str(DateFormat(("%d.%m.%Y",))), str(DateFormat(("%Y", "%m/%Y")))
        ('"%d.%m.%Y"', '["%Y", "%m/%Y"]')
        """
        quoted = ", ".join(f'"{form}"' for form in self.forms)
        return quoted if len(self.forms) == 1 else f"[{quoted}]"

    @property
    def days(self) -> bool:
        """Whether every form has a day, rather than a week, month or year."""
        return all(re.search("%[dju]", form) for form in self.forms)

    def read(self, text: str) -> Moment | None:
        """Return the moment of a text, spaces at its ends ignored; None if it has another form.

        >>> DateFormat(("%d.%m.%y",), pivot=30).read("13.5.31").text
        '1931-05-13'
        """
        if not self.forms:
            return iso_moment(text)
        stripped = text.strip()
        for form in self.forms:
            found = _reader(form, self.pivot)(stripped)
            if found is not None:
                return found
        return None

    def swapped(self, texts: Iterable[str]) -> DateFormat | None:
        """Return the format with day and month in the other order if it reads all texts, too; else None.

        Parameters
        ----------
        texts: of dates, as written or in ISO 8601.

        >>> str(DateFormat(("%m/%d/%Y",)).swapped(["2014-05-12", "3/1/2014"]))
        '"%d/%m/%Y"'
        >>> DateFormat(("%m/%d/%Y",)).swapped(["2014-05-13"]), DateFormat(("%Y-%m",)).swapped(["2014-05"])
        (None, None)
        """
        either = (Reading.DAY_FIRST, Reading.MONTH_FIRST)
        pairs = {"%d": "%m", "%m": "%d"}
        other = tuple(
            re.sub("%[dm]", lambda found: pairs[found[0]], form) if _order(form) in either else form
            for form in self.forms
        )
        if other == self.forms:
            return None
        moments = (self.read(text) or canonical_moment(text) for text in texts)
        fits = all(each is None or int(each.text[8:10] or 0) <= MONTHS for each in moments)
        return replace(self, forms=other) if fits else None

    def number(self, text: str) -> float | None:
        """Return the number of a text's moment; None if it is not a date."""
        found = self.read(text)
        return None if found is None else found.number


ISO = DateFormat()

ISO_PERIODS = DateFormat(
    (ISO_FORM, "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m", "%G-W%V", "%Y"),
)
"""Days and times in ISO 8601, and weeks, months and years, which are otherwise names of groups."""


class Reading(StrEnum):
    """The part of a numeric date that comes first, where texts alone may not decide it."""

    DAY_FIRST = "day first"
    MONTH_FIRST = "month first"
    YEAR_FIRST = "year first"


_CLASSES = str.maketrans(digits + ascii_letters, "9" * len(digits) + "a" * len(ascii_letters))
_RUN = re.compile("(9|a)\\1+")


def skeleton(text: str) -> str:
    """Return a text with each run of digits as 9 and of letters as a.

    >>> skeleton("13. May 2014")
    '9. a 9'
    """
    return _collapsed(text.strip().translate(_CLASSES))


@lru_cache(maxsize=4096)
def _collapsed(shape: str) -> str:
    return _RUN.sub("\\1", shape)


def shown_form(text: str, longest: int = 24) -> str:
    """Return a text with every digit as 9 and every letter as a, shortened: its form without its content.

    >>> shown_form("5/13/2014"), shown_form("about 1980")
    ('9/99/9999', 'aaaaa 9999')
    """
    form = "".join("9" if each.isdigit() else "a" if each.isalpha() else each for each in text[:longest])
    return form if len(text) <= longest else f"{form}…"


_SIGNS = (".", "/", "-", " ")
_CLOCKS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p")
_FULL = (
    *(form.replace(" ", sign) for form in ("%d %m %Y", "%m %d %Y", "%Y %m %d") for sign in _SIGNS),
    *(form.replace(" ", sign) for form in ("%d %m %y", "%m %d %y") for sign in _SIGNS[:3]),
    "%y-%m-%d",
    *(form.replace(" ", sign) for form in ("%d %b %Y", "%d %B %Y", "%d %b %y") for sign in (*_SIGNS, "")),
    *("%Y-%b-%d", "%Y %b %d", "%Y %B %d"),
    *("%d. %b %Y", "%d. %B %Y", "%d %b, %Y", "%d %B, %Y"),
    *("%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y", "%b. %d, %Y", "%b-%d-%Y"),
    *("%a, %d %b %Y", "%A, %d %B %Y", "%a %d %b %Y", "%A %d %B %Y", "%A, %d. %B %Y"),
    *("%a, %b %d, %Y", "%A, %B %d, %Y"),
)
_ALONE = (
    *("%Y%m%d", "%d%m%Y", "%m%d%Y", "%Y%m%dT%H%M", "%Y%m%dT%H%M%S", "%Y%m%dT%H%M%SZ", "%Y%m%d%H%M%S"),
    *("%Y%m%d %H:%M", "%Y%m%d %H:%M:%S", "%d%b%Y:%H:%M:%S", "%d/%b/%Y:%H:%M:%S %z"),
    *("%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %Z %Y", "%a, %d %b %Y %H:%M:%S %Z"),
    *("%a, %d %b %Y %H:%M:%S %z", "%d/%m/%Y %H.%M", "%d.%m.%Y, %H:%M Uhr", "%d.%m.%Y %H:%M Uhr"),
    *("%m/%Y", "%m.%Y", "%m-%Y", "%m %Y", "%Y-%m", "%Y/%m", "%b %Y", "%B %Y", "%b-%Y", "%b/%Y", "%B-%Y"),
    *("%b-%y", "%b %y", "%b/%y", "%B, %Y", "%b, %Y", "%Y-%b", "%Y %b", "%Y %B", "%b%Y"),
    *("%G-W%V", "%GW%V", "%G W%V", "%G-W%V-%u", "%GW%V%u", "W%V %G", "W%V/%G", "W%V-%G", "%Y-%j", "%Y/%j"),
)
YEAR = "%Y"
"""Is a format among others only: years alone are numbers."""

_EARLIEST, _LATEST = 1800, 2100
_RUNS = frozenset({"%Y%m%d", "%d%m%Y", "%m%d%Y", "%Y%m%d%H%M%S", YEAR})
"""Formats that any number may fit by chance, so only if its year is between these."""


@cache
def _candidates() -> Mapping[str, tuple[str, ...]]:
    """Return the known formats by the skeletons of their texts."""
    timed = [f"{day}{between}{clock}" for day, between, clock in product(_FULL, (" ", ", ", "T"), _CLOCKS)]
    found: dict[str, list[str]] = {}
    for form in dict.fromkeys((*_FULL, *_ALONE, *timed, YEAR)):
        letters = re.sub(r"%[bBaApZ]", "a", re.sub(r"%[YymdjHIMSfGVu]", "9", form))
        for example in (letters.replace("%z", "+9"), letters.replace("%z", "Z")):
            names = found.setdefault(skeleton(example), [])
            if form not in names:
                names.append(form)
    return {shape: tuple(forms) for shape, forms in found.items()}


def _order(form: str) -> Reading | None:
    """Return which part comes first; None if the format has a twin in no other order."""
    numeric = form.replace("%y", "%Y")
    if not {"%m", "%d", "%Y"} <= set(re.findall("%.", numeric)):
        return None
    first = min((numeric.index(part), part) for part in ("%d", "%m", "%Y"))[1]
    return {"%d": Reading.DAY_FIRST, "%m": Reading.MONTH_FIRST, "%Y": Reading.YEAR_FIRST}[first]


class DateReading(NamedTuple):
    """The formats in which texts are dates.

    Attributes
    ----------
    ways: the formats by which part comes first, if several orders fit; the first one is the usual one. With
        one way, the order is decided, or no matter.
    strange: distinct texts that are not dates.
    others: formats in another order that read all texts too, which other columns decide against.
    """

    ways: tuple[DateFormat, ...]
    decided: Reading | None
    strange: tuple[str, ...] = ()
    others: tuple[DateFormat, ...] = ()

    @property
    def format(self) -> DateFormat:
        """The first formats."""
        return self.ways[0]

    @property
    def ambiguous(self) -> bool:
        """Whether the texts are dates in several orders."""
        return len(self.ways) > 1

    def resolved(self, order: Reading) -> DateReading:
        """Return the reading in one order, if it is among the possible ones."""
        own = [way for way in self.ways if order in map(_order, way.forms)]
        if not (self.ambiguous and own):
            return self
        return DateReading(tuple(own), order, self.strange, tuple(set(self.ways) - set(own)))


MOST_SHAPES = 6
"""Most skeletons of the texts of one column of dates."""

FIRST = 40
"""Texts that a format reads before all others are tried."""

ENOUGH = 0.95
"""Minimum share of dates among the distinct texts of a column of dates."""


def reading_of(texts: Collection[str], least: float = ENOUGH) -> DateReading | None:
    """Return the formats in which texts are dates; None if fewer than ``least`` of the texts are.

    >>> reading_of(["5/13/2014", "12/1/2014"]).format.forms
    ('%m/%d/%Y',)
    >>> [way.forms for way in reading_of(["5/3/2014", "12/1/2014"]).ways]
    [('%d/%m/%Y',), ('%m/%d/%Y',)]
    """
    few = list(texts)[:: -(-len(texts) // FIRST) or 1]
    if not few or sum(skeleton(text) in _candidates() for text in few) < 0.5 * len(few):
        return None
    shapes: dict[str, list[str]] = {}
    for text in texts:
        shapes.setdefault(skeleton(text), []).append(text)
    found: dict[str, tuple[str, ...]] = {}
    strange: list[str] = []
    for shape, own in sorted(shapes.items(), key=lambda item: (-len(item[1]), item[0])):
        forms = _fitting(shape, own) if len(found) < MOST_SHAPES else ()
        if forms:
            found[shape] = forms
        else:
            strange += own
    if not found or set(found.values()) == {(YEAR,)} or len(strange) > (1 - least) * len(texts):
        return None
    return _reading(list(found.values()), tuple(strange))


def _fitting(shape: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the known formats of one skeleton that read all texts."""
    few = texts[:: -(-len(texts) // FIRST)]
    forms = [form for form in _candidates().get(shape, ()) if _all_read(form, few)]
    if len(few) < len(texts):
        forms = [form for form in forms if _all_read(form, texts)]
    return tuple(forms)


def _all_read(form: str, texts: Sequence[str]) -> bool:
    read = _reader(form, PIVOT)
    moments = (read(text.strip()) for text in texts)
    if form in _RUNS:
        return all(each is not None and _EARLIEST <= int(each.text[:4]) <= _LATEST for each in moments)
    return all(each is not None for each in moments)


def _reading(shapes: Sequence[tuple[str, ...]], strange: tuple[str, ...]) -> DateReading:
    """Return the orders that read the texts of all shapes."""
    ways: dict[Reading, DateFormat] = {}
    for order in Reading:
        forms = [next((form for form in own if _order(form) in (None, order)), None) for own in shapes]
        if None not in forms:
            ways[order] = DateFormat(tuple(form for form in forms if form is not None))
    ordered = any(_order(form) for own in shapes for form in own)
    if not ways:
        # The shapes are of different orders, so each has its own.
        return DateReading((DateFormat(tuple(own[0] for own in shapes)),), None, strange)
    distinct = tuple(dict.fromkeys(ways.values()))
    decided = next(iter(ways)) if ordered and len(distinct) == 1 else None
    return DateReading(distinct, decided, strange)


def date_remedy(texts: Collection[str], dates: DateFormat = ISO) -> str:
    """Return how to declare the dates among some texts."""
    found = reading_of(texts, least=0.5)
    if found is None or set(found.format.forms) <= set(dates.forms):
        return "add texts that are not dates to input.missing, set the dates' `format:`, or set `type: text`"
    ways = " or ".join(map(str, found.ways))
    choice = ", whichever is true" if found.ambiguous else ""
    rest = ", and add texts that are not dates to input.missing" if found.strange else ""
    return f"set `format: {ways}`{choice}{rest}"
