"""What columns hold, as the rules of presets ask: by detectors, names and the form of single values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from anonymizer.model.dates import reading_of
from anonymizer.model.table import ValueType
from anonymizer.presets.rules import Kind
from anonymizer.profile.column_statistics import ColumnFacts
from anonymizer.profile.detection import Finding, findings
from anonymizer.profile.hierarchies import OLDEST, POSTAL_CODES, match_listed, named_for, place_form
from anonymizer.profile.knowledge import AGE, BIRTH, EVENT_DATE, MOMENT, PLACE, Words, subject_of
from anonymizer.profile.proposal import ages_by_values

FORMS: Mapping[Kind, str] = {
    Kind.MAIL: r"[^\s@,;<>]+@[^\s@,;<>]+\.[A-Za-z]{2,}",
    Kind.URL: r"(https?://|www\.)[^\s]+",
    Kind.SOCIAL_SECURITY: r"[0-9]{3}-[0-9]{2}-[0-9]{4}",
    Kind.NETWORK: r"([0-9]{1,3}\.){3}[0-9]{1,3}|([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}",
    Kind.PHONE: r"(\+1[ .-]?)?(\([0-9]{3}\) ?|[0-9]{3}[ .-])[0-9]{3}[ .-][0-9]{4}",
}
"""Forms that hardly anything else has, also inside a text."""

_SEARCHED = {kind: re.compile(rf"(?<![\w.@+-])(?:{form})(?![\w-])") for kind, form in FORMS.items()}

NAMED: Mapping[Kind, Words] = {
    Kind.FAX: Words("fax, faxes, fax number, telefax"),
    Kind.MEDICAL_RECORD: Words("mrn, medical record, medical record number, chart number, record number"),
    Kind.BENEFICIARY: Words(
        "beneficiary*, member id, plan id, health plan, policy number, subscriber*, medicare, medicaid"
    ),
    Kind.ACCOUNT: Words("account*, acct*, iban"),
    Kind.LICENCE: Words("license*, licence*, certificate*, driver*"),
    Kind.VEHICLE: Words("vehicle*, vin, plate, license plate"),
    Kind.DEVICE: Words("device*, serial*, implant*"),
    Kind.BIOMETRIC: Words("biometric*, fingerprint*, voiceprint*, retina*, iris scan"),
    Kind.PHOTO: Words("photo*, image*, picture*, portrait*"),
}
"""Words in names of columns that say what a number identifies; a plate before a licence."""

_ORDER = (Kind.FAX, Kind.VEHICLE, *(kind for kind in NAMED if kind not in (Kind.FAX, Kind.VEHICLE)))

_FOUND = {
    "names of people": Kind.NAME,
    "postal addresses": Kind.PLACE,
    "geographic coordinates": Kind.PLACE,
    "e-mail addresses": Kind.MAIL,
    "telephone numbers": Kind.PHONE,
    "network addresses": Kind.NETWORK,
    "bank account numbers": Kind.ACCOUNT,
    "identification numbers": Kind.NUMBER,
    "free text": Kind.TEXT,
}
_ORIGIN = Words(
    "nationality, citizenship, country of birth, birth country, birthplace, race, ethnic*, hispanic"
)
_PART_OF_DATE = Words("month*, day$, weekday*, quarter$, week$, *birthday")
_WIDE = ("country", "us-state")
_PERIOD = re.compile(r"\d{4}-(0[1-9]|1[0-2]|Q[1-4])(-\d\d(\D.*)?|\.\..*)?")


def kinds_of(column: ColumnFacts, *, unreadable: bool = False) -> dict[Kind, str]:
    """Return what a column holds, each with the reason, the most telling first.

    Parameters
    ----------
    unreadable: whether the names of the file say nothing, so that the values alone speak.
    """
    found: dict[Kind, str] = {}
    for kind, why in (
        *_by_form(column),
        *_detected(column),
        *_by_place(column),
        *_by_time(column, unreadable),
    ):
        found.setdefault(kind, why)
    if Kind.PLACE in found:  # places are named after people
        found.pop(Kind.NAME, None)
    return found


def _by_form(column: ColumnFacts) -> Iterator[tuple[Kind, str]]:
    for kind, form in _SEARCHED.items():
        if any(form.search(text) for text in column.texts):
            named = kind is Kind.PHONE and NAMED[Kind.FAX].fit(column.name)
            yield (Kind.FAX if named else kind), "by the form of values"


def _detected(column: ColumnFacts) -> Iterator[tuple[Kind, str]]:
    for finding in findings(column):
        kind = _FOUND.get(finding.what)
        if kind is not None:
            yield _named_kind(column.name, kind), _reason(finding)


def _named_kind(name: str, kind: Kind) -> Kind:
    """Return the kind that a name says, of a number or a telephone number."""
    if kind not in (Kind.NUMBER, Kind.PHONE):
        return kind
    return next((each for each in _ORDER if NAMED[each].fit(name)), kind)


def _reason(finding: Finding) -> str:
    return "by name and values" if finding.certain else "by the form of values"


def _by_place(column: ColumnFacts) -> Iterator[tuple[Kind, str]]:
    if _ORIGIN.fit(column.name):
        yield Kind.ORIGIN, "by name"
    named = subject_of(column.name) is PLACE
    if place_form(column) == POSTAL_CODES or named_for(column, "postal-code"):
        yield Kind.POSTAL_CODE, "by name or form"
        return
    match = match_listed(column)
    if match is not None and match.name in _WIDE:
        yield Kind.STATE, "by values"
    elif (
        named
        and column.distinct > 1
        and not named_for(column, "country")
        and not named_for(column, "us-state")
    ):
        yield Kind.PLACE, "by name"
    elif named:
        yield Kind.STATE, "by name"


def _by_time(column: ColumnFacts, unreadable: bool) -> Iterator[tuple[Kind, str]]:
    dated = column.dated or reading_of(column.texts, 0.5) is not None
    dated = dated or any(map(_PERIOD.fullmatch, column.texts))
    if BIRTH.fit(column.name):
        yield Kind.BIRTH, "by name"
    if dated:
        yield Kind.DATE, "by values"
    elif _PART_OF_DATE.fit(column.name) and subject_of(column.name) in (EVENT_DATE, MOMENT):
        yield Kind.DATE_PART, "by name"
    if _may_hold_ages(column, unreadable):
        yield Kind.AGE, "by name or values"


def _may_hold_ages(column: ColumnFacts, unreadable: bool) -> bool:
    if subject_of(column.name) is AGE or named_for(column, "age"):
        numbers = column.numbers
        return not len(numbers) or bool(numbers[0] >= 0 and numbers[-1] <= OLDEST)
    if column.type is not ValueType.INTEGER or not (unreadable or subject_of(column.name) is None):
        return False
    return ages_by_values(column)
