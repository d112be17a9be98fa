"""What the texts of a column stand for: detection and exact parsing, one distinct value at a time."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import TypeAlias

from anonymizer.errors import DataError
from anonymizer.model.table import POINT, Numerals, ValueType

Key: TypeAlias = int | Decimal | str
"""What a value is sorted and told apart by; all keys of a column have one type."""

MOSTLY = Decimal("0.9")
"""From this share of records on, numbers beside other texts are taken for a fault and not for a code."""

_INTEGER = re.compile(r"-?[1-9][0-9]*|0")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CODE = re.compile(r"[+-]?0[0-9]+|\+[0-9]+|0[0-9]*[eE][0-9]+")
_NOT_FINITE = frozenset({"nan", "inf", "infinity"})
_SHOWN = 40


def integer_key(text: str) -> Key | None:
    """Return the integer of a canonical spelling: no leading zeros, no plus, no minus zero; else None."""
    return int(text) if _INTEGER.fullmatch(text) and math.isfinite(float(text)) else None


def number_key(text: str) -> Key | None:
    """Return the exact value of a finite decimal number, with or without an exponent; else None."""
    return Decimal(text) if _NUMBER.fullmatch(text) and math.isfinite(float(text)) else None


def date_key(text: str) -> Key | None:
    """Return the proleptic ordinal of an ISO date, yyyy-mm-dd; else None.

    >>> date_key("2024-02-29"), date_key("2023-02-29")
    (738945, None)
    """
    if not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text).toordinal()
    except ValueError:
        return None


def text_key(text: str) -> Key | None:
    """Return the text."""
    return text


_KEYS: Mapping[ValueType, Callable[[str], Key | None]] = {
    ValueType.INTEGER: integer_key,
    ValueType.NUMBER: number_key,
    ValueType.DATE: date_key,
    ValueType.TEXT: text_key,
}


def key_of(kind: ValueType, numerals: Numerals = POINT) -> Callable[[str], Key | None]:
    """Return what gives the key of a text of a type, None for a text that is not of it.

    >>> key_of(ValueType.NUMBER)("2.5"), key_of(ValueType.NUMBER)("2,5")
    (Decimal('2.5'), None)
    """
    plainly = _KEYS[kind]
    if numerals == POINT or kind not in (ValueType.INTEGER, ValueType.NUMBER):
        return plainly

    def key(text: str) -> Key | None:
        plain = numerals.plain(text)
        return None if plain is None else plainly(plain)

    # A whole number is spelled in one way only, without anything between its thousands.
    return integer_key if kind is ValueType.INTEGER else key


def detect(where: str, counts: Mapping[str, int], numerals: Numerals = POINT) -> ValueType:
    """Return the type of a column that declares none.

    Parameters
    ----------
    where: file and column, for messages.
    counts: records with each distinct text, missing values left out.
    numerals: how numbers are written.

    Raises
    ------
    DataError: nearly all records hold numbers, the others do not, or hold what stands for no number.
    """
    if not counts:
        return ValueType.TEXT
    if looks_coded(counts):
        return ValueType.TEXT
    for candidate in (ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE):
        key = key_of(candidate, numerals)
        if all(key(text) is not None for text in counts):
            return candidate
    _refuse_mixed(where, counts, numerals)
    return ValueType.TEXT


def looks_coded(texts: Iterable[str]) -> bool:
    """Tell whether one of some texts is a code rather than a number: a leading zero or plus, or ``0e3``.

    >>> looks_coded(["1", "07"]), looks_coded(["0", "0.7"]), looks_coded(["0e3"]), looks_coded(["1e+05"])
    (True, False, True, False)
    """
    return any(_CODE.fullmatch(text) for text in texts)


def _refuse_mixed(where: str, counts: Mapping[str, int], numerals: Numerals) -> None:
    key = key_of(ValueType.NUMBER, numerals)
    others = {text: count for text, count in counts.items() if key(text) is None}
    if len(others) == len(counts):
        return
    records = sum(counts.values())
    strange = sum(others.values())
    not_finite = all(text.lstrip("+-").lower() in _NOT_FINITE for text in others)
    if not_finite or records - strange >= MOSTLY * records:
        raise DataError(
            f"{where}: {records - strange} of {records} records hold a number, {_others(others)}; "
            "list what stands for a missing value in input.missing, or declare `type: text`"
        )


def _others(counts: Mapping[str, int]) -> str:
    """Return how many records hold an offending text, and the smallest such text."""
    number = sum(counts.values())
    text = min(counts)
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return f"{number} do not, such as {shown!r}" if number > 1 else f"1 does not: {shown!r}"


def parse(
    where: str, counts: Mapping[str, int], declared: ValueType, numerals: Numerals = POINT
) -> dict[str, Key]:
    """Return the key of each distinct text.

    Raises
    ------
    DataError: a text is no value of the declared type; NaN and infinities are no numbers.
    """
    key = key_of(declared, numerals)
    keys = {text: key(text) for text in counts}
    others = {text: count for text, count in counts.items() if keys[text] is None}
    if others:
        records = sum(counts.values())
        raise DataError(
            f"{where}: declared {declared}, which {records - sum(others.values())} of {records} records are, "
            f"{_others(others)}; declare `type: {_fitting(others, numerals)}`, or list it in input.missing"
        )
    return {text: found for text, found in keys.items() if found is not None}


def _fitting(texts: Iterable[str], numerals: Numerals) -> ValueType:
    key = key_of(ValueType.NUMBER, numerals)
    return ValueType.NUMBER if all(key(text) is not None for text in texts) else ValueType.TEXT


def spelling(texts: Sequence[str]) -> str:
    """Return which of several spellings of one value is published: the shortest, then the smallest.

    >>> spelling(["1.0", "1", "1e0"])
    '1'
    """
    return texts[0] if len(texts) == 1 else min(texts, key=lambda text: (len(text), text))
