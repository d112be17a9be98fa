"""The rules that presets consist of: what each makes of a drafted column, and what of a release departs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

from anonymizer.model.labels import MASKED, interval_of
from anonymizer.model.table import Role


class Kind(StrEnum):
    """What a column holds, as far as rules ask."""

    NAME = "names of people"
    PLACE = "places"
    STATE = "states or countries"
    POSTAL_CODE = "postal codes"
    DATE = "dates"
    BIRTH = "dates of birth"
    DATE_PART = "months or days of dates"
    AGE = "ages"
    PHONE = "telephone numbers"
    FAX = "fax numbers"
    MAIL = "e-mail addresses"
    SOCIAL_SECURITY = "social security numbers"
    MEDICAL_RECORD = "medical record numbers"
    BENEFICIARY = "health plan beneficiary numbers"
    ACCOUNT = "account numbers"
    LICENCE = "certificate or license numbers"
    VEHICLE = "vehicle identifiers"
    DEVICE = "device identifiers"
    URL = "web addresses"
    NETWORK = "network addresses"
    BIOMETRIC = "biometric identifiers"
    PHOTO = "images of faces"
    NUMBER = "unique numbers or codes"
    TEXT = "free text"
    ORIGIN = "nationality, birthplace or ethnicity"


@dataclass(frozen=True)
class Column:
    """A column, drafted or published.

    Attributes
    ----------
    kinds: what it holds, with the reason.
    texts: distinct values without missing ones and ``*``; all of a published column, or a sample.
    role: in the draft or config.
    further: type and format of its values in a config.
    """

    name: str
    kinds: Mapping[Kind, str]
    texts: Sequence[str] = ()
    role: Role = Role.INSENSITIVE
    further: Mapping[str, Any] = field(default_factory=dict)

    def among(self, kinds: Collection[Kind]) -> Kind | None:
        """Return the first kind of the column that is one of some."""
        return next((kind for kind in self.kinds if kind in kinds), None)

    def grouped(self, hierarchy: Mapping[str, Any], kind: str | None = None) -> dict[str, Any]:
        """Return settings with which no finer value than level 1 of a hierarchy is released."""
        further = {"type": kind} if kind else dict(self.further)
        own: dict[str, Any] = {"role": self.role.value, **further, "hierarchy": dict(hierarchy)}
        known = self.role is Role.QUASI_IDENTIFIER
        return own | ({"levels": {"min": 1}} if known else {"labels": "range"})


@dataclass(frozen=True)
class Published:
    """A written release.

    Attributes
    ----------
    least: units in the smallest class; None where classes do not say who is who.
    """

    columns: Sequence[Column]
    least: int | None


@dataclass(frozen=True)
class Change:
    """What a rule makes of a drafted column: it is left out, or gets settings."""

    settings: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Departure:
    """What departs from a rule.

    Attributes
    ----------
    column: None for what concerns the whole release.
    """

    column: str | None
    asks: str
    has: str
    source: str


@dataclass(frozen=True)
class Rule(ABC):
    """One rule of a preset.

    Attributes
    ----------
    source: document, section and date.
    asks: what it asks.
    """

    source: str
    asks: str

    def change(self, column: Column) -> Change | None:  # noqa: ARG002 - of rules on columns
        """Return what becomes of a drafted column; None if the rule does not concern it."""
        return None

    @abstractmethod
    def departures(self, release: Published) -> Iterator[Departure]:
        """Yield what departs from the rule."""

    def departure(self, has: str, column: str | None = None) -> Departure:
        """Return a departure from this rule."""
        return Departure(column, self.asks, has, self.source)


@dataclass(frozen=True)
class Removed(Rule):
    """Columns of some kinds are left out."""

    kinds: tuple[Kind, ...] = ()

    def change(self, column: Column) -> Change | None:
        """Leave the column out."""
        return None if column.among(self.kinds) is None else Change()

    def departures(self, release: Published) -> Iterator[Departure]:
        """Yield published columns of the kinds; one that is ``*`` everywhere shows nothing."""
        for column in release.columns:
            kind = column.among(self.kinds)
            if kind is not None and column.texts:
                yield self.departure(f"{kind} ({column.kinds[kind]})", column.name)


@dataclass(frozen=True)
class Years(Rule):
    """Dates are released as years."""

    def change(self, column: Column) -> Change | None:
        """Release years; parts of dates, and births of people over 89, are left out."""
        if column.among((Kind.DATE_PART,)) or _indicates_age(column):
            return Change()
        if Kind.DATE not in column.kinds:
            return None
        if "type" not in column.further or column.role not in _RELEASED:
            return Change()
        return Change(column.grouped({"date": {"levels": ["year", "decade"]}}))

    def departures(self, release: Published) -> Iterator[Departure]:
        """Yield columns with more of a date than its year, and births of people over 89."""
        for column in release.columns:
            kind = column.among((Kind.DATE, Kind.DATE_PART))
            if kind is not None and any(not _is_year(text) for text in column.texts):
                yield self.departure(f"{kind} with more than the year ({column.kinds[kind]})", column.name)
            elif _indicates_age(column):
                yield self.departure("years of birth that tell ages over 89", column.name)


def _is_year(text: str) -> bool:
    plain = text.strip().removesuffix("s")
    return plain.isdigit() and len(plain) == 4


OLDEST = 89


def _indicates_age(column: Column) -> bool:
    """Return whether dates of birth begin with, or end with, a year in which people over 89 were born."""
    if Kind.BIRTH not in column.kinds:
        return False
    last = date.today().year - OLDEST - 1
    years = (int(year) for text in column.texts for year in _years_in(text))
    return any(year <= last for year in years)


def _years_in(text: str) -> Iterator[str]:
    digits = "".join(each if each.isdigit() else " " for each in text)
    yield from (part for part in digits.split() if len(part) == 4)


_RELEASED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE)


@dataclass(frozen=True)
class OldestAge(Rule):
    """Ages over 89 are one category."""

    def change(self, column: Column) -> Change | None:
        """Release 90 and above as one group."""
        if Kind.AGE not in column.kinds or column.role not in _RELEASED:
            return None
        top = {"intervals": {"width": [1, 5, 10, 20], "top": OLDEST + 1}}
        return Change(column.grouped(top, "integer"))

    def departures(self, release: Published) -> Iterator[Departure]:
        """Yield columns with an age over 89 apart from the category 90 and above."""
        for column in release.columns:
            if Kind.AGE in column.kinds and any(map(_is_old, column.texts)):
                yield self.departure("ages over 89", column.name)


def _is_old(text: str) -> bool:
    found = interval_of(text.strip(), ".")
    if found is None or found.low is None or found.low <= OLDEST:
        return False
    return not (found.low == OLDEST + 1 and found.high is None)


@dataclass(frozen=True)
class ThreeDigits(Rule):
    """Of ZIP codes the first three digits are released, and small areas as 000.

    Attributes
    ----------
    small: beginnings of the areas that are too small.
    """

    small: tuple[str, ...] = ()

    def change(self, column: Column) -> Change | None:
        """Release three digits; postal codes of another form are left out."""
        if Kind.POSTAL_CODE not in column.kinds:
            return None
        if column.role not in _RELEASED or not all(map(_is_zip, column.texts)):
            return Change()
        return Change(column.grouped({"ready": "us-zip3"}, "text"))

    def departures(self, release: Published) -> Iterator[Departure]:
        """Yield columns with longer codes, or with small areas."""
        for column in release.columns:
            if Kind.POSTAL_CODE not in column.kinds:
                continue
            # A mask hides characters, so 021** has three.
            codes = [MASKED["right"].shown(text.strip()) for text in column.texts]
            if any(len(code) > 3 for code in codes):
                yield self.departure("postal codes of more than three characters", column.name)
            elif any(code in self.small for code in codes):
                yield self.departure("areas of 20,000 people or fewer", column.name)


def _is_zip(text: str) -> bool:
    plain = text.strip().replace("-", "")
    return plain.isascii() and plain.isdigit() and 3 <= len(plain) <= 9


@dataclass(frozen=True)
class LeastClass(Rule):
    """Classes have a minimum size.

    Attributes
    ----------
    k: that size.
    """

    k: int = 2

    def departures(self, release: Published) -> Iterator[Departure]:
        """Yield the smallest class, if it is too small."""
        if release.least is None:
            yield self.departure("quasi-identifiers released exactly")
        elif release.least < self.k:
            yield self.departure(f"classes of fewer than {self.k}")
