"""The natural order of texts, by the numbers in them, and bands such as ``80-89``, ``<5`` and ``65+``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

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


@dataclass(frozen=True)
class _Band:
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
        return f"{low}+{unit}"
    if high is None:
        return None
    return f"<{int(high) + 1}{unit}" if high.isdigit() else f"<={high}{unit}"
