"""Detectors of identifiers in the values of a column, from dates of birth to free text.

They know dates in all usual notations, and common given and family names in Latin letters and of China.
"""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from statistics import fmean
from typing import ClassVar

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.dates import ISO
from anonymizer.model.table import ValueType
from anonymizer.plugins import Registry
from anonymizer.profile.column_statistics import ColumnFacts, names_any
from anonymizer.profile.knowledge import (
    BIRTH,
    GIVEN_AND_FAMILY_NAMES,
    HOUSEHOLD_KEYS,
    NAMES,
    ORGANISATIONS,
    OTHER_EVENT,
    PERSON_KEYS,
    SERVING,
    ends_with,
    number_of_words,
    terms_of,
    thing_of,
    words_of,
)

LOOKED_AT = 1_000
"""Maximum number of distinct values that a detector reads."""

MOSTLY = 0.8
"""Minimum share of matching values, if only their form is evidence."""

OFTEN = 0.3
"""The same for forms that are hardly chance, or if the name of the column is evidence too."""


@dataclass(frozen=True)
class Finding:
    """The kind of identifier that the values of a column look like.

    Attributes
    ----------
    what: the kind in the plural, such as "e-mail addresses".
    reason: why, with counts and never with a value.
    certain: whether hardly anything else looks like it.
    general: whether a coarser form, such as the year of a date, may be published.
    key: whether the values repeat, so that a person or household has several records.
    """

    what: str
    reason: str
    certain: bool
    general: bool = False
    key: bool = False


class Detector(ABC):
    """Detects one kind of identifier in a column.

    A class with a ``name`` in a module of this room, or in an entry point of the group
    ``anonymizer.detectors``, is found without registration.

    Attributes
    ----------
    name: the kind of identifier, in the plural.
    """

    name: ClassVar[str]

    @abstractmethod
    def look(self, column: ColumnFacts) -> Finding | None:
        """Return the finding; None if the column has no such identifiers."""


@dataclass(frozen=True)
class Share:
    """The number of matching values among those that were read."""

    matched: int
    looked: int

    @property
    def value(self) -> float:
        """The share; 0 of no values."""
        return self.matched / self.looked if self.looked else 0.0

    def __str__(self) -> str:
        return f"{self.matched:,} of {self.looked:,} values"


