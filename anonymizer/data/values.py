"""When two texts of a column are one value: numbers and dates by value, other texts by identity.

Everything that compares a text with one from another record, file or setting asks here, or, where the column
is not one of numbers or dates, ``anonymizer.model.identity``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from decimal import Decimal
from typing import TypeAlias

from anonymizer.model.dates import ISO, DateFormat, Moment, iso_moment
from anonymizer.model.identity import text_identity
from anonymizer.model.table import CODE, POINT, Numerals, ValueType

Key: TypeAlias = int | Decimal | Moment | str
"""Identity and order of a value; all keys of a column have one type."""

INTEGER = re.compile(r"[ \t]*(?:-?[1-9][0-9]*|0)[ \t]*")
NUMBER = re.compile(r"[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*")
PADDED = re.compile(r"[ \t]*[+-]?0[0-9]+(?:[.,][0-9]*)?[ \t]*")

WHOLE = r"-?[1-9][0-9]*|0"
"""Pattern of whole numbers as they are usually written, the same in Python's ``re``, RE2 and Java."""


def integer_key(text: str) -> int | None:
    """Return the integer of a text without leading zeros, plus or minus zero; else None.

    >>> integer_key("52"), integer_key(" 52"), integer_key("052")
    (52, 52, None)
    """
    return int(text) if INTEGER.fullmatch(text) and math.isfinite(float(text)) else None


def number_key(text: str) -> Decimal | None:
    """Return the exact value of a finite decimal number, with or without an exponent; else None.

    Blanks around a number are not part of it, here and in ``integer_key``.
    """
    return Decimal(text) if NUMBER.fullmatch(text) and math.isfinite(float(text)) else None


def whole_key(text: str) -> int | None:
    """Return the integer of a number without a fraction, however it is written; None for ``052``, a code.

    >>> whole_key("52.0"), whole_key("5.2e1"), whole_key("52.5"), whole_key("052")
    (52, 52, None, None)
    """
    found = integer_key(text)
    number = None if found is not None or PADDED.fullmatch(text) else number_key(text)
    return int(number) if number is not None and number == number.to_integral_value() else found


_KEYS: Mapping[ValueType, Callable[[str], Key | None]] = {
    ValueType.INTEGER: whole_key,
    ValueType.NUMBER: number_key,
    ValueType.TEXT: text_identity,
}


def key_of(
    kind: ValueType, numerals: Numerals = POINT, dates: DateFormat = ISO
) -> Callable[[str], Key | None]:
    """Return the function from texts of a type to keys; it returns None for other texts.

    >>> key_of(ValueType.NUMBER)("2.5"), key_of(ValueType.NUMBER)("2,5")
    (Decimal('2.5'), None)
    """
    if kind is ValueType.DATE:
        return dates.read
    plainly = _KEYS[kind]
    if numerals == POINT or not kind.numeric:
        return plainly

    def key(text: str) -> Key | None:
        plain = numerals.plain(text)
        return None if plain is None else plainly(plain)

    return key


def detecting_key_of(kind: ValueType, numerals: Numerals = POINT) -> Callable[[str], Key | None]:
    """Return the same for a column that declares no type, where ``52.0`` is a number, not an integer."""
    return integer_key if kind is ValueType.INTEGER else key_of(kind, numerals)


def looks_coded(texts: Iterable[str]) -> bool:
    """Return whether a text is a code rather than a number: with a leading zero or plus, or ``0e3``.

    >>> looks_coded(["1", "07"]), looks_coded(["0", "0.7"]), looks_coded(["0e3"]), looks_coded(["1e+05"])
    (True, False, True, False)
    """
    return any(CODE.fullmatch(text) for text in texts)


def absent_texts(
    texts: Iterable[str],
    codes: Collection[str],
    kind: ValueType = ValueType.TEXT,
    numerals: Numerals = POINT,
    dates: DateFormat = ISO,
) -> set[str]:
    """Return the texts of a column that mean a missing value.

    Parameters
    ----------
    codes: of missing values, as a config lists them.
    kind: of the column: numbers and dates are compared with codes by value, too.

    >>> sorted(absent_texts(["-9.0", " -9", "-9 ", "-90"], ["-9"], ValueType.NUMBER))
    [' -9', '-9 ', '-9.0']
    >>> sorted(absent_texts(["-9.0", " -9"], ["-9"]))
    [' -9']
    """
    identities = set(map(text_identity, codes))
    found = {text for text in texts if text_identity(text) in identities}
    if kind is ValueType.TEXT:
        return found
    general = ValueType.NUMBER if kind.numeric else kind
    key = key_of(general, numerals, dates)
    # YAML writes numbers with a decimal point, whatever the file has.
    values = {own for code in codes for own in (key(code), key_of(general)(code)) if own is not None}
    return found | {text for text in texts if key(text) in values} if values else found