def looked_at(column: ColumnFacts) -> tuple[str, ...]:
    """Return the values to read: all, or an evenly spaced part of many."""
    step = -(-len(column.texts) // LOOKED_AT) or 1
    return column.texts[::step]


def share(column: ColumnFacts, matches: Callable[[str], object]) -> Share:
    """Return how many of the values to read match."""
    texts = looked_at(column)
    return Share(sum(bool(matches(text)) for text in texts), len(texts))


_GENERATIONS = 40
"""Minimum span of dates of birth in years."""

_LIFE = 125
"""Maximum span in years; also the number of different dates that must be exceeded."""

_OLDEST = 1895

_NEWEST = 2040
"""Last year of dates of birth that no name tells: dates beyond it were moved to protect people."""

_NUMBERED_DAY = 100_000
"""The last of days that are written as numbers is at least this one."""

_NUMBERED_YEARS = (1800, 2100)
"""First and last year of such days, if written with four digits."""


def are_days(numbers: FloatArray) -> bool:
    """Return whether whole numbers are days of several months, written without signs: 480301 or 19480301.

    Numbers that count from 20120001 or 101001 on are none, though each could be a day of the year 1 or 2001.

    Parameters
    ----------
    numbers: ascending.

    >>> are_days(np.array([480301.0, 491231.0])), are_days(np.array([480301.0, 491332.0]))
    (True, False)
    """
    if not len(numbers) or numbers[0] < 101 or numbers[-1] < _NUMBERED_DAY:
        return False
    number, short = numbers.astype(np.int64), bool(numbers[-1] < 10**6)
    year = 100 if short else 10_000
    last = number % 100, number // 100 % 100, number // 10_000
    day, month, after = number // year // 100, number // year % 100, number % year
    return any(
        _within(1, own[0], 31)
        and _within(1, own[1], 12)
        and (short or _within(_NUMBERED_YEARS[0], own[2], _NUMBERED_YEARS[1]))
        and all(np.ptp(part) > 0 for part in own[:2])
        for own in (last, (day, month, after), (month, day, after))
    )


def _within(least: int, numbers: IntArray, most: int) -> bool:
    return bool(numbers.min() >= least and numbers.max() <= most)


class DatesOfBirth(Detector):
    """Days of birth, by the name of the column, or as the only dates that span generations."""

    name = "dates of birth"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Read the dates in all notations, as numbers only in a column with such a name."""
        named = BIRTH.fit(column.name)
        if named and column.type is ValueType.INTEGER and are_days(column.numbers):
            what = f"name suggests dates of birth, {column.distinct:,} different numbers such as yymmdd"
            return Finding(self.name, what, certain=True)
        if column.type is not ValueType.DATE:
            return None
        dates = ISO if column.dates is None else column.dates.format
        moments = [moment.text for moment in map(dates.read, looked_at(column)) if moment is not None]
        years = [int(moment[:4]) for moment in moments]
        span = max(years) - min(years)
        if not (named or (column.distinct > _LIFE and _may_be_born(column.name, moments))):
            return None
        what = "name suggests dates of birth" if named else f"dates that span {span} years"
        return Finding(self.name, f"{what}, {column.distinct:,} different", certain=named, general=True)


def _may_be_born(name: str, moments: Sequence[str]) -> bool:
    """Return whether dates span generations until now, without times of day and a name for other events."""
    years = [int(moment[:4]) for moment in moments]
    days = all(len(moment) <= len("2014-05-13") or moment.endswith(_MIDNIGHT) for moment in moments)
    spans = min(years) >= _OLDEST and _GENERATIONS <= max(years) - min(years) <= _LIFE
    return days and spans and max(years) <= _NEWEST and not OTHER_EVENT.fit(name)


_MIDNIGHT = ("T00:00", "T00:00:00", " 00:00", " 00:00:00")

_NUMBER = r"[+-]?\d{1,3}\.\d{2,}"
_PAIR = re.compile(rf"\s*(POINT)?\s*[(\[]?\s*{_NUMBER}\s*[,; ]\s*{_NUMBER}\s*[)\]]?\s*", re.IGNORECASE)
_DEGREES = re.compile(r"""\s*\d{1,3}\s*°.*[NSEWO]\s*""", re.IGNORECASE)
_PRECISE = re.compile(r"[+-]?\d{1,3}\.\d{4,}")
_DECIMAL = re.compile(r"[+-]?\d{1,3}\.\d+")
COORDINATES_DISTINCT = 0.5
_SPREAD = 5.0
"""Minimum distance of the median from 0, in degrees, if no name is evidence for coordinates."""

_EXTENT = 0.3
"""Maximum extent of all numbers by their median, if no name is evidence: records are of one area."""


class Coordinates(Detector):
    """Degrees of latitude or longitude, in a column each or in pairs."""

    name = "geographic coordinates"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Count pairs and degrees; single numbers by their name, or where they have four decimals or more."""
        pairs = share(column, lambda text: _PAIR.fullmatch(text) or _DEGREES.fullmatch(text))
        if pairs.value >= MOSTLY:
            return Finding(self.name, str(pairs), certain=True)
        if column.type is not ValueType.NUMBER or not self._in_range(column):
            return None
        named = names_any(column.name, terms_of(self.name))
        found = share(column, (_DECIMAL if named else _PRECISE).fullmatch)
        if found.value < MOSTLY or not (named or self._like_degrees(column)):
            return None
        return Finding(self.name, str(found), certain=named, general=True)

    @staticmethod
    def _like_degrees(column: ColumnFacts) -> bool:
        """Return whether numbers are as different and as close together as places of an area."""
        middle = abs(float(np.median(column.numbers)))
        near = float(np.ptp(column.numbers)) <= _EXTENT * middle
        return middle >= _SPREAD and near and column.distinctness >= COORDINATES_DISTINCT

    @staticmethod
    def _in_range(column: ColumnFacts) -> bool:
        return bool(len(column.numbers)) and bool(np.abs(column.numbers).max() <= 180)


_ADDRESS = re.compile(r"\s*(mailto:)?[^@\s,;]+@[^@\s,;]+\.[^\W\d_]{2,}\s*", re.IGNORECASE)


class EmailAddresses(Detector):
    """Texts of the form ``someone@host.domain``."""

    name = "e-mail addresses"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Count the values with one @ and a domain."""
        found = share(column, _ADDRESS.fullmatch)
        if found.value < OFTEN:
            return None
        return Finding(self.name, str(found), certain=True)


_WORDS, _CHARACTERS = 5.0, 40.0
TEXTS_DISTINCT = 0.2
FEW_TEXTS = 20


class FreeText(Detector):
    """Sentences, which may contain names of people."""

    name = "free text"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Measure the number of words and characters of the values, and how many values differ."""
        if column.type is not ValueType.TEXT or column.distinct == 0:
            return None
        among = _among_others(column)
        if among is not None:
            return among
        texts = looked_at(column)
        words = fmean(map(number_of_words, texts))
        characters = fmean(map(len, texts))
        named = names_any(column.name, terms_of(self.name))
        long = words >= _WORDS or (characters >= _CHARACTERS and words >= 2)
        different = column.distinct > FEW_TEXTS and column.distinctness >= TEXTS_DISTINCT
        different = different or column.distinct == column.present == 1
        if not (long and different) and not (named and column.distinct > 2):
            return None
        what = f"{column.distinct:,} different texts" if column.distinct > 1 else "a text"
        reason = f"{what} of {words:.0f} words{' on average' if column.distinct > 1 else ''}"
        return Finding(self.name, reason, certain=long and (named or words >= _WORDS))


def _among_others(column: ColumnFacts) -> Finding | None:
    """Return the finding of sentences among frequent short values."""
    sentences = [records for text, records in column.values if number_of_words(text) >= _WORDS]
    many = len(sentences) > FEW_TEXTS and len(sentences) >= OFTEN * len(column.values)
    if not many or len(sentences) < TEXTS_DISTINCT * sum(sentences):
        return None
    known = Share(len(sentences), len(column.values))
    reason = f"{known} have at least {_WORDS:.0f} words, in {sum(sentences):,} records"
    return Finding(FreeText.name, reason, certain=len(sentences) >= MOSTLY * len(column.values))


IBAN_FORM = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")


class BankAccounts(Detector):
    """IBANs (ISO 13616) with valid check digits."""

    name = "bank account numbers"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Count the values with valid check digits."""
        found = share(column, is_iban)
        if found.value < OFTEN:
            return None
        return Finding(self.name, f"{found} have valid check digits", certain=True)


def is_iban(text: str) -> bool:
    """Return whether a text is an IBAN, with or without spaces: letters as 10 to 35, it is 1 modulo 97.

    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB83 WEST 1234 5698 7654 32")
    (True, False)
    """
    plain = re.sub(r"[\s-]", "", text).upper()
    if not IBAN_FORM.fullmatch(plain):
        return False
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(character, 36)) for character in turned)) % 97 == 1


_MAC = re.compile(r"([0-9a-f]{2}[:-]){5}[0-9a-f]{2}", re.IGNORECASE)
_URL = re.compile(r"(https?://|www\.)\S+", re.IGNORECASE)


class NetworkAddresses(Detector):
    """IP and MAC addresses, and web addresses of people."""

    name = "network addresses"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Count the values that are such addresses."""
        if column.type is not ValueType.TEXT:
            return None
        found = share(column, _is_address)
        if found.value < MOSTLY:
            return None
        return Finding(self.name, str(found), certain=True)


def _is_address(text: str) -> bool:
    if _MAC.fullmatch(text) or _URL.fullmatch(text):
        return True
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = re.compile(r"[^\W\d_][^\d_]*")
_LIKE_A_NAME = re.compile(r"[^\W\d_][^\W\d_'’.-]*([ ,]+[^\W\d_][^\W\d_'’.-]*\.?){1,3}")
FEW_NAMES = 10
NAMES_DISTINCT = 0.3


class PersonNames(Detector):
    """Given and family names: by lists of common names, by the name of the column, or by form."""

    name = "names of people"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Count the values with a common name; if there are none, different values of two to four words."""
        if column.type is not ValueType.TEXT:
            return None
        full = share(column, _is_full_name)
        if full.value >= MOSTLY:
            return Finding(self.name, f"{full} have a title, or a given and a family name", certain=True)
        sure = GIVEN_AND_FAMILY_NAMES.fit(column.name)
        named = sure or NAMES.fit(column.name)
        if column.distinct == 1 and not named:
            return self._alone(column)
        known = share(column, _holds_name)
        few = column.distinct <= min(FEW_NAMES, column.present - 1)
        if few and not (named and known.value >= OFTEN):
            return None
        if known.value >= OFTEN or (named and known.value > 0.05):
            return Finding(self.name, f"{known} hold a common name", certain=named or known.value > 0.5)
        return self._by_form(column, named=named, sure=sure)

    def _by_form(self, column: ColumnFacts, *, named: bool, sure: bool) -> Finding | None:
        """Return the finding of values without a common name."""
        formed = share(column, _LIKE_A_NAME.fullmatch)
        worded = sure and share(column, _LETTERS.fullmatch).value >= MOSTLY
        if worded or (named and (formed.value >= OFTEN or column.distinctness >= NAMES_DISTINCT)):
            return Finding(self.name, f"named so, {column.distinct:,} different values", certain=True)
        if formed.value >= 0.9 and column.distinctness >= NAMES_DISTINCT:
            what = f"{formed} consist of two to four words, most of them different"
            return Finding(self.name, what, certain=False)
        chinese = share(column, _is_chinese_name)
        if chinese.value >= MOSTLY and column.distinctness >= CHINESE_DISTINCT:
            return Finding(self.name, f"{chinese} begin with a common family name", certain=False)
        return None

    def _alone(self, column: ColumnFacts) -> Finding | None:
        """Return the finding of the only value: two to four words with capitals are like a name."""
        (text,) = column.texts
        capitals = _LIKE_A_NAME.fullmatch(text) and all(word[0].isupper() for word in _WORD.findall(text))
        serving = thing_of(column.name) in SERVING and _holds_name(text)
        if not (capitals or serving or _is_chinese_name(text)):
            return None
        return Finding(self.name, "the only value has the form of a name", certain=serving)


CHINESE_DISTINCT = 0.1
_TITLE = re.compile(
    r"\s*(dr|prof|professor|doctor|mr|mrs|ms|miss|herr|frau|mme|mlle|monsieur|madame|sr|sra|srta|dott|dra"
    r"|doktor|doc|ing|mudr|pan|pani|г-н|г-жа|д-р|кан|др|δρ|κος|κα|د|السيد|السيدة)\b\.?\s+\S*[^\W\d_]{2,}.*",
    re.IGNORECASE,
)
_SALUTED = re.compile(r"[^\W\d_]{1,4}[ ]?(先生|女士|医生|醫生|医師|大夫|さん|氏|씨)")


def _is_full_name(text: str) -> bool:
    """Return whether a text has a title before a name, or a given and a family name."""
    words = _latin_words(text)
    if not 1 <= len(text.split()) <= _LONGEST_NAME or any(map(str.isdigit, text)):
        return False
    if _TITLE.fullmatch(text) or _SALUTED.fullmatch(text.strip()):
        return True
    given, family = _common_names()
    return any(
        one in given and any(other in family for other in words[:place] + words[place + 1 :])
        for place, one in enumerate(words)
    )


_LONGEST_NAME = 6
"""Maximum number of words of a name with its titles."""

_CHINESE_NAME = re.compile(r"[\u4e00-\u9fff]{2,4}")


def _is_chinese_name(text: str) -> bool:
    """Return whether a text has two to four Chinese letters, of which the first is a common family name."""
    return _CHINESE_NAME.fullmatch(text.strip()) is not None and text.strip()[0] in _chinese_family_names()


@cache
def _chinese_family_names() -> frozenset[str]:
    return frozenset("".join(terms_of("chinese family names")).replace(" ", ""))


def _latin_words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().casefold())


def _holds_name(text: str) -> bool:
    words = _latin_words(text)
    if not 1 <= len(words) <= 4 or any(map(str.isdigit, text)):
        return False
    given, family = _common_names()
    return words[0] in given or words[-1] in given or not family.isdisjoint(words)


@cache
def _common_names() -> tuple[frozenset[str], frozenset[str]]:
    """Return common given and family names, without accents."""
    return frozenset(terms_of("given names")), frozenset(terms_of("family names"))


_FORMS = {
    "universally unique identifiers": re.compile(r"\{?[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}\}?", re.I),
    "social security numbers": re.compile(r"\d{3}-\d{2}-\d{4}"),
    "hashes": re.compile(r"[0-9a-f]{32,128}", re.I),
    "codes": re.compile(r"(?=.*\d)[A-Z0-9][A-Z0-9_./:#-]{3,}", re.I),
}
_HASHED = [_FORMS[what] for what in ("universally unique identifiers", "hashes")]
_MANY_KEYS = 100
"""Minimum number of different values that look like keys of persons without a name as evidence."""

_ALL_DIFFER = 0.95
_MANY = 0.02
"""Minimum number of distinct values per record of a column with the name of an identifier."""

FEW_NUMBERS = 20
_OWN = 0.5
"""Distinct values per record from which on numbers of organisations identify records."""

_DENSE = 1.2
"""Maximum range per number of whole numbers that count the records."""

_COLLISIONS = 20
"""Equal pairs expected of measured whole numbers, at least, for numbers without any to be keys."""

_DIGITS = 6
"""Minimum length of different whole numbers of one length that are not amounts."""


class PersonNumbers(Detector):
    """Identifiers by their name, or by values that all differ and have one form."""

    name = "identification numbers"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Use the name and the number of values, then the form of values that differ, or that repeat."""
        if column.distinct <= min(FEW_NUMBERS, column.present - 1):
            return None
        repeats = column.distinct < column.present
        differ = f"{column.distinct:,} different values in {column.present:,} records"
        differing = column.distinctness >= _ALL_DIFFER
        numbered = ends_with(column.words, "number") and differing and column.present > 1
        if (_named(column) and column.distinctness >= _MANY) or numbered:
            thing = thing_of(column.name)
            whose = "an identifier" if thing is None else f"the number of {thing}"
            key = repeats and thing is None
            return Finding(self.name, f"name suggests {whose}, {differ}", certain=True, key=key)
        if column.present == 1:
            return self._alone(column)
        form = self._form(column) if differing else self._repeated_form(column)
        if form is None:
            return None
        return Finding(self.name, f"{form}, {differ}", certain=False, key=not differing)

    def _alone(self, column: ColumnFacts) -> Finding | None:
        """Return the finding of one value: a long number, or a form that hardly anything else has."""
        (text,) = column.texts
        forms = (what for what, form in _FORMS.items() if what != "codes" and form.fullmatch(text))
        long = text.isdigit() and len(text) >= _FEWEST and not are_days(column.numbers)
        what = next(forms, "long numbers" if long else None)
        return (
            None
            if what is None
            else Finding(self.name, f"the only value has the form of {what}", certain=False)
        )

    def _repeated_form(self, column: ColumnFacts) -> str | None:
        """Return the form of values that several records of a person could have; None if another."""
        if column.distinctness < _MANY or column.distinct < _MANY_KEYS:
            return None
        if column.type is ValueType.TEXT:
            found = share(column, lambda text: any(form.fullmatch(text) for form in _HASHED))
            return f"{found} have the form of hashes or unique identifiers" if found.value >= MOSTLY else None
        numbers = column.numbers
        if column.type is not ValueType.INTEGER or numbers[0] < 10 ** (_DIGITS - 1):
            return None
        if are_days(numbers):
            return None
        round_numbers = np.count_nonzero(numbers % 10 == 0) > OFTEN * len(numbers)
        one_length = len(str(int(numbers[0]))) == len(str(int(numbers[-1])))
        return "numbers of one length" if one_length and not round_numbers else None

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
        # Whole numbers in a column with missing values are often written as 100207.0.
        if not len(numbers) or not np.array_equal(numbers, np.trunc(numbers)):
            return None
        if float(np.ptp(numbers)) <= _DENSE * column.distinct:
            return "whole numbers that count the records"
        collisions = column.present**2 / (2 * float(np.ptp(numbers)))
        if column.distinct == column.present and numbers[0] >= 0 and collisions >= _COLLISIONS:
            return "whole numbers that all differ"
        lengths = {len(f"{abs(number):.0f}") for number in numbers.tolist()}
        if len(lengths) == 1 and lengths.pop() >= _DIGITS and column.distinct == column.present:
            return "numbers of one length"
        return None


def _named(column: ColumnFacts) -> bool:
    """Return whether the name of a column is that of an identifier, and not of places or organisations."""
    if names_any(column.name, terms_of("identifier")):
        return True
    if ORGANISATIONS.fit(column.name) and column.distinctness < _OWN:
        return False
    return _named_as_key(column.name)


def named_as_number(name: str) -> bool:
    """Return whether a column may be an identification number by its name.

    >>> named_as_number("patient_id"), named_as_number("CaseNo"), named_as_number("height")
    (True, True, False)
    """
    words = words_of(name)
    return ends_with(words, "number") or names_any(name, terms_of("identifier")) or _named_as_key(name)


def _named_as_key(name: str) -> bool:
    words = words_of(name)
    ends_or_begins = bool(words) and (ends_with(words, "identifier at the end") or words[0] == "id")
    # "ID" before small letters, as in IDunit, is cut as "I" and "Dunit".
    ends_or_begins = ends_or_begins or re.match(r"ID[a-z]{2}", name) is not None
    return ends_or_begins or PERSON_KEYS.fit(name) or HOUSEHOLD_KEYS.fit(name)


PHONE_FORM = re.compile(r"\s*(\+|00)?[ ]?(\(?\+?\d{1,5}\)?[ ./-]?){2,7}\d{1,6}\s*((x|ext\.?)\s?\d{1,6})?\s*")
_DATE = re.compile(r"\s*\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\s*")
_FEWEST, _MOST = 7, 15
PHONES_DISTINCT = 0.5
"""Minimum number of distinct values per record of a column of digits without a name as evidence."""


class PhoneNumbers(Detector):
    """Seven to fifteen digits (ITU-T E.164) with the usual separators."""

    name = "telephone numbers"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Count the values of that form; plain digits need a name as evidence, or a leading zero."""
        named = names_any(column.name, terms_of(self.name))
        found = share(column, _is_phone if named else _is_written_phone)
        if found.value < (OFTEN if named else MOSTLY):
            return None
        few = column.distinctness < PHONES_DISTINCT
        if not named and (column.type is not ValueType.TEXT or (few and not _are_dialled(column))):
            return None
        return Finding(self.name, str(found), certain=named)


_DIALLED = re.compile(r"\s*(\+|00|\()[\d ()./-]{9,}")


def _are_dialled(column: ColumnFacts) -> bool:
    """Return whether a few values are telephone numbers: with a sign before the number, or in parentheses."""
    return share(column, _DIALLED.match).value >= MOSTLY


def _is_phone(text: str) -> bool:
    digits = sum(character.isdigit() for character in text)
    return (
        _FEWEST <= digits <= _MOST
        and PHONE_FORM.fullmatch(text) is not None
        and _DATE.fullmatch(text) is None
        and _FORMS["social security numbers"].fullmatch(text) is None
    )


def _is_written_phone(text: str) -> bool:
    """Return whether a text is very likely a telephone number."""
    stripped = text.strip()
    parts = re.findall(r"\d+", stripped)
    dialled = stripped.startswith(("+", "00", "0", "(")) or stripped.startswith("1-")
    local = len(parts) == 3 and [len(part) for part in parts] == [3, 3, 4]
    return (dialled or local) and (len(parts) > 1 or stripped[0] in "+0") and _is_phone(stripped)


_WITH_SIGNS = re.compile(
    r".*[\u3400-\u9fff].*\d.*(号|號|番地|番|丁目|室|楼|樓|弄|巷|栋|棟).*|.*(로|길|동|번지) ?\d+.*"
    r"|.*[^\W\d_]{3,}.*[ ,](д|дом|кв|буд|č\. ?p|nr|nº|n°|sk|hsz)\.? ?\d+.*",
    re.IGNORECASE,
)
"""Addresses with a sign for the number of the house or flat, as in Chinese, Japanese, Korean and Russian."""

_BEFORE = re.compile(r"\s*\d{1,5}[a-z]?,?\s+[^\W\d_][^\d]{2,}.*", re.IGNORECASE)
_AFTER = re.compile(r"[^\W\d_][^\d,]{2,},?\s\d{1,5}\s?[a-z]?(\s*,.*)?", re.IGNORECASE)
ADDRESSES_DISTINCT = 0.3
FEW_ADDRESSES = 20


class PostalAddresses(Detector):
    """Streets with house numbers."""

    name = "postal addresses"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Count the values with a number before or after words."""
        if column.type is not ValueType.TEXT:
            return None
        named = names_any(column.name, terms_of(self.name)) and not names_any(
            column.name, ("ip", "mac", "mail", "email")
        )
        if column.distinct == 1 and not named:
            return self._alone(column)
        found = share(column, _is_street)
        few = 1 < column.distinct <= FEW_ADDRESSES
        if few and not (named and found.value >= MOSTLY):
            return None
        if found.value < (OFTEN if named else MOSTLY) or (
            not named and column.distinctness < ADDRESSES_DISTINCT
        ):
            return None
        return Finding(self.name, str(found), certain=named)

    def _alone(self, column: ColumnFacts) -> Finding | None:
        """Return the finding of the only value: a number with two capital words, or with one for a street."""
        (text,) = column.texts
        words = [word for word in _WORD.findall(text) if len(word) > 1]
        capitals = sum(word[0].isupper() for word in words) > 1
        if not _WITH_SIGNS.fullmatch(text) and not (_is_street(text) and (capitals or _STREET.search(text))):
            return None
        return Finding(self.name, "the only value has the form of an address", certain=True)


_STREET = re.compile(
    r"(stra(ss|ß)e|str|weg|gasse|platz|allee|laan|straat|gata|gatan|vej|vei|gade|ulica|utca|katu|caddesi)\b"
    r"|\b(street|st|road|rd|avenue|ave|lane|rue|via|calle|rua|ul|ulitsa|ул|вул|улица|οδός)\b",
    re.IGNORECASE,
)


def _is_street(text: str) -> bool:
    return any(form.fullmatch(text) for form in (_BEFORE, _AFTER, _WITH_SIGNS))


DETECTORS: Registry[Detector] = Registry("detector", Detector, "anonymizer.profile", "anonymizer.detectors")
"""Every ``Detector`` with a name."""


def findings(column: ColumnFacts) -> list[Finding]:
    """Return the findings of all detectors in a column, certain ones first, then by name.

    The only value of a column is read as if one record had it: it repeats, but it may name somebody.
    """
    column = column.once if column.distinct == 1 else column
    found = [detector().look(column) for _, detector in sorted(DETECTORS.items())]
    return sorted((each for each in found if each is not None), key=lambda each: not each.certain)