def are_numbers(texts: Collection[str], numerals: Numerals = POINT) -> bool:
    """Return whether texts, at least one, are all numbers and none of them a code."""
    key = key_of(ValueType.NUMBER, numerals)
    return bool(texts) and all(key(text) is not None for text in texts) and not looks_coded(texts)


def split_absent(
    texts: Collection[str], codes: Collection[str], numerals: Numerals = POINT
) -> tuple[set[str], bool]:
    """Return the texts of a column without a type that mean a missing value, and whether others are numbers.

    >>> split_absent(["1200", "-9.0"], ["-9"])
    ({'-9.0'}, True)
    >>> split_absent(["v8.1", "9.0"], ["9"])
    (set(), False)
    >>> split_absent(["099", "100"], ["99"])
    (set(), False)
    >>> split_absent(["2024-03-31", "9999-12-31 00:00:00"], ["9999-12-31"])
    ({'9999-12-31 00:00:00'}, False)
    """
    by_value, listed = absent_texts(texts, codes, ValueType.NUMBER, numerals), absent_texts(texts, codes)
    others = [text for text in texts if text not in by_value]
    numeric = are_numbers(others, numerals) if others else bool(by_value)
    if numeric and not looks_coded(by_value - listed):
        return by_value, True
    by_date = absent_texts(texts, codes, ValueType.DATE) if any(map(iso_moment, codes)) else listed
    return (by_date if all(iso_moment(text) for text in texts if text not in by_date) else listed), False


def usual_number(text: str) -> str | None:
    """Return a whole number as it is usually written; None for other texts.

    >>> usual_number("-9.0"), usual_number("1e3"), usual_number("0.5")
    ('-9', '1000', None)
    """
    number = number_key(text)
    return None if number is None or number != number.to_integral_value() else str(int(number))


def identities_of_keys(
    texts: Collection[str], codes: Collection[str], numerals: Numerals, *, numeric: bool
) -> dict[str, str]:
    """Return what identifies a person, household or other unit, by the texts of a key that it differs from.

    It is the first code of missing values that a text means: that identifies nobody.

    Parameters
    ----------
    texts: at least those of the column that are not in the usual form.
    numeric: whether all texts of the column are numbers.

    >>> identities_of_keys(["1", "1.0", "2e0", " -9"], ["-9"], POINT, numeric=True)
    {' -9': '-9', '1.0': '1', '2e0': '2'}
    """
    kind = ValueType.NUMBER if numeric else ValueType.TEXT
    absent, key = absent_texts(texts, codes, kind, numerals), key_of(kind, numerals)
    fractions: dict[Key | None, str] = {}
    found: dict[str, str] = {}
    for text in sorted(texts):
        own = key(text)
        if text in absent:
            found[text] = next(code for code in codes if absent_texts([text], [code], kind, numerals))
        elif not numeric:
            found[text] = text_identity(text)
        elif isinstance(own, Decimal) and own == own.to_integral_value():
            found[text] = str(int(own))
        else:
            found[text] = fractions.setdefault(own, text)
    return {text: own for text, own in found.items() if own != text}


def identity_of_keys(
    texts: Iterable[str | None], numerals: Numerals = POINT, codes: Collection[str] = ()
) -> Callable[[str | None], str | None]:
    """Return the function from a key to what identifies its unit, given the keys of all files.

    Parameters
    ----------
    codes: of missing values, which identify nobody: None.
    """
    known = {text for text in texts if text is not None}
    absent, numeric = split_absent(known, codes, numerals)
    found: dict[str, str | None] = {**identities_of_keys(known, (), numerals, numeric=numeric)}
    found |= dict.fromkeys(absent)
    return lambda text: text if text is None else found.get(text, text)


def shared_keys(own: Collection[str], others: Collection[str], numerals: Numerals = POINT) -> set[str]:
    """Return the keys of another file that identify a unit of the first, by the type of either column.

    A single ``unknown`` makes texts of a column of numbers, but its other keys identify whom they did.

    >>> sorted(shared_keys(["1", "2"], ["1.0", "2 ", "unknown"]))
    ['1.0', '2 ']
    >>> shared_keys(["1", "none"], ["1.0", "unknown"])
    set()
    """
    known = set(map(text_identity, own))
    found = {text for text in others if text_identity(text) in known}
    if not (are_numbers(own, numerals) or are_numbers(others, numerals)):
        return found
    key = key_of(ValueType.NUMBER, numerals)
    numbers = set(map(key, own)) - {None}
    return found | {text for text in others if key(text) in numbers}
